#include "engine/optim/least_squares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/error.hpp"
#include "engine/runtime/minimization/linear/eigen.hpp"

namespace hindcast::optim {

namespace {

using ColumnVector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr double most_damping = 1e16;

// The weighted problem at a point, in the optimizer's variables: log x where the scale is that.
struct Linear {
    Matrix jacobian;
    ColumnVector residuals, gradient;
    std::vector<int> at_bound;
};

class Search {
public:
    Search(const LeastSquares& problem, const LeastSquaresOptions& options)
        : problem_(problem), options_(options), n_(problem.variables.size()) {}

    LeastSquaresResult run(std::span<const double> start) {
        begin(start);
        if (!told()) return stopped();
        while (true) {
            result_.jacobian = problem_.jacobian(result_.values);
            linearize();
            result_.at_bound = linear_.at_bound;
            if (is_stationary()) return ended(End::converged, "the gradient is 0 to rounding");
            if (result_.iterations >= options_.iterations)
                return ended(End::limit,
                             fmt::format("all {} iterations are made", options_.iterations));
            if (const auto why = step(); !why.empty()) return ended(end_, why);
            ++result_.iterations;
            if (!told()) return stopped();
            if (converged_) {
                // Bounds and Jacobian are those of the last point.
                result_.jacobian = problem_.jacobian(result_.values);
                linearize();
                result_.at_bound = linear_.at_bound;
                return ended(End::converged, why_converged_);
            }
        }
    }

private:
    using End = LeastSquaresResult::End;

    void begin(std::span<const double> start) {
        if (start.size() != n_)
            throw Error(fmt::format("{} values are given for {} parameters", start.size(), n_));
        result_.values.assign(start.begin(), start.end());
        const Variables& v = problem_.variables;
        for (std::size_t k = 0; k < n_; ++k)
            result_.values[k] = std::clamp(result_.values[k], v.low[k], v.high[k]);
        result_.residuals = problem_.residuals(result_.values);
        ++result_.evaluations;
        result_.cost = result_.residuals.empty() ? unlimited : problem_.cost(result_.residuals);
        result_.initial_cost = result_.cost;
        if (!std::isfinite(result_.cost))
            throw Error("the residuals are not finite at the start")
                .remedy("start from other values, or make the steps shorter");
        largest_ = ColumnVector::Zero(static_cast<Eigen::Index>(n_));
    }

    bool told() const {
        return !options_.watch || options_.watch(result_.iterations, result_.cost, result_.values);
    }
    LeastSquaresResult stopped() {
        if (result_.jacobian.rows == 0) {
            result_.jacobian = problem_.jacobian(result_.values);
            linearize();
            result_.at_bound = linear_.at_bound;
        }
        return ended(End::stopped, "stopped");
    }
    LeastSquaresResult ended(End end, std::string reason) {
        result_.end = end;
        result_.reason = std::move(reason);
        return std::move(result_);
    }

    void linearize() {
        const Variables& v = problem_.variables;
        const std::size_t rows = result_.residuals.size();
        linear_.residuals.resize(static_cast<Eigen::Index>(rows));
        linear_.jacobian = Eigen::Map<const Matrix>(result_.jacobian.values.data(),
                                                    static_cast<Eigen::Index>(rows),
                                                    static_cast<Eigen::Index>(n_));
        std::size_t row = 0;
        for (const ResidualGroup& group : problem_.groups)
            for (std::size_t i = 0; i < group.count; ++i, ++row) {
                const double r = result_.residuals[row],
                             root = std::sqrt(group.weight * group.loss.weight(r));
                const auto at = static_cast<Eigen::Index>(row);
                linear_.residuals[at] = root * r;
                linear_.jacobian.row(at) *= root;
            }
        for (std::size_t k = 0; k < n_; ++k)
            if (v.logarithmic[k])
                linear_.jacobian.col(static_cast<Eigen::Index>(k)) *= result_.values[k];
        linear_.gradient = linear_.jacobian.transpose() * linear_.residuals;
        linear_.at_bound.assign(n_, 0);
        for (std::size_t k = 0; k < n_; ++k) {
            const double g = linear_.gradient[static_cast<Eigen::Index>(k)];
            if (result_.values[k] <= v.low[k] && g >= 0) linear_.at_bound[k] = -1;
            if (result_.values[k] >= v.high[k] && g <= 0) linear_.at_bound[k] = 1;
            const auto at = static_cast<Eigen::Index>(k);
            largest_[at] = std::max(largest_[at], linear_.jacobian.col(at).squaredNorm());
        }
    }

    bool is_stationary() const {
        const double length = linear_.residuals.norm();
        if (length == 0) return true;
        for (std::size_t k = 0; k < n_; ++k) {
            const auto at = static_cast<Eigen::Index>(k);
            if (linear_.at_bound[k] != 0) continue;
            if (std::fabs(linear_.gradient[at]) >
                options_.gradient * length * linear_.jacobian.col(at).norm())
                return false;
        }
        return true;
    }

    // The distance of a variable from a bound that it would pass, or nothing.
    std::optional<double> cut(std::size_t k, double delta) const {
        const Variables& v = problem_.variables;
        const double x = result_.values[k];
        const double next = v.logarithmic[k] ? x * std::exp(delta) : x + delta;
        if (next >= v.low[k] && next <= v.high[k]) return std::nullopt;
        const double bound = next < v.low[k] ? v.low[k] : v.high[k];
        return v.logarithmic[k] ? std::log(bound / x) : bound - x;
    }

    // The step for the damping as it is: variables that would pass a bound go to it, and the others
    // then make the best of that.
    ColumnVector solve() const {
        const auto rows = linear_.jacobian.rows();
        ColumnVector all = ColumnVector::Zero(static_cast<Eigen::Index>(n_));
        std::vector<std::size_t> free;
        for (std::size_t k = 0; k < n_; ++k)
            if (linear_.at_bound[k] == 0) free.push_back(k);
        ColumnVector rest = -linear_.residuals;
        while (!free.empty()) {
            const auto columns = static_cast<Eigen::Index>(free.size());
            Matrix a = Matrix::Zero(rows + columns, columns);
            ColumnVector b = ColumnVector::Zero(rows + columns);
            b.head(rows) = rest;
            for (Eigen::Index c = 0; c < columns; ++c) {
                const auto k = static_cast<Eigen::Index>(free[static_cast<std::size_t>(c)]);
                a.col(c).head(rows) = linear_.jacobian.col(k);
                a(rows + c, c) = std::sqrt(damping_ * (largest_[k] > 0 ? largest_[k] : 1.0));
            }
            const ColumnVector some = a.colPivHouseholderQr().solve(b);
            std::vector<std::size_t> still;
            for (Eigen::Index c = 0; c < columns; ++c) {
                const std::size_t k = free[static_cast<std::size_t>(c)];
                const auto at = static_cast<Eigen::Index>(k);
                if (const auto short_of = cut(k, some[c])) {
                    all[at] = *short_of;
                    rest -= *short_of * linear_.jacobian.col(at);
                } else {
                    all[at] = some[c];
                    still.push_back(k);
                }
            }
            if (still.size() == free.size()) break;
            free = std::move(still);
        }
        return all;
    }

    // Takes the first step that lowers the cost; else says why there is none.
    std::string step() {
        const Variables& v = problem_.variables;
        double growth = 2;
        while (true) {
            const ColumnVector delta = solve();
            std::vector<double> next(n_);
            double longest = 0;
            for (std::size_t k = 0; k < n_; ++k) {
                const double x = result_.values[k], d = delta[static_cast<Eigen::Index>(k)];
                next[k] =
                    std::clamp(v.logarithmic[k] ? x * std::exp(d) : x + d, v.low[k], v.high[k]);
                const double size = v.logarithmic[k] ? 1.0 : std::fabs(x);
                if (next[k] != x)
                    longest = std::max(longest, std::fabs(d) / std::max(size, 1e-300));
            }
            const double expected =
                -linear_.gradient.dot(delta) - 0.5 * (linear_.jacobian * delta).squaredNorm();
            // Cut at bounds a step may lead nowhere; a shorter one does not.
            if (!(expected > 0) && longest > options_.step && damping_ < most_damping) {
                damping_ *= growth;
                growth *= 2;
                continue;
            }
            const bool small =
                longest <= options_.step || !(expected > options_.cost * result_.cost);
            std::vector<double> residuals =
                longest == 0 ? std::vector<double>{} : problem_.residuals(next);
            if (longest > 0) ++result_.evaluations;
            const double cost =
                residuals.empty() || !all_finite(residuals) ? unlimited : problem_.cost(residuals);
            const double actual = result_.cost - cost;
            if (actual > 0 && (actual > 1e-4 * expected || small)) {
                const double gain = std::min(actual / std::max(expected, 1e-300), 2.0);
                damping_ *= std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3));
                damping_ = std::max(damping_, 1e-15);
                converged_ = small && actual <= options_.cost * result_.cost;
                why_converged_ = "no step lowers the cost any more";
                result_.values = std::move(next);
                result_.residuals = std::move(residuals);
                result_.cost = cost;
                return {};
            }
            if (small) {
                end_ = End::converged;
                return "no step lowers the cost any more";
            }
            damping_ *= growth;
            growth *= 2;
            if (damping_ > most_damping) {
                end_ = End::stuck;
                return "no step lowers the cost, although the gradient is not 0; is the loss "
                       "smooth "
                       "there?";
            }
        }
    }

    const LeastSquares& problem_;
    const LeastSquaresOptions& options_;
    std::size_t n_;
    LeastSquaresResult result_;
    Linear linear_;
    ColumnVector largest_;  // squared length of each column, the largest so far
    double damping_ = 1e-3;
    bool converged_ = false;
    std::string why_converged_;
    End end_ = End::converged;
};

}  // namespace

double LeastSquares::cost(std::span<const double> of_residuals) const {
    double sum = 0;
    std::size_t row = 0;
    for (const ResidualGroup& group : groups) {
        double part = 0;
        for (std::size_t i = 0; i < group.count; ++i) part += group.loss.rho(of_residuals[row++]);
        sum += 0.5 * group.weight * part;
    }
    return sum;
}

LeastSquaresResult minimize(const LeastSquares& problem, std::span<const double> start,
                            const LeastSquaresOptions& options) {
    if (problem.groups.empty())
        throw Error("there are no residuals to make small")
            .remedy("add an objective that has some");
    return Search(problem, options).run(start);
}

}  // namespace hindcast::optim
