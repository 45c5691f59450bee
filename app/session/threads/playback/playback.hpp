// The thread of a session that answers at once. It takes commands, moves the cursor through the
// kept frames in real time, writes the frame shown into the Exchange, and publishes snapshots. It
// forwards commands that take long to the runner.
//
// Playback is the loop:
//   cursor.hpp          the time shown
//   shown_choice.hpp    the trajectory shown, and the ghost
//   frame_output.hpp    the frame shown, into the Exchange
//   color_measure.hpp  the range of its colors
//   draft_filler.hpp    the snapshot
#pragma once

#include <functional>
#include <memory>

#include "app/session/threads/playback/draft_filler.hpp"
#include "app/session/threads/playback/shown_choice.hpp"

namespace hindcast::session {

class Playback {
public:
    using Publish = std::function<void(std::shared_ptr<const Snapshot>)>;
    // `solver`: the runner's device. `publish` gets each new snapshot; `wake` is called after each
    // frame.
    Playback(SharedState& shared, const Device& solver, Publish publish,
             std::function<void()> wake);

    void run();  // until SharedState::ends

private:
    void take(Command& command);
    void forward_to_runner(Command command);
    void grab(Grab& command);
    bool round(Lock& lock);  // true if a frame was written
    void publish_snapshot(Lock& lock, Clock::time_point now);

    SharedState& shared_;
    Publish publish_;
    std::function<void()> wake_;

    Cursor cursor_;
    ShownChoice choice_;
    FrameOutput output_;
    ColorMeasure colors_;
    DraftFiller filler_;
    Clock::time_point published_;
    std::uint64_t serial_ = 0;
};

}  // namespace hindcast::session
