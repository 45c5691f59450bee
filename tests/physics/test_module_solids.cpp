// Solids of tetrahedra against closed forms: uniaxial stretch, rigid motion, the force as the slope
// of the energy, conservation, lumped masses, and the mesh of a box.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "kernels/solids/mesh.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// One tetrahedron with corners 0, e_x, e_y, e_z (volume 1/6), stretched by `stretch` along x.
std::string stretched(double stretch, const std::string& keys, int steps = 1) {
    return R"("time": {"step": 1e-3, "steps": )" + std::to_string(steps) +
           R"(}, "gravity": [0, 0, 0],
        "bodies": [{"type": "solid", "name": "tet",
            "mesh": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                     "tetrahedra": [[0, 1, 2, 3]]},
            "positions": {"formula": [")" +
           number(stretch) + R"(*x", "y", "z"]}, )" + keys + "}]";
}

double force(Simulation& s, std::int64_t point, int component) {
    return s.model().array("force").value(point, component);
}

// A box that is bent and twisted, without gravity.
const char* const twisted = R"json("time": {"step": 1e-4, "steps": 1}, "gravity": [0, 0, 0],
    "bodies": [{"type": "solid", "name": "box", "density": 500, "mu": 3000, "lambda": 5000,
        "mesh": {"box": {"min": [-1, 0, 0], "max": [1, 0.5, 1], "cells": [3, 2, 2]}},
        "positions": {"formula": ["1.1*x+0.1*sin(y)", "y*cos(x)-0.5*z*sin(x)",
                                  "0.5*y*sin(x)+z*cos(x)"]},
        "velocity": {"formula": ["0.3*sin(5*x)", "y*z", "0.5-x"]}}],
    "objective": [{"type": "energy", "kinetic": false, "gravitational": false, "solids": ["box"],
                   "at": 0}],
    "parameters": [{"path": "box.positions"}])json";

}  // namespace

TEST_CASE("solids: uniaxial stretch of one tetrahedron, stress and its derivative") {
    // F = diag(s, 1, 1): P_xx = mu (s - 1/s) + lambda log(s) / s, P_yy = P_zz = lambda log(s). The
    // force on corner 1 is -V P e_x, and so on; corner 0 takes the opposite of all.
    const double mu = 700, lambda = 1100, volume = 1.0 / 6, h = 1e-3;
    for (const double s : {0.4, 0.9, 1.0, 1.3, 2.5}) {
        CAPTURE(s);
        const std::string moduli =
            R"("mu": )" + number(mu) + R"(, "lambda": )" + number(lambda) + R"(, "density": 6)";
        const auto sim = simulate(stretched(s, moduli) +
                                  R"(, "objective": [{"type": "center_of_mass", "of": "tet",
                                      "target": [0, 0, 0]}],
                                      "parameters": [{"path": "tet.positions"}])");
        sim->run();
        const double xx = mu * (s - 1 / s) + lambda * std::log(s) / s;
        const double yy = lambda * std::log(s);
        const double expected[4][3] = {{xx, yy, yy}, {-xx, 0, 0}, {0, -yy, 0}, {0, 0, -yy}};
        for (int p = 0; p < 4; ++p)
            for (int k = 0; k < 3; ++k)
                CHECK(std::fabs(force(*sim, p, k) - volume * expected[p][k]) < 1e-11 * mu);
        // d P_xx / ds = mu (1 + 1/s^2) + lambda (1 - log s) / s^2, seen in the velocity of corner 1
        // after a step, which is h f / m with mass 6/6/4.
        const auto end = simulate(
            stretched(s, moduli) +
            R"(, "objective": [{"type": "point_target", "of": "tet", "points": [1], "target": [)" +
            number(position(*sim, 1, 0) - 0.5) +
            R"(, 0, 0]}], "parameters": [{"path": "tet.positions[1].x"}])");
        CHECK(end->run(true) == doctest::Approx(0.25).epsilon(1e-12));
        const double slope = mu * (1 + 1 / (s * s)) + lambda * (1 - std::log(s)) / (s * s);
        const double mass = 0.25;
        CHECK(end->gradient().front() ==
              doctest::Approx(1 - h * h * volume * slope / mass).epsilon(1e-12));
    }
}

TEST_CASE("solids: Young's modulus and Poisson's ratio are Lame's parameters") {
    const double young = 2600, poisson = 0.3;
    const auto a = simulate(stretched(1.2, R"("young_modulus": 2600, "poisson_ratio": 0.3)"));
    const auto b = simulate(stretched(1.2, R"("mu": )" + number(young / 2.6) + R"(, "lambda": )" +
                                               number(young * poisson / (1.3 * 0.4))));
    a->run(), b->run();
    CHECK(force(*a, 1, 0) == doctest::Approx(force(*b, 1, 0)).epsilon(1e-13));
    CHECK(force(*a, 2, 1) == doctest::Approx(force(*b, 2, 1)).epsilon(1e-13));
}

TEST_CASE("solids: a body at rest, moved or turned has no force") {
    const auto rest = simulate(stretched(1, R"("mu": 5, "lambda": 7)"));
    rest->run();
    // 90 degrees about z, and a shift.
    const auto turned = simulate(
        R"("time": {"step": 1e-3, "steps": 1}, "gravity": [0, 0, 0], "bodies": [{"type": "solid",
            "name": "box", "mu": 5, "lambda": 7,
            "mesh": {"box": {"min": [0, 0, 0], "max": [1, 2, 1], "cells": [1, 2, 2]}},
            "positions": {"formula": ["3-0.8*y-0.6*x", "0.8*x-0.6*y", "z+1"]}}])");
    turned->run();
    for (const auto& sim : {rest.get(), turned.get()})
        for (const double f : sim->model().array("force").to_doubles()) CHECK(std::fabs(f) < 1e-14);
}

TEST_CASE("solids: the force is minus the gradient of the energy, and all forces balance") {
    const auto sim = simulate(twisted);
    const double energy = sim->run(true);
    CHECK(energy > 1);
    const std::vector<double> gradient = sim->gradient();
    const std::vector<double> forces = sim->model().array("force").to_doubles();
    const std::vector<double> start = sim->parameters().values();
    REQUIRE(gradient.size() == forces.size());
    double sum[3] = {}, torque[3] = {}, size = 0;
    for (std::size_t k = 0; k < forces.size(); ++k) {
        CHECK(std::fabs(forces[k] + gradient[k]) < 1e-10 * energy);
        sum[k % 3] += forces[k];
        size = std::max(size, std::fabs(forces[k]));
    }
    for (std::size_t p = 0; p < forces.size(); p += 3)
        for (std::size_t a = 0; a < 3; ++a) {
            const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
            torque[a] += start[p + b] * forces[p + c] - start[p + c] * forces[p + b];
        }
    CHECK(size > 1);
    for (int a = 0; a < 3; ++a) {
        CHECK(std::fabs(sum[a]) < 1e-12 * size);
        CHECK(std::fabs(torque[a]) < 1e-11 * size);
    }
}

TEST_CASE("solids: momentum is conserved, and energy does not drift") {
    std::string scene(twisted);
    const auto replace = [&](const std::string& from, const std::string& to) {
        scene.replace(scene.find(from), from.size(), to);
    };
    replace("\"steps\": 1", "\"steps\": 400");
    replace("\"at\": 0", "\"at\": 0.04");
    replace("\"kinetic\": false", "\"kinetic\": true");
    const auto sim = simulate(scene);
    const auto momentum = [&](int k) {
        double sum = 0;
        const Array mass = sim->model().array("mass");
        for (std::int64_t i = 0; i < mass.elements(); ++i)
            sum += mass.value(i) * velocity(*sim, i, k);
        return sum;
    };
    double start[3] = {}, scale = 0;
    sim->rollout().forward(false, [&](std::int64_t t) {
        for (int k = 0; k < 3; ++k) {
            if (t == 0) start[k] = momentum(k);
            scale = std::max(scale, std::fabs(start[k]));
            CHECK(std::fabs(momentum(k) - start[k]) < 1e-11 * scale);
        }
        return true;
    });
    CHECK(scale > 1);
    // Symplectic Euler: the energy oscillates by an amount that is proportional to the step.
    const double end = sim->loss();
    double kinetic = 0;
    sim->rollout().forward(false, [&](std::int64_t) {
        for (std::int64_t i = 0; i < sim->model().point_count(); ++i)
            for (int k = 0; k < 3; ++k)
                kinetic += 0.5 * sim->model().array("mass").value(i) * velocity(*sim, i, k) *
                           velocity(*sim, i, k);
        return false;
    });
    const double elastic = simulate(twisted)->run();
    CHECK(end == doctest::Approx(kinetic + elastic).epsilon(0.01));
}

TEST_CASE("solids: the box is split into six tetrahedra a cell around its diagonal") {
    const int cells[3] = {3, 2, 2};
    const auto sim = simulate(twisted);
    sim->run();
    // Every corner has a quarter of its tetrahedra's masses.
    const std::vector<double> mass = sim->model().array("mass").to_doubles();
    const double each = 500 * (2.0 / 3) * 0.25 * 0.5 / 6 / 4;
    std::vector<double> expected(mass.size(), 0);
    const auto point = [&](const std::array<int, 3>& p) {
        return static_cast<std::size_t>((p[0] * (cells[1] + 1) + p[1]) * (cells[2] + 1) + p[2]);
    };
    const document::Document scene = document::Document::parse("{" + std::string(twisted) + "}");
    const solids::Mesh mesh = solids::read_mesh(scene.at("/bodies/0/mesh"), 3);
    std::size_t at = 0;
    for (int i = 0; i < cells[0]; ++i)
        for (int j = 0; j < cells[1]; ++j)
            for (int k = 0; k < cells[2]; ++k)
                for (const std::array<int, 3>& order : {std::array<int, 3>{0, 1, 2},
                                                        {0, 2, 1},
                                                        {1, 0, 2},
                                                        {1, 2, 0},
                                                        {2, 0, 1},
                                                        {2, 1, 0}}) {
                    std::array<int, 3> p{i, j, k};
                    for (int c = 0; c < 4; ++c) {
                        CHECK(mesh.corners.at(4 * at + static_cast<std::size_t>(c)) ==
                              static_cast<std::int64_t>(point(p)));
                        expected[point(p)] += each;
                        if (c < 3)
                            ++p[static_cast<std::size_t>(order[static_cast<std::size_t>(c)])];
                    }
                    ++at;
                }
    REQUIRE(4 * at == mesh.corners.size());
    for (std::size_t p = 0; p < mass.size(); ++p)
        CHECK(mass[p] == doctest::Approx(expected[p]).epsilon(1e-13));
}

TEST_CASE("solids: what cannot be simulated is refused") {
    const auto solid = [](const std::string& keys) {
        return R"("time": {"step": 0.01, "steps": 1}, "bodies": [{"type": "solid", )" + keys + "}]";
    };
    const std::string lame = R"(, "mu": 1, "lambda": 1)";
    const std::string box =
        R"("mesh": {"box": {"min": [0,0,0], "max": [1,1,1], "cells": [1,1,1]}})";
    check_refused(solid(box), "needs two moduli");
    check_refused(solid(box + R"(, "mu": 1, "young_modulus": 1)"), "needs two moduli");
    check_refused(solid(box + lame + R"(, "young_modulus": 1, "poisson_ratio": 0.3)"),
                  "needs two moduli");
    check_refused(
        solid(R"("mesh": {"box": {"min": [0,0,0], "max": [1,0,1], "cells": [1,1,1]}})" + lame),
        "no volume");
    check_refused(solid(R"("mesh": {"points": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]],
                            "tetrahedra": [[0,1,2,3]]})" +
                        lame),
                  "tetrahedron 0 has no volume");
    check_refused(solid(R"("mesh": {"points": [[0,0,0],[1,0,0],[0,1,0],[1,1,1]],
                            "tetrahedra": [[0,1,2,4]]})" +
                        lame),
                  "3");
    check_refused(solid(box + lame + R"(, "fixed": {"box": {"min": [5,5,5], "max": [6,6,6]}})"),
                  "no point lies in this box");
    check_refused(R"("dimension": 2, )" + solid(box + lame), "2 numbers");
    check_refused(
        R"("dimension": 2, )" +
            solid(R"("mesh": {"points": [[0,0],[1,0],[2,0]], "triangles": [[0,1,2]]})" + lame),
        "triangle 0 has no area");
    // A point that no element has a mass for; one that is fixed needs none.
    const std::string stray = R"("mesh": {"points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[2,2,2]],
                                          "tetrahedra": [[0,1,2,3]]})" +
                              lame;
    check_refused(solid(stray),
                  "at /bodies/0/mesh/points/4: point 4 belongs to no tetrahedron, so it has no "
                  "mass; remove it, make it a corner of a tetrahedron, or let it be fixed");
    check_refused(
        R"("dimension": 2, )" +
            solid(R"("mesh": {"points": [[0,0],[5,5],[1,0],[0,1]], "triangles": [[0,2,3]]})" +
                  lame),
        "at /bodies/0/mesh/points/1: point 1 belongs to no triangle");
    const auto anchored = simulate(solid(stray + R"(, "fixed": [4])"));
    anchored->run(false);
    CHECK(position(*anchored, 4, 0) == 2);
    check_refused(solid(box + lame + R"(, "thickness": 0.1)"), "a solid in space has no thickness");
    check_refused(solid(box + lame + R"(, "mooney_ratio": 0.5)"),
                  "neo_hookean has no mooney_ratio");
    check_refused(solid(box + lame + R"(, "stiffness_damping": 0.5)"),
                  "explicit steps have no Rayleigh");
    check_refused(solid(box + lame) + R"(, "objective": [{"type": "energy", "solids": ["block"]}])",
                  "no solid called 'block'");
}

TEST_CASE("solids, cloth: meshes from files, and what does not fit is refused") {
    const test::TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder.path() / name) << text;
    };
    write("two.vtk", R"(# vtk DataFile Version 2.0
two tetrahedra
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 double
0 0 0  1000 0 0  0 1000 0  0 0 1000  1000 1000 1000
CELLS 2 10
4 0 1 2 3
4 1 2 3 4
CELL_TYPES 2
10 10
)");
    write("square.obj", "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3\nf 1 3 4\n");
    write("tilted.obj", "v 0 0 0\nv 2 0 0\nv 2 2 1\nf 1 2 3\n");
    const auto scene = [&](const std::string& keys) {
        const std::filesystem::path file = folder.path() / "scene.json";
        std::ofstream(file) << R"({"format": 1, "time": {"step": 1, "steps": 0}, )" + keys + "}";
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        auto s = std::make_unique<Simulation>(Scene::load(file), all_modules(), options);
        s->run(false);
        return s;
    };
    const auto mass = [](Simulation& s) {
        double sum = 0;
        for (const double m : s.model().array("mass").to_doubles()) sum += m;
        return sum;
    };
    const std::string solid = R"("bodies": [{"type": "solid", "mu": 1, "lambda": 1,
        "density": 6, "mesh": {"file": )",
                      cloth = R"("bodies": [{"type": "cloth", "warp_stiffness": 1,
        "area_density": 6, "mesh": {"file": )";
    // Volumes 1/6 and 1/3.
    CHECK(mass(*scene(solid + R"("two.vtk", "scale": 1e-3}}])")) == doctest::Approx(3));
    CHECK(mass(*scene(cloth + R"("square.obj"}}])")) == doctest::Approx(24));
    CHECK(mass(*scene(R"("dimension": 2, )" + solid + R"("square.obj", "scale": 0.5}}])")) ==
          doctest::Approx(6));
    const auto fails = [&](const std::string& keys, const char* words) {
        const std::string said = message([&] { scene(keys); });
        CHECK(said != "no error");
        CHECK_MESSAGE(said.find(words) != std::string::npos, said);
    };
    fails(solid + R"("square.obj"}}])", "has triangles and no tetrahedra");
    fails(cloth + R"("two.vtk"}}])", "a cloth consists of triangles");
    fails(R"("dimension": 2, )" + solid + R"("two.vtk"}}])", "the scene is in the plane");
    fails(R"("dimension": 2, )" + solid + R"("tilted.obj"}}])", "not in the plane of point 0");
    fails(solid + R"("none.vtk"}}])", "none.vtk");
    fails(solid + R"("two.vtk", "scale": 0}}])", "scale");
}
