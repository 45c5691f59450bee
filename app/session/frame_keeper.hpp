// Makes the frames of a trajectory that are kept: copies of arrays as a step left them, on the
// device, and the few numbers of the host that go with them.
#pragma once

#include <memory>
#include <vector>

#include "app/session/frame_kernels.hpp"
#include "app/session/trajectory.hpp"
#include "engine/model/model.hpp"

namespace hindcast::session {

class FrameKeeper {
public:
    static constexpr std::int64_t most_ways = 64;  // points that have trails

    // `graveyard`: where frames go when they are dropped; null: they are freed at once.
    FrameKeeper(FrameKernels& kernels, std::shared_ptr<Graveyard> graveyard)
        : kernels_(kernels), graveyard_(std::move(graveyard)) {}

    // Frames hold these arrays of the model from now on, and the place of the point `held`.
    void watch(model::Model& model, std::int64_t points, Names names, std::int64_t held = -1);
    void let_go();  // of the model's arrays
    bool has_energy() const { return static_cast<bool>(mass_); }
    FramePointer keep(std::int64_t step);
    // Any others, such as gradients.
    FramePointer keep(std::int64_t step, Names names, const std::vector<Array>& arrays) const;

private:
    FrameKernels& kernels_;
    std::shared_ptr<Graveyard> graveyard_;
    Names names_;
    std::vector<Array> arrays_;
    bool held_ = false;
    Array mass_, velocity_, energy_, position_, which_, ways_;  // without memory: there are none
};

}  // namespace hindcast::session
