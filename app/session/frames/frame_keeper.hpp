// Makes the frames of a trajectory that are kept: copies of arrays as a step left them, on the
// device, and the few numbers of the host that go with them.
#pragma once

#include <memory>
#include <vector>

#include "app/session/frames/frame_kernels.hpp"
#include "app/session/frames/trajectory.hpp"
#include "engine/model/model.hpp"

namespace hindcast::session {

class FrameKeeper {
public:
    static constexpr std::int64_t most_ways = 64;  // points that have trails

    // `dropped`: where frames go when they are dropped; null: they are freed at once.
    FrameKeeper(FrameKernels& kernels, std::shared_ptr<DroppedFrames> dropped)
        : kernels_(kernels), dropped_frames_(std::move(dropped)) {}

    // Frames hold these arrays of the model from now on, and the place of the point `held`.
    void watch(model::Model& model, std::int64_t points, Names names, std::int64_t held = -1);
    void let_go();  // of the model's arrays
    // "kinetic energy", "elastic energy of cage": what KeptFrame::energies are.
    const std::vector<std::string>& energies() const { return energy_names_; }
    FramePointer keep(std::int64_t step);
    // Any others, such as gradients.
    FramePointer keep(std::int64_t step, Names names, const std::vector<Array>& arrays) const;

private:
    void watch_energies(model::Model& model);

    FrameKernels& kernels_;
    std::shared_ptr<DroppedFrames> dropped_frames_;
    Names names_;
    std::vector<Array> arrays_;
    bool held_ = false;
    Array position_, which_, ways_;        // without memory: there are none
    const model::Model* model_ = nullptr;  // whose energies these are
    std::vector<std::string> energy_names_;
    std::vector<Array> energies_;
    std::vector<Launch> add_energies_;
};

}  // namespace hindcast::session
