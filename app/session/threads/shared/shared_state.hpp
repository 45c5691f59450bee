// The state that the two threads of a session share, under one lock.
//
//   Playback  takes commands, moves the cursor, writes frames, publishes snapshots; never computes
//   Runner    builds, simulates and optimises; reads the shared state between steps
//
// A thread that changes something calls mark_changed() to wake Playback, or wake_runner(). Playback
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

#include "app/session/command.hpp"
#include "app/session/frames/colour_range.hpp"
#include "app/session/frames/frame_writer.hpp"
#include "app/session/frames/probed_gradients.hpp"
#include "app/session/frames/scene_info.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/snapshot.hpp"
#include "app/session/threads/shared/mouse_pull.hpp"

namespace hindcast::session {

using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;  // of SharedState::mutex

// The scene that rows of the history were run with. All rows between two edits share one.
struct SceneRevision {
    std::int64_t epoch = 0;  // losses are compared within one
    SceneInfoPointer scene;
    std::shared_ptr<const document::Document> document;
    std::int64_t document_bytes = 0;  // approximate
    std::shared_ptr<const std::vector<SharedValues>> base;
};
using SceneRevisionPointer = std::shared_ptr<const SceneRevision>;

// The checkpoint plan of a simulation, as the memory panel shows it.
struct GradientMemory {
    std::string plan;
    std::vector<std::int64_t> checkpoints;
    std::int64_t bytes = 0;
};

struct SharedState {
    std::mutex mutex;
    std::condition_variable playback_wakes, runner_wakes;
    std::atomic<bool> ends = false;

    // ---- for Playback ----
    std::deque<Command> playback_commands;
    bool changed = false;  // the draft, or the choice of what to show

    // ---- for the runner ----
    std::deque<Command> runner_commands;
    std::atomic<std::uint64_t> runner_wakeups = 0;  // counts requests that the runner looks here

    std::optional<FrameJob> job;          // a frame in memory of the runner's device, to be written
    bool writes_job = false;              // the runner is writing it
    bool job_done = false;                // the runner has written it
    std::optional<ColourJob> colour_job;  // frames to be measured, likewise
    std::optional<ColourJob::Found> colour_found;  // the answer
    bool release_exchange = false;  // the runner must release the exchange it wrote frames to

    // ---- what is shown ----
    SceneInfoPointer scene;        // the scene as it is now; null before the first build
    TrajectoryPointer current;     // the run of the current parameters
    TrajectoryCache trajectories;  // by iteration, of this scene and of older ones
    std::optional<std::int64_t> wanted_iteration, wanted_ghost;
    FrameContents frame_contents;
    TrajectoryPointer shown, ghost;  // what Playback shows; the runner must not drop them
    TrajectoryPointer growing;       // the one that the runner records now
    std::int64_t cursor = 0;         // the time to show, in whole steps of `cursor_seconds`
    double cursor_seconds = 0;
    bool still = true;                    // playback is paused
    std::optional<MousePull> mouse_pull;  // the pull in progress
    bool rewind = false;                  // another scene was opened: time starts at 0
    // For each scene whose gradients were planned.
    std::map<SceneInfoPointer, std::shared_ptr<const GradientMemory>> gradient_memory;
    bool wants_probed_gradients = false;
    std::shared_ptr<const ProbedGradients>
        probed_gradients;  // the last that was started; null: none

    Snapshot draft;
    std::vector<LogLine> lines;
    std::vector<IterationInfo> rows;
    std::vector<SceneRevisionPointer>
        scene_revisions;  // of each row; null where only the row's numbers are kept
    bool rows_changed = false, lines_changed = false;
    Clock::time_point begun = Clock::now();

    // Call these under the lock.
    void log(LogLine::Level level, const std::string& text);
    void fail(const Error& error);
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
    // Of older scenes and rows.
    std::int64_t kept_besides() const { return draft.older_scene_bytes + draft.iteration_bytes; }
    // Rows are sorted by iteration. Thinned out rows leave gaps.
    const IterationInfo* row_of(std::int64_t iteration) const;  // null: there is none
    std::int64_t last_iteration() const { return rows.empty() ? -1 : rows.back().iteration; }
    SceneRevisionPointer scene_revision_of(
        std::int64_t iteration) const;  // null if there is no row, or only its numbers
    // The scene of what the user wants to see; null if there is none.
    SceneInfoPointer wanted_scene() const;
    // The trajectory that the user wants to see; null if nothing of it is kept.
    TrajectoryPointer wanted() {
        return wanted_iteration ? trajectories.find(*wanted_iteration) : current;
    }
};

}  // namespace hindcast::session
