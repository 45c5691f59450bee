#include "engine/runtime/minimization/energy/potential.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/backend/executable.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/document/text.hpp"
#include "engine/runtime/minimization/linear/eigen.hpp"

namespace hindcast {

namespace {

// Elements of at most so many rows (EnergyKernels) are looked at on the stack.
constexpr int most_rows = 36;
using Small =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_rows, most_rows>;

// True if a symmetric matrix is positive semidefinite to rounding, by Cholesky's factorisation.
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

const double* doubles(const Array& array) { return static_cast<const double*>(array.data()); }

}  // namespace

Potential::Potential(std::shared_ptr<Device> device, int dimension, std::vector<char> fixed,
                     std::vector<EnergyTerm> terms)
    : device_(std::move(device)), dimension_(dimension) {
    const auto points = static_cast<std::int64_t>(fixed.size());
    for (Array* a : {&x_, &g_, &direction_}) *a = Array(ir::Type::f64, {points, dimension});
    unknown_of_.assign(fixed.size() * static_cast<std::size_t>(dimension), -1);
    for (std::int64_t p = 0; p < points; ++p) {
        if (fixed[static_cast<std::size_t>(p)] != 0) continue;
        for (int c = 0; c < dimension; ++c) {
            unknown_of_[static_cast<std::size_t>(p * dimension + c)] = unknowns();
            point_of_.push_back(p);
        }
    }
    for (EnergyTerm& term : terms) add(std::move(term));
    make_pattern();
}

void Potential::add(EnergyTerm given) {
    const auto fail = [&](const std::string& what, std::int64_t item) {
        throw Error(what).in_kernel(given.name).at_item(item);
    };
    const int K = given.kernels.points, size = K * given.kernels.dimension;
    if (size > most_rows)
        fail("an item has " + std::to_string(K) + " points, and at most " +
                 std::to_string(most_rows / given.kernels.dimension) + " are possible",
             0);
    std::vector<std::int64_t> numbers;
    for (const double p : given.points.to_doubles())
        numbers.push_back(static_cast<std::int64_t>(p));
    for (std::int64_t e = 0; e < given.items; ++e)
        for (int k = 0; k < K; ++k) {
            const std::int64_t p = numbers[static_cast<std::size_t>(e * K + k)];
            if (p < 0 || p >= x_.elements()) fail("there is no point " + std::to_string(p), e);
            for (int l = 0; l < k; ++l)
                if (numbers[static_cast<std::size_t>(e * K + l)] == p)
                    fail("point " + std::to_string(p) + " stands twice in one item", e);
        }
    const auto launch = [&](const lang::KernelDef& kernel, std::int64_t items,
                            std::vector<NamedArgument> arguments, const char* what) {
        arguments.insert(arguments.end(), {{"points", given.points}, {"x", x_}});
        arguments.insert(arguments.end(), given.arguments.begin(), given.arguments.end());
        return Work{
            Launch(device_, kernel, ir::Precision::f64, items, arguments, given.name + what)};
    };
    const Array value(ir::Type::f64, {1}), columns(ir::Type::f64, {given.items * size, size});
    const EnergyKernels& k = given.kernels;
    Term term{.name = given.name,
              .value = launch(k.value, given.items, {{"scale", 1.0}, {"value", value}}, ": value"),
              .gradient = launch(k.gradient, given.items, {{"gradient", g_}}, ": gradient"),
              .hessian = launch(k.hessian, given.items * size, {{"column", columns}}, ": Hessian"),
              .numbers = given.points,
              .value_at = value,
              .columns = columns,
              .size = size,
              .points = std::move(numbers)};
    if (given.limit) {
        term.fraction = Array(ir::Type::f64, {given.items});
        std::vector<NamedArgument> arguments{{"points", given.points},
                                             {"x", x_},
                                             {"direction", direction_},
                                             {"fraction", term.fraction}};
        arguments.insert(arguments.end(), given.limit->arguments.begin(),
                         given.limit->arguments.end());
        term.limit = Work{Launch(device_, given.limit->kernel, ir::Precision::f64, given.items,
                                 arguments, given.name + ": step limit")};
    }
    terms_.push_back(std::move(term));
}

// The places of all elements' entries: columns and rows of the lower triangle, sorted.
void Potential::make_pattern() {
    const int D = dimension_;
    using Key = std::uint64_t;
    const auto each = [&](Term& term, const auto& visit) {
        const int K = term.size / D;
        for (std::size_t e = 0; e * static_cast<std::size_t>(K) < term.points.size(); ++e)
            for (int a = 0; a < term.size; ++a)
                for (int b = 0; b <= a; ++b) {
                    const auto unknown = [&](int k) {
                        return unknown_of_[static_cast<std::size_t>(
                            term.points[e * static_cast<std::size_t>(K) +
                                        static_cast<std::size_t>(k / D)] *
                                D +
                            k % D)];
                    };
                    visit(unknown(a), unknown(b));
                }
    };
    const auto key = [](int a, int b) {
        return static_cast<Key>(std::min(a, b)) << 32 | static_cast<Key>(std::max(a, b));
    };
    std::vector<Key> keys;
    for (int i = 0; i < unknowns(); ++i) keys.push_back(key(i, i));
    const auto tidy = [&] {
        std::ranges::sort(keys);
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    };
    for (Term& term : terms_) {
        each(term, [&](int a, int b) {
            if (a >= 0 && b >= 0) keys.push_back(key(a, b));
        });
        tidy();
    }
    matrix_.starts.assign(static_cast<std::size_t>(unknowns()) + 1, 0);
    for (const Key k : keys) {
        ++matrix_.starts[(k >> 32) + 1];
        matrix_.rows.push_back(static_cast<int>(k & 0xffffffff));
    }
    for (std::size_t c = 0; c + 1 < matrix_.starts.size(); ++c)
        matrix_.starts[c + 1] += matrix_.starts[c];
    matrix_.values.assign(keys.size(), 0.0);
    for (Term& term : terms_)
        each(term, [&](int a, int b) {
            if (a < 0 || b < 0) {
                term.entries.push_back(-1);
                return;
            }
            const auto column = static_cast<std::size_t>(std::min(a, b));
            const auto begin = matrix_.rows.begin() + matrix_.starts[column],
                       end = matrix_.rows.begin() + matrix_.starts[column + 1];
            term.entries.push_back(static_cast<int>(std::lower_bound(begin, end, std::max(a, b)) -
                                                    matrix_.rows.begin()));
        });
}

void Potential::gather(const Array& from, std::span<double> unknowns) const {
    const double* values = doubles(from);
    for (std::size_t k = 0; k < unknown_of_.size(); ++k)
        if (unknown_of_[k] >= 0) unknowns[static_cast<std::size_t>(unknown_of_[k])] = values[k];
}

void Potential::scatter(std::span<const double> unknowns, const Array& to) const {
    auto* values = static_cast<double*>(to.data());
    for (std::size_t k = 0; k < unknown_of_.size(); ++k)
        if (unknown_of_[k] >= 0) values[k] = unknowns[static_cast<std::size_t>(unknown_of_[k])];
    to.touch();
}

void Potential::clear_unknowns(const Array& of) const {
    auto* values = static_cast<double*>(of.data());
    for (std::size_t k = 0; k < unknown_of_.size(); ++k)
        if (unknown_of_[k] >= 0) values[k] = 0;
    of.touch();
}

double Potential::value() {
    double sum = 0;
    magnitude_ = 0;
    for (Term& term : terms_) {
        term.value_at.clear();
        term.value.in().run();
        const double value = term.value_at.value(0);
        sum += value;
        magnitude_ += std::abs(value);
    }
    return sum;
}

void Potential::gradient(std::span<double> unknowns) {
    g_.clear();
    for (Term& term : terms_) term.gradient.in().run();
    gather(g_, unknowns);
}

void Potential::assemble(const Term& term, const std::vector<double>* projected) {
    const double* h = projected != nullptr ? projected->data() : doubles(term.columns);
    const int n = term.size;
    const std::size_t square = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    const int* entry = term.entries.data();
    const std::size_t items =
        term.points.size() * static_cast<std::size_t>(dimension_) / static_cast<std::size_t>(n);
    for (std::size_t e = 0; e < items; ++e, h += square)
        for (int a = 0; a < n; ++a)
            for (int b = 0; b <= a; ++b, ++entry)
                if (*entry >= 0) matrix_.values[static_cast<std::size_t>(*entry)] += h[b * n + a];
}

const SymmetricMatrix& Potential::hessian() {
    std::ranges::fill(matrix_.values, 0.0);
    for (Term& term : terms_) {
        term.hessian.in().run();
        assemble(term, nullptr);
    }
    return matrix_;
}

const SymmetricMatrix& Potential::projected() {
    std::ranges::fill(matrix_.values, 0.0);
    std::vector<double> clamped;
    for (Term& term : terms_) {
        const double* h = doubles(term.columns);
        clamped.resize(static_cast<std::size_t>(term.columns.size()));
        const int n = term.size;
        const std::int64_t items = term.columns.elements() / n;
        constexpr std::int64_t chunk = 64;
        const auto work = [&](int c) {
            for (std::int64_t e = c * chunk; e < std::min(items, (c + 1) * chunk); ++e)
                clamp(h + e * n * n, n, clamped.data() + e * n * n);
        };
        const int chunks = static_cast<int>((items + chunk - 1) / chunk);
        if (ThreadPool* pool = device_->run_options().pool)
            pool->run(chunks, work);
        else
            for (int c = 0; c < chunks; ++c) work(c);
        assemble(term, &clamped);
    }
    return matrix_;
}

const SymmetricMatrix& Potential::shifted(double shift) {
    for (int i = 0; i < unknowns(); ++i)
        matrix_.values[static_cast<std::size_t>(matrix_.starts[static_cast<std::size_t>(i)])] +=
            shift;
    return matrix_;
}

double Potential::step_limit(std::span<const double> direction) {
    double limit = 1;
    bool set = false;
    for (Term& term : terms_) {
        if (!term.limit) continue;
        if (!std::exchange(set, true)) {
            direction_.clear();
            scatter(direction, direction_);
        }
        term.limit->in().run();
        const double* fraction = doubles(term.fraction);
        for (std::int64_t e = 0; e < term.fraction.elements(); ++e)
            limit = std::min(limit, fraction[e]);
    }
    return limit;
}

std::string Potential::least_stable_item(std::int64_t point) {
    std::string name;
    double least = 0;
    for (Term& term : terms_) {
        term.hessian.in().run();
        const int n = term.size, K = n / dimension_;
        for (std::size_t e = 0; e * static_cast<std::size_t>(K) < term.points.size(); ++e) {
            const auto first = term.points.begin() + static_cast<std::ptrdiff_t>(e) * K;
            if (std::find(first, first + K, point) == first + K) continue;
            const Eigen::Map<const Eigen::MatrixXd> h(
                doubles(term.columns) + static_cast<std::ptrdiff_t>(e) * n * n, n, n);
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
