// Random obstacles of all kinds, at rest, moving and turning, in space or in the plane, with their
// distances: computed here, without the kernels. In the plane the third component of a place is 0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>

namespace hindcast::test::drops {

using V = std::array<double, 3>;
inline V operator+(const V& a, const V& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline V operator-(const V& a, const V& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline V operator*(double s, const V& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline double inner(const V& a, const V& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline double size(const V& a) { return std::sqrt(inner(a, a)); }
inline V cross(const V& a, const V& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
// Rodrigues' formula.
inline V turned(const V& rotation, const V& a) {
    const double angle = size(rotation);
    if (angle == 0) return a;
    const V k = (1 / angle) * rotation;
    return std::cos(angle) * a + std::sin(angle) * cross(k, a) +
           ((1 - std::cos(angle)) * inner(k, a)) * k;
}

inline std::string text(double x) {
    char s[40];
    std::snprintf(s, sizeof s, "%.17g", x);
    return s;
}

struct Random {
    std::mt19937 engine;
    double operator()(double low, double high) {
        return low + (high - low) * static_cast<double>(engine() >> 5) / (1 << 27);
    }
    int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
};

// What differs between scenes in space and in the plane, where things fall along y.
struct Space {
    Random& random;
    bool plane = false;

    V vector(double size) const {
        const double x = random(-size, size), y = random(-size, size);
        return {x, y, plane ? 0 : random(-size, size)};
    }
    // A rotation: its vector is along z in the plane.
    V rotation(double size) const { return plane ? V{0, 0, random(-size, size)} : vector(size); }
    // Across the fall, then along it.
    V place(double across, double low, double high) const {
        const double x = random(-across, across);
        if (plane) return {x, random(low, high), 0};
        const double y = random(-across, across);
        return {x, y, random(low, high)};
    }
    std::string operator()(const V& v) const {
        return "[" + text(v[0]) + ", " + text(v[1]) + (plane ? "" : ", " + text(v[2])) + "]";
    }
    std::string of_rotation(const V& v) const { return plane ? text(v[2]) : (*this)(v); }
};

constexpr double step = 0.02, reach = 0.02;

struct Obstacle {
    std::string scene;
    // The distance of a place in the obstacle's own axes, from its center.
    std::function<double(const V&)> distance;
    V center{}, tilt{}, velocity{}, spin{};

    double at(const V& x, double time) const {
        const V moved = x - center - time * velocity;
        return distance(turned(-1.0 * tilt, turned((-time) * spin, moved)));
    }
};

// A grid's values, of a torus, in the plane of a ring: it has a hole and is not convex.
constexpr int nodes = 21;
constexpr double spacing = 0.1;
inline double torus(double x, double y, double z) {
    return std::hypot(std::hypot(x - 1, y - 1) - 0.5, z - 1) - 0.18;
}
constexpr const char* torus_formula =
    "sqrt((sqrt((x - 1)^2 + (y - 1)^2) - 0.5)^2 + (z - 1)^2) - 0.18";
constexpr const char* ring_formula = "abs(sqrt((x - 1)^2 + (y - 1)^2) - 0.5) - 0.18";

// Cubic B-spline of the nodes' values as coefficients.
inline double spline(const V& u, bool plane) {
    std::array<int, 3> first{};
    std::array<std::array<double, 4>, 3> weight{};
    for (std::size_t k = 0; k < (plane ? 2U : 3U); ++k) {
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
            for (int c = 0; c < (plane ? 1 : 4); ++c) {
                const double along = plane ? 1 : weight[2][static_cast<std::size_t>(c)];
                sum += weight[0][static_cast<std::size_t>(a)] *
                       weight[1][static_cast<std::size_t>(b)] * along *
                       torus(spacing * (first[0] + a), spacing * (first[1] + b),
                             plane ? 1 : spacing * (first[2] + c));
            }
    return sum;
}

// Kinds 0 to 5; 3, the cylinder, is in space only.
inline Obstacle random_obstacle(int kind, int number, const Space& space) {
    Random& random = space.random;
    const bool plane = space.plane;
    Obstacle o;
    o.center = space.place(0.6, -0.4, 0.4);
    o.tilt = space.rotation(1.5);
    V a = {random(0.15, 0.5), random(0.1, 0.4), plane ? 0 : random(0.02, 0.3)};
    double farthest = size(a);
    const auto ends = [&] {  // along its own first axis
        const V half = turned(o.tilt, {a[0], 0, 0});
        return R"("start": )" + space(o.center - half) + R"(, "end": )" + space(o.center + half) +
               R"(, "radius": )" + text(a[1]);
    };
    switch (kind) {
        case 0: {
            const double lean = random(-0.3, 0.3);
            const V n = plane ? V{lean, 1, 0} : V{lean, random(-0.3, 0.3), 1};
            o.tilt = o.center = {};
            farthest = 0;
            o.scene = R"("type": "plane", "response": "barrier", "normal": )" + space(n) +
                      R"(, "offset": -0.5)";
            o.distance = [n](const V& x) { return inner(n, x) / size(n) + 0.5; };
            break;
        }
        case 1:
            o.scene = R"("type": "sphere", "response": "barrier", "center": )" + space(o.center) +
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
            if (plane) a[1] = random(0.02, 0.4);
            o.scene = R"("type": "box", "center": )" + space(o.center) + R"(, "half_extents": )" +
                      space(a) + R"(, "orientation": )" +
                      (plane ? text(o.tilt[2])
                             : "[" + text(std::cos(angle / 2)) + ", " + text(s * o.tilt[0]) + ", " +
                                   text(s * o.tilt[1]) + ", " + text(s * o.tilt[2]) + "]");
            farthest = size(a);
            o.distance = [a, plane](const V& x) {
                V out{};
                double most = -1e300;
                for (std::size_t k = 0; k < (plane ? 2U : 3U); ++k) {
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
            const V corner = {half, half, plane ? 0 : half};
            farthest = size(corner);
            o.scene = std::string(R"("type": "distance_field", "spacing": 0.1, "nodes": )") +
                      (plane ? "[21, 21]" : "[21, 21, 21]") + R"(, "distances": {"formula": ")" +
                      (plane ? ring_formula : torus_formula) + R"("}, "origin": )" +
                      space(o.center - corner);
            o.distance = [corner, plane](const V& x) {
                return spline((1 / spacing) * (x + corner), plane);
            };
        }
    }
    const bool moves = random.below(2) == 0, turns = kind > 0 && random.below(2) == 0;
    // Together no farther than the barrier reaches.
    if (moves) o.velocity = space.vector(0.5 * reach / step / std::sqrt(3));
    if (turns) o.spin = space.rotation(std::min(5.0, 0.5 * reach / step / farthest) / std::sqrt(3));
    if (moves) o.scene += R"(, "velocity": )" + space(o.velocity);
    if (turns) o.scene += R"(, "angular_velocity": )" + space.of_rotation(o.spin);
    const int friction = random.below(3);
    if (friction > 0) o.scene += R"(, "friction": 0.5)";
    if (friction == 2) o.scene += R"(, "friction_model": "smoothed", "slip_speed": 0.05)";
    o.scene +=
        R"(, "stiffness": 3e3, "distance": 0.02, "name": "o)" + std::to_string(number) + "\"";
    return o;
}

}  // namespace hindcast::test::drops
