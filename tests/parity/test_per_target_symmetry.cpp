// Kernels that look the same from both ends (engine/backend/cpu/per_target/symmetry.hpp): which
// they are, and that taking the target for the first end leaves every bit, the signs of zeros too.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/ad/differentiate.hpp"
#include "engine/ad/grad.hpp"
#include "engine/backend/cpu/per_target/symmetry.hpp"
#include "engine/backend/cpu/per_target/target_loop.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/lowering.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

namespace {

bool symmetric(const ir::Kernel& kernel) {
    const ir::Kernel lowered = lang::lower(kernel, lang::Lowering::all);
    const auto plan = backend::make_plan(lowered, backend::usual_form(lowered), {.width = 4},
                                         {backend::fixed_point_parameters(kernel)});
    const backend::cpu::PerTarget per_target = backend::cpu::split_per_target(plan);
    REQUIRE(per_target.groups.size() == 1);
    return backend::cpu::is_symmetric(plan, per_target.groups[0]);
}

// Adds at(d, x_a, x_b) to end a and the other to end b.
template <class F>
ir::Kernel pairs(const F& terms) {
    return kernel(
               "pairs", {"ends", "w", "x", "sum"},
               [&terms](Int s, Read<Int2> ends, Read<Float> w, Read<Vec3> x, Accumulate<Vec3> sum) {
                   const Int a = ends[s].x(), b = ends[s].y();
                   const auto [at_a, at_b] = terms(Vec3(x[a]), Vec3(x[b]), Float(w[s]));
                   sum[a] += at_a;
                   sum[b] += at_b;
               })
        .trace(Precision::f32);
}
using Two = std::pair<Vec3, Vec3>;

ir::Kernel damped_springs(Precision precision) {
    return kernel("springs", {"ends", "rest", "k", "x", "v", "force"},
                  [](Int s, Read<Int2> ends, Read<Float> rest, Param<Float> k, Read<Vec3> x,
                     Read<Vec3> v, Accumulate<Vec3> force) {
                      const Int a = ends[s].x(), b = ends[s].y();
                      const Vec3 d = x[b] - x[a];
                      const Float length = norm(d);
                      const Float rate = divz(dot(v[b] - v[a], d), length);
                      const Float tension =
                          k.value() * (1.0 - divz(rest[s], length)) + divz(rate, length);
                      Vec3 f;
                      for (int c = 0; c < 3; ++c) f[c] = mulg(d[c], tension);
                      force[a] += f;
                      force[b] -= f;
                  })
        .trace(precision);
}

}  // namespace

TEST_CASE("symmetric kernels are found") {
    const auto is = [](const auto& terms) { return symmetric(pairs(terms)); };
    CHECK(is([](Vec3 a, Vec3 b, Float w) { return Two(w * (b - a), w * (a - b)); }) == false);
    CHECK(is([](Vec3 a, Vec3 b, Float w) {
        const Vec3 f = w * (b - a);
        return Two(f, -f);
    }));
    CHECK(is([](Vec3 a, Vec3 b, Float w) {  // the same on both, of the distance
        const Vec3 f(w * norm(b - a), dot(b - a, b - a), abs(b.x() - a.x()));
        return Two(f, f);
    }));
    CHECK(is([](Vec3 a, Vec3 b, Float) { return Two(b, a); }));
    CHECK(is([](Vec3 a, Vec3 b, Float) { return Two(a, b); }));
    CHECK(is([](Vec3 a, Vec3 b, Float) { return Two(a + b, b + a); }));
    CHECK(is([](Vec3 a, Vec3 b, Float w) {  // a rope
        const Vec3 d = b - a;
        const Vec3 f = d * select(norm(d) > w, w, Float(0));
        return Two(f, -f);
    }));
    CHECK(is([](Vec3 a, Vec3 b, Float w) {  // a spring written as its energy
        const Vec3 xa = ad::variable(a), xb = ad::variable(b);
        const Float stretch = norm(xb - xa) - w;
        const Float energy = 0.5 * stretch * stretch;
        return Two(-ad::grad(energy, xa), -ad::grad(energy, xb));
    }));
    // What looks otherwise from the other end.
    CHECK(!is([](Vec3 a, Vec3 b, Float w) {
        const Vec3 f = w * (b - a);
        return Two(f, f);
    }));
    CHECK(!is([](Vec3 a, Vec3 b, Float w) {
        const Vec3 f = w * (b - a);
        return Two(f, -2.0 * f);
    }));
    CHECK(!is([](Vec3 a, Vec3 b, Float w) {
        const Vec3 f = w * norm(b - a) * Vec3(1.0, 0.0, 1.0);
        return Two(f, -f);
    }));
    CHECK(!is([](Vec3 a, Vec3 b, Float w) {  // which end is higher
        const Vec3 d = b - a;
        const Vec3 f = d * select(d.y() > 0.0, w, Float(1));
        return Two(f, -f);
    }));
    CHECK(!is([](Vec3 a, Vec3 b, Float) { return Two(-b, a); }));
    CHECK(!is([](Vec3 a, Vec3 b, Float w) {
        const Vec3 f = w * (b - a) * a.x();
        return Two(f, -f);
    }));
    CHECK(!is([](Vec3 a, Vec3 b, Float w) {  // over a zero, its sign counts
        const Vec3 d = b - a;
        const Vec3 f = (w / d.x()) * d;
        return Two(f, f);
    }));
    CHECK(!is([](Vec3 a, Vec3 b, Float w) {
        const Vec3 d = w * (b - a);
        const Vec3 f(floor(d.x()), floor(d.y()), floor(d.z()));
        return Two(f, -f);
    }));
}

TEST_CASE("per target: symmetric springs and their adjoints have the definition's bits") {
    HINDCAST_NEEDS_LLVM();
    std::mt19937 random(3);
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel k = damped_springs(precision);
        const ir::Kernel a = ad::adjoint(k, {"x", "v", "force"});
        CHECK(symmetric(k));
        CHECK(symmetric(a));
        for (const std::int64_t points : {40, 150}) {
            const std::int64_t items = 3 * points;
            std::vector<double> ends;
            for (std::int64_t i = 0; i < 2 * items; ++i)
                ends.push_back(static_cast<double>(random() % static_cast<unsigned>(points)));
            for (const ir::Kernel& kernel : {k, a, ad::adjoint(k, {"x", "v", "k", "force"})}) {
                Launch launch(kernel, items);
                // Many points meet in some components or in all, and many sums start at -0 or 0:
                // the sign of a zero shows.
                for (const ir::Parameter& p : kernel.parameters) {
                    if (p.components != 3) continue;
                    std::vector<double> values(static_cast<std::size_t>(3 * points));
                    for (double& x : values)
                        x = p.access == ir::Access::accumulate
                                ? (random() % 3 == 0 ? -0.0 : static_cast<double>(random() % 3))
                                : static_cast<double>(random() % 3) - 1;
                    launch.set(p.name, values);
                }
                launch.set("ends", ends);
                CHECK(launch.differences(false, {1, 2}) == "");
            }
        }
    }
}

TEST_CASE("per target: adjoints hold their zeros against infinity and NaN") {
    HINDCAST_NEEDS_LLVM();
    std::mt19937 random(5);
    const double inf = std::numeric_limits<double>::infinity();
    const double values_of[] = {0, 0, -0.0, 0, 1, -1, 2, inf, -inf, std::nan("")};
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel k = damped_springs(precision);
        for (const ir::Kernel& kernel : {ad::adjoint(k, {"x", "v", "force"}),
                                         ad::adjoint(k, {"x", "v", "k", "rest", "force"})}) {
            CHECK(symmetric(kernel));
            for (const std::int64_t points : {50, 2000})
                for (const unsigned kinds : {4u, 7u, 10u}) {  // without and with those
                    const std::int64_t items = 3 * points;
                    std::vector<double> ends;
                    for (std::int64_t i = 0; i < items; ++i) {  // near each other, or the same
                        const auto a = static_cast<std::int64_t>(random()) % points;
                        ends.push_back(static_cast<double>(a));
                        ends.push_back(static_cast<double>((a + random() % 9) % points));
                    }
                    Launch launch(kernel, items);
                    const auto draw = [&](std::int64_t count, bool singular) {
                        std::vector<double> values(static_cast<std::size_t>(count));
                        for (double& x : values)
                            x = values_of[random() % (singular && random() % 8 == 0 ? kinds : 7)];
                        return values;
                    };
                    for (const ir::Parameter& p : kernel.parameters)
                        if (p.components == 3)
                            launch.set(p.name, draw(3 * points, p.access == ir::Access::read));
                    launch.set("rest", draw(items, false)).set("ends", ends);
                    CHECK(launch.differences(false, {1, 2}) == "");
                }
        }
    }
}

TEST_CASE("per target: sums that start at -0 and to which only zeros are added") {
    HINDCAST_NEEDS_LLVM();
    // In row 0 a term +0, in row 1 a term -0: what a sum ends at says which it met.
    const ir::Kernel k = pairs([](Vec3 a, Vec3 b, Float w) {
        const Vec3 f = w * (b - a);
        return Two(f, -f);
    });
    CHECK(symmetric(k));
    const std::int64_t points = 70;
    std::vector<double> ends;
    for (std::int64_t i = 0; i + 1 < points; i += 2) {
        ends.push_back(static_cast<double>(i));
        ends.push_back(static_cast<double>(i + 1));
    }
    Launch launch(k, static_cast<std::int64_t>(ends.size()) / 2);
    launch.set("ends", ends)
        .set("w", std::vector<double>(ends.size() / 2, 2.0))
        .set("x", std::vector<double>(3 * points, 1.5))
        .set("sum", std::vector<double>(3 * points, -0.0));
    CHECK(launch.differences(false, {1, 2}) == "");
    const auto bits = launch.run(*backend::compile_cpu(k)).back();
    CHECK(bits[0] == 0);                                 // -0 + 0
    CHECK(bits[3] == ir::bits_of(-0.0, ir::Type::f32));  // -0 + -0
}

TEST_CASE("CPU: terms of neighboring items are stored at once, others one by one") {
    HINDCAST_NEEDS_LLVM();
    const ir::Kernel k =
        kernel("placed", {"ends", "x", "sum", "total"},
               [](Int s, Read<Int2> ends, Read<Float> x, Sum<Float> sum, Reduce<Float> total) {
                   const Int a = ends[s].x(), b = ends[s].y();
                   const Float f = x[b] - x[a];
                   sum[a] += f;
                   sum[b] -= f;
                   total += f * f;
               })
            .trace(Precision::f32);
    CHECK(symmetric(k));
    // A chain: the item at a point's first slot is that of its neighbor and one; then the same
    // with some items exchanged.
    const int points = 200;
    for (const int step : {1, 7, 33}) {
        std::vector<double> ends;
        for (int i = 0; i + 1 < points; ++i) {
            const int p = step == 1 ? i : i * step % (points - 1);
            ends.push_back(p);
            ends.push_back(p + 1);
        }
        Launch launch(k, points - 1);
        launch.set("ends", ends);
        std::vector<double> x;
        for (int i = 0; i < points; ++i) x.push_back(0.01 * i * (i % 5));
        launch.set("x", x).resize("sum", points);
        CHECK(launch.differences(false, {1, 2}) == "");
    }
}

}  // namespace hindcast::test
