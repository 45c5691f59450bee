// Steps of which the last call and the first of the next are one launch (step_rotation.hpp).
#include "engine/runtime/rollout/mode.hpp"

namespace hindcast {

// A forward run that keeps nothing would have to copy what the last call overwrites, in case the
// sums of the first must be made once more (rerun_backup.hpp), and gains less than that by
// rotation. Who looks at the adjoints between two steps needs all values there.
bool Rollout::Work::rotates(const Mode& m, StepFunctions::Kind kind, std::int64_t steps) const {
    if (!m.seam || steps < 2) return false;
    if (kind == StepFunctions::back) return true;
    return StepFunctions::records(kind) && !looks_at_adjoints() &&
           (m.seam->runs_again || !StepFunctions::repeats(kind));
}

// Steps from .. to-1.
void Rollout::Work::run_rotated(Mode& m, StepFunctions::Kind kind, std::int64_t from,
                                std::int64_t to, std::int64_t window) {
    StepRotation& seam = *m.seam;
    const bool record = StepFunctions::records(kind), again = StepFunctions::repeats(kind);
    bool rotates = true, ahead = false;  // ahead: the first call of this step has run
    for (std::int64_t t = from; t < to; ++t) {
        const SlotIndex at{t - window, 0}, next{t + 1 - window, 0};
        const SlotIndex* const moment = record ? &at : nullptr;
        set_counter(t);
        if (!ahead) {
            run({&seam.first(), 1}, moment, again);
            if (record) seam.note(t, true);
        }
        run(seam.inner(), moment, again);
        if (!rotates || t + 1 == to) {
            deferred_->run();
            if (record && ahead) seam.save_late(at, *device_);
            run({&seam.last(), 1}, moment, again);
            ahead = false;
            continue;
        }
        run({&seam.call, 1}, moment, false);
        ahead = true;
        if (!record) continue;
        seam.note(t + 1, false);
        for (SparseHistory* r : seam.first().results) r->save(next.step, *deferred_);
        deferred_->run();
        if (seam.holds(t + 1) || !seam.first().made_again || seam.first().holds_results(next.step))
            continue;
        // It will be made again from what was not stored.
        seam.keep(t + 1, next, *device_);
        rotates = false;
    }
}

// The adjoints of steps to-1 .. from.
void Rollout::Work::run_back_rotated(Mode& m, std::int64_t from, std::int64_t to,
                                     std::int64_t window) {
    StepRotation& seam = *m.seam;
    Calls& step = m.schedule->step;
    const auto begin = [&](std::int64_t t) {
        set_counter(t);
        make_again(step, {t - window, 0});
    };
    begin(to - 1);
    run_back({&seam.last(), 1}, {to - 1 - window, 0});
    for (std::int64_t t = to - 1; t > from; --t) {
        const SlotIndex at{t - window, 0}, before{t - 1 - window, 0};
        run_back(seam.inner(), at);
        if (seam.joins_backward()) {
            begin(t - 1);
            run_back({&seam.call, 1}, before);
        } else {
            run_back({&seam.first(), 1}, at);
            begin(t - 1);
            run_back({&seam.last(), 1}, before);
        }
    }
    const SlotIndex at{from - window, 0};
    run_back(seam.inner(), at);
    need_dropped(m, from, window);
    run_back({&seam.first(), 1}, at);
}

// The adjoint of the first call of step t needs what a seam did not store: backward stops where
// forward did not. The arrays of the program keep what they hold.
void Rollout::Work::need_dropped(Mode& m, std::int64_t t, std::int64_t window) {
    StepRotation& seam = *m.seam;
    if (seam.holds(t)) return;
    deferred_->run();
    std::vector<std::pair<Array, Array>> kept;
    for (const Array& a : seam.last().writes) kept.emplace_back(a, a.clone());
    set_counter(t - 1);
    make_again(m.schedule->step, {t - 1 - window, 0});
    deferred_->run();
    seam.keep(t, {t - window, 0}, *device_);
    for (const auto& [array, copy] : kept) array.copy_from(copy);
    set_counter(t);
    make_again(m.schedule->step, {t - window, 0});
}

}  // namespace hindcast
