// The derivative rule of every differentiable op, away from kinks (test_kinks.cpp has those): first
// and second derivatives in forward and reverse mode against differences of the same function of
// the C library in long double, and f32 against f64.
//
// The op table is walked, so a new op that ad/rules.cpp calls differentiable and that has no row
// here fails.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "engine/ad/differentiate.hpp"
#include "engine/ad/grad.hpp"
#include "engine/ad/rules.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::OpCode;

namespace {

using Point = std::array<long double, 3>;

struct Row {
    OpCode code;
    long double (*value)(const Point&);
    std::array<double, 3> low, high;
    bool (*valid)(const Point&) = [](const Point&) { return true; };
};

bool apart(const Point& x) { return std::fabs(x[0] - x[1]) > 0.05L; }
bool away_from_zero(const Point& x) { return std::fabs(x[0]) > 0.05L; }
bool off_the_cut(const Point& x) { return x[1] > 0.3L || std::fabs(x[0]) > 0.3L; }

#define HOST(expression) [](const Point& x) -> long double { return expression; }
const Row rows[] = {
    {OpCode::add, HOST(x[0] + x[1]), {-2, -2}, {2, 2}},
    {OpCode::sub, HOST(x[0] - x[1]), {-2, -2}, {2, 2}},
    {OpCode::mul, HOST(x[0] * x[1]), {-2, -2}, {2, 2}},
    {OpCode::fma, HOST(x[0] * x[1] + x[2]), {-2, -2, -2}, {2, 2, 2}},
    {OpCode::neg, HOST(-x[0]), {-2}, {2}},
    {OpCode::sqrt, HOST(std::sqrt(x[0])), {0.2}, {3}},
    {OpCode::abs, HOST(std::fabs(x[0])), {-2}, {2}, away_from_zero},
    {OpCode::div, HOST(x[0] / x[1]), {-2, 0.4}, {2, 2}},
    {OpCode::min, HOST(x[0] < x[1] ? x[0] : x[1]), {-2, -2}, {2, 2}, apart},
    {OpCode::max, HOST(x[0] < x[1] ? x[1] : x[0]), {-2, -2}, {2, 2}, apart},
    {OpCode::mulz, HOST(x[0] * x[1]), {-2, -2}, {2, 2}},
    {OpCode::mulg, HOST(x[0] * x[1]), {-2, -2}, {2, 2}},
    {OpCode::divz, HOST(x[0] / x[1]), {-2, 0.4}, {2, 2}},
    {OpCode::norm2, HOST(std::sqrt(x[0] * x[0] + x[1] * x[1])), {0.2, -2}, {2, 2}},
    {OpCode::norm3,
     HOST(std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])),
     {-2, 0.3, -2},
     {2, 2, 2}},
    // Emitted with the condition x0 < x1.
    {OpCode::select, HOST(x[0] < x[1] ? x[1] * x[2] : x[2]), {-2, -2, -2}, {2, 2, 2}, apart},
    {OpCode::variable, HOST(x[0]), {-2}, {2}},
    {OpCode::sin, HOST(std::sin(x[0])), {-4}, {4}},
    {OpCode::cos, HOST(std::cos(x[0])), {-4}, {4}},
    {OpCode::tan, HOST(std::tan(x[0])), {-1.2}, {1.2}},
    {OpCode::asin, HOST(std::asin(x[0])), {-0.9}, {0.9}},
    {OpCode::acos, HOST(std::acos(x[0])), {-0.9}, {0.9}},
    {OpCode::atan, HOST(std::atan(x[0])), {-3}, {3}},
    {OpCode::atan2, HOST(std::atan2(x[0], x[1])), {-2, -2}, {2, 2}, off_the_cut},
    {OpCode::sinh, HOST(std::sinh(x[0])), {-2}, {2}},
    {OpCode::cosh, HOST(std::cosh(x[0])), {-2}, {2}},
    {OpCode::tanh, HOST(std::tanh(x[0])), {-2}, {2}},
    {OpCode::exp, HOST(std::exp(x[0])), {-3}, {3}},
    {OpCode::expm1, HOST(std::expm1(x[0])), {-3}, {3}},
    {OpCode::log, HOST(std::log(x[0])), {0.2}, {4}},
    {OpCode::log1p, HOST(std::log1p(x[0])), {-0.7}, {3}},
    {OpCode::pow, HOST(std::pow(x[0], x[1])), {0.3, -2}, {3, 2}},
    {OpCode::cbrt,
     HOST(std::cbrt(x[0])),
     {-3},
     {3},
     [](const Point& x) { return std::fabs(x[0]) > 0.3L; }},
};
#undef HOST

// Differentiable, but not the derivative of their value: see the cases below.
constexpr OpCode special[] = {OpCode::attach_slope, OpCode::convert};

const Row* row_of(OpCode code) {
    for (const Row& row : rows)
        if (row.code == code) return &row;
    return nullptr;
}

ir::Value emit(OpCode code, const Vec3& x) {
    ir::Builder& b = builder();
    const ir::Value v[3] = {x[0].value(), x[1].value(), x[2].value()};
    if (code == OpCode::variable) return b.variable(v[0]);
    if (code == OpCode::select)
        return b.select(b.compare(OpCode::lt, v[0], v[1]), b.binary(OpCode::mul, v[1], v[2]), v[2]);
    const int n = ir::info(code).operands;
    return b.emit(code, b.real(), v[0], n > 1 ? v[1] : ir::no_value, n > 2 ? v[2] : ir::no_value);
}

KernelDef kernel_of(OpCode code) {
    return kernel(
        std::string("rule_") + ir::info(code).name, {"x", "y"},
        [code](Int i, Read<Vec3> x, Write<Float> y) { y[i] = Float::from(emit(code, x[i])); });
}

// First and second derivatives at many points, by each route.
struct Derivatives {
    std::vector<std::array<double, 3>> forward, reverse;
    std::vector<std::array<std::array<double, 3>, 3>> tangent_tangent, tangent_adjoint,
        adjoint_adjoint;
};

Derivatives derive(const KernelDef& def, ir::Precision precision, const std::vector<double>& x) {
    const ir::Kernel k = def.trace(precision), kt = ad::tangent(k), ka = ad::adjoint(k);
    const ir::Kernel ktt = ad::tangent(kt), kat = ad::tangent(ka), kaa = ad::adjoint(ka);
    const std::size_t n = x.size() / 3;
    const std::vector<double> zero(n, 0.0), one(n, 1.0), zeros(3 * n, 0.0);
    const auto unit = [&](std::size_t j) {
        std::vector<double> e(3 * n, 0.0);
        for (std::size_t i = 0; i < n; ++i) e[3 * i + j] = 1;
        return e;
    };
    Derivatives d;
    d.forward.resize(n), d.reverse.resize(n);
    d.tangent_tangent.resize(n), d.tangent_adjoint.resize(n), d.adjoint_adjoint.resize(n);
    const auto items = static_cast<std::int64_t>(n);
    test::Data reverse{.real = {{"x", x}, {"y", zero}, {"x.a1", zeros}, {"y.a1", one}}};
    test::run(ka, reverse, items);
    for (std::size_t j = 0; j < 3; ++j) {
        test::Data forward{.real = {{"x", x}, {"y", zero}, {"x.t1", unit(j)}, {"y.t1", zero}}};
        test::run(kt, forward, items);
        test::Data ta{.real = {{"x", x},
                               {"y", zero},
                               {"x.a1", zeros},
                               {"y.a1", one},
                               {"x.t1", unit(j)},
                               {"y.t1", zero},
                               {"x.a1.t1", zeros},
                               {"y.a1.t1", zero}}};
        test::run(kat, ta, items);
        test::Data aa{.real = {{"x", x},
                               {"y", zero},
                               {"x.a1", zeros},
                               {"y.a1", one},
                               {"x.a2", zeros},
                               {"y.a2", zero},
                               {"x.a1.a2", unit(j)},
                               {"y.a1.a2", zero}}};
        test::run(kaa, aa, items);
        for (std::size_t i = 0; i < n; ++i) {
            d.forward[i][j] = forward.real["y.t1"][i];
            d.reverse[i][j] = reverse.real["x.a1"][3 * i + j];
            for (std::size_t k2 = 0; k2 < 3; ++k2) {
                d.tangent_adjoint[i][j][k2] = ta.real["x.a1.t1"][3 * i + k2];
                d.adjoint_adjoint[i][j][k2] = aa.real["x.a2"][3 * i + k2];
            }
        }
        for (std::size_t k2 = 0; k2 < 3; ++k2) {
            test::Data tt{.real = {{"x", x},
                                   {"y", zero},
                                   {"x.t1", unit(j)},
                                   {"y.t1", zero},
                                   {"x.t2", unit(k2)},
                                   {"y.t2", zero},
                                   {"x.t1.t2", zeros},
                                   {"y.t1.t2", zero}}};
            test::run(ktt, tt, items);
            for (std::size_t i = 0; i < n; ++i) d.tangent_tangent[i][j][k2] = tt.real["y.t1.t2"][i];
        }
    }
    return d;
}

// Differences in long double with Richardson's extrapolation: errors of order h^4.
long double moved(const Row& row, Point x, std::size_t j, long double a, std::size_t k,
                  long double b) {
    x[j] += a;
    x[k] += b;
    return row.value(x);
}
double first_difference(const Row& row, const Point& x, std::size_t j) {
    const auto d = [&](long double h) {
        return (moved(row, x, j, h, j, 0) - moved(row, x, j, -h, j, 0)) / (2 * h);
    };
    return static_cast<double>((4 * d(1e-4L) - d(2e-4L)) / 3);
}
double second_difference(const Row& row, const Point& x, std::size_t j, std::size_t k) {
    const auto d = [&](long double h) {
        if (j == k)
            return (moved(row, x, j, h, j, 0) - 2 * row.value(x) + moved(row, x, j, -h, j, 0)) /
                   (h * h);
        return (moved(row, x, j, h, k, h) - moved(row, x, j, h, k, -h) -
                moved(row, x, j, -h, k, h) + moved(row, x, j, -h, k, -h)) /
               (4 * h * h);
    };
    return static_cast<double>((4 * d(1e-3L) - d(2e-3L)) / 3);
}

// Points of a row's domain that f32 holds exactly.
std::vector<double> points(const Row& row, std::size_t count) {
    std::mt19937_64 random(static_cast<std::uint64_t>(row.code));
    std::vector<double> x;
    while (x.size() < 3 * count) {
        Point p{};
        for (std::size_t j = 0; j < 3; ++j) {
            const double u = static_cast<double>(random() >> 11) * 0x1p-53;
            p[j] = static_cast<float>(row.low[j] + (row.high[j] - row.low[j]) * u);
        }
        if (!row.valid(p)) continue;
        for (const long double v : p) x.push_back(static_cast<double>(v));
    }
    return x;
}

bool near(double a, double b, double tolerance) {
    return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

bool is_differentiable(OpCode code) {
    ir::Kernel k;
    k.ops.push_back({.code = OpCode::constant, .type = ir::Type::f64});
    const ir::Op op{.code = code, .type = ir::Type::f64, .operand = {0, 0, 0}};
    for (int i = 0; i < 3; ++i)
        if (ad::differentiable(k, op, i)) return true;
    return false;
}

}  // namespace

TEST_CASE("every op with a derivative has a row in this test") {
    for (int n = 0; n < ir::op_count; ++n) {
        const OpCode code = static_cast<OpCode>(n);
        bool tested = row_of(code) != nullptr;
        for (const OpCode other : special) tested |= code == other;
        INFO(ir::info(code).name);
        // Bit operations take no reals, so the rule for reals never meets them.
        const bool real =
            code != OpCode::bit_and && code != OpCode::bit_or && code != OpCode::bit_xor &&
            code != OpCode::logical_not && code != OpCode::rem && code != OpCode::shift_left &&
            code != OpCode::shift_right && !(OpCode::lt <= code && code <= OpCode::eq);
        CHECK(tested == (real && is_differentiable(code)));
    }
}

TEST_CASE("first and second derivatives of every op, in every mode, against differences") {
    constexpr std::size_t count = 60;
    for (const Row& row : rows) {
        const std::vector<double> x = points(row, count);
        const Derivatives d = derive(kernel_of(row.code), ir::Precision::f64, x);
        const auto operands = static_cast<std::size_t>(ir::info(row.code).operands);
        int failures = 0;
        for (std::size_t i = 0; i < count && failures < 5; ++i) {
            const Point p{x[3 * i], x[3 * i + 1], x[3 * i + 2]};
            INFO(ir::info(row.code).name << " at " << x[3 * i] << ", " << x[3 * i + 1] << ", "
                                         << x[3 * i + 2]);
            for (std::size_t j = 0; j < operands; ++j) {
                const double first = first_difference(row, p, j);
                CHECK(near(d.forward[i][j], first, 1e-11));
                CHECK(near(d.reverse[i][j], first, 1e-11));
                failures += !near(d.forward[i][j], first, 1e-11);
                for (std::size_t k = 0; k < operands; ++k) {
                    const double second = second_difference(row, p, j, k);
                    CHECK(near(d.tangent_tangent[i][j][k], second, 1e-8));
                    CHECK(near(d.tangent_adjoint[i][j][k], second, 1e-8));
                    CHECK(near(d.adjoint_adjoint[i][j][k], second, 1e-8));
                    failures += !near(d.tangent_adjoint[i][j][k], second, 1e-8);
                }
            }
        }
    }
}

TEST_CASE("derivatives of every op in f32 are those of f64, rounded") {
    constexpr std::size_t count = 40;
    for (const Row& row : rows) {
        const std::vector<double> x = points(row, count);
        const Derivatives narrow = derive(kernel_of(row.code), ir::Precision::f32, x);
        const Derivatives wide = derive(kernel_of(row.code), ir::Precision::f64, x);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j < 3; ++j) {
                INFO(ir::info(row.code).name << " at " << x[3 * i] << ", " << x[3 * i + 1] << ", "
                                             << x[3 * i + 2] << " by " << j);
                CHECK(near(narrow.forward[i][j], wide.forward[i][j], 3e-6));
                CHECK(near(narrow.reverse[i][j], wide.reverse[i][j], 3e-6));
                for (std::size_t k = 0; k < 3; ++k) {
                    const double exact = wide.tangent_adjoint[i][j][k];
                    CHECK(near(narrow.tangent_tangent[i][j][k], exact, 3e-5));
                    CHECK(near(narrow.tangent_adjoint[i][j][k], exact, 3e-5));
                    CHECK(near(narrow.adjoint_adjoint[i][j][k], exact, 3e-5));
                }
            }
    }
}

TEST_CASE("attach_slope: the value of operand 0, the derivative d0 + slope d1") {
    const Derivatives d =
        derive(kernel_of(OpCode::attach_slope), ir::Precision::f64, {0.5, 2, 3, 1.25, -1, 0});
    for (const auto& found : {d.forward, d.reverse}) {
        CHECK(found[0] == std::array<double, 3>{1, 3, 0});
        CHECK(found[1] == std::array<double, 3>{1, 0, 0});
    }
    // The gradient is (1, slope, 0): one entry of its Jacobian, not symmetric, is 1.
    CHECK(d.tangent_adjoint[0][2] == std::array<double, 3>{0, 1, 0});
    CHECK(d.tangent_adjoint[0][1] == std::array<double, 3>{0, 0, 0});
    CHECK(d.adjoint_adjoint[0][1] == std::array<double, 3>{0, 0, 1});
    CHECK(d.adjoint_adjoint[0][2] == std::array<double, 3>{0, 0, 0});
}

TEST_CASE("convert: rounding to f32 and back has the derivative 1") {
    const auto def = kernel("convert_rule", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Float> y) {
        ir::Builder& b = builder();
        const ir::Value narrow = b.emit(OpCode::convert, ir::Type::f32, x[i].x().value());
        y[i] = 3.0 * Float::from(b.emit(OpCode::convert, b.real(), narrow));
    });
    const Derivatives d = derive(def, ir::Precision::f64, {1.0 / 3, 0, 0});
    CHECK(d.forward[0][0] == 3);
    CHECK(d.reverse[0][0] == 3);
    CHECK(d.tangent_adjoint[0][0][0] == 0);
}

TEST_CASE("ops whose derivative is zero by definition") {
    const auto def = kernel("steps", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Float> y) {
        const Vec3 v = x[i];
        const Float from_integer = Float(Int(v.x() * 10.0));
        y[i] = floor(v.x()) + ceil(v.y()) + trunc(v.z()) + round(v.x() * 2.0) + sign(v.y()) +
               ad::stop_gradient(v.z() * v.x()) + from_integer +
               select(v.x() < v.y(), Float(1), Float(2));
    });
    const Derivatives d =
        derive(def, ir::Precision::f64, {0.3, -1.7, 2.5, 0, 0, 0, 1, -1, 0.5, -0.5, 1.5, 2.5});
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            CHECK(d.forward[i][j] == 0);
            CHECK(d.reverse[i][j] == 0);
        }
}
