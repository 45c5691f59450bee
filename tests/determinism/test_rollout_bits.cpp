// A roll-out forwards and backwards has the same bits on the interpreter and on the CPU, for any
// number of threads and any SIMD width, whether or not it keeps values.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;

namespace {

const KernelDef begin_with =
    kernel("begin_with", {"x0", "x", "v"}, [](Int i, Read<Vec3> x0, Write<Vec3> x, Write<Vec3> v) {
        x[i] = x0[i];
        v[i] = Vec3(0.0, 0.0, 0.0);
    });
const KernelDef spring = kernel("spring", {"ends", "rest", "stiffness", "x", "force"},
                                [](Int s, Read<Int2> ends, Property<Float> rest,
                                   Param<Float> stiffness, Read<Vec3> x, Sum<Vec3> force) {
                                    const Int2 e = ends[s];
                                    const Vec3 d = x[e.y()] - x[e.x()];
                                    const Float length = norm(d);
                                    const Vec3 f = d * (stiffness * (length - rest[s]) / length);
                                    force[e.x()] += f;
                                    force[e.y()] -= f;
                                });
const KernelDef advance =
    kernel("advance", {"force", "damping", "v", "x"},
           [](Int i, Read<Vec3> force, Param<Float> damping, ReadWrite<Vec3> v, ReadWrite<Vec3> x) {
               v[i] = v[i] * exp(-damping.value()) + force[i] * 0.01;
               x[i] += v[i] * 0.01;
           });
const KernelDef spread = kernel("spread", {"x", "target", "loss"},
                                [](Int i, Read<Vec3> x, Param<Vec3> target, Reduce<Float> loss) {
                                    loss += sqrt(1 + squared_norm(x[i] - target.value()));
                                });

// Enough items that the CPU device divides them among its threads.
constexpr std::int64_t points = 3001;

struct Result {
    std::vector<double> trajectory, gradients;
    std::string hash;
    bool operator==(const Result&) const = default;
};

// A crooked chain in which every point also holds on to a far one or, with `near`, to the seventh
// after it; then nobody looks at the steps, so that launches may wait for those after them.
Result run(const std::shared_ptr<Device>& device, Precision precision, RolloutMode mode,
           bool keep = true, bool near = false) {
    const Type real = ir::real_type(precision);
    const auto vectors = [&] { return Array(real, {points, 3}, Layout::planar); };
    const Array x0 = vectors(), x = vectors(), v = vectors(), force = vectors();
    std::vector<double> positions, lengths, pairs;
    for (std::int64_t i = 0; i < points; ++i) {
        const double s = static_cast<double>(i);
        for (const double c : {0.01 * s, std::sin(0.37 * s), std::cos(0.11 * s)})
            positions.push_back(c);
        for (const std::int64_t j : {i + 1, near ? i + 7 : (i * 1237 + 11) % points}) {
            if (j >= points || j == i) continue;
            pairs.push_back(s);
            pairs.push_back(static_cast<double>(j));
            lengths.push_back(1 + 0.001 * static_cast<double>(j % 100));
        }
    }
    const auto springs = static_cast<std::int64_t>(lengths.size());
    x0.assign(positions);
    const Array rest = Array::from(lengths, real, {springs});
    const Array ends = Array::from(pairs, Type::i32, {springs, 2}, Layout::planar);
    const Array stiffness = Array::from(std::vector<double>{3.7}, Type::f64, {1});
    const Array damping = Array::from(std::vector<double>{0.05}, Type::f64, {1});
    const Array target = Array::from(std::vector<double>{1, 2, 3}, Type::f64, {1, 3});
    const Array loss(Type::f64, {1});
    Rollout::Parts parts;
    parts.prologue.add(Launch(device, begin_with, precision, points, {x0, x, v}));
    parts.step.add(Launch(device, spring, precision, springs, {ends, rest, stiffness, x, force}));
    parts.step.add(Launch(device, advance, precision, points, {force, damping, v, x}));
    parts.steps = near ? 9 : 3;
    const Launch term(device, spread, precision, points, {x, target, loss});
    for (const int t : {0, 2, 3}) parts.events[t].add(term);
    Rollout rollout(device, std::move(parts));
    if (mode == RolloutMode::second)
        for (const Array& p : {x0, rest, stiffness, damping, target}) p.tangent().fill(0.5);

    Result result;
    const auto look = [&](std::int64_t) {
        for (const Array& a : {x, v, force, loss})
            for (const double value : a.to_doubles()) result.trajectory.push_back(value);
        return true;
    };
    if (near) {
        rollout.forward(keep, {}, mode);
        look(9);
    } else {
        rollout.forward(keep, look, mode);
    }
    if (keep) {
        rollout.backward({{loss, 0.75}}, mode);
        for (const Array& p : {x0, rest, stiffness, damping, target}) {
            const Array g = p.gradient();
            for (const double value : g.to_doubles()) result.gradients.push_back(value);
            if (mode != RolloutMode::second) continue;
            for (const double value : g.tangent().to_doubles()) result.gradients.push_back(value);
        }
    }
    StateHash hash;
    x.add_to(hash, "x");
    v.add_to(hash, "v");
    result.hash = to_string(hash.digest());
    return result;
}

bool all_finite(const Result& result) {
    return std::all_of(result.gradients.begin(), result.gradients.end(),
                       [](double value) { return std::isfinite(value); });
}

std::shared_ptr<Device> cpu(int threads, int width) {
    return std::make_shared<Device>(
        DeviceOptions{.kind = DeviceKind::cpu, .threads = threads, .width = width});
}

}  // namespace

TEST_CASE("roll-out bits: the interpreter, every SIMD width and any number of threads agree") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("no LLVM, or only the interpreter is tested");
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        CAPTURE(static_cast<int>(precision));
        const Result expected = run(test::interpreter_device(), precision, RolloutMode::first);
        CHECK(expected.trajectory.size() == 4 * (9 * points + 1));
        CHECK(all_finite(expected));
        for (const int width : {1, 4, 8, 16})
            for (const int threads : {1, 2, 3, 8}) {
                if (width != 8 && threads == 3) continue;  // threads do not change the code
                CAPTURE(width);
                CAPTURE(threads);
                const Result result = run(cpu(threads, width), precision, RolloutMode::first);
                CHECK((result == expected));
            }
    }
}

TEST_CASE("roll-out bits: gradients off changes no bit of the trajectory") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Result with = run(device, Precision::f32, RolloutMode::first);
        const Result without = run(device, Precision::f32, RolloutMode::first, false);
        CHECK((without.trajectory == with.trajectory));
        CHECK(without.hash == with.hash);
    }
}

TEST_CASE("roll-out bits: second order agrees too, and its first order is that of first order") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("no LLVM, or only the interpreter is tested");
    const Result expected = run(test::interpreter_device(), Precision::f32, RolloutMode::second);
    CHECK(all_finite(expected));
    for (const int threads : {1, 3}) {
        CAPTURE(threads);
        const Result result = run(cpu(threads, 0), Precision::f32, RolloutMode::second);
        CHECK((result == expected));
    }
    const Result first = run(test::cpu_device(), Precision::f32, RolloutMode::first);
    CHECK((first.trajectory == expected.trajectory));
    // x0 comes first in both lists.
    CHECK(std::equal(first.gradients.begin(), first.gradients.begin() + 3 * points,
                     expected.gradients.begin()));
}

TEST_CASE("roll-out bits: launches that follow another one over neighbors") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("no LLVM, or only the interpreter is tested");
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const RolloutMode mode : {RolloutMode::first, RolloutMode::second})
            for (const bool keep : {true, false}) {
                CAPTURE(static_cast<int>(precision));
                CAPTURE(static_cast<int>(mode));
                CAPTURE(keep);
                const Result expected =
                    run(test::interpreter_device(), precision, mode, keep, true);
                CHECK(all_finite(expected));
                for (const int threads : {1, 2, 3, 8}) {
                    CAPTURE(threads);
                    CHECK(run(cpu(threads, 0), precision, mode, keep, true) == expected);
                }
            }
}
