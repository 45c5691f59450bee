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
    measure_colours();
    std::optional<FrameJob> job;
    bool release_exchange = false;
    {
        const Lock lock(shared_.mutex);
        job.swap(shared_.job);
        shared_.writes_job = job.has_value();
        std::swap(release_exchange, shared_.release_exchange);
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
    shared_.job_done = true;
    shared_.writes_job = false;
    shared_.mark_changed();
}

void DeviceFrames::measure_colours() {
    using namespace std::chrono_literals;
    std::optional<ColourJob> job;
    {
        const Lock lock(shared_.mutex);
        job.swap(shared_.colour_job);
    }
    if (!job) return;
    const ColourJob::Found found = job->measure(writer_, Clock::now() + 2ms);
    const Lock lock(shared_.mutex);
    if (found.failure) shared_.fail_frame(*found.failure);
    shared_.colour_found = found;
    shared_.mark_changed();
}

void DeviceFrames::forget_arrays() {
    kernels_.forget();
    recorder_.release();
}

}  // namespace hindcast::session
