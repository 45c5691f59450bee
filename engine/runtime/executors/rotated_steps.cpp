// Steps of which the last call and the first of the next are one launch (step_rotation.hpp).
#include "engine/runtime/executors/launch_executor.hpp"

namespace hindcast {

void LaunchExecutor::run_rotated(StepRotation& rotation, const Stretch& stretch) {
    const StepRotation::Pieces& pieces = rotation.pieces(stretch.kind);
    bool rotates = true, ahead = false;  // ahead: the first call of this step has run
    for (std::int64_t t = stretch.from; t < stretch.to; ++t) {
        const SlotIndex at{t - stretch.window, 0}, next{t + 1 - stretch.window, 0};
        set_counter(t);
        if (!ahead) {
            run(pieces.first, t, at);
            rotation.note(t, true);
        }
        run(pieces.inner, t, at);
        if (!rotates || t + 1 == stretch.to) {
            deferred_->run();
            if (ahead) rotation.save_late(at, *device_);
            run(pieces.last, t, at);
            ahead = false;
            continue;
        }
        run(pieces.joined, t, at);
        ahead = true;
        rotation.note(t + 1, false);
        run(pieces.lines, t + 1, next);
        deferred_->run();
        if (rotation.holds(t + 1) || !rotation.first().made_again ||
            rotation.first().holds_results(next.step))
            continue;
        // It will be made again from what was not stored.
        rotation.keep(t + 1, next, *device_);
        rotates = false;
    }
}

void LaunchExecutor::run_back_rotated(StepRotation& rotation, const Stretch& stretch) {
    const StepRotation::Pieces& pieces = rotation.pieces(RunKind::back);
    const auto slot = [&](std::int64_t t) { return SlotIndex{t - stretch.window, 0}; };
    const auto begin = [&](std::int64_t t) {
        set_counter(t);
        run(pieces.again, t, slot(t));
    };
    const std::int64_t end = stretch.to - 1;
    begin(end);
    run(pieces.last, end, slot(end));
    for (std::int64_t t = end; t > stretch.from; --t) {
        run(pieces.inner, t, slot(t));
        if (rotation.joins_backward()) {
            begin(t - 1);
            run(pieces.joined, t - 1, slot(t - 1));
        } else {
            run(pieces.first, t, slot(t));
            begin(t - 1);
            run(pieces.last, t - 1, slot(t - 1));
        }
    }
    run(pieces.inner, stretch.from, slot(stretch.from));
    need_dropped(rotation, stretch.from, stretch.window);
    run(pieces.first, stretch.from, slot(stretch.from));
}

// The adjoint of the first call of step t needs what was not stored between two steps: backward
// stops where forward did not. The arrays of the program keep what they hold.
void LaunchExecutor::need_dropped(StepRotation& rotation, std::int64_t t, std::int64_t window) {
    if (rotation.holds(t)) return;
    const Block& again = rotation.pieces(RunKind::back).again;
    deferred_->run();
    std::vector<std::pair<Array, Array>> kept;
    for (const Array& a : rotation.last().writes) kept.emplace_back(a, a.clone());
    set_counter(t - 1);
    run(again, t - 1, {t - 1 - window, 0});
    deferred_->run();
    rotation.keep(t, {t - window, 0}, *device_);
    for (const auto& [array, copy] : kept) array.copy_from(copy);
    set_counter(t);
    run(again, t, {t - window, 0});
}

}  // namespace hindcast
