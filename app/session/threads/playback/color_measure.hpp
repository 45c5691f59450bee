// The range of colors over the run that is shown. It is measured a little in each round, by this
// thread or, if the frames are in memory of a CUDA device, by the runner.
#pragma once

#include <optional>

#include "app/session/frames/color_range.hpp"
#include "app/session/threads/shared/shared_state.hpp"

namespace hindcast::session {

class ColorMeasure {
public:
    // `writer`: null: the runner measures.
    ColorMeasure(SharedState& shared, FrameWriter* writer) : shared_(shared), writer_(writer) {}

    // Measures some more frames. Call it under the shared lock, which it opens meanwhile.
    void measure(Lock& lock);
    bool has_more() const { return has_more_; }  // frames that can be measured at once
    // The range so far, of the trajectory shown. Call it under the shared lock.
    std::optional<ColorRange> range() const {
        return range_.range(shared_.shown, shared_.wanted.contents);
    }

private:
    std::optional<ColorJob> next() { return range_.next(shared_.shown, shared_.wanted.contents); }

    SharedState& shared_;
    FrameWriter* writer_;
    ColorRangeOfRun range_;
    std::optional<ColorJob> job_;  // the runner has it
    bool has_more_ = false;
};

}  // namespace hindcast::session
