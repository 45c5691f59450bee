// Options of a minimization, and its outcome.
#pragma once

#include <cstdint>

namespace hindcast {

enum class LinearSolverKind : std::uint8_t {
    automatic,  // dense up to `most_dense_alone` unknowns, direct up to `most_direct`
    direct,
    conjugate_gradients,
    dense  // the whole minimization in one kernel (dense/)
};
inline constexpr int most_dense = 64;
// Beyond, a problem alone takes less time as a sparse one: a chain of 9 unknowns 1.5 times as long,
// one of 27 unknowns 0.7 times. In lanes of an ensemble dense ones take less up to `most_dense`.
inline constexpr int most_dense_alone = 24;
inline constexpr int most_direct = 300'000;

struct MinimizationOptions {
    double tolerance = 1e-12;  // of the energy's scale
    int most_iterations = 200;
    LinearSolverKind solver = LinearSolverKind::automatic;
};

// The outcome of one solve.
struct MinimizationOutcome {
    int iterations = 0;   // steps of Newton's method, the last one included
    int projected = 0;    // of these, with negative eigenvalues as zero
    int refused = 0;      // trial points that were refused, because of energy or obstacles
    double energy = 0;    // at the start of the last step, J
    double scale = 0;     // of the energy, J
    double gain = 0;      // half the squared Newton decrement before the last step, J
    double residual = 0;  // largest |dE/dx| of a free component after it, N
    double step = 0;      // largest change of a component in the last step, m
};

// Totals of all solves since they were cleared.
struct MinimizationTotals {
    std::int64_t solves = 0;
    MinimizationOutcome all;  // iterations, projected, refused: sums; the rest: maxima
    int most_iterations = 0;  // of one solve
};

// Wall time of all directions, s; the part not listed below evaluates energies.
struct MinimizationTimes {
    double all_s = 0, factorize_s = 0, solve_s = 0;
};

// Distances between the ends of solves and the exact minima.
struct RemovedResiduals {
    std::int64_t solves = 0;
    double distance = 0;  // largest component of H^-1 r, m
};

}  // namespace hindcast
