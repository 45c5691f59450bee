// The range of colours over the run that is shown. It is measured a little in each round, by this
// thread or, if the frames are in memory of a CUDA device, by the runner.
#pragma once

#include <optional>

#include "app/session/frames/colour_range.hpp"
#include "app/session/threads/shared/shared_state.hpp"

namespace hindcast::session {

class ColourMeasure {
public:
    // `writer`: null: the runner measures.
    ColourMeasure(SharedState& shared, FrameWriter* writer) : shared_(shared), writer_(writer) {}

    // Measures some more frames. Call it under the shared lock, which it opens meanwhile.
    void measure(Lock& lock);
    bool has_more() const { return has_more_; }  // frames that can be measured at once
    // The range so far, of the trajectory shown. Call it under the shared lock.
    std::optional<ColourRange> range() const {
        return range_.range(shared_.shown, shared_.wanted.contents);
    }

private:
    std::optional<ColourJob> next() { return range_.next(shared_.shown, shared_.wanted.contents); }

    SharedState& shared_;
    FrameWriter* writer_;
    ColourRangeOfRun range_;
    std::optional<ColourJob> job_;  // the runner has it
    bool has_more_ = false;
};

}  // namespace hindcast::session
