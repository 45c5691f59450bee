// `hindcast bench --each-pass`: each workload with all optional passes, and without each of them in
// turn, in one run: what a pass is worth.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "app/cli/bench/bench.hpp"
#include "app/cli/command.hpp"
#include "engine/document/text.hpp"

namespace hindcast::cli {

namespace {

constexpr int rounds = 3;  // machines are noisy: all variants take turns

// All passes, or all but one.
struct Variant {
    const PassInfo* left_out;  // nullptr: none
    PassSet passes;
    std::vector<BenchResult> best;  // the fastest of the rounds
};

bool is_same(const BenchResult& a, const BenchResult& b) {
    return a.loss == b.loss && a.gradients == b.gradients;
}

void take_fastest(Variant& variant, std::vector<BenchResult> fresh) {
    if (variant.best.empty()) {
        variant.best = std::move(fresh);
        return;
    }
    for (std::size_t k = 0; k < fresh.size(); ++k) {
        BenchResult& best = variant.best[k];
        best.forward_s = std::min(best.forward_s, fresh[k].forward_s);
        best.forward_backward_s = std::min(best.forward_backward_s, fresh[k].forward_backward_s);
    }
}

void print(const Variant& all, const Variant& variant, bool json) {
    const std::string name = variant.left_out->name;
    for (std::size_t k = 0; k < all.best.size(); ++k) {
        const BenchResult &with = all.best[k], &without = variant.best[k];
        const double forward = without.forward_s / with.forward_s;
        const double both = without.forward_backward_s / with.forward_backward_s;
        if (json)
            fmt::print(
                R"({{"workload": {}, "n": {}, "without": "{}", "forward_s": {:.9g}, "forward_backward_s": {:.9g}, "with_forward_s": {:.9g}, "with_forward_backward_s": {:.9g}}})"
                "\n",
                document::json_quoted(with.workload), with.n, name, without.forward_s,
                without.forward_backward_s, with.forward_s, with.forward_backward_s);
        else
            fmt::print("{:<16} {:>10}  {:<18} {:>8.3f} {:>17.3f}\n", with.workload, with.n, name,
                       forward, both);
    }
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
            "time without a pass / time with all of them\n"
            "{:<16} {:>10}  {:<18} {:>8} {:>17}  {}\n",
            "workload", "size", "without", "forward", "forward+backward",
            Device(options.device).describe());
    for (const Workload* workload : workloads) {
        std::vector<Variant> variants = {{nullptr, options.device.passes, {}}};
        for (const PassInfo& pass : all_passes())
            if ((on_cuda ? pass.on_cuda : pass.on_cpu) && options.device.passes.has(pass.which))
                variants.push_back({&pass, options.device.passes.without(pass.which), {}});
        for (int round = 0; round < rounds; ++round)
            for (Variant& variant : variants) {
                BenchOptions with = options;
                with.device.passes = variant.passes;
                take_fastest(variant, workload->run(with));
            }
        const Variant& all = variants.front();
        for (std::size_t v = 1; v < variants.size(); ++v) {
            print(all, variants[v], json);
            if (!std::ranges::equal(all.best, variants[v].best, is_same))
                throw Error("without the pass '" + std::string(variants[v].left_out->name) +
                            "' the workload '" + workload->name + "' has other bits");
        }
    }
    return 0;
}

}  // namespace hindcast::cli
