// The patterns that differentiable simulators get wrong, each through the generic checker (forward,
// reverse, differences, both routes to second order, third order) and, where the answer is short,
// against its closed form.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/ad/differentiate.hpp"
#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using test::Case;

namespace {

void check(const KernelDef& def, Case c, const test::CheckOptions& options = {}) {
    c.kernel = def.trace(ir::Precision::f64);
    std::mt19937_64 random(7);
    const test::Data base = test::inputs(c, random);
    for (const std::string& problem : test::check_kernel(c, base, random, options))
        FAIL_CHECK(problem);
}

// d (sum of seeds * outputs) / d inputs for one run.
test::Data gradients(const KernelDef& def, std::int64_t items, test::Data data,
                     const std::map<std::string, std::vector<double>>& seeds) {
    const ir::Kernel k = def.trace(ir::Precision::f64), a = ad::adjoint(k);
    for (const ir::Parameter& p : k.parameters)
        if (ir::is_real(p.type)) data.real[p.name + ".a1"].assign(data.real.at(p.name).size(), 0.0);
    for (const auto& [name, s] : seeds) data.real[name + ".a1"] = s;
    test::run(a, data, items);
    return data;
}

}  // namespace

TEST_CASE("component of a local vector: t[0] += a[0]") {
    const auto def = kernel("component_add", {"a", "y"}, [](Int i, Read<Vec3> a, Write<Float> y) {
        Vec3 t(1.0, 2.0, 3.0);
        t[0] += a[i][0];
        t[0] += a[i][1] * t[0];
        y[i] = t[0];
    });
    check(def, {.items = 3});
    // y = (1 + a0)(1 + a1)
    const auto d = gradients(def, 1, {.real = {{"a", {2, 5, 0}}, {"y", {0}}}}, {{"y", {1}}});
    CHECK(d.real.at("a.a1") == std::vector<double>{6, 3, 0});
    CHECK(d.real.at("y.a1") == std::vector<double>{0});  // stored, so its adjoint is taken
}

TEST_CASE("the same component overwritten several times") {
    const auto def = kernel("overwrite", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Vec3> y) {
        Vec3 v = x[i];
        v.x() = v.y() * v.z();
        v[1] += v.x() * v.x();
        v.x() = sin(v[1]);
        v.z() = v.x() * v.y();
        v.x() = v.x() * v.x();
        y[i] = v;
    });
    check(def, {.items = 3});
}

TEST_CASE("v[k] = v[k] + x in a loop with a traced k") {
    const auto def = kernel("traced_component", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Vec3> y) {
        Vec3 v = x[i];
        for_(0, 10, [&](Int k) {
            const Int j = k % 3;
            v[j] = v[j] + x[i].y() * v[(k + 1) % 3];
        });
        y[i] = v;
    });
    check(def, {.items = 2});
}

TEST_CASE("components of an array element: buf[i].y = s, buf[i].x += s, in place *= and /=") {
    const auto def =
        kernel("element_components", {"x", "y"}, [](Int i, Read<Float> x, ReadWrite<Vec3> y) {
            y[i].y() = x[i] * y[i].x();
            y[i].x() += y[i].y() * x[i];
            y[i].z() *= y[i].x();
            y[i].z() *= y[i].z();
            y[i].z() /= x[i];
            Float local = y[i].z();
            local *= x[i];
            local /= y[i].y();
            y[i].z() = local;
        });
    check(def, {.items = 3});
    const auto simple = kernel("own_scale", {"x", "y"},
                               [](Int i, Read<Float> x, ReadWrite<Float> y) { y[i] *= x[i]; });
    const auto d = gradients(simple, 1, {.real = {{"x", {3}}, {"y", {5}}}}, {{"y", {1}}});
    CHECK(d.real.at("x.a1")[0] == 5);
    CHECK(d.real.at("y.a1")[0] == 3);
}

TEST_CASE("own element written under conditions in a loop") {
    check(kernel("conditional_own", {"x", "y"},
                 [](Int i, Read<Float> x, ReadWrite<Vec2> y) {
                     for_(0, 12, [&](Int k) {
                         if_(
                             k % 2 == 0, [&] { y[i].x() += y[i].y() * x[i]; },
                             [&] { y[i].y() = y[i].x() * x[i]; });
                     });
                 }),
          {.items = 2});
}

TEST_CASE("loop-carried product") {
    const auto def =
        kernel("product", {"x", "n", "y"}, [](Int i, Read<Vec2> x, Read<Int> n, Write<Float> y) {
            Float p = 1;
            for_(
                0, n[i], [&](Int) { p = p * x[i].x() + x[i].y(); }, 8);
            y[i] = sin(p) * p;
        });
    check(def, {.items = 4, .whole = {{"n", {0, 1, 3, 5}}}});
    const auto power =
        kernel("power", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            Float p = 1;
            for_(
                0, n[i], [&](Int) { p *= x[i]; }, 100);
            y[i] = p;
        });
    const auto d = gradients(
        power, 3, {.real = {{"x", {2, 3, 5}}, {"y", {0, 0, 0}}}, .whole = {{"n", {10, 4, 0}}}},
        {{"y", {1, 1, 1}}});
    CHECK(d.real.at("x.a1") == std::vector<double>{10 * 512.0, 4 * 27.0, 0});
}

TEST_CASE("accumulator used nonlinearly inside the loop and after it") {
    check(kernel("inside", {"x", "n", "y"},
                 [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
                     Float s = 0;
                     for_(
                         0, n[i], [&](Int k) { s += sin(s) * x[k] + x[k] * x[i]; }, 4);
                     y[i] = s * s * s;
                 }),
          {.items = 4, .whole = {{"n", {0, 1, 3, 4}}}});
    // (sum x - 1)^2 over 32 elements in a dynamic loop: the gradient is 2 (sum x - 1)
    const auto def = kernel("sum_then_square", {"x", "n", "y"},
                            [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
                                Float s = 0;
                                for_(0, n[i], [&](Int k) { s += x[k]; });
                                y[i] = (s - 1.0) * (s - 1.0);
                            });
    const auto d = gradients(
        def, 1, {.real = {{"x", std::vector<double>(32, 0.5)}, {"y", {0}}}, .whole = {{"n", {32}}}},
        {{"y", {1}}});
    for (const double g : d.real.at("x.a1")) CHECK(g == 30);
}

TEST_CASE("a value from before a loop used after it") {
    const auto def = kernel("before_after", {"x", "n", "y"},
                            [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
                                Float before = exp(x[i]);
                                Float s = before;
                                for_(
                                    0, n[i], [&](Int) { s = sin(s) * before; }, 6);
                                before = before * s;
                                y[i] = before + s;
                            });
    check(def, {.items = 4, .whole = {{"n", {0, 1, 2, 6}}}});
}

TEST_CASE("nested dynamic loops with bounds read from a buffer") {
    check(kernel("nested_loops", {"x", "n", "y"},
                 [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
                     Float s = x[i];
                     for_(
                         0, n[i],
                         [&](Int k) {
                             Float q = s;
                             for_(
                                 0, n[k],
                                 [&](Int j) {
                                     q = q * x[j] + s;
                                     s += sin(q);
                                 },
                                 4);
                             s = s * 0.5 + q;
                         },
                         4);
                     y[i] = s;
                 }),
          {.items = 4, .whole = {{"n", {2, 0, 3, 4}}}});
}

TEST_CASE("while_ with an early end: Newton's square root") {
    check(kernel("newton_sqrt", {"x", "y"},
                 [](Int i, Read<Float> x, Write<Float> y) {
                     Float s = x[i];
                     Int k = 0;
                     while_([&] { return abs(s * s - x[i]) > 0.01; },
                            [&] {
                                s = (s + x[i] / s) * 0.5;
                                k += 1;
                            },
                            20);
                     y[i] = s * Float(k);
                 }),
          {.items = 5});
}

TEST_CASE("branches that assign different variables") {
    check(kernel("branches", {"x", "y"},
                 [](Int i, Read<Vec3> x, Write<Float> y) {
                     Float a = x[i].x(), b = x[i].y();
                     if_(
                         x[i].z() < 0.8,
                         [&] {
                             a = a * b;
                             if_(a < 0.5, [&] { b = sin(a); });
                         },
                         [&] { b = b * b * a; });
                     y[i] = a * b;
                 }),
          {.items = 6});
}

TEST_CASE("two-variable recurrence: carried values that swap") {
    check(kernel("swap", {"x", "y"},
                 [](Int i, Read<Vec2> x, Write<Vec2> y) {
                     Float a = x[i].x(), b = x[i].y();
                     for_(0, 11, [&](Int k) {
                         const Float t = a;
                         a = b;
                         b = sin(t * b);
                         if_(k == 3, [&] { a = 0.7; });
                     });
                     y[i] = Vec2(a, b);
                 }),
          {.items = 3});
}

TEST_CASE("spring forces, scattered to both ends") {
    const auto def = kernel(
        "spring_force", {"ends", "rest_length", "stiffness", "x", "v", "damping", "force"},
        [](Int s, Read<Int2> ends, Read<Float> rest_length, Property<Float> stiffness, Read<Vec3> x,
           Read<Vec3> v, Param<Float> damping, Accumulate<Vec3> force) {
            const Int a = ends[s].x(), b = ends[s].y();
            const Vec3 d = x[b] - x[a];
            const Float length = norm(d).name("length");
            const Vec3 f =
                d / length *
                (stiffness[s] * (length - rest_length[s]) + damping * dot(v[b] - v[a], d) / length);
            force[a] += f;
            force[b] -= f;
        });
    const Case c{.items = 3,
                 .sizes = {{"x", 4}, {"v", 4}, {"force", 4}},
                 .whole = {{"ends", {0, 1, 1, 2, 2, 3}}}};
    check(def, c);
    Case shared = c;
    shared.kernel = def.trace(ir::Precision::f64, {"stiffness"});
    std::mt19937_64 random(3);
    const test::Data base = test::inputs(shared, random);
    for (const std::string& problem : test::check_kernel(shared, base, random)) FAIL_CHECK(problem);
}

TEST_CASE("parameter used in a loop, summed over items by a reduction") {
    check(kernel("parameter_loop", {"x", "p", "energy"},
                 [](Int i, Read<Float> x, Param<Float> p, Reduce<Float> energy) {
                     Float s = x[i];
                     for_(0, 15, [&](Int) { s = s * p + sin(p); });
                     energy += s * s * p;
                 }),
          {.items = 4});
}

TEST_CASE("accumulation in nested control flow") {
    check(kernel("nested_accumulate", {"x", "n", "f"},
                 [](Int i, Read<Float> x, Read<Int> n, Accumulate<Float> f) {
                     Float s = x[i];
                     for_(
                         0, n[i],
                         [&](Int k) {
                             s = s * x[k];
                             f[k] += s * s;
                             if_(s < 0.5, [&] {
                                 f[i] += s * x[k];
                                 s += 0.3;
                             });
                         },
                         4);
                 }),
          {.items = 4, .whole = {{"n", {2, 0, 3, 4}}}});
}

TEST_CASE("slices: elements that an item owns, stored in a loop") {
    check(kernel("slices", {"x", "n", "y"},
                 [](Int i, Read<Float> x, Read<Int> n, WriteSlice<Float> y) {
                     Float s = x[i];
                     for_(
                         0, n[i],
                         [&](Int k) {
                             s = s * x[k];
                             if_(s < 0.8, [&] { y.store_once(i * 4 + k, s * s); });
                         },
                         4);
                 }),
          {.items = 4, .sizes = {{"y", 16}}, .whole = {{"n", {2, 0, 3, 4}}}});
}

TEST_CASE("grad in a kernel") {
    check(kernel("in_kernel_grad", {"x", "y"},
                 [](Int i, Read<Vec2> x, Write<Vec3> y) {
                     const Float a = ad::variable(x[i].x()), b = ad::variable(x[i].y());
                     Float e = 0.5 * (a * a * b) + sin(a * b);
                     if_(
                         a < b, [&] { e = e * a; }, [&] { e += b * b * b; });
                     for_(0, 12, [&](Int) { e = sin(e) * a + b; });
                     const auto g = ad::gradient(e, {a, b});
                     y[i] = Vec3(e, g[0], g[1]);
                 }),
          {.items = 4}, {.order = 2});
    check(kernel("in_kernel_hessian", {"x", "y"},
                 [](Int i, Read<Vec2> x, Write<Float> y) {
                     Float s = 0;
                     for_(0, 3, [&](Int k) {
                         const Float a = ad::variable(x[i].x() + s), b = ad::variable(x[k].y());
                         const auto h = ad::hessian(a * a * sin(b * a), {a, b});
                         s += h[0][0] * h[0][1] * 0.2 + h[1][1];
                     });
                     y[i] = s;
                 }),
          {.items = 3}, {.order = 2});
}

TEST_CASE("custom gradients and implicit roots, to second order") {
    check(kernel("custom", {"x", "y"},
                 [](Int i, Read<Float> x, Write<Float> y) {
                     const Float v = x[i];
                     const auto out = ad::custom_gradient(
                         {v * v}, [](const ad::Floats& in) { return ad::Floats{exp(in[0])}; },
                         [](const ad::Floats& seeds, const ad::Floats&, const ad::Floats& outputs) {
                             return ad::Floats{seeds[0] * outputs[0]};
                         });
                     y[i] = out[0] * v;
                 }),
          {.items = 3}, {.order = 2});
    check(
        kernel("root", {"x", "y"},
               [](Int i, Read<Float> x, Write<Float> y) {
                   // y^3 + y = x, by Newton's method
                   y[i] = ad::implicit_root(
                       {x[i]},
                       [](const ad::Floats& in) {
                           Float s = in[0];
                           while_([&] { return abs(s * s * s + s - in[0]) > 1e-14; },
                                  [&] { s -= (s * s * s + s - in[0]) / (3.0 * s * s + 1.0); }, 50);
                           return s;
                       },
                       [](const Float& s, const ad::Floats& in) { return s * s * s + s - in[0]; });
               }),
        {.items = 3}, {.order = 2});
}
