#include "app/cli/bench/bench.hpp"

#include <fmt/core.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "app/cli/command.hpp"
#include "engine/base/hash.hpp"
#include "engine/document/text.hpp"

namespace hindcast::cli {

namespace {

// The most memory that the process had since forget_peak().
double peak_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024.0;
    throw Error("/proc/self/status does not say how much memory this process had");
}
// Resets the peak of memory. Memory that earlier workloads freed goes back to the system first.
void forget_peak() {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5\n";
}

std::string in_units(double seconds) {
    if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
    if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
    return fmt::format("{:.3f} s", seconds);
}

// Bytes per second of the step's launches, forward, and forward + backward.
struct Rates {
    double forward = 0, both = 0;
};
Rates rates_of(const BenchResult& r, double steps) {
    return {r.traffic.forward_bytes * steps / r.forward_s,
            (r.traffic.forward_bytes + r.traffic.backward_bytes) * steps / r.forward_backward_s};
}

// The norm of every gradient, and its components: all of a small one; of a large one the 64 at flat
// indices 0, 3001, 6002, ...
std::string gradients_json(const BenchResult& r) {
    constexpr std::size_t samples = 64, stride = 3001;
    std::string norms, small, large;
    const auto add = [](std::string& to, const std::string& name, const std::string& value) {
        to += fmt::format(R"({}"{}": {})", to.empty() ? "" : ", ", name, value);
    };
    for (const auto& [name, gradient] : r.gradients) {
        add(norms, name, fmt::format("{:.17g}", norm(gradient)));
        const bool all = gradient.size() <= samples;
        std::string list;
        for (std::size_t k = 0; k < samples && k * (all ? 1 : stride) < gradient.size(); ++k)
            list += fmt::format("{}{:.17g}", k > 0 ? ", " : "", gradient[k * (all ? 1 : stride)]);
        add(all ? small : large, name, "[" + list + "]");
    }
    return fmt::format(R"("grad_norm": {{{}}}, "grad": {{{}}}, "grad_sample": {{{}}})", norms,
                       small, large);
}

double total_norm(const BenchResult& r) {
    std::vector<double> norms;
    for (const auto& [name, gradient] : r.gradients) norms.push_back(norm(gradient));
    return norm(norms);
}

std::string json_line(const BenchResult& r, const BenchOptions& options, const Device& device) {
    std::string line = fmt::format(
        R"({{"workload": "{}", "device": "{}", "deterministic": {}, "threads": {}, "precision": "{}", "n": {}, "steps": {}, "forward_s": {:.9g}, "forward_backward_s": {:.9g}, "compile_s": {:.6g}, "loss": {:.17g}, "peak_mb": {:.1f}, {})",
        r.workload, kind_name(options.device.kind), device.is_deterministic(),
        r.threads > 0 ? r.threads : device.options().threads,
        r.precision.value_or(options.precision) == ir::Precision::f32 ? "f32" : "f64", r.n, r.steps,
        r.forward_s, r.forward_backward_s, r.compile_s, r.loss, peak_mb(), gradients_json(r));
    const auto add = [&](const std::string& name, double value) {
        line += fmt::format(R"(, "{}": {:.17g})", name, value);
    };
    if (r.program_steps > 0) add("program_steps", static_cast<double>(r.program_steps));
    add("launches_per_step", static_cast<double>(r.traffic.launches));
    add("adjoints_per_step", static_cast<double>(r.traffic.adjoints));
    if (r.traffic.joined > 0)
        add("joined_launches_per_step", static_cast<double>(r.traffic.joined));
    if (r.traffic.forward_bytes > 0) {
        const double memory = triad_bandwidth(options, memory_triad_bytes);
        const double same_size = triad_bandwidth(options, r.traffic.resident_bytes);
        const Rates rates = rates_of(r, static_cast<double>(r.program_steps));
        add("forward_bytes_per_step", r.traffic.forward_bytes);
        add("backward_bytes_per_step", r.traffic.backward_bytes);
        add("resident_mb", r.traffic.resident_bytes / 1048576.0);
        add("triad_memory_gb_s", memory * 1e-9);
        add("triad_same_size_gb_s", same_size * 1e-9);
        add("forward_share_of_memory", rates.forward / memory);
        add("forward_backward_share_of_memory", rates.both / memory);
        add("forward_share_of_same_size", rates.forward / same_size);
        add("forward_backward_share_of_same_size", rates.both / same_size);
    }
    for (const auto& [name, value] : r.more) add(name, value);
    if (!r.runs.empty()) line += fmt::format(R"(, "runs": {})", document::json_quoted(r.runs));
    return line + "}";
}

void print_row(const BenchResult& r, const BenchOptions& options) {
    if (r.n > 0)
        fmt::print("{:<16} {:>10} {:>12} {:>18} {:>10}  loss {:.9g}, |gradient| {:.9g}\n",
                   r.workload, r.n, in_units(r.forward_s), in_units(r.forward_backward_s),
                   in_units(r.compile_s), r.loss, total_norm(r));
    else  // times alone
        fmt::print("{:<27} {:>12} {:>18}\n", r.workload, in_units(r.forward_s),
                   in_units(r.forward_backward_s));
    if (r.traffic.forward_bytes > 0) {
        const double same_size = triad_bandwidth(options, r.traffic.resident_bytes);
        const Rates rates = rates_of(r, static_cast<double>(r.program_steps));
        fmt::print(
            "    a step: {} launches (that run as {}) and {} adjoints, {:.3g} + {:.3g} MB; {:.0f} "
            "% and "
            "{:.0f} % of the bandwidth of a triad of its size ({:.3g} GB/s)\n",
            r.traffic.launches, r.traffic.joined, r.traffic.adjoints,
            r.traffic.forward_bytes * 1e-6, r.traffic.backward_bytes * 1e-6,
            100 * rates.forward / same_size, 100 * rates.both / same_size, same_size * 1e-9);
    }
    for (const auto& [name, value] : r.more) fmt::print("    {} = {:.9g}\n", name, value);
    if (!r.runs.empty()) fmt::print("    runs: {}\n", r.runs);
}

}  // namespace

int bench(const std::vector<const Workload*>& workloads, const BenchOptions& options, bool json) {
    const Device device(options.device);
    if (!json)
        fmt::print("{:<16} {:>10} {:>12} {:>18} {:>10}  {}\n", "workload", "size", "forward",
                   "forward+backward", "compile", device.describe());
    if (!json) fmt::print("{}", order_line(device, 8));
    for (const Workload* workload : workloads) {
        forget_peak();
        for (const BenchResult& r : workload->run(options)) {
            if (json)
                fmt::print("{}\n", json_line(r, options, device));
            else
                print_row(r, options);
            std::fflush(stdout);
        }
    }
    return 0;
}

Command add_bench(CLI::App& app) {
    struct Options {
        std::vector<std::string> workloads;
        std::string precision = "f32";
        int repeats = 5;
        std::int64_t most_springs = 10000000;
        std::vector<std::string> scenes;
        bool json = false, cold = false, each_pass = false;
        MachineOptions machine;
    };
    CLI::App* command =
        app.add_subcommand("bench", "Time the workloads by which the project is measured");
    auto options = std::make_shared<Options>();
    std::string names;
    for (const Workload& workload : bench_workloads())
        names += fmt::format("\n{:<16} {}", workload.name, workload.description);
    command->add_option("WORKLOAD", options->workloads, "Of these (default: all):" + names);
    command->add_option("--precision", options->precision, "f32 or f64")
        ->check(CLI::IsMember({"f32", "f64"}));
    command
        ->add_option(
            "--repeats", options->repeats,
            "Repeats of each measurement, at least (1: exactly), of which the fastest counts; "
            "with --each-pass, pairs of runs")
        ->check(CLI::Range(1, 1000));
    command
        ->add_option("--most-springs", options->most_springs,
                     "The largest net of springs_sweep: up to 10000000")
        ->check(CLI::Range(std::int64_t{1000}, std::int64_t{10000000}));
    command
        ->add_option("--scenes", options->scenes,
                     "The bundled scenes that window_scenes plays: NAME,NAME (default: all)")
        ->delimiter(',');
    command->add_flag("--json", options->json, "One JSON object a line");
    command->add_flag("--cold", options->cold,
                      "Compile everything: neither read nor fill the cache of compiled code");
    command->add_flag("--each-pass", options->each_pass,
                      "Instead: how much longer each workload takes without each optional pass "
                      "(see --without)");
    options->machine.add_to(*command);
    command->footer(
        "Times are the fastest of the repeats. tests/bench/compare sets them against other "
        "simulators.");
    return {command, [options] {
                if (options->cold) ::setenv("HINDCAST_CACHE", "", 1);
                BenchOptions bench_options;
                bench_options.device = options->machine.device_options();
                bench_options.scenes = options->scenes;
                bench_options.precision =
                    options->precision == "f64" ? ir::Precision::f64 : ir::Precision::f32;
                bench_options.repeats = options->repeats;
                bench_options.most_springs = options->most_springs;
                std::vector<const Workload*> chosen;
                for (const std::string& name : options->workloads)
                    chosen.push_back(&find_workload(name));
                if (chosen.empty())
                    for (const Workload& workload : bench_workloads())
                        if (workload.by_default) chosen.push_back(&workload);
                return (options->each_pass ? bench_each_pass : bench)(chosen, bench_options,
                                                                      options->json);
            }};
}

}  // namespace hindcast::cli
