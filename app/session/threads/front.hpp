// The half of a session that answers at once: takes commands, moves the cursor through kept frames
// in real time, writes what is shown into the Exchange, and publishes snapshots. It computes
// nothing that takes long; what does, it hands to the runner. Frames that lie in memory of a CUDA
// device are written by the runner, whose device that is.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "app/session/frames/frame_writer.hpp"
#include "app/session/threads/desk.hpp"

namespace hindcast::session {

class Front {
public:
    using Publish = std::function<void(std::shared_ptr<const Snapshot>)>;
    // `solver`: the runner's device. `publish`: with each new snapshot; `wake`: after each frame.
    Front(Desk& desk, const Device& solver, Publish publish, std::function<void()> wake);

    void run();  // until Desk::ends

private:
    using Lock = std::unique_lock<std::mutex>;

    void take(Command& command);
    void hand_on(Command command);
    void seek(std::int64_t step);
    void step_by(std::int64_t steps);
    void play(bool on);
    void grab(Grab& command);
    void follow_hand();
    void choose_iteration(std::optional<std::int64_t> iteration, bool ghost);

    bool round(Lock& lock);  // whether a frame was written
    void follow_world();
    std::int64_t step_in(const World& world) const;
    void choose_shown(Clock::time_point now);
    void choose_ghost();
    void move_cursor(Clock::time_point now);
    double fastest(const Trajectory& t, double passed) const;  // the next cursor
    bool write_frame(Lock& lock);
    bool fits();
    void fill_draft(Clock::time_point now);
    void fill_world();
    void fill_present();
    static std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails_of(
        const Trajectory& t, std::int64_t step);
    void publish_snapshot(Lock& lock, Clock::time_point now);

    Desk& desk_;
    Publish publish_;
    std::function<void()> wake_;

    std::optional<FrameWriter> writer_;  // none: the runner writes
    std::shared_ptr<render::Exchange> exchange_;
    std::shared_ptr<const render::Stage> checked_stage_;  // that exchange_ was held against
    bool fits_ = false;

    bool playing_ = false, repeat_ = false;
    double speed_ = 1;
    double cursor_ = 0, cursor_seconds_ = 0;  // whole steps of this many seconds
    Clock::time_point ticked_, target_since_, published_, measured_since_, history_due_;
    double measured_steps_ = 0;
    TrajectoryPointer target_;

    // Whether a ghost of the one world can be drawn on the other.
    struct GhostCheck {
        WorldPointer shown, ghost;
        bool fits = true;
    } ghost_check_;
    bool unfit_ghost_said_ = false;

    // What was written last: another frame is written when one of these differs.
    struct Written {
        FramePointer frame, adjoint, ghost;
        const Trajectory* trajectory = nullptr;
        const void *base = nullptr, *parameters = nullptr, *gradient = nullptr;
        render::Exchange* exchange = nullptr;
        std::string colour, arrows;
        bool operator==(const Written&) const = default;
    } written_;
    // What the draft was filled from.
    struct Filled {
        const Trajectory* trajectory = nullptr;
        std::size_t frames = 0;
        bool complete = false;
        const void *gradient = nullptr, *probe = nullptr;
        bool operator==(const Filled&) const = default;
    } filled_;
    struct FilledWorld {
        WorldPointer world, present;
        std::shared_ptr<const GradientMemory> memory;
        bool operator==(const FilledWorld&) const = default;
    } filled_world_;
    TrajectoryPointer filled_present_;
    FramePointer trails_until_;
    std::uint64_t serial_ = 0;
};

}  // namespace hindcast::session
