// The range of the numbers that colors show, over all frames of a run: what makes colors
// comparable from one moment to another. It is measured frame by frame as the run grows, on the
// device that has the frames, through the same launches that write what is drawn; nothing is
// measured twice, and nothing at all once the range is complete.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/frames/frame_writer.hpp"
#include "app/session/link/view.hpp"
#include "engine/base/error.hpp"

namespace hindcast::session {

// Frames to be measured, with owners of everything they refer to.
struct ColorJob {
    FrameJob job;  // without exchange; its input says what is shown
    struct Moment {
        FramePointer frame, adjoint;  // the latter may be null
    };
    std::vector<Moment> moments;

    struct Found {
        std::size_t measured = 0;                    // of the moments, from the first
        std::optional<std::array<double, 2>> range;  // none: nothing of them has a color
        std::optional<Error> failure;  // then all count as measured, and are not tried again
    };
    // Until a time, but at least one moment. Only for the thread of the writer.
    Found measure(FrameWriter& writer, std::chrono::steady_clock::time_point until);
};

// The range of a run's colors, measured frame by frame. Used under the session's lock.
class ColorRangeOfRun {
public:
    static constexpr std::size_t most_moments = 64;  // of one job

    // The next measurement for these colors; none: nothing to do now. The job's answer goes to
    // take(), before the next one is asked for.
    std::optional<ColorJob> next(const TrajectoryPointer& trajectory,
                                 const FrameContents& contents);
    void take(const ColorJob& job, const ColorJob::Found& found);
    // The range of that run as far as it is known. While it is incomplete, it includes the range
    // known before for the same scene, so that colors do not flicker as one run follows another.
    std::optional<ColorRange> range(const TrajectoryPointer& trajectory,
                                    const FrameContents& contents) const;

private:
    bool is_of(const TrajectoryPointer& trajectory, const FrameContents& contents) const;

    std::weak_ptr<Trajectory> trajectory_;
    std::weak_ptr<const SceneInfo> scene_;
    SharedValues gradient_;
    std::string color_;
    std::int64_t measured_to_ = -1;  // step
    bool complete_ = false;
    std::optional<std::array<double, 2>> found_, before_;
};

}  // namespace hindcast::session
