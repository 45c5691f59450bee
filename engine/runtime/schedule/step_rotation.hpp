// StepRotation: the last call of a step and the first call of the next as one launch, in both
// directions and with the same bits (the roll-out's rotation). Material points: velocities come
// from the grid of one step and go to the grid of the next without ever being stored.
//
//   forward    first(a), inner(a), joined(a), inner(a+1), joined(a+1), ... inner(b-1), last(b-1)
//   backward   last(b-1), inner(b-1), joined(b-2), inner(b-2), ... inner(a), first(a)
//
// Arrays that the last call defines and only the first call of the next step reads are not stored
// between two steps of such a range, nor kept: the adjoints of both calls compute them once more.
// Their histories hold only the steps that ranges begin with, and those at which a first call would
// have to be made again from them (its sums did not fit into their sparse history).
//
// Events, checkpoints and reads of the state between two steps end a range.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "engine/runtime/schedule/timeline.hpp"

namespace hindcast {

class StepRotation {
public:
    // nullptr: the calls cannot be joined. `counter`: of steps; a launch that reads it stays in its
    // step.
    static std::unique_ptr<StepRotation> make(Schedule& schedule, const Array& counter);

    // Both calls, at the moment of the earlier step. Its saves are the last call's, and those of
    // the first call that are due then. Without a backward replay the adjoints run one by one.
    Call call;
    bool runs_again = false;  // both calls run when steps are recomputed

    bool joins_backward() const { return static_cast<bool>(call.backward); }

    // The step in the order in which it runs, for each kind of run that rotates: recording,
    // recording_again, back.
    struct Pieces {
        Block first, inner, last, joined;
        Block lines;  // of first(), after joined
        Block again;  // back: what is made again before the adjoints
    };
    const Pieces& pieces(RunKind kind) const { return pieces_[static_cast<std::size_t>(kind)]; }

    Call& first() const { return schedule_.step.front(); }
    Call& last() const { return schedule_.step.back(); }
    std::span<Call> inner() const {
        return std::span(schedule_.step).subspan(1, schedule_.step.size() - 2);
    }

    // Notes, when step t is recorded, whether the histories hold the values that the joined launch
    // does not store, as they are at the start of the step.
    void note(std::int64_t t, bool kept) {
        absent_[static_cast<std::size_t>(t)] = kept || dropped_.empty() ? 0 : 1;
    }
    void forget() { std::fill(absent_.begin(), absent_.end(), 0); }
    bool holds(std::int64_t t) const { return absent_[static_cast<std::size_t>(t)] == 0; }
    // Keeps them, at the moment of step t: the last call of step t - 1 runs once more. Arrays that
    // it only reads must be as they were then; arrays that it writes are restored afterward.
    void keep(std::int64_t t, const SlotIndex& at, const Device& device);

    // A line for each item of a step within a range.
    std::string describe() const;

    // The saves of first() that were left to the call that ends the step.
    void save_late(const SlotIndex& at, const Device& device) const;

private:
    explicit StepRotation(Schedule& schedule) : schedule_(schedule) {}
    bool saves_may_wait() const;
    void find_dropped();
    bool find_old_values();
    bool may_drop(const Array& array) const;
    bool is_changed(const Array& array) const;
    bool join_forward();
    bool join_backward();
    void make_pieces();

    Schedule& schedule_;
    std::vector<Array> dropped_;
    std::vector<Restore> old_;                // values that the last call reads and overwrites
    std::vector<History*> late_, histories_;  // late saves of first(); of what is dropped
    std::vector<char> absent_;                // per step
    std::array<Pieces, run_kinds> pieces_;
};

}  // namespace hindcast
