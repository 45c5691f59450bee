#include "app/cli/bench.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include "app/cli/command.hpp"

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

Command add_bench(CLI::App& app) {
    struct Options {
        std::vector<std::string> workloads;
        std::string precision = "f32";
        int repeats = 5;
        bool json = false;
        MachineOptions machine;
    };
    CLI::App* command =
        app.add_subcommand("bench", "Time the workloads by which the project is measured");
    auto options = std::make_shared<Options>();
    command->add_option("WORKLOAD", options->workloads,
                        "launch_overhead, spring_cage, cloth_springs (default: all)");
    command->add_option("--precision", options->precision, "f32 or f64")
        ->check(CLI::IsMember({"f32", "f64"}));
    command
        ->add_option("--repeats", options->repeats,
                     "Repeats of each measurement, at least; the fastest counts")
        ->check(CLI::Range(1, 1000));
    command->add_flag("--json", options->json, "One JSON object a line");
    options->machine.add_to(*command);
    command->footer(
        "Times are the fastest of the repeats. tests/bench/compare sets them against other "
        "simulators.");
    return {command, [options] {
                BenchOptions bench_options;
                bench_options.device = options->machine.device_options();
                bench_options.precision =
                    options->precision == "f64" ? ir::Precision::f64 : ir::Precision::f32;
                bench_options.repeats = options->repeats;
                return bench(options->workloads, bench_options, options->json);
            }};
}

}  // namespace hindcast::cli
