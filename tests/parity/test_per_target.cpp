// Accumulation per target (engine/backend/cpu/per_target/target_loop.hpp): the bits of the
// definition, whichever way a launch goes, and that the kernels meant to run over targets do.
#include <doctest/doctest.h>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/cpu/per_target/target_loop.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/lowering.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

namespace {

const KernelDef springs = kernel(
    "springs", {"ends", "rest", "x", "v", "stiffness", "force"},
    [](Int s, Read<Int2> ends, Read<Float> rest, Read<Vec3> x, Read<Vec3> v, Param<Float> stiffness,
       Sum<Vec3> force) {
        const Int a = ends[s].x(), b = ends[s].y();
        const Vec3 d = x[b] - x[a];
        const Float length = norm(d);
        const Vec3 f = d * divz(stiffness * (length - rest[s]) + dot(v[b] - v[a], d), length);
        force[a] += f;
        force[b] -= f;
    });

struct Parts {
    std::size_t groups = 0, reduced = 0;
    bool has_rest = false, shifted = false;
};
Parts parts_of(const ir::Kernel& kernel) {
    const ir::Kernel lowered = lang::lower(kernel, lang::Lowering::all);
    const auto plan = backend::make_plan(lowered, backend::usual_form(lowered), {.width = 4},
                                         {backend::fixed_point_parameters(kernel)});
    const backend::cpu::PerTarget per_target = backend::cpu::split_per_target(plan);
    const bool shifted =
        !per_target.groups.empty() &&
        backend::cpu::TargetLoop(plan, per_target.groups[0], true, per_target.reduced).shifted();
    return {per_target.groups.size(), per_target.reduced.size(), per_target.has_rest, shifted};
}

std::vector<double> indices(std::int64_t n, std::int64_t below, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i)
        values.push_back(static_cast<double>(random() % static_cast<unsigned>(below)));
    return values;
}

// Spring-like kernels need more elements than items: all arrays over points get `points`.
Launch net(const ir::Kernel& kernel, std::int64_t items, std::int64_t points,
           const std::vector<double>& ends) {
    Launch launch(kernel, items);
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(-2, 2);
    for (const ir::Parameter& p : kernel.parameters)
        if (p.components == 3) {
            std::vector<double> values(static_cast<std::size_t>(points * 3));
            for (double& x : values) x = uniform(random);
            launch.set(p.name, values);
        }
    launch.set("ends", ends);
    return launch;
}

}  // namespace

TEST_CASE("per target: springs, their adjoint with a shared stiffness, and second order") {
    HINDCAST_NEEDS_LLVM();
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel k = springs.trace(precision), a = ad::adjoint(k);
        CHECK(parts_of(k).groups == 1);
        CHECK(!parts_of(k).has_rest);
        // x.a1 and v.a1 go together; rest.a1 is the item's own, so the rest stays a launch of its
        // own.
        CHECK(parts_of(a).groups == 1);
        CHECK(parts_of(a).has_rest);
        const ir::Kernel shared = ad::adjoint(k, {"x", "v", "stiffness", "force"});
        CHECK(parts_of(shared).groups == 1);
        CHECK(parts_of(shared).reduced == 1);
        for (const std::int64_t items : {64, 100, 700})
            for (const std::int64_t points : {items / 2, items / 4 + 3}) {
                const std::vector<double> ends = indices(2 * items, points, 5);
                for (const ir::Kernel& kernel : {k, a, shared, ad::tangent(shared)})
                    CHECK(net(kernel, items, points, ends).differences(false, {1, 2, 3}) == "");
            }
    }
}

TEST_CASE("per target: other ends and terms that lie side by side, in part or everywhere") {
    HINDCAST_NEEDS_LLVM();
    struct Grid {
        int columns, rows, hole;  // a point without springs; -1: none
        bool turned;              // every seventh spring has its ends in the other order
    };
    for (const Grid& grid : {Grid{64, 4, -1, false}, Grid{50, 3, -1, false}, Grid{16, 5, 21, false},
                             Grid{7, 9, -1, false}, Grid{64, 3, -1, true}, Grid{90, 1, 40, false}})
        for (const Precision precision : {Precision::f32, Precision::f64}) {
            CAPTURE(grid.columns);
            CAPTURE(grid.turned);
            std::vector<double> ends;
            for (const auto& [down, right] : {std::pair{0, 1}, {1, 0}, {1, 1}, {0, 2}})
                for (int r = 0; r + down < grid.rows; ++r)
                    for (int c = 0; c + right < grid.columns; ++c) {
                        double a = r * grid.columns + c, b = a + down * grid.columns + right;
                        if (a == grid.hole || b == grid.hole) continue;
                        if (grid.turned && ends.size() % 14 == 0) std::swap(a, b);
                        ends.insert(ends.end(), {a, b});
                    }
            const auto items = static_cast<std::int64_t>(ends.size() / 2);
            const ir::Kernel k = springs.trace(precision);
            const ir::Kernel shared = ad::adjoint(k, {"x", "v", "stiffness", "force"});
            for (const ir::Kernel& kernel : {k, shared, ad::tangent(shared)})
                CHECK(
                    net(kernel, items, grid.columns * grid.rows, ends).differences(false, {1, 2}) ==
                    "");
        }
}

TEST_CASE(
    "per target: an index that is read at both ends, and points of which most have no spring") {
    HINDCAST_NEEDS_LLVM();
    // What stands in the padding of the tables must not lead outside of an array.
    const KernelDef k = kernel("by_material", {"ends", "material", "stiffness", "x", "force"},
                               [](Int s, Read<Int2> ends, Read<Int> material, Read<Float> stiffness,
                                  Read<Vec3> x, Sum<Vec3> force) {
                                   const Int a = ends[s].x(), b = ends[s].y();
                                   const Vec3 d = x[b] - x[a];
                                   const Vec3 f = d * stiffness[material[a] + material[b] - 40];
                                   force[a] += f;
                                   force[b] -= f;
                               });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel forward = k.trace(precision);
        CHECK(parts_of(forward).groups == 1);
        const std::int64_t items = 90, points = 70;
        for (const ir::Kernel& kernel : {forward, ad::adjoint(forward, {"x", "force"})}) {
            // All springs within the last 20 points.
            std::vector<double> ends = indices(2 * items, 20, 6);
            for (double& end : ends) end += 50;
            Launch launch = net(kernel, items, points, ends);
            std::vector<double> material(static_cast<std::size_t>(points), 20.0);
            for (std::size_t p = 0; p < material.size(); ++p)
                material[p] += static_cast<double>(p % 3);
            launch.set("material", material).set("stiffness", {1, 2, 3, 4, 5});
            CHECK(launch.differences(false, {1, 3}) == "");
        }
    }
}

TEST_CASE("per target: every layout of what the other end is read from") {
    HINDCAST_NEEDS_LLVM();
    const ir::Kernel k = springs.trace(Precision::f32);
    for (const Form x : {Form::elements, Form::planes, Form::strided})
        for (const Form force : {Form::elements, Form::planes, Form::strided}) {
            Launch launch = net(k, 150, 90, indices(300, 90, 8));
            launch.form("x", x).form("v", x).form("force", force).form("ends", force);
            CHECK(launch.differences(false, {2}) == "");
        }
}

TEST_CASE(
    "per target: terms that are added on some paths, in some components, in one to three rows") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef one = kernel(
        "one_row", {"index", "w", "x", "sum"},
        [](Int i, Read<Int> index, Read<Float> w, Read<Vec2> x, Accumulate<Vec2> sum) {
            const Int t = index[i];
            if_(
                w[i] > 0.0, [&] { sum[t][1] += w[i] * x[t].x(); }, [&] { sum[t][0] -= w[i]; });
        });
    const KernelDef three = kernel("three_rows", {"corners", "w", "x", "sum", "other", "total"},
                                   [](Int i, Read<Int3> corners, Read<Float> w, Read<Vec2> x,
                                      Accumulate<Vec2> sum, Sum<Float> other, Reduce<Float> total) {
                                       const auto c = corners[i];
                                       const Vec2 d = x[c[1]] - x[c[0]], e = x[c[2]] - x[c[0]];
                                       const Float area = w[i] * (d.x() * e.y() - d.y() * e.x());
                                       for (int k = 0; k < 3; ++k)
                                           sum[c[k]] += x[c[(k + 1) % 3]] * area;
                                       for (int k = 0; k < 3; ++k)
                                           if_(area > 0.0, [&] { other[c[k]] += area; });
                                       total += area;
                                   });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel a = one.trace(precision), b = three.trace(precision);
        CHECK(parts_of(a).groups == 1);
        CHECK(parts_of(b).groups == 1);
        CHECK(parts_of(b).reduced == 1);
        Launch first(a, 200);
        first.set("index", indices(200, 200, 3));
        CHECK(first.differences(false, {1, 3}) == "");
        Launch second(b, 200);
        second.set("corners", indices(600, 200, 4));
        CHECK(second.differences(false, {1, 3}) == "");
    }
}

TEST_CASE("per target: launches that cannot run over targets give the same bits") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef guarded =
        kernel("guarded", {"ends", "x", "force", "total"},
               [](Int s, Read<Int2> ends, Read<Vec3> x, Sum<Vec3> force, Reduce<Float> total) {
                   const Int a = ends[s].x(), b = ends[s].y();
                   if_(a >= 0 && b >= 0, [&] {
                       const Vec3 d = x[b] - x[a];
                       force[a] += d;
                       force[b] -= d;
                   });
                   total += Float(a);
               });
    const ir::Kernel k = guarded.trace(Precision::f32);
    CHECK(parts_of(k).groups == 1);
    SUBCASE("an index of -1 marks an item without a target") {
        std::vector<double> ends = indices(400, 150, 6);
        for (std::size_t i = 0; i < ends.size(); i += 7) ends[i] = -1;
        CHECK(net(k, 200, 150, ends).differences(false, {2}) == "");
    }
    SUBCASE("one target with all the entries") {
        std::vector<double> ends = indices(4000, 1500, 6);
        for (std::size_t i = 0; i < ends.size(); i += 2) ends[i] = 3;
        CHECK(net(k, 2000, 1500, ends).differences(false, {2}) == "");
    }
    SUBCASE("an array shorter than the targets") {
        Launch launch = net(k, 100, 80, indices(200, 80, 6));
        launch.resize("force", 130);
        CHECK(launch.differences(false, {2}) == "");
    }
    SUBCASE("both ends on one point") {
        std::vector<double> ends = indices(400, 150, 6);
        for (std::size_t i = 0; i < ends.size(); i += 6) ends[i + 1] = ends[i];
        CHECK(net(k, 200, 150, ends).differences(false, {2}) == "");
    }
}

TEST_CASE("per target: the adjoint of a stencil") {
    HINDCAST_NEEDS_LLVM();
    constexpr int columns = 16;
    const KernelDef stencil = kernel("stencil", {"u", "k", "old"},
                                     [](Int i, Read<Float> u, Read<Float> k, ReadWrite<Float> old) {
                                         const Int j = i & (columns - 1);
                                         Float sum = -4.0 * u[i];
                                         if_(j > 0, [&] { sum += u[i - 1]; });
                                         if_(j < columns - 1, [&] { sum += u[i + 1]; });
                                         if_(i >= columns, [&] { sum += u[i - columns]; });
                                         if_(i < 9 * columns, [&] { sum += u[i + columns]; });
                                         old[i] = 2.0 * u[i] - old[i] + k[i] * sum * u[i];
                                     });
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel a = ad::adjoint(stencil.trace(precision));
        CHECK(parts_of(a).shifted);
        CHECK(Launch(a, 10 * columns).differences(false, {1, 2, 3}) == "");
        CHECK(Launch(ad::tangent(a), 10 * columns).differences(false, {2}) == "");
    }
    // Fewer items than targets, and items whose neighbors lie outside.
    const KernelDef edge = kernel("edge", {"w", "sum"}, [](Int i, Read<Float> w, Sum<Vec2> sum) {
        if_(i > 2, [&] { sum[i - 3][0] += w[i]; });
        sum[i][1] -= w[i];
        sum[i + 5] += Vec2(w[i], 2.0 * w[i]);
        sum[i + 5][1] += w[i] * w[i];
    });
    const ir::Kernel k = edge.trace(Precision::f32);
    CHECK(parts_of(k).shifted);
    for (const int items : {100, 700})
        for (const int targets : {items + 5, items + 33, 3 * items}) {
            Launch launch(k, items);
            launch.resize("sum", targets);
            CHECK(launch.differences(false, {2}) == "");
        }
}

TEST_CASE(
    "per target: what a stencil's adjoint changes besides, behind it and between the threads") {
    HINDCAST_NEEDS_LLVM();
    // The adjoint of old is read by the stencil around every target, and changed.
    struct Case {
        std::int64_t items, first;  // of u and old
        std::vector<std::int64_t> offsets;
        std::int64_t count;  // elements of u and old
    };
    const std::vector<Case> cases = {
        {30000, 0, {-1, 0, 1}, 30001},
        {30000, 300, {-300, -1, 0, 1, 300}, 30600},
        {30001, 2000, {-2000, -1500}, 32001},  // all on one side
        {29999, 0, {3, 900}, 30907},
        {30000, 0, {6000, -1}, 36000},  // farther than a task is long
        {130, 7, {-7, 5}, 150},
    };
    for (const Case& c : cases) {
        const KernelDef stencil =
            kernel("in_place", {"u", "k", "old"},
                   [c](Int i, Read<Float> u, Read<Float> k, ReadWrite<Float> old) {
                       Float sum = 0;
                       for (const std::int64_t offset : c.offsets) {
                           const Int at = i + (c.first + offset);
                           const auto add = [&] { sum += k[i] * u[at]; };
                           if (c.first + offset < 0)
                               if_(at >= 0, add);
                           else
                               add();
                       }
                       const Int own = lang::injective(i + c.first);
                       old[own] = sum - 0.5 * old[own];
                   });
        const ir::Kernel a = ad::adjoint(stencil.trace(Precision::f32));
        CAPTURE(c.first);
        CAPTURE(c.offsets.back());
        CHECK(parts_of(a).shifted);
        CHECK(parts_of(a).has_rest);
        Launch launch(a, c.items);
        std::mt19937_64 random(3);
        for (const ir::Parameter& p : a.parameters) {
            if (p.name[0] == 'k') continue;
            std::vector<double> values(static_cast<std::size_t>(c.count));
            for (double& v : values) v = std::uniform_real_distribution(-2.0, 2.0)(random);
            launch.set(p.name, values);
        }
        CHECK(launch.differences(false, {1, 2, 3, 5}) == "");
    }
}

TEST_CASE("per target: values that change before every launch are gathered in the end") {
    HINDCAST_NEEDS_LLVM();
    const ir::Kernel k = springs.trace(Precision::f32);
    const std::vector<double> ends = indices(400, 120, 9);
    const auto interpreter = backend::interpret(k);
    const auto all = executables(k);
    for (int round = 0; round < 14; ++round) {
        Launch launch = net(k, 200, 120, ends);
        std::vector<double> rest(200);
        for (std::size_t i = 0; i < rest.size(); ++i)
            rest[i] = 0.1 * static_cast<double>(i % 13) + 0.05 * round;
        launch.set("rest", rest);
        for (const auto& executable : all)
            CHECK(launch.run(*executable) == launch.run(*interpreter));
    }
}

}  // namespace hindcast::test
