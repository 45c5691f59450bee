// Equal bits between the forward run and what derivatives recompute, and bits that do not depend on
// how a kernel was recorded: contraction, folding, and the order in which adjoints are added.
// (Random kernels: test_random_kernels.cpp.)
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/ad/differentiate.hpp"
#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using test::Data;
using test::run_adjoint;
using test::run_tangent;
using test::same_bits;
using Numbers = std::vector<double>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// a * b + c is 2^-60 fused and 0 in two roundings.
constexpr double a = 1 + 0x1p-30, b = 1 - 0x1p-30, c = -1;

ir::Kernel trace(const KernelDef& def) { return def.trace(Precision::f64); }

}  // namespace

TEST_CASE("contraction: a use dying in the adjoint must not change the primal") {
    REQUIRE(std::fma(a, b, c) == -0x1p-60);
    REQUIRE(a * b + c == 0);
    // The product has a second use, w, which the adjoint does not recompute; y z exposes y in both
    // directions.
    for (const bool second_use : {false, true}) {
        const auto def =
            kernel("second_use", {"x", "z", "w", "y"},
                   [&](Int i, Read<Vec3> x, Read<Float> z, ReadWrite<Float> w, Write<Float> y) {
                       const Float product = x[i].x() * x[i].y();
                       if (second_use) w[i] = product;
                       const Float sum = product + x[i].z();
                       y[i] = sum * z[i];
                   });
        const Data data{.real = {{"x", {a, b, c}}, {"z", {1}}, {"w", {0}}, {"y", {0}}}};
        Data forward = data;
        test::run(trace(def), forward, 1);
        CHECK(forward.real["y"][0] == -0x1p-60);
        CHECK(run_adjoint(trace(def), data, 1, {{"y", {1}}}).real["z.a1"][0] == -0x1p-60);
        CHECK(run_tangent(trace(def), data, 1, {{"z", {1}}}).real["y.t1"][0] == -0x1p-60);
    }
}

TEST_CASE("contraction: a product directly under + or -, by definition, in every form") {
    struct Form {
        const char* name;
        Float (*f)(const Float&, const Float&, const Float&);
        double expected;
    };
    const Form forms[] = {
        {"a b + c", [](const Float& x, const Float& y, const Float& z) { return x * y + z; },
         -0x1p-60},
        {"c + a b", [](const Float& x, const Float& y, const Float& z) { return z + x * y; },
         -0x1p-60},
        {"a b - (-c)", [](const Float& x, const Float& y, const Float& z) { return x * y - (-z); },
         -0x1p-60},
        {"-c - a b", [](const Float& x, const Float& y, const Float& z) { return -z - x * y; },
         0x1p-60},
        {"named product",
         [](const Float& x, const Float& y, const Float& z) {
             Float p = x * y;
             p += z;
             return p;
         },
         -0x1p-60},
        {"through a function",
         [](const Float& x, const Float& y, const Float& z) {
             return dot(Vec2(x, z), Vec2(y, Float(1)));
         },
         -0x1p-60},
        // The product is not a direct operand: two roundings.
        {"max(a b, 0) + c",
         [](const Float& x, const Float& y, const Float& z) { return max(x * y, 0.0) + z; }, 0},
        {"opaque",
         [](const Float& x, const Float& y, const Float& z) {
             return ad::stop_gradient(x * y) + z;
         },
         0},
    };
    for (const Form& form : forms) {
        INFO(form.name);
        const auto def = kernel("form", {"x", "y"}, [&](Int i, Read<Vec3> x, Write<Float> y) {
            y[i] = form.f(x[i].x(), x[i].y(), x[i].z());
        });
        Data data{.real = {{"x", {a, b, c}}, {"y", {0}}}};
        test::run(trace(def), data, 1);
        CHECK(data.real["y"][0] == form.expected);
    }
}

TEST_CASE("contraction looks at what is recorded: unrolled loops are, later copies are not") {
    // In a loop that stays one, the product from before it is an argument when the sum is recorded;
    // that it never changes is seen later, and then nothing is fused any more.
    for (const int trips : {unroll_trips, unroll_trips + 1}) {
        const auto def = kernel("before_loop", {"x", "z", "y"},
                                [&](Int i, Read<Vec3> x, Read<Float> z, Write<Float> y) {
                                    const Float p = x[i].x() * x[i].y();
                                    Float s = 0;
                                    for_(0, trips, [&](Int) { s = p + x[i].z(); });
                                    y[i] = s * z[i];
                                });
        const double expected = trips <= unroll_trips ? -0x1p-60 : 0;
        const Data data{.real = {{"x", {a, b, c}}, {"z", {1}}, {"y", {0}}}};
        Data forward = data;
        test::run(trace(def), forward, 1);
        CHECK(forward.real["y"][0] == expected);
        CHECK(run_adjoint(trace(def), data, 1, {{"y", {1}}}).real["z.a1"][0] == expected);
    }
}

TEST_CASE("the primal recomputed inside the adjoint's loops and branches has the forward's bits") {
    // Chaotic: a difference in the last bit grows to order 1 within 60 trips.
    const auto def = kernel("chaos", {"x", "unit", "out"},
                            [](Int i, Read<Float> x, Read<Float> unit, Accumulate<Float> out) {
                                Float s = x[i];
                                for_(0, 10, [&](Int k) {
                                    for_(0, 10, [&](Int j) {
                                        if_(
                                            s < 0.5, [&] { s = 3.99 * s * (1.0 - s) + 1e-9; },
                                            [&] { s = s * 3.99 - 3.99 * s * s; });
                                        out[i * 100 + k * 10 + j] += s * unit[i * 100 + k * 10 + j];
                                    });
                                });
                            });
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        const ir::Kernel k = def.trace(precision);
        const Data data{
            .real = {{"x", {0.3, 0.7}}, {"unit", Numbers(200, 1)}, {"out", Numbers(200, 0)}}};
        Data forward = data;
        test::run(k, forward, 2);
        const Data reverse = run_adjoint(k, data, 2, {{"out", Numbers(200, 1)}}, {"unit", "out"});
        CHECK(same_bits(forward.real["out"], reverse.real.at("unit.a1")));
    }
}

TEST_CASE("an infinity times a folded zero is NaN, in the primal and in its derivatives") {
    const auto def = kernel("times_zero", {"x", "y"},
                            [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * 0.0; });
    Data data{.real = {{"x", {infinity, 2, -3}}, {"y", {0, 0, 0}}}};
    const Data d = run_adjoint(trace(def), data, 3, {{"y", {1, infinity, 1}}});
    test::run(trace(def), data, 3);
    CHECK(std::isnan(data.real["y"][0]));
    CHECK(same_bits(data.real["y"][1], 0.0));
    CHECK(same_bits(data.real["y"][2], -0.0));
    CHECK(d.real.at("x.a1")[0] == 0);
    CHECK(std::isnan(d.real.at("x.a1")[1]));  // an infinite seed is not hidden
}

TEST_CASE("an infinity times a zero that only simplification sees is NaN") {
    // s is the literal 0 through a loop that never changes it, and through branches that agree.
    const auto def = kernel("hidden_zero", {"x", "n", "y"},
                            [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
                                Float s = 0, t = 0;
                                for_(
                                    0, n[i], [&](Int) { s = s * 1.0; }, 5);
                                if_(
                                    x[i] > 0, [&] { t = s; }, [&] { t = 0; });
                                y[i] = x[i] * t;
                            });
    Data data{.real = {{"x", {infinity, -2}}, {"y", {1, 1}}}, .whole = {{"n", {3, 0}}}};
    test::run(trace(def), data, 2);
    CHECK(std::isnan(data.real["y"][0]));
    CHECK(same_bits(data.real["y"][1], -0.0));
}

TEST_CASE("rule 15: x + 0 is kept, x - 0 and x + (-0) are x, for the sign of zero") {
    const auto def = kernel("signs", {"x", "y"}, [](Int i, Read<Float> x, Write<Vec4> y) {
        y[i] = Vec4(x[i] + 0.0, x[i] - 0.0, x[i] + -0.0, x[i] * -1.0);
    });
    Data data{.real = {{"x", {-0.0, 0.0}}, {"y", Numbers(8, 9)}}};
    test::run(trace(def), data, 2);
    CHECK(same_bits(data.real["y"], {0.0, -0.0, -0.0, 0.0, 0.0, 0.0, 0.0, -0.0}));
}

TEST_CASE("rule 16: adjoints are added in reverse order of the ops, whatever their numbers") {
    // x.a1 = ((g c3) + g c2) + g c1 = (-1e16 + 1e16) + 1 = 1; in any other order it is 0.
    const auto in_order = kernel("in_order", {"x", "y"}, [](Int i, Read<Float> x, Write<Vec3> y) {
        y[i].x() = sin(x[i]);
        y[i].y() = 1e16 * x[i];
        y[i].z() = x[i] * -1e16;
    });
    const Data data{.real = {{"x", {0}}, {"y", {0, 0, 0}}}};
    // Own elements are stored in order of component: stored last, added first.
    CHECK(run_adjoint(trace(in_order), data, 1, {{"y", {1, 1, 1}}}).real["x.a1"][0] == 1);
    const auto sums = kernel("sums", {"x", "e"}, [](Int i, Read<Float> x, Reduce<Float> e) {
        e += sin(x[i]);
        e += 1e16 * x[i];
        e += x[i] * -1e16;
    });
    CHECK(run_adjoint(trace(sums), {.real = {{"x", {0}}, {"e", {0}}}}, 1, {{"e", {1}}})
              .real["x.a1"][0] == 1);
    // The same statements after dead ones that number the values otherwise.
    const auto renumbered =
        kernel("renumbered", {"x", "e"}, [](Int i, Read<Float> x, Reduce<Float> e) {
            [[maybe_unused]] const Float dead = x[i] * -1e16 + sin(x[i]) * 1e16;
            e += sin(x[i]);
            e += x[i] * 1e16;
            e += -1e16 * x[i];
        });
    const double found =
        run_adjoint(trace(renumbered), {.real = {{"x", {0}}, {"e", {0}}}}, 1, {{"e", {1}}})
            .real["x.a1"][0];
    CHECK_MESSAGE(found == 1, found);
}

TEST_CASE("rule 16: variables that a branch changes are merged in order of declaration") {
    // Both kernels declare p before q; one assigns q first.
    const auto def = [](bool q_first) {
        return kernel("merged", {"x", "e"}, [q_first](Int i, Read<Vec3> x, Reduce<Float> e) {
            Float p = x[i].x(), q = x[i].y();
            const auto assign_p = [&] { p = x[i].z() * x[i].x(); };
            const auto assign_q = [&] { q = x[i].z() * x[i].y(); };
            if_(x[i].x() > 0, [&] {
                if (q_first)
                    assign_q(), assign_p();
                else
                    assign_p(), assign_q();
            });
            e += p + q;
        });
    };
    const ir::Kernel p_first = trace(def(false)), q_first = trace(def(true));
    for (const ir::Kernel& k : {p_first, q_first}) {
        for (const ir::Value v : k.region(0).ops) {
            if (k.op(v).code != ir::OpCode::if_) continue;
            const std::vector<ir::Value>& otherwise = k.region(k.nest(k.op(v)).region[1]).yields;
            REQUIRE(otherwise.size() == 2);
            CHECK(k.op(otherwise[0]).component == 0);  // x.x
            CHECK(k.op(otherwise[1]).component == 1);
        }
    }
}

TEST_CASE("operands of min and max are never exchanged") {
    const auto def = kernel("ties", {"x", "y"}, [](Int i, Read<Vec2> x, Write<Vec4> y) {
        const Float first = x[i].x(), second = x[i].y();
        y[i] = Vec4(min(first, second), min(second, first), max(first, second), max(second, first));
    });
    Data data{.real = {{"x", {0.0, -0.0}}, {"y", Numbers(4, 9)}}};
    test::run(trace(def), data, 1);
    CHECK(same_bits(data.real["y"], {0.0, -0.0, 0.0, -0.0}));
}

TEST_CASE("the tangent kernel computes the primal's bits beside it") {
    const auto def = kernel("beside", {"x", "y"}, [](Int i, Read<Vec2> x, Write<Float> y) {
        Float s = x[i].x() * x[i].y();
        for_(0, 20, [&](Int) { s = s * x[i].x() + x[i].y() / (s + 1.5); });
        y[i] = s;
    });
    Data plain{.real = {{"x", {0.3, 0.9, 1.1, 0.2}}, {"y", {0, 0}}}};
    const Data t = run_tangent(trace(def), plain, 2, {{"x", {1, 2, 3, 4}}});
    const Data tt = run_tangent(ad::tangent(trace(def)), t, 2, {{"x", {1, 2, 3, 4}}});
    test::run(trace(def), plain, 2);
    CHECK(same_bits(plain.real["y"], t.real.at("y")));
    CHECK(same_bits(plain.real["y"], tt.real.at("y")));
    CHECK(same_bits(t.real.at("y.t1"), tt.real.at("y.t1")));
}
