#include "engine/runtime/schedule/step_rotation.hpp"

#include <algorithm>

#include "engine/backend/plan/fixed_point.hpp"
#include "engine/ir/effects.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/runtime/launch/launch_state.hpp"
#include "engine/runtime/schedule/join.hpp"

namespace hindcast {

namespace {

bool uses(const Launch::Replay& replay, const Array& array) {
    return contains(replay.arrays(), array) || contains(replay.bound().cleared, array);
}
// Either direction, and the gradient as well.
bool uses(const Call& call, const Array& array) {
    const auto both = [&](const Launch::Replay& replay) {
        return uses(replay, array) || (array.has_gradient() && uses(replay, array.gradient()));
    };
    return both(call.forward) || (call.has_backward() && both(call.backward));
}

// Sums to other elements stay alone where they are pulled (fusion.hpp); those in fixed point are
// not.
bool sums_fit(const Launch::Replay& replay) {
    const ir::Kernel& kernel = replay.kernel();
    if (kernel.is_host_function || kernel.has_exclusive()) return false;
    const std::vector<backend::FixedPoint> fixed = backend::fixed_point_parameters(kernel);
    const std::vector<ir::Effects> effects = ir::effects_of(kernel);
    for (std::size_t p = 0; p < fixed.size(); ++p)
        if (effects[p].adds_other && !fixed[p].used) return false;
    return !replay.bound().adds_aliases();
}

}  // namespace

// ---------------------------------------------------------------- what may be joined

std::unique_ptr<StepRotation> StepRotation::make(Schedule& schedule, const Array& counter) {
    if (schedule.step.size() < 2 || schedule.steps < 2) return nullptr;
    std::unique_ptr<StepRotation> rotation(new StepRotation(schedule));
    Call &first = rotation->first(), &last = rotation->last();
    const bool counts = counter && (uses(first, counter) || uses(last, counter));
    if (counts || first.forward.direction() != Direction::forward || last.made_again ||
        !first.forward.bound().cleared.empty() || !last.forward.bound().cleared.empty() ||
        !goes_alike(first.forward, last.forward) || first.forward.launch().device()->cuda() ||
        !sums_fit(first.forward) || !sums_fit(last.forward) || !rotation->saves_may_wait())
        return nullptr;
    rotation->find_dropped();
    bool joined = !rotation->dropped_.empty() && rotation->find_old_values() &&
                  rotation->join_forward() && (!schedule.has_backward || rotation->join_backward());
    if (!joined) {
        rotation->dropped_.clear();
        rotation->old_.clear();
        rotation->call.backward = {};
        if (!rotation->join_forward()) return nullptr;
        if (schedule.has_backward) rotation->join_backward();
    }
    Call& call = rotation->call;
    call.saves = last.saves;
    for (History* h : first.saves) {
        if (contains(rotation->dropped_, h->array)) {
            h->mostly_empty = true;
            rotation->histories_.push_back(h);
            continue;
        }
        rotation->late_.push_back(h);
        if (std::find(call.saves.begin(), call.saves.end(), h) == call.saves.end())
            call.saves.push_back(h);
    }
    rotation->runs_again = first.recomputed && last.recomputed;
    rotation->absent_.assign(static_cast<std::size_t>(schedule.steps) + 1, 0);
    rotation->make_pieces();
    return rotation;
}

std::string StepRotation::describe() const {
    const Pieces& forward = pieces(RunKind::recording);
    const auto all = [](const Pieces& p) {
        return hindcast::describe(p.again) + hindcast::describe(p.inner) +
               hindcast::describe(p.joined) + hindcast::describe(p.lines);
    };
    std::string text =
        "between two steps, in place of the last launch and the first of the next\n" +
        hindcast::describe(forward.inner) + hindcast::describe(forward.joined) +
        hindcast::describe(forward.lines);
    if (joins_backward()) text += "backwards, likewise\n" + all(pieces(RunKind::back));
    return text;
}

void StepRotation::make_pieces() {
    for (const RunKind kind : {RunKind::recording, RunKind::recording_again, RunKind::back}) {
        if (kind == RunKind::back && !schedule_.has_backward) continue;
        Pieces& p = pieces_[static_cast<std::size_t>(kind)];
        p.first = Timeline::items_of({&first(), 1}, kind);
        p.inner = Timeline::items_of(inner(), kind);
        p.last = Timeline::items_of({&last(), 1}, kind);
        p.again = Timeline::made_again(schedule_.step);
        if (kind == RunKind::back) {
            if (joins_backward()) p.joined = Timeline::items_of({&call, 1}, kind);
            continue;
        }
        p.joined = Timeline::items_of({&call, 1}, RunKind::recording);
        for (SparseHistory* h : first().results) p.lines.emplace_back(LinesItem{h});
    }
}

// True if the saves of the first call may wait until the last call runs.
bool StepRotation::saves_may_wait() const {
    return std::none_of(first().saves.begin(), first().saves.end(), [&](const History* h) {
        return contains(first().writes, h->array) ||
               std::any_of(inner().begin(), inner().end(),
                           [&](const Call& c) { return contains(c.writes, h->array); });
    });
}

// By a step or an event.
bool StepRotation::is_changed(const Array& array) const {
    const auto any = [&](const Calls& calls) {
        return std::any_of(calls.begin(), calls.end(),
                           [&](const Call& c) { return contains(c.writes, array); });
    };
    return any(schedule_.step) ||
           std::any_of(schedule_.event_programs.begin(), schedule_.event_programs.end(),
                       [&](const EventProgram& program) { return any(program.calls); });
}

void StepRotation::find_dropped() {
    const Launch::Replay& replay = last().forward;
    for (std::size_t p = 0; p < replay.arrays().size(); ++p) {
        const Array& array = replay.arrays()[p];
        if (array && replay.kernel().parameters[p].access == ir::Access::write &&
            array.elements() == replay.launch().items() && may_drop(array))
            dropped_.push_back(array);
    }
}

bool StepRotation::may_drop(const Array& array) const {
    const auto restores = [&](const std::vector<Restore>& list) {
        return std::any_of(list.begin(), list.end(),
                           [&](const Restore& r) { return r.history->array.same_memory(array); });
    };
    const std::vector<Array>& of_last = last().forward.arrays();
    return std::count_if(of_last.begin(), of_last.end(),
                         [&](const Array& a) { return a && a.same_memory(array); }) == 1 &&
           !contains(first().writes, array) && !restores(last().restores) &&
           std::none_of(inner().begin(), inner().end(), [&](const Call& c) {
               return uses(c, array) || restores(c.restores) || restores(c.restores_again);
           });
}

// Finds the old values that repeat the last call's work; false if some are lost: each array that it
// reads must be unchanged, made again, or overwritten by it with the value kept for its adjoint.
bool StepRotation::find_old_values() {
    const Launch::Replay& replay = last().forward;
    for (std::size_t p = 0; p < replay.arrays().size(); ++p) {
        const Array& array = replay.arrays()[p];
        const ir::Access access = replay.kernel().parameters[p].access;
        if (!array || access == ir::Access::write) continue;
        if (contains(first().writes, array)) return false;
        if (access == ir::Access::read_write) {
            if (!schedule_.has_backward) continue;  // nothing will ask for it
            const auto kept =
                std::find_if(last().restores.begin(), last().restores.end(), [&](const Restore& r) {
                    return r.history->array.same_memory(array) && r.offset == 0;
                });
            if (kept == last().restores.end()) return false;
            old_.push_back({static_cast<int>(p), kept->history, 0});
            continue;
        }
        if (!ir::only_reads(access)) return false;  // it adds to something
        const bool made_again =
            std::any_of(schedule_.step.begin(), schedule_.step.end(),
                        [&](const Call& c) { return c.made_again && contains(c.writes, array); });
        if (is_changed(array) && !made_again) return false;
    }
    return true;
}

// ---------------------------------------------------------------- joining

bool StepRotation::join_forward() {
    Join join;
    join.add(last().forward, {});
    join.add(first().forward, {});
    for (const Array& a : dropped_) join.pass(0, a);
    if (!join.possible()) return false;
    join.make();
    call.forward = join.replay();
    call.bindings_version = call.forward.launch().bindings_version();
    call.writes = last().writes;
    for (const Array& a : first().writes)
        if (!contains(call.writes, a)) call.writes.push_back(a);
    return true;
}

bool StepRotation::join_backward() {
    Call &first = this->first(), &last = this->last();
    call.differentiable = first.differentiable || last.differentiable;
    if (!first.differentiable || !last.differentiable || !sums_fit(first.backward) ||
        !sums_fit(last.backward))
        return false;
    // Arrays that are made again are made for the earlier step before both adjoints run, and arrays
    // that the first call's adjoint clears are cleared after both.
    for (const Call& made : schedule_.step)
        if (made.made_again && std::any_of(made.writes.begin(), made.writes.end(),
                                           [&](const Array& a) { return uses(first.backward, a); }))
            return false;
    for (const Array& a : first.backward.bound().cleared)
        if (contains(last.backward.arrays(), a)) return false;
    const auto join = [&](bool leave_zero) {
        Join all;
        if (!dropped_.empty()) all.add_values(last.forward, old_, first.restores, 1);
        all.add(first.backward, first.restores, 1);
        all.add(last.backward, last.restores);
        if (leave_zero)
            for (const Array& a : dropped_)
                if (a.has_gradient()) all.leave_zero(a.gradient());
        if (!all.possible()) return false;
        all.make();
        call.backward = all.replay();
        call.restores = all.restores();
        return true;
    };
    return (!dropped_.empty() && join(true)) || join(false);
}

// ---------------------------------------------------------------- running

void StepRotation::save_late(const SlotIndex& at, const Device& device) const {
    for (History* h : late_) device.save(h->array, h->slot(at));
}

void StepRotation::keep(std::int64_t t, const SlotIndex& at, const Device& device) {
    const SlotIndex before{at.step - 1, at.occurrence};
    for (const Restore& r : old_) device.restore(r.history->array, r.history->slot(before));
    last().forward.run();
    for (History* h : histories_) device.save(h->array, h->slot(at));
    note(t, true);
}

}  // namespace hindcast
