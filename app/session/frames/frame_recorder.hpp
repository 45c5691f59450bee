// Records the frames of a trajectory: copies on the device of the arrays after a step, and a few
// numbers on the host.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/session/frames/frame_kernels.hpp"
#include "app/session/frames/trajectory.hpp"
#include "engine/model/shown.hpp"

namespace hindcast::session {

class FrameRecorder {
public:
    static constexpr std::int64_t max_trails = 64;  // points that have trails

    // `dropped` collects frames when they are dropped; null: they are freed at once.
    FrameRecorder(FrameKernels& kernels, std::shared_ptr<DroppedFrames> dropped)
        : kernels_(kernels), dropped_frames_(std::move(dropped)) {}

    // From now on frames hold these arrays of the model or, by their keys, quantities that it shows
    // (engine/model/shown.hpp) or where bodies were measured (measured_motion.hpp), and the position of
    // the point `held`.
    void watch(model::Model& model, std::int64_t points, SharedNames names, std::int64_t held = -1);
    void release();  // the model's arrays
    // The names of KeptFrame::energies: "kinetic energy", "elastic energy of cage".
    const std::vector<std::string>& energies() const { return energy_names_; }
    FramePointer record(std::int64_t step);
    // The same with other arrays, such as gradients.
    FramePointer record(std::int64_t step, SharedNames names,
                        const std::vector<Array>& arrays) const;

private:
    void watch_energies(model::Model& model);
    // The array of a measured motion that frames call this; null: there is none.
    const Array* watch_measured(model::Model& model, const std::string& name);

    FrameKernels& kernels_;
    std::shared_ptr<DroppedFrames> dropped_frames_;
    SharedNames names_;
    std::vector<Array> arrays_;
    std::map<std::string, model::ShownValues> shown_;      // of model_, by key
    std::vector<model::ShownValues*> evaluated_;           // those that frames hold
    std::map<std::string, std::vector<Launch>> measured_;  // of model_, by owner: its motion
    std::set<std::string> measured_now_;                   // those that frames hold
    bool held_ = false;
    Array position_, which_, trail_points_;  // empty: not recorded
    const model::Model* model_ = nullptr;    // the model of what is shown and of these energies
    std::vector<std::string> energy_names_;
    std::vector<Array> energies_;
    std::vector<Launch> add_energies_;
};

}  // namespace hindcast::session
