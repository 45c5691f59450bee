#include "app/cli/bench.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

namespace hindcast::cli {

namespace {

double peak_mb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::string in_units(double seconds) {
    if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
    if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
    return fmt::format("{:.3f} s", seconds);
}

}  // namespace

int bench(const std::vector<std::string>& workloads, const BenchOptions& options, bool json) {
    const Device device(options.device);
    const char* precision = options.precision == ir::Precision::f32 ? "f32" : "f64";
    if (!json)
        fmt::print("{:<16} {:>12} {:>18} {:>10}  {}\n", "workload", "forward", "forward+backward",
                   "compile", device.describe());
    for (const std::string& workload : workloads.empty() ? bench_workloads() : workloads) {
        const BenchResult r = run_bench(workload, options);
        if (!json) {
            fmt::print("{:<16} {:>12} {:>18} {:>10}  loss {:.9g}, |gradient| {:.9g}\n", r.workload,
                       in_units(r.forward_s), in_units(r.forward_backward_s), in_units(r.compile_s),
                       r.loss, r.gradient_norm);
            for (const auto& [name, value] : r.more) fmt::print("    {} = {:.9g}\n", name, value);
            continue;
        }
        std::string line = fmt::format(
            R"({{"workload": "{}", "device": "{}", "threads": {}, "precision": "{}", "n": {}, "steps": {}, "forward_s": {:.9g}, "forward_backward_s": {:.9g}, "compile_s": {:.6g}, "loss": {:.17g}, "grad_norm": {:.17g}, "peak_mb": {:.1f})",
            r.workload, options.device.kind == DeviceKind::cpu ? "cpu" : "interpreter",
            device.options().threads, precision, r.n, r.steps, r.forward_s, r.forward_backward_s,
            r.compile_s, r.loss, r.gradient_norm, peak_mb());
        for (const auto& [name, value] : r.more)
            line += fmt::format(R"(, "{}": {:.17g})", name, value);
        fmt::print("{}}}\n", line);
    }
    return 0;
}

}  // namespace hindcast::cli
