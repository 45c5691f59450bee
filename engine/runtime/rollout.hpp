// Rollout: a program repeated over time, forwards and backwards.
//
//   prologue          once: sets the state from the parameters
//   step              `steps` times
//   events[t]         after t steps (0 .. steps): objective terms, outputs. Never masked launches
//   in every step.
//
// Backward replays the adjoints in reverse. What must be kept is derived from what the adjoint
// launches read, and from which version of an array that is: an array that nothing overwrites is
// not kept, but must not be changed by others either (backward() raises); one that a step reads as
// it stands at its start or end is kept once per step; an intermediate is kept per step where it is
// read; what only the prologue or an event reads is kept there, once. Everything that is needed is
// stored (checkpoint plans come later), so nothing is recomputed.
//
// Targets of Reduce start from zero in every forward run. A launch without derivative
// (Launch::differentiate_only with no names) is passed over by backward. After Launch::set() bound
// another array, the next run plans again.
//
// The same rollout runs in three modes: `first` (values and gradients), `tangent` (values and
// directional derivatives), `second` (values, tangents, gradients and their tangents:
// Hessian-vector products).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/runtime/schedule.hpp"

namespace hindcast {

class Rollout {
public:
    struct Parts {
        Program prologue;
        Program step;
        std::int64_t steps = 0;
        std::map<std::int64_t, Program> events;
    };
    Rollout(std::shared_ptr<Device> device, Parts parts);
    ~Rollout();
    Rollout(Rollout&&) noexcept;
    Rollout& operator=(Rollout&&) noexcept;

    // The number of steps done before what runs now: t in step t, in events[t], and 0 in the
    // prologue; the same in both directions. An i32 array with one element: bind it to a
    // Param<Int>.
    static Array make_step_counter() { return Array(ir::Type::i32, {1}); }
    void set_step_counter(const Array& counter);

    // Called after each step (and with 0 before the first) of a forward run; output only: a run
    // that keeps values for backward() raises if the watch changed what the program works on.
    // Return false to stop early: forward() then returns the number of steps made.
    using Watch = std::function<bool(std::int64_t steps_done)>;

    // Runs all steps. `keep` stores what backward() needs; without it no gradient memory is touched
    // or allocated.
    std::int64_t forward(bool keep, const Watch& watch = {}, RolloutMode mode = RolloutMode::first);
    // After forward(true): zeroes every gradient, sets those of `seeds` (array and value, every
    // element), and runs the adjoints. Throws if an array that an adjoint reads was changed since.
    struct Seed {
        Array of;
        double value = 1;
    };
    void backward(const std::vector<Seed>& seeds, RolloutMode mode = RolloutMode::first);

    struct Profile {
        std::string launch;
        Direction direction;
        std::int64_t runs = 0;
        double seconds = 0;
    };
    void profile(bool on);  // time every launch from now on
    std::vector<Profile> profiles() const;

    std::int64_t kept_bytes() const;  // of the first-order history
    std::int64_t steps() const;
    std::size_t launches_per_step() const;

private:
    Schedule& schedule(RolloutMode mode, bool backward);

    std::shared_ptr<Device> device_;
    Parts parts_;
    Array counter_;
    bool profiling_ = false;
    std::map<RolloutMode, std::unique_ptr<Schedule>> schedules_;
};

}  // namespace hindcast
