#include "engine/runtime/schedule/recording.hpp"

#include <algorithm>

namespace hindcast {

void Recording::allocate(const CheckpointPlan& plan, const std::filesystem::path& spill) {
    release();
    s_.plan = plan;
    const bool some = plan.segments > 1;
    try {
        s_.allocate(device_, std::min(plan.segment, plan.steps));
        if (some) {
            store_ = CheckpointStore(device_, s_.state, plan.checkpoints,
                                     plan.spilled ? spill : std::filesystem::path());
            final_ = device_.allocate(static_cast<std::size_t>(s_.demand.if_recomputed));
        }
        stack_ = CheckpointStack(some ? plan.checkpoints : 1);
        // A run fills all of it, and should not wait for its pages.
        for (History& h : s_.histories)
            if (!h.mostly_empty) h.memory.populate();
        store_.populate_memory();
        final_.populate();
    } catch (...) {
        release();
        throw;
    }
    allocated_ = true;
}

void Recording::release() {
    s_.release();
    store_ = {};
    final_ = {};
    stack_ = CheckpointStack();
    allocated_ = complete_ = false;
    begin_ = 0;
    end_ = -1;
}

std::int64_t Recording::bytes() const {
    return s_.history_bytes + store_.memory_bytes() + static_cast<std::int64_t>(final_.size());
}

void Recording::go_to(const State& state) {
    open_window(state.begin);
    stack_ = state.stack;
    final_saved_ = state.final_saved;
    complete_ = state.complete;
    next_stored_ = state.next_stored;
    end_ = state.end;
}

void Recording::open_window(std::int64_t begin) {
    begin_ = begin;
    end_ = -1;
    s_.move_window(begin);
}

// Saves the values that the next step would save at its start: adjoints of this window read them.
void Recording::close_window(std::int64_t end) {
    end_ = end;
    if (!s_.step.empty()) Schedule::save(s_.step.front(), moment(end), device_);
}

// ---------------------------------------------------------------- forward

void Recording::begin() {
    complete_ = false;
    stack_.clear();
    next_stored_ = s_.plan.segments > 1 ? 0 : -1;
    open_window(s_.cut);
}

bool Recording::arrive(std::int64_t t) {
    if (t < s_.cut) return false;
    if (s_.plan.segments <= 1) return true;
    const std::int64_t segment = (t - s_.cut) / s_.plan.segment, last = s_.plan.segments - 1;
    if (t == start_of(segment)) {
        if (segment == next_stored_) {
            stack_.push(segment);
            store_.store(stack_.size() - 1);
            const std::int64_t next = segment < last ? stack_.next(last) : last;
            next_stored_ = next < last ? next : -1;
        }
        if (segment == last) open_window(t);
    }
    return segment == last;
}

void Recording::finish(std::int64_t steps_done) {
    steps_done_ = steps_done;
    complete_ = true;
    if (steps_done > start_of(s_.plan.segments - 1) || steps_done == s_.cut)
        close_window(steps_done);
}

// ---------------------------------------------------------------- backward

void Recording::begin_backward() {
    if (s_.plan.segments <= 1) return;
    std::size_t at = 0;
    for (const Array& a : s_.recomputed) {
        device_.save(a, final_.data() + at);
        at += a.bytes();
    }
    final_saved_ = true;
}

std::int64_t Recording::load(std::int64_t end, const Run& run) {
    if (s_.plan.segments <= 1) return s_.cut;
    const std::int64_t segment = (end - s_.cut - 1) / s_.plan.segment;
    const std::int64_t begin = start_of(segment);
    if (begin_ == begin && end_ == end) return begin;
    end_ = -1;
    stack_.reach(
        segment, [&](std::int64_t slot) { store_.restore(slot); },
        [&](std::int64_t from, std::int64_t to) { run(start_of(from), start_of(to), false); },
        [&](std::int64_t slot) { store_.store(slot); });
    open_window(begin);
    run(begin, end, true);
    close_window(end);
    return begin;
}

void Recording::end_backward() {
    if (!final_saved_) return;
    final_saved_ = false;
    std::size_t at = 0;
    for (const Array& a : s_.recomputed) {
        device_.restore(a, final_.data() + at);
        at += a.bytes();
    }
}

}  // namespace hindcast
