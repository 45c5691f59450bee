// Frames into memory that Vulkan exported to a CUDA device. Belongs to the thread whose device it
// is. What frames keep lies in memory of the host, so a frame is uploaded from there.
#pragma once

#include <vector>

#include "app/session/frame_writer.hpp"
#include "engine/runtime/array.hpp"
#include "engine/runtime/device.hpp"

namespace hindcast::session {

class DeviceWriter {
public:
    // Writes and publishes. Throws Error.
    void write(const FrameJob& job, const Device& device);

private:
    std::shared_ptr<render::Exchange> exchange_;  // that arrays_ lie over
    std::array<std::vector<Array>, 3> arrays_;    // by slot and channel
    std::vector<Bytes> scratch_;
};

}  // namespace hindcast::session
