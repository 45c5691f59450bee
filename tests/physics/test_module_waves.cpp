// Waves against the exact solution of the discrete equation (standing modes), against loops written
// out, the same levels cut into steps of any length, and what a linear step keeps for the backward
// pass: nothing.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <tuple>

#include "engine/document/npy.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double pi = 3.14159265358979323846;

std::string list(const std::vector<double>& values) {
    std::string text = "[";
    for (std::size_t k = 0; k < values.size(); ++k) text += (k > 0 ? "," : "") + number(values[k]);
    return text + "]";
}

// A mode of the five-point Laplacian on rows x columns nodes: its shape and its frequency omega per
// time level, 2 cos(omega) - 2 = -4 k (sin^2(p/2) + sin^2(q/2)).
struct Mode {
    int rows, columns;
    bool fixed_border;
    int m, l;  // half waves along the axes

    double p() const { return pi * m / (fixed_border ? rows - 1 : rows + 1); }
    double q() const { return pi * l / (fixed_border ? columns - 1 : columns + 1); }
    double omega(double k) const {
        const double s = std::sin(p() / 2), c = std::sin(q() / 2);
        return std::acos(1 - 2 * k * (s * s + c * c));
    }
    std::vector<double> shape(double factor) const {
        std::vector<double> values;
        const int shift = fixed_border ? 0 : 1;
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                values.push_back(factor * std::sin(p() * (i + shift)) *
                                 std::sin(q() * (j + shift)));
        return values;
    }
};

std::string waves(int rows, int columns, const std::string& keys, int steps, double step = 0.02) {
    return R"("dimension": 2, "time": {"step": )" + number(step) + R"(, "steps": )" +
           std::to_string(steps) + R"(}, "bodies": [{"type": "waves", "name": "drum", "nodes": [)" +
           std::to_string(rows) + "," + std::to_string(columns) + "], " + keys + "}]";
}

double energy_of(Simulation& simulation) {
    const std::map<std::string, double> all = energies_of(simulation);
    REQUIRE(all.size() == 1);
    return all.at("wave energy of drum");
}

// Kinetic energy at a density of 1 / c^2, and the stretched edges to the neighbors and the zeros
// outside.
double energy_by_edges(int rows, int columns, const std::vector<double>& u,
                       const std::vector<double>& w, const std::vector<double>& k) {
    const auto at = [&](const std::vector<double>& field, int i, int j) {
        const bool inside = i >= 0 && i < rows && j >= 0 && j < columns;
        return inside ? field[i * columns + j] : 0.0;
    };
    double twice = 0;
    for (int i = -1; i < rows; ++i)
        for (int j = -1; j < columns; ++j) {
            if (i >= 0 && j >= 0)
                twice += std::pow(at(u, i, j) - at(w, i, j), 2) / k[i * columns + j];
            for (const auto& [a, b] : {std::pair{i + 1, j}, {i, j + 1}})
                twice += (at(u, a, b) - at(u, i, j)) * (at(w, a, b) - at(w, i, j));
        }
    return twice / 2;
}

}  // namespace

TEST_CASE("waves: leapfrog keeps the energy that is published, and damping takes it") {
    const double k = 0.16, phase = 0.3;
    for (const Mode& mode : {Mode{8, 8, false, 1, 1}, Mode{16, 7, true, 2, 4}}) {
        CAPTURE(mode.rows);
        const double omega = mode.omega(k);
        const std::vector<double> u = mode.shape(std::cos(phase)),
                                  w = mode.shape(std::cos(omega + phase));
        const std::string keys = R"("spacing": 0.5, "speed": 20, "boundary": ")" +
                                 std::string(mode.fixed_border ? "fixed_border" : "zero_outside") +
                                 R"(", "level_0": )" + list(u) + R"(, "level_1": )" + list(w);
        const double first =
            energy_by_edges(mode.rows, mode.columns, u, w, std::vector<double>(u.size(), k));
        const auto sim = simulate(waves(mode.rows, mode.columns, keys, 150));
        sim->run();
        CHECK(energy_of(*sim) == doctest::Approx(first).epsilon(1e-12));
        const auto damped =
            simulate(waves(mode.rows, mode.columns, keys + R"(, "damping": 1)", 150));
        damped->run();  // 3 s
        CHECK(energy_of(*damped) == doctest::Approx(first * std::exp(-3)).epsilon(0.02));
    }
    // Any speeds; h / dx = 0.02.
    const int rows = 7, columns = 9;
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> u, w, speed, courant;
    for (int e = 0; e < rows * columns; ++e) {
        u.push_back(uniform(random));
        speed.push_back(20 + 15 * uniform(random));
        w.push_back(uniform(random));
        courant.push_back(std::pow(0.02 * speed.back(), 2));
    }
    const auto sim = simulate(waves(rows, columns,
                                    R"("spacing": 0.5, "speed": )" + list(speed) +
                                        R"(, "level_0": )" + list(u) + R"(, "level_1": )" + list(w),
                                    200));
    sim->run();
    CHECK(energy_of(*sim) ==
          doctest::Approx(energy_by_edges(rows, columns, u, w, courant)).epsilon(1e-11));
}

TEST_CASE("waves: a standing mode keeps its shape and its discrete frequency") {
    // h = 0.01 per level, c = 20, dx = 0.5: k = 0.16.
    const double k = 0.16, phase = 0.3;
    for (const Mode& mode : {Mode{8, 8, false, 1, 1}, Mode{9, 6, false, 3, 2},
                             Mode{16, 7, true, 2, 4}, Mode{5, 11, true, 1, 3}}) {
        CAPTURE(mode.rows);
        CAPTURE(mode.fixed_border);
        const double omega = mode.omega(k);
        const int steps = 150, last = 2 * steps + 1;
        const auto sim = simulate(
            waves(mode.rows, mode.columns,
                  R"("spacing": 0.5, "speed": 20, "boundary": ")" +
                      std::string(mode.fixed_border ? "fixed_border" : "zero_outside") +
                      R"(", "level_0": )" + list(mode.shape(std::cos(phase))) + R"(, "level_1": )" +
                      list(mode.shape(std::cos(omega + phase))),
                  steps) +
            R"(, "objective": [{"type": "field_target", "of": "drum", "target": 0, "sum": true}],
                "parameters": [{"path": "drum.level_0"}, {"path": "drum.level_1"}])");
        const double loss = sim->run(true);
        const std::vector<double> expected = mode.shape(std::cos(omega * last + phase));
        const std::vector<double> before = mode.shape(std::cos(omega * (last - 1) + phase));
        double square = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::int64_t node = static_cast<std::int64_t>(i);
            CHECK(std::fabs(sim->model().array("drum.field").value(node) - expected[i]) < 1e-11);
            CHECK(std::fabs(sim->model().array("drum.previous").value(node) - before[i]) < 1e-11);
            square += expected[i] * expected[i];
        }
        CHECK(loss == doctest::Approx(square).epsilon(1e-10));
        // u(t) = (sin(t omega) u(1) - sin((t - 1) omega) u(0)) / sin(omega) for a mode, and the
        // operator is symmetric: the gradient has the mode's shape too.
        const std::vector<double> gradient = sim->gradient();
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double seed = 2 * expected[i] / std::sin(omega);
            CHECK(std::fabs(gradient[i] + seed * std::sin((last - 1) * omega)) < 1e-9);
            CHECK(std::fabs(gradient[expected.size() + i] - seed * std::sin(last * omega)) < 1e-9);
        }
    }
}

TEST_CASE("waves: any speed, damping and field, against loops written out") {
    const int rows = 6, columns = 9, steps = 7, n = rows * columns;
    const double h = 0.005, dx = 0.25;
    std::vector<double> speed, damping, level_0, level_1;
    for (int e = 0; e < n; ++e) {
        speed.push_back(20 + 10 * std::sin(1.3 * e));
        damping.push_back(3 + 3 * std::cos(0.7 * e));
        level_0.push_back(std::sin(2.1 * e + 0.4));
        level_1.push_back(std::cos(0.9 * e - 0.2));
    }
    for (const auto& [fixed, damped, levels] : {std::tuple{false, false, 4},
                                                {false, true, 4},
                                                {true, false, 4},
                                                {true, true, 4},
                                                {false, false, 2},
                                                {true, false, 6},
                                                {true, true, 6},
                                                {false, false, 14}}) {
        CAPTURE(fixed);
        CAPTURE(damped);
        CAPTURE(levels);
        const auto sim = simulate(waves(
            rows, columns,
            R"("spacing": 0.25, "levels_per_step": )" + std::to_string(levels) + R"(, "speed": )" +
                list(speed) + (damped ? R"(, "damping": )" + list(damping) : "") +
                R"(, "level_0": )" + list(level_0) + R"(, "level_1": )" + list(level_1) +
                (fixed ? R"(, "boundary": "fixed_border")" : ""),
            steps, levels * h));
        sim->run();
        std::vector<double> u = level_1, old = level_0;
        for (int i = 0; fixed && i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                if (i == 0 || j == 0 || i == rows - 1 || j == columns - 1)
                    u[static_cast<std::size_t>(i * columns + j)] = 0;
        for (int t = 0; t < levels * steps; ++t) {
            std::vector<double> next(u.size());
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < columns; ++j) {
                    const bool border = i == 0 || j == 0 || i == rows - 1 || j == columns - 1;
                    if (fixed && border) continue;
                    const auto at = [&](int r, int c) {
                        if (r < 0 || c < 0 || r >= rows || c >= columns) return 0.0;
                        return u[static_cast<std::size_t>(r * columns + c)];
                    };
                    const std::size_t e = static_cast<std::size_t>(i * columns + j);
                    const double laplacian =
                        (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) - 4 * at(i, j)) /
                        (dx * dx);
                    const double gamma = damped ? damping[e] : 0;
                    // (u+ - 2u + u-) / h^2 + gamma (u+ - u-) / (2h) = c^2 lap u
                    const double left = 1 / (h * h) + gamma / (2 * h);
                    const double right = speed[e] * speed[e] * laplacian +
                                         (2 * u[e] - old[e]) / (h * h) + gamma * old[e] / (2 * h);
                    next[e] = right / left;
                }
            old = u;
            u = next;
        }
        for (std::size_t e = 0; e < u.size(); ++e)
            CHECK(std::fabs(sim->model().array("drum.field").value(static_cast<std::int64_t>(e)) -
                            u[e]) < 1e-12);
    }
}

TEST_CASE("waves: how many levels make a step changes no bit of fields and gradients") {
    // 24 levels. Without damping four of them at a time are held with other signs within a step, of
    // which zeros alone may keep one.
    const int rows = 21, columns = 37, levels = 24;
    const auto run = [&](const std::shared_ptr<Device>& device, ir::Precision precision,
                         const std::string& keys, int per_step, bool recompute = false) {
        SimulationOptions options;
        options.device = device;
        options.precision = precision;
        Simulation sim(
            Scene::parse("{\"format\": 1, " +
                         waves(rows, columns,
                               keys + R"(, "levels_per_step": )" + std::to_string(per_step),
                               levels / per_step, 0.0078125 * per_step) +
                         R"json(, "objective": [{"type": "field_target", "of": "drum",
                              "target": {"formula": "exp(-(x-2)^2-(y-3)^2)"}}],
                              "parameters": [{"path": "drum.level_0", "per": "element"},
                                             {"path": "drum.level_1", "per": "element"},
                                             {"path": "drum.speed", "per": "element"}]})json"),
            all_modules(), options);
        if (recompute) sim.rollout().force_plan(2, 2);
        std::vector<double> all{sim.run(true)};
        const auto add = [&](const std::vector<double>& values) {
            all.insert(all.end(), values.begin(), values.end());
        };
        add(sim.gradient());
        for (const char* name : {"drum.field", "drum.previous"})
            add(sim.model().array(name).to_doubles());
        return all;
    };
    std::vector<std::shared_ptr<Device>> other_widths;
    if (has_cpu_device())
        for (const int width : {1, 4, 8})
            other_widths.push_back(
                std::make_shared<Device>(DeviceOptions{.threads = 1, .width = width}));
    for (const char* boundary : {"zero_outside", "fixed_border"})
        for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
            CAPTURE(boundary);
            CAPTURE(precision == ir::Precision::f32);
            const std::string keys =
                R"json("spacing": 0.25, "speed": {"formula": "14+5*sin(x+2*y)"},
                "level_0": {"formula": "sin(3*x)*cos(y)"}, "level_1": {"formula": "sin(2*x*y)"},
                "boundary": ")json" +
                std::string(boundary) + "\"";
            const std::vector<double> expected = run(interpreter_device(), precision, keys, 2);
            CHECK(norm(expected) > 1);
            for (const auto& device : devices())
                for (const int per_step : {2, 4, 6, 8, 12, 24}) {
                    CAPTURE(device->describe());
                    CAPTURE(per_step);
                    CHECK(run(device, precision, keys, per_step) == expected);
                    CHECK(run(device, precision, keys, per_step, true) == expected);
                }
            for (const auto& device : other_widths)
                CHECK(run(device, precision, keys, 6) == expected);
        }
}

TEST_CASE("waves: where four levels make a step, adjoints leave the replaced level's gradient") {
    // Per adjoint of a level that runs: whether it changes that gradient.
    const auto changes = [](const std::string& keys, int per_step) {
        const auto sim =
            simulate(waves(5, 6,
                           R"("spacing": 0.5, "speed": 20, "level_0": 0.1, )" + keys +
                               R"("levels_per_step": )" + std::to_string(per_step),
                           3, 0.01 * per_step) +
                     R"(, "objective": [{"type": "field_target", "of": "drum", "target": 0}],
                 "parameters": [{"path": "drum.level_0"}])");
        sim->rollout().profile(true);
        sim->run(true);
        sim->gradient();
        std::set<bool> found;
        for (const Rollout::Profile& p : sim->rollout().profiles()) {
            if (p.launch != "drum: next level" || p.direction != Direction::adjoint) continue;
            const ir::Kernel& kernel = p.replay.kernel();
            const int gradient = kernel.find_parameter("older.a1");
            REQUIRE(gradient >= 0);
            bool any = false;
            for (const ir::Region& region : kernel.regions)
                for (const ir::Value v : region.ops)
                    any |= ir::is_effect(kernel.op(v).code) && kernel.op(v).symbol == gradient;
            found.insert(any);
        }
        return found;
    };
    for (const std::string border : {"", R"("boundary": "fixed_border", )"}) {
        CAPTURE(border);
        CHECK(changes(border, 4) == std::set{false});
        CHECK(changes(border, 12) == std::set{false});
        CHECK(changes(border, 2) == std::set{true});
        CHECK(changes(border + R"("damping": 1, )", 4) == std::set{true});
    }
}

TEST_CASE(
    "waves: a linear step keeps nothing for the backward pass; only the loss keeps its field") {
    for (const int levels : {2, 4}) {
        const std::string scene =
            waves(12, 12,
                  R"("spacing": 0.5, "speed": 20, "level_0": 0.1, "levels_per_step": )" +
                      std::to_string(levels),
                  80 / levels, 0.01 * levels) +
            R"(, "objective": [{"type": "field_target", "of": "drum",
                 "target": {"formula": "x*y"}}], "parameters": [{"path": )";
        const auto linear = simulate(scene + R"("drum.level_0", "per": "element"}])");
        linear->run(true);
        const std::int64_t field =
            static_cast<std::int64_t>(linear->model().array("drum.field").bytes());
        CHECK(linear->rollout().kept_bytes() == field);
        // With the speed as a parameter the Laplacian of every level is needed.
        const auto nonlinear = simulate(scene + R"("drum.speed"}])");
        nonlinear->run(true);
        CHECK(nonlinear->rollout().kept_bytes() >= 80 * field);
    }
}

TEST_CASE("waves: a field may be written row by row, or be an image in a file") {
    const TemporaryFolder folder;
    const std::int64_t shape[] = {3, 4};
    std::vector<double> image;
    for (int e = 0; e < 12; ++e) image.push_back(0.25 * e);
    document::write_npy(folder / "image.npy", std::span<const std::int64_t>(shape),
                        std::span<const double>(image));
    std::string rows = "[";
    for (int i = 0; i < 3; ++i)
        rows += (i > 0 ? "," : "") + list({image.begin() + 4 * i, image.begin() + 4 * (i + 1)});
    const auto levels = [&](const std::string& value, const std::vector<double>& nodes) {
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        options.allowed_paths = {folder.path()};
        Simulation sim(
            Scene::parse("{\"format\": 1, " +
                         waves(static_cast<int>(nodes[0]), static_cast<int>(nodes[1]),
                               R"("spacing": 0.5, "speed": 20, "level_1": )" + value, 0) +
                         "}"),
            all_modules(), options);
        sim.run();
        return sim.model().array("drum.field").to_doubles();
    };
    const std::string file = R"({"file": ")" + (folder / "image.npy").string() + R"("})";
    CHECK(levels(rows + "]", {3, 4}) == image);
    CHECK(levels(file, {3, 4}) == image);
    CHECK(levels(list(image), {3, 4}) == image);
    // The same number of nodes, but other rows.
    CHECK_THROWS_AS(levels(rows + "]", {4, 3}), Error);
    CHECK_THROWS_AS(levels(file, {4, 3}), Error);
}

TEST_CASE("waves: what cannot be simulated is refused") {
    const std::string grid = R"("spacing": 0.5, "speed": 20)";
    check_refused(waves(8, 8, grid + R"(, "levels_per_step": 3)", 1), "is odd");
    check_refused(waves(8, 8, R"("spacing": 0.5, "speed": 36)", 1), "(c h / dx)^2 = 0.518400");
    check_refused(waves(8, 2, grid, 1), "3");
    check_refused(
        R"("time": {"step": 0.02, "steps": 1}, "bodies": [{"type": "waves", "nodes": [8, 8], )" +
            grid + "}]",
        "dimension 2");
    check_refused(waves(8, 8, grid, 1) +
                      R"(, "objective": [{"type": "field_target", "of": "drun", "target": 0}])",
                  "drum");
    check_refused(
        waves(8, 8, grid, 1) +
            R"(, "objective": [{"type": "point_target", "of": "drum", "target": [0, 0]}])",
        "drum");
}
