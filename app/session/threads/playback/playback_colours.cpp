// The range of colours over the run that is shown: measured a little in each round, by this thread or,
// where the frames lie on a CUDA device, by the runner.
#include "app/session/threads/playback/playback.hpp"

#include <utility>

namespace hindcast::session {

using namespace std::chrono_literals;

bool Playback::measure_colours(Lock& lock) {
    // Little at a time: what is shown next must not wait for it.
    constexpr auto share = 2ms;
    if (colour_job_) {
        if (!shared_.colour_found) return false;  // the runner is at it, and wakes this thread
        colour_range_.take(*colour_job_, *shared_.colour_found);
        shared_.colour_found.reset();
        colour_job_.reset();
    }
    std::optional<ColourJob> job = colour_range_.next(shared_.shown, shared_.frame_contents);
    if (job && writer_) {
        lock.unlock();
        const ColourJob::Found found = job->measure(*writer_, Clock::now() + share);
        lock.lock();
        if (found.failure) shared_.fail_frame(*found.failure);
        colour_range_.take(*job, found);
        job = colour_range_.next(shared_.shown, shared_.frame_contents);
    } else if (job) {
        shared_.colour_job = job;
        colour_job_ = std::exchange(job, std::nullopt);
        shared_.wake_runner();
    }
    if (colour_range_.range(shared_.shown, shared_.frame_contents) != shared_.draft.colour_range)
        shared_.changed = true;
    return job.has_value();
}

}  // namespace hindcast::session
