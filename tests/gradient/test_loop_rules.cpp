// Rules of loops and branches under differentiation: own-index loads, normalized trips, tapes,
// carried values, while_. The expected numbers are closed forms; integers and powers of two keep
// them exact.
#include <doctest/doctest.h>

#include <cmath>

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
using Numbers = std::vector<double>;

namespace {

ir::Kernel trace(const KernelDef& def) { return def.trace(Precision::f64); }

int count_inside(const ir::Kernel& kernel, OpCode code) {
    int n = ir::count_ops(kernel, code);
    for (const ir::Value v : kernel.region(0).ops) n -= kernel.op(v).code == code;
    return n;
}

// x^(trips) by a loop of the given form; d = n x^(n-1).
double power_derivative(const std::function<void(Int, const std::function<void()>&)>& loop,
                        double x) {
    const auto def =
        kernel("power", {"x", "y", "n"}, [&](Int i, Read<Float> at, Write<Float> y, Read<Int> n) {
            Float p = 1;
            loop(n[i], [&] { p *= at[i]; });
            y[i] = p;
        });
    const Data d = run_adjoint(
        trace(def), {.real = {{"x", {x}}, {"y", {0}}}, .whole = {{"n", {3}}}}, 1, {{"y", {1}}});
    return d.real.at("x.a1")[0];
}

}  // namespace

TEST_CASE("rule 11: the adjoint of an element read at the own index in a loop is written once") {
    const auto def =
        kernel("own_reads", {"x", "n", "y"}, [](Int i, Read<Vec2> x, Read<Int> n, Write<Float> y) {
            Float s = 0;
            for_(0, n[i], [&](Int k) {
                s += x[i].x() * x[i].y();
                if_(k == 1, [&] { s += x[i].x(); });
            });
            y[i] = s + x[i].x();
        });
    const ir::Kernel k = trace(def), ka = ad::adjoint(k);
    CHECK(ir::count_ops(ka, OpCode::accumulate) == 2);  // one per component
    CHECK(count_inside(ka, OpCode::accumulate) == 0);
    const Data d =
        run_adjoint(k, {.real = {{"x", {2, 3, 2, 3}}, {"y", {0, 0}}}, .whole = {{"n", {4, 0}}}}, 2,
                    {{"y", {1, 1}}});
    CHECK(d.real.at("x.a1") == Numbers{4 * 3 + 2, 4 * 2, 1, 0});
}

TEST_CASE("rule 12: loops are normalized: any begin and step give the same derivative") {
    using Body = std::function<void()>;
    const auto up = [](Int n, const Body& b) {
        for_(
            0, n, [&](Int) { b(); }, 8);
    };
    const auto offset = [](Int n, const Body& b) {
        for_(
            5, n + 5, [&](Int) { b(); }, 8);
    };
    const auto down = [](Int n, const Body& b) {
        for_(
            n, 0, -1, [&](Int) { b(); }, 8);
    };
    const auto stride = [](Int n, const Body& b) {
        for_(
            -4, n * 3 - 4, 3, [&](Int) { b(); }, 8);
    };
    const auto traced_step = [](Int n, const Body& b) {
        for_(
            0, n * n, n, [&](Int) { b(); }, 8);
    };
    const auto ragged = [](Int n, const Body& b) {
        for_(
            0, n * 5 - 3, 5, [&](Int) { b(); }, 8);
    };
    CHECK(power_derivative(up, 2) == 12);
    CHECK(power_derivative(offset, 2) == 12);
    CHECK(power_derivative(down, 2) == 12);
    CHECK(power_derivative(stride, 2) == 12);
    CHECK(power_derivative(traced_step, 2) == 12);
    CHECK(power_derivative(ragged, 2) == 12);
    CHECK(power_derivative([](Int, const Body& b) { for_(0, 12, [&](Int) { b(); }); }, 2) ==
          12 * 2048);
    CHECK(power_derivative([](Int, const Body& b) { for_(0, 3, [&](Int) { b(); }); }, 2) == 12);
    CHECK(power_derivative(
              [](Int n, const Body& b) {
                  for_(
                      0, n, 0, [&](Int) { b(); }, 8);
              },
              2) == 0);  // step 0: no trip
    CHECK(power_derivative(
              [](Int n, const Body& b) {
                  for_(
                      n, 0, [&](Int) { b(); }, 8);
              },
              2) == 0);
    CHECK(power_derivative(
              [](Int n, const Body& b) {
                  Int k = 0;
                  while_([&] { return k < n; },
                         [&] {
                             b();
                             k += 1;
                         },
                         3);
              },
              2) == 12);
}

TEST_CASE("rule 12: a sum over a loop stores nothing, a product stores only itself") {
    const auto sum =
        kernel("sum", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            Float s = 0;
            Int last = 0;
            for_(0, n[i], [&](Int k) {
                s += x[k] * x[k];
                last = k;
            });
            y[i] = s * Float(last);
        });
    CHECK(ir::count_ops(ad::adjoint(trace(sum)), OpCode::local) == 0);
    const auto product =
        kernel("product", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            Float p = 1, unused = 1;
            for_(
                0, n[i],
                [&](Int k) {
                    p *= x[k];
                    unused += p;
                },
                10);
            y[i] = p;
        });
    CHECK(ir::count_ops(ad::adjoint(trace(product)), OpCode::local) == 1);
    CHECK(ir::count_ops(trace(product), OpCode::fma) + ir::count_ops(trace(product), OpCode::add) ==
          0);
}

TEST_CASE("rule 12: the tape of an inner loop is fresh at each trip of the outer one") {
    // p = x^(1 + 2 + ... + n): the inner loop makes k + 1 trips.
    const auto def =
        kernel("triangle", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            Float p = 1;
            for_(
                0, n[i],
                [&](Int k) {
                    for_(
                        0, k + 1, [&](Int) { p *= x[i]; }, 8);
                },
                8);
            y[i] = p;
        });
    const Data d =
        run_adjoint(trace(def), {.real = {{"x", {2, 2}}, {"y", {0, 0}}}, .whole = {{"n", {4, 1}}}},
                    2, {{"y", {1, 1}}});
    CHECK(d.real.at("x.a1") == Numbers{10 * 512, 1});
}

TEST_CASE("rule 12: carried integers and booleans are restored from tapes too") {
    // The trip's factor depends on a carried flag and a carried integer: p = x * x^2 * x * x^2 ...
    // with k = 0, 1, 3, 7.
    const auto def = kernel("restored", {"x", "w", "y"},
                            [](Int i, Read<Float> x, Read<Float> w, Write<Float> y) {
                                Float p = 1;
                                Int k = 0;
                                Bool twice = false;
                                for_(0, 10, [&](Int) {
                                    p = p * select(twice, x[i] * x[i], x[i]) + w[k & 3] * 0.0;
                                    twice = !twice;
                                    k = 2 * k + 1;
                                });
                                y[i] = p;
                            });
    const Data d = run_adjoint(trace(def), {.real = {{"x", {2}}, {"w", {1, 2, 3, 4}}, {"y", {0}}}},
                               1, {{"y", {1}}});
    CHECK(d.real.at("x.a1")[0] == 15 * 16384);  // x^15
    // A select of loads at a carried index: the derivative goes to the elements that were read.
    const auto walk = kernel("walk", {"w", "y"}, [](Int i, Read<Float> w, Write<Float> y) {
        Float s = 0;
        Int k = 0;
        for_(0, 10, [&](Int) {
            s += w[k & 3];
            k = 2 * k + 1;
        });
        y[i] = s;
    });
    const Data e =
        run_adjoint(trace(walk), {.real = {{"w", {1, 2, 3, 4}}, {"y", {0}}}}, 1, {{"y", {1}}});
    CHECK(e.real.at("w.a1") == Numbers{1, 1, 0, 8});  // k & 3 = 0, 1, 3, 3, ...
}

TEST_CASE("rule 12: a tape keeps the sign of zero") {
    // s stays -0, so every trip adds unit / s = -infinity; the adjoint of unit is seed / s.
    const auto def = kernel("minus_zero", {"x", "unit", "out"},
                            [](Int i, Read<Float> x, Read<Float> unit, Accumulate<Float> out) {
                                Float s = -0.0;
                                for_(0, 10, [&](Int k) {
                                    out[k] += unit[k] / s;
                                    s = s * x[i];
                                });
                            });
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        const Data d =
            run_adjoint(def.trace(precision),
                        {.real = {{"x", {0.5}}, {"unit", Numbers(10, 1)}, {"out", Numbers(10, 0)}}},
                        1, {{"out", Numbers(10, 1)}}, {"unit", "out"});
        for (const double a : d.real.at("unit.a1"))
            CHECK(a == -std::numeric_limits<double>::infinity());
    }
}

TEST_CASE("rule 12: recomputing a region repeats no accumulation, reduction or store") {
    const auto def = kernel("effects", {"x", "n", "f", "e", "z"},
                            [](Int i, Read<Float> x, Read<Int> n, Accumulate<Float> f,
                               Reduce<Float> e, WriteSlice<Float> z) {
                                Float p = x[i];
                                for_(
                                    0, n[i],
                                    [&](Int k) {
                                        f[k] += p;
                                        if_(p > 1, [&] { e += p * p; });
                                        z.store_once(i * 4 + k, p);
                                        p *= x[i];
                                    },
                                    4);
                            });
    const ir::Kernel k = trace(def), ka = ad::adjoint(k);
    CHECK(ir::count_ops(ka, OpCode::store_once) == 0);
    CHECK(ir::count_ops(ka, OpCode::reduce) == 0);
    for (std::size_t p = 0; p < k.parameters.size(); ++p) {
        const std::string& name = k.parameters[p].name;
        const bool output = name == "f" || name == "e" || name == "z";
        CHECK_MESSAGE(!(output && ad::used_parameters(ka)[p]), name);
    }
    const Data d =
        run_adjoint(k,
                    {.real = {{"x", {2}}, {"f", Numbers(4, 0)}, {"e", {0}}, {"z", Numbers(4, 0)}},
                     .whole = {{"n", {3}}}},
                    1, {{"f", {1, 10, 100, 1000}}, {"e", {1}}, {"z", {1, 1, 1, 1}}});
    // p = x, x^2, x^3: f gives 1 + 10 (2x) + 100 (3x^2), e gives 2x + 4x^3 + 6x^5, z gives 1 + 2x +
    // 3x^2
    CHECK(d.real.at("x.a1")[0] == 1241 + 4 + 32 + 192 + 17);
    CHECK(d.real.at("z.a1") == Numbers{0, 0, 0, 1});
}

TEST_CASE("a loop of no trips passes the result's adjoint on to the first value") {
    const auto def =
        kernel("zero_trip", {"x", "n", "y", "f"},
               [](Int i, Read<Vec2> x, Read<Int> n, Write<Vec2> y, Accumulate<Float> f) {
                   Float a = x[i].x() * 3.0, b = x[i].y();
                   for_(
                       0, n[i],
                       [&](Int) {
                           a = a * b;
                           f[i] += a;
                       },
                       5);
                   Int k = n[i];
                   while_([&] { return k > 0; },
                          [&] {
                              b = b * b;
                              k -= 1;
                          },
                          5);
                   y[i] = Vec2(a, b);
               });
    const Data data{.real = {{"x", {5, 7, 2, 3}}, {"y", Numbers(4, 0)}, {"f", {0, 0}}},
                    .whole = {{"n", {0, 1}}}};
    const Data d = run_adjoint(trace(def), data, 2, {{"y", {1, 1, 1, 1}}, {"f", {100, 100}}});
    CHECK(d.real.at("x.a1") == Numbers{3, 1, 3 * 3 * 101, 6 * 101 + 2 * 3});
}

TEST_CASE("rule 13: carried values that swap") {
    const auto def =
        kernel("swap", {"x", "n", "y"}, [](Int i, Read<Vec3> x, Read<Int> n, Write<Vec3> y) {
            Float a = x[i].x(), b = x[i].y(), c = x[i].z();
            for_(
                0, n[i],
                [&](Int) {
                    const Float t = a;
                    a = b;
                    b = c;
                    c = t;
                },
                9);
            y[i] = Vec3(a, b, c);
        });
    const Data data{.real = {{"x", Numbers(9, 1)}, {"y", Numbers(9, 0)}},
                    .whole = {{"n", {0, 1, 5}}}};
    const Data d = run_adjoint(trace(def), data, 3, {{"y", {1, 2, 3, 1, 2, 3, 1, 2, 3}}});
    CHECK(d.real.at("x.a1") ==
          Numbers{1, 2, 3, /* y = (x1, x2, x0) */ 3, 1, 2, /* twice */ 2, 3, 1});
    CHECK(ir::count_ops(ad::adjoint(trace(def)), OpCode::local) == 0);
}

TEST_CASE("rule 13: a carried value that is used in the loop but not after it") {
    // p = x, x^2, x^3; f = p summed; p is dead after the loop.
    const auto def = kernel("inside_only", {"x", "n", "f"},
                            [](Int i, Read<Float> x, Read<Int> n, Accumulate<Float> f) {
                                Float p = x[i];
                                for_(
                                    0, n[i],
                                    [&](Int) {
                                        f[0] += p;
                                        p *= x[i];
                                    },
                                    4);
                            });
    const Data d = run_adjoint(
        trace(def), {.real = {{"x", {2}}, {"f", {0}}}, .whole = {{"n", {3}}}}, 1, {{"f", {1}}});
    CHECK(d.real.at("x.a1")[0] == 1 + 4 + 12);
}

TEST_CASE("rule 13: a carried value that becomes constant, or starts constant") {
    const auto def =
        kernel("constants", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Vec2> y) {
            Float reset = x[i], begun = 1;
            for_(
                0, n[i],
                [&](Int k) {
                    if_(k == 1, [&] { reset = 5; });
                    reset = reset * 2.0;
                    begun = begun + x[i];
                },
                9);
            y[i] = Vec2(reset, begun);
        });
    const Data data{.real = {{"x", {3, 3}}, {"y", Numbers(4, 0)}}, .whole = {{"n", {1, 4}}}};
    const Data d = run_adjoint(trace(def), data, 2, {{"y", {1, 10, 1, 10}}});
    CHECK(d.real.at("x.a1") == Numbers{2 + 10, 0 + 40});
}

TEST_CASE("rule 14: a while_ may make exactly max_trips trips, forward and adjoint") {
    const auto def = kernel("exactly", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        Float p = 1;
        Int k = 0;
        while_([&] { return k < 4; },
               [&] {
                   p *= x[i];
                   k += 1;
               },
               4);
        y[i] = p;
    });
    Data data{.real = {{"x", {3}}, {"y", {0}}}};
    test::run(trace(def), data, 1);
    CHECK(data.real["y"][0] == 81);
    CHECK(run_adjoint(trace(def), data, 1, {{"y", {1}}}).real["x.a1"][0] == 4 * 27);
}

TEST_CASE(
    "rule 14: a while_ whose result is dead stays where it may raise, and leaves the pure "
    "adjoint") {
    const auto def = kernel("dead_while", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        Float s = x[i];
        while_([&] { return s > 1; }, [&] { s = s * 0.5; }, 100);
        const Float v = ad::variable(x[i]);
        y[i] = ad::grad(v * v, v);
    });
    const ir::Kernel k = trace(def);
    CHECK(ir::count_ops(k, OpCode::while_) == 1);
    CHECK(ir::count_ops(ad::tangent(k), OpCode::while_) == 1);
    CHECK(ir::count_ops(ad::adjoint(k), OpCode::while_) == 0);
    const auto counted =
        kernel("dead_for", {"n", "x", "y"}, [](Int i, Read<Int> n, Read<Float> x, Write<Float> y) {
            Float s = x[i];
            for_(
                0, n[i], [&](Int) { s = s * 0.5; }, 100);
            y[i] = x[i];
        });
    CHECK(ir::count_ops(trace(counted), OpCode::for_) == 1);  // it raises beyond 100
    CHECK(ir::count_ops(ad::adjoint(trace(counted)), OpCode::for_) == 0);
}

TEST_CASE("rule 14: the body of a while_ shares the condition's values") {
    const auto def = kernel("shared", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        Float s = x[i];
        while_([&] { return s * s > 2; }, [&] { s = sqrt(s * s * 0.5); }, 100);
        y[i] = s;
    });
    // s * s once in the loop; s * s * 0.5 is the only other product.
    CHECK(ir::count_ops(trace(def), OpCode::mul) == 2);
}

TEST_CASE("a while_ condition may contain loops and branches") {
    // Runs while the sum of the first k elements is below 10.
    const auto def = kernel("prefix", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        Int k = 0;
        Float last = 0;
        while_(
            [&] {
                Float sum = 0;
                for_(
                    0, k, [&](Int j) { sum += x[j]; }, 10);
                Int guard = 0;
                while_([&] { return guard < 2; }, [&] { guard += 1; }, 5);
                if_(sum > 100, [&] { sum = 100; });
                return sum < 10 && k < 8;
            },
            [&] {
                last = last * 2.0 + x[k];
                k += 1;
            },
            9);
        y[i] = last;
    });
    Data data{.real = {{"x", {4, 4, 4, 4, 4, 4, 4, 4}}, {"y", {0}}}};
    test::run(trace(def), data, 1);
    CHECK(data.real["y"][0] == 4 * 4 + 4 * 2 + 4);
    CHECK(run_adjoint(trace(def), data, 1, {{"y", {1}}}).real["x.a1"] ==
          Numbers{4, 2, 1, 0, 0, 0, 0, 0});
}
