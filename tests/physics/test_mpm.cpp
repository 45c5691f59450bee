// Material points: what the transfers conserve, motions with a closed form, frame invariance, walls
// and errors.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "kernels/mpm/transfer.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr std::int64_t nodes_x = 20, nodes_y = 24;
// Where node k lies in the grid.
constexpr double column(std::int64_t k) {
    const std::int64_t whole = k / nodes_y;
    return static_cast<double>(whole);
}
constexpr double row(std::int64_t k) { return static_cast<double>(k % nodes_y); }
constexpr double spacing = 1.0 / 16;

std::vector<double> random(std::size_t n, double low, double high, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> uniform(low, high);
    std::vector<double> values(n);
    for (double& v : values) v = uniform(generator);
    return values;
}

// Points somewhere in a grid of nodes_x by nodes_y, transferred once.
struct Transfer {
    static constexpr std::int64_t n = 200;
    std::vector<double> x, v, C, F, mass;
    Array grid{ir::Type::f64, {nodes_x * nodes_y, 3}};

    Transfer() : x(random(2 * n, 0.15, 1.0, 1)), v(random(2 * n, -2, 2, 2)) {
        C = random(4 * n, -5, 5, 3);
        F = random(4 * n, -0.3, 0.3, 4);
        for (std::size_t k = 0; k < F.size(); k += 4) F[k] += 1, F[k + 3] += 1;
        mass = random(n, 0.5, 2, 5);
    }
    void run(double h) const {
        const auto array = [](const std::vector<double>& values, int components) {
            return Array::from(values, ir::Type::f64,
                               {static_cast<std::int64_t>(values.size()) / components, components});
        };
        const auto device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        mpm::Grid form;
        form.nodes[0] = nodes_x;
        form.nodes[1] = nodes_y;
        const std::vector<double> volume(n, 0.003), mu(n, 700), lambda(n, 300);
        Launch(device, mpm::particle_to_grid(form), ir::Precision::f64, n,
               {array(x, 2),
                array(v, 2),
                array(C, 4),
                array(F, 4),
                array(mass, 1),
                array(volume, 1),
                array(mu, 1),
                array(lambda, 1),
                {0.0, 0.0},
                1 / spacing,
                -4 * h / (spacing * spacing),
                grid})
            .forward()
            .run();
    }
};

const char* const block = R"("type": "material_points", "name": "block", "volume": 0.001,
    "positions": {"grid": {"counts": [6, 5], "spacing": 0.03, "origin": [0.41, 0.52]}})";
std::string grid_of(const char* walls) {
    return std::string(R"("forces": [{"type": "mpm_grid", "nodes": [32, 32], "spacing": "1/30",
        "mass_floor": 1e-200, "walls": ")") +
           walls + "\"}]";
}
std::string message_of(const std::string& scene) {
    try {
        simulate(scene)->run(false);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}
bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("material points: the transfer to the grid conserves mass and momentum") {
    Transfer t;
    t.run(1e-3);  // with stress: internal forces change no momentum
    double mass = 0, px = 0, py = 0, node_mass = 0, node_px = 0, node_py = 0;
    for (std::size_t i = 0; i < Transfer::n; ++i) {
        mass += t.mass[i];
        px += t.mass[i] * t.v[2 * i];
        py += t.mass[i] * t.v[2 * i + 1];
    }
    for (std::int64_t k = 0; k < nodes_x * nodes_y; ++k) {
        node_px += t.grid.value(k, 0);
        node_py += t.grid.value(k, 1);
        node_mass += t.grid.value(k, 2);
    }
    CHECK(node_mass == doctest::Approx(mass).epsilon(1e-13));
    CHECK(std::fabs(node_px - px) < 1e-12 * mass);
    CHECK(std::fabs(node_py - py) < 1e-12 * mass);
}

TEST_CASE("material points: the transfer to the grid conserves angular momentum") {
    // Of a point: m (x cross v + (dx^2 / 4) (C10 - C01)), the second from its affine velocity field
    // with the inertia dx^2 / 4 per axis of quadratic B-splines. The stress is symmetric.
    Transfer t;
    t.run(1e-3);
    double points = 0, nodes = 0;
    for (std::size_t i = 0; i < Transfer::n; ++i)
        points += t.mass[i] * (t.x[2 * i] * t.v[2 * i + 1] - t.x[2 * i + 1] * t.v[2 * i] +
                               spacing * spacing / 4 * (t.C[4 * i + 2] - t.C[4 * i + 1]));
    for (std::int64_t k = 0; k < nodes_x * nodes_y; ++k)
        nodes += spacing * (column(k) * t.grid.value(k, 1) - row(k) * t.grid.value(k, 0));
    CHECK(nodes == doctest::Approx(points).epsilon(1e-12));
}

TEST_CASE(
    "material points: a rotated material has no stress, a stretched one that of the formula") {
    // With v = 0 and C = 0 the momentum of the nodes is that of the stress:
    // sum over nodes of p x^T = A dx^2 / 4 = -h V tau.
    Transfer t;
    std::fill(t.v.begin(), t.v.end(), 0.0);
    std::fill(t.C.begin(), t.C.end(), 0.0);
    const auto moment = [&](double f00, double f01, double f10, double f11) {
        for (std::size_t k = 0; k < t.F.size(); k += 4)
            t.F[k] = f00, t.F[k + 1] = f01, t.F[k + 2] = f10, t.F[k + 3] = f11;
        t.run(1);
        std::vector<double> m(4, 0.0);
        for (std::int64_t k = 0; k < nodes_x * nodes_y; ++k)
            for (int r = 0; r < 2; ++r) {
                m[2 * r] += t.grid.value(k, r) * spacing * column(k);
                m[2 * r + 1] += t.grid.value(k, r) * spacing * row(k);
            }
        for (double& x : m) x /= -0.003 * Transfer::n;
        return m;
    };
    const double a = 0.7, c = std::cos(a), s = std::sin(a);
    for (const double x : moment(c, -s, s, c)) CHECK(std::fabs(x) < 1e-10);
    // F = R U with U = diag(1.2, 0.9): tau = R diag(2 mu (u - 1) u + lambda J (J - 1)) R^T.
    const double J = 1.2 * 0.9, p = 300 * J * (J - 1), t0 = 1400 * 0.2 * 1.2 + p,
                 t1 = 1400 * -0.1 * 0.9 + p;
    const std::vector<double> tau = moment(1.2 * c, -0.9 * s, 1.2 * s, 0.9 * c);
    const double expected[4] = {c * c * t0 + s * s * t1, c * s * (t0 - t1), c * s * (t0 - t1),
                                s * s * t0 + c * c * t1};
    for (std::size_t k = 0; k < 4; ++k)
        CHECK(std::fabs(tau[k] - expected[k]) < 1e-10 * std::fabs(t0));
}

TEST_CASE("material points: a block in free fall moves as one point, gradients included") {
    constexpr int n = 40;
    const double h = 1.0 / 400;
    const auto sim =
        simulate(R"("dimension": 2, "time": {"step": "1/400", "steps": 40},
        "gravity": [0.5, -3], "bodies": [{)" +
                 std::string(block) + R"(, "mu": 500, "lambda": 400, "velocity": [0.7, 1.1]}], )" +
                 grid_of("none") + R"(,
        "objective": [{"type": "center_of_mass", "of": "block", "target": [0, 0]}],
        "parameters": [{"path": "block.velocity"}, {"path": "gravity"}])");
    sim->run(true);
    const double fall = h * h * n * (n + 1) / 2, time = n * h;
    double center[2] = {0.41 + 2.5 * 0.03, 0.52 + 2 * 0.03};
    for (int i = 0; i < 30; ++i) {
        const int along_x = i / 5;
        CHECK(position(*sim, i, 0) ==
              doctest::Approx(0.41 + 0.03 * along_x + 0.7 * time + 0.5 * fall).epsilon(1e-12));
        CHECK(position(*sim, i, 1) ==
              doctest::Approx(0.52 + 0.03 * (i % 5) + 1.1 * time - 3 * fall).epsilon(1e-12));
        CHECK(velocity(*sim, i, 1) == doctest::Approx(1.1 - 3 * time).epsilon(1e-12));
    }
    center[0] += 0.7 * time + 0.5 * fall;
    center[1] += 1.1 * time - 3 * fall;
    const std::vector<double> g = sim->gradient();
    for (std::size_t c = 0; c < 2; ++c) {
        CHECK(g[c] == doctest::Approx(2 * center[c] * time).epsilon(1e-11));
        CHECK(g[2 + c] == doctest::Approx(2 * center[c] * fall).epsilon(1e-11));
    }
}

TEST_CASE("material points: momentum and mass stay while a block vibrates freely") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": "1/1000", "steps": 50},
        "gravity": [0, 0], "bodies": [{)" +
                              std::string(block) + R"(, "mass": 0.4, "mu": 4000, "lambda": 3000,
        "velocity": {"formula": ["6*x-3", "2.4-4*y+2*x"]}}], )" +
                              grid_of("slip"));
    const auto momentum = [&](int c) {
        double sum = 0;
        for (int i = 0; i < 30; ++i) sum += 0.4 * velocity(*sim, i, c);
        return sum;
    };
    double start[2] = {0, 0};
    sim->rollout().forward(false, [&](std::int64_t t) {
        for (int c = 0; c < 2; ++c) {
            if (t == 0) start[c] = momentum(c);
            CHECK(std::fabs(momentum(c) - start[c]) < 1e-11);
        }
        return true;
    });
    double most = 0;  // it does deform
    for (int i = 0; i < 30; ++i)
        most =
            std::max(most, std::fabs(sim->model().array("deformation_gradient").value(i, 0) - 1));
    CHECK(most > 0.01);
}

TEST_CASE("material points: a scene turned by a right angle moves as before, turned") {
    const auto scene = [](const char* gravity, const char* positions, const char* velocity) {
        return std::string(
                   R"("dimension": 2, "time": {"step": "1/500", "steps": 60}, "gravity": )") +
               gravity + R"(, "bodies": [{"type": "material_points", "name": "block", "mass": 0.5,
            "volume": 0.001, "mu": 3000, "lambda": 2000, "positions": )" +
               positions + R"(, "velocity": )" + velocity + "}], " + grid_of("slip");
    };
    // (x, y) -> (32/30 - y, x): nodes go to nodes, the last wall node below to the first on the
    // right.
    const std::string points = "[[0.30, 0.13], [0.33, 0.14], [0.36, 0.13], [0.31, 0.16]]";
    std::string turned = "[";
    for (const auto& [x, y] : {std::pair{0.30, 0.13}, {0.33, 0.14}, {0.36, 0.13}, {0.31, 0.16}})
        turned += fmt::format("{}[{:.17g}, {}]", turned.size() > 1 ? ", " : "", 32.0 / 30 - y, x);
    turned += "]";
    const auto a = simulate(scene("[0, -9]", points.c_str(), "[0.2, -1]"));
    const auto b = simulate(scene("[9, 0]", turned.c_str(), "[1, 0.2]"));
    a->run(false);
    b->run(false);
    for (int i = 0; i < 4; ++i) {
        CHECK(std::fabs(position(*b, i, 0) - (32.0 / 30 - position(*a, i, 1))) < 1e-10);
        CHECK(std::fabs(position(*b, i, 1) - position(*a, i, 0)) < 1e-10);
    }
    CHECK(position(*a, 0, 1) < 0.13);  // it fell, and the floor is near
}

TEST_CASE("material points: slip walls take the velocity across, sticky walls all of it") {
    const auto device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    const auto after = [&](mpm::Walls walls, std::int64_t i, std::int64_t j, double vx, double vy) {
        mpm::Grid form;
        form.nodes[0] = 10;
        form.nodes[1] = 12;
        form.walls = walls;
        form.wall_nodes = 3;
        Array grid(ir::Type::f64, {120, 3}), u(ir::Type::f64, {120, 2});
        grid.set_value(i * 12 + j, 0, 2 * vx);
        grid.set_value(i * 12 + j, 1, 2 * vy);
        grid.set_value(i * 12 + j, 2, 2);
        Launch(device, mpm::grid_update(form), ir::Precision::f64, 120,
               {grid, {0.0, 0.0}, 0.1, 0.0, u})
            .forward()
            .run();
        return std::pair(u.value(i * 12 + j, 0), u.value(i * 12 + j, 1));
    };
    using mpm::Walls;
    using Pair = std::pair<double, double>;
    CHECK(after(Walls::slip, 2, 5, -1, 3) == Pair{0, 3});
    CHECK(after(Walls::slip, 2, 5, 1, 3) == Pair{1, 3});
    CHECK(after(Walls::slip, 3, 5, -1, 3) == Pair{-1, 3});
    CHECK(after(Walls::slip, 8, 5, 1, 3) == Pair{0, 3});
    CHECK(after(Walls::slip, 7, 5, 1, 3) == Pair{1, 3});
    CHECK(after(Walls::slip, 1, 1, -1, -3) == Pair{0, 0});
    CHECK(after(Walls::slip, 5, 10, 1, 3) == Pair{1, 0});
    CHECK(after(Walls::slip, 5, 9, 1, 3) == Pair{1, 3});
    CHECK(after(Walls::stick, 2, 5, -1, 3) == Pair{0, 0});
    CHECK(after(Walls::stick, 5, 10, 1, 3) == Pair{0, 0});
    CHECK(after(Walls::stick, 5, 10, 1, -3) == Pair{1, -3});
    CHECK(after(Walls::none, 0, 0, -1, -3) == Pair{-1, -3});
}

TEST_CASE("material points: what is not possible is an error that says so") {
    const std::string head = R"("dimension": 2, "time": {"step": "1/100", "steps": 100},
        "gravity": [0, -9.81], "bodies": [{)" +
                             std::string(block);
    const std::string lame = R"(, "mu": 500, "lambda": 400)";
    CHECK(message_of(head + lame + "}], " + grid_of("slip")) == "");
    CHECK(contains(message_of(head + lame + "}], " + grid_of("none")), "left the grid"));
    CHECK(contains(message_of(head + lame + "}]"), "need a grid"));
    CHECK(contains(message_of(head + "}], " + grid_of("slip")), "'mu' and 'lambda'"));
    CHECK(contains(message_of(head + R"(, "mu": 500}], )" + grid_of("slip")), "without 'lambda'"));
    CHECK(contains(message_of(head + lame + R"(, "young_modulus": 1, "poisson_ratio": 0.2}], )" +
                              grid_of("slip")),
                   "'young_modulus'"));
    CHECK(
        contains(message_of(head + lame + R"(}, {"type": "particles", "positions": [[0, 0]]}], )" +
                            grid_of("slip")),
                 "not supported"));
    CHECK(contains(message_of(R"("time": {"step": 1, "steps": 1}, "bodies": [{)" +
                              std::string(block) + lame + "}], " + grid_of("slip")),
                   "two-dimensional"));
    CHECK(contains(message_of(R"("dimension": 2, "time": {"step": 1, "steps": 1},
        "bodies": [{"type": "particles", "positions": [[0, 0]]}], )" +
                              grid_of("slip")),
                   "no material points"));
}

TEST_CASE(
    "material points: a point that leaves the grid is an error with its step, on every device") {
    // A quarter of a spacing in each step: 3.1 - 11 / 4 is the first place below 1/2, at which the
    // twelfth step finds no three nodes. What is launched behind it reads there as well.
    const Scene scene = Scene::parse(R"({"format": 1, "dimension": 2, "gravity": [0, 0],
        "time": {"step": "1/64", "steps": 40},
        "bodies": [{"type": "material_points", "name": "rest", "volume": 0.001, "mu": 500,
                    "lambda": 400, "positions": [[1, 1.5]]},
                   {"type": "material_points", "name": "drop", "volume": 0.001, "mu": 500,
                    "lambda": 400, "positions": [[1, 1], [0.19375, 0.5]],
                    "velocity": [[0, 0], [-1, 0]]}],
        "forces": [{"type": "mpm_grid", "nodes": [32, 32], "spacing": "1/16", "walls": "none",
                    "mass_floor": 1e-30}]})");
    for (const auto& device : devices()) {
        CAPTURE(device->describe());
        SimulationOptions options;
        options.device = device;
        options.precision = ir::Precision::f32;
        Simulation simulation(scene, all_modules(), options);
        std::string text;
        try {
            simulation.run(false);
        } catch (const Error& error) {
            text = error.what();
        }
        CHECK_MESSAGE(
            contains(
                text,
                "at /forces/0/nodes: point 1 of 'drop' has left the grid: it is at (0.021875, 0.5) "
                "m, "
                "and the grid holds points from (0.03125, 0.03125) to (1.90625, 1.90625) m; give "
                "the "
                "grid more nodes, or let \"walls\" be \"slip\" or \"stick\"\n  in step 12 of 40"),
            text);
    }
}
