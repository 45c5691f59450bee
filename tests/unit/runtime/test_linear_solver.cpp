// The factorization of sparse symmetric matrices against Eigen's, against residuals, and against the
// eigenvalues of small ones; that its bits depend on nothing but the matrix.
#include "engine/runtime/minimization/linear/linear_solver.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "engine/runtime/minimization/linear/eigen.hpp"
#include "engine/runtime/minimization/linear/supernodal.hpp"
#include "tests/support/memory/allocations.hpp"

using namespace hindcast;
using Values = std::vector<double>;
using Elements = std::vector<std::vector<int>>;

namespace {

// A sum over elements of `rank` random squares, and `shift` on the diagonal.
SymmetricMatrix assemble(int points, int components, const Elements& elements, double shift = 1,
                         int rank = 2, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<std::map<int, double>> columns(static_cast<std::size_t>(points * components));
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i][static_cast<int>(i)] = shift;
    for (const auto& e : elements)
        for (int r = 0; r < rank; ++r) {
            std::vector<std::pair<int, double>> g;
            for (const int p : e)
                for (int c = 0; c < components; ++c)
                    g.emplace_back(p * components + c, normal(random));
            for (const auto& [i, a] : g)
                for (const auto& [j, b] : g)
                    if (i >= j) columns[static_cast<std::size_t>(j)][i] += a * b;
        }
    SymmetricMatrix m;
    m.starts.push_back(0);
    for (const auto& column : columns) {
        for (const auto& [row, value] : column) {
            m.rows.push_back(row);
            m.values.push_back(value);
        }
        m.starts.push_back(static_cast<int>(m.rows.size()));
    }
    return m;
}

Elements grid(int a, int b, int c = 1) {
    Elements elements;
    for (int i = 0; i < a; ++i)
        for (int j = 0; j < b; ++j)
            for (int k = 0; k < c; ++k) {
                std::vector<int> cell;
                for (int q = 0; q < 8; ++q) {
                    const int x = i + (q & 1), y = j + (q >> 1 & 1), z = k + (q >> 2);
                    if (x < a && y < b && z < c) cell.push_back((x * b + y) * c + z);
                }
                elements.push_back(cell);
            }
    return elements;
}

Elements band(int n, int width) {
    Elements elements;
    for (int i = 0; i + width < n; ++i) {
        elements.emplace_back();
        for (int k = 0; k <= width; ++k) elements.back().push_back(i + k);
    }
    return elements;
}

Elements star(int n, int center) {
    Elements elements;
    for (int i = 0; i < n; ++i)
        if (i != center) elements.push_back({center, i});
    return elements;
}

Elements random_elements(int n, int count, int size, unsigned seed) {
    std::mt19937 random(seed);
    Elements elements(static_cast<std::size_t>(count));
    for (auto& e : elements)
        while (static_cast<int>(e.size()) < size) {
            const int p = static_cast<int>(random() % static_cast<unsigned>(n));
            if (std::ranges::find(e, p) == e.end()) e.push_back(p);
        }
    return elements;
}

Eigen::MatrixXd dense(const SymmetricMatrix& m) {
    Eigen::MatrixXd d = Eigen::MatrixXd::Zero(m.size(), m.size());
    for (int c = 0; c < m.size(); ++c)
        for (int k = m.starts[c]; k < m.starts[c + 1]; ++k)
            d(m.rows[k], c) = d(c, m.rows[k]) = m.values[k];
    return d;
}

Values right_side(int n) {
    Values b(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(1.0 + 3.0 * static_cast<double>(i));
    return b;
}

double largest(const Values& v) {
    double most = 0;
    for (const double x : v) most = std::max(most, std::abs(x));
    return most;
}

std::unique_ptr<LinearSolver> direct(const SymmetricMatrix& m) {
    return make_solver(LinearSolverKind::direct, m);
}

void check_solution(const SymmetricMatrix& m) {
    const Values b = right_side(m.size());
    Values x(b.size()), r(b.size());
    const auto solver = direct(m);
    REQUIRE(solver->factorize(m).definiteness == Definiteness::positive);
    REQUIRE(solver->solve(b, x).definiteness == Definiteness::positive);
    m.multiply(x, r);
    for (std::size_t i = 0; i < b.size(); ++i) r[i] -= b[i];
    CHECK(largest(r) <= 1e-13 * (1 + largest(m.values) * largest(x)));
    const Eigen::Map<const Eigen::SparseMatrix<double>> view(
        m.size(), m.size(), static_cast<Eigen::Index>(m.rows.size()), m.starts.data(),
        m.rows.data(), m.values.data());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> reference(view);
    const Eigen::VectorXd expected =
        reference.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), m.size()));
    for (int i = 0; i < m.size(); ++i)
        CHECK(std::abs(x[static_cast<std::size_t>(i)] - expected[i]) <= 1e-11 * largest(x));
}

}  // namespace

TEST_CASE("linear solver: definite matrices of many patterns against Eigen's factorization") {
    struct Pattern {
        const char* name;
        int points;
        Elements elements;
    };
    const std::vector<Pattern> patterns{
        {"one", 1, {}},
        {"diagonal", 37, {}},
        {"dense", 23, band(23, 22)},
        {"chain", 90, band(90, 1)},
        {"band", 120, band(120, 5)},
        {"arrow", 60, star(60, 0)},
        {"arrow downwards", 61, star(61, 60)},
        {"two apart", 40, {{0, 3, 4}, {4, 5, 7}, {20, 22}, {22, 39}, {39, 20}}},
        {"blocks", 30, {{0, 1, 2, 3, 4, 5, 6}, {10, 11, 12, 13}, {20, 21, 22, 23, 24, 25}}},
        {"grid", 18 * 21, grid(18, 21)},
        {"box", 7 * 8 * 6, grid(7, 8, 6)},
        {"random", 80, random_elements(80, 120, 3, 5)},
        {"random pairs", 200, random_elements(200, 260, 2, 6)},
    };
    for (const Pattern& p : patterns)
        for (int components = 1; components <= 3; ++components) {
            CAPTURE(p.name);
            CAPTURE(components);
            check_solution(assemble(p.points, components, p.elements));
        }
    // Two that overlap: a panel, of 200 columns and 400 rows, larger than a processor's own cache.
    Elements overlapping(2);
    for (int k = 0; k < 400; ++k) {
        overlapping[0].push_back(k);
        overlapping[1].push_back(k + 201);
    }
    check_solution(assemble(601, 1, overlapping));
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const int n = 1 + static_cast<int>(seed * 7 % 41), size = 1 + static_cast<int>(seed % 3);
        if (n < size) continue;
        CAPTURE(seed);
        check_solution(assemble(n, 1 + static_cast<int>(seed % 2),
                                random_elements(n, static_cast<int>(seed), size, seed)));
    }
}

TEST_CASE("linear solver: a matrix without unknowns") {
    const SymmetricMatrix nothing = assemble(0, 3, {});
    const auto solver = direct(nothing);
    CHECK(solver->factorize(nothing).definiteness == Definiteness::positive);
    CHECK(solver->solve({}, {}).definiteness == Definiteness::positive);
    const SymmetricMatrix untouched;
    CHECK(direct(untouched)->factorize(untouched).definiteness == Definiteness::positive);
}

TEST_CASE("linear solver: as many negative pivots as eigenvalues, and what is found") {
    int indefinite = 0;
    for (unsigned seed = 1; seed <= 80; ++seed) {
        const int n = 2 + static_cast<int>(seed % 17);
        const SymmetricMatrix m =
            assemble(n, 1 + static_cast<int>(seed % 3),
                     random_elements(n, static_cast<int>(2 * n), 2, seed), -0.3, 1, seed);
        CAPTURE(seed);
        const Eigen::VectorXd eigenvalues =
            Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense(m)).eigenvalues();
        Supernodal ldlt(m);
        ldlt.factorize(m);
        const auto negative = std::ranges::count_if(ldlt.pivots(), [](double d) { return d < 0; });
        CHECK(negative == (eigenvalues.array() < 0).count());
        const LinearSolver::Finding found = direct(m)->factorize(m);
        CHECK((found.definiteness == Definiteness::positive) == (negative == 0));
        CHECK((found.unknown >= 0) == (negative > 0));
        indefinite += negative > 0 ? 1 : 0;
    }
    CHECK(indefinite > 20);
    CHECK(indefinite < 80);
}

TEST_CASE("linear solver: where a matrix is singular, or not finite, is told") {
    for (const int components : {1, 3}) {
        const SymmetricMatrix definite = assemble(9 * 9, components, grid(9, 9));
        const int n = definite.size();
        for (const int at : {0, n / 2, n - 1}) {
            // One unknown without any curvature.
            const auto with = [&](double coupling, double diagonal) {
                SymmetricMatrix m = definite;
                for (int c = 0; c < n; ++c)
                    for (int k = m.starts[c]; k < m.starts[c + 1]; ++k)
                        if (c == at || m.rows[k] == at)
                            m.values[k] = c == m.rows[k] ? diagonal : coupling;
                return m;
            };
            const auto solver = direct(definite);
            const auto find = [&](const SymmetricMatrix& m) { return solver->factorize(m); };
            CHECK(find(with(0, 0)).definiteness == Definiteness::nearly_singular);
            CHECK(find(with(0, 0)).unknown == at);
            CHECK(find(with(0, -2)).definiteness == Definiteness::indefinite);
            CHECK(find(with(0, -2)).unknown == at);
            const double infinity = std::numeric_limits<double>::infinity();
            for (const double bad : {infinity, -infinity, std::nan("")}) {
                CHECK(find(with(0, bad)).definiteness != Definiteness::positive);
                CHECK(find(with(0, bad)).unknown == at);
                CHECK(find(with(bad, 1)).definiteness != Definiteness::positive);
            }
            // It does not remember.
            CHECK(find(definite).definiteness == Definiteness::positive);
        }
    }
    // A chain of springs that nothing holds, apart from others that are held: its last pivot is 0.
    SymmetricMatrix chains = assemble(8, 1, band(8, 1));
    std::ranges::fill(chains.values, 0.0);
    for (int i = 0; i + 1 < 8; ++i) {
        if (i == 3) continue;  // 0 ... 3 and 4 ... 7
        chains.values[chains.starts[i]] += 3;
        chains.values[chains.starts[i + 1]] += 3;
        chains.values[chains.starts[i] + 1] -= 3;
    }
    chains.values[chains.starts[1]] += 1;  // the first is held
    LinearSolver::Finding found = direct(chains)->factorize(chains);
    CHECK(found.definiteness == Definiteness::nearly_singular);
    CHECK(found.unknown >= 4);
    // Held by a part of its diagonal that is rounding for the most part, and by a little more.
    for (const double held : {1e-13, 1e-9}) {
        SymmetricMatrix m = chains;
        m.values[m.starts[6]] += held;
        found = direct(m)->factorize(m);
        CHECK((found.definiteness == Definiteness::positive) == (held > 1e-12));
        if (held < 1e-12) CHECK(found.unknown >= 4);
    }
}

TEST_CASE("linear solver: the same bits wherever memory lies and whatever came before") {
    const SymmetricMatrix m = assemble(6 * 5 * 7, 3, grid(6, 5, 7));
    const Values b = right_side(m.size());
    Values reference(b.size());
    {
        const auto solver = direct(m);
        solver->factorize(m);
        solver->solve(b, reference);
    }
    std::vector<std::vector<char>> between;
    std::vector<std::unique_ptr<LinearSolver>> kept;
    for (std::size_t shift = 0; shift < 8; ++shift) {
        between.emplace_back(8 * shift + 1000 * shift + 8);
        SymmetricMatrix copy = m;
        copy.values.reserve(copy.values.size() + 3 * shift);
        std::vector<double> shifted(b.size() + shift), result(b.size() + shift);
        std::copy(b.begin(), b.end(), shifted.begin() + static_cast<std::ptrdiff_t>(shift));
        kept.push_back(direct(copy));
        // What is not finite must leave nothing behind.
        SymmetricMatrix bad = m;
        std::ranges::fill(bad.values, std::nan(""));
        if (shift % 2 == 1) kept.back()->factorize(bad);
        kept.back()->factorize(copy);
        const auto x = std::span(result).subspan(shift);
        kept.back()->solve(std::span(shifted).subspan(shift), x);
        CHECK(std::memcmp(x.data(), reference.data(), x.size_bytes()) == 0);
    }
}

TEST_CASE("linear solver: what is analyzed once allocates nothing more") {
    const SymmetricMatrix m = assemble(12 * 12, 3, grid(12, 12));
    const Values b = right_side(m.size());
    Values x(b.size());
    const auto solver = direct(m);
    const auto before = test::allocations();
    for (int k = 0; k < 3; ++k) {
        solver->factorize(m);
        solver->solve(b, x);
    }
    CHECK(test::allocations() == before);
}
