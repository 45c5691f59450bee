// The thread of a session that answers at once. It takes commands, moves the cursor through the
// kept frames in real time, writes the frame shown into the Exchange, and publishes snapshots.
// Anything that takes long it forwards to the runner. Frames in memory of a CUDA device are written
// by the runner, which owns that device.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "app/session/frames/frame_writer.hpp"
#include "app/session/threads/shared/shared_state.hpp"

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
    using Lock = std::unique_lock<std::mutex>;

    void take(Command& command);
    void forward_to_runner(Command command);
    void seek(std::int64_t step);
    void step_by(std::int64_t steps);
    void play(bool on);
    void grab(Grab& command);
    void follow_mouse();
    void choose_iteration(std::optional<std::int64_t> iteration, bool ghost);

    bool round(Lock& lock);  // true if a frame was written
    void follow_scene();
    std::int64_t step_in(const SceneInfo& scene) const;
    void choose_shown(Clock::time_point now);
    void choose_ghost();
    void move_cursor(Clock::time_point now);
    // The next cursor where playing is as fast as possible.
    double fastest(const Trajectory& t, double passed) const;
    bool write_frame(Lock& lock);
    // Some more frames of the range of colours. True if more are there to be measured.
    bool measure_colours(Lock& lock);
    bool fits();
    void fill_draft(Clock::time_point now);
    void fill_scene();
    void fill_present();
    static std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails_of(
        const Trajectory& t, std::int64_t step);
    void publish_snapshot(Lock& lock, Clock::time_point now);

    SharedState& shared_;
    Publish publish_;
    std::function<void()> wake_;

    std::optional<FrameWriter> writer_;  // none: the runner writes the frames
    std::shared_ptr<render::Exchange> exchange_;
    std::shared_ptr<const render::Stage> checked_stage_;  // that exchange_ was compared with
    bool fits_ = false;
    ColourRangeOfRun colour_range_;
    std::optional<ColourJob> colour_job_;  // that the runner has
    bool measures_ = false;                // more frames are there to be measured
    bool writes_ = false;                  // the frame shown is not in the Exchange yet

    bool playing_ = false, repeat_ = false;
    double speed_ = 1;
    double cursor_ = 0, cursor_seconds_ = 0;  // whole steps of this many seconds
    Clock::time_point ticked_, target_since_, published_, measured_since_, history_due_;
    double measured_steps_ = 0;
    TrajectoryPointer target_;

    // The last check whether a ghost of one scene can be drawn on another.
    struct GhostCheck {
        SceneInfoPointer shown, ghost;
        bool fits = true;
    } ghost_check_;
    bool unfit_ghost_said_ = false;

    // The last frame written. Another is written when one of these differs.
    struct Written {
        FramePointer frame, adjoint, ghost;
        const Trajectory* trajectory = nullptr;
        const void *base = nullptr, *parameters = nullptr, *gradient = nullptr;
        render::Exchange* exchange = nullptr;
        std::string colour, arrows;
        bool operator==(const Written&) const = default;
    } written_;
    // The sources that the draft was last filled from.
    struct Filled {
        const Trajectory* trajectory = nullptr;
        std::size_t frames = 0;
        bool complete = false;
        const void *gradient = nullptr, *probe = nullptr;
        bool operator==(const Filled&) const = default;
    } filled_;
    struct FilledScene {
        SceneInfoPointer scene, present;
        std::shared_ptr<const GradientMemory> memory;
        bool operator==(const FilledScene&) const = default;
    } filled_scene_;
    TrajectoryPointer filled_present_;
    FramePointer trails_until_;
    std::uint64_t serial_ = 0;
};

}  // namespace hindcast::session
