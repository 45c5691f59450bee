// What a dispatch of the thread pool costs: two chunks that do nothing, by number of threads. With
// one thread it is the cost of calling the chunks.
#include <benchmark/benchmark.h>

#include "engine/base/thread_pool.hpp"

namespace {

void dispatch(benchmark::State& state) {
    hindcast::ThreadPool pool(static_cast<int>(state.range(0)));
    const int chunks = static_cast<int>(state.range(1));
    for ([[maybe_unused]] auto _ : state) {
        pool.run(chunks, [](int chunk) { benchmark::DoNotOptimize(chunk); });
    }
}
BENCHMARK(dispatch)->ArgNames({"threads", "chunks"})->ArgsProduct({{1, 2, 3}, {1, 2, 16}});

}  // namespace
