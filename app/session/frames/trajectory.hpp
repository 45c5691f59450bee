// The frames of one run that are kept, and the library of those that fit into memory.
//
// A frame holds copies of arrays of the simulation, where its device has them: on a CUDA device
// only the thread that has the device (the runner) may look at them or free them, which the frames
// see to by themselves. Frames never change once they are there; a trajectory grows while its run
// goes on. Trajectories belong to whoever holds the session's lock (desk.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/session/snapshot.hpp"
#include "engine/runtime/array/array.hpp"

namespace hindcast::session {

using Numbers = std::shared_ptr<const std::vector<double>>;

using Names = std::shared_ptr<const std::vector<std::string>>;

struct KeptFrame {
    std::int64_t step = 0;                             // whole steps
    Names names;                                       // of the arrays
    std::vector<Array> arrays;                         // values, or gradients
    const Array* find(const std::string& name) const;  // null: not kept
    std::int64_t bytes() const;
    // Of the host, small: the places of some of the points, for trails, and the energies,
    // in J, which FrameKeeper names.
    std::vector<render::Vec3> ways;
    render::Vec3 held{};  // of the point that a hand pulls on
    std::vector<double> energies;
};
using FramePointer = std::shared_ptr<const KeptFrame>;

// Frames that nobody holds any more, until the thread that has their device frees them.
class DroppedFrames {
public:
    // `frame`, which ends up here.
    static FramePointer keep(const std::shared_ptr<DroppedFrames>& dropped, KeptFrame frame);
    void clear();  // by that thread

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<const KeptFrame>> frames_;
};

struct World;

struct Trajectory {
    std::shared_ptr<const World> world;
    std::int64_t iteration = -1;  // -1: of no row of the history
    Names arrays;                 // of each frame
    std::int64_t every = 1;       // whole steps between frames

    // What was run: the numbers of all quantities (by World::quantities), and those of the
    // parameters over them.
    std::shared_ptr<const std::vector<Numbers>> base;
    Numbers parameters;

    std::vector<FramePointer> frames;                     // in the order of their steps
    std::map<std::int64_t, FramePointer> adjoints;        // by step
    std::map<std::string, std::vector<double>> energies;  // J, of each frame, by name
    bool complete = false;                                // the run has ended by itself
    bool gradient_failed = false;                         // and is not tried again
    bool failed = false;   // the run ended with an error: it is not tried again
    bool by_hand = false;  // of a pull that goes on, or was released just now: it is not run again
    bool adjoints_complete = false;
    double loss = std::numeric_limits<double>::quiet_NaN();
    std::vector<TermInfo> terms;
    Numbers gradient;                   // null before it was computed
    std::vector<double> adjoint_norms;  // of each frame's step; empty if not recorded

    std::int64_t steps_done() const { return frames.empty() ? 0 : frames.back()->step; }
    void add(FramePointer frame);
    void add_adjoint(FramePointer frame);
    // Frames between those of `every`, around the cursor: added, and taken away but for a range.
    void add_between(FramePointer frame);
    void keep_between(std::int64_t first, std::int64_t last);
    // The frame at the step or the last one kept before it; null if there is none.
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

// Trajectories of iterations within a bound of bytes: the least recently used goes first.
class Library {
public:
    void clear();
    TrajectoryPointer find(std::int64_t iteration);  // marks it as used
    TrajectoryPointer peek(std::int64_t iteration) const;
    void put(std::int64_t iteration, TrajectoryPointer trajectory);
    void erase(std::int64_t iteration) { kept_.erase(iteration); }
    // Takes away until no more than `bytes` are kept, but for those that are `pinned`.
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
