// What the two threads of a session share, under one lock.
//
//   front    takes commands, moves the cursor, writes frames, publishes snapshots: never computes
//   runner   builds, simulates, optimises; looks at the desk between steps
//
// Whoever changes something says so with wake_front() or wake_runner(). A Snapshot is made by the
// front from `draft`; the runner changes the draft under the lock and marks it.
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
#include "app/session/frames/frame_writer.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/frames/world.hpp"
#include "app/session/snapshot.hpp"
#include "app/session/threads/gradient_probe.hpp"
#include "app/session/threads/hand.hpp"

namespace hindcast::session {

using Clock = std::chrono::steady_clock;

// What rows of the history were run with: one for all rows between two edits.
struct Edition {
    std::int64_t epoch = 0;  // losses are compared within one
    WorldPointer world;
    std::shared_ptr<const document::Document> document;
    std::int64_t document_bytes = 0;  // about
    std::shared_ptr<const std::vector<Numbers>> base;
};
using EditionPointer = std::shared_ptr<const Edition>;

// The checkpoint plan of a simulation, as it is shown.
struct GradientMemory {
    std::string plan;
    std::vector<std::int64_t> checkpoints;
    std::int64_t bytes = 0;
};

struct Desk {
    std::mutex mutex;
    std::condition_variable front_wakes, runner_wakes;
    std::atomic<bool> ends = false;

    // ---- to the front ----
    std::deque<Command> mail;
    bool changed = false;  // the draft, or what is to be shown

    // ---- to the runner ----
    std::deque<Command> work;
    std::atomic<std::uint64_t> asked = 0;  // grows when the runner should look here

    std::optional<FrameJob> job;  // a frame that lies in memory of the runner's device
    bool writes_job = false;      // the runner is at it
    bool job_done = false;        // it was written
    bool let_go = false;          // of the exchange that frames were written to

    // ---- what is shown ----
    WorldPointer world;         // of the scene as it is now; null: none was built yet
    TrajectoryPointer current;  // of the parameters that stand
    Library library;            // by iteration, of this world and of older ones
    std::optional<std::int64_t> wanted_iteration, wanted_ghost;
    Look look;
    TrajectoryPointer shown, ghost;  // what the front shows: the runner keeps these
    TrajectoryPointer growing;       // what the runner records; it may be shown later
    std::int64_t cursor = 0;         // whole steps of `cursor_seconds`: what is to be shown
    double cursor_seconds = 0;
    bool still = true;         // time does not move
    std::optional<Hand> hand;  // a pull by hand that goes on
    bool rewind = false;       // the world is that of another scene: time begins anew
    // Of each world whose gradients were planned.
    std::map<WorldPointer, std::shared_ptr<const GradientMemory>> gradient_memory;
    bool wants_probe = false;
    std::shared_ptr<const Probe> probe;  // the last one that was begun; null: none

    Snapshot draft;
    std::vector<LogLine> lines;
    std::vector<IterationInfo> rows;
    std::vector<EditionPointer> editions;  // of each row; null: only its numbers are left
    bool rows_changed = false, lines_changed = false;
    Clock::time_point begun = Clock::now();

    // Each under the lock.
    void say(LogLine::Level level, const std::string& text);
    void fail(const Error& error);
    void fail_frame(const Error& error);
    void mark() {
        changed = true;
        front_wakes.notify_all();
    }
    void wake_runner() {
        ++asked;
        runner_wakes.notify_all();
    }
    std::int64_t frame_bytes() const;  // of all trajectories, and of what is kept besides
    // Of older scenes and rows.
    std::int64_t kept_besides() const { return draft.older_scene_bytes + draft.iteration_bytes; }
    // Rows are in the order of their iterations, which have gaps where rows were thinned out.
    std::optional<std::size_t> index_of(std::int64_t iteration) const;
    std::int64_t last_iteration() const { return rows.empty() ? -1 : rows.back().iteration; }
    EditionPointer edition_of(std::int64_t iteration) const;  // null: only numbers, or no row
    // The world of what the user wants to see; null if there is none.
    WorldPointer wanted_world() const;
    // The trajectory that the user wants to see, if there is any of it.
    TrajectoryPointer wanted() {
        return wanted_iteration ? library.find(*wanted_iteration) : current;
    }
};

}  // namespace hindcast::session
