// Buffers: what each access computes, the stated order of sums, strides, and both precisions.
// Expected sums are added here, in the order that engine/backend/executable.hpp states.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using backend::Binding;
using ir::Precision;
using test::Data;
using Numbers = std::vector<double>;

namespace {

// A number in [-1, 1] of changing magnitude, so that the order of a sum shows in its bits.
double number(std::size_t k) {
    const double m = static_cast<double>((k * 2654435761u) % 1000003) / 1000003.0 - 0.5;
    return std::ldexp(m, static_cast<int>(k % 7) * 4);
}

}  // namespace

TEST_CASE(
    "Accumulate adds in item order, within an item in the order executed, rounding each time") {
    const auto def = kernel("scatter", {"x", "at", "f"},
                            [](Int i, Read<Float> x, Read<Int> at, Accumulate<Float> f) {
                                f[at[i]] += x[i];
                                f[0] -= x[i] * 0.5;
                            });
    constexpr std::size_t n = 100;
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        Data data{.real = {{"x", {}}, {"f", {1000, 0, 3}}}, .whole = {{"at", {}}}};
        for (std::size_t k = 0; k < n; ++k) {
            data.real["x"].push_back(static_cast<float>(number(k)));
            data.whole["at"].push_back(static_cast<std::int64_t>(k * 7 % 3));
        }
        Numbers expected = data.real["f"];
        const auto add = [&](std::size_t at, double v) {
            expected[at] = precision == Precision::f64
                               ? expected[at] + v
                               : static_cast<float>(expected[at]) + static_cast<float>(v);
        };
        for (std::size_t k = 0; k < n; ++k) {
            add(static_cast<std::size_t>(data.whole["at"][k]), data.real["x"][k]);
            add(0, -(data.real["x"][k] * 0.5));
        }
        test::run(def.trace(precision), data, n);
        CHECK(data.real["f"] == expected);
    }
}

TEST_CASE("Sum clears the whole array first, also what no item adds to") {
    const auto def = kernel("sum", {"f"}, [](Int i, Sum<Vec2> f) { f[i / 2].y() += Float(i) + 1; });
    Data data{.real = {{"f", {9, 9, 9, 9, 9, 9}}}};
    const ir::Kernel k = def.trace(Precision::f64);
    for (int launch = 0; launch < 2; ++launch) {
        test::run(k, data, 4);
        CHECK(data.real["f"] == Numbers{0, 3, 0, 7, 0, 0});
    }
}

TEST_CASE("Reduce: chunks of 1024 items, 16 lanes, a fixed tree, in f64 in both precisions") {
    const auto def = kernel("energy", {"x", "e"}, [](Int i, Read<Vec2> x, Reduce<Vec2> e) {
        e += x[i];
        if_(i % 3 == 0, [&] { e -= Vec2(x[i].y(), 1); });
    });
    for (const std::size_t n : {1u, 15u, 16u, 1000u, 1024u, 1025u, 5000u}) {
        Numbers x(2 * n);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(number(k));
        double total[2] = {0, 0};
        for (std::size_t chunk = 0; chunk < n; chunk += 1024) {
            for (std::size_t c = 0; c < 2; ++c) {
                std::array<double, 16> lane{};
                for (std::size_t i = chunk; i < std::min(n, chunk + 1024); ++i) {
                    double item = 0;
                    item += x[2 * i + c];
                    if (i % 3 == 0) item += c == 0 ? -x[2 * i + 1] : -1.0;
                    lane[i % 16] += item;
                }
                for (const std::size_t half : {8u, 4u, 2u, 1u})
                    for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
                total[c] += lane[0];
            }
        }
        for (const Precision precision : {Precision::f64, Precision::f32}) {
            Data data{.real = {{"x", x}, {"e", {0.25, -3}}}};
            test::run(def.trace(precision), data, static_cast<std::int64_t>(n));
            INFO(n);
            CHECK(data.real["e"] == Numbers{0.25 + total[0], -3 + total[1]});
        }
    }
}

TEST_CASE("own elements: loaded once, stored once; at an injective index; unchanged if only read") {
    const auto def =
        kernel("own", {"x", "y", "w"}, [](Int i, Read<Float> x, ReadWrite<Vec2> y, Write<Float> w) {
            const Int back = injective(2 - i);
            const Float old = y[back].x();
            y[back].x() = x[i];
            y[back].y() += y[back].x() * old;
            w[i] = 1;
            w[i] = w[i] + y[back].y();
        });
    const ir::Kernel k = def.trace(Precision::f64);
    CHECK(ir::count_ops(k, ir::OpCode::own_load) == 2);
    CHECK(ir::count_ops(k, ir::OpCode::own_store) == 3);
    Data data{.real = {{"x", {10, 20, 30}}, {"y", {1, 2, 3, 4, 5, 6}}, {"w", {0, 0, 0}}}};
    test::run(k, data, 3);
    CHECK(data.real["y"] == Numbers{30, 32, 20, 64, 10, 56});
    CHECK(data.real["w"] == Numbers{57, 65, 33});
    const auto reads =
        kernel("reads", {"y", "w"}, [](Int i, ReadWrite<Float> y, Write<Float> w) { w[i] = y[i]; });
    CHECK(ir::count_ops(reads.trace(Precision::f64), ir::OpCode::own_store) == 1);
}

TEST_CASE("matrices stand row by row, elements are assigned whole or by entry") {
    const auto def = kernel("matrices", {"a", "b"},
                            [](Int i, Read<Mat<Float, 2, 3>> a, ReadWrite<Mat<Float, 2, 3>> b) {
                                b[i](1, 0) = a[i](0, 2);
                                b[i](0, 1) += a[i](1, 1);
                            });
    Data data{.real = {{"a", {1, 2, 3, 4, 5, 6}}, {"b", {10, 20, 30, 40, 50, 60}}}};
    test::run(def.trace(Precision::f64), data, 1);
    CHECK(data.real["b"] == Numbers{10, 25, 30, 3, 50, 60});
    const ir::Parameter& a = def.parameters()[0];
    CHECK(a.components == 6);
    CHECK(a.rows == 2);
}

TEST_CASE("WriteSlice, Atomic and integer buffers") {
    const auto def =
        kernel("mixed", {"v", "slice", "total", "low", "high"},
               [](Int i, Read<Int> v, WriteSlice<Int2> slice, Atomic<Int> total, Atomic<Int> low,
                  Atomic<UInt> high) {
                   for_(0, 2, [&](Int k) { slice.store_once(2 * i + k, Int2(i, v[i] * (k + 1))); });
                   total[i % 2].add(v[i]);
                   low[0].min(v[i]);
                   high[0].max(UInt(v[i]));
               });
    Data data{.whole = {{"v", {5, -3, 7}},
                        {"slice", std::vector<std::int64_t>(12)},
                        {"total", {100, 0}},
                        {"low", {4}},
                        {"high", {0}}}};
    test::run(def.trace(Precision::f64), data, 3);
    CHECK(data.whole["slice"] == std::vector<std::int64_t>{0, 5, 0, 10, 1, -3, 1, -6, 2, 7, 2, 14});
    CHECK(data.whole["total"] == std::vector<std::int64_t>{112, -3});
    CHECK(data.whole["low"][0] == -3);
    CHECK(data.whole["high"][0] == 4294967293);
}

TEST_CASE("a Property is one value per item or one for all, decided when the kernel is traced") {
    const auto def = kernel("property", {"k", "y"}, [](Int i, Property<Vec2> k, Write<Float> y) {
        y[i] = k[i].x() + (k.shared() ? 100.0 : 0.0) * k[i].y();
    });
    Data each{.real = {{"k", {1, 2, 3, 4}}, {"y", {0, 0}}}};
    test::run(def.trace(Precision::f64), each, 2);
    CHECK(each.real["y"] == Numbers{1, 3});
    const ir::Kernel shared = def.trace(Precision::f64, {"k"});
    CHECK(shared.parameters[0].access == ir::Access::value);
    Data one{.real = {{"k", {1, 2}}, {"y", {0, 0}}}};
    test::run(shared, one, 2);
    CHECK(one.real["y"] == Numbers{201, 201});
}

TEST_CASE("a real Param is f64 in memory and rounded once; an integer one keeps its type") {
    const auto def = kernel("parameters", {"p", "n", "u", "y"},
                            [](Int i, Param<Float> p, Param<Int> n, Param<ULong> u,
                               Write<Float> y) { y[i] = p * Float(n.value()) + Float(u.value()); });
    for (const Precision precision : {Precision::f64, Precision::f32}) {
        Data data{.real = {{"p", {0.1}}, {"y", {0}}}, .whole = {{"n", {-3}}, {"u", {7}}}};
        test::run(def.trace(precision), data, 1);
        const double expected = precision == Precision::f64
                                    ? std::fma(0.1, -3.0, 7.0)
                                    : static_cast<double>(std::fma(0.1f, -3.0f, 7.0f));
        CHECK(data.real["y"][0] == expected);
    }
}

TEST_CASE("Float is the kernel's real type; literals are rounded to it once") {
    const auto def = kernel("third", {"x", "y"},
                            [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] / 3.0 + 0.1; });
    Data narrow{.real = {{"x", {1}}, {"y", {0}}}}, wide = narrow;
    test::run(def.trace(Precision::f32), narrow, 1);
    test::run(def.trace(Precision::f64), wide, 1);
    CHECK(narrow.real["y"][0] == static_cast<double>(1.0f / 3.0f + 0.1f));
    CHECK(wide.real["y"][0] == 1.0 / 3.0 + 0.1);
    CHECK(def.trace(Precision::f32).parameters[0].type == ir::Type::f32);
    CHECK(def.parameters()[0].type == ir::Type::f64);  // as declared
}

TEST_CASE("any strides: arrays of components, reversed arrays, one element for every index") {
    const auto def = kernel("strides", {"x", "y"},
                            [](Int i, Read<Vec2> x, Write<Vec2> y) { y[i] = x[i] * 2.0; });
    const auto code = backend::interpret(def.trace(Precision::f64));
    double x[] = {1, 2, 3, 10, 20, 30};  // all first components, then all second ones
    double y[6] = {};
    const Binding planes[] = {{x, 3, 1, 3, 1}, {y + 4, 3, -2, 1, 1}};
    code->run(planes, 3, {});
    CHECK(std::vector<double>(y, y + 6) == Numbers{6, 60, 4, 40, 2, 20});
    const Binding broadcast[] = {{x, 3, 0, 1, 1}, {y, 3, 2, 1, 1}};
    code->run(broadcast, 3, {});
    CHECK(std::vector<double>(y, y + 6) == Numbers{2, 4, 2, 4, 2, 4});
}

TEST_CASE("names of values survive simplification and derivatives know their places") {
    const auto def = kernel("named", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Float> y) {
        const Float length = norm(x[i]).name("length");
        y[i] = length * length;
    });
    const ir::Kernel k = def.trace(Precision::f64);
    bool found = false;
    for (const ir::Value v : k.region(0).ops) {
        if (k.op(v).code != ir::OpCode::norm3) continue;
        found = k.op(v).name >= 0 && k.names[static_cast<std::size_t>(k.op(v).name)] == "length";
        CHECK(k.place_of(v).file == "tests/unit/ir/test_lang_buffers.cpp");
    }
    CHECK(found);
}

TEST_CASE("compound assignment of own elements takes numbers, values, parameters and elements") {
    const auto def = kernel("compound", {"a", "b", "v", "m", "n", "p", "r"},
                            [](Int i, ReadWrite<Float> a, ReadWrite<Float> b, ReadWrite<Vec2> v,
                               ReadWrite<Mat2> m, ReadWrite<Int> n, Param<Float> p, Read<Float> r) {
                                a[i] += b[i];        // 3 + 5 = 8
                                a[i] -= p;           // 8 - 2 = 6
                                a[i] *= a[i];        // 36
                                a[i] *= b[i];        // 180
                                a[i] /= b[i];        // 36
                                a[i] *= r[i];        // 252
                                a[i] /= p;           // 126
                                a[i] /= 3;           // 42
                                b[i] /= b[i];        // 1
                                b[i] += b[i];        // 2
                                b[i] -= v[i].y();    // 2 - 11 = -9
                                v[i] *= a[i];        // (294, 462)
                                v[i] /= p;           // (147, 231)
                                v[i] += v[i];        // (294, 462)
                                v[i] -= v[i] * 0.5;  // (147, 231)
                                v[i].x() *= v[i].y();
                                v[i].x() /= v[i].y();
                                v[i].y() *= b[i];          // 231 * -9 = -2079
                                v[i].y() += p;             // -2077
                                m[i] *= p;                 // 2 4 6 8
                                m[i] *= m[i](0, 0);        // 4 8 12 16
                                m[i](1, 1) -= m[i](1, 0);  // 4 8 12 4
                                m[i] *= m[i];              // 112 64 96 112
                                m[i] /= 16.0;              // 7 4 6 7
                                n[i] *= n[i];              // 49
                                n[i] /= 2;                 // 24
                                n[i] -= n[i] / 5;          // 20
                            });
    Data data{
        .real =
            {{"a", {3}}, {"b", {5}}, {"v", {7, 11}}, {"m", {1, 2, 3, 4}}, {"p", {2}}, {"r", {7}}},
        .whole = {{"n", {7}}}};
    test::run(def.trace(Precision::f64), data, 1);
    CHECK(data.real["a"] == Numbers{42});
    CHECK(data.real["b"] == Numbers{-9});
    CHECK(data.real["v"] == Numbers{147, -2077});
    CHECK(data.real["m"] == Numbers{7, 4, 6, 7});
    CHECK(data.whole["n"] == std::vector<std::int64_t>{20});
}

TEST_CASE("the derivative of y[i] *= y[i] is that of the square") {
    const auto def = kernel("square", {"y"}, [](Int i, ReadWrite<Float> y) { y[i] *= y[i]; });
    const Data data{.real = {{"y", {3, -5}}}};
    CHECK(test::run_adjoint(def.trace(Precision::f64), data, 2, {{"y", {1, 1}}}).real["y.a1"] ==
          Numbers{6, -10});
}

TEST_CASE("select between literals: Float, or Int if both are whole numbers") {
    const auto def =
        kernel("choose", {"x", "y", "n"}, [](Int i, Read<Float> x, Write<Vec3> y, Write<Int> n) {
            const Bool c = x[i] < 0;
            y[i].x() = select(c, 1.0, 0.0);
            y[i].y() = select(c, 0.25, 3);
            y[i].z() = select(x[i] < 0, x[i], 0.0);
            n[i] = select(c, 4, -4);
        });
    Data data{.real = {{"x", {-2, 2}}, {"y", {0, 0, 0, 0, 0, 0}}}, .whole = {{"n", {0, 0}}}};
    test::run(def.trace(Precision::f64), data, 2);
    CHECK(data.real["y"] == Numbers{1, 0.25, -2, 0, 3, 0});
    CHECK(data.whole["n"] == std::vector<std::int64_t>{4, -4});
}
