// When a sum over items can be taken chunk by chunk behind a loop over targets that stores their
// terms (target_loop.hpp), while these are still in the cache of the core that wrote them.
//
// Items that follow each other mostly store at targets that lie close together, as the springs of
// a net do at their first ends. Once the targets of a chunk are done, whoever did the last of them
// adds the chunk up. A chunk whose targets lie far apart is left for the end.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hindcast::backend::cpu {

class ChunkCompletion {
public:
    // Of so many items, each with the target that stores its term: note() for all, then finish().
    void start(std::int64_t items);
    void note(std::int64_t item, std::int64_t target);
    void finish();

    // Whether that is so for most chunks.
    bool pays() const { return !near_.empty() && far_.size() * 4 <= near_.size(); }
    // Targets begin .. end-1 are done: sum(chunk) for the chunks that this completes. Threads may
    // call it at once; before a target is done again, all of them are.
    template <class Sum>
    void done(std::int64_t begin, std::int64_t end, const Sum& sum) const {
        const auto lies_before = [](const Chunk& c, std::int64_t target) {
            return c.first < target;
        };
        auto k = std::lower_bound(near_.begin(), near_.end(), begin - farthest, lies_before);
        for (; k != near_.end() && k->first < end; ++k) {
            const std::int64_t of_it = std::min(end, k->end) - std::max(begin, k->first);
            if (of_it <= 0) continue;
            if (of_it < k->end - k->first && !completes(*k, of_it)) continue;
            sum(k->chunk);
        }
    }
    // What is left for the end.
    std::span<const std::int64_t> far() const { return far_; }

private:
    static constexpr std::int64_t farthest = 4096;  // targets of a chunk
    struct Chunk {
        std::int64_t chunk, first, end;  // its targets lie in first .. end-1
    };
    bool completes(const Chunk& chunk, std::int64_t targets) const;

    std::vector<Chunk> near_;  // by their first targets
    std::vector<std::int64_t> far_;
    // Per chunk, of its targets those that are done; 0 again when all are.
    std::unique_ptr<std::atomic<std::int64_t>[]> done_;
};

}  // namespace hindcast::backend::cpu
