// What is put in a stream, or in a graph: operations, and the points that events mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tests/cuda_driver/memory.hpp"
#include "tests/cuda_driver/module.hpp"

namespace software_cuda {

struct Context;
struct Stream;
struct Capture;
struct ExternalSemaphore;
struct GraphNodes;

// After the first `sequence` operations of a stream.
struct Point {
    std::shared_ptr<Stream> stream;  // null: nothing to wait for
    std::uint64_t sequence = 0;
    bool passed() const;
};

struct Work {
    enum class Kind : std::uint8_t {
        launch,
        to_device,  // from `host`, or from `data` if that is null
        to_host,
        on_device,
        set8,
        set32,
        allocated,
        freed,
        wait,
        stamp,  // notes the device's clock
        raise,  // `semaphore` to `semaphore_value`
        graph
    };
    Kind kind = Kind::launch;
    Address to = 0, from = 0;
    std::size_t bytes = 0;
    unsigned value = 0;
    void* host = nullptr;  // pinned, unless the host waits for the copy
    bool pinned = false;
    std::shared_ptr<Function> function;
    unsigned blocks[3] = {}, threads[3] = {};
    std::unique_ptr<std::uint64_t[]> data;  // arguments, or bytes to copy
    Point point;
    std::shared_ptr<long long> time;  // of a stamp, in microseconds
    std::shared_ptr<const ExternalSemaphore> semaphore;
    std::uint64_t semaphore_value = 0;
    std::shared_ptr<const GraphNodes> graph;
};

// The nodes of a graph, in the order in which they were captured. Never changed afterward.
struct GraphNodes {
    struct Node {
        Work work;
        std::vector<int> dependencies, successors;  // ascending
    };
    std::vector<Node> nodes;
};

struct Stream {
    Stream(Context& in, bool blocks) : context(in), blocking(blocks) {}

    Context& context;
    bool blocking;           // with respect to the default stream
    bool destroyed = false;  // by its owner; it may have work
    std::deque<Work> queue;
    std::uint64_t enqueued = 0, executed = 0;
    std::size_t place = 0;  // in the list of streams that have work
    // The graph at the head of the queue, if it has begun: how many dependencies each node still
    // waits for, the nodes that wait for none, and how many are left.
    std::vector<int> waiting, ready;
    std::size_t left = 0;
    // While captured: the nodes that the next one depends on.
    std::shared_ptr<Capture> capture;
    std::vector<int> frontier;
};

inline bool Point::passed() const { return stream == nullptr || stream->executed >= sequence; }

struct Event {
    Context& context;
    Point point;
    std::shared_ptr<Capture> capture;  // the record was captured
    std::vector<int> frontier;
    bool timed = false;
    std::shared_ptr<long long> time = {};  // of the last record
};

}  // namespace software_cuda
