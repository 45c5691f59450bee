// Accumulation by gathering (engine/backend/plan/inverse_index.hpp): the bits of the definition,
// for groups of targets and those that stand alone.
#include <doctest/doctest.h>

#include "engine/backend/cpu/per_target/target_loop.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/lowering.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

namespace {

// Each item adds to two elements, `heavy` enough for it to be evaluated once and not once for each.
template <class Element, template <class> class Access>
KernelDef scatter(const std::string& name) {
    return kernel(name, {"at", "w", "sum"},
                  [](Int i, Read<Int2> at, Read<Float> w, Access<Element> sum) {
                      Float heavy = w[i];
                      for (int k = 0; k < 120; ++k) heavy = heavy / (1.25 + heavy * heavy);
                      // -0 for every third item.
                      const Float term = select(i % 3 == 0, Float(-0.0), heavy);
                      Element element;
                      if constexpr (std::is_same_v<Element, Float>) {
                          element = term;
                      } else if constexpr (std::is_same_v<Element, Mat3>) {
                          for (int r = 0; r < 3; ++r)
                              for (int c = 0; c < 3; ++c) element(r, c) = term * (r + 0.5 * c - 1);
                      } else {
                          for (int c = 0; c < Element::size; ++c) element[c] = term * (1.0 - c);
                      }
                      sum[at[i].x()] += element;
                      sum[at[i].y()] += element;
                  });
}

// Two indices for each of the items.
std::vector<double> ends(const std::string& kind, std::int64_t items, std::int64_t targets) {
    std::mt19937 random(17);
    std::vector<double> values;
    const std::int64_t middle = targets / 2;
    for (std::int64_t k = 0; k < 2 * items; ++k) {
        const auto any = static_cast<double>(random() % static_cast<unsigned>(targets));
        if (kind == "any")
            values.push_back(any);
        else if (kind == "one of them")  // padding its neighbors would cost more than it saves
            values.push_back(static_cast<double>(middle));
        else  // most get nothing
            values.push_back(std::floor(any / 7) * 7);
    }
    return values;
}

void check(const KernelDef& definition, const std::vector<std::int64_t>& counts) {
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const ir::Kernel k = definition.trace(precision);
        const ir::Kernel lowered = lang::lower(k, lang::Lowering::all);
        const auto plan = backend::make_plan(lowered, backend::usual_form(lowered), {.width = 4},
                                             {backend::fixed_point_parameters(k)});
        CHECK(backend::cpu::split_per_target(plan).groups.empty());
        CHECK(plan.summation[2] == backend::Summation::gathered);
        for (const std::int64_t targets : counts)
            for (const char* kind : {"any", "one of them", "few"}) {
                CAPTURE(k.name);
                CAPTURE(targets);
                CAPTURE(kind);
                const std::int64_t items = 3 * targets + 5;
                Launch launch(k, items);
                launch.set("at", ends(kind, items, targets));
                launch.set(
                    "sum",  // a sum of zeros keeps its sign
                    std::vector<double>(
                        static_cast<std::size_t>(targets * k.parameters[2].components), -0.0));
                CHECK(launch.differences(false, {3}) == "");
            }
    }
}

}  // namespace

TEST_CASE("CPU gather: all sizes of elements, for targets in groups and alone") {
    HINDCAST_NEEDS_LLVM();
    check(scatter<Float, Sum>("scatter_1"), {1, 3, 4, 37, 1030});
    check(scatter<Vec2, Sum>("scatter_2"), {41});
    check(scatter<Vec3, Sum>("scatter_3"), {1, 7, 700});
    check(scatter<Vec4, Accumulate>("scatter_4"), {5, 64});
    check(scatter<Mat3, Accumulate>("scatter_9"), {3, 66});
    check(scatter<Vec3, Accumulate>("scatter_more_3"), {2, 29});
}

TEST_CASE("CPU gather: two sums of one kernel, few targets and many in turns") {
    HINDCAST_NEEDS_LLVM();
    const ir::Kernel k =
        kernel("scatter_both", {"at", "w", "left", "right"},
               [](Int i, Read<Int2> at, Read<Float> w, Sum<Vec3> left, Accumulate<Vec2> right) {
                   Float heavy = w[i];
                   for (int n = 0; n < 250; ++n) heavy = heavy / (1.25 + heavy * heavy);
                   left[at[i].x()] += Vec3(heavy, -heavy, 2.0 * heavy);
                   left[at[i].y()] -= Vec3(heavy, heavy, 1.0);
                   right[at[i].y()] += Vec2(heavy, 1.0);
                   right[at[i].x()] -= Vec2(heavy, 0.5);
               })
            .trace(Precision::f32);
    const auto interpreter = backend::interpret(k);
    const auto all = executables(k);
    const std::int64_t few = 40, many = 300;
    for (const auto& [left, right] :
         {std::pair{few, many}, {many, few}, {few, few}, {many, many}, {few, many}}) {
        CAPTURE(left);
        CAPTURE(right);
        Launch launch(k, 500);
        launch.set("at", ends("any", 500, few)).resize("left", left).resize("right", right);
        for (const auto& executable : all)
            CHECK(launch.run(*executable) == launch.run(*interpreter));
    }
}

TEST_CASE("CPU gather: indices that are others at each launch take no more memory") {
    HINDCAST_NEEDS_LLVM();
    constexpr std::int64_t items = 203, targets = 68;
    const KernelDef definition = scatter<Vec3, Sum>("scatter_changing");
    const auto device =
        std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cpu, .threads = 2});
    const auto slow = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::interpreter});
    std::vector<double> weights(items);
    for (std::size_t k = 0; k < items; ++k) weights[k] = 0.1 + 0.01 * static_cast<double>(k);
    const Array at(ir::Type::i32, {items, 2}), w = Array::from(weights, ir::Type::f32, {items});
    const Array sum(ir::Type::f32, {targets, 3}), expected(ir::Type::f32, {targets, 3});
    const hindcast::Launch launch(device, definition, Precision::f32, items, {at, w, sum});
    const hindcast::Launch reference(slow, definition, Precision::f32, items, {at, w, expected});
    const std::vector<double> indices = ends("any", items, targets);
    std::int64_t blocks = 0;
    for (int round = 0; round < 6; ++round) {
        std::vector<double> moved = indices;
        for (double& index : moved) index = std::fmod(index + 4 * round, double{targets});
        at.assign(moved);
        reference.forward().run();
        const std::int64_t before = memory_use().allocations;
        launch.forward().run();
        if (round > 0) blocks += memory_use().allocations - before;
        CHECK(sum.to_doubles() == expected.to_doubles());
    }
    CHECK(blocks == 0);
}

}  // namespace hindcast::test
