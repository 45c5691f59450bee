// One array bound to two parameters of a launch: every pair of accesses. Two that only read may
// share it, and so may two that only add; everything else is an error that names both parameters.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "engine/base/error.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;

namespace {

// A use of each kind of parameter; what is read is kept by `sum`.
template <class S>
void use(Int i, const Read<S>& p, S& sum) {
    sum += p[i];
}
template <class S>
void use(Int, const Param<S>& p, S& sum) {
    sum += p.value();
}
template <class S>
void use(Int i, const Write<S>& p, S&) {
    p[i] = S(1);
}
template <class S>
void use(Int i, const ReadWrite<S>& p, S&) {
    p[i] += S(1);
}
template <class S>
void use(Int i, const Accumulate<S>& p, S&) {
    p[i] += S(1);
}
template <class S>
void use(Int i, const Sum<S>& p, S&) {
    p[i] += S(1);
}
template <class S>
void use(Int i, const WriteSlice<S>& p, S&) {
    p.store_once(i, S(1));
}
template <class S>
void use(Int, const Reduce<S>& p, S&) {
    p += S(1);
}
template <class S>
void use(Int i, const Atomic<S>& p, S&) {
    p[i].add(S(1));
}

struct Kind {
    const char* name;
    bool reads, adds;  // and does nothing else
};

template <class S, class A, class B>
std::string bind_one_array_twice(Type type) {
    const KernelDef def =
        kernel("pair", {"first", "second", "out"}, [](Int i, A first, B second, Write<S> out) {
            S sum = 0;
            use(i, first, sum);
            use(i, second, sum);
            out[i] = sum;
        });
    const Array shared(type, {1}), out(type, {1});
    try {
        Launch(test::interpreter_device(), def, Precision::f64, 1, {shared, shared, out},
               "the pair");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// All pairs of the listed parameter types, in both orders.
template <class S, class... P>
struct Matrix {
    Type type;
    std::vector<Kind> kinds;  // of P...
    int pairs = 0;

    void check() {
        int a = 0;
        (row<P>(a++), ...);
    }
    template <class A>
    void row(int a) {
        int b = 0;
        (pair<A, P>(a, b++), ...);
    }
    template <class A, class B>
    void pair(int a, int b) {
        const Kind &p = kinds[static_cast<std::size_t>(a)], &q = kinds[static_cast<std::size_t>(b)];
        const bool allowed =
            (p.reads && q.reads) || (p.adds && q.adds && std::string(p.name) == q.name);
        const std::string expected =
            allowed
                ? ""
                : std::string("in kernel 'the pair': 'first' (") + p.name + ") and 'second' (" +
                      q.name +
                      ") are bound to one array; only two Reads or two Accumulates may share an "
                      "array; copy it, or split the kernel";
        CHECK(bind_one_array_twice<S, A, B>(type) == expected);
        ++pairs;
    }
};

}  // namespace

TEST_CASE("aliasing: every pair of accesses to one real array") {
    Matrix<Float, Read<Float>, Param<Float>, Write<Float>, ReadWrite<Float>, Accumulate<Float>,
           Sum<Float>, WriteSlice<Float>, Reduce<Float>>
        matrix{Type::f64,
               {{"Read", true, false},
                {"Param", true, false},
                {"Write", false, false},
                {"ReadWrite", false, false},
                {"Accumulate", false, true},
                {"Sum", false, false},
                {"WriteSlice", false, false},
                {"Reduce", false, true}}};
    matrix.check();
    CHECK(matrix.pairs == 64);
}

TEST_CASE("aliasing: every pair of accesses to one integer array") {
    Matrix<Int, Read<Int>, Param<Int>, Write<Int>, ReadWrite<Int>, Accumulate<Int>, Sum<Int>,
           WriteSlice<Int>, Atomic<Int>>
        matrix{Type::i32,
               {{"Read", true, false},
                {"Param", true, false},
                {"Write", false, false},
                {"ReadWrite", false, false},
                {"Accumulate", false, true},
                {"Sum", false, false},
                {"WriteSlice", false, false},
                {"Atomic", false, false}}};
    matrix.check();
    CHECK(matrix.pairs == 64);
}

TEST_CASE("aliasing: set() checks it too, and keeps what was bound") {
    const KernelDef def =
        kernel("add", {"a", "b", "y"},
               [](Int i, Read<Float> a, Read<Float> b, Write<Float> y) { y[i] = a[i] + b[i]; });
    const Array a = Array::from(std::vector<double>{1}, Type::f64, {1});
    const Array y(Type::f64, {1});
    Launch launch(test::interpreter_device(), def, Precision::f64, 1, {a, a, y});
    CHECK_THROWS_WITH_AS(launch.set("b", y),
                         "in kernel 'add': 'b' (Read) and 'y' (Write) are bound to one array; only "
                         "two Reads or two Accumulates may share an array; copy it, or split the "
                         "kernel",
                         Error);
    launch.forward().run();
    CHECK(y.value(0) == 2);
}

TEST_CASE("aliasing: an array and its own gradient, in a launch that is differentiated") {
    // A step of gradient descent: its forward direction is fine, its adjoint would read and add to
    // the gradient at once.
    const KernelDef descend = kernel(
        "descend", {"x", "gradient"},
        [](Int i, ReadWrite<Float> x, Read<Float> gradient) { x[i] -= 0.1 * gradient[i] * x[i]; });
    const Array x = Array::from(std::vector<double>{2}, Type::f64, {1});
    x.gradient().fill(5);
    const Launch launch(test::interpreter_device(), descend, Precision::f64, 1, {x, x.gradient()});
    launch.forward().run();
    CHECK(x.value(0) == 2 - 0.1 * 5 * 2);
    CHECK_THROWS_WITH_AS(launch.adjoint(),
                         "in kernel 'descend': in the adjoint direction, 'gradient' (Read) and "
                         "'x.a1' (ReadWrite) are bound to one array; copy it: a differentiated "
                         "launch cannot take an array and its gradient",
                         Error);
}
