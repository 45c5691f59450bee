// Work over a range, cut into tasks of whole blocks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/thread_pool.hpp"

namespace hindcast::backend {

// Splits [0, count) into tasks of whole blocks, a few for each thread, and runs them: body(begin,
// end). On the calling thread if there is no pool. Ranges of one length are cut alike, so that a
// thread finds what it had before.
template <class Body>
void split(ThreadPool* pool, std::int64_t count, std::int64_t block, const Body& body) {
    constexpr std::int64_t tasks_per_thread = 4;
    const std::int64_t blocks = (count + block - 1) / block;
    if (pool == nullptr || blocks <= 1) {
        body(std::int64_t{0}, count);
        return;
    }
    const std::int64_t tasks = std::min(blocks, pool->threads() * tasks_per_thread);
    pool->run(static_cast<int>(tasks), [&](int task) {
        body(blocks * task / tasks * block, std::min(count, blocks * (task + 1) / tasks * block));
    });
}

}  // namespace hindcast::backend
