// Fills the parts of the next snapshot (SharedState::draft) that follow from the shared state:
// time, frame, trajectory, scene, history, log. Costly parts are made again only if their source
// has changed.
//
// All functions are called under the shared lock.
#pragma once

#include <memory>
#include <vector>

#include "app/session/threads/playback/colour_measure.hpp"
#include "app/session/threads/playback/cursor.hpp"
#include "app/session/threads/playback/frame_output.hpp"

namespace hindcast::session {

class DraftFiller {
public:
    DraftFiller(SharedState& shared, const Cursor& cursor, const FrameOutput& output,
                const ColourMeasure& colours)
        : shared_(shared), cursor_(cursor), output_(output), colours_(colours) {}

    void fill(Clock::time_point now);
    // True if the frame of the draft was not in the Exchange yet.
    bool frame_lags() const { return frame_lags_; }

private:
    // The sources that the draft was last filled from.
    struct Filled {
        const Trajectory* trajectory = nullptr;
        std::size_t frames = 0;
        bool complete = false;
        const void *gradient = nullptr, *probe = nullptr;
        bool operator==(const Filled&) const = default;
    };
    struct FilledScene {
        SceneInfoPointer scene, present;
        std::shared_ptr<const GradientMemory> memory;
        bool operator==(const FilledScene&) const = default;
    };

    void fill_history(Clock::time_point now);
    void fill_log();
    void fill_scene();
    void fill_present();
    void clear_shown();  // nothing is shown
    void fill_frame(const Trajectory& t);
    void fill_trajectory(const Trajectory& t);

    SharedState& shared_;
    const Cursor& cursor_;
    const FrameOutput& output_;
    const ColourMeasure& colours_;
    Filled filled_;
    FilledScene filled_scene_;
    TrajectoryPointer filled_present_;
    FramePointer trails_until_;
    Clock::time_point history_due_;  // a long history is copied less often
    bool frame_lags_ = false;
};

}  // namespace hindcast::session
