// Joined launches have the bits of the same launches one by one: states, gradients and
// Hessian-vector products of random programs, whatever the plan, the width and the threads.
#include <doctest/doctest.h>

#include <random>

#include "engine/backend/optional_passes.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;

namespace {

// Kernels over three arrays of vectors, which touch them in every way; k is a parameter.
const KernelDef kernels[] = {
    kernel("drift", {"a", "b", "c", "k"},
           [](Int i, ReadWrite<Vec2> a, Read<Vec2> b, Read<Vec2> c, Param<Float> k) {
               a[i] += b[i] * k + c[i] * 0.1;
           }),
    kernel("decay", {"a", "b", "c", "k"},
           [](Int i, ReadWrite<Vec2> a, Read<Vec2> b, Read<Vec2> c, Param<Float> k) {
               const Vec2 old = a[i];
               a[i] = select(dot(b[i], c[i]) > 0.0, old * exp(-k.value()), old * 0.9);
           }),
    kernel("replace", {"a", "b", "c", "k"},
           [](Int i, Write<Vec2> a, Read<Vec2> b, Read<Vec2> c, Param<Float> k) {
               a[i] = Vec2(sin(b[i].x() * k), cos(c[i].y()));
           }),
    kernel("neighbor", {"a", "b", "c", "k"},
           [](Int i, ReadWrite<Vec2> a, Read<Vec2> b, Read<Vec2> c, Param<Float> k) {
               a[i] = (a[i] + b[select(i > 0, i - 1, 0)] * k) * 0.5 + c[i] * 0.01;
           }),
    kernel("add", {"a", "b", "c", "k"},
           [](Int i, Accumulate<Vec2> a, Read<Vec2> b, Read<Vec2> c, Param<Float> k) {
               if_(b[i].x() > 0.0, [&] { a[i] += b[i] * (0.1 * k); });
               a[i] += c[i] * c[i].y() * 0.01;
           }),
    kernel("give", {"a", "b", "c", "k"},
           [](Int i, Accumulate<Vec2> a, Read<Vec2> b, Read<Vec2> c, Param<Float> k) {
               a[select(i > 0, i - 1, 0)] += b[i] * (c[i].x() * k * 0.1);
           }),
    kernel("loop", {"a", "b", "c", "k"},
           [](Int i, ReadWrite<Vec2> a, Read<Vec2> b, Read<Vec2> c, Param<Float> k) {
               Float s = b[i].x();
               for_(0, 3, [&](Int) { s = s * 0.5 + k * c[i].x(); });
               a[i] = Vec2(a[i].x() * 0.5, s);
           }),
};
const KernelDef measure =
    kernel("measure", {"x", "loss"},
           [](Int i, Read<Vec2> x, Reduce<Float> loss) { loss += dot(x[i], x[i]); });
const KernelDef shift =
    kernel("shift", {"x", "k", "loss"},
           [](Int i, Read<Vec2> x, Param<Float> k, Reduce<Float> loss) { loss += k * x[i].x(); });

struct Result {
    std::vector<double> state, gradients, products;
    std::size_t launches = 0, joined = 0;
};

Result run(std::uint64_t seed, const DeviceOptions& options, Precision precision, int items,
           std::int64_t segment) {
    const auto device = std::make_shared<Device>(options);
    std::mt19937_64 random(seed);
    const auto number = [&] { return static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1; };
    const ir::Type real = ir::real_type(precision);
    std::vector<Array> arrays;
    std::vector<std::vector<double>> start;
    for (int k = 0; k < 3; ++k) {
        arrays.emplace_back(real, std::vector<std::int64_t>{items, 2},
                            random() % 2 == 0 ? Layout::planar : Layout::contiguous);
        std::vector<double> values;
        for (int j = 0; j < 2 * items; ++j) values.push_back(number());
        arrays.back().assign(values);
        start.push_back(values);
    }
    Array k(ir::Type::f64, {1}), loss(ir::Type::f64, {1});
    k.fill(0.3);
    Rollout::Parts parts;
    parts.steps = 5;
    const std::size_t count = 3 + random() % 5;
    for (std::size_t n = 0; n < count; ++n) {
        const std::size_t which = random() % std::size(kernels), shift_by = random() % 3;
        const auto at = [&](std::size_t j) { return arrays[(j + shift_by) % 3]; };
        parts.step.add(Launch(device, kernels[which], precision, items, {at(0), at(1), at(2), k}));
    }
    for (const std::int64_t t : {3, 5}) {
        parts.events[t].add(Launch(device, measure, precision, items, {arrays[0], loss}));
        parts.events[t].add(Launch(device, shift, precision, items, {arrays[1], k, loss}));
    }
    Rollout rollout(device, std::move(parts));
    if (segment > 0) rollout.force_plan(segment, 2);
    Result result;
    // Then once more, as a graph where there are graphs: the steps go on from where they are.
    for (int round = 0; round < (device->cuda() ? 2 : 1); ++round) {
        for (std::size_t j = 0; j < arrays.size(); ++j) arrays[j].assign(start[j]);
        rollout.forward(true);
    }
    const auto append = [](std::vector<double>& to, const Array& array) {
        for (const double x : array.to_doubles()) to.push_back(x);
    };
    for (const Array& a : arrays) append(result.state, a);
    append(result.state, loss);
    rollout.backward({{loss}});
    for (const Array& a : arrays) append(result.gradients, a.gradient());
    append(result.gradients, k.gradient());
    for (const Array& a : arrays) a.tangent().fill(0);
    k.tangent().fill(1);
    loss.tangent().fill(0);
    rollout.forward(true, {}, RolloutMode::second);
    rollout.backward({{loss}}, RolloutMode::second);
    append(result.products, k.gradient().tangent());
    result.launches = rollout.step_launches().written;
    result.joined = rollout.step_launches().joined;
    return result;
}

PassSet fused(bool fuse) { return fuse ? PassSet() : PassSet().without(Pass::fusion); }

}  // namespace

TEST_CASE("fusion: random programs have the bits of their launches one by one") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    std::size_t launches = 0, joined = 0;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        CAPTURE(seed);
        const Precision precision = seed % 2 == 0 ? Precision::f32 : Precision::f64;
        const std::int64_t segment = seed % 3 == 0 ? 2 : 0;
        const int items = seed % 4 == 0 ? 3000 : 11;
        DeviceOptions options{.threads = 1 + static_cast<int>(seed % 2),
                              .width = seed % 5 == 0 ? 1 : 0,
                              .whole_program = WholeProgramUse::never};
        const Result with = run(seed, options, precision, items, segment);
        options.passes = fused(false);
        const Result without = run(seed, options, precision, items, segment);
        CHECK(with.state == without.state);
        CHECK(with.gradients == without.gradients);
        CHECK(with.products == without.products);
        CHECK(without.joined == without.launches);
        launches += with.launches, joined += with.joined;
        // The definition, which fuses nothing.
        options.kind = DeviceKind::interpreter;
        const Result defined = run(seed, options, precision, items, segment);
        CHECK(with.state == defined.state);
        CHECK(with.gradients == defined.gradients);
    }
    // Programs are joined where they can be, and not all of them can.
    CHECK(joined < launches);
    CHECK(joined > launches / 4);
}

TEST_CASE("fusion: random programs on a CUDA device, as graphs too") {
    if (!test::has_cuda_device()) HINDCAST_SKIP("there is no CUDA device");
    std::size_t launches = 0, joined = 0;
    for (std::uint64_t seed = 41; seed <= 52; ++seed) {
        CAPTURE(seed);
        const Precision precision = seed % 2 == 0 ? Precision::f32 : Precision::f64;
        const std::int64_t segment = seed % 3 == 0 ? 2 : 0;
        const int items = seed % 4 == 0 ? 3000 : 11;
        const Result defined =
            run(seed, {.kind = DeviceKind::interpreter}, precision, items, segment);
        for (const WholeProgramUse use : {WholeProgramUse::never, WholeProgramUse::automatic})
            for (const bool fuse : {true, false}) {
                CAPTURE(fuse);
                const Result found = run(
                    seed, {.kind = DeviceKind::cuda, .whole_program = use, .passes = fused(fuse)},
                    precision, items, segment);
                CHECK(found.state == defined.state);
                CHECK(found.gradients == defined.gradients);
                CHECK(found.products == defined.products);
                if (fuse) launches += found.launches, joined += found.joined;
            }
    }
    CHECK(joined < launches);
    CHECK(joined > launches / 4);
}

TEST_CASE("fusion: as one function, too") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    for (std::uint64_t seed = 31; seed <= 36; ++seed) {
        CAPTURE(seed);
        DeviceOptions options{.threads = 1, .whole_program = WholeProgramUse::always};
        const Result with = run(seed, options, Precision::f32, 9, 0);
        options.passes = fused(false);
        const Result without = run(seed, options, Precision::f32, 9, 0);
        CHECK(with.state == without.state);
        CHECK(with.gradients == without.gradients);
    }
}

TEST_CASE("fusion: many launches become several kernels, none of which grows with their number") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const auto run_many = [](bool fuse) {
        const auto device = std::make_shared<Device>(DeviceOptions{
            .threads = 1, .whole_program = WholeProgramUse::never, .passes = fused(fuse)});
        std::vector<Array> arrays;
        for (int k = 0; k < 3; ++k) {
            arrays.emplace_back(ir::Type::f64, std::vector<std::int64_t>{5, 2});
            arrays.back().assign(std::vector<double>{.1, .9, -.2, .8, .3, -.7, .4, .6, -.5, .5});
        }
        Array k(ir::Type::f64, {1}), loss(ir::Type::f64, {1});
        k.fill(0.01);
        Rollout::Parts parts;
        parts.steps = 2;
        for (int n = 0; n < 300; ++n)
            parts.step.add(Launch(device, kernels[0], Precision::f64, 5,
                                  {arrays[0], arrays[1], arrays[2], k}));
        for (int n = 0; n < 300; ++n)
            parts.events[2].add(Launch(device, shift, Precision::f64, 5, {arrays[0], k, loss}));
        Rollout rollout(device, std::move(parts));
        rollout.forward(true);
        Result result;
        result.state = arrays[0].to_doubles();
        result.state.push_back(loss.to_doubles()[0]);
        rollout.backward({{loss}});
        for (const Array& a : {arrays[0], arrays[1], k})
            for (const double x : a.gradient().to_doubles()) result.gradients.push_back(x);
        result.launches = rollout.step_launches().written;
        result.joined = rollout.step_launches().joined;
        return result;
    };
    const Result with = run_many(true), without = run_many(false);
    CHECK(with.state == without.state);
    CHECK(with.gradients == without.gradients);
    CHECK(with.launches == 300);
    CHECK(without.joined == 300);
    CHECK(with.joined > 1);
    CHECK(with.joined < 30);
}

TEST_CASE("fusion: a joined launch follows its launches to other arrays") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    for (const auto& device : test::devices()) {
        if (device == test::interpreter_device()) continue;  // it joins nothing
        CAPTURE(device->describe());
        const auto vectors = [](double x) {
            Array a(ir::Type::f64, {4, 2});
            a.fill(x);
            return a;
        };
        const Array a = vectors(1), b = vectors(2), c = vectors(3), d = vectors(10);
        Launch first(device, kernels[0], Precision::f64, 4, {a, b, c, 1.0});
        const Launch second(device, kernels[1], Precision::f64, 4, {a, b, c, 0.0});
        Rollout::Parts parts;
        parts.steps = 1;
        parts.step.add(first);
        parts.step.add(second);
        Rollout rollout(device, std::move(parts));
        CHECK(rollout.step_launches().joined == 1);
        rollout.forward(false);
        CHECK(a.value(0) == doctest::Approx(1 + 2 + 0.3));
        first.set("b", d);
        first.set("k", 2.0);
        rollout.forward(false);
        CHECK(a.value(0) == doctest::Approx(3.3 + 20 + 0.3));
        // What a launch alone would say about values that it has overwritten holds for joined ones.
        CHECK_THROWS_AS(second.adjoint().run(), Error);
    }
}
// Enough items that sums are pulled, enough steps that a launch runs twice.
TEST_CASE("compiled programs of any two launches have the gradients of the interpreter") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    constexpr int items = 70;
    const auto gradients = [](const std::shared_ptr<Device>& device, const KernelDef& first,
                              const KernelDef& second, std::size_t shift_by) {
        std::mt19937_64 random(5);
        std::vector<Array> arrays;
        for (int j = 0; j < 3; ++j) {
            arrays.emplace_back(ir::Type::f64, std::vector<std::int64_t>{items, 2});
            std::vector<double> values;
            for (int n = 0; n < 2 * items; ++n)
                values.push_back(static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1);
            arrays.back().assign(values);
        }
        Array k(ir::Type::f64, {1}), loss(ir::Type::f64, {1});
        k.fill(0.3);
        const auto at = [&](std::size_t j) { return arrays[(j + shift_by) % 3]; };
        Rollout::Parts parts;
        parts.steps = 2;
        parts.step.add(
            Launch(device, first, Precision::f64, items, {arrays[0], arrays[1], arrays[2], k}));
        parts.step.add(Launch(device, second, Precision::f64, items, {at(0), at(1), at(2), k}));
        for (const Array& a : arrays)
            parts.events[2].add(Launch(device, measure, Precision::f64, items, {a, loss}));
        Rollout rollout(device, std::move(parts));
        rollout.forward(true);
        rollout.backward({{loss}});
        std::vector<double> all = k.gradient().to_doubles();
        for (const Array& a : arrays)
            for (const double x : a.gradient().to_doubles()) all.push_back(x);
        return all;
    };
    const auto compiled =
        std::make_shared<Device>(DeviceOptions{.whole_program = WholeProgramUse::never});
    for (const KernelDef& first : kernels)
        for (const KernelDef& second : kernels)
            for (const std::size_t shift_by : {0, 1, 2}) {
                CAPTURE(first.name());
                CAPTURE(second.name());
                CAPTURE(shift_by);
                CHECK(gradients(compiled, first, second, shift_by) ==
                      gradients(test::interpreter_device(), first, second, shift_by));
            }
}
