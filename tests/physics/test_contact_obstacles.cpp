// Barriers of all solids (kernels/colliders/obstacle.hpp), moving and turning (room.hpp), and smoothed
// friction, against closed forms and recursions that are written out here.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <tuple>

#include "engine/base/error.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double g = 9.81, pi = 3.141592653589793;

std::string list(const std::vector<double>& v) {
    std::string text;
    for (const double x : v) text += (text.empty() ? "[" : ", ") + number(x);
    return text + "]";
}

// Where k b'(d) + weight = 0, of b = -(d - r)^2 log(d / r).
double rest_height(double k, double r, double weight) {
    double low = 1e-9 * r, high = r;
    for (int n = 0; n < 200; ++n) {
        const double d = 0.5 * (low + high),
                     slope = -2 * (d - r) * std::log(d / r) - (d - r) * (d - r) / d;
        (k * slope + weight < 0 ? low : high) = d;
    }
    return 0.5 * (low + high);
}

struct Points {
    int dimension = 2;
    double h = 0.02;
    std::int64_t steps = 100;
    std::vector<double> gravity = {0, -g};
    std::vector<std::vector<double>> places = {{0, 0}}, velocities = {};
    std::string colliders, parameters = {};
};

std::unique_ptr<Simulation> simulated(const Points& s) {
    std::string places, velocities;
    for (const auto& p : s.places) places += (places.empty() ? "" : ", ") + list(p);
    for (const auto& v : s.velocities) velocities += (velocities.empty() ? "" : ", ") + list(v);
    const std::string text =
        R"({"format": 1, "dimension": )" + std::to_string(s.dimension) + R"(, "time": {"step": )" +
        number(s.h) + R"(, "steps": )" + std::to_string(s.steps) +
        R"(, "integrator": "implicit_euler"}, "gravity": )" + list(s.gravity) +
        R"(, "bodies": [{"type": "particles", "name": "stones", "positions": [)" + places + "]" +
        (velocities.empty() ? "" : R"(, "velocity": [)" + velocities + "]") +
        R"(}], "colliders": [)" + s.colliders + R"(], "parameters": [)" + s.parameters + "]}";
    SimulationOptions options;
    options.device = has_cpu_device() ? cpu_device() : interpreter_device();
    options.precision = ir::Precision::f64;
    return std::make_unique<Simulation>(Scene::parse(text), all_modules(), options);
}

constexpr const char* barrier = R"("response": "barrier", "stiffness": 1e4, "distance": 0.02)";

}  // namespace

TEST_CASE("contact: a point rests on every solid where the barrier carries its weight") {
    // Quaternions and angles turn by a right angle, but for the plate, which is turned by 30 degrees
    // about the vertical.
    const double c = std::sqrt(0.5);
    const std::string quarter = list({c, c, 0, 0}),
                      sixth = list({std::cos(pi / 12), 0, 0, std::sin(pi / 12)});
    const std::vector<std::tuple<int, std::string, double>> cases = {
        {2, R"("type": "capsule", "start": [-0.3, -0.1], "end": [0.4, -0.1], "radius": 0.25)",
         0.15},
        {2, R"("type": "box", "center": [0.1, 0], "half_extents": [0.3, 0.2])", 0.2},
        {2,
         R"("type": "box", "center": [0.1, 0], "half_extents": [0.3, 0.2], "orientation": )" +
             number(pi / 2),
         0.3},
        {3, R"("type": "capsule", "start": [-0.3, 0, 0.1], "end": [0.4, 0, 0.1], "radius": 0.25)",
         0.35},
        {3, R"("type": "cylinder", "start": [0, 0, -0.1], "end": [0, 0, 0.4], "radius": 0.25)",
         0.4},
        {3, R"("type": "cylinder", "start": [-0.3, 0, 0.1], "end": [0.4, 0, 0.1], "radius": 0.25)",
         0.35},
        {3, R"("type": "box", "center": [0.1, 0, 0], "half_extents": [0.3, 0.4, 0.2])", 0.2},
        {3,
         R"("type": "box", "center": [0.1, 0, 0], "half_extents": [0.3, 0.4, 0.2],
            "orientation": )" +
             quarter,
         0.4},
        {3,
         R"("type": "box", "center": [0.1, 0, 0], "half_extents": [0.3, 0.4, 0.2],
            "orientation": )" +
             sixth,
         0.2}};
    for (const auto& [dimension, obstacle, top] : cases) {
        CAPTURE(obstacle);
        Points s;
        s.dimension = dimension;
        s.gravity = std::vector<double>(static_cast<std::size_t>(dimension), 0.0);
        s.gravity.back() = -g;
        s.places = {std::vector<double>(static_cast<std::size_t>(dimension), 0.0)};
        s.places[0].back() = top + 0.015;
        s.h = 0.05;
        s.colliders = "{\"name\": \"obstacle\", " + obstacle + ", " + barrier + "}";
        const auto run = simulated(s);
        run->run(false);
        CHECK(position(*run, 0, dimension - 1) ==
              doctest::Approx(top + rest_height(1e4, 0.02, g)).epsilon(1e-11));
    }
}

TEST_CASE("contact: a distance field is the B-spline of its values, by the recursion of de Boor") {
    constexpr int n = 17;
    constexpr double spacing = 0.1, radius = 0.4;
    const auto value = [&](int i, int j) {
        return std::hypot((i - 8) * spacing, (j - 8) * spacing) - radius;
    };
    // Uniform basis function of the degree p, which begins at the knot i.
    const std::function<double(int, int, double)> basis = [&](int i, int p, double u) -> double {
        if (p == 0) return u >= i && u < i + 1 ? 1 : 0;
        return (u - i) / p * basis(i, p - 1, u) + (i + p + 1 - u) / p * basis(i + 1, p - 1, u);
    };
    const auto spline = [&](double x, double y) {
        double sum = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                sum += value(i, j) * basis(i - 2, 3, x / spacing) * basis(j - 2, 3, y / spacing);
        return sum;
    };
    // Where the spline has the value d and its slope carries the weight: b' s' k + weight = 0, right
    // above the middle.
    constexpr double middle = 8 * spacing, k = 1e4, r = 0.02;
    double low = radius - 0.05, high = radius + r;
    for (int step = 0; step < 100; ++step) {
        const double y = 0.5 * (low + high), d = spline(middle, middle + y), e = 1e-5,
                     steep = (spline(middle, middle + y + e) - spline(middle, middle + y - e)) /
                             (2 * e),
                     slope = d > 0 ? -2 * (d - r) * std::log(d / r) - (d - r) * (d - r) / d : -1e30;
        (d < r && k * slope * steep + g < 0 ? low : high) = y;
    }
    Points s;
    s.h = 0.05;
    s.places = {{0.3, 0.2 + radius + 0.01}};
    s.colliders = R"({"type": "distance_field", "name": "hill", "nodes": [17, 17],
        "origin": [-0.5, -0.6], "spacing": 0.1,
        "distances": {"formula": "sqrt((x - 0.8)^2 + (y - 0.8)^2) - 0.4"}, )" +
                  std::string(barrier) + "}";
    const auto run = simulated(s);
    run->run(false);
    CHECK(position(*run, 0, 1) == doctest::Approx(0.2 + low).epsilon(1e-8));
    // As the Laplacian says, the ball is smaller by spacing^2 / (6 r).
    CHECK(low - rest_height(k, r, g) ==
          doctest::Approx(radius - spacing * spacing / (6 * radius)).epsilon(2e-3));
}

TEST_CASE("friction: a turntable carries what it holds, and the bristle turns with it") {
    // A point on a cylinder that turns about the vertical and moves. Gravity pulls it sideways, and
    // the bristle holds it: m (x - 2 x_n + x_{n-1}) / h^2 = m g_x - s (Q z_n + x - c(x_n)), with Q
    // the turn in a step and c(x_n) where the table carries x_n to. A linear recursion.
    constexpr double h = 0.02, k = 1e4, reach = 0.02, s = 3e3, omega = 0.5, sideways = 5;
    constexpr double vx = 0.1, vy = -0.05;
    const double height = 0.1 + rest_height(k, reach, g);
    Points p;
    p.dimension = 3;
    p.h = h;
    p.steps = 157;  // a quarter of a turn
    p.gravity = {sideways, 0, -g};
    p.places = {{0.2, 0, height}};
    p.colliders = R"({"type": "cylinder", "name": "table", "start": [0, 0, -0.1],
        "end": [0, 0, 0.1], "radius": 0.5, "response": "barrier", "stiffness": 1e4,
        "distance": 0.02, "friction": 5, "bristle_stiffness": 3e3,
        "velocity": [0.1, -0.05, 0], "angular_velocity": [0, 0, 0.5]})";
    const auto run = simulated(p);
    run->run(false);
    double x[2] = {0.2, 0}, before[2] = {0.2, 0}, z[2] = {0, 0};
    const double cosine = std::cos(omega * h), sine = std::sin(omega * h);
    for (std::int64_t n = 0; n < p.steps; ++n) {
        const double t = static_cast<double>(n) * h, center[2] = {vx * t, vy * t};
        const double r[2] = {x[0] - center[0], x[1] - center[1]};
        const double there[2] = {center[0] + vx * h + cosine * r[0] - sine * r[1],
                                 center[1] + vy * h + sine * r[0] + cosine * r[1]};
        const double turned[2] = {cosine * z[0] - sine * z[1], sine * z[0] + cosine * z[1]};
        double next[2];
        for (int c = 0; c < 2; ++c) {
            const double free = 2 * x[c] - before[c] + (c == 0 ? sideways * h * h : 0),
                         stiff = n == 0 ? 0 : s * h * h;  // no normal force is known yet
            next[c] = (free + stiff * (there[c] - turned[c])) / (1 + stiff);
        }
        for (int c = 0; c < 2; ++c) {
            z[c] = n == 0 ? 0 : turned[c] + next[c] - there[c];
            before[c] = x[c];
            x[c] = next[c];
        }
    }
    CHECK(position(*run, 0, 0) == doctest::Approx(x[0]).epsilon(1e-9));
    CHECK(position(*run, 0, 1) == doctest::Approx(x[1]).epsilon(1e-9));
    CHECK(std::abs(z[0] - sideways / s) < 1e-4);  // in the scene's axes, not in the table's
    CHECK(position(*run, 0, 1) > 0);
}

TEST_CASE("friction: a ball that spins fast under a point drives it with mu times its weight") {
    // So large that it is flat; its surface moves at 20 m/s, 0.2 m in a step, and no nearer.
    Points s;
    s.h = 0.01;
    s.steps = 20;
    s.places = {{0, rest_height(1e4, 0.02, g)}};
    s.colliders = R"({"type": "sphere", "name": "wheel", "center": [0, -50], "radius": 50,
        "angular_velocity": -0.4, "friction": 0.3, )" +
                  std::string(barrier) + "}";
    const auto run = simulated(s);
    run->run(false);
    // The first step knows no normal force.
    CHECK(velocity(*run, 0, 0) == doctest::Approx(0.3 * g * 0.19).epsilon(2e-3));
}

TEST_CASE(
    "contact: a roller turns about its own axis as fast as it likes, about others it does not") {
    Points s;
    s.dimension = 3;
    s.h = 0.01;
    s.steps = 1;
    s.gravity = {0, 0, -g};
    s.places = {{0, 0, 1}};
    const auto roller = [&](const char* omega) {
        s.colliders = R"({"type": "cylinder", "name": "roller", "start": [-1, 0, 0],
            "end": [1, 0, 0], "radius": 0.1, "angular_velocity": )" +
                      std::string(omega) + ", " + barrier + "}";
        simulated(s)->run(false);
    };
    CHECK_NOTHROW(roller("[100, 0, 0]"));
    CHECK_NOTHROW(roller("[100, 1, 0]"));
    CHECK_THROWS_WITH_AS(roller("[0, 100, 0]"), doctest::Contains("farther than its barrier"),
                         Error);
}

TEST_CASE("friction: smoothed, a held block creeps as its formula says") {
    for (const double tangent : {0.1, 0.25, 0.29}) {
        CAPTURE(tangent);
        const double a = std::atan(tangent), mu = 0.3, slip = 0.02;
        Points s;
        s.h = 1e-3;
        s.steps = 1000;
        s.gravity = {g * std::sin(a), -g * std::cos(a)};
        s.places = {{0, rest_height(1e4, 0.02, g * std::cos(a))}};
        s.colliders = R"({"type": "plane", "name": "floor", "normal": [0, 1], "friction": 0.3,
            "friction_model": "smoothed", "slip_speed": 0.02, )" +
                      std::string(barrier) + "}";
        const auto run = simulated(s);
        run->run(false);
        CHECK(velocity(*run, 0, 0) ==
              doctest::Approx(slip * (1 - std::sqrt(1 - tangent / mu))).epsilon(1e-9));
    }
}

TEST_CASE("contact: a floor that slides along itself leaves its points") {
    for (
        const char* floor :
        {R"("type": "plane", "normal": [0, 1], "velocity": [0.9, 0])",
         R"("type": "box", "center": [0, -0.5], "half_extents": [4, 0.5], "velocity": [0.9, 0])"}) {
        CAPTURE(floor);
        Points s;
        const double height = rest_height(1e4, 0.02, g);
        s.places = {{0.3, height}, {0.6, 0.015}};
        s.colliders = "{\"name\": \"floor\", " + std::string(floor) + ", " + barrier + "}";
        const auto run = simulated(s);
        run->run(false);
        CHECK(position(*run, 0, 0) == doctest::Approx(0.3).epsilon(1e-12));
        CHECK(position(*run, 0, 1) == doctest::Approx(height).epsilon(1e-9));
        CHECK(position(*run, 1, 0) == doctest::Approx(0.6).epsilon(1e-12));
    }
}

TEST_CASE("contact: jaws close on a point and carry it no farther than they leave room") {
    // Plates far thinner than they move in a step, 15 mm: what is between them stays there.
    const auto jaws = [](double steps) {
        Points s;
        s.h = 0.01;
        s.steps = static_cast<std::int64_t>(steps);
        s.gravity = {0, 0};
        s.places = {{0.01, 0}, {-0.09, 0.1}, {0.0, 5}};
        s.colliders = R"({"type": "box", "name": "left", "center": [-0.1, 0],
            "half_extents": [0.0005, 1], "velocity": [1.5, 0], )" +
                      std::string(barrier) + R"(},
            {"type": "box", "name": "right", "center": [0.1, 0], "half_extents": [0.0005, 1],
             "velocity": [-1.5, 0], )" +
                      barrier + "}";
        return simulated(s);
    };
    const auto run = jaws(6);
    std::int64_t step = 0;
    run->run(false, [&](std::int64_t) {
        const double half = 0.1 - 0.0005 - 0.015 * static_cast<double>(step++);
        for (int p = 0; p < 2; ++p) CHECK(std::abs(position(*run, p, 0)) < half);
        return true;
    });
    CHECK(step >= 6);
    CHECK(position(*run, 2, 0) == 0);
    // In the seventh step the plates meet.
    const auto closed = jaws(7);
    try {
        closed->run(false);
        FAIL("no error");
    } catch (const Error& e) {
        const std::string text = e.what();
        CAPTURE(text);
        CHECK(text.find("no room") != std::string::npos);
        CHECK((text.find("'left'") != std::string::npos ||
               text.find("'right'") != std::string::npos));
        CHECK(text.find("item 0") != std::string::npos);
        CHECK(text.find("step 7") != std::string::npos);
    }
}

TEST_CASE("contact: a lifted ball pushes a point aside between others, and into none") {
    // A pit of overlapping balls, and one that rises in it, under a heap of points.
    Points s;
    s.dimension = 3;
    s.h = 0.01;
    s.steps = 60;
    s.gravity = {0, 0, -g};
    s.places.clear();
    for (int k = 0; k < 24; ++k)
        s.places.push_back({0.05 * std::cos(0.7 * k), 0.05 * std::sin(0.7 * k), 0.02 + 0.01 * k});
    const std::vector<std::array<double, 3>> balls = {
        {0.5, 0, 0}, {-0.5, 0, 0}, {0, 0.5, 0}, {0, -0.5, 0}};
    for (const auto& b : balls)
        s.colliders += (s.colliders.empty() ? "" : ", ") +
                       std::string(R"({"type": "sphere", "radius": 0.4, "center": )") +
                       list({b[0], b[1], b[2]}) + ", " + barrier + R"(, "name": "b)" +
                       std::to_string(&b - balls.data()) + "\"}";
    s.colliders += R"(, {"type": "sphere", "name": "lifted", "radius": 0.3,
        "center": [0.03, 0.02, -0.5], "velocity": [0, 0, 1.5], )" +
                   std::string(barrier) + "}";
    const auto run = simulated(s);
    std::int64_t step = 0;
    run->run(false, [&](std::int64_t) {
        const double lifted = -0.5 + 0.015 * static_cast<double>(step++);
        for (int p = 0; p < 24; ++p) {
            const double x = position(*run, p, 0), y = position(*run, p, 1),
                         z = position(*run, p, 2);
            for (const auto& b : balls) CHECK(std::hypot(x - b[0], y - b[1], z - b[2]) > 0.4);
            CHECK(std::hypot(x - 0.03, y - 0.02, z - lifted) > 0.3);
        }
        return true;
    });
}

TEST_CASE("contact: what obstacles cannot be is said") {
    const auto refused = [](const std::string& collider, const char* why, int dimension = 2) {
        CAPTURE(collider);
        Points s;
        s.dimension = dimension;
        s.gravity = s.places[0] = std::vector<double>(static_cast<std::size_t>(dimension), 1.0);
        s.colliders = "{\"name\": \"obstacle\", " + collider + ", " + barrier + "}";
        CHECK_THROWS_WITH_AS(simulated(s), doctest::Contains(why), Error);
    };
    const std::string box = R"("type": "box", "center": [0, 0], "half_extents": [3, 0.4])",
                      grid = R"("type": "distance_field", "spacing": 0.1, "nodes": [17, 17],)";
    refused(box + R"(, "angular_velocity": 0.4)", "farther than its barrier reaches");
    refused(box + R"(, "angular_velocity": [0.1, 0, 0])", "angular_velocity");
    refused(box + R"(, "slip_speed": 0.1)", "without friction");
    refused(box + R"(, "slip_speed": 0.1, "friction": 0.1)", "by a bristle");
    refused(box + R"(, "bristle_stiffness": 10, "friction": 0.1, "friction_model": "smoothed")",
            "smoothed friction");
    refused(R"("type": "box", "center": [0, 0], "half_extents": [3, 0])", "half_extents");
    refused(R"("type": "box", "center": [0, 0, 0], "half_extents": [1, 1, 1],
        "orientation": [0, 0, 0, 0])",
            "the quaternion is zero", 3);
    refused(R"("type": "capsule", "start": [0, 1], "end": [0, 1], "radius": 1)", "one place");
    refused(R"("type": "cylinder", "start": [0, 1], "end": [0, 2], "radius": 1)", "in the plane");
    refused(grid + R"("distances": {"formula": "2*x + 1"})", "more than the spacing");
    refused(grid + R"("distances": {"formula": "x - 0.8"})", "near the border");
    CHECK_THROWS_WITH_AS(
        simulate(R"("dimension": 2, "gravity": [0, 0], "time": {"step": 0.01, "steps": 1},
            "bodies": [{"type": "particles", "positions": [[0, 1]]}],
            "colliders": [{"name": "b", )" +
                 box + ", " + barrier + "}]"),
        doctest::Contains("implicit"), Error);
}
