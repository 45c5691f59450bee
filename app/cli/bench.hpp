// `hindcast bench`: the workloads by which the project is measured. Definitions stand in
// bench_workloads.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/device.hpp"

namespace hindcast::cli {

struct BenchOptions {
    DeviceOptions device;
    ir::Precision precision = ir::Precision::f32;
    int repeats = 5;  // at least; more while they are quick
};

// One measurement. Times are the minimum over the repeats, in seconds.
struct BenchResult {
    std::string workload = {};
    std::int64_t n = 0, steps = 0;
    double forward_s = 0, forward_backward_s = 0, compile_s = 0;
    double loss = 0, gradient_norm = 0;
    std::vector<std::pair<std::string, double>> more =
        {};  // further figures of this workload, by name
};

std::vector<std::string> bench_workloads();
// Throws Error for an unknown workload.
BenchResult run_bench(const std::string& workload, const BenchOptions& options);

// The command: prints a table, or one JSON object a line.
int bench(const std::vector<std::string>& workloads, const BenchOptions& options, bool json);

}  // namespace hindcast::cli
