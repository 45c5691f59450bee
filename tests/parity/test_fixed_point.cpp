// Accumulation at dynamic indices: exact sums in fixed point, with the interpreter's bits at every
// width and number of threads, and with the values that exact arithmetic gives.
#include <doctest/doctest.h>

#include "engine/ad/differentiate.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

namespace {

// Each item adds to the cell that its position lies in, and half of it to the next.
const KernelDef deposit =
    kernel("deposit", {"x", "value", "stride", "grid"},
           [](Int i, Read<Float> x, Read<Vec3> value, Param<Int> stride, Accumulate<Vec3> grid) {
               const Int cell = Int(x[i]);
               const Vec3 v = value[i];
               grid[cell] += v;
               grid[cell + stride.value()] += v * 0.5;
           });
// One component, one site.
const KernelDef tally = kernel(
    "tally", {"x", "value", "grid"},
    [](Int i, Read<Float> x, Read<Float> value, Sum<Float> grid) { grid[Int(x[i])] += value[i]; });
const KernelDef sample =
    kernel("sample", {"x", "u", "y"}, [](Int i, Read<Float> x, Read<Vec2> u, Write<Vec2> y) {
        const Int cell = Int(x[i]);
        const Float f = x[i] - Float(cell);
        y[i] = u[cell] * (1.0 - f) + u[cell + 1] * f;
    });

std::vector<double> uniform(std::size_t n, double low, double high, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> distribution(low, high);
    std::vector<double> values(n);
    for (double& v : values) v = distribution(random);
    return values;
}

std::vector<double> run_tally(Precision precision, const std::vector<double>& x,
                              const std::vector<double>& value, std::int64_t cells, int width,
                              int threads) {
    Launch launch(tally.trace(precision), static_cast<std::int64_t>(x.size()));
    launch.set("x", x).set("value", value).resize("grid", cells);
    ThreadPool pool(threads);
    const auto out = launch.run(*backend::compile_cpu(launch.kernel(), {.width = width}), &pool);
    launch.expect_on_cuda(out);
    std::vector<double> grid;
    for (const ir::Bits b : out[2])
        grid.push_back(ir::real_of(b, launch.kernel().parameters[2].type));
    return grid;
}

}  // namespace

TEST_CASE("fixed point: the interpreter's bits in every form, width and number of threads") {
    HINDCAST_NEEDS_LLVM();
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const int items : {1, 7, 64, 5000})
            for (const Form form : {Form::elements, Form::planes, Form::strided}) {
                const auto n = static_cast<std::size_t>(items);
                Launch launch(deposit.trace(precision), items);
                launch.set("x", uniform(n, 0, 900, 1))
                    .set("value", uniform(3 * n, -1e3, 1e3, 2))
                    .set("stride", {30})
                    .set("grid", uniform(3 * 930, -1, 1, 3))
                    .form("grid", form);
                CHECK(launch.differences(false, {1, 3}) == "");
                CHECK(launch.differences(true) == "");
            }
}

TEST_CASE("fixed point: few items and a large target share one grid of atomic sums") {
    HINDCAST_NEEDS_LLVM();
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        constexpr std::size_t n = 9000, cells = 200000;
        Launch launch(deposit.trace(precision), n);
        launch.set("x", uniform(n, 0, cells - 31, 1))
            .set("value", uniform(3 * n, -1e3, 1e3, 2))
            .set("stride", {30})
            .resize("grid", cells);
        CHECK(launch.differences(false, {2}) == "");
    }
}

TEST_CASE("fixed point: sums are exact, whatever cancels") {
    HINDCAST_NEEDS_LLVM();
    // 2^20 and -2^20 in turns around 300 ones: f32 additions in order would lose ones.
    std::vector<double> x, value;
    for (int k = 0; k < 900; ++k) {
        x.push_back(2.5);
        value.push_back(k % 3 == 0 ? 0x1p24 : k % 3 == 1 ? 1 : -0x1p24);
    }
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const int width : {1, 8}) {
            const auto grid = run_tally(precision, x, value, 5, width, 2);
            CHECK(grid == std::vector<double>{0, 0, 300, 0, 0});
        }
}

TEST_CASE("fixed point: many terms keep the accuracy of the type") {
    HINDCAST_NEEDS_LLVM();
    constexpr std::size_t n = 300000;
    const std::vector<double> x(n, 0.5);
    std::vector<double> value = uniform(n, 0, 1, 5);
    for (double& v : value) v = static_cast<float>(v);
    long double sum = 0;
    for (const double v : value) sum += v;
    const double f32 = run_tally(Precision::f32, x, value, 1, 0, 2)[0];
    CHECK(f32 == static_cast<double>(static_cast<float>(sum)));
    const double f64 = run_tally(Precision::f64, x, value, 1, 0, 2)[0];
    CHECK(f64 == static_cast<double>(sum));
}

TEST_CASE("fixed point: terms far below the largest keep what the definition promises") {
    HINDCAST_NEEDS_LLVM();
    // One item, one site: 62 bits below the next power of 16 in f32, 124 in f64.
    for (const double scale : {1e-30, 1.0, 1e25}) {
        const double small = 0x1p-30 * 1.2345678;
        const auto f32 = run_tally(Precision::f32, {0.5, 1.5}, {scale, small * scale}, 2, 0, 1);
        CHECK(f32[1] == doctest::Approx(static_cast<float>(small * scale)).epsilon(0x1p-24));
        const auto f64 =
            run_tally(Precision::f64, {0.5, 1.5}, {scale, small * small * scale}, 2, 0, 1);
        CHECK(f64[1] == small * small * scale);
    }
    // The whole range of the type: denormal numbers alone are exact, too.
    const auto tiny = run_tally(Precision::f32, {0.5, 0.5}, {0x1p-149, 0x1p-148}, 1, 8, 1);
    CHECK(tiny[0] == 0x1.8p-148);
    const auto tiny64 = run_tally(Precision::f64, {0.5, 0.5}, {0x1p-1074, 0x1p-1073}, 1, 8, 1);
    CHECK(tiny64[0] == 0x1.8p-1073);
    const auto huge = run_tally(Precision::f64, {0.5, 0.5}, {0x1p1023, -0x1p1022}, 1, 8, 1);
    CHECK(huge[0] == 0x1p1022);
    const auto over = run_tally(Precision::f32, {0.5, 0.5}, {0x1p127, 0x1p127}, 1, 8, 1);
    CHECK(over[0] == INFINITY);
}

TEST_CASE("fixed point: totals in f64 are rounded once, to the nearest, ties to even") {
    HINDCAST_NEEDS_LLVM();
    const auto total = [](const std::vector<double>& terms) {
        return run_tally(Precision::f64, std::vector<double>(terms.size(), 0.5), terms, 1, 0, 1)[0];
    };
    for (const double sign : {1.0, -1.0})
        for (const double scale : {1.0, 0x1p-40, 0x1p900, 0x1p-1000}) {
            const double u = sign * scale;
            CHECK(total({u, u * 0x1p-53}) == u);
            CHECK(total({u * (1 + 0x1p-52), u * 0x1p-53}) == u * (1 + 0x1p-51));
            CHECK(total({u, -u * 0x1p-54}) == u);
            if (scale < 0x1p-900) continue;  // the next terms are not numbers of the type
            CHECK(total({u, u * 0x1p-53, u * 0x1p-100}) == u * (1 + 0x1p-52));
            CHECK(total({u, -u * 0x1p-54, -u * 0x1p-100}) == u * (1 - 0x1p-53));
        }
    // Against sums of 128 bits: many terms of 53 bits, scaled by 2^-40 to 1.
    __extension__ typedef __int128 Wide;
    constexpr std::size_t cells = 500, n = 8 * cells;
    std::mt19937_64 random(11);
    std::vector<double> x(n), value(n);
    std::vector<Wide> sums(cells, 0);
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t cell = random() % cells;
        const auto mantissa = static_cast<std::int64_t>(random()) >> 11;
        const int up = static_cast<int>(cell % 41);
        x[k] = static_cast<double>(cell) + 0.5;
        value[k] = std::ldexp(static_cast<double>(mantissa), up - 40);
        sums[cell] += static_cast<Wide>(mantissa) << up;
    }
    const auto grid = run_tally(Precision::f64, x, value, cells, 0, 2);
    for (std::size_t c = 0; c < cells; ++c)
        CHECK(grid[c] == std::ldexp(static_cast<double>(sums[c]), -40));
}

TEST_CASE("fixed point: a scale depends on its own launch alone") {
    HINDCAST_NEEDS_LLVM();
    Launch first(tally.trace(Precision::f32), 40), second(first);
    first.set("x", uniform(40, 0, 9, 1)).set("value", uniform(40, -1e9, 1e9, 2)).resize("grid", 9);
    second.set("x", uniform(40, 0, 9, 1))
        .set("value", uniform(40, -1e-9, 1e-9, 2))
        .resize("grid", 9);
    const auto expected = second.run(*backend::interpret(second.kernel()));
    for (const auto& executable : executables(second.kernel())) {
        CHECK(second.run(*executable) == expected);
        first.run(*executable);
        CHECK(second.run(*executable) == expected);
    }
}

TEST_CASE("fixed point: what a launch changes is as it was when it runs again with its scale") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef move = kernel("move", {"x", "v", "sum", "grid"},
                                  [](Int i, ReadWrite<Float> x, ReadWrite<Vec2> v,
                                     Accumulate<Float> sum, Accumulate<Vec2> grid) {
                                      const Vec2 here = v[i];
                                      const Float place = x[i];
                                      grid[Int(place)] += here;
                                      sum[i] += here.x();
                                      // Work enough that copies cost less than running twice.
                                      v[i] = here * 0.5 + Vec2(sin(place), cos(place));
                                      x[i] = place * 0.75 + 1.0;
                                  });
    constexpr int items = 3000;
    const std::vector<double> x = uniform(items, 0, 300, 5), v = uniform(2 * items, -1, 1, 6);
    // By how much terms are larger than those of the launch before; often enough in turn for the
    // scale to be found before the run, and as often the same for it not to be.
    std::vector<double> factors{1, 1, 1e6, 1e-6, 1e-6, INFINITY, 1, 1};
    for (int k = 0; k < 12; ++k) factors.push_back(k % 2 == 0 ? 1e9 : 1e-9);
    factors.insert(factors.end(), {1, 1, 1, 1, 1, 1, 1, 1, 1, 1e3});
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const Form form : {Form::elements, Form::planes, Form::strided})
            for (const std::int64_t elements : {items, 40 * items}) {  // many cost more to copy
                const ir::Kernel traced = move.trace(precision);
                const auto executable = backend::compile_cpu(traced);
                ThreadPool pool(3);
                for (std::size_t k = 0; k < factors.size(); ++k) {
                    std::vector<double> scaled = v;
                    if (std::isinf(factors[k]))
                        scaled[77] = factors[k];
                    else
                        for (double& c : scaled) c *= factors[k];
                    scaled.resize(static_cast<std::size_t>(2 * elements), 3);
                    Launch launch(traced, items);
                    launch.set("x", x).set("v", scaled).resize("grid", 310);
                    launch.form("x", form).form("v", form).form("sum", form);
                    const auto expected = launch.run(*backend::interpret(traced));
                    const auto where = fmt::format("launch {}", k);
                    CHECK(launch.compare(expected, launch.run(*executable), where) == "");
                    CHECK(launch.compare(expected, launch.run(*executable, &pool), where) == "");
                }
            }
}

TEST_CASE("fixed point: infinities and NaNs reach their own targets, and no others") {
    HINDCAST_NEEDS_LLVM();
    const std::vector<double> x{0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 4.5, 4.5, 5.5},
        value{1, INFINITY, 2, INFINITY, -INFINITY, NAN, 3, 0.25, -INFINITY};
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const int width : {1, 4, 16}) {
            const auto grid = run_tally(precision, x, value, 7, width, 2);
            CHECK(grid[0] == 1);
            CHECK(grid[1] == INFINITY);
            CHECK(std::isnan(grid[2]));
            CHECK(std::isnan(grid[3]));
            CHECK(grid[4] == 3.25);
            CHECK(grid[5] == -INFINITY);
            CHECK(grid[6] == 0);
        }
    Launch launch(deposit.trace(Precision::f32), 5000);
    std::vector<double> many = uniform(15000, -1, 1, 2);
    for (std::size_t k = 100; k < many.size(); k += 777)
        many[k] = k % 3 == 0 ? INFINITY : k % 3 == 1 ? -INFINITY : NAN;
    launch.set("x", uniform(5000, 0, 900, 1)).set("value", many).set("stride", {30});
    launch.resize("grid", 930);
    CHECK(launch.differences(false, {3}) == "");
}

TEST_CASE("fixed point: an index out of range is a fault, also unchecked") {
    HINDCAST_NEEDS_LLVM();
    for (const double bad : {-2.0, 7.0, 1e6}) {
        Launch launch(tally.trace(Precision::f32), 40);
        std::vector<double> x(40, 3.0);
        x[21] = x[33] = bad;
        launch.set("x", x).resize("grid", 7);
        CHECK(launch.error_differences(false) == "");
        CHECK(launch.error_differences(true) == "");
        const std::string message = launch.error(*backend::interpret(launch.kernel()));
        CHECK(message.find("item 21") != std::string::npos);
        // The executable works on.
        const auto executable = backend::compile_cpu(launch.kernel());
        CHECK(launch.error(*executable) == message);
        launch.set("x", std::vector<double>(40, 3.0));
        CHECK(launch.run(*executable) == launch.run(*backend::interpret(launch.kernel())));
    }
}

TEST_CASE("fixed point: launches without items or terms") {
    HINDCAST_NEEDS_LLVM();
    Launch none(tally.trace(Precision::f32), 0);
    none.set("grid", {1, 2, 3});
    CHECK(none.differences() == "");
    CHECK(none.run(*backend::compile_cpu(none.kernel()))[2] == std::vector<ir::Bits>{0, 0, 0});
    const KernelDef seldom =
        kernel("seldom", {"x", "grid"}, [](Int i, Read<Float> x, Accumulate<Float> grid) {
            if_(x[i] > 5.0, [&] { grid[Int(x[i])] += x[i]; });
        });
    Launch launch(seldom.trace(Precision::f32), 50);
    launch.set("grid", {-0.0, 1, 2});  // what receives nothing keeps the sign of its zero
    CHECK(launch.differences(false, {2}) == "");
    launch.set("x", uniform(50, 0, 9, 4)).resize("grid", 9);
    CHECK(launch.differences(false, {2}) == "");
}

TEST_CASE("fixed point: sites in loops and branches, several parameters, other accesses beside") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("walk", {"count", "x", "a", "b", "own", "w", "total"},
               [](Int i, Read<Int> count, Read<Float> x, Accumulate<Vec<Float, 5>> a, Sum<Vec2> b,
                  Accumulate<Float> own, Write<Float> w, Reduce<Float> total) {
                   Float v = x[i];
                   for_(Int(0), count[i], Int(1), [&](Int j) {
                       v = v * 0.75 + 0.1;
                       Vec<Float, 5> all = Vec<Float, 5>::filled(v);
                       all[3] = v * v;
                       a[(i * 7 + j * 3) % 11] += all;
                       if_(v > 0.2, [&] { b[Int(v * 3.0)].y() += v; });
                   });
                   own[i] += v;
                   w[i] = v;
                   total += v;
               });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        Launch launch(k.trace(precision), 3000);
        std::vector<double> counts;
        for (int i = 0; i < 3000; ++i) counts.push_back(i % 7);
        launch.set("count", counts)
            .set("x", uniform(3000, -2, 2, 6))
            .resize("a", 11)
            .resize("b", 8)
            .set("total", {0});
        CHECK(launch.differences(false, {2}) == "");
        CHECK(launch.differences(true) == "");
    }
}

TEST_CASE("fixed point: two parameters on one buffer") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("both", {"index", "x", "a", "b"},
               [](Int i, Read<Int> index, Read<Float> x, Accumulate<Float> a, Accumulate<Float> b) {
                   a[Int(abs(x[i]) * 10.0)] += x[i];
                   b[index[i]] += x[i] * 3.0;
               });
    Launch launch(k.trace(Precision::f32), 200);
    std::vector<double> index;
    for (int i = 0; i < 200; ++i) index.push_back(i * 13 % 20);
    launch.set("index", index).resize("a", 25).resize("b", 25).share("b", "a");
    CHECK(launch.differences(false, {2}) == "");
}

TEST_CASE("fixed point: adjoints of gathers, their tangents and their adjoints") {
    HINDCAST_NEEDS_LLVM();
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel k = sample.trace(precision);
        const ir::Kernel adjoint = ad::adjoint(k);
        for (const ir::Kernel& each : {adjoint, ad::tangent(adjoint), ad::adjoint(adjoint),
                                       ad::tangent(deposit.trace(precision))}) {
            Launch launch(each, 600);
            launch.set("x", uniform(600, 0, 500, 8));
            CHECK(launch.differences(false, {2}) == "");
        }
    }
    // Against the sums in long double: u.a1[cell] = sum of (1 - f) y.a1, u.a1[cell + 1] of f y.a1.
    constexpr std::size_t n = 4000;
    const ir::Kernel adjoint = ad::adjoint(sample.trace(Precision::f64), {"u", "y"});
    Launch launch(adjoint, n);
    const std::vector<double> x = uniform(n, 0, 30, 9), seed = uniform(2 * n, -1e-8, 1e-8, 10);
    launch.set("x", x)
        .set(ad::adjoint_name(sample.trace(Precision::f64), "y"), seed)
        .resize("u", 31)
        .resize(ad::adjoint_name(sample.trace(Precision::f64), "u"), 31);
    std::vector<long double> expected(62, 0);
    for (std::size_t i = 0; i < n; ++i) {
        const auto cell = static_cast<std::size_t>(x[i]);
        const double f = x[i] - static_cast<double>(cell);
        for (std::size_t c = 0; c < 2; ++c) {
            expected[2 * cell + c] += static_cast<long double>(seed[2 * i + c]) * (1 - f);
            expected[2 * cell + 2 + c] += static_cast<long double>(seed[2 * i + c]) * f;
        }
    }
    ThreadPool pool(2);
    const auto out = launch.run(*backend::compile_cpu(adjoint), &pool);
    launch.expect_on_cuda(out);
    const int u = adjoint.find_parameter(ad::adjoint_name(sample.trace(Precision::f64), "u"));
    for (std::size_t k = 0; k < 62; ++k)
        CHECK(ir::real_of(out[static_cast<std::size_t>(u)][k], ir::Type::f64) ==
              doctest::Approx(static_cast<double>(expected[k])).epsilon(1e-14));
}

}  // namespace hindcast::test
