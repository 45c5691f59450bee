// Fills the parts of the next snapshot (SharedState::draft) that follow from the shared state, topic
// by topic. Costly parts are made again only if their source has changed.
//
// All functions are called under the shared lock.
#pragma once

#include <memory>
#include <vector>

#include "app/session/threads/playback/color_measure.hpp"
#include "app/session/threads/playback/cursor.hpp"
#include "app/session/threads/playback/frame_output.hpp"

namespace hindcast::session {

class DraftFiller {
public:
    DraftFiller(SharedState& shared, const Cursor& cursor, const FrameOutput& output,
                const ColorMeasure& colors)
        : shared_(shared), cursor_(cursor), output_(output), colors_(colors) {}

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

    // The sources that differ from those of the last fill.
    struct Changed {
        bool facts = false;  // of the scenes shown and running, and of the gradient's memory
        bool scene = false;  // the scene shown
        bool run = false;    // the trajectory shown, or more of it
        bool values = false;
    };

    SceneInfoPointer scene_shown() const;
    // Compares the sources with those of the last fill, and notes them.
    Changed note_sources(const SceneInfoPointer& scene, const Trajectory* t);
    const ProbedGradients* probe_of(const Trajectory* t) const;
    // One function for each topic. `t` null: nothing is shown.
    void fill_reports();
    void fill_scene(const SceneInfoPointer& scene, const Changed& changed);
    void fill_run(const SceneInfoPointer& scene, const Trajectory* t, const KeptFrame* frame,
                  const Changed& changed);
    void fill_optimization(const Trajectory* t, Clock::time_point now);
    void fill_values(const SceneInfoPointer& scene, const Trajectory* t, const Changed& changed);
    void fill_present();
    void fill_view(const SceneInfoPointer& scene, const Trajectory* t, const FramePointer& frame,
                   const Changed& changed);
    void fill_pulls(const Trajectory* t, const KeptFrame* frame);
    void fill_memory(const Changed& changed);

    SharedState& shared_;
    const Cursor& cursor_;
    const FrameOutput& output_;
    const ColorMeasure& colors_;
    Filled filled_;
    FilledScene filled_scene_;
    TrajectoryPointer filled_present_;
    FramePointer trails_until_;
    Clock::time_point history_due_;  // a long history is copied less often
    bool frame_lags_ = false;
};

}  // namespace hindcast::session
