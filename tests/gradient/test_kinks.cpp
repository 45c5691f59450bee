// Derivatives at kinks, ties and singular points, each stated as a number: the language says that
// it is the derivative of the branch taken; zero where the seed is zero, even at a singular point;
// infinities kept where it is not; the same in forward and in reverse mode, in f64 and in f32.
// engine/lang/elementary.md states the rule for chains through singular points.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/cpu/cpu.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using Triple = std::array<double, 3>;

// A scalar function of a vector at one point, with its gradient there.
struct Kink {
    const char* name;
    Float (*function)(const Vec3&);
    Triple at;
    Triple gradient;
    double value = 0;
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

struct Found {
    double value = 0;
    Triple forward{}, reverse{};
};

ir::Kernel traced(const Kink& kink, ir::Precision precision) {
    return kernel("kink", {"x", "y"},
                  [&](Int i, Read<Vec3> x, Write<Float> y) { y[i] = kink.function(x[i]); })
        .trace(precision);
}

Found derive(const Kink& kink, ir::Precision precision, double seed,
             const test::Compile& compile = test::interpreter()) {
    const ir::Kernel k = traced(kink, precision), kt = ad::tangent(k), ka = ad::adjoint(k);
    const std::vector<double> x(kink.at.begin(), kink.at.end());
    test::Data reverse{.real = {{"x", x}, {"y", {0}}, {"x.a1", {0, 0, 0}}, {"y.a1", {seed}}}};
    test::run(ka, reverse, 1, compile);
    Found found;
    for (std::size_t j = 0; j < 3; ++j) {
        test::Data forward{.real = {{"x", x}, {"y", {0}}, {"x.t1", {0, 0, 0}}, {"y.t1", {0}}}};
        forward.real["x.t1"][j] = seed;
        test::run(kt, forward, 1, compile);
        found.value = forward.real["y"][0];
        found.forward[j] = forward.real["y.t1"][0];
        found.reverse[j] = reverse.real["x.a1"][j];
    }
    return found;
}

void check(const std::vector<Kink>& kinks, const test::Compile& compile = test::interpreter()) {
    for (const Kink& kink : kinks)
        for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32}) {
            INFO(kink.name << " at " << kink.at[0] << ", " << kink.at[1] << ", " << kink.at[2]
                           << (precision == ir::Precision::f32 ? " in f32" : ""));
            const Found one = derive(kink, precision, 1, compile);
            CHECK(same(one.value, kink.value));
            for (std::size_t j = 0; j < 3; ++j) {
                INFO("by operand " << j);
                CHECK_MESSAGE(same(one.forward[j], kink.gradient[j]), "forward ", one.forward[j]);
                CHECK_MESSAGE(same(one.reverse[j], kink.gradient[j]), "reverse ", one.reverse[j]);
            }
            const Found zero = derive(kink, precision, 0, compile);
            for (std::size_t j = 0; j < 3; ++j) {
                INFO("zero seed, by operand " << j);
                CHECK(zero.forward[j] == 0);
                CHECK(zero.reverse[j] == 0);
            }
        }
}

// The interpreter and, if there is LLVM, the CPU back end.
std::vector<test::Compile> compilers() {
    std::vector<test::Compile> all{test::interpreter()};
    if (test::has_cpu_device())
        all.push_back([](const ir::Kernel& k) { return backend::compile_cpu(k); });
    return all;
}

// The second derivative by x, along x, by the four routes.
struct Second {
    double tangent_of_adjoint, adjoint_of_adjoint, adjoint_of_tangent, tangent_of_tangent;
};

Second second(const Kink& kink, ir::Precision precision, const test::Compile& compile) {
    const ir::Kernel k = traced(kink, precision), a = ad::adjoint(k), t = ad::tangent(k);
    const auto run = [&](const ir::Kernel& derived, const test::Values& seeds, const char* result) {
        test::Data data;
        for (const ir::Parameter& p : derived.parameters)
            data.real[p.name].assign(static_cast<std::size_t>(p.components), 0.0);
        data.real["x"].assign(kink.at.begin(), kink.at.end());
        for (const auto& [name, values] : seeds) data.real.at(name) = values;
        test::run(derived, data, 1, compile);
        return data.real.at(result)[0];
    };
    const std::vector<double> along_x{1, 0, 0};
    return {run(ad::tangent(a), {{"x.t1", along_x}, {"y.a1", {1}}}, "x.a1.t1"),
            run(ad::adjoint(a), {{"x.a1.a2", along_x}, {"y.a1", {1}}}, "x.a2"),
            run(ad::adjoint(t), {{"x.t1", along_x}, {"y.t1.a1", {1}}}, "x.a1"),
            run(ad::tangent(t), {{"x.t1", along_x}, {"x.t2", along_x}}, "y.t1.t2")};
}

#define OF(expression) [](const Vec3& v) -> Float { return expression; }

}  // namespace

TEST_CASE("min and max at ties and NaN: the operand that is returned has the derivative") {
    check({
        {"min", OF(min(v.x(), v.y())), {2, 2, 0}, {1, 0, 0}, 2},
        {"max", OF(max(v.x(), v.y())), {2, 2, 0}, {1, 0, 0}, 2},
        {"min", OF(min(v.x(), v.y())), {3, 2, 0}, {0, 1, 0}, 2},
        {"max", OF(max(v.x(), v.y())), {1, 2, 0}, {0, 1, 0}, 2},
        {"min", OF(min(v.x(), v.y())), {0.0, -0.0, 0}, {1, 0, 0}, 0},
        {"min", OF(min(v.x(), v.y())), {not_a_number, 2, 0}, {1, 0, 0}, not_a_number},
        {"max", OF(max(v.x(), v.y())), {not_a_number, 2, 0}, {1, 0, 0}, not_a_number},
        {"min", OF(min(v.x(), v.y())), {2, not_a_number, 0}, {1, 0, 0}, 2},
        {"max", OF(max(v.x(), v.y())), {2, not_a_number, 0}, {1, 0, 0}, 2},
        {"min", OF(min(v.x(), v.y())), {infinity, infinity, 0}, {1, 0, 0}, infinity},
        // min(b, a) is not min(a, b) at a tie, although a was computed first.
        {"min, second first", OF(min(v.y(), v.x())), {2, 2, 0}, {0, 1, 0}, 2},
        {"max, second first", OF(max(v.y(), v.x())), {2, 2, 0}, {0, 1, 0}, 2},
        {"max(x, 0), relu", OF(max(v.x(), 0.0)), {0, 0, 0}, {1, 0, 0}, 0},
        {"max(0, x), relu", OF(max(0.0, v.x())), {0, 0, 0}, {0, 0, 0}, 0},
        {"min(x, x)", OF(min(v.x(), v.x())), {3, 0, 0}, {1, 0, 0}, 3},
    });
}

TEST_CASE("clamp: derivative one at and between the bounds, zero outside") {
    check({
        {"clamp", OF(clamp(v.x(), v.y(), v.z())), {1, 1, 2}, {1, 0, 0}, 1},
        {"clamp", OF(clamp(v.x(), v.y(), v.z())), {2, 1, 2}, {1, 0, 0}, 2},
        {"clamp", OF(clamp(v.x(), v.y(), v.z())), {1.5, 1, 2}, {1, 0, 0}, 1.5},
        {"clamp", OF(clamp(v.x(), v.y(), v.z())), {0.5, 1, 2}, {0, 1, 0}, 1},
        {"clamp", OF(clamp(v.x(), v.y(), v.z())), {2.5, 1, 2}, {0, 0, 1}, 2},
    });
}

TEST_CASE("abs, sign, floor, ceil, round, trunc at their steps") {
    check({
        {"abs", OF(abs(v.x())), {0, 0, 0}, {0, 0, 0}, 0},
        {"abs", OF(abs(v.x())), {-0.0, 0, 0}, {0, 0, 0}, 0},
        {"abs", OF(abs(v.x())), {-3, 0, 0}, {-1, 0, 0}, 3},
        {"abs", OF(abs(v.x())), {3, 0, 0}, {1, 0, 0}, 3},
        {"abs", OF(abs(v.x())), {-infinity, 0, 0}, {-1, 0, 0}, infinity},
        {"abs", OF(abs(v.x())), {not_a_number, 0, 0}, {0, 0, 0}, not_a_number},
        {"sign", OF(sign(v.x())), {0, 0, 0}, {0, 0, 0}, 0},
        {"sign", OF(sign(v.x())), {-2, 0, 0}, {0, 0, 0}, -1},
        {"floor", OF(floor(v.x())), {1, 0, 0}, {0, 0, 0}, 1},
        {"floor", OF(floor(v.x())), {-0.5, 0, 0}, {0, 0, 0}, -1},
        {"ceil", OF(ceil(v.x())), {1.25, 0, 0}, {0, 0, 0}, 2},
        {"round", OF(round(v.x())), {2.5, 0, 0}, {0, 0, 0}, 2},
        {"round", OF(round(v.x())), {3.5, 0, 0}, {0, 0, 0}, 4},
        {"trunc", OF(trunc(v.x())), {-1.75, 0, 0}, {0, 0, 0}, -1},
        {"x - floor(x)", OF(v.x() - floor(v.x())), {2, 0, 0}, {1, 0, 0}, 0},
    });
}

TEST_CASE("select: the derivative of the value chosen, whatever the other is") {
    check({
        {"select", OF(select(v.x() < v.y(), v.y(), v.z())), {1, 2, 3}, {0, 1, 0}, 2},
        {"select", OF(select(v.x() < v.y(), v.y(), v.z())), {2, 2, 3}, {0, 0, 1}, 3},
        {"select", OF(select(v.x() < v.y(), v.y(), v.z())), {not_a_number, 2, 3}, {0, 0, 1}, 3},
        {"x log x", OF(select(v.x() > 0, v.x() * log(v.x()), 0.0)), {0, 0, 0}, {0, 0, 0}, 0},
        {"x log x", OF(select(v.x() > 0, v.x() * log(v.x()), 0.0)), {1, 0, 0}, {1, 0, 0}, 0},
        {"1/x guarded", OF(select(v.x() != 0, v.y() / v.x(), v.z())), {0, 1, 5}, {0, 0, 1}, 5},
        {"sqrt guarded", OF(max(v.y(), sqrt(v.x()) * v.z())), {0, 1, 3}, {0, 1, 0}, 1},
        {"exp guarded", OF(min(v.y(), exp(v.x() * 1e30) * v.z())), {1, 2, 1}, {0, 1, 0}, 2},
    });
}

TEST_CASE("sqrt, cbrt, norm and normalize at zero") {
    check({
        {"sqrt", OF(sqrt(v.x())), {0, 0, 0}, {infinity, 0, 0}, 0},
        {"sqrt", OF(sqrt(v.x())), {-1, 0, 0}, {not_a_number, 0, 0}, not_a_number},
        {"sqrt", OF(sqrt(v.x())), {infinity, 0, 0}, {0, 0, 0}, infinity},
        {"cbrt", OF(cbrt(v.x())), {0, 0, 0}, {infinity, 0, 0}, 0},
        {"norm", OF(norm(v)), {0, 0, 0}, {0, 0, 0}, 0},
        {"norm", OF(norm(v)), {0, -2, 0}, {0, -1, 0}, 2},
        {"norm of Vec2", OF(norm(Vec2(v.x(), v.y()))), {0, 0, 0}, {0, 0, 0}, 0},
        {"norm of Vec4", OF(norm(Vec4(v.x(), v.y(), v.z(), 0.0))), {0, 0, 0}, {0, 0, 0}, 0},
        {"normalize", OF(normalize(v).x()), {0, 0, 0}, {infinity, 0, 0}, 0},
        {"normalize", OF(normalize(v).x()), {0, 2, 0}, {0.5, 0, 0}, 0},
        // The sphere's direction does not change along itself.
        {"normalize", OF(normalize(v).y()), {0, 2, 0}, {0, 0, 0}, 1},
    });
}

TEST_CASE("norm: the shortest vectors have unit gradients") {
    // The squares of shorter ones are 0.
    for (const auto& [precision, length] :
         {std::pair{ir::Precision::f32, 0x1p-74}, {ir::Precision::f64, 0x1p-537}}) {
        const Found one = derive({"norm", OF(norm(v)), {length, 0, 0}, {}}, precision, 1),
                    two = derive({"norm", OF(norm(v)), {0, 3 * length, -4 * length}, {}}, precision,
                                 -2);
        CHECK(one.value == length);
        CHECK(one.reverse == Triple{1, 0, 0});
        CHECK(one.forward == one.reverse);
        CHECK(two.value == 5 * length);
        for (const Triple& gradient : {two.reverse, two.forward}) {
            CHECK(gradient[0] == 0);
            CHECK(gradient[1] == doctest::Approx(-1.2).epsilon(1e-6));
            CHECK(gradient[2] == doctest::Approx(1.6).epsilon(1e-6));
        }
    }
}

TEST_CASE("divz, mulz, mulg and division at zero") {
    check({
        {"divz", OF(divz(v.x(), v.y())), {0, 0, 0}, {infinity, 0, 0}, 0},
        {"divz", OF(divz(v.x(), v.y())), {0, 2, 0}, {0.5, 0, 0}, 0},
        {"divz", OF(divz(v.x(), v.y())), {1, 0, 0}, {infinity, -infinity, 0}, infinity},
        {"divz", OF(divz(v.x(), v.y())), {0, not_a_number, 0}, {not_a_number, 0, 0}, 0},
        {"mulz", OF(mulz(v.x(), v.y())), {0, 0, 0}, {0, 0, 0}, 0},
        {"mulz", OF(mulz(v.x(), v.y())), {0, infinity, 0}, {infinity, 0, 0}, 0},
        {"mulz", OF(mulz(v.x(), v.y())), {not_a_number, 0, 0}, {0, not_a_number, 0}, 0},
        {"mulz", OF(mulz(v.x(), v.y())), {2, 3, 0}, {3, 2, 0}, 6},
        {"mulg", OF(mulg(v.x(), v.y())), {0, 0, 0}, {0, 0, 0}, 0},
        {"mulg", OF(mulg(v.x(), v.y())), {0, infinity, 0}, {infinity, 0, 0}, 0},
        {"mulg", OF(mulg(v.x(), v.y())), {0, not_a_number, 0}, {not_a_number, 0, 0}, 0},
        {"mulg", OF(mulg(v.x(), v.y())), {2, 3, 0}, {3, 2, 0}, 6},
        {"div", OF(v.x() / v.y()), {1, 0, 0}, {infinity, -infinity, 0}, infinity},
        {"div", OF(v.x() / v.y()), {1, infinity, 0}, {0, 0, 0}, 0},
    });
}

TEST_CASE("log, pow, asin, acos and atan2 at singular points") {
    const double one = 1;
    check({
        {"log", OF(log(v.x())), {0, 0, 0}, {infinity, 0, 0}, -infinity},
        {"log1p", OF(log1p(v.x())), {-1, 0, 0}, {infinity, 0, 0}, -infinity},
        {"pow", OF(pow(v.x(), v.y())), {0, 2, 0}, {0, 0, 0}, 0},
        {"pow", OF(pow(v.x(), v.y())), {0, 1, 0}, {1, 0, 0}, 0},
        {"pow", OF(pow(v.x(), v.y())), {0, 0.5, 0}, {infinity, 0, 0}, 0},
        // 0^0 = 1; d/dx = 0 x^-1 = 0, d/dy = log 0.
        {"pow", OF(pow(v.x(), v.y())), {0, 0, 0}, {0, -infinity, 0}, one},
        {"pow", OF(pow(v.x(), 3.0)), {-2, 0, 0}, {12, 0, 0}, -8},
        {"pow", OF(pow(v.x(), 0.0)), {-2, 0, 0}, {0, 0, 0}, one},
        {"asin", OF(asin(v.x() * 1.0)), {0, 0, 0}, {1, 0, 0}, 0},
        {"acos at 1", OF(acos(v.x())), {1, 0, 0}, {-infinity, 0, 0}, 0},
        {"asin minus its value",
         OF(asin(v.x()) - asin(v.y())),
         {1, 1, 0},
         {infinity, -infinity, 0},
         0},
        {"acos minus its value",
         OF(acos(v.x()) - acos(v.y())),
         {-1, -1, 0},
         {-infinity, infinity, 0},
         0},
        // As a function of the radius it has no derivative; taken as zero, like the norm.
        {"atan2", OF(atan2(v.x(), v.y())), {0, 0, 0}, {0, 0, 0}, 0},
        {"atan2", OF(atan2(v.x(), v.y())), {0, 2, 0}, {0.5, 0, 0}, 0},
    });
}

TEST_CASE("chains through sqrt, cbrt, asin, acos and pow: zero times infinity is zero") {
    const double one = 1;
    const auto through_a_loop = [](const Vec3& v) {
        Float s = v.x();
        for_(0, 9, [&](Int) { s = sqrt(s * v.x()); });
        return s;
    };
    for (const test::Compile& compile : compilers())
        check(
            {
                {"sqrt(x*x)", OF(sqrt(v.x() * v.x())), {0, 0, 0}, {0, 0, 0}, 0},
                {"sqrt(x*x)", OF(sqrt(v.x() * v.x())), {-3, 0, 0}, {-1, 0, 0}, 3},
                {"sqrt(x^4)", OF(sqrt(v.x() * v.x() * v.x() * v.x())), {0, 0, 0}, {0, 0, 0}, 0},
                {"sqrt(|v|^2)", OF(sqrt(dot(v, v))), {0, 0, 0}, {0, 0, 0}, 0},
                {"sqrt(x*y)", OF(sqrt(v.x() * v.y())), {0, 0, 0}, {0, 0, 0}, 0},
                {"sqrt(x*y)", OF(sqrt(v.x() * v.y())), {0, 3, 0}, {infinity, 0, 0}, 0},
                {"sqrt(fma)",
                 OF(sqrt(fma(v.x(), v.y(), v.z()))),
                 {0, 3, 0},
                 {infinity, 0, infinity},
                 0},
                {"sqrt(x) y", OF(sqrt(v.x()) * v.y()), {0, 0, 0}, {0, 0, 0}, 0},
                {"sqrt(x) y", OF(sqrt(v.x()) * v.y()), {0, 2, 0}, {infinity, 0, 0}, 0},
                {"sin(sqrt(x)) y", OF(sin(sqrt(v.x())) * v.y()), {0, 0, 0}, {0, 0, 0}, 0},
                {"sqrt(sqrt(x))", OF(sqrt(sqrt(v.x()))), {0, 0, 0}, {infinity, 0, 0}, 0},
                {"asin(cos(x))", OF(asin(cos(v.x())) - asin(1.0)), {0, 0, 0}, {0, 0, 0}, 0},
                {"acos(1 - x*x)", OF(acos(1.0 - v.x() * v.x())), {0, 0, 0}, {0, 0, 0}, 0},
                {"acos(1 - x)", OF(acos(1.0 - v.x())), {0, 0, 0}, {infinity, 0, 0}, 0},
                {"pow(x*x, 1/2)", OF(pow(v.x() * v.x(), 0.5)), {0, 0, 0}, {0, 0, 0}, 0},
                {"pow(x*x, y)", OF(pow(v.x() * v.x(), v.y())), {0, 0.5, 0}, {0, 0, 0}, 0},
                {"loop", through_a_loop, {0, 0, 0}, {0, 0, 0}, 0},
                {"loop", through_a_loop, {1, 0, 0}, {one, 0, 0}, 1},
                // The price: that zero and infinity cancel to the derivative 1, or -1/2, is not
                // seen.
                {"cbrt(x^3)", OF(cbrt(v.x() * v.x() * v.x())), {0, 0, 0}, {0, 0, 0}, 0},
                {"cos(sqrt(x))", OF(cos(sqrt(v.x()))), {0, 0, 0}, {0, 0, 0}, one},
            },
            compile);
}

TEST_CASE("finite derivatives at zero: powers, x|x|, x times a length") {
    for (const test::Compile& compile : compilers())
        check(
            {
                {"pow(x, 2)", OF(pow(v.x(), 2.0)), {0, 0, 0}, {0, 0, 0}, 0},
                {"pow(x, 3/2)", OF(pow(v.x(), 1.5)), {0, 0, 0}, {0, 0, 0}, 0},
                {"x|x|", OF(v.x() * abs(v.x())), {0, 0, 0}, {0, 0, 0}, 0},
                {"x|v|", OF(v.x() * norm(v)), {0, 0, 0}, {0, 0, 0}, 0},
                {"x sqrt(x*x) + y", OF(v.x() * sqrt(v.x() * v.x()) + v.y()), {}, {0, 1, 0}, 0},
            },
            compile);
}

TEST_CASE("second derivatives at singular points: four routes, one number") {
    const struct {
        Kink kink;
        double second;
    } cases[] = {
        {{"pow(x, 2)", OF(pow(v.x(), 2.0)), {}, {}}, 2},
        {{"pow(x, 5/2)", OF(pow(v.x(), 2.5)), {}, {}}, 0},
        {{"pow(x, 3/2)", OF(pow(v.x(), 1.5)), {}, {}}, infinity},
        {{"x|x|", OF(v.x() * abs(v.x())), {}, {}}, 0},
        {{"x|v|", OF(v.x() * norm(v)), {}, {}}, 0},
        {{"|v|^2", OF(norm(v) * norm(v)), {}, {}}, 0},
        {{"x sqrt(x)", OF(v.x() * sqrt(v.x())), {}, {}}, infinity},
        {{"sqrt(sqrt(x))", OF(sqrt(sqrt(v.x()))), {}, {}}, -infinity},
        {{"sqrt(x*y)", OF(sqrt(v.x() * v.y())), {0, 3, 0}, {}}, -infinity},
        {{"sqrt(x*y)", OF(sqrt(v.x() * v.y())), {}, {}}, 0},
        {{"sqrt(x) y", OF(sqrt(v.x()) * v.y()), {}, {}}, 0},
        {{"sin(sqrt(x)) y", OF(sin(sqrt(v.x())) * v.y()), {}, {}}, 0},
        {{"sqrt(x*x)", OF(sqrt(v.x() * v.x())), {}, {}}, infinity},
        {{"sqrt(x^4)", OF(sqrt(v.x() * v.x() * v.x() * v.x())), {}, {}}, 0},
        {{"asin(cos(x))", OF(asin(cos(v.x()))), {}, {}}, -infinity},
        {{"acos(1 - x*x)", OF(acos(1.0 - v.x() * v.x())), {}, {}}, infinity},
        {{"pow(x*x, 1/2)", OF(pow(v.x() * v.x(), 0.5)), {}, {}}, infinity},
        {{"cbrt(x^3)", OF(cbrt(v.x() * v.x() * v.x())), {}, {}}, 0},
    };
    for (const test::Compile& compile : compilers())
        for (const auto& [kink, expected] : cases)
            for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32}) {
                INFO(kink.name);
                const Second found = second(kink, precision, compile);
                CHECK(found.tangent_of_adjoint == expected);
                CHECK(found.adjoint_of_adjoint == expected);
                CHECK(found.adjoint_of_tangent == expected);
                CHECK(found.tangent_of_tangent == expected);
            }
}

TEST_CASE("where the modes differ: divz, a value on the way that is infinite, terms that cancel") {
    const struct {
        Kink kink;  // with the forward gradient
        Triple reverse;
    } cases[] = {
        // divz and normalize
        {{"divz(x^3, x)", OF(divz(v.x() * v.x() * v.x(), v.x())), {}, {}}, {not_a_number, 0, 0}},
        {{"normalize(y v)", OF(normalize(v.y() * v).z()), {}, {}}, {0, not_a_number, not_a_number}},
        // infinite values
        {{"x log(x)", OF(v.x() * log(v.x())), {}, {not_a_number, not_a_number, not_a_number}},
         {-infinity, 0, 0}},
        {{"exp(log(x))", OF(exp(log(v.x()))), {}, {not_a_number, 0, 0}}, {0, 0, 0}},
        {{"exp(-1/x)", OF(exp(-1.0 / v.x())), {}, {not_a_number, 0, 0}}, {0, 0, 0}},
        {{"1/sqrt(x*x)", OF(1.0 / sqrt(v.x() * v.x())), {}, {}}, {not_a_number, 0, 0}},
        // canceling terms
        {{"sqrt(x - x)", OF(sqrt(v.x() - v.x())), {}, {}}, {not_a_number, 0, 0}},
    };
    for (const test::Compile& compile : compilers())
        for (const auto& [kink, reverse] : cases)
            for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32}) {
                INFO(kink.name);
                const Found found = derive(kink, precision, 1, compile);
                for (std::size_t j = 0; j < 3; ++j) {
                    CAPTURE(j);
                    CHECK(same(found.forward[j], kink.gradient[j]));
                    CHECK(same(found.reverse[j], reverse[j]));
                }
            }
    // What to write instead, for both modes.
    check({{"mulz(x, log(x))", OF(mulz(v.x(), log(v.x()))), {}, {-infinity, 0, 0}, 0}});
}
