// Memory on the CPU: layouts, own elements, accumulation of all kinds, slices, atomics, checked
// mode.
#include <doctest/doctest.h>

#include "engine/ad/differentiate.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

namespace {

const KernelDef springs = kernel("springs", {"ends", "rest", "x", "stiffness", "force"},
                                 [](Int s, Read<Int2> ends, Read<Float> rest, Read<Vec3> x,
                                    Param<Float> stiffness, Accumulate<Vec3> force) {
                                     Int a = ends[s].x(), b = ends[s].y();
                                     Vec3 d = x[b] - x[a];
                                     Vec3 f = d * (stiffness * (1.0 - rest[s] / norm(d)));
                                     force[a] += f;
                                     force[b] -= f;
                                 });

std::vector<double> random_indices(int n, int below, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<double> values;
    for (int i = 0; i < n; ++i)
        values.push_back(static_cast<double>(random() % static_cast<unsigned>(below)));
    return values;
}
std::vector<double> random_reals(int n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values;
    for (int i = 0; i < n; ++i)
        values.push_back(uniform(random) * std::pow(10.0, static_cast<int>(random() % 9) - 4));
    return values;
}

}  // namespace

TEST_CASE("CPU: every layout of every access") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("layouts", {"a", "index", "w", "rw", "sum", "own"},
               [](Int i, Read<Vec3> a, Read<Int> index, Write<Vec3> w, ReadWrite<Vec<Float, 5>> rw,
                  Sum<Vec3> sum, Accumulate<Vec2> own) {
                   Vec3 near = a[i], far = a[index[i]];
                   w[i] = near + far;
                   rw[i][1] = far.x();  // one component only
                   rw[i][4] += near.y() * far.z();
                   sum[index[i]] += cross(near, far);
                   own[i] += Vec2(near.x(), 1.0);
                   if_(near.y() > 0.0, [&] { own[i][0] += far.y(); });
               });
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const Form first : {Form::elements, Form::planes, Form::strided})
            for (const Form second : {Form::elements, Form::planes, Form::strided}) {
                Launch launch(k.trace(precision), 45);
                launch.set("index", random_indices(45, 45, 3))
                    .form("a", first)
                    .form("w", second)
                    .form("rw", second)
                    .form("sum", first)
                    .form("own", first);
                CHECK(launch.differences() == "");
            }
}

TEST_CASE("CPU: stencils, whose loads of neighbors are done together") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("stencil", {"x", "u", "w", "y", "z"},
               [](Int i, Read<Float> x, Read<Vec2> u, Read<Vec3> w, Write<Vec2> y, Write<Vec3> z) {
                   const Int node = Int(abs(x[i]) * 3.0);
                   Vec2 sum = u[node + 2] * 0.5;  // not in order, one of them twice, a gap
                   for (const int offset : {0, 1, 2, 7, 8, 4}) sum += u[node + offset] * x[i];
                   y[i] = sum - u[node + 9];
                   z[i] = w[node + 1] + w[node] - w[node - 1 + 3];
               });
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const int items : {1, 15, 16, 17, 333})
            for (const Form form : {Form::elements, Form::planes}) {
                Launch launch(k.trace(precision), items);
                // No element more than the launch reads: |x| < 2.
                std::vector<double> u(2 * 15), w(3 * 8);
                for (std::size_t j = 0; j < u.size(); ++j) u[j] = std::sin(1.0 + 3.0 * double(j));
                for (std::size_t j = 0; j < w.size(); ++j) w[j] = std::cos(2.0 + 5.0 * double(j));
                launch.set("u", u).set("w", w).form("u", form);
                CHECK(launch.differences(false, {2}) == "");
                CHECK(launch.differences(true) == "");
            }
}

TEST_CASE("CPU: one value for all items, and indices of other types") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("indices", {"a", "one", "u", "l", "y"},
               [](Int i, Read<Vec2> a, Read<Vec2> one, Read<UInt> u, Read<Long> l, Write<Vec2> y) {
                   const ir::Value by_u = builder().load(0, 0, UInt(u[i]).value()),
                                   by_l = builder().load(0, 1, Long(l[i]).value());
                   y[i] = Vec2(Float::from(by_u), Float::from(by_l)) + cwise_product(one[i], a[5]);
               });
    Launch launch(k.trace(Precision::f32), 33);
    launch.set("u", random_indices(33, 33, 1)).set("l", random_indices(33, 33, 2));
    CHECK(launch.differences() == "");
    CHECK(launch.set("one", {3, -5}).form("one", Form::shared).differences() == "");
    CHECK(launch.differences(true) == "");
}

TEST_CASE("CPU: accumulation over static indices") {
    HINDCAST_NEEDS_LLVM();
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const int targets : {1, 2, 40, 700}) {
            const ir::Kernel k = springs.trace(precision);
            for (const ir::Kernel& kernel :
                 {k, ad::adjoint(k), ad::tangent(k), ad::tangent(ad::adjoint(k))}) {
                CAPTURE(kernel.name);
                Launch launch(kernel, 3000);
                for (const ir::Parameter& p : kernel.parameters) {
                    if (p.components != 3) continue;
                    launch.set(p.name, random_reals(3 * targets, 4));
                }
                launch.set("ends", random_indices(6000, targets, 9));
                CHECK(launch.differences(false, {1, 2, 3}) == "");
            }
        }
}

TEST_CASE("CPU: accumulation with branches, computed indices, and -0") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("branching", {"x", "table", "shift", "y", "z"},
                               [](Int i, Read<Vec<Float, 6>> x, Read<Int> table, Param<Int> shift,
                                  Accumulate<Vec<Float, 6>> y, Sum<Float> z) {
                                   Vec<Float, 6> v = x[i];
                                   if_(v[0] > 0.0, [&] { y[(i * 5 + shift) % 17] += v; });
                                   if_(
                                       table[i] >= 0,
                                       [&] {
                                           y[table[i]][2] += v[2] * 1e10;
                                           y[table[i]][5] += v[5];
                                       },
                                       [&] { z[i / 3] += v[1]; });
                                   z[table[i % 4 + 1]] += v[3];
                                   z[3] += Float(-0.0);
                               });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        Launch launch(k.trace(precision), 200);
        std::vector<double> table = random_indices(200, 20, 5);
        for (std::size_t i = 7; i < table.size(); i += 3)
            table[i] = -1;  // not executed: out of range on purpose
        launch.set("x", random_reals(1200, 8))
            .set("table", table)
            .set("shift", {3})
            .set("y", std::vector<double>(17 * 6 + 24, -0.0))
            .resize("z", 80);
        CHECK(launch.differences(false, {2}) == "");
    }
}

TEST_CASE("CPU: accumulation over indices that are not static, and in loops") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("dynamic", {"x", "n", "y", "own"},
               [](Int i, Read<Float> x, Read<Int> n, Accumulate<Float> y, Accumulate<Float> own) {
                   Int cell = Int(abs(Float(x[i])) * 10.0) % 16;
                   y[cell] += x[i];
                   for_(0, n[i], [&](Int j) {
                       y[j] += Float(x[i]) * 0.1;
                       own[i] += Float(j) + x[i];
                   });
               });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        Launch launch(k.trace(precision), 400);
        launch.set("n", random_indices(400, 16, 2)).resize("y", 16);
        CHECK(launch.differences(false, {3}) == "");
    }
    // The own part alone runs in vectors.
    const KernelDef own_only = kernel("own_in_loop", {"x", "n", "own"},
                                      [](Int i, Read<Float> x, Read<Int> n, Sum<Float> own) {
                                          for_(0, n[i], [&](Int j) { own[i] += Float(j) * x[i]; });
                                      });
    Launch launch(own_only.trace(Precision::f32), 400);
    launch.set("n", random_indices(400, 16, 2)).set("own", random_reals(500, 3));
    CHECK(launch.differences(false, {3}) == "");
}

TEST_CASE("CPU: two accumulations into one buffer keep the order of the definition") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("twice", {"x", "j", "p", "q"},
               [](Int i, Read<Float> x, Read<Int> j, Accumulate<Float> p, Accumulate<Float> q) {
                   p[i] += x[i] * 1e8;
                   q[i] += x[i];
                   q[j[i]] += 1.0;
                   p[j[i]] -= x[i];
               });
    for (const bool shared : {false, true}) {
        Launch launch(k.trace(Precision::f32), 64);
        launch.set("j", random_indices(64, 64, 6));
        if (shared) launch.share("q", "p");
        CHECK(launch.differences(false, {2}) == "");
    }
}

TEST_CASE("CPU: the inverse index follows its buffers") {
    HINDCAST_NEEDS_LLVM();
    const auto all = executables(springs.trace(Precision::f32));
    const auto reference = backend::interpret(springs.trace(Precision::f32));
    for (const unsigned seed :
         {1u, 2u, 1u}) {  // a new version each: what was known must not be used
        Launch launch(springs.trace(Precision::f32), 500);
        launch.set("ends", random_indices(1000, 500, seed));
        for (const auto& executable : all) CHECK(launch.run(*executable) == launch.run(*reference));
    }
    for (const int items : {500, 3, 0, 64}) {
        Launch launch(springs.trace(Precision::f32), items);
        launch.set("ends", random_indices(2 * items, std::max(items, 1), 4));
        for (const auto& executable : all) CHECK(launch.run(*executable) == launch.run(*reference));
    }
}

TEST_CASE("CPU: slices and their adjoints") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel(
        "slices", {"x", "n", "out"}, [](Int i, Read<Vec2> x, Read<Int> n, WriteSlice<Vec2> out) {
            for_(
                0, n[i], [&](Int j) { out.store_once(i * 4 + j, Vec2(x[i]) * Float(j)); }, 4);
        });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel forward = k.trace(precision);
        for (const ir::Kernel& kernel : {forward, ad::adjoint(forward)}) {
            Launch launch(kernel, 21);
            for (const ir::Parameter& p : kernel.parameters)
                if (p.name.find("out") == 0) launch.set(p.name, random_reals(21 * 4 * 2, 3));
            launch.set("n", random_indices(21, 5, 3));
            CHECK(launch.differences() == "");
        }
    }
}

TEST_CASE("CPU: integer atomics and integer accumulation") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("atomics", {"j", "v", "sum", "low", "high", "count"},
                               [](Int i, Read<Int> j, Read<UInt> v, Atomic<Int> sum,
                                  Atomic<UInt> low, Atomic<Int> high, Sum<Int> count) {
                                   sum[j[i]].add(i * 3 - 40);
                                   if_(i > 5, [&] { low[j[i]].min(v[i]); });
                                   high[j[i]].max(i - 90);
                                   count[j[i]] += 1;
                               });
    Launch launch(k.trace(Precision::f32), 5000);
    launch.set("j", random_indices(5000, 10, 1)).set("v", random_indices(5000, 2000000000, 2));
    CHECK(launch.differences(false, {2, 3}) == "");
}

TEST_CASE("CPU: own elements at an injective index") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("permute", {"p", "x", "y", "z"},
               [](Int i, Read<Int> p, Read<Vec3> x, Write<Vec3> y, ReadWrite<Float> z) {
                   const Int j = injective(Int(p[i]));
                   y[j] = x[i];
                   z[j] += Float(i);
               });
    Launch launch(k.trace(Precision::f32), 30);
    std::vector<double> p;
    for (int i = 0; i < 30; ++i) p.push_back(i * 7 % 30);
    CHECK(launch.set("p", p).differences() == "");
    CHECK(launch.differences(true) == "");
}

TEST_CASE("CPU: checked mode computes the same, and reports the first index out of range") {
    HINDCAST_NEEDS_LLVM();
    {
        Launch launch(springs.trace(Precision::f32), 100);
        launch.set("ends", random_indices(200, 100, 9));
        CHECK(launch.differences(true, {2}) == "");
    }
    const auto at = [](int item, double value) {
        std::vector<double> j(50, 1);
        for (std::size_t i = 0; i < j.size(); ++i) j[i] = static_cast<double>(i);
        j[static_cast<std::size_t>(item)] = value, j[static_cast<std::size_t>(item + 3)] = -7;
        return j;
    };
    const KernelDef load =
        kernel("load", {"j", "x", "y"},
               [](Int i, Read<Int> j, Read<Vec3> x, Write<Vec3> y) { y[i] = x[j[i]]; });
    const KernelDef far_load = kernel("guarded_load", {"j", "x", "y"},
                                      [](Int i, Read<Int> j, Read<Float> x, Write<Float> y) {
                                          Float r = 0.0;
                                          if_(i >= 8, [&] { r = x[j[i]]; });
                                          y[i] = r;
                                      });
    const KernelDef sum =
        kernel("sum", {"j", "x", "y"},
               [](Int i, Read<Int> j, Read<Float> x, Sum<Float> y) { y[j[i]] += x[i]; });
    const KernelDef dynamic =
        kernel("dynamic_sum", {"j", "x", "y"}, [](Int i, Read<Int> j, Read<Float> x, Sum<Float> y) {
            y[j[i] + Int(Float(x[i]) * 0.0)] += x[i];
        });
    const KernelDef own =
        kernel("own", {"j", "x", "y"}, [](Int i, Read<Int> j, Read<Float> x, Accumulate<Float> y) {
            y[i] += Float(x[i]) + Float(Int(j[i]));
        });
    const KernelDef count =
        kernel("count", {"j", "x", "y"}, [](Int, Read<Int> j, Read<Float> x, Write<Float> y) {
            const Int i = Int::from(builder().item());
            y[i] = Float(x[i]) + Float(Int(j[i]));
        });
    for (const KernelDef& k : {load, far_load, sum, dynamic}) {
        Launch launch(k.trace(Precision::f64), 50);
        CAPTURE(launch.kernel().name);
        launch.set("j", at(20, 50));
        CHECK(launch.error_differences(true) == "");
        CHECK(launch.error(*backend::compile_cpu(launch.kernel(), {.checked = true}))
                  .find("item 20: index 50 is out of range") != std::string::npos);
        launch.set("j", at(9, -1));
        CHECK(launch.error_differences(true) == "");
        // A masked-out access is not reported.
        if (k.name() == "guarded_load") {
            launch.set("j", std::vector<double>(50, 3)).set("j", [] {
                std::vector<double> j(50, 3);
                j[2] = 1000;
                return j;
            }());
            CHECK(launch.differences(true) == "");
        }
    }
    for (const KernelDef& k : {own, count}) {  // arrays shorter than the launch
        Launch launch(k.trace(Precision::f64), 50);
        launch.set("j", at(20, 3)).resize("y", 41);
        CHECK(launch.error_differences(true) == "");
        launch.resize("y", 0);
        CHECK(launch.error_differences(true) == "");
    }
}

}  // namespace hindcast::test
