// Sums over items behind a loop over targets: each chunk once, as soon as its terms are all there.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/backend/cpu/per_target/chunk_completion.hpp"
#include "engine/backend/executable.hpp"
#include "engine/base/thread_pool.hpp"

using namespace hindcast;
using backend::reduce_chunk;
using backend::cpu::ChunkCompletion;

namespace {

ChunkCompletion chunks_of(const std::vector<std::int64_t>& targets) {  // of each item
    ChunkCompletion chunks;
    chunks.start(static_cast<std::int64_t>(targets.size()));
    for (std::size_t i = 0; i < targets.size(); ++i)
        chunks.note(static_cast<std::int64_t>(i), targets[i]);
    chunks.finish();
    return chunks;
}

}  // namespace

TEST_CASE("term chunks: a sum sees all its terms, once in each launch, on any threads") {
    std::mt19937_64 random(3);
    constexpr std::int64_t targets = 20000, items = 60001;
    // Three families of items one after the other, each along the targets with some disorder.
    std::vector<std::int64_t> target_of(items);
    for (std::int64_t i = 0; i < items; ++i)
        target_of[i] = std::min(i % 20000 + static_cast<std::int64_t>(random() % 50), targets - 1);
    const ChunkCompletion chunks = chunks_of(target_of);
    CHECK(chunks.pays());
    // Those in which a family ends and the next one begins.
    CHECK(std::vector<std::int64_t>(chunks.far().begin(), chunks.far().end()) ==
          std::vector<std::int64_t>{20000 / reduce_chunk, 40000 / reduce_chunk,
                                    60000 / reduce_chunk});
    std::vector<std::vector<std::int64_t>> items_at(targets);
    for (std::int64_t i = 0; i < items; ++i) items_at[target_of[i]].push_back(i);
    for (const int threads : {1, 2, 4})
        for (const std::int64_t part : {64, 4096, 5000}) {
            ThreadPool pool(threads);
            std::vector<std::int64_t> terms(items, 0);
            const std::int64_t count = (items + reduce_chunk - 1) / reduce_chunk;
            std::vector<std::int64_t> sums(count), calls(count);
            for (std::int64_t launch = 1; launch <= 3; ++launch) {
                const auto sum = [&](std::int64_t chunk) {
                    const std::int64_t begin = chunk * reduce_chunk;
                    sums[chunk] = 0;
                    ++calls[chunk];
                    for (std::int64_t i = begin; i < std::min(begin + reduce_chunk, items); ++i)
                        sums[chunk] += terms[i];
                };
                // Parts of the targets in any order.
                pool.run(static_cast<int>((targets + part - 1) / part), [&](int task) {
                    const std::int64_t begin = task * part, end = std::min(begin + part, targets);
                    for (std::int64_t t = begin; t < end; ++t)
                        for (const std::int64_t i : items_at[t]) terms[i] = launch * 1000003 + i;
                    chunks.done(begin, end, sum);
                });
                for (const std::int64_t chunk : chunks.far()) sum(chunk);
                for (std::int64_t chunk = 0; chunk < count; ++chunk) {
                    const std::int64_t begin = chunk * reduce_chunk;
                    std::int64_t expected = 0;
                    for (std::int64_t i = begin; i < std::min(begin + reduce_chunk, items); ++i)
                        expected += launch * 1000003 + i;
                    CHECK(sums[chunk] == expected);
                    CHECK(calls[chunk] == launch);
                }
            }
        }
}

TEST_CASE("term chunks: where items lie anywhere, chunks are left for the end") {
    std::mt19937_64 random(4);
    std::vector<std::int64_t> anywhere(30000), along(30000), few(100);
    for (std::size_t i = 0; i < anywhere.size(); ++i) {
        anywhere[i] = static_cast<std::int64_t>(random() % 30000);
        along[i] = static_cast<std::int64_t>(i);
    }
    for (std::int64_t& target : few) target = static_cast<std::int64_t>(random() % 100);
    CHECK(!chunks_of(anywhere).pays());
    CHECK(chunks_of(along).pays());
    CHECK(chunks_of(few).pays());
    CHECK(chunks_of(few).far().empty());
}
