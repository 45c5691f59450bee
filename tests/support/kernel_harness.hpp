// Runs kernels on plain vectors, and checks their derivatives against each other and against differences.
//
// A Data holds every buffer and parameter by name in f64 (or int); run() converts to the kernel's types. check_kernel()
// is the generic checker: for random directions u and seeds w it compares w.(J u) by forward mode, (J^T w).u by reverse
// mode and central differences of the primal, and the two routes to second order, then does the same to the adjoint.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/backend/executable.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast::test {

using Compile = std::function<std::shared_ptr<backend::Executable>(const ir::Kernel&)>;
// The interpreter.
Compile interpreter();

struct Data {
    std::map<std::string, std::vector<double>> real = {};     // buffers, Params and Reduce targets, all components
    std::map<std::string, std::vector<std::int64_t>> whole = {};
};

// Runs `items` items. Every parameter that the kernel uses must be in `data`; results are written back.
void run(const ir::Kernel& kernel, Data& data, std::int64_t items, const Compile& compile = interpreter());

// One kernel with the sizes of its buffers (elements; default: items) and its integer inputs.
struct Case {
    ir::Kernel kernel = {};
    std::int64_t items = 3;
    std::map<std::string, std::int64_t> sizes = {};
    std::map<std::string, std::vector<std::int64_t>> whole = {};
};

// Random inputs in [0.3, 1.3]; accumulate, sum and reduce targets start at zero.
Data inputs(const Case& test_case, std::mt19937_64& random);

struct CheckOptions {
    int order = 3;              // highest derivative that is checked
    bool differences = true;    // smooth at the inputs: compare with central differences
};
// The disagreements found, in words; empty if all is well.
std::vector<std::string> check_kernel(const Case& test_case, const Data& base, std::mt19937_64& random, const CheckOptions& options = {});

}  // namespace hindcast::test
