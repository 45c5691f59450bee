// DenseProblem: a potential of a few unknowns as what its kernels are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/kernel.hpp"
#include "engine/runtime/minimization/energy/potential.hpp"
#include "engine/runtime/minimization/rules/options.hpp"

namespace hindcast::dense {

// The meaning of a parameter of an energy's kernel.
struct Role {
    enum Kind : std::uint8_t { positions, direction, input, constant, output } kind = constant;
    int input_number = -1;             // of DenseProblem::inputs
    std::vector<double> numbers = {};  // of a constant, one per component
    ir::Type type = ir::Type::f64;     // of these
};

struct TermKernel {
    ir::Kernel kernel;  // in f64
    std::vector<Role> roles;
};

struct DenseTerm {
    std::string name;
    std::int64_t items = 0;
    int points = 0;    // of an item
    int numbers = -1;  // the input that holds their numbers
    TermKernel value, gradient, hessian;
    std::optional<TermKernel> limit = {};
};

// An array that energies read: a parameter of the launch. Reals are those of the launch's precision, values are f64.
struct DenseInput {
    ir::Parameter parameter;
    Array array;        // as the potential has it
    Argument argument;  // as the launch is given it
};

struct DenseProblem {
    int dimension = 3, points = 0, unknowns = 0;
    ir::Precision precision = ir::Precision::f64;
    MinimizationOptions options = {};
    std::vector<DenseInput> inputs = {};
    std::vector<DenseTerm> terms = {};
    Array positions;    // as the launch is given them
    Array free_points;  // i32: the numbers of the points that are unknowns, ascending
    Array unknown_of;   // i32, per point: its first unknown, or `unknowns` where it is fixed

    // The rows that vectors and matrices have: behind the unknowns stands what fixed points get.
    int rows() const { return unknowns + dimension; }

    DenseProblem() = default;
    // `inputs`: of reals. Those of integers are found in the terms.
    DenseProblem(Potential& potential, const Array& positions, std::vector<DenseInput> inputs,
                 const MinimizationOptions& options);
};

// The solver that is fit for it: whether the launch is one kernel.
bool is_dense(const Potential& potential, const MinimizationOptions& options);

}  // namespace hindcast::dense
