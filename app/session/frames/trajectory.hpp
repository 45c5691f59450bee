// The kept frames of one run, and a cache of trajectories with a bound on its memory.
//
// A frame holds copies of the simulation's arrays in memory of its device. On a CUDA device only
// the thread that owns the device (the runner) may read or free them; DroppedFrames takes care of
// that. Frames are immutable; a trajectory grows while it runs. Trajectories are accessed under the
// session's lock (shared_state.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/exchange/vec3.hpp"
#include "app/session/link/run.hpp"
#include "engine/runtime/array/array.hpp"

namespace hindcast::session {

using SharedValues = std::shared_ptr<const std::vector<double>>;

using SharedNames = std::shared_ptr<const std::vector<std::string>>;

struct KeptFrame {
    std::int64_t step = 0;                             // whole steps
    SharedNames names;                                 // of the arrays
    std::vector<Array> arrays;                         // values, or gradients
    const Array* find(const std::string& name) const;  // null: not in the frame
    std::int64_t bytes() const;
    // On the host: the positions of some points, for trails, and the energies in J, which
    // FrameRecorder::energies() names.
    std::vector<render::Vec3> trail_points;
    render::Vec3 held{};  // position of the point that the mouse pulls on
    std::vector<double> energies;
};
using FramePointer = std::shared_ptr<const KeptFrame>;

// Frames without an owner, until the thread that owns their device frees them.
class DroppedFrames {
public:
    // A pointer to `frame` that moves it here instead of freeing it.
    static FramePointer keep(const std::shared_ptr<DroppedFrames>& dropped, KeptFrame frame);
    void clear();  // by that thread

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<const KeptFrame>> frames_;
};

struct SceneInfo;

struct Trajectory {
    std::shared_ptr<const SceneInfo> scene;
    std::int64_t iteration = -1;  // -1: it has no row in the history
    SharedNames arrays;           // of each frame
    std::int64_t every = 1;       // whole steps between frames

    // The input of the run: the values of all quantities (in the order of SceneInfo::quantities),
    // and the values of the parameters, which replace some of them.
    std::shared_ptr<const std::vector<SharedValues>> base;
    SharedValues parameters;

    std::vector<FramePointer> frames;                     // sorted by step
    std::map<std::int64_t, FramePointer> adjoints;        // by step
    std::map<std::string, std::vector<double>> energies;  // J, of each frame, by name
    bool complete = false;                                // the run was not interrupted
    bool gradient_failed = false;                         // it is not tried again
    bool failed = false;         // the run ended with an error; it is not tried again
    bool of_mouse_pull = false;  // a pull in progress or just released; it is not run again
    bool adjoints_complete = false;
    double loss = std::numeric_limits<double>::quiet_NaN();
    std::vector<TermInfo> terms;
    SharedValues gradient;              // null until it is computed
    std::vector<double> adjoint_norms;  // at each frame's step; empty if not recorded

    std::int64_t steps_done() const { return frames.empty() ? 0 : frames.back()->step; }
    void add(FramePointer frame);
    void add_adjoint(FramePointer frame);
    // Frames between those of `every`, near the cursor. keep_between() drops all outside a range.
    void add_between(FramePointer frame);
    void keep_between(std::int64_t first, std::int64_t last);
    // The frame at the step, or else the last kept one before it; null if there is none.
    FramePointer frame_at(std::int64_t step) const;
    FramePointer adjoint_at(std::int64_t step) const;
    bool reaches(std::int64_t step) const { return complete || steps_done() >= step; }
    bool holds(const std::string& array) const;
    bool holds_gradient(const std::string& array) const;
    std::int64_t bytes() const { return bytes_; }

private:
    std::int64_t bytes_ = 0;
    std::map<std::int64_t, FramePointer> between_;
};
using TrajectoryPointer = std::shared_ptr<Trajectory>;

// Trajectories by iteration, within a bound of bytes: the least recently used is dropped first.
class TrajectoryCache {
public:
    void clear();
    TrajectoryPointer find(std::int64_t iteration);  // counts as a use
    TrajectoryPointer peek(std::int64_t iteration) const;
    void put(std::int64_t iteration, TrajectoryPointer trajectory);
    void erase(std::int64_t iteration) { kept_.erase(iteration); }
    // Drops trajectories until at most `bytes` are kept; never those in `pinned`.
    void shrink(std::int64_t bytes, const std::vector<TrajectoryPointer>& pinned);
    std::int64_t bytes() const;
    std::vector<TrajectoryPointer> all() const;

private:
    struct Entry {
        TrajectoryPointer trajectory;
        std::uint64_t used = 0;
    };
    std::map<std::int64_t, Entry> kept_;
    std::uint64_t clock_ = 0;
};

}  // namespace hindcast::session
