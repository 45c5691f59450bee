// Random drops of solids and points on random obstacles of all kinds, at rest, moving and turning:
// after no step is a vertex inside of one. Distances are computed here, without the kernels.
// HINDCAST_FULL=1 makes 1000 of them.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

#include "engine/base/error.hpp"
#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

using V = std::array<double, 3>;
V operator+(const V& a, const V& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
V operator-(const V& a, const V& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
V operator*(double s, const V& a) { return {s * a[0], s * a[1], s * a[2]}; }
double inner(const V& a, const V& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double size(const V& a) { return std::sqrt(inner(a, a)); }
V cross(const V& a, const V& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
// Rodrigues' formula.
V turned(const V& rotation, const V& a) {
    const double angle = size(rotation);
    if (angle == 0) return a;
    const V k = (1 / angle) * rotation;
    return std::cos(angle) * a + std::sin(angle) * cross(k, a) +
           ((1 - std::cos(angle)) * inner(k, a)) * k;
}

std::string text(double x) {
    char s[40];
    std::snprintf(s, sizeof s, "%.17g", x);
    return s;
}
std::string text(const V& v) {
    return "[" + text(v[0]) + ", " + text(v[1]) + ", " + text(v[2]) + "]";
}

constexpr double step = 0.02, reach = 0.02;
constexpr int steps = 12;

// A grid's values, of a torus: it has a hole and is not convex.
constexpr int nodes = 21;
constexpr double spacing = 0.1;
double torus(double x, double y, double z) {
    return std::hypot(std::hypot(x - 1, y - 1) - 0.5, z - 1) - 0.18;
}
constexpr const char* torus_formula =
    "sqrt((sqrt((x - 1)^2 + (y - 1)^2) - 0.5)^2 + (z - 1)^2) - 0.18";
// Cubic B-spline of the nodes' values as coefficients.
double spline(const V& u) {
    std::array<int, 3> first{};
    std::array<std::array<double, 4>, 3> weight{};
    for (std::size_t k = 0; k < 3; ++k) {
        const double n = std::floor(u[k]), f = u[k] - n;
        if (n < 1 || n > nodes - 3) return 1;  // off the grid
        first[k] = static_cast<int>(n) - 1;
        for (int j = 0; j < 4; ++j) {  // B3 at the distance |f + 1 - j|
            const double t = std::abs(f + 1 - j);
            weight[k][static_cast<std::size_t>(j)] =
                t < 1 ? 2.0 / 3 - t * t + t * t * t / 2 : std::pow(2 - t, 3) / 6;
        }
    }
    double sum = 0;
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
            for (int c = 0; c < 4; ++c)
                sum += weight[0][static_cast<std::size_t>(a)] *
                       weight[1][static_cast<std::size_t>(b)] *
                       weight[2][static_cast<std::size_t>(c)] *
                       torus(spacing * (first[0] + a), spacing * (first[1] + b),
                             spacing * (first[2] + c));
    return sum;
}

struct Obstacle {
    std::string scene;
    // The distance of a place in the obstacle's own axes, from its centre.
    std::function<double(const V&)> distance;
    V centre{}, tilt{}, velocity{}, spin{};

    double at(const V& x, double time) const {
        const V moved = x - centre - time * velocity;
        return distance(turned(-1.0 * tilt, turned((-time) * spin, moved)));
    }
};

struct Random {
    std::mt19937 engine;
    double operator()(double low, double high) {
        return low + (high - low) * static_cast<double>(engine() >> 5) / (1 << 27);
    }
    int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
    V vector(double size) {
        return {(*this)(-size, size), (*this)(-size, size), (*this)(-size, size)};
    }
};

Obstacle random_obstacle(int kind, int number, Random& random) {
    Obstacle o;
    o.centre = {random(-0.6, 0.6), random(-0.6, 0.6), random(-0.4, 0.4)};
    o.tilt = random.vector(1.5);
    const V a = {random(0.15, 0.5), random(0.1, 0.4), random(0.02, 0.3)};
    double farthest = size(a);
    const auto ends = [&] {  // along its own first axis
        const V half = turned(o.tilt, {a[0], 0, 0});
        return R"("start": )" + text(o.centre - half) + R"(, "end": )" + text(o.centre + half) +
               R"(, "radius": )" + text(a[1]);
    };
    switch (kind) {
        case 0: {
            const V n = {random(-0.3, 0.3), random(-0.3, 0.3), 1};
            o.tilt = o.centre = {};
            farthest = 0;
            o.scene = R"("type": "plane", "response": "barrier", "normal": )" + text(n) +
                      R"(, "offset": -0.5)";
            o.distance = [n](const V& x) { return inner(n, x) / size(n) + 0.5; };
            break;
        }
        case 1:
            o.scene = R"("type": "sphere", "response": "barrier", "center": )" + text(o.centre) +
                      R"(, "radius": )" + text(a[0]);
            o.distance = [a](const V& x) { return size(x) - a[0]; };
            break;
        case 2:
            o.scene = R"("type": "capsule", )" + ends();
            farthest = a[0] + a[1];
            o.distance = [a](const V& x) {
                const double t = std::max(-a[0], std::min(a[0], x[0]));
                return size(x - V{t, 0, 0}) - a[1];
            };
            break;
        case 3:
            o.scene = R"("type": "cylinder", )" + ends();
            o.distance = [a](const V& x) {
                const double across = std::hypot(x[1], x[2]) - a[1], along = std::abs(x[0]) - a[0];
                return std::min(std::max(across, along), 0.0) +
                       std::hypot(std::max(across, 0.0), std::max(along, 0.0));
            };
            break;
        case 4: {
            const double angle = size(o.tilt), s = std::sin(angle / 2) / angle;
            o.scene = R"("type": "box", "center": )" + text(o.centre) + R"(, "half_extents": )" +
                      text(a) + R"(, "orientation": [)" + text(std::cos(angle / 2)) + ", " +
                      text(s * o.tilt[0]) + ", " + text(s * o.tilt[1]) + ", " +
                      text(s * o.tilt[2]) + "]";
            o.distance = [a](const V& x) {
                V out{};
                double most = -1e300;
                for (std::size_t k = 0; k < 3; ++k) {
                    const double q = std::abs(x[k]) - a[k];
                    most = std::max(most, q);
                    out[k] = std::max(q, 0.0);
                }
                return size(out) + std::min(most, 0.0);
            };
            break;
        }
        default: {
            o.tilt = {};
            const double half = 0.5 * spacing * (nodes - 1);
            farthest = std::sqrt(3) * half;
            o.scene = R"("type": "distance_field", "nodes": [21, 21, 21], "spacing": 0.1,
                "distances": {"formula": ")" +
                      std::string(torus_formula) + R"("}, "origin": )" +
                      text(o.centre - V{half, half, half});
            o.distance = [half](const V& x) {
                return spline((1 / spacing) * (x + V{half, half, half}));
            };
        }
    }
    const bool moves = random.below(2) == 0, turns = kind > 0 && random.below(2) == 0;
    // Together no farther than the barrier reaches.
    if (moves) o.velocity = random.vector(0.5 * reach / step / std::sqrt(3));
    if (turns) o.spin = random.vector(std::min(5.0, 0.5 * reach / step / farthest) / std::sqrt(3));
    if (moves) o.scene += R"(, "velocity": )" + text(o.velocity);
    if (turns) o.scene += R"(, "angular_velocity": )" + text(o.spin);
    const int friction = random.below(3);
    if (friction > 0) o.scene += R"(, "friction": 0.5)";
    if (friction == 2) o.scene += R"(, "friction_model": "smoothed", "slip_speed": 0.05)";
    o.scene +=
        R"(, "stiffness": 3e3, "distance": 0.02, "name": "o)" + std::to_string(number) + "\"";
    return o;
}

// Tetrahedra that stand on each other's faces.
std::string random_solid(int number, Random& random) {
    const V start = {random(-0.8, 0.8), random(-0.8, 0.8), random(1.3, 1.6)};
    std::vector<V> points{start, start + V{0.2, 0, 0}, start + V{0.1, 0.18, 0},
                          start + V{0.1, 0.06, 0.16}};
    std::vector<std::array<std::size_t, 4>> tetrahedra{{0, 1, 2, 3}};
    const int count = 2 + random.below(5);
    for (int k = 1; k < count; ++k) {
        std::array<std::size_t, 4> corners = tetrahedra.back();
        const std::size_t gone = static_cast<std::size_t>(random.below(3));
        V face{};
        for (std::size_t c = 0; c < 4; ++c)
            if (c != gone) face = face + (1.0 / 3) * points[corners[c]];
        points.push_back(2.0 * face - points[corners[gone]] + random.vector(0.02));
        corners[gone] = corners[3];
        corners[3] = points.size() - 1;
        const V &o = points[corners[0]], a = points[corners[1]] - o, b = points[corners[2]] - o,
                c = points[corners[3]] - o;
        if (inner(cross(a, b), c) < 0) std::swap(corners[0], corners[1]);
        tetrahedra.push_back(corners);
    }
    std::string places, elements;
    for (const V& p : points) places += (places.empty() ? "" : ", ") + text(p);
    for (const auto& t : tetrahedra) {
        elements += elements.empty() ? "[" : ", [";
        for (std::size_t c = 0; c < 4; ++c) elements += (c > 0 ? ", " : "") + std::to_string(t[c]);
        elements += "]";
    }
    return R"({"type": "solid", "name": "solid)" + std::to_string(number) +
           R"(", "density": 300, "mu": 2e4, "lambda": 3e4, "material": "stable_neo_hookean",
        "mesh": {"points": [)" +
           places + R"(], "tetrahedra": [)" + elements + R"(]}, "velocity": )" +
           text(V{random(-1, 1), random(-1, 1), random(-8, -4)}) + "}";
}

std::string random_points(int number, Random& random) {
    std::string places;
    for (int k = 0; k < 2; ++k)
        places +=
            (k > 0 ? ", " : "") + text(V{random(-0.8, 0.8), random(-0.8, 0.8), random(1.3, 1.6)});
    return R"({"type": "particles", "name": "points)" + std::to_string(number) +
           R"(", "mass": 0.5, "positions": [)" + places + R"(], "velocity": )" +
           text(V{random(-1, 1), random(-1, 1), random(-15, -4)}) + "}";
}

}  // namespace

TEST_CASE("contact: random drops on random obstacles of all kinds end inside of none") {
    const int drops = std::getenv("HINDCAST_FULL") != nullptr ? 1000 : 300;
    constexpr int at_once = 2;
    Random random{std::mt19937(20)};
    int reported = 0, touched = 0;
    for (int scene = 0; scene * at_once < drops; ++scene) {
        std::vector<Obstacle> obstacles;
        std::string colliders, bodies;
        const int count = 2 + random.below(3);
        for (int k = 0; k < count; ++k) {
            obstacles.push_back(random_obstacle(k == 0 ? scene % 6 : random.below(6), k, random));
            colliders += (k > 0 ? ", {" : "{") + obstacles.back().scene + "}";
        }
        for (int k = 0; k < at_once; ++k)
            bodies += (k > 0 ? ", " : "") +
                      (random.below(2) == 0 ? random_solid(k, random) : random_points(k, random));
        const std::string all = R"("time": {"step": 0.02, "steps": )" + std::to_string(steps) +
                                R"(, "integrator": "implicit_euler"}, "bodies": [)" + bodies +
                                R"(], "colliders": [)" + colliders + "]";
        CAPTURE(scene);
        CAPTURE(all);
        const auto s = simulate(all, scene % 3 == 2 ? ir::Precision::f32 : ir::Precision::f64);
        const std::int64_t points = s->model().point_count();
        int frame = 0;
        double nearest = 1;
        const auto check = [&](std::int64_t) {
            const double time = step * frame++;
            for (std::int64_t p = 0; p < points; ++p) {
                const V x = {position(*s, p, 0), position(*s, p, 1), position(*s, p, 2)};
                for (const Obstacle& o : obstacles) nearest = std::min(nearest, o.at(x, time));
            }
            CHECK(nearest > 0);
            return true;
        };
        try {
            s->run(false, check);
            CHECK(frame >= steps);
        } catch (const Error& error) {
            ++reported;
            MESSAGE(error.what());
        }
        touched += nearest < reach ? 1 : 0;
    }
    CHECK(reported * 50 <= drops / at_once);  // what is refused is the exception
    CHECK(touched * at_once * 10 > drops * 8);
}
