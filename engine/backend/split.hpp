// Work over a range, cut into tasks of whole blocks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/thread_pool.hpp"

namespace hindcast::backend {

// How a range is cut: a few tasks for each thread, of whole blocks; one without a pool. Ranges of
// one length are cut alike, so that a thread finds what it had before.
class Cut {
public:
    Cut(const ThreadPool* pool, std::int64_t count, std::int64_t block)
        : count_(count), block_(block), blocks_((count + block - 1) / block) {
        constexpr std::int64_t tasks_per_thread = 4;
        if (pool != nullptr && blocks_ > 1)
            tasks_ = std::min(blocks_, pool->threads() * tasks_per_thread);
    }
    std::int64_t tasks() const { return tasks_; }
    // Where a task begins and the one before it ends; task = tasks(): the end of the range.
    std::int64_t begin(std::int64_t task) const {
        return std::min(count_, blocks_ * task / tasks_ * block_);
    }

private:
    std::int64_t count_, block_, blocks_, tasks_ = 1;
};

// body(begin, end) for every task of the cut; on the calling thread if there is no pool.
template <class Body>
void split(ThreadPool* pool, std::int64_t count, std::int64_t block, const Body& body) {
    const Cut cut(pool, count, block);
    if (pool == nullptr || cut.tasks() == 1) {
        body(std::int64_t{0}, count);
        return;
    }
    pool->run(static_cast<int>(cut.tasks()),
              [&](int task) { body(cut.begin(task), cut.begin(task + 1)); });
}

}  // namespace hindcast::backend
