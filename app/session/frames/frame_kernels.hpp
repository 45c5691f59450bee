// What turns arrays of the solver into channels of a frame, on the device where they lie. Arrays
// are of one real type, in any layout: numbers, vectors of up to four or six components, matrices
// of two or three rows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/launch/launch.hpp"

namespace hindcast::session {

class FrameKernels {
public:
    explicit FrameKernels(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    const std::shared_ptr<Device>& device() const { return device_; }

    // Whether elements of this shape can be worked with.
    static bool takes(const Array& array);

    // Each throws Error if the shapes do not go together.
    void copy(const Array& from, const Array& to);
    void fill(const Array& to, double value);
    // The length of each element of `from`, all its components together; a number is its own.
    void magnitude(const Array& from, const Array& to);
    // The mean of the two elements of `numbers` that each pair of `ends` (n x 2, i32) names.
    void middle(const Array& numbers, const Array& ends, const Array& to);
    // The elements of `from` that `which` (n, i32) names.
    void gather(const Array& from, const Array& which, const Array& to);

    void forget() { launches_.clear(); }  // and all arrays

private:
    void run(const std::string& name, std::int64_t items, const Array& shaped_like,
             std::vector<Argument> arguments);

    std::shared_ptr<Device> device_;
    std::map<std::string, Launch> launches_;
};

}  // namespace hindcast::session
