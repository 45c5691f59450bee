// Control flow, local arrays and faults: the CPU at every width against the interpreter.
#include <doctest/doctest.h>

#include "engine/ad/differentiate.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

namespace {

std::vector<double> counting(int n, int modulus, int offset = 0) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(i * 7 % modulus + offset);
    return values;
}

// Forward, and the adjoint and tangent of it.
void check_all(const KernelDef& definition, const std::function<void(Launch&)>& set,
               std::int64_t items = 53) {
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel k = definition.trace(precision);
        for (const ir::Kernel& kernel : {k, ad::adjoint(k), ad::tangent(k)}) {
            CAPTURE(kernel.name);
            Launch launch(kernel, items);
            set(launch);
            CHECK(launch.differences() == "");
        }
    }
}

}  // namespace

TEST_CASE("CPU: masked tails of every length") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("tail", {"x", "y"}, [](Int i, Read<Vec3> x, Write<Vec3> y) {
        y[i] = x[i] * 2.0 + Vec3(1, 2, 3);
    });
    for (int items = 0; items <= 34; ++items) {
        CAPTURE(items);
        Launch launch(k.trace(Precision::f32), items);
        // The arrays are longer than the launch: what lies behind must not be touched.
        launch.resize("x", 40).resize("y", 40);
        CHECK(launch.differences() == "");
    }
}

TEST_CASE("CPU: branches, nested, with and without effects") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel(
        "branches", {"x", "n", "scale", "y"},
        [](Int i, Read<Float> x, Read<Int> n, Param<Float> scale, Write<Float> y) {
            Float a = x[i], b = 0.0;
            if_(
                a > 0.0, [&] { b = a * a; }, [&] { b = -a; });  // cheap: no branch
            if_(n[i] > 2, [&] {                                 // loads inside
                Float c = x[n[i]];
                if_(
                    c > b,
                    [&] {
                        b = sqrt(abs(c)) + 1.0;
                        a = a / (c + 5.0) / (b + 3.0) / (a + 9.0);
                    },
                    [&] { a = c * b; });
            });
            if_(
                Float(scale) > 0.0, [&] { b = b * scale; }, [&] { a = a + scale; });  // uniform
            y[i] = a + b;
        });
    for (const double scale : {1.5, -2.0})
        check_all(k, [&](Launch& l) { l.set("n", counting(53, 11)).set("scale", {scale}); });
}

TEST_CASE("CPU: a load in a branch that no lane may execute elsewhere") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("guarded", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        Float r = -1.0;
        if_(i > 0, [&] { r = Float(x[i - 1]) * 2.0; });
        if_(i < 3, [&] { r = r + Float(x[i + 1]); });
        y[i] = r;
    });
    check_all(k, [](Launch&) {});
}

TEST_CASE("CPU: loops with bounds that differ from lane to lane") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("loops", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, ReadWrite<Float> y) {
            Float sum = y[i], product = 1.0;
            for_(
                0, n[i],
                [&](Int j) {
                    sum += Float(x[j]) * product;
                    for_(
                        j, n[j] - 1, Int(2),
                        [&](Int m) { product = product * 0.9 + Float(x[m]) * 0.01; }, 20);
                },
                20);
            for_(0, 12, [&](Int j) { sum = sum * 0.5 + Float(j); });  // uniform
            y[i] = sum + product;
        });
    check_all(k, [](Launch& l) { l.set("n", counting(53, 13)); });
}

TEST_CASE("CPU: while with early ends, and a loop inside it") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("whiles", {"x", "n", "y", "count"},
               [](Int i, Read<Float> x, Read<Int> n, Write<Float> y, Write<Int> count) {
                   Float a = abs(Float(x[i])) + 0.5;
                   Int steps = 0;
                   while_([&] { return a < 3.0 && steps < n[i]; },
                          [&] {
                              for_(
                                  0, steps, [&](Int) { a = a * 1.03; }, 40);
                              a = a * 1.1;
                              steps = steps + 1;
                          },
                          40);
                   y[i] = a;
                   count[i] = steps;
               });
    check_all(k, [](Launch& l) { l.set("n", counting(53, 19)); });
}

TEST_CASE("CPU: a uniform while") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("uniform_while", {"x", "limit", "y"},
                               [](Int i, Read<Float> x, Param<Float> limit, Write<Float> y) {
                                   Float a = 1.0, b = x[i];
                                   while_([&] { return a < limit; },
                                          [&] {
                                              a = a * 1.5;
                                              b = b + a;
                                          },
                                          30);
                                   y[i] = b;
                               });
    check_all(k, [](Launch& l) { l.set("limit", {20}); });
}

TEST_CASE("CPU: carried values that swap, booleans and integers among them") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("swap", {"x", "n", "y", "z"},
                               [](Int i, Read<Float> x, Read<Int> n, Write<Float> y, Write<Int> z) {
                                   Float a = x[i], b = 1.0;
                                   Int p = 0, q = 1;
                                   Bool flag = a > 0.0;
                                   for_(
                                       0, n[i],
                                       [&](Int j) {
                                           Float t = a;
                                           a = b;
                                           b = t * 0.99;
                                           Int u = p + q;
                                           p = q;
                                           q = u;
                                           flag = (flag && j < 5) || a > 1.0;
                                       },
                                       30);
                                   y[i] = a - b + select(flag, Float(1.0), Float(0.0));
                                   z[i] = p;
                               });
    check_all(k, [](Launch& l) { l.set("n", counting(53, 23)); });
}

TEST_CASE("CPU: faults of loops name the lowest item") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef loop = kernel("over", {"n", "y"}, [](Int i, Read<Int> n, Write<Int> y) {
        Int s = 0;
        for_(
            0, n[i], [&](Int j) { s = s + j; }, 10);
        y[i] = s;
    });
    const KernelDef whiles = kernel("endless", {"n", "y"}, [](Int i, Read<Int> n, Write<Int> y) {
        Int s = 0;
        if_(i > 3, [&] { while_([&] { return s < n[i]; }, [&] { s = s + 1; }, 10); });
        y[i] = s;
    });
    for (const KernelDef& k : {loop, whiles}) {
        std::vector<double> n(100, 10);
        Launch ok(k.trace(Precision::f64), 100);
        CHECK(ok.set("n", n).differences() == "");
        n[97] = 99, n[37] = 11, n[41] = 50;
        Launch over(k.trace(Precision::f64), 100);
        over.set("n", n);
        CHECK(over.error_differences(false) == "");
        CHECK(over.error(*backend::compile_cpu(over.kernel())).find("item 37") !=
              std::string::npos);
    }
    // Masked lanes raise nothing.
    std::vector<double> n(100, 3);
    n[2] = 1000;
    Launch masked(whiles.trace(Precision::f64), 100);
    CHECK(masked.set("n", n).differences() == "");
}

TEST_CASE("CPU: a fault on several threads is that of the lowest item") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("over_many", {"n", "y"}, [](Int i, Read<Int> n, Write<Int> y) {
        Int s = 0;
        for_(
            0, n[i], [&](Int j) { s = s + j; }, 10);
        y[i] = s;
    });
    std::vector<double> n(40000, 10);
    n[33333] = 11, n[12345] = 12, n[39999] = 13;
    Launch launch(k.trace(Precision::f64), 40000);
    launch.set("n", n);
    ThreadPool pool(3);
    CHECK(launch.error(*backend::compile_cpu(launch.kernel()), &pool).find("item 12345") !=
          std::string::npos);
}

TEST_CASE("CPU: the adjoint of an overrun loop stays within its tapes") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("taped", {"x", "n", "y"}, [](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            Float a = x[i];
            for_(
                0, n[i], [&](Int) { a = a * a * 0.5; }, 4);
            y[i] = a;
        });
    const ir::Kernel adjoint = ad::adjoint(k.trace(Precision::f64));
    Launch launch(adjoint, 20);
    std::vector<double> n(20, 4);
    n[7] = 1000000;
    CHECK(launch.set("n", n).error_differences(false) == "");
}

}  // namespace hindcast::test
