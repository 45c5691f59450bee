// Work on the stream of a CUDA device, noted once and done again by a few calls.
//
//     if (!places.send(device, arrays) || !indices.hold()) ...note again
//     graphs.note(device, work);       // work() puts launches and copies on the stream
//     graphs.launch(device);
//
// Values that change between runs (parameters, numbers passed by value) lie in memory of the device
// and are sent there before a run. The addresses of arrays and the contents of index arrays are
// part of a graph.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/cuda/context.hpp"
#include "engine/runtime/array/array.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/device/device.hpp"

namespace hindcast {

// Addresses of arrays on a device.
class DevicePlaces {
public:
    // Sends what the host has changed of arrays: each(visit) calls visit(array). True if they are
    // the same arrays as the last time, at the same addresses.
    template <class Each>
    bool send(const Device& device, const Each& each) {
        std::vector<const void*> places;
        each([&](const Array& a) {
            if (a && a.bytes() > 0) places.push_back(a.memory().on(device.cuda()));
        });
        const bool same = places == places_;
        places_ = std::move(places);
        return same;
    }

private:
    std::vector<const void*> places_;
};

class NotedGraphs {
public:
    // Throws Error, with refusal() set and no graph left, if work() cannot be noted.
    void note(const Device& device, const std::function<void()>& work);
    // Within work(), between two parts of it: a graph that has become long ends here and another
    // one begins.
    void split_long_graph(const Device& device);
    void launch(const Device& device) const;
    void forget() { count_ = 0; }

    bool empty() const { return count_ == 0; }
    const std::string& refusal() const { return refusal_; }
    // "one graph of 12 nodes", or why there is none.
    std::string report() const;

private:
    void end_graph(const Device& device);

    std::vector<backend::cuda::Graph> graphs_;
    std::size_t count_ = 0;  // of them in use
    std::int64_t nodes_ = 0;
    std::string refusal_;
};

}  // namespace hindcast
