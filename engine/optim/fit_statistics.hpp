// Statistics of a fit's parameters from its residuals and their Jacobian.
//
// Rows count with the square root of their group's weight. Parameters that are held (at a bound) are
// left out; their rows and columns are 0.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/optim/dense_matrix.hpp"
#include "engine/optim/least_squares.hpp"

namespace hindcast::optim {

// For errors of the residuals that are independent and of one size, after a fit of n residuals by p
// free parameters: covariance = s^2 (J^T J)^-1 with
//     s^2 = sum of psi(r)^2 / (n - p) / (mean of psi'(r))^2,    psi = d (rho / 2) / dr
// (Huber and Ronchetti 2009, section 7.6), for squares the sum of r^2 / (n - p). It does not depend on
// the size of the sigmas that residuals are divided by, but on their ratios.
struct FitStatistics {
    DenseMatrix covariance;               // of the physical values
    std::vector<double> standard_errors;  // 0 for those that are held
    DenseMatrix correlation;
    double scale = 0;                    // s: 1 where sigmas are what residuals scatter by
    std::size_t degrees_of_freedom = 0;  // n - p
    // Directions that change no residual: covariance is then that of the others, and errors of the
    // parameters that take part in them are infinite.
    bool is_singular = false;
};
// Throws Error if there are not more residuals than free parameters.
FitStatistics fit_statistics(const DenseMatrix& jacobian, std::span<const double> residuals,
                             std::span<const ResidualGroup> groups, const std::vector<bool>& held);

// Identifiability: the parameters that the data determine, before a fit: from the Jacobian alone.
// Columns are divided by their lengths, so that nothing depends on units.
struct Identifiability {
    std::vector<double> lengths;  // of the weighted columns, by the physical value
    // The part of a parameter's effect on the data that no change of the others can make, 0 to 1: the
    // sine of the angle between its column and the space of the others (1 / sqrt of the variance
    // inflation factor).
    std::vector<double> own_part;
    DenseMatrix
        correlation;  // of the estimates that a fit would give; 0 for parameters without effect

    // Lengths of the columns of parameters that are not auxiliary, less their projections on the
    // auxiliary columns: the auxiliary ones follow the data freely. 0 for auxiliary parameters.
    std::vector<double> own_lengths;
    // Singular values of these columns, normalized, in falling order. The last one is the change of
    // the data along the direction that they determine worst, where each parameter alone would
    // change them by 1.
    std::vector<double> singular_values;
    DenseMatrix directions;  // column by column: of all parameters, in units of 1 / own_lengths
};
// `auxiliary`: parameters of no interest by themselves, such as states at the starts of shots.
Identifiability identifiability(const DenseMatrix& jacobian, std::span<const ResidualGroup> groups,
                                const std::vector<bool>& auxiliary);

}  // namespace hindcast::optim
