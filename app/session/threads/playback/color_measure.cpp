#include "app/session/threads/playback/color_measure.hpp"

#include <utility>

namespace hindcast::session {

using namespace std::chrono_literals;

void ColorMeasure::measure(Lock& lock) {
    // A little at a time: the next frame must not wait for it.
    constexpr auto share = 2ms;
    has_more_ = false;
    if (job_) {
        if (!shared_.frame_requests.color_found)
            return;  // the runner is measuring, and wakes this thread
        range_.take(*job_, *shared_.frame_requests.color_found);
        shared_.frame_requests.color_found.reset();
        job_.reset();
    }
    std::optional<ColorJob> job = next();
    if (job && writer_ != nullptr) {
        lock.unlock();
        const ColorJob::Found found = job->measure(*writer_, Clock::now() + share);
        lock.lock();
        if (found.failure) shared_.fail_frame(*found.failure);
        range_.take(*job, found);
        job = next();
    } else if (job) {
        shared_.frame_requests.color_job = job;
        job_ = std::exchange(job, std::nullopt);
        shared_.wake_runner();
    }
    if (range() != shared_.draft.view.color_range) shared_.changed = true;
    has_more_ = job.has_value();
}

}  // namespace hindcast::session
