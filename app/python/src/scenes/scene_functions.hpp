// Scenes as functions that compiled programs call: each has a number, by which they find it.
#pragma once

#include <map>
#include <memory>

#include "app/python/src/calls/device_recordings.hpp"
#include "engine/sim/functions/scene_function.hpp"

namespace hindcast::python {

class SceneCalls : public SceneFunction {
public:
    // `follows`: a program computes it on the device where the program runs; else it is computed
    // on the device that it was made for.
    SceneCalls(const Scene& scene, const Registry& registry, const SimulationOptions& options,
               const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
               bool follows)
        : SceneFunction(scene, registry, options, inputs, outputs), follows_(follows) {}

    // For programs on a CUDA device: makes what calls there need. True: they can be captured into a
    // graph. False: a call looks at what the device has computed, or can fail there, or the scene
    // cannot be had on that device; then it goes by way of the host.
    bool prepare_on(const std::shared_ptr<Device>& device, Kind kind);
    // For a program: one for each device that was prepared.
    std::map<int, std::unique_ptr<DeviceRecording>> take_prepared(Kind kind);
    // One for a program. Throws Error.
    std::unique_ptr<DeviceRecording> record_on(const std::shared_ptr<Device>& device, Kind kind);

private:
    bool follows_;
    PreparedRecordings prepared_[5];
};

// Null: its owner is gone.
std::shared_ptr<SceneCalls> find_scene_function(std::int64_t number);

}  // namespace hindcast::python
