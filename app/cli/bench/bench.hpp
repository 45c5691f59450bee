// `hindcast bench`: the workloads by which the project is measured.
//
// A workload is one entry of the list that its family's file makes (overhead.cpp, springs.cpp,
// waves.cpp, solids.cpp, cloth.cpp, points.cpp, ensembles.cpp, plans.cpp, robots.cpp, identification.cpp,
// waiting.cpp, window.cpp; named in workloads.cpp); its definition, with every input as a formula, stands at the top of that file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast::cli {

struct BenchOptions {
    DeviceOptions device;
    ir::Precision precision = ir::Precision::f32;
    int repeats = 5;                       // at least; more while they are quick, but one stays one
    std::int64_t most_springs = 10000000;  // of springs_sweep
    std::vector<std::string> scenes;       // of window_scenes, by name; empty: all
};

// Memory traffic of one step of a roll-out: every array that a launch reads or writes counts once
// per launch (twice if it is read and written), not counting savings by caches: the whole array, or
// one element per item if an item reaches its own element only.
struct Traffic {
    std::int64_t launches = 0, adjoints = 0;  // per step, as the program has them
    std::int64_t joined = 0;  // launches per step as they run, adjacent ones joined; 0: unknown
    double forward_bytes = 0, backward_bytes = 0;  // per step
    double resident_bytes = 0;                     // of all arrays that the step's launches touch
};

// One measurement. Times are the minimum over the repeats, in seconds.
struct BenchResult {
    std::string workload = {};
    std::int64_t n = 0, steps = 0;   // as other programs count them
    std::int64_t program_steps = 0;  // of the roll-out
    double forward_s = 0, forward_backward_s = 0, compile_s = 0;
    double loss = 0;
    // Set if the workload has its own, whatever the command says.
    int threads = 0;
    std::optional<ir::Precision> precision = {};
    std::string runs = {};  // how, see Rollout::whole_program_report()
    std::vector<std::pair<std::string, std::vector<double>>> gradients = {};  // by name
    Traffic traffic = {};
    std::vector<std::pair<std::string, double>> more =
        {};  // further figures of this workload, by name
};

struct Workload {
    std::string name, description;
    std::function<std::vector<BenchResult>(const BenchOptions&)> run;
    bool by_default = true;  // runs when no workload is named
};

std::vector<Workload> overhead_workloads();
std::vector<Workload> spring_workloads();
std::vector<Workload> wave_workloads();
std::vector<Workload> solid_workloads();
std::vector<Workload> cloth_workloads();
std::vector<Workload> point_workloads();
std::vector<Workload> ensemble_workloads();
std::vector<Workload> plan_workloads();
std::vector<Workload> robot_workloads();
std::vector<Workload> identification_workloads();
std::vector<Workload> waiting_workloads();
std::vector<Workload> window_workloads();        // only with HINDCAST_VIEW
const std::vector<Workload>& bench_workloads();  // all of them
// Throws Error for an unknown workload.
const Workload& find_workload(const std::string& name);

// ---- what the workloads are made of ----

// Seconds per call: the minimum over at least `repeats` runs of `batch` calls, until about two
// seconds have passed; with one repeat, over that one. A run ends when the device has done it.
double fastest(const Device& device, int repeats, int batch, const std::function<void()>& call);
double norm(const std::vector<double>& v);

extern const char* const spring_cage_scene;                  // JSON
std::string material_block_scene(std::int64_t steps);        // JSON, as points.cpp defines mpm2d
std::string spring_net_scene(int side, std::int64_t steps);  // JSON, as springs.cpp defines it
// The number of springs of that net.
constexpr std::int64_t springs_of(std::int64_t side) { return 6 * side * side - 10 * side + 2; }

// A scene run as a benchmark.
struct SceneBench {
    std::string workload;
    std::string scene;   // JSON
    std::int64_t n = 0;  // the size that is reported
    int batch = 1;       // calls per timing; more than one where a call is short
    double rate = 0;     // > 0: the parameters move against the gradient after each backward
    std::string gradient_name = "";  // of the gradient in all parameters
    // Instead of the name: splits that gradient by name, and adds further figures.
    std::function<void(const std::vector<double>& gradient, BenchResult&)> look = {};
    int most_repeats = 1000;                                    // where a call is long
    std::function<void(Simulation&, BenchResult&)> after = {};  // adds further figures
};
BenchResult run_scene(const SceneBench& bench, const BenchOptions& options);

// Bytes per second of a(i) = b(i) + s c(i) in f32 on this device's threads, three arrays of
// together so many bytes, each counted once: the fastest of several runs. Measured once per size.
double triad_bandwidth(const BenchOptions& options, double bytes);
inline constexpr double memory_triad_bytes = 3.0 * 64 * 1024 * 1024;  // larger than any cache

// The command: prints a table, or one JSON object a line.
int bench(const std::vector<const Workload*>& workloads, const BenchOptions& options, bool json);
// Each workload without each optional pass in turn. Throws Error where a bit is another one.
int bench_each_pass(const std::vector<const Workload*>& workloads, const BenchOptions& options,
                    bool json);

}  // namespace hindcast::cli
