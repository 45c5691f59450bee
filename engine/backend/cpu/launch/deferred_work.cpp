#include "engine/backend/cpu/launch/deferred_work.hpp"

#include <algorithm>
#include <utility>

#include "engine/backend/plan/plan.hpp"
#include "engine/backend/plan/work_split.hpp"
#include "engine/base/float_environment.hpp"

namespace hindcast::backend {

namespace {

bool have_one_in_common(ArrayList a, ArrayList b) {
    return std::any_of(a.begin(), a.end(), [&](const ArrayFacts* array) {
        return std::find(b.begin(), b.end(), array) != b.end();
    });
}

// As many elements at a time as stay in a core's cache from one loop to the next.
constexpr std::int64_t chunk = 64 * DeferredWork::block;

}  // namespace

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> numbers{0};
    return numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

DeferredWork::DeferredWork(ThreadPool* pool) : pool_(pool), number_(next_number()) {}

bool DeferredArrays::has_room(const DeferredLoop& loop) const {
    return written_.has_room(loop.written) && elsewhere_.has_room(loop.read_elsewhere) &&
           near_.has_room(loop.read_near);
}

void DeferredArrays::add(const DeferredLoop& loop) {
    written_.add(loop.written);
    elsewhere_.add(loop.read_elsewhere);
    near_.add(loop.read_near);
}

bool DeferredArrays::conflict(const DeferredLoop& loop) const {
    return have_one_in_common(written_.all(), loop.read_elsewhere) ||
           have_one_in_common(elsewhere_.all(), loop.written);
}

bool DeferredArrays::has_to_lag(const DeferredLoop& loop) const {
    return have_one_in_common(near_.all(), loop.written);
}

bool DeferredArrays::reads_elsewhere(const ArrayFacts& array) const {
    const ArrayFacts* const one = &array;
    return have_one_in_common({&one, 1}, elsewhere_.all()) ||
           have_one_in_common({&one, 1}, near_.all());
}

// Each thread can have a task that is longer than what lies around its borders.
bool DeferredWork::may_lag() const {
    return pool_ == nullptr || count_ >= least_task(lag_of(reach_)) * pool_->threads();
}

bool DeferredWork::may_follow(const Loop& loop) const {
    return loop.count == count_ && size_ < most && arrays_.has_room(loop) &&
           loop.read_near.empty() && !arrays_.conflict(loop) &&
           (may_lag() || !arrays_.has_to_lag(loop));
}

void DeferredWork::put(const Loop& loop, const Entry& entry) {
    if (loop.range.begin >= loop.range.end) return;
    make_way(loop);
    const ActiveRange range{loop.range.begin / block * block, loop.range.end, loop.range.columns};
    count_ = loop.count;
    range_ = hull(range_, range);
    if (occupied_.begin >= occupied_.end) occupied_ = loop.occupied;
    work_ += loop.work;
    if (lag_ == 0) {
        if (arrays_.has_to_lag(loop))
            lag_ = lag_of(reach_);
        else
            prompt_ = size_ + 1;
    }
    entries_[size_] = entry;
    entries_[size_++].range = range;
    if (!arrays_.has_room(loop)) return run();
    arrays_.add(loop);
    reach_ = std::max(reach_, loop.reach);
}

// Entries from .. to-1 over a part of the elements.
void DeferredWork::run_entries(std::size_t from, std::size_t to, std::int64_t begin,
                               std::int64_t end) const {
    for (std::size_t k = from; k < to; ++k) {
        const Entry& e = entries_[k];
        e.range.each(begin, end, most_lanes,
                     [&](std::int64_t a, std::int64_t b) { e.body(e.closure, a, b); });
    }
}

// Elements begin .. end-1, of which the entries that lag leave out what lies around borders to
// other tasks.
void DeferredWork::walk(std::int64_t begin, std::int64_t end, bool first, bool last) const {
    for (std::size_t k = 0; k < size_; ++k) __builtin_prefetch(&entries_[k]);
    std::int64_t done = first ? begin : begin + lag_;
    for (std::int64_t at = begin; at < end; at += chunk) {
        const std::int64_t behind = std::min(at + chunk, end);
        run_entries(0, prompt_, at, behind);
        const std::int64_t next = last && behind == end ? end : behind - lag_;
        if (next <= done) continue;
        run_entries(prompt_, size_, done, next);
        done = next;
    }
}

void DeferredWork::run_lagging(ThreadPool* pool) {
    const Cut cut(pool, range_.end, block, {}, least_task(lag_));
    const std::int64_t tasks = cut.tasks();
    if (border_count_ < tasks) {
        borders_ = std::make_unique<std::atomic<std::uint8_t>[]>(static_cast<std::size_t>(tasks));
        border_count_ = tasks;
    }
    for (std::int64_t k = 0; k < tasks; ++k) borders_[k].store(0, std::memory_order_relaxed);
    // Called by both tasks at a border; the last of them runs the items around it.
    const auto leave = [this, &cut](std::int64_t border) {
        if (borders_[border].fetch_add(1, std::memory_order_acq_rel) == 0) return;
        const std::int64_t at = cut.begin(border);
        run_entries(prompt_, size_, at - lag_, std::min(at + lag_, range_.end));
    };
    const auto run = [&, tasks](std::int64_t task) {
        walk(cut.begin(task), cut.begin(task + 1), task == 0, task + 1 == tasks);
        if (task > 0) leave(task);
        if (task + 1 < tasks) leave(task + 1);
    };
    if (tasks == 1)
        run(0);
    else
        pool->run(static_cast<int>(tasks), run);
}

void DeferredWork::run() {
    if (size_ == 0) return;
    const FloatEnvironment environment;
    ThreadPool* const pool = threads_for(work_, pool_);
    if (lag_ > 0)
        run_lagging(pool);
    else
        split(pool, range_, block, occupied_,
              [this](std::int64_t begin, std::int64_t end) { walk(begin, end, true, true); });
    number_ = next_number();
    size_ = prompt_ = 0;
    count_ = 0;
    range_ = occupied_ = {};
    work_ = 0;
    lag_ = reach_ = 0;
    arrays_.clear();
    if (const auto then = std::exchange(then_, nullptr)) then(then_closure_, pool_);
}

}  // namespace hindcast::backend
