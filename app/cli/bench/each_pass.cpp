// `hindcast bench --each-pass`: each workload with all optional passes and without each of them, in
// turns: what a pass is worth.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "app/cli/bench/bench.hpp"
#include "app/cli/command.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/document/text.hpp"

namespace hindcast::cli {

namespace {

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool is_same(const BenchResult& a, const BenchResult& b) {
    return a.loss == b.loss && a.gradients == b.gradients;
}

// The times without a pass over those with all of them, of each pair of runs.
struct Ratios {
    std::string workload;
    std::int64_t n = 0;
    std::vector<double> forward, both;
};

// Pairs of runs, one right after the other: machines are noisy.
std::vector<Ratios> compare(const Workload& workload, const BenchOptions& options,
                            const PassInfo& pass) {
    BenchOptions all = options;
    all.repeats = 1;
    BenchOptions fewer = all;
    fewer.device.passes = options.device.passes.without(pass.which);
    std::vector<Ratios> ratios;
    for (int pair = 0; pair < options.repeats; ++pair) {
        const bool all_first = pair % 2 == 0;
        const std::vector<BenchResult> first = workload.run(all_first ? all : fewer),
                                       second = workload.run(all_first ? fewer : all);
        if (!std::ranges::equal(first, second, is_same))
            throw Error("without the pass '" + std::string(pass.name) + "' the workload '" +
                        workload.name + "' has other bits");
        const auto &with = all_first ? first : second, &without = all_first ? second : first;
        ratios.resize(with.size());
        for (std::size_t k = 0; k < with.size(); ++k) {
            ratios[k].workload = with[k].workload;
            ratios[k].n = with[k].n;
            ratios[k].forward.push_back(without[k].forward_s / with[k].forward_s);
            ratios[k].both.push_back(without[k].forward_backward_s / with[k].forward_backward_s);
        }
    }
    return ratios;
}

void print(const Ratios& r, const char* pass, bool json) {
    const double forward = median(r.forward), both = median(r.both);
    if (json)
        fmt::print(
            R"({{"workload": {}, "n": {}, "without": "{}", "forward": {:.6g}, "forward_backward": {:.6g}, "pairs": {}}})"
            "\n",
            document::json_quoted(r.workload), r.n, pass, forward, both, r.forward.size());
    else
        fmt::print("{:<16} {:>10}  {:<18} {:>8.3f} {:>17.3f}\n", r.workload, r.n, pass, forward,
                   both);
    std::fflush(stdout);
}

}  // namespace

int bench_each_pass(const std::vector<const Workload*>& workloads, const BenchOptions& options,
                    bool json) {
    const bool on_cuda = options.device.kind == DeviceKind::cuda;
    if (options.device.kind == DeviceKind::interpreter)
        throw Error("the interpreter has no optional passes").remedy("use --device cpu or cuda");
    if (!json)
        fmt::print(
            "time without a pass / time with all of them, the median of pairs of runs\n"
            "{:<16} {:>10}  {:<18} {:>8} {:>17}  {}\n",
            "workload", "size", "without", "forward", "forward+backward",
            Device(options.device).describe());
    for (const Workload* workload : workloads)
        for (const PassInfo& pass : all_passes())
            if ((on_cuda ? pass.on_cuda : pass.on_cpu) && options.device.passes.has(pass.which))
                for (const Ratios& ratios : compare(*workload, options, pass))
                    print(ratios, pass.name, json);
    return 0;
}

}  // namespace hindcast::cli
