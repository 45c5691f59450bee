#include "engine/backend/cpu/per_target/chunk_completion.hpp"

#include "engine/backend/executable.hpp"

namespace hindcast::backend::cpu {

void ChunkCompletion::start(std::int64_t items) {
    const std::int64_t chunks = (items + reduce_chunk - 1) / reduce_chunk;
    near_.resize(static_cast<std::size_t>(chunks));
    far_.clear();
    for (std::int64_t k = 0; k < chunks; ++k) near_[k] = {k, INT64_MAX, 0};
    done_ = std::make_unique<std::atomic<std::int64_t>[]>(near_.size());
}

void ChunkCompletion::note(std::int64_t item, std::int64_t target) {
    Chunk& c = near_[item / reduce_chunk];
    c.first = std::min(c.first, target);
    c.end = std::max(c.end, target + 1);
}

void ChunkCompletion::finish() {
    const auto is_far = [](const Chunk& c) { return c.end - c.first > farthest; };
    for (const Chunk& c : near_)
        if (is_far(c)) far_.push_back(c.chunk);
    std::erase_if(near_, is_far);
    std::stable_sort(near_.begin(), near_.end(),
                     [](const Chunk& a, const Chunk& b) { return a.first < b.first; });
}

// Who completes a chunk has seen what the others have stored.
bool ChunkCompletion::completes(const Chunk& chunk, std::int64_t targets) const {
    std::atomic<std::int64_t>& done = done_[chunk.chunk];
    if (done.fetch_add(targets, std::memory_order_acq_rel) + targets < chunk.end - chunk.first)
        return false;
    done.store(0, std::memory_order_relaxed);
    return true;
}

}  // namespace hindcast::backend::cpu
