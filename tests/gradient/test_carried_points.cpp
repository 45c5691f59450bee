// Points that bodies with generalized coordinates carry, in one minimization with free points: the
// minimum against the energy written out in numbers, and derivatives of all kinds against differences.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>

#include "engine/ad/grad.hpp"
#include "engine/base/error.hpp"
#include "engine/lang/quaternion.hpp"
#include "engine/runtime/minimization/minimization.hpp"
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
constexpr int coordinates = 3, points = 7;

const EnergyKernels inertia(energy<3, 1>("inertia", {"number", "target", "mass"},
                                         [](Int i, const Points<3, 1>& x, Read<Int> number,
                                            Read<Vec3> target, Read<Float> mass) -> Float {
                                             const Vec3 d = x[0] - target[number[i]];
                                             return 0.5 / (h * h) * mass[number[i]] * dot(d, d);
                                         }));
const EnergyKernels spring = energy<3, 2>(
    "spring", {"rest_length", "stiffness"},
    [](Int s, const Points<3, 2>& x, Param<Float> rest, Property<Float> stiffness) -> Float {
        const Float d = norm(x[1] - x[0]) - rest;
        return 0.5 * stiffness[s] * d * d;
    });

// An arm: a slide along x and a hinge about z, then a hinge about the arm's own x at its end.
std::vector<Float> arm_frames(const std::function<Float(int)>& q, const Float& length) {
    const Vec3 place(q(0), 0.0, 0.0);
    const Quat first = from_axis_angle(Vec3(0.0, 0.0, 1.0), q(1)),
               second = first * from_axis_angle(Vec3(1.0, 0.0, 0.0), q(2));
    const Vec3 end = place + rotate(first, Vec3(length, 0.0, 0.0));
    std::vector<Float> numbers;
    const auto add = [&](const Vec3& p, const Quat& turn) {
        for (int r = 0; r < 3; ++r) numbers.push_back(p[r]);
        const Mat3 m = to_matrix(turn);
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) numbers.push_back(m(r, c));
    };
    add(place, first);
    add(end, second);
    return numbers;
}

const CarrierKernels arm{
    kernel("arm_frames", {"y", "ahead", "length", "frame"},
           [](Int, Read<Float> y, Read<Float> ahead, Param<Float> length, WriteSlice<Float> frame) {
               const auto numbers =
                   arm_frames([&](int k) { return ahead[k] + y[k]; }, length.value());
               for (std::size_t k = 0; k < numbers.size(); ++k)
                   frame.store_once(static_cast<int>(k), numbers[k]);
           }),
    kernel("arm_force", {"y", "ahead", "length", "frame_force", "gradient"},
           [](Int, Read<Float> y, Read<Float> ahead, Param<Float> length, Read<Float> frame_force,
              Accumulate<Float> gradient) {
               std::vector<Float> q;
               for (int k = 0; k < coordinates; ++k) q.push_back(ad::variable(ahead[k] + y[k]));
               const auto numbers = arm_frames(
                   [&](int k) { return q[static_cast<std::size_t>(k)]; }, length.value());
               Float work = 0;
               for (std::size_t k = 0; k < numbers.size(); ++k)
                   work += numbers[k] * frame_force[static_cast<int>(k)];
               const std::vector<Float> g = ad::gradient(work, q);
               for (int k = 0; k < coordinates; ++k) gradient[k] += g[static_cast<std::size_t>(k)];
           }),
    kernel("arm_value", {"y", "ahead", "weight", "bend", "scale", "value"},
           [](Int, Read<Float> y, Read<Float> ahead, Read<Float> weight, Param<Float> bend,
              Param<Float> scale, Reduce<Float> value) {
               Float sum = bend.value() * (1.0 - cos(ahead[1] + y[1]));
               for (int k = 0; k < coordinates; ++k)
                   sum += 0.5 / (h * h) * weight[k] * (y[k] * y[k]);
               value += scale.value() * sum;
           }),
    kernel("arm_gradient", {"y", "ahead", "weight", "bend", "gradient"},
           [](Int, Read<Float> y, Read<Float> ahead, Read<Float> weight, Param<Float> bend,
              Accumulate<Float> gradient) {
               for (int k = 0; k < coordinates; ++k) gradient[k] += 1 / (h * h) * weight[k] * y[k];
               gradient[1] += bend.value() * sin(ahead[1] + y[1]);
           })};

const KernelDef copy = kernel("copy", {"from", "to"},
                              [](Int i, Read<Float> from, Write<Float> to) { to[i] = from[i]; });
const KernelDef copy_points = kernel(
    "copy_points", {"from", "to"}, [](Int i, Read<Vec3> from, Write<Vec3> to) { to[i] = from[i]; });
const KernelDef predict =
    kernel("predict", {"x", "v", "target", "before"},
           [](Int i, Read<Vec3> x, Read<Vec3> v, Write<Vec3> target, Write<Vec3> before) {
               target[i] = x[i] + h * v[i] + Vec3(0.0, -9.81 * h * h, 0.0);
               before[i] = x[i];
           });
const KernelDef finish = kernel(
    "finish", {"x", "before", "v"},
    [](Int i, Read<Vec3> x, Read<Vec3> before, Write<Vec3> v) { v[i] = (x[i] - before[i]) / h; });
const KernelDef predict_arm =
    kernel("predict_arm", {"q", "u", "ahead", "y"},
           [](Int i, Read<Float> q, Read<Float> u, Write<Float> ahead, Write<Float> y) {
               ahead[i] = q[i] + h * u[i];
               y[i] = -(h * u[i]);
           });
const KernelDef finish_arm =
    kernel("finish_arm", {"y", "ahead", "q", "u"},
           [](Int i, Read<Float> y, Read<Float> ahead, Write<Float> q, ReadWrite<Float> u) {
               q[i] = ahead[i] + y[i];
               u[i] = u[i] + y[i] / h;
           });
const KernelDef measure = kernel("measure", {"x", "aim", "loss"},
                                 [](Int i, Read<Vec3> x, Read<Vec3> aim, Reduce<Float> loss) {
                                     const Vec3 d = x[i] - aim[i];
                                     loss += dot(d, d);
                                 });
const KernelDef measure_arm =
    kernel("measure_arm", {"q", "loss"},
           [](Int i, Read<Float> q, Reduce<Float> loss) { loss += q[i] * q[i]; });

Array vectors(const Values& values) {
    return Array::from(values, Type::f64, {static_cast<std::int64_t>(values.size()) / 3, 3});
}
Array integers(const std::vector<std::int64_t>& values, std::int64_t columns) {
    const auto n = static_cast<std::int64_t>(values.size());
    Array array = columns == 1 ? Array(Type::i32, {n}) : Array(Type::i32, {n / columns, columns});
    array.assign_integers(values);
    return array;
}

struct Arm {
    Array q0, u0, weight, places;
    Array y = Array(Type::f64, {coordinates}), q = y.clone(), u = y.clone(), ahead = y.clone();
};

// Two arms and two free points between them; a wall holds a spring's end.
struct Scene {
    const std::vector<std::int64_t> ends{0, 1, 1, 2, 2, 4, 1, 3, 4, 6, 5, 3, 2, 6, 3, 4, 0, 5};
    std::shared_ptr<Device> device;
    Array x0 = vectors(
              {-0.4, 0.7, 0.2, 0.2, 0.9, 0.1, 0.9, 0.8, -0.2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
          v0 = vectors(
              {0, 0, 0, 0.4, -0.3, 0.9, -0.5, 0.1, 0.3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    Array mass = test::array({1, 0.7, 1.3, 1, 1, 1, 1}), rest = test::array({0.6}),
          stiffness = test::array({90, 140, 60, 80, 30, 50, 70, 20, 40}),
          length = test::array({0.8}), bend = test::array({3});
    Array x = Array(Type::f64, {points, 3}), v = x.clone(), target = x.clone(), before = x.clone();
    Array aim = vectors(
              {0, 0, 0, 0.3, 0.2, 0.5, 1, 0.4, 0, 0.1, 0, 0, 1, 0, 0, 2, 0, 0, 2, 0.5, 0.5}),
          loss = Array(Type::f64, {1});
    std::array<Arm, 2> arms;
    std::unique_ptr<Minimization> solve;
    std::unique_ptr<Rollout> rollout;
    Program prologue, step, event;

    explicit Scene(std::shared_ptr<Device> d, std::int64_t steps = 3) : device(std::move(d)) {
        arms[0] = {test::array({0.1, 0.4, -0.3}), test::array({0.5, 1.5, -2}),
                   test::array({1.2, 0.8, 0.3}), vectors({0.1, -0.2, 0.3, 0.2, 0.3, -0.1})};
        arms[1] = {test::array({1.7, 2.1, 0.6}), test::array({-0.2, -1, 3}),
                   test::array({0.9, 1.1, 0.2}), vectors({-0.1, 0.2, 0.1, 0.3, -0.2, 0.2})};
        std::vector<EnergyTerm> terms;
        terms.push_back({"inertia",
                         inertia,
                         2,
                         integers({1, 2}, 1),
                         {{"number", integers({1, 2}, 1)}, {"target", target}, {"mass", mass}}});
        terms.push_back({"springs",
                         spring,
                         static_cast<std::int64_t>(ends.size()) / 2,
                         integers(ends, 2),
                         {{"rest_length", Argument::shared(rest)}, {"stiffness", stiffness}}});
        std::vector<Carrier> carriers;
        for (std::size_t a = 0; a < 2; ++a) {
            const std::int64_t first = 3 + 2 * static_cast<std::int64_t>(a);
            carriers.push_back({a == 0 ? "left" : "right",
                                arms[a].y,
                                2,
                                arm,
                                {{"ahead", arms[a].ahead},
                                 {"length", Argument::shared(length)},
                                 {"weight", arms[a].weight},
                                 {"bend", Argument::shared(bend)}},
                                {first, first + 1},
                                {0, 1},
                                arms[a].places});
        }
        solve = std::make_unique<Minimization>(device, x, std::vector<char>{1, 0, 0, 0, 0, 0, 0},
                                               std::move(terms), MinimizationOptions{}, "step",
                                               std::move(carriers));
        const auto launch = [&](const KernelDef& kernel, std::int64_t items,
                                std::vector<Argument> arguments) {
            return Launch(device, kernel, Precision::f64, items, std::move(arguments));
        };
        prologue.add(launch(copy_points, points, {x0, x}));
        prologue.add(launch(copy_points, points, {v0, v}));
        step.add(launch(predict, points, {x, v, target, before}));
        for (Arm& a : arms) {
            prologue.add(launch(copy, coordinates, {a.q0, a.q}));
            prologue.add(launch(copy, coordinates, {a.u0, a.u}));
            step.add(launch(predict_arm, coordinates, {a.q, a.u, a.ahead, a.y}));
        }
        step.add(solve->launch());
        step.add(launch(finish, points, {x, before, v}));
        for (Arm& a : arms) step.add(launch(finish_arm, coordinates, {a.y, a.ahead, a.q, a.u}));
        event.add(launch(measure, points, {x, aim, loss}));
        for (Arm& a : arms) event.add(launch(measure_arm, coordinates, {a.q, loss}));
        Rollout::Parts parts;
        parts.prologue = prologue;
        parts.step = step;
        parts.steps = steps;
        parts.events[steps] = event;
        rollout = std::make_unique<Rollout>(device, parts);
    }

    std::vector<Array> parameters() const {
        std::vector<Array> all{x0, v0, mass, stiffness, rest, length, bend};
        for (const Arm& a : arms)
            for (const Array& p : {a.q0, a.u0, a.weight, a.places}) all.push_back(p);
        return all;
    }
    double run() {
        rollout->forward(false);
        return loss.value(0);
    }
    Values all_of(Array (*which)(const Array&)) const {
        Values all;
        for (const Array& p : parameters()) {
            const Values g = which(p).to_doubles();
            all.insert(all.end(), g.begin(), g.end());
        }
        return all;
    }
    Values gradient() {
        rollout->forward(true);
        rollout->backward({{loss, 1.0}});
        return all_of([](const Array& p) { return p.gradient(); });
    }
    void move(const Values& direction, double by) {
        std::size_t k = 0;
        for (const Array& p : parameters()) {
            Values values = p.to_doubles();
            for (double& value : values) value += by * direction[k++];
            p.assign(values);
        }
    }
    void set(const Values& direction, Array (*which)(const Array&)) const {
        std::size_t k = 0;
        for (const Array& p : parameters()) {
            const auto n = static_cast<std::size_t>(p.size());
            which(p).assign(std::span(direction).subspan(k, n));
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

Values random_direction(std::size_t n, unsigned seed) {
    Values d(n);
    for (double& x : d) {
        seed = seed * 1664525u + 1013904223u;
        x = static_cast<double>(seed >> 8) / (1 << 23) - 1;
    }
    return d;
}

// Central differences of fourth order of f.
double difference(const std::function<double(double)>& f, double step) {
    return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step);
}

using Point = std::array<double, 3>;

// A carried point of an arm, in numbers.
Point carried(const Values& q, double length, int body, const Point& s) {
    const double c = std::cos(q[1]), n = std::sin(q[1]);
    Point t = s;
    if (body == 1) {
        const double c2 = std::cos(q[2]), n2 = std::sin(q[2]);
        t = {s[0] + length, c2 * s[1] - n2 * s[2], n2 * s[1] + c2 * s[2]};
    }
    return {q[0] + c * t[0] - n * t[1], n * t[0] + c * t[1], t[2]};
}

}  // namespace

TEST_CASE("carried points: the minimum is one of the energy written out in numbers") {
    Scene scene(test::interpreter_device(), 1);
    scene.run();
    // The unknowns: two free points, then both arms' coordinates at the end of the step.
    Values z;
    for (int p = 1; p < 3; ++p)
        for (int c = 0; c < 3; ++c) z.push_back(scene.x.value(p, c));
    for (const Arm& a : scene.arms)
        for (int k = 0; k < coordinates; ++k) z.push_back(a.q.value(k));
    const auto positions = [&](const Values& at) {
        std::vector<Point> x(points);
        for (std::size_t c = 0; c < 3; ++c) x[0][c] = scene.x0.value(0, static_cast<int>(c));
        for (std::size_t p = 1; p < 3; ++p)
            for (std::size_t c = 0; c < 3; ++c) x[p][c] = at[3 * (p - 1) + c];
        for (std::size_t a = 0; a < 2; ++a) {
            const Values q(at.begin() + 6 + 3 * static_cast<std::ptrdiff_t>(a),
                           at.begin() + 9 + 3 * static_cast<std::ptrdiff_t>(a));
            for (int b = 0; b < 2; ++b) {
                Point s{};
                for (int c = 0; c < 3; ++c)
                    s[static_cast<std::size_t>(c)] = scene.arms[a].places.value(b, c);
                x[3 + 2 * a + static_cast<std::size_t>(b)] =
                    carried(q, scene.length.value(0), b, s);
            }
        }
        return x;
    };
    const auto energy_at = [&](const Values& at) {
        const std::vector<Point> x = positions(at);
        double sum = 0;
        for (int p = 1; p < 3; ++p)
            for (int c = 0; c < 3; ++c) {
                const double ahead =
                    scene.x0.value(p, c) + h * scene.v0.value(p, c) - (c == 1 ? 9.81 * h * h : 0);
                const double d =
                    x[static_cast<std::size_t>(p)][static_cast<std::size_t>(c)] - ahead;
                sum += 0.5 / (h * h) * scene.mass.value(p) * d * d;
            }
        for (std::size_t s = 0; s < scene.ends.size() / 2; ++s) {
            const Point &a = x[static_cast<std::size_t>(scene.ends[2 * s])],
                        &b = x[static_cast<std::size_t>(scene.ends[2 * s + 1])];
            const double d =
                std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) - scene.rest.value(0);
            sum += 0.5 * scene.stiffness.value(static_cast<std::int64_t>(s)) * d * d;
        }
        for (std::size_t a = 0; a < 2; ++a) {
            const Arm& of = scene.arms[a];
            for (int k = 0; k < coordinates; ++k) {
                const double q = at[6 + 3 * a + static_cast<std::size_t>(k)],
                             y = q - of.q0.value(k) - h * of.u0.value(k);
                sum += 0.5 / (h * h) * of.weight.value(k) * y * y;
                if (k == 1) sum += scene.bend.value(0) * (1 - std::cos(q));
            }
        }
        return sum;
    };
    const std::vector<Point> x = positions(z);
    for (int p = 3; p < points; ++p)
        for (int c = 0; c < 3; ++c)
            CHECK(scene.x.value(p, c) ==
                  doctest::Approx(x[static_cast<std::size_t>(p)][static_cast<std::size_t>(c)])
                      .epsilon(1e-13));
    for (std::size_t k = 0; k < z.size(); ++k) {
        CAPTURE(k);
        const auto along = [&](double by) {
            Values moved = z;
            moved[k] += by;
            return energy_at(moved);
        };
        CHECK(std::abs(difference(along, 1e-3)) < 1e-6);
        CHECK(along(1e-3) + along(-1e-3) > 2 * along(0));
    }
    CHECK(scene.solve->outcome().residual < 1e-9);
}

TEST_CASE("carried points: gradients of a roll-out against differences, along the gradient too") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Scene scene(device);
        const Values g = scene.gradient();
        Values along = g;
        const double norm = std::sqrt(dot_of(g, g));
        for (double& a : along) a /= norm;
        const auto slope = [&](const Values& d) {
            return difference(
                [&](double by) {
                    scene.move(d, by);
                    const double value = scene.run();
                    scene.move(d, -by);
                    return value;
                },
                1e-4);
        };
        for (unsigned k = 0; k < 4; ++k) {
            const Values d = k == 0 ? along : random_direction(scene.size(), k);
            CHECK(dot_of(g, d) == doctest::Approx(slope(d)).epsilon(1e-8));
        }
        for (std::size_t p = 0; p < scene.size(); ++p) {
            Values d(scene.size(), 0.0);
            d[p] = 1;
            CAPTURE(p);
            const double by_differences = slope(d);
            CHECK(std::abs(g[p] - by_differences) <=
                  1e-8 * std::max(1.0, std::abs(by_differences)));
        }
    }
}

TEST_CASE("carried points: forward mode, Hessian products and second derivatives") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Scene scene(device);
        const Values g = scene.gradient(), d = random_direction(scene.size(), 7),
                     e = random_direction(scene.size(), 8);
        scene.set(d, [](const Array& p) { return p.tangent(); });
        scene.rollout->forward(false, {}, RolloutMode::tangent);
        CHECK(scene.loss.tangent().value(0) == doctest::Approx(dot_of(g, d)).epsilon(1e-11));
        scene.rollout->forward(true, {}, RolloutMode::second);
        scene.rollout->backward({{scene.loss, 1.0}}, RolloutMode::second);
        const Values product = scene.all_of([](const Array& p) { return p.gradient().tangent(); });
        for (std::size_t p = 0; p < product.size(); ++p) {
            CAPTURE(p);
            const double by_differences = difference(
                [&](double by) {
                    scene.move(d, by);
                    const Values there = scene.gradient();
                    scene.move(d, -by);
                    return there[p];
                },
                2e-4);
            CHECK(std::abs(product[p] - by_differences) <=
                  1e-7 * std::max(1.0, std::abs(by_differences)));
        }
        scene.set(d, [](const Array& p) { return p.tangent(); });
        scene.set(e, [](const Array& p) { return p.second_tangent(); });
        scene.rollout->forward(false, {}, RolloutMode::tangent_tangent);
        CHECK(scene.loss.tangent().second_tangent().value(0) ==
              doctest::Approx(dot_of(product, e)).epsilon(1e-9));
    }
}

TEST_CASE("carried points: the same bits under every checkpoint plan and on every device") {
    Values reference;
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Scene scene(device, 30);
        const Values g = scene.gradient();
        if (reference.empty()) reference = g;
        CHECK(g == reference);
        scene.rollout->limit_memory({.bytes = 16000});
        CHECK(scene.gradient() == reference);
        CHECK(scene.rollout->plan().segments > 1);
    }
}

TEST_CASE("carried points: what does not fit is refused by name") {
    const auto refused = [](const std::function<void(Carrier&)>& spoil, const char* words) {
        const auto device = test::interpreter_device();
        Arm a{{}, {}, test::array({1, 1, 1}), vectors({0, 0, 0, 0, 0, 0})};
        const Array x(Type::f64, {3, 3}), length = test::array({1}), bend = test::array({1});
        Carrier carrier{"arm",
                        a.y,
                        2,
                        arm,
                        {{"ahead", a.ahead},
                         {"length", Argument::shared(length)},
                         {"weight", a.weight},
                         {"bend", Argument::shared(bend)}},
                        {1, 2},
                        {0, 1},
                        a.places};
        spoil(carrier);
        CHECK_THROWS_WITH_AS(Minimization(device, x, {1, 0, 0}, {}, {}, "step", {carrier}),
                             doctest::Contains(words), Error);
    };
    refused([](Carrier& c) { c.points[1] = 3; }, "point 3, which is not there");
    refused([](Carrier& c) { c.points[1] = 1; }, "carried already");
    refused([](Carrier& c) { c.point_bodies[0] = 2; }, "body 2, which is not there");
    refused([](Carrier& c) { c.point_bodies.pop_back(); }, "1 bodies");
    refused([](Carrier& c) { c.coordinates = Array(Type::f32, {3}); },
            "not of the positions' type");
}
