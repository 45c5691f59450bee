// Frames in memory of the runner's device. Runs record them here. On a CUDA device, which only the
// runner's thread may use, this class also writes the frames that Playback wants to show.
#pragma once

#include <memory>

#include "app/session/frames/frame_kernels.hpp"
#include "app/session/frames/frame_recorder.hpp"
#include "app/session/frames/frame_writer.hpp"
#include "app/session/threads/shared/shared_state.hpp"

namespace hindcast::session {

class DeviceFrames {
public:
    DeviceFrames(SharedState& shared, const std::shared_ptr<Device>& device);

    FrameRecorder& recorder() { return recorder_; }
    // Does the work that Playback has asked for: writes a frame, measures the colors of some
    // frames, releases the exchange. Returns at once if nothing waits, or if the device is not
    // CUDA.
    void serve_playback();
    // Call it before a simulation is destroyed: recorders hold its arrays.
    void forget_arrays();

private:
    void measure_colors();

    SharedState& shared_;
    std::shared_ptr<DroppedFrames> dropped_;  // null: not a CUDA device
    FrameKernels kernels_;
    FrameRecorder recorder_;
    FrameWriter writer_;
};

}  // namespace hindcast::session
