// Sparse symmetric systems: direct (LDL^T) or by conjugate gradients. Everything runs on the host,
// on one thread and in a defined order: the bits do not depend on the device or on threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/runtime/minimization/rules/options.hpp"

namespace hindcast {

// The lower triangle of a symmetric matrix, column by column, rows ascending; every column has its
// diagonal first.
struct SymmetricMatrix {
    std::vector<int> starts;  // of each column, and the end
    std::vector<int> rows;
    std::vector<double> values;

    int size() const { return starts.empty() ? 0 : static_cast<int>(starts.size()) - 1; }
    double diagonal(int i) const { return values[static_cast<std::size_t>(starts[i])]; }
    // y = A x
    void multiply(std::span<const double> x, std::span<double> y) const;
};

// A solver's verdict on a matrix.
enum class Definiteness : std::uint8_t {
    positive,  // definite: can be solved with
    indefinite,
    nearly_singular  // a pivot has lost all but three of its digits, or x is not found
};

class LinearSolver {
public:
    struct Finding {
        Definiteness definiteness = Definiteness::positive;
        int unknown = -1;  // where it is not positive definite; -1: not known
    };
    virtual ~LinearSolver() = default;
    // Prepares for the matrix, whose pattern is that of analyze(). It must outlive solve().
    virtual Finding factorize(const SymmetricMatrix& matrix) = 0;
    // x = A^-1 b for a positive definite matrix. The result is not `positive` if the solver finds
    // only now that the matrix is not, or that rounding hides x; x is then undefined.
    virtual Finding solve(std::span<const double> b, std::span<double> x) = 0;
};

// For matrices of this pattern.
std::unique_ptr<LinearSolver> make_solver(LinearSolverKind kind, const SymmetricMatrix& pattern);

}  // namespace hindcast
