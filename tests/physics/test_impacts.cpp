// Impacts at their time within the step: against closed forms and against a model of its own that goes
// from event to event in f64; resting, sliding, lifting off, corners, what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A ball falls from `height` onto a floor at 0; y after 0.7 s. In closed form with g:
// t = sqrt(2 height / g), v = g t, y = e v (T - t) - g (T - t)^2 / 2,
// dy/dheight = (1 + e) g (T - t) / v - e.
std::unique_ptr<Simulation> drop(double restitution, int steps, const std::string& more = "") {
    return simulate(R"("dimension": 2, "gravity": [0, -9.81],
        "time": {"step": )" +
                    std::to_string(0.7 / steps) + R"(, "steps": )" + std::to_string(steps) + R"(},
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 1]]}],
        "colliders": [{"type": "plane", "name": "floor", "normal": [0, 2], "restitution": )" +
                    std::to_string(restitution) + more + R"(}],
        "objective": [{"type": "point_target", "of": "ball", "target": [0, 0]}],
        "parameters": [{"path": "ball.positions"}])");
}

}  // namespace

TEST_CASE("impact: without gravity the place after a bounce is exact, and so is its derivative") {
    for (const double y0 : {0.5, 0.55, 0.6789, 0.8}) {
        const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.002, "steps": 203},
            "gravity": [0, 0],
            "bodies": [{"type": "particles", "name": "ball", "positions": [[0, )" +
                                  std::to_string(y0) + R"(]], "velocity": [0.25, -2]}],
            "colliders": [{"type": "plane", "normal": [0, 1], "offset": 0.1, "restitution": 1}],
            "objective": [{"type": "point_target", "of": "ball", "target": [0, 0]}],
            "parameters": [{"path": "ball.positions"}, {"path": "ball.velocity"}])");
        sim->run(true);
        const double T = 0.406, y = 0.2 + 2 * T - y0;
        CHECK(position(*sim, 0, 1) == doctest::Approx(y).epsilon(1e-13));
        CHECK(position(*sim, 0, 0) == doctest::Approx(0.25 * T).epsilon(1e-13));
        // The loss is x^2 + y^2; y = 0.2 - v_y T - y0.
        const auto g = sim->gradient();
        CHECK(g[1] == doctest::Approx(2 * y * -1).epsilon(1e-12));
        CHECK(g[3] == doctest::Approx(2 * y * -T).epsilon(1e-12));
    }
}

TEST_CASE("impact: the derivative of a drop converges to that of the motion, with the step") {
    for (const double e : {1.0, 0.5}) {
        CAPTURE(e);
        const double g = 9.81, t = std::sqrt(2 / g), v = g * t, rest = 0.7 - t;
        const double exact = (1 + e) * g * rest / v - e;
        const double y = e * v * rest - g * rest * rest / 2;
        std::vector<double> errors;
        for (const int steps : {100, 1000, 10000}) {
            const auto sim = drop(e, steps);
            sim->run(true);
            const double at = position(*sim, 0, 1);
            CHECK(std::fabs(at - y) < 20.0 / steps);
            errors.push_back(std::fabs(sim->gradient()[1] / (2 * at) - exact));
        }
        MESSAGE("errors of dy/dy0 with 100, 1000, 10000 steps: ", errors[0], " ", errors[1], " ",
                errors[2]);
        CHECK(errors[1] < 0.01);
        CHECK(errors[2] < 0.2 * errors[1]);
        CHECK(errors[1] < 0.2 * errors[0]);
    }
}

namespace {

using P = std::array<double, 2>;

// A point under gravity that meets the outside of a ball, from event to event: parabolas, whose
// meeting with the ball is found by bisection. Returns where it is at time T.
P bounce_off_ball(P x, P v, double g, P center, double radius, double e, double mu, double T) {
    double t = 0;
    const auto at = [&](double s) { return P{x[0] + v[0] * s, x[1] + v[1] * s - g * s * s / 2}; };
    const auto gap = [&](double s) {
        const P p = at(s);
        return std::hypot(p[0] - center[0], p[1] - center[1]) - radius;
    };
    for (;;) {
        double first = -1;
        for (double s = 1e-6; s < T - t; s += 1e-4)
            if (gap(s) < 0) {
                first = s;
                break;
            }
        if (first < 0) return at(T - t);
        double low = first - 1e-4, high = first;
        for (int k = 0; k < 200; ++k) (gap((low + high) / 2) < 0 ? high : low) = (low + high) / 2;
        const P p = at(low);
        v[1] -= g * low;
        t += low;
        x = p;
        const P n{(p[0] - center[0]) / radius, (p[1] - center[1]) / radius};
        const double vn = v[0] * n[0] + v[1] * n[1];
        P tangential{v[0] - vn * n[0], v[1] - vn * n[1]};
        const double speed = std::hypot(tangential[0], tangential[1]);
        const double factor = std::max(0.0, 1 - mu * (1 + e) * -vn / speed);
        for (int c = 0; c < 2; ++c) v[c] = tangential[c] * factor - e * vn * n[c];
    }
}

}  // namespace

TEST_CASE("impact: an oblique hit on a sphere, with friction, against a model of its own") {
    for (const double mu : {0.0, 0.2}) {
        CAPTURE(mu);
        const auto exact = [mu](double dx, double dy) {
            return bounce_off_ball({-0.2 + dx, 1.5 + dy}, {0.5, -1}, 9.81, {0, 0.4}, 0.5, 0.8, mu,
                                   0.6);
        };
        const P end = exact(0, 0);
        const double h = 1e-6;
        // d(x^2 + y^2)/dx0 and /dy0 at the end.
        double slope[2];
        for (int c = 0; c < 2; ++c) {
            const P above = exact(c == 0 ? h : 0, c == 1 ? h : 0),
                    below = exact(c == 0 ? -h : 0, c == 1 ? -h : 0);
            slope[c] = (above[0] * above[0] + above[1] * above[1] - below[0] * below[0] -
                        below[1] * below[1]) /
                       (2 * h);
        }
        std::vector<double> errors;
        for (const int steps : {600, 6000}) {
            const auto sim = simulate(R"("dimension": 2, "gravity": [0, -9.81],
                "time": {"step": )" + std::to_string(0.6 / steps) +
                                      R"(, "steps": )" + std::to_string(steps) + R"(},
                "bodies": [{"type": "particles", "name": "ball", "positions": [[-0.2, 1.5]],
                            "velocity": [0.5, -1]}],
                "colliders": [{"type": "sphere", "center": [0, 0.4], "radius": 0.5,
                               "restitution": 0.8, "friction": )" +
                                      std::to_string(mu) + R"(}],
                "objective": [{"type": "point_target", "of": "ball", "target": [0, 0]}],
                "parameters": [{"path": "ball.positions"}])");
            sim->run(true);
            CHECK(std::fabs(position(*sim, 0, 0) - end[0]) < 20.0 / steps);
            CHECK(std::fabs(position(*sim, 0, 1) - end[1]) < 20.0 / steps);
            const auto g = sim->gradient();
            errors.push_back(std::hypot(g[0] - slope[0], g[1] - slope[1]) /
                             std::hypot(slope[0], slope[1]));
        }
        CHECK(errors[0] < 0.05);
        CHECK(errors[1] < 0.2 * errors[0]);
    }
}

TEST_CASE("impact: friction takes mu (1 + e) |v_n| from the tangential speed, or stops it") {
    const auto after = [](double friction) {
        const auto sim = simulate(R"("time": {"step": "1/64", "steps": 1}, "gravity": [0, 0, 0],
            "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, "1/64"]],
                        "velocity": [3, 4, -2]}],
            "colliders": [{"type": "plane", "normal": [0, 0, 1], "restitution": 0.25,
                           "friction": )" +
                                  std::to_string(friction) + "}]");
        sim->run();
        // Half of the step before the impact, half after it.
        CHECK(position(*sim, 0, 2) == doctest::Approx(0.5 / 128).epsilon(1e-13));
        return std::vector<double>{velocity(*sim, 0, 0), velocity(*sim, 0, 1),
                                   velocity(*sim, 0, 2)};
    };
    const std::vector<double> sliding = after(0.4);  // 5 - 0.4 * 1.25 * 2 = 4 of 5 is left
    CHECK(sliding[0] == doctest::Approx(3 * 0.8).epsilon(1e-14));
    CHECK(sliding[1] == doctest::Approx(4 * 0.8).epsilon(1e-14));
    CHECK(sliding[2] == 0.5);
    const std::vector<double> held = after(2.5);
    CHECK(held[0] == 0);
    CHECK(held[1] == 0);
    CHECK(held[2] == 0.5);
}

TEST_CASE("impact: obstacles that move are those at rest, seen by one who moves") {
    for (const char* obstacle : {R"("type": "plane", "normal": [0.6, 0.8], "offset": -1)",
                                 R"("type": "sphere", "center": [-0.9, -1.4], "radius": 0.7)"}) {
        CAPTURE(obstacle);
        const auto run = [&](double ux, double uy) {
            const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.01, "steps": 100},
                "gravity": [0, 0],
                "bodies": [{"type": "particles", "name": "p", "positions": [[0, 0]],
                            "velocity": [)" +
                                      std::to_string(-1.5 + ux) + "," + std::to_string(-2 + uy) +
                                      R"(]}],
                "colliders": [{)" + obstacle +
                                      R"(, "restitution": 0.7, "friction": 0.1, "velocity": [)" +
                                      std::to_string(ux) + "," + std::to_string(uy) + "]}]");
            sim->run();
            return P{position(*sim, 0, 0) - ux, position(*sim, 0, 1) - uy};
        };
        const P still = run(0, 0), moving = run(0.75, -0.5);
        CHECK(still[1] > -1.5);  // it has bounced
        CHECK(moving[0] == doctest::Approx(still[0]).epsilon(1e-12));
        CHECK(moving[1] == doctest::Approx(still[1]).epsilon(1e-12));
    }
}

TEST_CASE("impact: bouncing ends, and what rests stays where it rests") {
    const auto sim = drop(0.5, 3500);  // rebounds of 0.9 s in all
    const auto longer = simulate(R"("dimension": 2, "gravity": [0, -9.81],
        "time": {"step": 0.001, "steps": 4000},
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 1]], "velocity": [0.3, 0]}],
        "colliders": [{"type": "plane", "normal": [0, 1], "restitution": 0.5}])");
    double lowest = 1;
    longer->run(false, [&](std::int64_t) {
        lowest = std::min(lowest, position(*longer, 0, 1));
        return true;
    });
    CHECK(lowest > -1e-15);
    CHECK(std::fabs(position(*longer, 0, 1)) < 1e-15);
    CHECK(std::fabs(velocity(*longer, 0, 1)) < 1e-15);
    CHECK(velocity(*longer, 0, 0) == doctest::Approx(0.3).epsilon(1e-14));
    // A stated rest speed ends it at the first impact (4.4 m/s).
    const auto held = drop(0.5, 700, R"(, "rest_speed": 5)");
    held->run();
    CHECK(std::fabs(position(*held, 0, 1)) < 1e-15);
    CHECK(std::fabs(velocity(*held, 0, 1)) < 1e-15);
}

TEST_CASE("impact: a block slides down an incline with g (sin a - mu cos a), or sticks") {
    const double a = 0.5, c = std::cos(a), s = std::sin(a);
    const auto slide = [&](double friction, int steps) {
        auto sim = simulate(R"("dimension": 2, "time": {"step": "1/256", "steps": )" +
                            std::to_string(steps) + R"(}, "gravity": [0, -10],
            "bodies": [{"type": "particles", "name": "block", "positions": [[0, 0]], "mass": 2}],
            "colliders": [{"type": "plane", "name": "slope", "normal": [0, 1], "friction": )" +
                            std::to_string(friction) + "}]");
        const auto set = [&](const char* path, std::initializer_list<double> values) {
            sim->model().find_quantity(path)->values = values;
            sim->model().find_quantity(path)->upload();
        };
        set("slope.normal", {-s, c});
        set("block.velocity", {-c, -s});
        sim->run();
        return -(velocity(*sim, 0, 0) * c + velocity(*sim, 0, 1) * s);
    };
    CHECK(slide(0.3, 300) == doctest::Approx(1 + 300.0 / 256 * 10 * (s - 0.3 * c)).epsilon(1e-10));
    const double loss = 10 * (0.8 * c - s);
    const int stop = static_cast<int>(std::ceil(256 / loss));
    CHECK(slide(0.8, stop - 1) == doctest::Approx(1 - (stop - 1) / 256.0 * loss).epsilon(1e-9));
    CHECK(std::fabs(slide(0.8, stop + 50)) < 1e-15);
}

TEST_CASE("impact: what rests lifts off when it is pulled up with more than its weight") {
    // The anchor rises with 1 m/s from 1 m; the spring of 10 N/m carries 15 N at 1.5 m, after 0.5 s.
    const auto sim = simulate(R"("dimension": 2, "gravity": [0, -10],
        "time": {"step": 0.001, "steps": 700},
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0]], "mass": 1.5},
                   {"type": "particles", "name": "anchor", "positions": [[0, 1]], "fixed": true,
                    "velocity": [0, 1]}],
        "forces": [{"type": "springs", "connect": [["ball", 0, "anchor", 0]], "stiffness": 10,
                    "rest_length": 0}],
        "colliders": [{"type": "plane", "of": "ball", "normal": [0, 1]}])");
    int lifted = -1, step = 0;
    sim->run(false, [&](std::int64_t) {
        ++step;
        if (lifted < 0 && position(*sim, 0, 1) > 1e-12) lifted = step;
        return true;
    });
    CHECK(std::abs(lifted - 501) <= 2);
    CHECK(position(*sim, 0, 1) > 1e-3);
}

TEST_CASE("impact: a corner holds a point, and along an edge of two planes it slides freely") {
    const auto groove = simulate(R"("dimension": 2, "gravity": [0, -10],
        "time": {"step": 0.01, "steps": 300},
        "bodies": [{"type": "particles", "name": "p", "positions": [[0.1, 1], [-0.2, 1.5]],
                    "velocity": [0, 0]}],
        "colliders": [{"type": "plane", "normal": [1, 2]}, {"type": "plane", "normal": [-1, 1]}])");
    groove->run();
    for (int k = 0; k < 2; ++k)
        for (int c = 0; c < 2; ++c) {
            CHECK(std::fabs(position(*groove, k, c)) < 1e-9);
            CHECK(std::fabs(velocity(*groove, k, c)) < 1e-9);
        }
    // Both planes contain the direction (0, 1, -1) / sqrt(2): 10 / sqrt(2) along it.
    const auto edge = simulate(R"("gravity": [0, 0, -10], "time": {"step": "1/256", "steps": 256},
        "bodies": [{"type": "particles", "name": "p", "positions": [[0, 0, 0]]}],
        "colliders": [{"type": "plane", "normal": [1, 1, 1]}, {"type": "plane", "normal": [-2, 1, 1]}])");
    edge->run();
    CHECK(std::fabs(velocity(*edge, 0, 0)) < 1e-13);
    CHECK(velocity(*edge, 0, 1) == doctest::Approx(5).epsilon(1e-12));
    CHECK(velocity(*edge, 0, 2) == doctest::Approx(-5).epsilon(1e-12));
    // Three planes: a point in the corner of a box stays.
    const auto box = simulate(R"("gravity": [-1, -2, -10], "time": {"step": 0.01, "steps": 200},
        "bodies": [{"type": "particles", "name": "p", "positions": [[0.1, 0.2, 0.3]]}],
        "colliders": [{"type": "plane", "normal": [1, 0, 0]}, {"type": "plane", "normal": [0, 1, 0]},
                      {"type": "plane", "normal": [0, 0, 1]}])");
    box->run();
    for (int c = 0; c < 3; ++c) {
        CHECK(std::fabs(position(*box, 0, c)) < 1e-12);
        CHECK(std::fabs(velocity(*box, 0, c)) < 1e-12);
    }
}

TEST_CASE("impact: fixed points and other bodies are left alone; a fast point does not tunnel") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.25, "steps": 2},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0]], "velocity": [0, -1]},
                   {"type": "particles", "name": "b", "positions": [[0, 0], [1, 10]],
                    "velocity": [[0, -1], [0, -100]], "fixed": [0]}],
        "colliders": [{"type": "sphere", "of": "b", "center": [1, 0], "radius": 0.5,
                       "restitution": 1},
                      {"type": "plane", "of": "b", "normal": [0, 1], "offset": -3}])");
    sim->run();
    CHECK(position(*sim, 0, 1) == -0.5);
    CHECK(position(*sim, 1, 1) == -0.5);
    // 9.5 m down to the ball, 40.5 m up again.
    CHECK(position(*sim, 2, 1) == doctest::Approx(0.5 + 40.5).epsilon(1e-13));
}

TEST_CASE("impact: too many in one step are an error that says where") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.1, "steps": 20},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "p", "positions": [[5, 5], [0, 0.005]],
                    "velocity": [0, -10]}],
        "colliders": [{"type": "plane", "of": "p", "normal": [0, 1], "restitution": 1},
                      {"type": "sphere", "center": [0, 100.01], "radius": 100, "restitution": 1}])");
    CHECK_THROWS_WITH_AS(sim->run(), doctest::Contains("item 1"), Error);
    try {
        sim->run();
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("more than 8 impacts in one step") != std::string::npos);
        CHECK(text.find("in step 1 of 20") != std::string::npos);
        CHECK(text.find("position update with impacts") != std::string::npos);
    }
}

namespace {

// Two balls under gravity over an elastic floor, from event to event: each flies on a parabola, so that
// their distance is linear in time. The lower one bounces, meets the upper one once. In the plane,
// unequal masses. Returns x and y of both at time T.
struct Balls {
    P x[2], v[2];
};
Balls two_balls(Balls b, const double (&m)[2], const double (&r)[2], double g, double e, double T) {
    double t = 0;
    for (int event = 0; event < 10; ++event) {
        double best = T - t;
        int what = -1;
        for (int k = 0; k < 2; ++k) {  // y + v s - g s^2 / 2 = r
            const double c = b.x[k][1] - r[k], root = b.v[k][1] * b.v[k][1] + 2 * g * c;
            const double s = (b.v[k][1] + std::sqrt(root)) / g;
            if (s > 1e-9 && s < best) best = s, what = k;
        }
        const P d{b.x[0][0] - b.x[1][0], b.x[0][1] - b.x[1][1]},
            p{b.v[0][0] - b.v[1][0], b.v[0][1] - b.v[1][1]};
        const double pp = p[0] * p[0] + p[1] * p[1], dp = d[0] * p[0] + d[1] * p[1],
                     gap = d[0] * d[0] + d[1] * d[1] - (r[0] + r[1]) * (r[0] + r[1]);
        const double root = dp * dp - pp * gap;
        if (dp < 0 && root > 0) {
            const double s = (-dp - std::sqrt(root)) / pp;
            if (s > 1e-9 && s < best) best = s, what = 2;
        }
        for (int k = 0; k < 2; ++k) {
            b.x[k][0] += b.v[k][0] * best;
            b.x[k][1] += b.v[k][1] * best - g * best * best / 2;
            b.v[k][1] -= g * best;
        }
        t += best;
        if (what < 0) return b;
        if (what < 2) {
            b.v[what][1] *= -e;
            continue;
        }
        const double length = r[0] + r[1];
        const P n{(b.x[0][0] - b.x[1][0]) / length, (b.x[0][1] - b.x[1][1]) / length};
        const double vn = (b.v[0][0] - b.v[1][0]) * n[0] + (b.v[0][1] - b.v[1][1]) * n[1];
        const double impulse = -(1 + e) * vn / (1 / m[0] + 1 / m[1]);
        for (int c = 0; c < 2; ++c) {
            b.v[0][c] += impulse / m[0] * n[c];
            b.v[1][c] -= impulse / m[1] * n[c];
        }
    }
    return b;
}

}  // namespace

TEST_CASE("impact: two balls under gravity, floor and each other, against a model of its own") {
    const double m[2] = {1, 2.5}, r[2] = {0.1, 0.15}, e = 0.9, T = 0.8;
    const Balls start{{{0, 0.5}, {0.05, 1.3}}, {{0.1, 0}, {0, -0.2}}};
    const auto loss = [&](const Balls& b) {
        const Balls end = two_balls(b, m, r, 9.81, e, T);
        return end.x[0][0] * end.x[0][0] + end.x[0][1] * end.x[0][1] + end.x[1][0] * end.x[1][0] +
               end.x[1][1] * end.x[1][1];
    };
    // In the order of the parameters: places of a and b, velocities of a and b.
    std::vector<double> slope;
    for (int what = 0; what < 2; ++what)
        for (int k = 0; k < 2; ++k)
            for (int c = 0; c < 2; ++c) {
                Balls above = start, below = start;
                (what == 0 ? above.x : above.v)[k][c] += 1e-6;
                (what == 0 ? below.x : below.v)[k][c] -= 1e-6;
                slope.push_back((loss(above) - loss(below)) / 2e-6);
            }
    const Balls end = two_balls(start, m, r, 9.81, e, T);
    std::vector<double> errors;
    for (const int steps : {800, 8000}) {
        const auto sim = simulate(R"("dimension": 2, "gravity": [0, -9.81],
            "time": {"step": )" + std::to_string(T / steps) +
                                  R"(, "steps": )" + std::to_string(steps) + R"(},
            "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0.5]],
                        "velocity": [0.1, 0], "mass": 1, "radius": 0.1},
                       {"type": "particles", "name": "b", "positions": [[0.05, 1.3]],
                        "velocity": [0, -0.2], "mass": 2.5, "radius": 0.15}],
            "colliders": [{"type": "plane", "normal": [0, 1], "restitution": 0.9},
                          {"type": "particle_contact", "restitution": 0.9}],
            "objective": [{"type": "point_target", "of": "a", "target": [0, 0]},
                          {"type": "point_target", "of": "b", "target": [0, 0]}],
            "parameters": [{"path": "a.positions"}, {"path": "b.positions"},
                           {"path": "a.velocity"}, {"path": "b.velocity"}])");
        sim->run(true);
        for (int k = 0; k < 2; ++k)
            for (int c = 0; c < 2; ++c)
                CHECK(std::fabs(position(*sim, k, c) - end.x[k][c]) < 40.0 / steps);
        const auto g = sim->gradient();
        double error = 0, size = 0;
        for (std::size_t k = 0; k < g.size(); ++k) {
            error += (g[k] - slope[k]) * (g[k] - slope[k]);
            size += slope[k] * slope[k];
        }
        errors.push_back(std::sqrt(error / size));
    }
    MESSAGE("relative errors of the gradient with 800 and 8000 steps: ", errors[0], " ", errors[1]);
    CHECK(errors[0] < 0.1);
    CHECK(errors[1] < 0.2 * errors[0]);
}

TEST_CASE("impact: a row of balls hands the velocity on, within one step, and momentum is kept") {
    // They touch: five impacts follow each other at once. Then an oblique one with friction.
    const auto row = simulate(R"("dimension": 2, "time": {"step": 0.25, "steps": 4},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "row", "radius": 0.5,
                    "positions": [[-2, 0], [0, 0], [1, 0], [2, 0], [3, 0], [4, 0]],
                    "velocity": [[2, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]]}],
        "colliders": [{"type": "particle_contact", "restitution": 1}])");
    row->run();
    for (int k = 0; k < 5; ++k) CHECK(velocity(*row, k, 0) == 0);
    CHECK(velocity(*row, 5, 0) == 2);
    CHECK(position(*row, 0, 0) == -1);
    CHECK(position(*row, 5, 0) == doctest::Approx(4 + 2 * 0.5).epsilon(1e-14));
    const auto oblique = simulate(R"("dimension": 2, "time": {"step": 0.125, "steps": 16},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "p", "radius": 0.25, "mass": [1, 3],
                    "positions": [[0, 0], [1, 0.3]], "velocity": [[1, 0.1], [-0.5, 0]]}],
        "colliders": [{"type": "particle_contact", "restitution": 0.5, "friction": 0.2}])");
    oblique->run();
    CHECK(velocity(*oblique, 0, 0) < 0.5);  // they have met
    CHECK(velocity(*oblique, 0, 0) + 3 * velocity(*oblique, 1, 0) ==
          doctest::Approx(-0.5).epsilon(1e-14));
    CHECK(velocity(*oblique, 0, 1) + 3 * velocity(*oblique, 1, 1) ==
          doctest::Approx(0.1).epsilon(1e-14));
}

TEST_CASE("impact: what particle_contact refuses") {
    const auto with = [](const std::string& body, const std::string& colliders) {
        return simulate(R"("dimension": 2, "time": {"step": 0.1, "steps": 2},
            "bodies": [{"type": "particles", "name": "p", )" +
                        body + R"(}], "colliders": [)" + colliders + "]");
    };
    const std::string contact = R"({"type": "particle_contact"})";
    const std::string two = R"("positions": [[0, 0], [1, 0]], "radius": 0.1)";
    CHECK_NOTHROW(with(two, contact));
    // Balls that overlap part when they move apart; there is no line between equal centers.
    CHECK_NOTHROW(with(R"("positions": [[0, 0], [0.15, 0]], "radius": 0.1)", contact));
    CHECK_NOTHROW(with(R"("positions": [[0, 0], [0, 0]], "radius": 0)", contact));
    CHECK_NOTHROW(with(R"("positions": [[0, 0], [0, 0]], "radius": 0.1, "fixed": true)", contact));
    CHECK_THROWS_WITH_AS(
        with(R"("positions": [[2, 1], [0, 0], [2, 1]], "radius": 0.1, "fixed": [0])", contact),
        doctest::Contains("at /colliders/0: point 0 of 'p' and point 2 of 'p' have the same "
                          "center at the start: there is no line along which these balls could be "
                          "parted; move one of them by at least the sum of their radii"),
        Error);
    CHECK_THROWS_WITH_AS(with(R"("positions": [[0, 0]])", contact),
                         doctest::Contains("no particles have a radius"), Error);
    CHECK_THROWS_WITH_AS(with(two, contact + "," + contact),
                         doctest::Contains("one particle_contact"), Error);
    CHECK_THROWS_WITH_AS(
        with(R"("positions": {"grid": {"counts": [40, 26], "spacing": 1}}, "radius": 0.1)",
             contact),
        doctest::Contains("1040 points are too many"), Error);
    CHECK_THROWS_WITH_AS(with(two, R"({"type": "plane", "normal": [0, 1], "response": "impulse"})"),
                         doctest::Contains("by the response \"impact\" only"), Error);
    CHECK_THROWS_WITH_AS(with(two, R"({"type": "plane", "normal": [0, 1], "response": "impulse",
                                       "velocity": [0, 1]})"),
                         doctest::Contains("'velocity' has no meaning"), Error);
    // A fixed ball is an obstacle that moves as it is told.
    const auto sim = with(R"("positions": [[0, 0], [1, 0]], "radius": 0.25, "fixed": [0],
                             "velocity": [[4, 0], [0, 0]])",
                          R"({"type": "particle_contact", "restitution": 1})");
    sim->model().find_quantity("gravity")->values = {0, 0};
    sim->model().find_quantity("gravity")->upload();
    sim->run();
    CHECK(velocity(*sim, 0, 0) == 4);
    CHECK(velocity(*sim, 1, 0) == doctest::Approx(8).epsilon(1e-14));
}

TEST_CASE("impact: over a shot the mean of the gradient is the secant, and the optimizer hits") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.005, "steps": 240},
        "gravity": [0, 0],
        "bodies": [
            {"type": "particles", "name": "cue", "positions": [[-1, 0]], "velocity": [2, 0],
             "radius": 0.1},
            {"type": "particles", "name": "object", "positions": [[0, 0.05]], "radius": 0.1}],
        "colliders": [
            {"type": "particle_contact", "restitution": 0.95},
            {"type": "plane", "normal": [-1, 0], "offset": -1, "restitution": 0.8}],
        "objective": [{"type": "point_target", "of": "object", "target": [0.4, 0.6]}],
        "parameters": [{"path": "cue.positions", "components": ["y"]}])");
    const auto loss = [&](double y) {
        sim->parameters().set_values(std::vector{y});
        return sim->run(true);
    };
    const double secant = (loss(0.01) - loss(-0.01)) / 0.02;
    double mean = 0;
    constexpr int samples = 40;
    for (int k = 0; k < samples; ++k) {
        loss(-0.01 + 0.02 * (k + 0.5) / samples);
        mean += sim->gradient()[0] / samples;
    }
    CHECK(std::fabs(secant) > 0.01);
    CHECK(mean == doctest::Approx(secant).epsilon(0.01));
}
