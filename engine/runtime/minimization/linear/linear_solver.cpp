#include "engine/runtime/minimization/linear/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/base/vectors.hpp"
#include "engine/runtime/minimization/linear/supernodal.hpp"
#include "engine/runtime/minimization/rules/search_rules.hpp"

namespace hindcast {

namespace {

using search::least_pivot;

class Direct final : public LinearSolver {
public:
    explicit Direct(const SymmetricMatrix& pattern) : ldlt_(pattern), residual_(pattern.size()) {}

    Finding factorize(const SymmetricMatrix& matrix) override {
        matrix_ = &matrix;
        ldlt_.factorize(matrix);
        const std::span<const double> pivots = ldlt_.pivots();
        Finding found;
        double least = least_pivot;
        for (std::size_t k = 0; k < pivots.size(); ++k) {
            const int unknown = ldlt_.order()[k];
            const double diagonal = matrix.diagonal(unknown), part = pivots[k] / diagonal;
            if (!(diagonal > 0) || !(pivots[k] > 0) || !std::isfinite(pivots[k])) {
                const bool zero =
                    pivots[k] == 0 || std::abs(pivots[k]) < least_pivot * std::abs(diagonal);
                return {zero ? Definiteness::nearly_singular : Definiteness::indefinite, unknown};
            }
            if (part < least) {
                least = part;
                found = {Definiteness::nearly_singular, unknown};
            }
        }
        return found;
    }

    Finding solve(std::span<const double> b, std::span<double> x) override {
        ldlt_.solve(b, x);
        // One step of refinement: the residual is summed as the matrix has it.
        matrix_->multiply(x, residual_);
        for (std::size_t i = 0; i < b.size(); ++i) residual_[i] = b[i] - residual_[i];
        ldlt_.solve(residual_, residual_);
        for (std::size_t i = 0; i < b.size(); ++i) x[i] += residual_[i];
        return {};
    }

private:
    Supernodal ldlt_;
    const SymmetricMatrix* matrix_ = nullptr;
    std::vector<double> residual_;
};

// Preconditioned by the diagonal (Hestenes and Stiefel 1952; Jacobi).
class ConjugateGradients final : public LinearSolver {
public:
    Finding factorize(const SymmetricMatrix& matrix) override {
        matrix_ = &matrix;
        for (int i = 0; i < matrix.size(); ++i)
            if (!(matrix.diagonal(i) > 0)) return {Definiteness::indefinite, i};
        // Definiteness is checked while solving: it shows as positive curvature.
        return {};
    }

    // In rounds: each begins with the residual as it really is, so that rounding errors of the one
    // before do not stay.
    Finding solve(std::span<const double> b, std::span<double> x) override {
        const std::size_t n = b.size();
        std::vector<double> r(b.begin(), b.end()), correction(n);
        std::ranges::fill(x, 0.0);
        const double start = norm(r);
        for (double before = start; before > smallest * start;) {
            if (const Finding found = improve(r, correction);
                found.definiteness != Definiteness::positive)
                return found;
            for (std::size_t i = 0; i < n; ++i) x[i] += correction[i];
            matrix_->multiply(x, r);
            for (std::size_t i = 0; i < n; ++i) r[i] = b[i] - r[i];
            const double now = norm(r);
            if (now > 0.5 * before) {  // rounding
                if (now <= acceptable * start) break;
                return {Definiteness::nearly_singular, largest(r)};
            }
            before = now;
        }
        return {};
    }

private:
    static int largest(const std::vector<double>& v) {
        const auto less = [](double a, double b) { return std::abs(a) < std::abs(b); };
        return static_cast<int>(std::ranges::max_element(v, less) - v.begin());
    }
    double norm(std::span<const double> r) const {
        double sum = 0;
        for (std::size_t i = 0; i < r.size(); ++i)
            sum += r[i] * r[i] / matrix_->diagonal(static_cast<int>(i));
        return std::sqrt(sum);
    }
    // x with a residual b - A x of a small part of b, in that norm, as far as rounding allows.
    Finding improve(std::span<const double> b, std::span<double> x) const {
        const std::size_t n = b.size();
        std::vector<double> r(b.begin(), b.end()), z(n), p(n), q(n);
        std::ranges::fill(x, 0.0);
        const auto precondition = [&] {
            for (std::size_t i = 0; i < n; ++i)
                z[i] = r[i] / matrix_->diagonal(static_cast<int>(i));
        };
        precondition();
        p = z;
        double rz = dot(r, z);
        const double enough = rz * in_a_round * in_a_round;
        for (std::size_t k = 0; rz > enough && k < 4 * n + 100; ++k) {
            matrix_->multiply(p, q);
            const double curvature = dot(p, q);
            if (!(curvature > 0)) return {Definiteness::indefinite, largest(p)};
            const double step = rz / curvature;
            for (std::size_t i = 0; i < n; ++i) {
                x[i] += step * p[i];
                r[i] -= step * q[i];
            }
            precondition();
            const double next = dot(r, z);
            for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + next / rz * p[i];
            rz = next;
        }
        return {};
    }

    // Residual over right-hand side, in the norm of the preconditioner's inverse.
    static constexpr double smallest = 1e-15, in_a_round = 1e-8, acceptable = 1e-10;
    const SymmetricMatrix* matrix_ = nullptr;
};

}  // namespace

void SymmetricMatrix::multiply(std::span<const double> x, std::span<double> y) const {
    std::ranges::fill(y, 0.0);
    for (int c = 0; c < size(); ++c) {
        const auto begin = static_cast<std::size_t>(starts[c]),
                   end = static_cast<std::size_t>(starts[c + 1]);
        double sum = values[begin] * x[c];
        for (std::size_t k = begin + 1; k < end; ++k) {
            y[rows[k]] += values[k] * x[c];
            sum += values[k] * x[rows[k]];
        }
        y[c] += sum;
    }
}

std::unique_ptr<LinearSolver> make_solver(LinearSolverKind kind, const SymmetricMatrix& pattern) {
    const bool direct = kind == LinearSolverKind::direct ||
                        (kind == LinearSolverKind::automatic && pattern.size() <= most_direct);
    if (direct) return std::make_unique<Direct>(pattern);
    return std::make_unique<ConjugateGradients>();
}

}  // namespace hindcast
