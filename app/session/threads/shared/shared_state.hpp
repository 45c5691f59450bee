// The state that the two threads of a session share, under one lock.
//
//   Playback  takes commands, moves the cursor, writes frames, publishes snapshots; never computes
//   Runner    builds, simulates and optimizes; reads the shared state between steps
//
// A thread that changes the state calls mark_changed() to wake Playback, or wake_runner(). Playback
// makes each Snapshot from `draft`; the runner changes the draft under the lock.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/session/frames/color_range.hpp"
#include "app/session/frames/frame_writer.hpp"
#include "app/session/frames/probed_gradients.hpp"
#include "app/session/frames/scene_info.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/link/command.hpp"
#include "app/session/link/snapshot.hpp"
#include "app/session/threads/shared/mouse_pull.hpp"
#include "app/session/threads/shared/shared_history.hpp"

namespace hindcast::session {

using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;  // of SharedState::mutex

// The checkpoint plan of a simulation, as the memory panel shows it.
struct GradientMemory {
    std::string plan;
    std::vector<std::int64_t> checkpoints;
    std::int64_t bytes = 0;
};

// Playback's requests about frames in memory of the runner's device, which only the runner may use.
struct FrameRequests {
    std::optional<FrameJob> job;                 // a frame to be written
    bool is_writing = false;                     // the runner is writing it
    bool is_written = false;                     // the runner has written it
    std::optional<ColorJob> color_job;           // frames to be measured
    std::optional<ColorJob::Found> color_found;  // the answer
    bool release_exchange = false;  // the runner must release the exchange it wrote frames to
};

// The view that the user has asked for.
struct WantedView {
    std::optional<std::int64_t> iteration;  // none: the newest
    std::optional<std::int64_t> ghost;      // none: no ghost
    FrameContents contents;
    bool probed_gradients = false;  // command WatchGradients
};

// The time to show.
struct ShownTime {
    std::int64_t step = 0;    // whole steps
    double step_seconds = 0;  // of this many seconds each
    bool stands_still = true;

    std::int64_t step_in(const SceneInfo& scene) const {
        return same_moment(step, step_seconds, scene);
    }
};

struct LogLines {
    std::vector<LogLine> lines;
    bool changed = false;
    Clock::time_point begun = Clock::now();  // of the session
};

struct SharedState {
    std::mutex mutex;
    std::condition_variable playback_wakes, runner_wakes;
    std::atomic<bool> ends = false;

    // ---- for Playback ----
    std::deque<Command> playback_commands;
    bool changed = false;  // the draft, or the choice of the trajectory to show

    // ---- for the runner ----
    std::deque<Command> runner_commands;
    std::atomic<std::uint64_t> runner_wakeups = 0;  // counts requests to look here

    FrameRequests frame_requests;

    // ---- trajectories, and which of them are shown ----
    SceneInfoPointer scene;        // the scene as it is now; null before the first build
    TrajectoryPointer current;     // the run of the current parameters
    TrajectoryCache trajectories;  // by iteration, of this scene and of older ones
    WantedView wanted;
    TrajectoryPointer shown, ghost;  // Playback shows these; the runner must not drop them
    TrajectoryPointer growing;       // the one that the runner records now
    ShownTime time;
    std::optional<MousePull> mouse_pull;  // the pull in progress
    bool rewind = false;                  // another scene was opened: time starts at 0
    // For each scene whose gradients were planned.
    std::map<SceneInfoPointer, std::shared_ptr<const GradientMemory>> gradient_memory;
    // The gradients of the last probe that was started; null: none.
    std::shared_ptr<const ProbedGradients> probed_gradients;

    Snapshot draft;
    LogLines log_lines;
    SharedHistory history;

    // Call these under the lock.
    void log(LogLine::Level level, const std::string& text);
    void fail(const Error& error);
    void clear_error() { draft.reports.error = nullptr; }
    // Answers a command with this document; `name` is that of the undo step.
    void answer(std::shared_ptr<const document::Document> document, std::uint64_t number,
                const std::string& name);
    // The optimization has ended; an empty reason: it goes on or begins anew.
    void note_stop(const std::string& reason, bool well = false);
    void fail_frame(const Error& error);
    void mark_changed() {
        changed = true;
        playback_wakes.notify_all();
    }
    void wake_runner() {
        ++runner_wakeups;
        runner_wakes.notify_all();
    }
    std::int64_t frame_bytes() const;  // of all trajectories, older scenes and rows
    // Bytes of older scenes and rows.
    std::int64_t kept_besides() const {
        return draft.memory.older_scene_bytes + draft.memory.iteration_bytes;
    }
    // The scene of the trajectory that the user wants to see; null if there is none.
    SceneInfoPointer wanted_scene() const;
    // The trajectory that the user wants to see; null if nothing of it is kept.
    TrajectoryPointer wanted_trajectory() {
        return wanted.iteration ? trajectories.find(*wanted.iteration) : current;
    }
};

}  // namespace hindcast::session
