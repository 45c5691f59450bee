#include "app/session/threads/running/device_frames.hpp"

#include <optional>
#include <utility>

namespace hindcast::session {

DeviceFrames::DeviceFrames(SharedState& shared, const std::shared_ptr<Device>& device)
    : shared_(shared),
      dropped_(device->cuda() ? std::make_shared<DroppedFrames>() : nullptr),
      kernels_(device),
      recorder_(kernels_, dropped_),
      writer_(device) {}

void DeviceFrames::serve_playback() {
    if (!dropped_) return;
    dropped_->clear();
    measure_colors();
    std::optional<FrameJob> job;
    bool release_exchange = false;
    {
        const Lock lock(shared_.mutex);
        job.swap(shared_.frame_requests.job);
        shared_.frame_requests.is_writing = job.has_value();
        std::swap(release_exchange, shared_.frame_requests.release_exchange);
    }
    if (release_exchange) writer_.release();
    if (!job) return;
    try {
        writer_.write(*job);
    } catch (const Error& error) {
        const Lock lock(shared_.mutex);
        shared_.fail_frame(error);
    }
    const Lock lock(shared_.mutex);
    shared_.frame_requests.is_written = true;
    shared_.frame_requests.is_writing = false;
    shared_.mark_changed();
}

void DeviceFrames::measure_colors() {
    using namespace std::chrono_literals;
    std::optional<ColorJob> job;
    {
        const Lock lock(shared_.mutex);
        job.swap(shared_.frame_requests.color_job);
    }
    if (!job) return;
    const ColorJob::Found found = job->measure(writer_, Clock::now() + 2ms);
    const Lock lock(shared_.mutex);
    if (found.failure) shared_.fail_frame(*found.failure);
    shared_.frame_requests.color_found = found;
    shared_.mark_changed();
}

void DeviceFrames::forget_arrays() {
    kernels_.forget();
    recorder_.release();
}

}  // namespace hindcast::session
