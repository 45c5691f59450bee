// Roll-outs that look for numbers that are not finite: which numbers are, wherever they stand.
#include <doctest/doctest.h>

#include <limits>

#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;

namespace {

// Steps made of three while an array holds this value in one place.
template <class T>
std::int64_t steps_with(const std::shared_ptr<Device>& device, Layout layout, std::int64_t element,
                        int component, T value) {
    static const KernelDef grow =
        kernel("grow", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] += 1.0; });
    const Array x(Type::f64, {1});
    const Array watched(sizeof(T) == 4 ? Type::f32 : Type::f64, {35, 2}, layout);
    watched.fill(-1);
    static_cast<T*>(watched.data())[element * watched.element_stride() +
                                    component * watched.component_stride()] = value;
    Rollout::Parts parts;
    parts.steps = 3;
    parts.step.add(Launch(device, grow, Precision::f64, 1, {x}));
    Rollout rollout(device, parts);
    rollout.stop_if_not_finite({x, watched}, 1);
    const std::int64_t steps = rollout.forward(false);
    CHECK(rollout.divergence().has_value() == (steps < 3));
    if (rollout.divergence()) CHECK(rollout.divergence()->array.same_memory(watched));
    return steps;
}

template <class T>
void check_all(const std::shared_ptr<Device>& device) {
    using Limits = std::numeric_limits<T>;
    for (const Layout layout : {Layout::contiguous, Layout::planar})
        for (const std::int64_t element : {0, 17, 34})
            for (const int component : {0, 1}) {
                for (const T value : {Limits::max(), Limits::lowest(), Limits::denorm_min(), T(0)})
                    CHECK(steps_with(device, layout, element, component, value) == 3);
                for (const T value : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                                      -Limits::quiet_NaN(), Limits::signaling_NaN()})
                    CHECK(steps_with(device, layout, element, component, value) == 1);
            }
}

}  // namespace

TEST_CASE("roll-out: infinities and NaNs stop it, the largest and smallest numbers do not") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        check_all<float>(device);
        check_all<double>(device);
    }
}

TEST_CASE("roll-out: the last step is looked at, and the step that a watch asks about") {
    static const KernelDef root =
        kernel("root", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = sqrt(x[i] - 1.0); });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x(Type::f64, {1});
        Rollout::Parts parts;
        parts.steps = 3;
        parts.step.add(Launch(device, root, Precision::f64, 1, {x}));
        Rollout rollout(device, parts);
        rollout.stop_if_not_finite({x}, 64);
        // From 2: 1, 0, nan.
        for (const bool keep : {false, true}) {
            x.fill(2);
            CHECK(rollout.forward(keep) == 3);
            REQUIRE(rollout.divergence());
            CHECK(rollout.divergence()->step == 3);
        }
        x.fill(1);  // 0, nan
        CHECK(rollout.forward(false, [&](std::int64_t t) { return !rollout.look(t); }) == 2);
        REQUIRE(rollout.divergence());
        CHECK(rollout.divergence()->step == 2);
        x.fill(1e9);
        rollout.forward(false);
        CHECK(!rollout.divergence());
    }
}
