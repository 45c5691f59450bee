// The table of pairs that can touch where several kinds of bodies meet, and runs that leave physics as
// `run` tells them.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "engine/document/document.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/warnings/warnings.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A rigid box with its center at this height; `ground`: a key of its model, or nothing.
std::string box(const std::string& name, double height, const std::string& ground = "") {
    return R"({"type": "articulated", "name": ")" + name + R"(", "model": {)" + ground +
           R"("shapes": [{"type": "box", "name": "body", "size": [0.2, 0.2, 0.2], "position": [0, 0, )" +
           std::to_string(height) + "]}]}}";
}

const std::string sheet =
    R"({"type": "cloth", "name": "sheet", "area_density": 0.1, "warp_stiffness": 10,
    "mesh": {"grid": {"origin": [-0.5, -0.5, 1], "warp": [1, 0, 0], "weft": [0, 1, 0], "cells": [16, 16]}}})";

}  // namespace

TEST_CASE("warned pairs: material points are alone with their grid") {
    // So no obstacle that holds other points seems to hold them.
    const std::string said = message([] {
        simulate(R"("dimension": 2, "time": {"step": 1e-4, "steps": 1},
            "bodies": [{"type": "material_points", "name": "jelly", "mu": 10, "lambda": 10, "positions": [[0.5, 0.5]]},
                       {"type": "particles", "name": "dust", "positions": [[0.25, 0.5]]}],
            "forces": [{"type": "mpm_grid", "nodes": [32, 32], "spacing": 0.03125}],
            "colliders": [{"type": "plane", "name": "floor", "normal": [0, 1], "offset": 0.2, "response": "impact"}])");
    });
    CHECK(said.find("particles and material points in one scene") != std::string::npos);
}

TEST_CASE("warned pairs: rigid boxes, a cloth and a solid") {
    HINDCAST_NEEDS_MUJOCO();
    const auto sim =
        simulate(R"("time": {"step": 0.001, "steps": 200}, "gravity": [0, 0, -9.8], "bodies": [)" +
                 box("low", 0.5) + ", " + box("high", 1.5) + ", " + sheet +
                 R"(, {"type": "solid", "name": "block", "mu": 100, "lambda": 100,
            "mesh": {"box": {"min": [2, 0, 0], "max": [3, 1, 1], "cells": [1, 1, 1]}}}])");
    CHECK(law_between(*sim, "low", "high") == "none");
    CHECK(law_between(*sim, "low", "sheet") == "none");
    CHECK(law_between(*sim, "sheet", "block") == "none");
    CHECK(law_between(*sim, "high", "block") == "none");
    CHECK(find_warning(*sim, "contact_pairs") != nullptr);
    // The upper box is as fast as the sheet, which falls freely: they never meet; nor do the boxes.
    sim->run();
    CHECK(find_warning(*sim, "bodies_overlap") == nullptr);
}

TEST_CASE("warned pairs: a rigid box falls through a cloth that is held") {
    HINDCAST_NEEDS_MUJOCO();
    std::string held = sheet;
    held.insert(held.size() - 1, R"(, "fixed": true)");
    // From 1.5 m, its lower side at 1.4 m: it reaches the sheet at 1 m after sqrt(2 * .4 / 9.8) = .286 s.
    const auto sim =
        simulate(R"("time": {"step": 0.001, "steps": 400}, "gravity": [0, 0, -9.8], "bodies": [)" +
                 box("box", 1.5) + ", " + held + "]");
    sim->run();
    const Warning* const found = find_warning(*sim, "bodies_overlap");
    REQUIRE(found != nullptr);
    CHECK(std::abs(static_cast<double>(found->step) - 286) <= 2);
}

TEST_CASE("warned pairs: rigid shapes on a ground of their own") {
    HINDCAST_NEEDS_MUJOCO();
    const auto sim =
        simulate(R"("time": {"step": 0.001, "steps": 1}, "gravity": [0, 0, -9.8], "bodies": [)" +
                 box("box", 0.5, R"("ground": 0, )") +
                 R"(], "colliders": [{"type": "plane", "name": "floor", "normal": [0, 0, 1],
                                  "response": "penalty", "stiffness": 1000}])");
    CHECK(law_between(*sim, "box", "floor") == "its own ground, penalty at centers of mass");
}

TEST_CASE("warned pairs: a run that left physics says so, in its summary too") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string scene = std::string(source_dir) + "/scenes/spring_cage.json";
    const Finished run = run_program({"run", scene, "--set", "cage.stiffness=3e4", "--precision",
                                      "f64", "--device", test_device(), "--quiet", "-o", "out"},
                                     folder.path());
    CAPTURE(run.err);
    CHECK(run.err.find("[runaway]") != std::string::npos);
    const document::Document summary =
        document::Document::load(folder.path() / "out" / "summary.json");
    bool listed = false;
    for (std::size_t k = 0; k < summary.find("/warnings")->size(); ++k)
        listed =
            listed || summary.find("/warnings")->item(k).find("identifier")->string() == "runaway";
    CHECK(listed);
    const Finished strict =
        run_program({"run", scene, "--set", "cage.stiffness=3e4", "--precision", "f64", "--device",
                     test_device(), "--strict", "-o", "other"},
                    folder.path());
    CHECK(strict.status == 1);
}
