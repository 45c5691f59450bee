#include "engine/runtime/executors/launch_executor.hpp"

#include <chrono>
#include <utility>

#include "engine/backend/jit/interruption.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/backend/plan/copy_elements.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/launch/launch_state.hpp"

namespace hindcast {

LaunchExecutor::LaunchExecutor(std::shared_ptr<Device> device) : device_(std::move(device)) {
    if (!device_) throw Error("a roll-out needs a device");
    deferred_ = std::make_unique<backend::DeferredWork>(device_->run_options().pool);
}

LaunchExecutor::~LaunchExecutor() = default;

bool LaunchExecutor::may_defer() const {
    return !profiling_ && !device_->cuda() && device_->options().passes.has(Pass::deferral);
}

void LaunchExecutor::set_counter(std::int64_t step) {
    if (!counter_) return;
    if (deferred_->reads_elsewhere(counter_.contents())) deferred_->run();
    counter_.store(static_cast<std::int32_t>(step));
}

// ---------------------------------------------------------------- items

void LaunchExecutor::launch(const Launch::Replay& replay, double& seconds, std::int64_t& runs) {
    const std::span copies(copies_.data(), std::exchange(copy_count_, 0));
    if (!profiling_) return replay.bound().run(copies, deferring_ ? deferred_.get() : nullptr);
    const auto start = std::chrono::steady_clock::now();
    replay.bound().run(copies, nullptr);
    device_->synchronize();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++runs;
}

void LaunchExecutor::flush_copies() {
    const std::span copies(copies_.data(), std::exchange(copy_count_, 0));
    if (!copies.empty()) backend::copy_out(copies, device_->run_options().pool);
}

void LaunchExecutor::copy(History& history, const SlotIndex& at) {
    if (copy_count_ == 0) deferred_->run();
    if (device_->cuda()) return device_->save(history.array, history.slot(at));
    if (copy_count_ == copies_.size()) flush_copies();
    copies_[copy_count_++] = history.copy(at);
}

void LaunchExecutor::run(const RunItem& item, const SlotIndex& at) {
    Call& call = *item.call;
    if (item.way == RunItem::Way::forward)
        return launch(call.forward, call.forward_seconds, call.forward_runs);
    if (item.way == RunItem::Way::back) {
        for (const auto& [need, version] : call.constants)
            call.backward.bind_memory(need.parameter, nullptr);
        for (const Restore& r : call.restores)
            call.backward.bind_memory(r.parameter, r.history->slot(at, r.offset));
        return launch(call.backward, call.backward_seconds, call.backward_runs);
    }
    if (call.holds_results(at.step)) {
        for (const SparseHistory* r : call.results) r->restore(at.step, *deferred_);
        if (!deferring_) deferred_->run();
        return;
    }
    for (const Restore& r : call.restores_again)
        call.forward.bind_memory(r.parameter, r.history->slot(at, r.offset));
    launch(call.forward, call.forward_seconds, call.forward_runs);
    for (const Restore& r : call.restores_again) call.forward.bind_memory(r.parameter, nullptr);
}

void LaunchExecutor::run(const Block& block, std::int64_t t, const SlotIndex& at) {
    backend::interruption_point();
    copy_count_ = 0;  // of a block that an error ended
    std::int64_t copies = 0, bytes = 0;
    for (const TimelineItem& item : block) {
        if (const auto* const saved = std::get_if<CopyItem>(&item)) {
            copy(*saved->history, at);
            ++copies;
            bytes += static_cast<std::int64_t>(saved->history->array.bytes());
        } else if (const auto* const run = std::get_if<RunItem>(&item)) {
            try {
                this->run(*run, at);
            } catch (Error& e) {
                if (run->way == RunItem::Way::back)
                    e.note("in the adjoint of step " + std::to_string(t + 1));
                throw;
            }
            if (!profiling_) continue;
            run->call->copies += std::exchange(copies, 0);
            run->call->copied_bytes += std::exchange(bytes, 0);
        } else if (const auto* const lines = std::get_if<LinesItem>(&item)) {
            lines->history->save(at.step, *deferred_);
            if (!deferring_) deferred_->run();
        } else if (const auto* const count = std::get_if<CountItem>(&item)) {
            set_counter(t + count->offset);
        } else if (const auto* const clear = std::get_if<ClearItem>(&item)) {
            clear->array->clear();
        } else {
            throw Error("launch by launch the caller looks for numbers that are not finite");
        }
    }
    flush_copies();
}

// ---------------------------------------------------------------- steps

void LaunchExecutor::run_steps(const Timeline& timeline, StepRotation* rotation, bool rotate,
                               const Stretch& stretch) {
    struct Deferring {  // work that a step has deferred runs with the next one, or here
        LaunchExecutor& executor;
        explicit Deferring(LaunchExecutor& e) : executor(e) { e.deferring_ = e.may_defer(); }
        ~Deferring() {
            executor.deferred_->run();
            executor.deferring_ = false;
        }
        Deferring(const Deferring&) = delete;
        Deferring& operator=(const Deferring&) = delete;
    } const deferring(*this);
    const RunKind kind = stretch.kind;
    const Block& step = timeline.step(kind);
    if (rotate) {
        if (kind == RunKind::back)
            run_back_rotated(*rotation, stretch);
        else
            run_rotated(*rotation, stretch);
    } else if (kind == RunKind::back) {
        for (std::int64_t t = stretch.to; t-- > stretch.from;) {
            if (rotation != nullptr) need_dropped(*rotation, t, stretch.window);
            run(step, t, {t - stretch.window, 0});
        }
    } else {
        for (std::int64_t t = stretch.from; t < stretch.to; ++t) {
            run(step, t, {t - stretch.window, 0});
            if (rotation != nullptr && records(kind)) rotation->note(t, true);
        }
    }
}

}  // namespace hindcast
