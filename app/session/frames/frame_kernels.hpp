// The kernels that turn arrays of the solver into channels of a frame, on the device that has the
// arrays. Arrays have one real type and any layout: numbers, vectors of up to four or six
// components, matrices of two or three rows.
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

    // True if the kernels take elements of this shape.
    static bool takes(const Array& array);

    // Each throws Error if the shapes do not match.
    void copy(const Array& from, const Array& to);
    void fill(const Array& to, double value);
    // The Euclidean norm of each element of `from`; a number is copied.
    void magnitude(const Array& from, const Array& to);
    // For each pair of `ends` (n x 2, i32) the mean of those two elements of `numbers`.
    void middle(const Array& numbers, const Array& ends, const Array& to);
    // For points that have several numbers: `which` (i32) lists those of all points one after the
    // other, begins[i] (n + 1) says where those of points[i] (n, i32) begin.
    struct Means {
        Array points, begins, which;
    };
    // The mean for each of the points; the other elements of `to` stay as they are.
    void mean(const Array& numbers, const Means& of, const Array& to);
    // A place and a vector from each element of `from`, which has twice as many components.
    void split(const Array& from, const Array& places, const Array& vectors);
    // The elements of `from` at the indices `which` (n, i32).
    void gather(const Array& from, const Array& which, const Array& to);

    void forget() { launches_.clear(); }  // with the arrays bound to them

private:
    void run(const std::string& name, std::int64_t items, const Array& shaped_like,
             std::vector<Argument> arguments);

    std::shared_ptr<Device> device_;
    std::map<std::string, Launch> launches_;
};

}  // namespace hindcast::session
