// The three modes of a roll-out: reverse against forward mode, second order against closed forms
// and differences, and that gradients off costs nothing.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/memory/allocations.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using Values = std::vector<double>;

namespace {

const KernelDef begin_with =
    kernel("begin_with", {"x0", "x", "v"}, [](Int i, Read<Vec2> x0, Write<Vec2> x, Write<Vec2> v) {
        x[i] = x0[i];
        v[i] = Vec2(0.0, 0.0);
    });
const KernelDef spring = kernel("spring", {"ends", "rest", "stiffness", "x", "force"},
                                [](Int s, Read<Int2> ends, Read<Float> rest, Param<Float> stiffness,
                                   Read<Vec2> x, Sum<Vec2> force) {
                                    const Int2 e = ends[s];
                                    const Vec2 d = x[e.y()] - x[e.x()];
                                    const Float length = norm(d);
                                    const Vec2 f = d * (stiffness * (length - rest[s]) / length);
                                    force[e.x()] += f;
                                    force[e.y()] -= f;
                                });
const KernelDef advance =
    kernel("advance", {"force", "damping", "v", "x"},
           [](Int i, Read<Vec2> force, Param<Float> damping, ReadWrite<Vec2> v, ReadWrite<Vec2> x) {
               v[i] = v[i] * (1 - damping.value()) + force[i] * 0.05;
               x[i] += v[i] * 0.05;
           });
const KernelDef distance =
    kernel("distance", {"x", "loss"}, [](Int i, Read<Vec2> x, Reduce<Float> loss) {
        const Vec2 d = x[i] - Vec2(0.3, -0.2);
        loss += dot(d, d) * Float(i + 1);
    });

// A ring of springs; parameters: initial positions, rest lengths, stiffness, damping.
struct Ring {
    static constexpr std::int64_t n = 7;
    std::shared_ptr<Device> device;
    Precision precision;
    Type real;
    Array x0, rest, stiffness{Type::f64, {1}}, damping{Type::f64, {1}};
    Array x, v, force, loss{Type::f64, {1}};
    std::unique_ptr<Rollout> rollout;

    explicit Ring(const std::shared_ptr<Device>& d, Precision p = Precision::f64,
                  bool rest_varies = true)
        : device(d), precision(p), real(ir::real_type(p)) {
        const auto vectors = [&] { return Array(real, {n, 2}, Layout::planar); };
        x0 = vectors(), x = vectors(), v = vectors(), force = vectors();
        rest = Array(real, {n});
        Values positions, lengths, pairs;
        for (std::int64_t i = 0; i < n; ++i) {
            const double angle = 2 * 3.14159265358979 * static_cast<double>(i) / n;
            positions.push_back(std::cos(angle));
            positions.push_back(std::sin(angle) * 0.8);
            lengths.push_back(0.5 + 0.05 * static_cast<double>(i));
            pairs.push_back(static_cast<double>(i));
            pairs.push_back(static_cast<double>((i + 1) % n));
        }
        x0.assign(positions);
        rest.assign(lengths);
        stiffness.fill(6);
        damping.fill(0.02);
        const Array ends = Array::from(pairs, Type::i32, {n, 2});
        Rollout::Parts parts;
        parts.prologue.add(Launch(device, begin_with, precision, n, {x0, x, v}));
        Launch pull(device, spring, precision, n, {ends, rest, stiffness, x, force});
        if (!rest_varies) pull.differentiate_only({"stiffness", "x", "force"});
        parts.step.add(pull);
        parts.step.add(Launch(device, advance, precision, n, {force, damping, v, x}));
        parts.steps = 12;
        const Launch term(device, distance, precision, n, {x, loss});
        for (const int t : {6, 12}) parts.events[t].add(term);
        rollout = std::make_unique<Rollout>(device, std::move(parts));
    }
    std::vector<Array> parameters() const { return {x0, rest, stiffness, damping}; }
    Values gather(const std::function<Array(const Array&)>& of) const {
        Values all;
        for (const Array& p : parameters())
            for (const double value : of(p).to_doubles()) all.push_back(value);
        return all;
    }
    void scatter(const Values& values, const std::function<Array(const Array&)>& of) const {
        std::size_t k = 0;
        for (const Array& p : parameters()) {
            const std::size_t size = static_cast<std::size_t>(p.size());
            of(p).assign(std::span(values).subspan(k, size));
            k += size;
        }
    }
    double value() {
        rollout->forward(false);
        return loss.value(0);
    }
    Values gradient() {
        rollout->forward(true);
        rollout->backward({{loss, 1}});
        return gather([](const Array& p) { return p.gradient(); });
    }
};

const auto itself = [](const Array& p) { return p; };
const auto tangent_of = [](const Array& p) { return p.tangent(); };

Values direction(std::size_t size, double phase) {
    Values u;
    for (std::size_t k = 0; k < size; ++k)
        u.push_back(std::sin(phase + 1.7 * static_cast<double>(k)));
    return u;
}
Values moved(const Values& at, const Values& by, double scale) {
    Values all = at;
    for (std::size_t k = 0; k < all.size(); ++k) all[k] += scale * by[k];
    return all;
}
double dot_of(const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace

TEST_CASE("roll-out modes: the gradient against central differences, parameter by parameter") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Ring ring(device);
        const Values g = ring.gradient(), at = ring.gather(itself);
        for (std::size_t k = 0; k < at.size(); ++k) {
            CAPTURE(k);
            Values unit(at.size(), 0.0);
            unit[k] = 1;
            const auto loss_at = [&](double h) {
                ring.scatter(moved(at, unit, h), itself);
                return ring.value();
            };
            // Fourth order: truncation near 1e-12 at this step.
            const double h = 1e-3;
            const double difference =
                (8 * (loss_at(h) - loss_at(-h)) - (loss_at(2 * h) - loss_at(-2 * h))) / (12 * h);
            CHECK(g[k] == doctest::Approx(difference).epsilon(1e-8));
        }
    }
}

TEST_CASE("roll-out modes: reverse mode against forward mode") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        for (const Precision precision : {Precision::f64, Precision::f32}) {
            Ring ring(device, precision);
            const Values g = ring.gradient();
            const double value = ring.loss.value(0);
            for (const double phase : {0.0, 0.4, 1.1}) {
                const Values u = direction(g.size(), phase);
                ring.scatter(u, tangent_of);
                ring.rollout->forward(false, {}, RolloutMode::tangent);
                CHECK(ring.loss.value(0) == value);  // the same bits
                const double tolerance = precision == Precision::f64 ? 1e-12 : 1e-4;
                CHECK(ring.loss.tangent().value(0) ==
                      doctest::Approx(dot_of(g, u)).epsilon(tolerance));
            }
        }
    }
}

TEST_CASE("roll-out modes: second order against differences of gradients, and symmetric") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Ring ring(device);
        const Values g = ring.gradient(), at = ring.gather(itself);
        const auto product = [&](const Values& u) {
            ring.scatter(at, itself);
            ring.scatter(u, tangent_of);
            ring.rollout->forward(true, {}, RolloutMode::second);
            ring.rollout->backward({{ring.loss, 1}}, RolloutMode::second);
            const Values first = ring.gather([](const Array& p) { return p.gradient(); });
            CHECK(test::same_bits(first, g));
            return ring.gather([](const Array& p) { return p.gradient().tangent(); });
        };
        const Values u = direction(at.size(), 0.2), w = direction(at.size(), 2.0);
        const Values hu = product(u), hw = product(w);
        CHECK(dot_of(hu, w) == doctest::Approx(dot_of(hw, u)).epsilon(1e-11));
        CHECK(test::same_bits(product(u), hu));
        const double h = 1e-3;
        const auto gradient_at = [&](double scale) {
            ring.scatter(moved(at, u, scale), itself);
            return ring.gradient();
        };
        const Values p1 = gradient_at(h), m1 = gradient_at(-h), p2 = gradient_at(2 * h),
                     m2 = gradient_at(-2 * h);
        for (std::size_t k = 0; k < at.size(); ++k) {
            CAPTURE(k);
            const double difference = (8 * (p1[k] - m1[k]) - (p2[k] - m2[k])) / (12 * h);
            CHECK(std::fabs(hu[k] - difference) < 1e-7 * (1 + std::fabs(difference)));
        }
    }
}

TEST_CASE("roll-out modes: along two directions, against the Hessian and differences of slopes") {
    const auto second_tangent_of = [](const Array& p) { return p.second_tangent(); };
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Ring ring(device);
        const Values at = ring.gather(itself);
        const Values u = direction(at.size(), 0.2), w = direction(at.size(), 2.0);
        const auto along = [&](const Values& a, const Values& b) {
            ring.scatter(a, tangent_of);
            ring.scatter(b, second_tangent_of);
            ring.rollout->forward(false, {}, RolloutMode::tangent_tangent);
            return ring.loss.tangent().second_tangent().value(0);
        };
        const double uw = along(u, w), slope = ring.loss.tangent().value(0),
                     other = ring.loss.second_tangent().value(0);
        CHECK(along(w, u) == doctest::Approx(uw).epsilon(1e-12));
        const Values g = ring.gradient();
        CHECK(slope == doctest::Approx(dot_of(g, u)).epsilon(1e-12));
        CHECK(other == doctest::Approx(dot_of(g, w)).epsilon(1e-12));
        ring.scatter(u, tangent_of);
        ring.rollout->forward(true, {}, RolloutMode::second);
        ring.rollout->backward({{ring.loss, 1}}, RolloutMode::second);
        const Values hu = ring.gather([](const Array& p) { return p.gradient().tangent(); });
        CHECK(uw == doctest::Approx(dot_of(hu, w)).epsilon(1e-11));
        const auto slope_at = [&](double s) {
            ring.scatter(moved(at, w, s), itself);
            ring.rollout->forward(false, {}, RolloutMode::tangent);
            return ring.loss.tangent().value(0);
        };
        const double h = 1e-3;
        const double difference =
            (8 * (slope_at(h) - slope_at(-h)) - (slope_at(2 * h) - slope_at(-2 * h))) / (12 * h);
        CHECK(std::fabs(uw - difference) < 1e-7 * (1 + std::fabs(difference)));
        CHECK_THROWS_AS(ring.rollout->backward({{ring.loss, 1}}, RolloutMode::tangent_tangent),
                        Error);
    }
}

TEST_CASE("roll-out modes: seeds of single elements, and what a watch adds on the way back") {
    // x' = a x: the loss sum_t c_t . x_t, with c_t from a watch and c_n as a seed.
    const KernelDef grow =
        kernel("grow", {"a", "x"}, [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a; });
    const int n = 5;
    const double a_value = 1.25;
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x0(Type::f64, {2}), x(Type::f64, {2}), a(Type::f64, {1});
        x0.assign(Values{0.5, 2});
        a.fill(a_value);
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, x0);
        parts.step.add(Launch(device, grow, Precision::f64, 2, {a, x}));
        parts.steps = n;
        Rollout rollout(device, parts);
        for (int round = 0; round < 3; ++round) {  // compiled as one function in the end
            rollout.forward(true);
            rollout.backward({{x, 1, {3.0 + round, -2}}});
            const double power = std::pow(a_value, n);
            CHECK(x0.gradient().to_doubles() == Values{(3.0 + round) * power, -2 * power});
        }
        rollout.watch_adjoints([&](std::int64_t t) {
            if (t == n) return;
            const double g = x.gradient().value(0);
            x.gradient().set_value(0, 0, g + static_cast<double>(t + 1));
        });
        rollout.forward(true);
        rollout.backward({{x, 1, {3, 0}}});
        double expected = 3 * std::pow(a_value, n), by_a = 3 * n * 0.5 * std::pow(a_value, n - 1);
        for (int t = 0; t < n; ++t) {
            expected += (t + 1) * std::pow(a_value, t);
            if (t > 0) by_a += (t + 1) * t * 0.5 * std::pow(a_value, t - 1);
        }
        CHECK(x0.gradient().value(0) == doctest::Approx(expected).epsilon(1e-14));
        CHECK(x0.gradient().value(1) == 0);
        CHECK(a.gradient().value(0) == doctest::Approx(by_a).epsilon(1e-14));
        rollout.watch_adjoints({});
    }
}

TEST_CASE("roll-out modes: second order in closed form") {
    // loss = (a^n x0)^2: d2/dx0^2 = 2 a^2n, d2/dx0 da = 4 n x0 a^(2n-1),
    // d2/da2 = 2n (2n-1) x0^2 a^(2n-2).
    const KernelDef grow =
        kernel("grow", {"a", "x"}, [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a; });
    const KernelDef squares =
        kernel("squares", {"x", "loss"},
               [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i] * x[i]; });
    const int n = 8;
    const double a_value = 1.1, x_value = 0.7;
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x0(Type::f64, {1}), x(Type::f64, {1}), a(Type::f64, {1}), loss(Type::f64, {1});
        x0.fill(x_value);
        a.fill(a_value);
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, x0);
        parts.step.add(Launch(device, grow, Precision::f64, 1, {a, x}));
        parts.steps = n;
        parts.events[n].add(Launch(device, squares, Precision::f64, 1, {x, loss}));
        Rollout rollout(device, parts);
        const double xx = 2 * std::pow(a_value, 2 * n);
        const double xa = 4 * n * x_value * std::pow(a_value, 2 * n - 1);
        const double aa = 2 * n * (2 * n - 1) * x_value * x_value * std::pow(a_value, 2 * n - 2);
        for (const auto& [u, w] : {std::pair{1.0, 0.0}, {0.0, 1.0}, {2.0, -3.0}}) {
            x0.tangent().fill(u);
            a.tangent().fill(w);
            rollout.forward(true, {}, RolloutMode::second);
            rollout.backward({{loss, 1}}, RolloutMode::second);
            CHECK(x0.gradient().tangent().value(0) ==
                  doctest::Approx(xx * u + xa * w).epsilon(1e-12));
            CHECK(a.gradient().tangent().value(0) ==
                  doctest::Approx(xa * u + aa * w).epsilon(1e-12));
        }
        // First order afterward is undisturbed, and each mode asks for its own forward run.
        rollout.forward(true);
        rollout.backward({{loss, 1}});
        CHECK(x0.gradient().value(0) == doctest::Approx(xx * x_value).epsilon(1e-12));
        rollout.forward(false, {}, RolloutMode::second);
        CHECK_THROWS_AS(rollout.backward({{loss, 1}}, RolloutMode::second), Error);
        // What second mode reads must not change either.
        rollout.forward(true, {}, RolloutMode::second);
        a.tangent().fill(5);
        CHECK_THROWS_WITH_AS(rollout.backward({{loss, 1}}, RolloutMode::second),
                             "in kernel 'grow': 'a.t1' was changed between forward and backward; "
                             "run forward(true) again before backward(), and change nothing in "
                             "between",
                             Error);
    }
}

TEST_CASE("roll-out modes: a kept run has the bits of one that keeps nothing") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        for (const Precision precision : {Precision::f64, Precision::f32}) {
            const auto bits = [&](bool keep, RolloutMode mode) {
                Ring ring(device, precision);
                std::vector<Values> states;
                ring.rollout->forward(
                    keep,
                    [&](std::int64_t) {
                        states.push_back(ring.x.to_doubles());
                        states.push_back(ring.v.to_doubles());
                        states.push_back(ring.loss.to_doubles());
                        return true;
                    },
                    mode);
                return states;
            };
            const auto expected = bits(false, RolloutMode::first);
            CHECK(expected.size() == 3 * 13);
            CHECK(bits(true, RolloutMode::first) == expected);
            CHECK(bits(false, RolloutMode::tangent) == expected);
            CHECK(bits(true, RolloutMode::second) == expected);
        }
    }
}

TEST_CASE("roll-out modes: without keeping, no gradient memory is allocated") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Ring ring(device);
        const auto arrays = [&] {
            return std::vector<Array>{ring.x0, ring.rest, ring.stiffness, ring.damping,
                                      ring.x,  ring.v,    ring.force,     ring.loss};
        };
        ring.rollout->forward(false);
        const std::int64_t before = memory_use().current;
        ring.rollout->forward(false);
        CHECK(memory_use().current == before);
        CHECK(ring.rollout->kept_bytes() == 0);
        for (const Array& a : arrays()) CHECK(!a.has_gradient());
        // With it, what is there is what was announced: histories and one gradient per array.
        ring.rollout->forward(true);
        std::int64_t gradients = 0;
        for (const Array& a : arrays())
            if (a.has_gradient()) gradients += static_cast<std::int64_t>(a.bytes());
        ring.rollout->backward({{ring.loss, 1}});
        const std::int64_t after = memory_use().current - before;
        CHECK(after >= ring.rollout->kept_bytes() + gradients);
        CHECK(ring.rollout->kept_bytes() > 0);
        // A small program is compiled as a whole after a few runs.
        for (int times = 0; times < 20; ++times) ring.gradient();
        const std::int64_t now = memory_use().current;
        for (int times = 0; times < 3; ++times) CHECK(ring.gradient().size() == 23);
        CHECK(memory_use().current == now);
    }
}

TEST_CASE("roll-out modes: iterations after the first few allocate nothing") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    Ring ring(test::cpu_device(), Precision::f64, false);
    const std::vector<Rollout::Seed> seeds{{ring.loss, 1}};
    const Rollout::Watch watch = [](std::int64_t) { return true; };
    const auto iterate = [&] {
        ring.stiffness.fill(5);
        ring.rollout->forward(true, watch);
        ring.rollout->backward(seeds);
        ring.rollout->forward(false);
    };
    for (int k = 0; k < 20; ++k) iterate();  // a small program is compiled as a whole meanwhile
    const std::int64_t before = test::allocations();
    for (int k = 0; k < 5; ++k) iterate();
    CHECK(test::allocations() == before);
}
