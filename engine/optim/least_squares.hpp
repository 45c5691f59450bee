// Least squares within bounds, by the method of Levenberg and Marquardt.
//
//     minimize  sum over groups g of w_g sum over r in g of rho_g(r(x)) / 2    (robust_loss.hpp)
//
// Residuals of a robust loss count with the weight that they have at the point (iteratively
// reweighted least squares): the gradient is exact, and the quadratic model lies above the loss, so
// that no step is too long for it. Parameters at a bound that the gradient pushes outwards stay there
// (active set); steps are cut at the others. The damping is Marquardt's, by the largest diagonal met
// so far (More 1978), and changes as Nielsen has it (1999). A step is a QR factorization of the
// Jacobian, not of its square.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/optim/dense_matrix.hpp"
#include "engine/optim/robust_loss.hpp"
#include "engine/optim/update_rule.hpp"

namespace hindcast::optim {

// Residuals that share a weight and a loss.
struct ResidualGroup {
    std::size_t count = 0;
    double weight = 1;  // above 0
    RobustLoss loss = {};
};

struct LeastSquares {
    Variables variables;                // bounds and logarithms; rates are not used
    std::vector<ResidualGroup> groups;  // of all residuals, in their order
    // The residuals at these physical values; nothing if the run diverges there. May throw.
    std::function<std::vector<double>(std::span<const double> values)> residuals;
    // Their derivatives by the physical values, at the values that `residuals` had last. May throw.
    std::function<DenseMatrix(std::span<const double> values)> jacobian;

    double cost(std::span<const double> of_residuals) const;
};

struct LeastSquaresOptions {
    std::int64_t iterations = 100;
    // Ends: where no free column of the weighted Jacobian has a cosine with the residuals above
    // `gradient`; where a step lowers the cost by less than `cost` of it, as expected; where it
    // changes no variable by more than `step` of its size.
    double gradient = 1e-10, cost = 1e-11, step = 1e-12;
    // Told of each iteration, 0 before the first step; false ends.
    std::function<bool(std::int64_t iteration, double cost, std::span<const double> values)> watch =
        {};
};

struct LeastSquaresResult {
    enum class End : std::uint8_t { converged, limit, stopped, stuck };
    std::vector<double> values, residuals;
    DenseMatrix jacobian;  // by the physical values, there
    double initial_cost = 0, cost = 0;
    std::int64_t iterations = 0, evaluations = 0;  // steps taken; runs of the residuals
    End end = End::converged;
    std::string reason;
    std::vector<int> at_bound;  // of each value: -1 at the lower one and pushed outwards, 1, or 0
};

// From `start`, which is cut to the bounds. Throws Error if there are no residuals, or they are not
// finite there.
LeastSquaresResult minimize(const LeastSquares& problem, std::span<const double> start,
                            const LeastSquaresOptions& options = {});

}  // namespace hindcast::optim
