#include "engine/optim/fit_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.hpp"
#include "engine/runtime/minimization/linear/eigen.hpp"

namespace hindcast::optim {

namespace {

using Matrix = Eigen::MatrixXd;
using ColumnVector = Eigen::VectorXd;
using Index = Eigen::Index;

constexpr double rounding = std::numeric_limits<double>::epsilon();

// The columns `of`, with rows times the square roots of their weights, each divided by its length.
struct Columns {
    Matrix unit;
    ColumnVector lengths;
};
Columns weighted(const DenseMatrix& jacobian, std::span<const ResidualGroup> groups,
                 const std::vector<std::size_t>& of) {
    Columns columns{Matrix(static_cast<Index>(jacobian.rows), static_cast<Index>(of.size())),
                    ColumnVector(static_cast<Index>(of.size()))};
    for (std::size_t k = 0; k < of.size(); ++k) {
        auto column = columns.unit.col(static_cast<Index>(k));
        std::size_t row = 0;
        for (const ResidualGroup& group : groups)
            for (std::size_t i = 0; i < group.count; ++i, ++row)
                column[static_cast<Index>(row)] = std::sqrt(group.weight) * jacobian(row, of[k]);
        const double length = column.norm();
        columns.lengths[static_cast<Index>(k)] = length;
        if (length > 0) column /= length;
    }
    return columns;
}

// (N^T N)^-1 by the singular values of N, without directions that are 0 to rounding.
struct Inverse {
    Matrix matrix;
    std::vector<bool> is_told;  // of each column: it takes part in no such direction
    bool is_singular = false;
};
Inverse inverse_of(const Eigen::JacobiSVD<Matrix>& svd, Index rows) {
    const Matrix& v = svd.matrixV();
    const ColumnVector& s = svd.singularValues();
    Inverse inverse{Matrix::Zero(v.rows(), v.rows()),
                    std::vector<bool>(static_cast<std::size_t>(v.rows()), true)};
    const double least = rounding * static_cast<double>(rows) * (s.size() > 0 ? s[0] : 0.0);
    for (Index k = 0; k < v.cols(); ++k) {
        const double value = k < s.size() ? s[k] : 0.0;
        if (value > least) {
            inverse.matrix += v.col(k) * v.col(k).transpose() / (value * value);
            continue;
        }
        inverse.is_singular = true;
        for (Index i = 0; i < v.rows(); ++i)
            if (std::fabs(v(i, k)) > 1e-6) inverse.is_told[static_cast<std::size_t>(i)] = false;
    }
    return inverse;
}

double correlation_of(const Matrix& covariance, Index i, Index j) {
    const double size = std::sqrt(covariance(i, i) * covariance(j, j));
    return size > 0 ? std::clamp(covariance(i, j) / size, -1.0, 1.0) : 0.0;
}

}  // namespace

FitStatistics fit_statistics(const DenseMatrix& jacobian, std::span<const double> residuals,
                             std::span<const ResidualGroup> groups, const std::vector<bool>& held) {
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < held.size(); ++k)
        if (!held[k]) free.push_back(k);
    const std::size_t n = jacobian.columns;
    FitStatistics found;
    found.covariance = found.correlation = DenseMatrix(n, n);
    found.standard_errors.assign(n, 0);
    if (residuals.size() <= free.size())
        throw Error(fmt::format("{} residuals cannot say how well {} parameters are known",
                                residuals.size(), free.size()))
            .remedy("give more data, or fit fewer parameters");
    found.degrees_of_freedom = residuals.size() - free.size();
    double squares = 0, curvature = 0;
    std::size_t row = 0;
    for (const ResidualGroup& group : groups)
        for (std::size_t i = 0; i < group.count; ++i, ++row) {
            const double r = residuals[row], psi = group.loss.weight(r) * r;
            squares += group.weight * psi * psi;
            curvature += group.loss.curvature(r);
        }
    curvature /= static_cast<double>(residuals.size());
    if (!(curvature > 0))
        throw Error(
            "most residuals lie where the loss no longer counts them, so nothing can be said "
            "about the parameters' errors")
            .remedy("make the loss wider, or correct the sigmas");
    found.scale = std::sqrt(squares / static_cast<double>(found.degrees_of_freedom)) / curvature;
    if (free.empty()) return found;

    const Columns columns = weighted(jacobian, groups, free);
    const Eigen::JacobiSVD<Matrix> svd(columns.unit, Eigen::ComputeFullV);
    const Inverse inverse = inverse_of(svd, columns.unit.rows());
    found.is_singular = inverse.is_singular;
    const double infinite = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < free.size(); ++a) {
        const auto i = static_cast<Index>(a);
        for (std::size_t b = 0; b < free.size(); ++b) {
            const auto j = static_cast<Index>(b);
            const double lengths = columns.lengths[i] * columns.lengths[j];
            found.covariance(free[a], free[b]) =
                lengths > 0 ? found.scale * found.scale * inverse.matrix(i, j) / lengths : 0.0;
            found.correlation(free[a], free[b]) = correlation_of(inverse.matrix, i, j);
        }
        found.standard_errors[free[a]] =
            inverse.is_told[a] ? std::sqrt(found.covariance(free[a], free[a])) : infinite;
    }
    return found;
}

namespace {

// Columns less their projections on the space of others, which are orthonormal but for those that add
// nothing.
Matrix without(const Matrix& columns, const Matrix& others) {
    if (others.cols() == 0) return columns;
    const Eigen::ColPivHouseholderQR<Matrix> qr(others);
    Matrix turned = qr.householderQ().transpose() * columns;
    turned.topRows(qr.rank()).setZero();
    return qr.householderQ() * turned;
}

}  // namespace

Identifiability identifiability(const DenseMatrix& jacobian, std::span<const ResidualGroup> groups,
                                const std::vector<bool>& auxiliary) {
    const std::size_t n = jacobian.columns;
    std::vector<std::size_t> all(n), wanted, rest;
    for (std::size_t k = 0; k < n; ++k) {
        all[k] = k;
        (auxiliary[k] ? rest : wanted).push_back(k);
    }
    const Columns columns = weighted(jacobian, groups, all);
    const Eigen::JacobiSVD<Matrix> svd(columns.unit, Eigen::ComputeFullV);
    const Inverse inverse = inverse_of(svd, columns.unit.rows());
    Identifiability found;
    found.lengths.assign(columns.lengths.begin(), columns.lengths.end());
    found.correlation = DenseMatrix(n, n);
    for (std::size_t a = 0; a < n; ++a) {
        const auto i = static_cast<Index>(a);
        const bool feels = columns.lengths[i] > 0;
        found.own_part.push_back(feels && inverse.is_told[a] ? 1 / std::sqrt(inverse.matrix(i, i))
                                                             : 0.0);
        for (std::size_t b = 0; b < n; ++b) {
            const auto j = static_cast<Index>(b);
            found.correlation(a, b) =
                feels && columns.lengths[j] > 0 ? correlation_of(inverse.matrix, i, j) : 0.0;
        }
    }

    const Columns of_wanted = weighted(jacobian, groups, wanted);
    Matrix own = without(of_wanted.unit, weighted(jacobian, groups, rest).unit);
    found.own_lengths.assign(n, 0);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const auto at = static_cast<Index>(k);
        double length = own.col(at).norm();
        if (length < 1e3 * rounding) length = 0;
        if (length > 0)
            own.col(at) /= length;
        else
            own.col(at).setZero();
        found.own_lengths[wanted[k]] = length * of_wanted.lengths[at];
    }
    const Eigen::JacobiSVD<Matrix> own_svd(own, Eigen::ComputeFullV);
    found.singular_values.assign(wanted.size(), 0);
    for (Index k = 0; k < own_svd.singularValues().size(); ++k)
        found.singular_values[static_cast<std::size_t>(k)] = own_svd.singularValues()[k];
    found.directions = DenseMatrix(n, wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
        for (std::size_t d = 0; d < wanted.size(); ++d)
            found.directions(wanted[k], d) =
                own_svd.matrixV()(static_cast<Index>(k), static_cast<Index>(d));
    return found;
}

}  // namespace hindcast::optim
