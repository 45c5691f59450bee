// Rules of differentiation that gave silently wrong numbers in other tools or in trials, each by
// the name of what it says: singular points, grad() by variables, gated adjoints, clearing of own
// elements and slices, access of adjoints. Loops are in test_loop_rules.cpp, equal bits in
// test_exactness.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/ad/differentiate.hpp"
#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::OpCode;
using ir::Precision;
using test::Data;
using test::run_adjoint;
using test::run_tangent;
using Numbers = std::vector<double>;

namespace {

// Hessian times direction of a kernel with input x and seeds of 1 on `output`, by both routes,
// which must agree.
Numbers hessian_product(const ir::Kernel& kernel, Data data, std::int64_t items,
                        const std::string& output, const Numbers& direction) {
    data.real["x.a1"].assign(data.real["x"].size(), 0.0);
    data.real[output + ".a1"].assign(data.real[output].size(), 1.0);
    const ir::Kernel ka = ad::adjoint(kernel, {"x", output});
    const std::vector<std::string> active{"x", "x.a1"};
    const Numbers forward =
        run_tangent(ka, data, items, {{"x", direction}}, active).real["x.a1.t1"];
    const Numbers reverse =
        run_adjoint(ka, data, items, {{"x.a1", direction}}, active).real["x.a2"];
    CHECK(forward == reverse);
    return forward;
}

ir::Access access_of(const ir::Kernel& kernel, const std::string& name) {
    const int p = kernel.find_parameter(name);
    REQUIRE_MESSAGE(p >= 0, name);
    return kernel.parameter(p).access;
}

bool uses(const ir::Kernel& kernel, const std::string& name) {
    return ad::used_parameters(kernel)[static_cast<std::size_t>(kernel.find_parameter(name))] != 0;
}

}  // namespace

TEST_CASE("rule 1: zero at singular points is two ops: the Hessian of a spring at rest length") {
    // E = 1/2 k (|x| - L)^2 has the Hessian k ((1 - L/l) I + L/l n n^T), which is k n n^T at l = L.
    const auto spring =
        kernel("spring_energy", {"x", "energy"}, [](Int i, Read<Vec2> x, Reduce<Float> energy) {
            const Float stretch = norm(x[i]) - 2.0;
            energy += 5.0 * stretch * stretch;
        });
    const Data rest{.real = {{"x", {2, 0}}, {"energy", {0}}}};
    const ir::Kernel k = spring.trace(Precision::f64);
    CHECK(run_adjoint(k, rest, 1, {{"energy", {1}}}).real["x.a1"] == Numbers{0, 0});
    CHECK(hessian_product(k, rest, 1, "energy", {1, 0}) == Numbers{10, 0});
    CHECK(hessian_product(k, rest, 1, "energy", {0, 1}) == Numbers{0, 0});

    // The force form, with the stiffness 10 in the same place; d f_x / d x = k again.
    const auto force = kernel("spring_force", {"x", "f"}, [](Int i, Read<Vec2> x, Write<Vec2> f) {
        f[i] = normalize(x[i]) * (10.0 * (norm(x[i]) - 2.0));
    });
    const Data d = run_tangent(force.trace(Precision::f64),
                               {.real = {{"x", {2, 0}}, {"f", {0, 0}}}}, 1, {{"x", {1, 0}}});
    CHECK(d.real.at("f.t1") == Numbers{10, 0});
}

TEST_CASE(
    "rule 1: a zero-length spring of zero rest length has the Hessian product of its harmonic "
    "form") {
    // E = 1/2 k |x|^2 written through the norm: gradient and Hessian product at 0 are finite and
    // the same both ways.
    const auto def =
        kernel("zero_length", {"x", "energy"}, [](Int i, Read<Vec3> x, Reduce<Float> energy) {
            const Float l = norm(x[i]);
            energy += 0.5 * l * l;
        });
    const ir::Kernel k = def.trace(Precision::f64);
    const Data at_zero{.real = {{"x", {0, 0, 0}}, {"energy", {0}}}};
    CHECK(run_adjoint(k, at_zero, 1, {{"energy", {1}}}).real["x.a1"] == Numbers{0, 0, 0});
    for (const double h : hessian_product(k, at_zero, 1, "energy", {1, 0, 0}))
        CHECK(std::isfinite(h));
    const Data near_zero{.real = {{"x", {1e-150, 0, 0}}, {"energy", {0}}}};
    CHECK(hessian_product(k, near_zero, 1, "energy", {1, 0, 0}) == Numbers{1, 0, 0});
}

TEST_CASE("rule 2: grad() takes variables: two loads of one element stay two variables") {
    const auto def = kernel("two_variables", {"x", "g"}, [](Int i, Read<Float> x, Write<Vec2> g) {
        const Float a = ad::variable(x[i]), b = ad::variable(x[i]);
        const auto d = ad::gradient(a * a * b, {a, b});
        g[i] = Vec2(d[0], d[1]);
    });
    Data data{.real = {{"x", {3}}, {"g", {0, 0}}}};
    test::run(def.trace(Precision::f64), data, 1);
    CHECK(data.real["g"] == Numbers{18, 9});  // 2ab and a^2
}

TEST_CASE("rule 2: grad() inside a loop is that of the trip it stands in") {
    // v = variable(s) in each trip, e = s_old-independent: g = 2 v + x of this trip only.
    const auto def =
        kernel("per_trip", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            Float s = x[i];
            for_(
                0, n[i],
                [&](Int) {
                    const Float v = ad::variable(s);
                    s = ad::grad(v * v + x[i] * v, v);
                },
                10);
            y[i] = s;
        });
    Data data{.real = {{"x", {1}}, {"y", {0}}}, .whole = {{"n", {3}}}};
    test::run(def.trace(Precision::f64), data, 1);
    CHECK(data.real["y"][0] == 15);  // s -> 2s + 1: 1, 3, 7, 15
}

TEST_CASE("grad() of grad() through a loop: the tape of the first has an adjoint in the second") {
    const auto def = kernel("power_12", {"x", "y"}, [](Int i, Read<Float> x, Write<Vec3> y) {
        const Float a = ad::variable(x[i]);
        Float p = 1;
        for_(0, 12, [&](Int) { p = p * a; });
        const auto h = ad::hessian(p, {a});
        y[i] = Vec3(p, ad::grad(p, a), h[0][0]);
    });
    Data data{.real = {{"x", {2}}, {"y", {0, 0, 0}}}};
    test::run(def.trace(Precision::f64), data, 1);
    CHECK(data.real["y"] == Numbers{4096, 12 * 2048, 132 * 1024});
}

TEST_CASE("rule 4: an adjoint of zero that comes through select meets an infinite derivative") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    struct Gate {
        const char* name;
        Float (*f)(const Float&);
        double at;
    };
    // Each f or its derivative is not finite at the point, and select takes the other side there.
    const Gate gates[] = {
        {"x log x", [](const Float& x) { return x * log(x); }, 0},
        {"fma", [](const Float& x) { return fma(x, log(x), Float(1)); }, 0},
        {"exp", [](const Float& x) { return exp(1000.0 - 1.0 / x); }, -1e-300},
        {"sin", [](const Float& x) { return sin(1.0 / x); }, 0},
        {"cos", [](const Float& x) { return cos(1.0 / x); }, 0},
        {"tan", [](const Float& x) { return tan(1.0 / x); }, 0},
        {"sinh", [](const Float& x) { return sinh(1.0 / x); }, 0},
        {"cosh", [](const Float& x) { return cosh(1.0 / x); }, 0},
        {"expm1", [](const Float& x) { return expm1(1.0 / x); }, 0},
        {"sqrt", [](const Float& x) { return sqrt(x) * 3.0; }, 0},
        {"pow", [](const Float& x) { return pow(x, 0.5); }, 0},
        {"product of three", [](const Float& x) { return x * (log(x) * log(x)); }, 0},
        {"infinite argument", [](const Float& x) { return x * x * x; }, -infinity},
    };
    for (const Gate& gate : gates) {
        INFO(gate.name);
        const auto def = kernel("gate", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
            y[i] = select(x[i] > 0, gate.f(x[i]), 7.0);
        });
        const ir::Kernel k = def.trace(Precision::f64);
        const Data data{.real = {{"x", {gate.at}}, {"y", {0}}}};
        const Data a = run_adjoint(k, data, 1, {{"y", {1}}}),
                   t = run_tangent(k, data, 1, {{"x", {1}}});
        CHECK(t.real.at("y")[0] == 7);
        CHECK(t.real.at("y.t1")[0] == 0);
        CHECK(a.real.at("x.a1")[0] == 0);
    }
}

TEST_CASE(
    "rule 4: an adjoint of zero from a branch not taken or a loop of no trips meets an infinite "
    "derivative") {
    // x log x and exp are computed outside, at a point where their derivatives are infinite, and
    // used only inside.
    const auto def =
        kernel("outside", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Vec4> y) {
            const Float t = x[i] * log(x[i]), e = exp(1.0 / x[i]);
            Float branch = 7, other = 7, counted = 7, condition = 7;
            if_(x[i] > 0, [&] { branch = t * 2.0; });
            if_(x[i] > 0, [&] { other = e; });  // yielded as it is
            for_(
                0, n[i], [&](Int) { counted += t; }, 5);
            while_([&] { return x[i] > 100; }, [&] { condition = condition * 0.5 + e; }, 5);
            y[i] = Vec4(branch, other, counted, condition);
        });
    const ir::Kernel k = def.trace(Precision::f64);
    const Data data{.real = {{"x", {0}}, {"y", {0, 0, 0, 0}}}, .whole = {{"n", {0}}}};
    const Data t = run_tangent(k, data, 1, {{"x", {1}}});
    CHECK(t.real.at("y") == Numbers{7, 7, 7, 7});
    CHECK(t.real.at("y.t1") == Numbers{0, 0, 0, 0});
    CHECK(run_adjoint(k, data, 1, {{"y", {1, 1, 1, 1}}}).real["x.a1"] == Numbers{0});
    // Inside an unrolled loop or one of constant trips the use is certain: an infinite derivative
    // is kept.
    const auto certain = kernel("certain", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        const Float xlogx = x[i] * log(x[i]);
        Float s = 0;
        for_(0, 10, [&](Int) { s += xlogx * 0.5; });
        y[i] = s;
    });
    const Data zero{.real = {{"x", {0}}, {"y", {0}}}};
    CHECK(run_adjoint(certain.trace(Precision::f64), zero, 1, {{"y", {1}}}).real["x.a1"][0] ==
          -std::numeric_limits<double>::infinity());
}

TEST_CASE("rule 6: an own store takes the adjoint and clears it, whatever was stored") {
    const auto stores =
        kernel("stores", {"x", "inactive", "literal", "passive", "active", "half"},
               [](Int i, Read<Float> x, Read<Float> inactive, Write<Float> literal,
                  ReadWrite<Float> passive, Write<Float> active, ReadWrite<Vec2> half) {
                   literal[i] = 5;
                   passive[i] = inactive[i];
                   active[i] = 3.0 * x[i];
                   half[i].x() = x[i];
               });
    const Data data{.real = {{"x", {1}},
                             {"inactive", {1}},
                             {"literal", {0}},
                             {"passive", {0}},
                             {"active", {0}},
                             {"half", {0, 0}}}};
    const Data d =
        run_adjoint(stores.trace(Precision::f64), data, 1,
                    {{"literal", {2}}, {"passive", {2}}, {"active", {2}}, {"half", {4, 4}}},
                    {"x", "literal", "passive", "active", "half"});
    CHECK(d.real.at("literal.a1")[0] == 0);
    CHECK(d.real.at("passive.a1")[0] == 0);
    CHECK(d.real.at("active.a1")[0] == 0);
    CHECK(d.real.at("half.a1") ==
          Numbers{0, 4});  // a component that is never stored is not touched
    CHECK(d.real.at("x.a1")[0] == 3 * 2 + 4);
}

TEST_CASE("rule 6: an own element stored in a branch only") {
    const auto def =
        kernel("branch_store", {"x", "y"}, [](Int i, Read<Float> x, ReadWrite<Float> y) {
            if_(x[i] > 0, [&] { y[i] = x[i] * x[i]; });
        });
    const Data d = run_adjoint(def.trace(Precision::f64), {.real = {{"x", {3, -3}}, {"y", {1, 1}}}},
                               2, {{"y", {5, 5}}});
    CHECK(d.real.at("x.a1") == Numbers{30, 0});
    CHECK(d.real.at("y.a1") == Numbers{0, 5});  // kept where the old value went through
}

TEST_CASE("rule 7: the adjoint of store_once reads and clears, and its adjoint stores once") {
    const auto def = kernel("slice", {"x", "z"}, [](Int i, Read<Float> x, WriteSlice<Float> z) {
        z.store_once(2 * i, x[i] * x[i]);
        z.store_once(2 * i + 1, 5);
    });
    const ir::Kernel k = def.trace(Precision::f64), ka = ad::adjoint(k), kaa = ad::adjoint(ka);
    CHECK(ir::count_ops(k, OpCode::store_once) == 2);
    CHECK(ir::count_ops(ka, OpCode::take) == 2);
    CHECK(ir::count_ops(kaa, OpCode::store_once) == 2);
    const Data data{.real = {{"x", {3, 4}}, {"z", {0, 0, 0, 0}}}};
    const Data d = run_adjoint(k, data, 2, {{"z", {1, 1, 10, 1}}});
    CHECK(d.real.at("x.a1") == Numbers{6, 80});
    CHECK(d.real.at("z.a1") == Numbers{0, 0, 0, 0});
    // x.a1 = 2 x z.a1, so the adjoint of z.a1 is 2 x u, and 0 where it does not matter.
    Data second = data;
    second.real["x.a1"] = {0, 0};
    second.real["z.a1"] = {1, 1, 10, 1};
    const Data dd = run_adjoint(ka, second, 2, {{"x.a1", {1, 1}}, {"z.a1", {9, 9, 9, 9}}});
    CHECK(dd.real.at("z.a1.a2") == Numbers{6, 0, 8, 0});
    CHECK(dd.real.at("x.a2") == Numbers{2, 20});
}

TEST_CASE("rule 8: activity never drops a clear: force = 0 every step") {
    const auto zero =
        kernel("zero_force", {"force"}, [](Int i, Write<Vec2> force) { force[i] = Vec2(0, 0); });
    const Data d = run_adjoint(zero.trace(Precision::f64), {.real = {{"force", {1, 2}}}}, 1,
                               {{"force", {3, 4}}});
    CHECK(d.real.at("force.a1") == Numbers{0, 0});
    const auto copy = kernel("reset", {"start", "x"},
                             [](Int i, Read<Float> start, Write<Float> x) { x[i] = start[i]; });
    const Data e = run_adjoint(copy.trace(Precision::f64), {.real = {{"start", {1}}, {"x", {2}}}},
                               1, {{"x", {3}}}, {"x"});
    CHECK(e.real.at("x.a1") == Numbers{0});
}

TEST_CASE("rule 9: access and names in the adjoint kernel") {
    const auto def = kernel("all", {"r", "w", "rw", "acc", "sum", "slice", "reduce", "p", "n"},
                            [](Int i, Read<Float> r, Write<Float> w, ReadWrite<Float> rw,
                               Accumulate<Float> acc, Sum<Float> sum, WriteSlice<Float> slice,
                               Reduce<Float> reduce, Param<Float> p, Atomic<Int> n) {
                                const Float v = r[i] * p;
                                w[i] = v;
                                rw[i] *= v;
                                acc[i] += v;
                                sum[i] += v;
                                slice.store_once(i, v);
                                reduce += v;
                                n[0].add(1);
                            });
    using ir::Access;
    const ir::Kernel k = def.trace(Precision::f64), ka = ad::adjoint(k), kaa = ad::adjoint(ka);
    CHECK(access_of(ka, "r.a1") == Access::accumulate);
    CHECK(access_of(ka, "w.a1") == Access::read_write);
    CHECK(access_of(ka, "rw.a1") == Access::read_write);
    CHECK(access_of(ka, "acc.a1") == Access::read);
    CHECK(access_of(ka, "sum.a1") == Access::read);
    CHECK(access_of(ka, "slice.a1") == Access::slice);
    CHECK(access_of(ka, "reduce.a1") == Access::value);
    CHECK(access_of(ka, "p.a1") == Access::reduce);
    CHECK(ka.find_parameter("n.a1") == -1);
    CHECK(access_of(ka, "rw") == Access::read);
    CHECK(access_of(kaa, "r.a1.a2") == Access::read);
    CHECK(access_of(kaa, "acc.a1.a2") == Access::accumulate);
    CHECK(access_of(kaa, "reduce.a1.a2") == Access::reduce);
    CHECK(access_of(kaa, "p.a1.a2") == Access::value);
    CHECK(access_of(kaa, "p.a2") == Access::reduce);
    CHECK(ka.name == "all.a1");
    CHECK(ad::tangent(ka).find_parameter("r.a1.t1") >= 0);
}

TEST_CASE(
    "rule 10: the adjoint binds an own element's version before the launch, only if it is needed") {
    const auto add =
        kernel("add", {"x", "y"}, [](Int i, Read<Float> x, ReadWrite<Float> y) { y[i] += x[i]; });
    CHECK(!uses(ad::adjoint(add.trace(Precision::f64)), "y"));
    CHECK(!uses(ad::adjoint(add.trace(Precision::f64)), "x"));
    const auto scale =
        kernel("scale", {"x", "y"}, [](Int i, Read<Float> x, ReadWrite<Float> y) { y[i] *= x[i]; });
    const ir::Kernel k = scale.trace(Precision::f64), ka = ad::adjoint(k);
    CHECK(uses(ka, "y"));
    CHECK(access_of(ka, "y") == ir::Access::read);
    const Data d = run_adjoint(k, {.real = {{"x", {3}}, {"y", {5}}}}, 1, {{"y", {1}}});
    CHECK(d.real.at("x.a1")[0] == 5);  // y before the launch
    CHECK(d.real.at("y.a1")[0] == 3);
    // The second adjoint binds y.a1 before the first adjoint ran: x.a1 += y y.a1, y.a1 = x y.a1.
    Data second{.real = {{"x", {3}}, {"y", {5}}, {"x.a1", {0}}, {"y.a1", {7}}}};
    const Data dd = run_adjoint(ka, second, 1, {{"x.a1", {1}}, {"y.a1", {1}}});
    CHECK(dd.real.at("y.a1.a2")[0] == 5 + 3);
    CHECK(dd.real.at("y.a2")[0] == 7);
    CHECK(dd.real.at("x.a2")[0] == 7);
    const auto scatter =
        kernel("scatter", {"x", "f"},
               [](Int i, Read<Float> x, Accumulate<Float> f) { f[0] += x[i] * x[i]; });
    CHECK(!uses(ad::adjoint(scatter.trace(Precision::f64)), "f"));
}

TEST_CASE("what an adjoint adds to: inputs, own elements read, parameters") {
    const auto def =
        kernel("adds", {"x", "p", "y"},
               [](Int i, Read<Float> x, Param<Float> p, Write<Float> y) { y[i] = x[0] * p; });
    Data data{.real = {{"x", {3}},
                       {"p", {2}},
                       {"y", {0, 0}},
                       {"x.a1", {100}},
                       {"p.a1", {1000}},
                       {"y.a1", {1, 10}}}};
    test::run(ad::adjoint(def.trace(Precision::f64)), data, 2);
    CHECK(data.real["x.a1"][0] == 100 + 2 * 11);
    CHECK(data.real["p.a1"][0] == 1000 + 3 * 11);
}

TEST_CASE("a launch of no items changes nothing but a Sum, forward and adjoint") {
    const auto def = kernel("none", {"x", "p", "y", "f", "s", "e"},
                            [](Int i, Read<Float> x, Param<Float> p, ReadWrite<Float> y,
                               Accumulate<Float> f, Sum<Float> s, Reduce<Float> e) {
                                y[i] = x[i] * p;
                                f[i] += x[i];
                                s[i] += x[i];
                                e += x[i];
                            });
    const ir::Kernel k = def.trace(Precision::f64);
    Data data{.real = {{"x", {2}}, {"p", {3}}, {"y", {4}}, {"f", {5}}, {"s", {6}}, {"e", {7}}}};
    const Data a = run_adjoint(k, data, 0, {{"y", {1}}, {"f", {1}}, {"s", {1}}, {"e", {1}}});
    CHECK(a.real.at("x.a1")[0] == 0);
    CHECK(a.real.at("p.a1")[0] == 0);
    CHECK(a.real.at("y.a1")[0] == 1);
    test::run(k, data, 0);
    CHECK(data.real["y"][0] == 4);
    CHECK(data.real["f"][0] == 5);
    CHECK(data.real["s"][0] == 0);
    CHECK(data.real["e"][0] == 7);
}
