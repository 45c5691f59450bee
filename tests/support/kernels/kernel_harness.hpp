// Runs kernels on plain vectors, and checks their derivatives against each other and against
// differences.
//
// A Data holds every buffer and parameter by name in f64 (or int); run() converts to the kernel's
// types. check_kernel() is the generic checker: for random directions u and seeds w it compares
// w.(J u) by forward mode, (J^T w).u by reverse mode and central differences of the primal, and the
// two routes to second order (the tangent and the adjoint of the adjoint), then does the same to
// the adjoint itself.
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
    // Buffers, Params and Reduce targets, all components.
    std::map<std::string, std::vector<double>> real = {};
    std::map<std::string, std::vector<std::int64_t>> whole = {};
};

// Runs `items` items. Every parameter that the kernel uses must be in `data`; results are written
// back.
void run(const ir::Kernel& kernel, Data& data, std::int64_t items,
         const Compile& compile = interpreter());
void run(backend::Executable& executable, Data& data, std::int64_t items);

using Values = std::map<std::string, std::vector<double>>;

// Runs the adjoint (tangent) of a kernel. Adjoints and tangents are zero except for the given ones,
// which are named by the kernel's own parameters: {{"y", {1}}} seeds y.a1. Results stand in x.a1
// (y.t1). `active` as for ad::adjoint.
Data run_adjoint(const ir::Kernel& kernel, Data data, std::int64_t items, const Values& seeds,
                 const std::vector<std::string>& active = {});
Data run_tangent(const ir::Kernel& kernel, Data data, std::int64_t items, const Values& directions,
                 const std::vector<std::string>& active = {});

// One kernel with the sizes of its buffers (elements; default: items) and its integer inputs.
struct Case {
    ir::Kernel kernel = {};
    std::int64_t items = 3;
    std::map<std::string, std::int64_t> sizes = {};
    std::map<std::string, std::vector<std::int64_t>> whole = {};
};

// Random inputs in [0.3, 1.3]; accumulate, sum and reduce targets start at zero.
Data inputs(const Case& test_case, std::mt19937_64& random);

// Gives every real parameter of a derived kernel (adjoint, tangent, and theirs) that `data` lacks
// random values in [-1, 1], as many as the parameter has that it belongs to: x.a1.t1 like x.
// Targets that are only added to start at zero.
void add_derivative_inputs(const ir::Kernel& derived, Data& data, std::mt19937_64& random);

struct CheckOptions {
    int order = 3;            // highest derivative that is checked
    bool differences = true;  // smooth at the inputs: compare with central differences
    Compile compile = interpreter();
    // Counts comparisons that no step decides: the values jump within the smallest step on both
    // sides, as where a branch compares two numbers that are equal but for rounding. Without it
    // such a point is a disagreement.
    int* undecided = nullptr;
};
// The disagreements found, in words; empty if all is well. The kernel must be in f64.
std::vector<std::string> check_kernel(const Case& test_case, const Data& base,
                                      std::mt19937_64& random, const CheckOptions& options = {});

// The same bits, all NaNs counting as one.
bool same_bits(double a, double b);
bool same_bits(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace hindcast::test
