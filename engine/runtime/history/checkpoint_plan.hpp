// Checkpoint plans: how a roll-out of n steps goes backwards within a budget of memory.
//
// The steps are cut into M segments of w steps (the last may be shorter). For one segment at a time
// the histories that its adjoints read are in memory; the state at the start of at most s segments
// is stored as a checkpoint. Backward takes the last segment that is not reversed yet, restores the
// nearest checkpoint before it, advances to the segment (storing checkpoints on the way where some
// are free), runs it recording the histories, and runs its adjoints.
//
//   store all         M = 1: nothing is recomputed
//   equal segments    s >= M - 1: every step but those of the last segment runs twice
//   binomial          s < M - 1: checkpoints are placed as in Griewank and Walther, "Algorithm 799:
//                     revolve", ACM TOMS 26 (2000). With beta(s, r) = (s + r choose s) and r the
//                     least number with M <= beta(s, r), segments are advanced over
//                     t(M, s) = r M - beta(s + 1, r - 1) times, which no schedule undercuts.
//
// A plan is chosen by the time that it is predicted to take, among those that fit. If histories of
// many steps were measured to cost more than those that a processor's own cache holds, short
// segments may win although everything would fit. Nothing here knows of arrays or launches;
// rollout.cpp carries plans out.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hindcast {

enum class PlanKind : std::uint8_t { store_all, equal_segments, binomial };
const char* name_of(PlanKind kind);  // "store all", "equal segments", "binomial"

// beta(s, r), or `most` if it is larger. s, r >= 0.
std::int64_t binomial_reach(std::int64_t s, std::int64_t r,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max());
// t(segments, checkpoints): how often segments are advanced over, first sweep included, the runs
// that record not. Both at least 1; the checkpoint at the start counts.
std::int64_t advanced_segments(std::int64_t segments, std::int64_t checkpoints);
// The number of `segments` (at least 2) to advance over before the next checkpoint is stored, or
// the last segment reached.
std::int64_t advance_before_checkpoint(std::int64_t segments, std::int64_t checkpoints);

// The segments whose start is stored now; slot k holds at(k).
class CheckpointStack {
public:
    explicit CheckpointStack(std::int64_t slots = 0) : slots_(slots) {
        held_.reserve(static_cast<std::size_t>(slots));
    }
    std::int64_t size() const { return static_cast<std::int64_t>(held_.size()); }
    std::int64_t at(std::int64_t slot) const { return held_[static_cast<std::size_t>(slot)]; }
    std::int64_t top() const { return held_.back(); }
    void clear() { held_.clear(); }
    bool operator==(const CheckpointStack&) const = default;
    void push(std::int64_t segment) { held_.push_back(segment); }
    // Frees the slots of segments after this one.
    void drop_after(std::int64_t segment) {
        while (held_.size() > 1 && held_.back() > segment) held_.pop_back();
    }
    // The segment to advance to from the top's start, on the way to `target` (after the top).
    std::int64_t next(std::int64_t target) const {
        return top() + advance_before_checkpoint(target + 1 - top(), slots_ - size() + 1);
    }
    // Brings the state to the start of `target`: restore(slot), then advance(from, to) and
    // store(slot) in turn.
    template <class Restore, class Advance, class Store>
    void reach(std::int64_t target, Restore restore, Advance advance, Store store) {
        drop_after(target);
        restore(size() - 1);
        while (top() < target) {
            const std::int64_t to = next(target);
            advance(top(), to);
            if (to == target) return;
            push(to);
            store(size() - 1);
        }
    }

private:
    std::int64_t slots_;
    std::vector<std::int64_t> held_;
};

// Memory that a roll-out needs, in bytes.
struct MemoryDemand {
    struct Events {  // histories of one event program
        std::int64_t bytes = 0, count = 0;
        std::int64_t gap = 1;  // the fewest steps between two of them
    };
    std::int64_t steps = 0;
    std::int64_t fixed = 0;          // whatever the plan: gradients, histories of the prologue
    std::int64_t if_recomputed = 0;  // besides, if a step is recomputed: the final state's copy
    std::int64_t per_step = 0;       // histories of one step; there is one slot more than steps
    std::vector<Events> events;
    std::int64_t checkpoint = 0;
    // Besides, if runs are compiled into functions (function_executor.hpp) or, where steps are
    // recomputed, steps are; none: they must not be.
    std::optional<std::int64_t> functions = {}, step_functions = {};

    std::int64_t history(std::int64_t segment) const;  // of a segment of so many steps; saturates
};

// Seconds, or any unit. Unless measured, the adjoint of a step is taken to cost as much as two and
// a half steps, and a copy of a checkpoint nothing.
struct StepCosts {
    double advance = 1;    // a step that keeps nothing
    double record = 1;     // a step that fills its histories
    double adjoint = 2.5;  // a step backwards
    double copy = 0;       // storing or restoring one checkpoint
    bool measured = false;
    // record and adjoint are those of a segment of short_steps, whose histories caches may hold.
    // Recording and reversing `long_steps` steps in a row was measured to take `both_long` for
    // each; 0: not measured.
    std::int64_t short_steps = 0, long_steps = 0;
    double both_long = 0;

    // Recording and reversing a step of a segment of so many; between the two lengths it grows with
    // the length.
    double both(std::int64_t segment) const;
};

// Bytes up to which segments and checkpoints count as held by a processor's own cache.
inline constexpr std::int64_t near_history_bytes = 1 << 20;

struct MemoryBudget {
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    std::int64_t memory = unlimited;
    std::int64_t disk = 0;  // above 0: checkpoints go to files and take no memory
    bool may_recompute = true;
};

struct CheckpointPlan {
    PlanKind kind = PlanKind::store_all;
    std::int64_t steps = 0;
    std::int64_t segment = 0;   // w: steps
    std::int64_t segments = 1;  // M
    std::int64_t checkpoints = 0;
    std::int64_t recomputed_steps = 0;  // advanced over or recorded again, first sweep excluded
    std::int64_t stores = 0, restores = 0;
    std::int64_t history_bytes = 0, checkpoint_bytes = 0;  // the latter of all of them
    bool spilled = false;                                  // checkpoints lie in files
    bool may_compile = false;     // there is memory for compiled functions; it is counted
    std::int64_t peak_bytes = 0;  // of gradient memory, files excluded
    double time_factor = 1;       // forward and backward, against storing all (were there memory)
    bool measured = false;        // by measured costs

    // "equal segments: 12 states stored, 880 of 1000 steps recomputed, 1.2 MiB, 1.31 x the time"
    std::string describe() const;
};

// The fastest plan that fits. Throws Error, with the least budget that works, if none does.
CheckpointPlan plan_checkpoints(const MemoryDemand& demand, const MemoryBudget& budget,
                                const StepCosts& costs = {});
// The plan with this segment length and number of checkpoints (at least 1 where there is more than
// one segment), whatever memory it takes.
CheckpointPlan plan_of(const MemoryDemand& demand, std::int64_t segment, std::int64_t checkpoints,
                       bool spilled = false, const StepCosts& costs = {});

std::string bytes_text(std::int64_t bytes);  // "512 bytes", "1.5 MiB"

}  // namespace hindcast
