// Sequence: launches, copies and clears in order, done any number of times.
//
//     Sequence update(device);
//     update.add_clear(sum);
//     update.add(Launch(device, squares, ir::Precision::f64, n, {x, sum}));
//     update.run();
//
// On a CUDA device the first run goes launch by launch and makes all that is needed; the second is
// noted as a graph, and from then on a run is one call. The bits are the same. Work is noted again
// where integers that the launches read were changed. A sequence can also be part of a longer graph
// (Rollout::follow_backward), or of one that another library makes (Context::Following).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

class Sequence {
public:
    explicit Sequence(std::shared_ptr<Device> device);
    ~Sequence();
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;

    void add(const Launch& launch);                     // forwards
    void add_copy(const Array& to, const Array& from);  // the same type, shape and layout
    void add_clear(const Array& array);

    void run();
    // Launch by launch.
    void put() const;
    // For a graph that put() was noted in: every array that the work needs on the device before,
    // and what to say when the graph has run.
    void each_array(const std::function<void(const Array&)>& visit) const;
    void ran_on_device() const;
    // "one graph of 5 nodes", or why there is none.
    std::string report() const;

private:
    struct Part {
        Launch::Replay launch;
        bool launches = false;
        Array to, from;  // a copy; without `from` a clear
    };
    struct Noted;
    bool note();

    std::shared_ptr<Device> device_;
    std::vector<Part> parts_;
    std::unique_ptr<Noted> noted_;
    int runs_ = 0;  // launch by launch
};

}  // namespace hindcast
