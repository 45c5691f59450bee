// Work over a range, cut into tasks of whole blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/backend/array_facts.hpp"
#include "engine/base/thread_pool.hpp"

namespace hindcast::backend {

// Cut: a range cut into a few tasks for each thread, of whole blocks; one task without a pool. Each
// task gets an equal part of what is occupied and of the rest. Ranges of one length that are
// occupied alike are cut alike, so that a thread finds what it had before. If nothing is occupied,
// tasks can be made of `least` elements or more, but for a block.
class Cut {
public:
    Cut(const ThreadPool* pool, std::int64_t count, std::int64_t block, ActiveRange occupied = {},
        std::int64_t least = 0)
        : count_(count), block_(block) {
        constexpr std::int64_t tasks_per_thread = 4;
        const std::int64_t blocks = blocks_of(count);
        if (pool != nullptr && blocks > 1)
            tasks_ = std::min(blocks, pool->threads() * tasks_per_thread);
        if (least > block) tasks_ = std::clamp<std::int64_t>(count / least, 1, tasks_);
        if (occupied.begin >= occupied.end || occupied.begin >= count) return;
        first_ = occupied.begin / block * block;
        size_ = std::min(blocks_of(occupied.end) * block, count) - first_;
    }
    std::int64_t tasks() const { return tasks_; }
    // The start of a task and the end of the one before it, if nothing is occupied; task = tasks():
    // the end of the range.
    std::int64_t begin(std::int64_t task) const { return part(count_, task); }
    // Calls body(begin, end) for the ranges of a task, at most three.
    template <class Body>
    void each(std::int64_t task, const Body& body) const {
        const auto call = [&](std::int64_t begin, std::int64_t end) {
            if (begin < end) body(begin, end);
        };
        call(first_ + part(size_, task), first_ + part(size_, task + 1));
        const std::int64_t from = part(count_ - size_, task), to = part(count_ - size_, task + 1);
        call(from, std::min(to, first_));
        call(std::max(from, first_) + size_, to + size_);
    }

private:
    std::int64_t blocks_of(std::int64_t count) const { return (count + block_ - 1) / block_; }
    std::int64_t part(std::int64_t count, std::int64_t task) const {
        return std::min(count, blocks_of(count) * task / tasks_ * block_);
    }

    std::int64_t count_, block_, tasks_ = 1;
    std::int64_t first_ = 0, size_ = 0;  // occupied, in whole blocks
};

// Work that is done sooner than another thread has been handed it, in operations, and what a byte
// counts that is only moved: 32 KiB.
inline constexpr double short_work = 60000, work_of_byte = short_work / 32768;

// Short work stays on the calling thread.
inline ThreadPool* threads_for(double work, ThreadPool* pool) {
    return work < short_work ? nullptr : pool;
}

// body(begin, end) for the ranges of every task; on the calling thread if there is no pool.
template <class Body>
void split(ThreadPool* pool, const Cut& cut, const Body& body) {
    if (pool == nullptr || cut.tasks() == 1) {
        for (std::int64_t task = 0; task < cut.tasks(); ++task) cut.each(task, body);
        return;
    }
    pool->run(static_cast<int>(cut.tasks()), [body, cut](int task) { cut.each(task, body); });
}

// The same for the elements of a range, from the block on in which it begins.
template <class Body>
void split(ThreadPool* pool, const ActiveRange& range, std::int64_t block,
           const ActiveRange& occupied, const Body& body) {
    if (range.begin >= range.end) return;
    const std::int64_t first = range.begin / block * block;
    split(
        pool, Cut(pool, range.end - first, block, occupied.from(first)),
        [body, first](std::int64_t begin, std::int64_t end) { body(first + begin, first + end); });
}

}  // namespace hindcast::backend
