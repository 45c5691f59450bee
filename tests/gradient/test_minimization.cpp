// Minimization as a launch: implicit Euler against its closed form, and derivatives of all kinds
// through it against differences of the converged forward run.
#include "engine/runtime/minimization/minimization.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>

#include "engine/base/error.hpp"
#include "engine/runtime/program/tape.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using Values = std::vector<double>;

namespace {

constexpr double h = 0.05;

// m/2 |x - x~|^2 / h^2
const EnergyKernels inertia =
    energy<2, 1>("inertia", {"target", "mass"},
                 [](Int i, const Points<2, 1>& x, Read<Vec2> target, Read<Float> mass) -> Float {
                     const Vec2 d = x[0] - target[i];
                     return 0.5 / (h * h) * mass[i] * dot(d, d);
                 });
// k/2 (|x1 - x0| - L)^2
const EnergyKernels spring = energy<2, 2>(
    "spring", {"rest_length", "stiffness"},
    [](Int s, const Points<2, 2>& x, Param<Float> rest, Property<Float> stiffness) -> Float {
        const Float d = norm(x[1] - x[0]) - rest;
        return 0.5 * stiffness[s] * d * d;
    });

const KernelDef start =
    kernel("start", {"x0", "v0", "x", "v"},
           [](Int i, Read<Vec2> x0, Read<Vec2> v0, Write<Vec2> x, Write<Vec2> v) {
               x[i] = x0[i];
               v[i] = v0[i];
           });
const KernelDef predict = kernel("predict", {"x", "v", "gravity", "target", "before"},
                                 [](Int i, Read<Vec2> x, Read<Vec2> v, Param<Vec2> gravity,
                                    Write<Vec2> target, Write<Vec2> before) {
                                     target[i] = x[i] + h * v[i] + h * h * gravity.value();
                                     before[i] = x[i];
                                 });
const KernelDef finish = kernel(
    "finish", {"x", "before", "v"},
    [](Int i, Read<Vec2> x, Read<Vec2> before, Write<Vec2> v) { v[i] = (x[i] - before[i]) / h; });
const KernelDef measure = kernel("measure", {"x", "aim", "loss"},
                                 [](Int i, Read<Vec2> x, Read<Vec2> aim, Reduce<Float> loss) {
                                     const Vec2 d = x[i] - aim[i];
                                     loss += dot(d, d);
                                 });

Array vectors(const Values& values) {
    return Array::from(values, Type::f64, {static_cast<std::int64_t>(values.size()) / 2, 2});
}

// A chain that hangs from its first point and swings.
struct Chain {
    static constexpr int points = 5;
    std::shared_ptr<Device> device;
    Array x0, v0, mass, stiffness, rest = test::array({0.8}), gravity = vectors({0.3, -9.81});
    Array x = Array(Type::f64, {points, 2}), v = x.clone(), target = x.clone(), before = x.clone();
    Array aim, loss = Array(Type::f64, {1});
    std::unique_ptr<Minimization> solve;
    std::unique_ptr<Rollout> rollout;
    Program prologue, step, event;

    explicit Chain(std::shared_ptr<Device> d, std::int64_t steps = 6,
                   const MinimizationOptions& options = {})
        : device(std::move(d)) {
        Values places, speeds, aims;
        for (int i = 0; i < points; ++i) {
            places.insert(places.end(), {0.7 * i, 0.1 * i * i});
            speeds.insert(speeds.end(), {0.0, i == 0 ? 0.0 : -0.5 * i});
            aims.insert(aims.end(), {0.2 * i, -0.9 * i});
        }
        x0 = vectors(places);
        v0 = vectors(speeds);
        aim = vectors(aims);
        mass = test::array({1, 0.5, 0.7, 0.4, 2});
        stiffness = test::array({500, 800, 300, 1000});
        Array ends(Type::i32, {points - 1, 2});
        ends.assign_integers(std::vector<std::int64_t>{0, 1, 1, 2, 2, 3, 3, 4});
        Array each(Type::i32, {points});
        each.assign_integers(std::vector<std::int64_t>{0, 1, 2, 3, 4});
        std::vector<EnergyTerm> terms;
        terms.push_back({"inertia", inertia, points, each, {{"target", target}, {"mass", mass}}});
        terms.push_back({"springs",
                         spring,
                         points - 1,
                         ends,
                         {{"rest_length", Argument::shared(rest)}, {"stiffness", stiffness}}});
        solve = std::make_unique<Minimization>(device, x, std::vector<char>{1, 0, 0, 0, 0},
                                               std::move(terms), options);
        const auto launch = [&](const KernelDef& kernel, std::vector<Argument> arguments) {
            return Launch(device, kernel, Precision::f64, points, std::move(arguments));
        };
        prologue.add(launch(start, {x0, v0, x, v}));
        step.add(launch(predict, {x, v, gravity, target, before}));
        step.add(solve->launch());
        step.add(launch(finish, {x, before, v}));
        event.add(launch(measure, {x, aim, loss}));
        Rollout::Parts parts;
        parts.prologue = prologue;
        parts.step = step;
        parts.steps = steps;
        parts.events[steps] = event;
        rollout = std::make_unique<Rollout>(device, parts);
    }
    std::vector<Array> parameters() const { return {x0, v0, mass, stiffness, rest, gravity}; }
    double run() {
        rollout->forward(false);
        return loss.value(0);
    }
    Values gradient() {
        rollout->forward(true);
        rollout->backward({{loss, 1.0}});
        Values all;
        for (const Array& p : parameters()) {
            const Values g = p.gradient().to_doubles();
            all.insert(all.end(), g.begin(), g.end());
        }
        return all;
    }
    // All parameters moved along a direction.
    void move(const Values& direction, double by) {
        std::size_t k = 0;
        for (const Array& p : parameters()) {
            Values values = p.to_doubles();
            for (double& value : values) value += by * direction[k++];
            p.assign(values);
        }
    }
    void set_tangents(const Values& direction) {
        std::size_t k = 0;
        for (const Array& p : parameters()) {
            const auto n = static_cast<std::size_t>(p.size());
            p.tangent().assign(std::span(direction).subspan(k, n));
            k += n;
        }
    }
    std::size_t size() const {
        std::size_t n = 0;
        for (const Array& p : parameters()) n += static_cast<std::size_t>(p.size());
        return n;
    }
};

double dot_of(const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

// In each parameter as large as it makes sense: stiffnesses are hundreds.
Values random_direction(std::size_t n, unsigned seed) {
    Values d(n);
    for (double& x : d) {
        seed = seed * 1664525u + 1013904223u;
        x = static_cast<double>(seed >> 8) / (1 << 23) - 1;
    }
    return d;
}

// By central differences of fourth order.
double slope(Chain& chain, const Values& direction, double step) {
    const auto at = [&](double by) {
        chain.move(direction, by);
        const double value = chain.run();
        chain.move(direction, -by);
        return value;
    };
    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
}

// Calls body(device, options) for every device, with the minimization as one kernel and as a function
// of the host.
template <class F>
void each_way(const F& body) {
    for (const auto& device : test::devices())
        for (const LinearSolverKind solver : {LinearSolverKind::dense, LinearSolverKind::direct}) {
            CAPTURE(device->describe());
            CAPTURE((solver == LinearSolverKind::dense));
            body(device, MinimizationOptions{.solver = solver});
        }
}

}  // namespace

TEST_CASE("minimization: implicit Euler of one mass on a spring, in closed form") {
    each_way([](const std::shared_ptr<Device>& device, const MinimizationOptions& options) {
        // On the x axis: m (x - x~) / h^2 + k (x - L) = 0.
        const double m = 2, k = 50, L = 1.5, at = 2.25;
        Array x = vectors({0, 0, 2, 0});
        const Array target = vectors({0, 0, at, 0}), mass = test::array({m, m}),
                    stiffness = test::array({k}), rest = test::array({L});
        Array ends(Type::i32, {1, 2}), each(Type::i32, {2});
        ends.assign_integers(std::vector<std::int64_t>{0, 1});
        each.assign_integers(std::vector<std::int64_t>{0, 1});
        const Minimization solve(
            device, x, {1, 0},
            {{"inertia", inertia, 2, each, {{"target", target}, {"mass", mass}}},
             {"spring",
              spring,
              1,
              ends,
              {{"rest_length", Argument::shared(rest)}, {"stiffness", stiffness}}}},
            options);
        CHECK(solve.launch().kernel().is_host_function ==
              (options.solver == LinearSolverKind::direct));
        Tape tape;
        tape.launch(solve.launch());
        const double w = m / (h * h), expected = (w * at + k * L) / (w + k);
        CHECK(x.value(1, 0) == doctest::Approx(expected).epsilon(1e-14));
        CHECK(x.value(1, 1) == 0);
        CHECK(x.value(0, 0) == 0);
        CHECK(solve.outcome().iterations >= 1);
        CHECK(solve.outcome().residual < 1e-10);
        x.gradient().assign(Values{0, 0, 1, 0});
        tape.backward();
        CHECK(stiffness.gradient().value(0) ==
              doctest::Approx((L - expected) / (w + k)).epsilon(1e-13));
        CHECK(rest.gradient().value(0) == doctest::Approx(k / (w + k)).epsilon(1e-13));
        CHECK(mass.gradient().value(1) ==
              doctest::Approx((at - expected) / (h * h) / (w + k)).epsilon(1e-13));
        CHECK(target.gradient().value(1, 0) == doctest::Approx(w / (w + k)).epsilon(1e-13));
        // The wall moves: the other end follows.
        CHECK(x.gradient().value(0, 0) == doctest::Approx(k / (w + k)).epsilon(1e-13));
        CHECK(x.gradient().value(1, 0) == 0);
    });
}

TEST_CASE("minimization: gradients of a roll-out against differences, along the gradient too") {
    each_way([](const std::shared_ptr<Device>& device, const MinimizationOptions& options) {
        Chain chain(device, 6, options);
        const Values g = chain.gradient();
        Values along = g;
        const double norm = std::sqrt(dot_of(g, g));
        for (double& a : along) a /= norm;
        for (unsigned k = 0; k < 4; ++k) {
            const Values d = k == 0 ? along : random_direction(chain.size(), k);
            const double by_differences = slope(chain, d, 1e-4);
            CHECK(dot_of(g, d) == doctest::Approx(by_differences).epsilon(1e-8));
        }
        // Each parameter by itself.
        for (std::size_t p = 0; p < chain.size(); ++p) {
            Values d(chain.size(), 0.0);
            d[p] = 1;
            CAPTURE(p);
            const double by_differences = slope(chain, d, 1e-4);
            CHECK(std::abs(g[p] - by_differences) <=
                  1e-8 * std::max(1.0, std::abs(by_differences)));
        }
    });
}

TEST_CASE("minimization: forward mode, Hessian products and second derivatives") {
    each_way([](const std::shared_ptr<Device>& device, const MinimizationOptions& options) {
        Chain chain(device, 6, options);
        const Values g = chain.gradient(), d = random_direction(chain.size(), 7),
                     e = random_direction(chain.size(), 8);
        chain.set_tangents(d);
        chain.rollout->forward(false, {}, RolloutMode::tangent);
        CHECK(chain.loss.tangent().value(0) == doctest::Approx(dot_of(g, d)).epsilon(1e-11));

        chain.rollout->forward(true, {}, RolloutMode::second);
        chain.rollout->backward({{chain.loss, 1.0}}, RolloutMode::second);
        Values product;
        for (const Array& p : chain.parameters()) {
            const Values t = p.gradient().tangent().to_doubles();
            product.insert(product.end(), t.begin(), t.end());
        }
        const double step = 2e-4;
        const auto gradient_at = [&](double by) {
            chain.move(d, by);
            const Values there = chain.gradient();
            chain.move(d, -by);
            return there;
        };
        const Values a = gradient_at(step), b = gradient_at(-step), c = gradient_at(2 * step),
                     f = gradient_at(-2 * step);
        for (std::size_t p = 0; p < product.size(); ++p) {
            CAPTURE(p);
            const double by_differences = (8 * (a[p] - b[p]) - (c[p] - f[p])) / (12 * step);
            CHECK(std::abs(product[p] - by_differences) <=
                  1e-7 * std::max(1.0, std::abs(by_differences)));
        }
        // The second derivative along both directions.
        std::size_t k = 0;
        chain.set_tangents(d);
        for (const Array& p : chain.parameters()) {
            const auto n = static_cast<std::size_t>(p.size());
            p.second_tangent().assign(std::span(e).subspan(k, n));
            k += n;
        }
        chain.rollout->forward(false, {}, RolloutMode::tangent_tangent);
        CHECK(chain.loss.tangent().second_tangent().value(0) ==
              doctest::Approx(dot_of(product, e)).epsilon(1e-9));
    });
}

TEST_CASE("minimization: the same bits under every checkpoint plan and on every device") {
    std::map<LinearSolverKind, std::pair<double, Values>> expected;
    each_way([&](const std::shared_ptr<Device>& device, const MinimizationOptions& options) {
        Chain chain(device, 40, options);
        const Values g = chain.gradient();
        const auto& [loss, reference] =
            expected.try_emplace(options.solver, chain.loss.value(0), g).first->second;
        CHECK(g == reference);
        CHECK(chain.loss.value(0) == loss);
        CHECK(chain.run() == loss);
        chain.rollout->limit_memory({.bytes = 8000});
        CHECK(chain.gradient() == reference);
        CHECK(chain.rollout->plan().segments > 1);
    });
}

TEST_CASE("minimization: all solvers find the same") {
    const auto device = test::interpreter_device();
    Chain direct(device, 20, {.solver = LinearSolverKind::direct});
    const Values a = direct.gradient();
    for (const LinearSolverKind kind :
         {LinearSolverKind::conjugate_gradients, LinearSolverKind::dense}) {
        Chain other(device, 20, {.solver = kind});
        const Values b = other.gradient();
        CHECK(direct.loss.value(0) == doctest::Approx(other.loss.value(0)).epsilon(1e-12));
        for (std::size_t p = 0; p < a.size(); ++p)
            CHECK(b[p] == doctest::Approx(a[p]).epsilon(1e-9));
        const MinimizationTotals &x = direct.solve->totals(), &y = other.solve->totals();
        CHECK(x.solves == y.solves);
        CHECK(x.all.iterations == y.all.iterations);
        CHECK(x.all.scale == doctest::Approx(y.all.scale).epsilon(1e-9));
    }
}

TEST_CASE("minimization: how far it goes on hardly changes where it ends") {
    // One whole step follows when the tolerance is met: the error is the square of what is left.
    const auto device = test::interpreter_device();
    Chain exact(device, 20);
    const Values reference = exact.gradient();
    for (const double tolerance : {1e-4, 1e-8}) {
        Chain coarse(device, 20, {.tolerance = tolerance});
        const Values g = coarse.gradient();
        for (std::size_t p = 0; p < g.size(); ++p)
            CHECK(std::abs(g[p] - reference[p]) <=
                  10 * tolerance * std::max(1.0, std::abs(reference[p])));
        CHECK(coarse.solve->totals().all.iterations <= exact.solve->totals().all.iterations);
    }
}

TEST_CASE("minimization: a horizon's gradient is that of the last steps alone") {
    each_way([](const std::shared_ptr<Device>& device, const MinimizationOptions& options) {
        Chain chain(device, 10, options);
        chain.rollout->set_horizon(4);
        const Values g = chain.gradient();
        Chain before(device, 6, options);
        before.run();
        Chain rest(device, 4, options);
        rest.x0.copy_from(before.x);
        rest.v0.copy_from(before.v);
        const Values expected = rest.gradient();
        // What starts the run has none; masses, stiffnesses and gravity have that of four steps.
        const std::size_t states = static_cast<std::size_t>(chain.x0.size() + chain.v0.size());
        for (std::size_t p = 0; p < g.size(); ++p)
            CHECK(g[p] == doctest::Approx(p < states ? 0 : expected[p]).epsilon(1e-12));
    });
}

TEST_CASE("minimization: a straight column under pressure is no minimum, and is said to be none") {
    // Three points in a line, both ends fixed, springs pressed together: the middle may buckle to
    // either side.
    each_way([](const std::shared_ptr<Device>& device, const MinimizationOptions& options) {
        const auto make = [&](double y, double rest_length) {
            Array x = vectors({0, 0, 1, y, 2, 0});
            Array ends(Type::i32, {2, 2});
            ends.assign_integers(std::vector<std::int64_t>{0, 1, 1, 2});
            const Array rest = test::array({rest_length}), stiffness = test::array({100, 100});
            return std::make_pair(
                x, Minimization(
                       device, x, {1, 0, 1},
                       {{"column",
                         spring,
                         2,
                         ends,
                         {{"rest_length", Argument::shared(rest)}, {"stiffness", stiffness}}}},
                       options));
        };
        const auto error_of = [&](double y, double rest_length) {
            auto [x, solve] = make(y, rest_length);
            try {
                solve.launch().forward().run();
                device->synchronize();
            } catch (const Error& e) {
                CHECK(e.item() == 1);
                return std::string(e.what());
            }
            return std::string();
        };
        CHECK_MESSAGE(error_of(0, 1.2).find("not a minimum") != std::string::npos,
                      error_of(0, 1.2));
        // A little to one side it buckles: sqrt(1.2^2 - 1).
        auto [x, solve] = make(0.01, 1.2);
        solve.launch().forward().run();
        CHECK(x.value(1, 0) == doctest::Approx(1).epsilon(1e-12));
        CHECK(x.value(1, 1) == doctest::Approx(std::sqrt(0.44)).epsilon(1e-12));
        CHECK(solve.outcome().projected > 0);
        // Without pressure across it nothing holds the middle: singular.
        CHECK_MESSAGE(error_of(0, 1).find("singular") != std::string::npos, error_of(0, 1));
    });
}

TEST_CASE("minimization: what cannot be is said") {
    const auto device = test::interpreter_device();
    Array each(Type::i32, {1, 2});
    each.assign_integers(std::vector<std::int64_t>{0, 0});
    const Array rest = test::array({1}), k = test::array({1});
    const auto make = [&](const Array& x, std::vector<char> fixed) {
        Minimization(device, x, std::move(fixed),
                     {{"spring",
                       spring,
                       1,
                       each,
                       {{"rest_length", Argument::shared(rest)}, {"stiffness", k}}}});
    };
    CHECK_THROWS_WITH_AS(make(vectors({0, 0, 1, 0}), {0, 0}), doctest::Contains("twice"), Error);
    CHECK_THROWS_WITH_AS(make(vectors({0, 0, 1, 0}), {0}), doctest::Contains("fixed"), Error);
    CHECK_THROWS_WITH_AS(make(Array(Type::i32, {2, 2}), {0, 0}), doctest::Contains("reals"), Error);
    Array two(Type::i32, {1, 2});
    two.assign_integers(std::vector<std::int64_t>{0, 1});
    CHECK_THROWS_WITH_AS(
        Minimization(device, Array(Type::f64, {40, 2}), std::vector<char>(40, 0),
                     {{"spring",
                       spring,
                       1,
                       two,
                       {{"rest_length", Argument::shared(rest)}, {"stiffness", k}}}},
                     {.solver = LinearSolverKind::dense}),
        doctest::Contains("'dense' takes 1 to 64 unknowns"), Error);
    each.assign_integers(std::vector<std::int64_t>{0, 7});
    CHECK_THROWS_WITH_AS(make(vectors({0, 0, 1, 0}), {0, 0}), doctest::Contains("no point 7"),
                         Error);
}
