// Rollout: a program repeated over time, forwards and backwards.
//
//   prologue          once: sets the state from the parameters
//   step              `steps` times
//   events[t]         after t steps (0 .. steps): objective terms, outputs. Never masked launches in every step.
//
// Backward replays the adjoints in reverse. What must be kept is derived from what the adjoint launches read, and from
// which version of an array that is: an array that no step writes is not kept; one that is read as it stands at the
// start or end of a step is kept once per step; an intermediate is kept per step where it is read. Everything that is
// needed is stored (checkpoint plans come later), so nothing is recomputed.
//
// The same rollout runs in three modes: `first` (values and gradients), `tangent` (values and directional derivatives),
// `second` (values, tangents, gradients and their tangents: Hessian-vector products).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/runtime/program.hpp"

namespace hindcast {

enum class RolloutMode : std::uint8_t { first, tangent, second };

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

    // The number of the step that runs, an i32 array with one element: bind it to a Param<Int>.
    static Array make_step_counter() { return Array(ir::Type::i32, {1}); }
    void set_step_counter(const Array& counter);

    // Called after each step (and with 0 before the first) of a forward run; output only. Return false to stop early:
    // forward() then returns the number of steps made.
    using Watch = std::function<bool(std::int64_t steps_done)>;

    // Runs all steps. `keep` stores what backward() needs; without it no gradient memory is touched or allocated.
    std::int64_t forward(bool keep, const Watch& watch = {}, RolloutMode mode = RolloutMode::first);
    // After forward(true): zeroes every gradient, sets those of `seeds` (array and value, every element), and runs the
    // adjoints. Throws if an array that an adjoint reads was changed since.
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
    void profile(bool on);                 // time every launch from now on
    std::vector<Profile> profiles() const;

    std::int64_t kept_bytes() const;       // of the first-order history
    std::int64_t steps() const;
    std::size_t launches_per_step() const;

private:
    struct Schedule;
    Schedule& schedule(RolloutMode mode, bool backward);

    std::shared_ptr<Device> device_;
    Parts parts_;
    Array counter_;
    bool profiling_ = false;
    std::map<RolloutMode, std::unique_ptr<Schedule>> schedules_;
};

}  // namespace hindcast
