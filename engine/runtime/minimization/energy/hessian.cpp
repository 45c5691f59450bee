#include "engine/runtime/minimization/energy/hessian.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/backend/executable.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/document/text.hpp"
#include "engine/runtime/minimization/linear/eigen.hpp"

namespace hindcast {

namespace {

// On the stack.
using Small =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_rows, most_rows>;

// True if a symmetric matrix is positive semidefinite to rounding, by Cholesky's factorization.
bool is_semidefinite(const double* h, int n) {
    double l[most_rows][most_rows];
    double largest = 0;
    for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(h[i * n + i]));
    const double shift = 1e-14 * largest;
    for (int j = 0; j < n; ++j) {
        double d = h[j * n + j] + shift;
        for (int k = 0; k < j; ++k) d -= l[j][k] * l[j][k];
        if (!(d > 0)) return largest == 0;
        l[j][j] = std::sqrt(d);
        for (int i = j + 1; i < n; ++i) {
            double s = h[j * n + i];
            for (int k = 0; k < j; ++k) s -= l[i][k] * l[j][k];
            l[i][j] = s / l[j][j];
        }
    }
    return true;
}

// The same with its negative eigenvalues as 0.
void clamp(const double* h, int n, double* result) {
    const Eigen::Map<const Eigen::MatrixXd> given(h, n, n);
    Eigen::Map<Eigen::MatrixXd> out(result, n, n);
    if (is_semidefinite(h, n)) {
        out = given;
        return;
    }
    const Eigen::SelfAdjointEigenSolver<Small> solver(given);
    out.noalias() = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() *
                    solver.eigenvectors().transpose();
}

// The same of a matrix of any size, in place.
void clamp_large(std::vector<double>& h, int n) {
    Eigen::Map<Eigen::MatrixXd> matrix(h.data(), n, n);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
    if (n == 0 || solver.eigenvalues()[0] >= 0) return;
    const Eigen::MatrixXd clamped = solver.eigenvectors() *
                                    solver.eigenvalues().cwiseMax(0.0).asDiagonal() *
                                    solver.eigenvectors().transpose();
    matrix = 0.5 * (clamped + clamped.transpose());
}

const double* values_of(const Array& array) { return static_cast<const double*>(array.data()); }

}  // namespace

// The places of all elements' entries: columns and rows of the lower triangle, sorted.
void Hessian::make_pattern() {
    const int D = potential_.dimension(), unknowns = potential_.unknowns();
    std::vector<Term>& terms = potential_.terms();
    using Key = std::uint64_t;
    const auto each = [&](Term& term, const auto& visit) {
        const int K = term.size / D;
        for (std::size_t e = 0; e * static_cast<std::size_t>(K) < term.points.size(); ++e)
            for (int a = 0; a < term.size; ++a)
                for (int b = 0; b <= a; ++b) {
                    const auto unknown = [&](int k) {
                        return potential_.unknown_of(term.points[e * static_cast<std::size_t>(K) +
                                                                 static_cast<std::size_t>(k / D)],
                                                     k % D);
                    };
                    visit(unknown(a), unknown(b));
                }
    };
    const auto key = [](int a, int b) {
        return static_cast<Key>(std::min(a, b)) << 32 | static_cast<Key>(std::max(a, b));
    };
    std::vector<Key> keys;
    for (int i = 0; i < unknowns; ++i) keys.push_back(key(i, i));
    const auto tidy = [&] {
        std::ranges::sort(keys);
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    };
    const auto couple = [&](const CarriedPoints& rows, const CarriedPoints& columns) {
        for (int i = 0; i < rows.size(); ++i)
            for (int j = 0; j < columns.size(); ++j)
                keys.push_back(key(rows.first() + i, columns.first() + j));
    };
    for (const auto& c : potential_.carriers()) couple(*c, *c);
    for (Term& term : terms) {
        each(term, [&](int a, int b) {
            if (a >= 0 && b >= 0) keys.push_back(key(a, b));
        });
        for (const Potential::CarriedBlock& block : term.carried) {
            const std::int64_t* points = term.points.data() + block.item * (term.size / D);
            const CarriedPoints& second = *potential_.carrying(points[block.second]).carrier;
            const std::int64_t first = points[block.first];
            if (const auto* own = potential_.carrying(first).carrier) {
                if (own != &second) couple(*own, second);
                continue;
            }
            for (int k = 0; k < D; ++k)
                for (int j = 0; j < second.size(); ++j)
                    keys.push_back(key(potential_.unknown_of(first, k), second.first() + j));
        }
        tidy();
    }
    matrix_.starts.assign(static_cast<std::size_t>(unknowns) + 1, 0);
    for (const Key k : keys) {
        ++matrix_.starts[(k >> 32) + 1];
        matrix_.rows.push_back(static_cast<int>(k & 0xffffffff));
    }
    for (std::size_t c = 0; c + 1 < matrix_.starts.size(); ++c)
        matrix_.starts[c + 1] += matrix_.starts[c];
    matrix_.values.assign(keys.size(), 0.0);
    entries_.resize(terms.size());
    for (std::size_t t = 0; t < terms.size(); ++t)
        each(terms[t], [&](int a, int b) {
            if (a < 0 || b < 0) {
                entries_[t].push_back(-1);
                return;
            }
            const auto column = static_cast<std::size_t>(std::min(a, b));
            const auto begin = matrix_.rows.begin() + matrix_.starts[column],
                       end = matrix_.rows.begin() + matrix_.starts[column + 1];
            entries_[t].push_back(static_cast<int>(std::lower_bound(begin, end, std::max(a, b)) -
                                                   matrix_.rows.begin()));
        });
}

void Hessian::assemble(std::size_t number, const double* h) {
    const Term& term = potential_.terms()[number];
    const int n = term.size;
    const std::size_t square = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const int* to = entries_[number].data();
    const std::size_t items = term.points.size() *
                              static_cast<std::size_t>(potential_.dimension()) /
                              static_cast<std::size_t>(n);
    const double* element = h;
    for (std::size_t e = 0; e < items; ++e, element += square)
        for (int a = 0; a < n; ++a)
            for (int b = 0; b <= a; ++b, ++to)
                if (*to >= 0) matrix_.values[static_cast<std::size_t>(*to)] += element[b * n + a];
    if (!term.carried.empty()) assemble_carried(term, h);
}

// The first of a row's and column's entries; those of the rows of one carrier follow each other.
double* Hessian::entry(int row, int column) {
    const auto begin = matrix_.rows.begin() + matrix_.starts[static_cast<std::size_t>(column)],
               end = matrix_.rows.begin() + matrix_.starts[static_cast<std::size_t>(column) + 1];
    return matrix_.values.data() + (std::lower_bound(begin, end, row) - matrix_.rows.begin());
}

// J^T H J of the elements that name carried points.
void Hessian::assemble_carried(const Term& term, const double* hessians) {
    using Jacobian = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>>;
    const int n = term.size, K = n / 3;
    for (const Potential::CarriedBlock& block : term.carried) {
        const Eigen::Map<const Eigen::MatrixXd> element(hessians + block.item * n * n, n, n);
        const Eigen::Matrix3d h = element.block<3, 3>(3 * block.first, 3 * block.second);
        const std::int64_t* points = term.points.data() + block.item * K;
        const auto carrying = [&](int k) { return potential_.carrying(points[k]); };
        const auto [second, k] = carrying(block.second);
        const Jacobian j(second->jacobian(k), 3, second->size());
        const auto [first, l] = carrying(block.first);
        if (first == nullptr) {
            for (int c = 0; c < 3; ++c) {
                double* to = entry(second->first(), potential_.unknown_of(points[block.first], c));
                for (int i = 0; i < second->size(); ++i) to[i] += h.row(c).dot(j.col(i));
            }
            continue;
        }
        const Jacobian i(first->jacobian(l), 3, first->size());
        Eigen::MatrixXd both = i.transpose() * h * j;  // rows: first
        if (first == second) {
            if (block.first != block.second) both = (both + both.transpose()).eval();
            for (int c = 0; c < first->size(); ++c) {
                double* to = entry(first->first() + c, first->first() + c);
                for (int r = c; r < first->size(); ++r) to[r - c] += both(r, c);
            }
        } else if (first->first() < second->first()) {
            for (int c = 0; c < first->size(); ++c) {
                double* to = entry(second->first(), first->first() + c);
                for (int r = 0; r < second->size(); ++r) to[r] += both(c, r);
            }
        } else {
            for (int c = 0; c < second->size(); ++c) {
                double* to = entry(first->first(), second->first() + c);
                for (int r = 0; r < first->size(); ++r) to[r] += both(r, c);
            }
        }
    }
}

// The curvature of the carriers' energies, and of the ways of their points under the forces on
// them; projected, each carrier's is taken with its negative eigenvalues as 0.
void Hessian::assemble_coordinates(bool projects) {
    for (const auto& c : potential_.carriers()) {
        const int n = c->size();
        std::vector<double> own(c->curvature().begin(), c->curvature().end());
        if (projects) clamp_large(own, n);
        for (int column = 0; column < n; ++column) {
            double* to = entry(c->first() + column, c->first() + column);
            for (int row = column; row < n; ++row) to[row - column] += own[column * n + row];
        }
    }
}

Hessian::Hessian(Potential& potential) : potential_(potential) { make_pattern(); }

const SymmetricMatrix& Hessian::as_it_is() {
    std::ranges::fill(matrix_.values, 0.0);
    if (!potential_.carriers().empty()) potential_.run_gradient(Direction::forward);
    for (const auto& c : potential_.carriers()) c->linearize();
    std::vector<Term>& terms = potential_.terms();
    for (std::size_t t = 0; t < terms.size(); ++t) {
        terms[t].hessian.in().run();
        assemble(t, values_of(terms[t].columns));
    }
    assemble_coordinates(false);
    return matrix_;
}

const SymmetricMatrix& Hessian::projected() {
    std::ranges::fill(matrix_.values, 0.0);
    std::vector<double> clamped;
    std::vector<Term>& terms = potential_.terms();
    for (std::size_t t = 0; t < terms.size(); ++t) {
        const Term& term = terms[t];
        const double* h = values_of(term.columns);
        clamped.resize(static_cast<std::size_t>(term.columns.size()));
        const int n = term.size;
        const std::int64_t items = term.columns.elements() / n;
        constexpr std::int64_t chunk = 64;
        const auto work = [&](int c) {
            for (std::int64_t e = c * chunk; e < std::min(items, (c + 1) * chunk); ++e)
                clamp(h + e * n * n, n, clamped.data() + e * n * n);
        };
        const int chunks = static_cast<int>((items + chunk - 1) / chunk);
        if (ThreadPool* pool = potential_.device()->run_options().pool)
            pool->run(chunks, work);
        else
            for (int c = 0; c < chunks; ++c) work(c);
        assemble(t, clamped.data());
    }
    assemble_coordinates(true);
    return matrix_;
}

const SymmetricMatrix& Hessian::shifted(double shift) {
    for (int i = 0; i < matrix_.size(); ++i)
        matrix_.values[static_cast<std::size_t>(matrix_.starts[static_cast<std::size_t>(i)])] +=
            shift;
    return matrix_;
}

std::string Hessian::least_stable_item(std::int64_t point) {
    std::string name;
    double least = 0;
    for (Term& term : potential_.terms()) {
        term.hessian.in().run();
        const int n = term.size, K = n / potential_.dimension();
        for (std::size_t e = 0; e * static_cast<std::size_t>(K) < term.points.size(); ++e) {
            const auto first = term.points.begin() + static_cast<std::ptrdiff_t>(e) * K;
            if (std::find(first, first + K, point) == first + K) continue;
            const Eigen::Map<const Eigen::MatrixXd> h(
                values_of(term.columns) + static_cast<std::ptrdiff_t>(e) * n * n, n, n);
            const double eigenvalue =
                Eigen::SelfAdjointEigenSolver<Small>(h, Eigen::EigenvaluesOnly).eigenvalues()[0];
            if (eigenvalue >= least) continue;
            least = eigenvalue;
            name = "item " + std::to_string(e) + " of '" + term.name + "' (eigenvalue " +
                   document::shortest(eigenvalue) + ")";
        }
    }
    return name.empty() ? "no item by itself" : name;
}

}  // namespace hindcast
