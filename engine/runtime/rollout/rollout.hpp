// Rollout: a program repeated over time, forwards and backwards.
//
//   prologue          once: sets the state from the parameters
//   step              `steps` times
//   events[t]         after t steps (0 .. steps): objective terms, outputs. Never masked launches
//                     in every step.
//
// Backward replays the adjoints in reverse. The values to keep are derived from the reads of the
// adjoint launches, and from the version of the array that each read needs: an array that nothing
// overwrites is not kept, but must not be changed by others either (backward() raises); one that a
// step reads as it stands at its start or end is kept once per step; an intermediate is kept per
// step where it is read; what only the prologue or an event reads is kept there, once. Values that
// are cheaper to compute again are not kept: backward runs such launches once more before the
// adjoints of each step, and leaves the arrays they write as they were in the first step.
//
// All of this is stored unless limit_memory() was called. Then a checkpoint plan that fits is
// chosen (checkpoint_plan.hpp): histories are kept for one segment of steps at a time, and the
// steps of the others are run again from stored states. Gradients have the same bits under every
// plan, and backward() leaves the arrays as it found them. Launches whose results no later step and
// no adjoint needs, such as those of an objective, are not run again.
//
// With a horizon of K steps, derivatives are those of the last K steps, with the state before them
// taken as given: backward goes over these steps only, their objective terms alone count, and
// tangents of what steps and events write are zero before them. Values that the prologue computes
// and steps only read (masses, say) still pass their derivatives on.
//
// Targets of Reduce start from zero in every forward run. A launch without derivative
// (Launch::differentiate_only with no names) is passed over by backward. After Launch::set() bound
// another array, the next run plans again.
//
// The same rollout runs in four modes: `first` (values and gradients), `tangent` (values and
// directional derivatives), `second` (values, tangents, gradients and their tangents:
// Hessian-vector products), `tangent_tangent` (values, their derivatives along two directions, and
// the second derivative along both: the tangent's second_tangent(); no backward()).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/runtime/history/checkpoint_plan.hpp"
#include "engine/runtime/program/program.hpp"
#include "engine/runtime/schedule/rollout_kinds.hpp"

namespace hindcast {

class Sequence;

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
    // All that steps and events write, as it stands between two steps.
    struct State {
        std::int64_t step = 0;                        // after so many steps
        std::vector<std::pair<Array, Array>> arrays;  // an array that is written, and its copy
        std::int64_t bytes() const;                   // of the copies
    };
    // A copy of it, in a watch of forward(false) that was called with `step`.
    State copy_state(std::int64_t step);
    // forward(false) that makes the steps after `state`, of a run with the same parameters: after
    // the prologue all that steps and events write is set to what was copied. The watch is called
    // from state.step on. The bits are those of a run from the start.
    std::int64_t forward_from(const State& state, const Watch& watch);
    // Every so many steps (0: never) and after the last one a forward run looks at these arrays; if
    // one holds a number that is not finite the run stops there and has a divergence().
    void stop_if_not_finite(std::vector<Array> arrays, std::int64_t every);
    struct Divergence {
        std::int64_t step = 0;  // where it was found: after so many steps
        Array array;
    };
    const std::optional<Divergence>& divergence() const;  // of the last run
    // The same look now, in a watch that was called with `step`: true, and a divergence(), if there
    // is such a number.
    bool look(std::int64_t step);
    // On a CUDA device forward runs then go on to the end, without waiting, and leave the look to
    // the caller: where one of these flags (i32, one for each array) is 1 there was such a number,
    // and the same run without it says where.
    void look_later(bool on);
    const Array& not_finite() const;  // empty: nothing is looked at

    // After forward(true): zeroes every gradient, sets those of `seeds`, and runs the adjoints.
    // Throws if an array that an adjoint reads was changed since.
    using Seed = RolloutSeed;
    void backward(const std::vector<Seed>& seeds, RolloutMode mode = RolloutMode::first);
    // Runs after the adjoints in every backward() of the first mode; on a CUDA device in the same
    // graph. It writes nothing that the program works with. Until leave_backward().
    void follow_backward(const Sequence* sequence);
    void leave_backward(const Sequence* sequence);

    // From the next run on. `bytes`: of gradient memory, that is gradients, histories, checkpoints,
    // a copy of the final state, and what adjoints work with: all that is there for backward() and
    // not for forward(false). `spill`: a folder in which checkpoints go to an unnamed file instead;
    // empty: none. Each mode has its own plan within the limit. Gradients and working memory of the
    // modes used so far count in all plans, once; histories and checkpoints of the others are given
    // back where all together would exceed the limit.
    struct MemoryLimit {
        std::int64_t bytes = MemoryBudget::unlimited;
        std::filesystem::path spill = {};
    };
    void limit_memory(MemoryLimit limit);
    std::int64_t memory_limit() const;
    // A plan of one's own, without a limit: segments of so many steps and that many checkpoints.
    void force_plan(std::int64_t segment, std::int64_t checkpoints);
    // 0: all steps. Throws Error if negative.
    void set_horizon(std::int64_t steps);
    std::int64_t horizon() const;
    // Notes the state before the horizon, by running up to it. From then on runs begin there: after
    // the prologue all that steps and events write is set to what was noted, and the last K steps
    // follow. Derivatives within a horizon are exactly those of what such runs compute. Until
    // set_horizon(). Throws Error if no step lies before the horizon, or the run does not reach it.
    void start_at_horizon();
    bool starts_at_horizon() const;

    // The plan of the next forward(true), made now. Throws Error if nothing fits.
    const CheckpointPlan& plan(RolloutMode mode = RolloutMode::first);
    // Allocates what the next forward(true) fills, now, pages and all: it would do that itself, but
    // its first step would take longer.
    void allocate(RolloutMode mode = RolloutMode::first);
    // The most gradient memory that runs in these modes, in turn, will take: their plans are made.
    std::int64_t planned_bytes(const std::vector<RolloutMode>& modes);
    // Forward runs allocate their memory in their first run. This runs a part that allocates all of
    // it: the prologue, the first step and every event; the arrays are left as they were.
    void warm_up();
    // Bytes of the functions that forward(false) is compiled into; not gradient memory.
    std::int64_t function_bytes() const;
    // Measures the cost of steps (time, and memory that is not known yet) on a few steps, forwards
    // and backwards, so that plans predict by that; if not everything can be stored, also on as
    // many as memory holds, whose histories lie in no cache. The arrays are left as they were.
    // Takes some milliseconds, some tenths of a second at most, or as long as a few steps.
    const StepCosts& measure(RolloutMode mode = RolloutMode::first);

    // A report on runs of the first mode: as functions, graphs or launch by launch, and why; a line
    // for each kind, "" before the first run.
    std::string whole_program_report() const;

    struct Profile {
        std::string launch;
        Direction direction;
        Launch::Replay replay;  // one of those that were timed: for texts, bytes
        std::int64_t runs = 0;
        double seconds = 0;
        // Forward: values that the launch or a later one overwrites, copied for an adjoint.
        std::int64_t copies = 0, copied_bytes = 0;
    };
    void profile(bool on);  // time every launch from now on
    std::vector<Profile> profiles() const;

    // The work of a run that keeps values, item by item, as recorded and after each optional pass
    // that changes it: a text for people.
    std::string timeline() const;

    // The values that each step, event occurrence or run keeps for the adjoints, and how often (see
    // History).
    struct KeptValue {
        std::string name;  // of a parameter that reads it
        Array array;
        KeptHow kept = KeptHow::once;
        bool seldom = false;  // per step: only where steps are not joined (step_rotation.hpp)
    };
    std::vector<KeptValue> kept_values(RolloutMode mode = RolloutMode::first);
    // Sums that are made again on the way back, except where their lines that are not zero were
    // kept (sparse_history.hpp): the array, and what a step may keep of it at most.
    struct KeptSum {
        std::string launch;  // whose they are
        Array array;
        std::size_t bytes = 0;
    };
    std::vector<KeptSum> kept_sums(RolloutMode mode = RolloutMode::first);

    // The Euclidean norm of the adjoint of the state (all arrays that steps hand on to steps, as a
    // checkpoint holds them) at each step boundary, from the next backward() on.
    void record_adjoint_norms(bool on);
    struct AdjointNorms {
        std::int64_t first = 0;        // the boundary norms[0] belongs to: after so many steps
        std::vector<double> norms;     // the last one is that after the last step
        std::int64_t not_finite = -1;  // the boundary where, going back, one was not finite first
        Array culprit;                 // whose gradient that is
    };
    const AdjointNorms& adjoint_norms() const;
    // Called by backward() after the adjoints of all that lies after `steps_done` steps: the
    // gradients of the state arrays are those of the loss with respect to the state at that time.
    // From the last step down to 0, or to the horizon; slower than without. It may add to these
    // gradients what the loss owes to the state at that time directly, not through the seeds.
    using AdjointWatch = std::function<void(std::int64_t steps_done)>;
    void watch_adjoints(AdjointWatch watch);

    // Bytes of the first-order mode: histories, checkpoints in memory, the copy of the final state.
    std::int64_t kept_bytes() const;
    std::int64_t steps() const;
    // The launches of a step: as the program has them, and as they run, adjacent ones joined
    // (fusion.hpp).
    struct StepLaunches {
        std::size_t written = 0, joined = 0;
    };
    StepLaunches step_launches();
    // The name of the launch that joins the last launch of a step with the first of the next
    // (step_rotation.hpp), in runs that keep values; "": they stay apart.
    std::string launch_between_steps();

private:
    class Work;
    std::unique_ptr<Work> work_;
};

}  // namespace hindcast
