// The objective "energy" with objects of any type: its value is what the modules publish, and its
// derivatives agree with differences.
#include <doctest/doctest.h>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const drum = R"json("dimension": 2, "time": {"step": "1/50", "steps": 9},
    "bodies": [{"type": "waves", "name": "drum", "nodes": [5, 6], "spacing": 0.5, "damping": 0.8,
                "speed": 13, "level_0": {"formula": "exp(-(x-1)^2-(y-0.7)^2)"},
                "level_1": {"formula": "0.1*sin(x)*y"}}])json";
const char* const jelly = R"json("dimension": 2, "time": {"step": "1/500", "steps": 10},
    "bodies": [{"type": "material_points", "name": "jelly", "mass": 0.2, "volume": 0.0012,
                "young_modulus": 4000, "poisson_ratio": 0.3,
                "velocity": {"formula": ["2*y", "1-3*x"]},
                "positions": {"grid": {"counts": [3, 2], "spacing": 0.04, "origin": [0.43, 0.53]}}}],
    "forces": [{"type": "mpm_grid", "name": "grid", "nodes": [14, 16], "spacing": "1/14"}])json";

std::string energy(const std::string& keys) {
    return R"(, "objective": [{"type": "energy", "name": "e", "kinetic": false,
                               "gravitational": false, )" +
           keys + "}]";
}
std::string parameter(const std::string& path) {
    return R"(, "parameters": [{"path": ")" + path + "\"}]";
}

std::string message(const std::string& keys) {
    try {
        simulate(keys);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("energy: of objects of any type, at the end and as a mean over times") {
    for (const auto& [scene, name, published] :
         {std::tuple{drum, "drum", "wave energy of drum"},
          std::tuple{jelly, "jelly", "elastic energy of jelly"}}) {
        CAPTURE(name);
        const std::string objects = R"("objects": [")" + std::string(name) + "\"]";
        const auto sim = simulate(scene + energy(objects));
        const double loss = sim->run();
        CHECK(loss > 0);
        CHECK(loss == doctest::Approx(energies_of(*sim).at(published)).epsilon(1e-12));
        // The mean of what runs of each length end with.
        const auto all = simulate(scene + energy(objects + R"(, "at": "all")"));
        double sum = 0;
        std::int64_t times = 0;
        all->run(false, [&](std::int64_t t) {
            if (t == 0) return true;
            sum += energies_of(*all).at(published);
            ++times;
            return true;
        });
        CHECK(times == all->steps());
        CHECK(all->loss() == doctest::Approx(sum / static_cast<double>(times)).epsilon(1e-12));
    }
}

TEST_CASE("energy: springs may be named either way") {
    const auto by_type = simulate(springs_in_wind);
    std::string scene = springs_in_wind;
    const std::string from = R"("springs": ["links", "rope"])";
    scene.replace(scene.find(from), from.size(), R"("objects": ["links"], "springs": ["rope"])");
    CHECK(simulate(scene)->run() == doctest::Approx(by_type->run()).epsilon(1e-13));
}

TEST_CASE("energy: derivatives of that of waves and material points") {
    for (const auto& [scene, name, path] :
         {std::tuple{drum, "drum", "drum.speed"}, std::tuple{drum, "drum", "drum.damping"},
          std::tuple{drum, "drum", "drum.level_0"}, std::tuple{jelly, "jelly", "jelly.velocity"},
          std::tuple{jelly, "jelly", "jelly.young_modulus"}}) {
        CAPTURE(path);
        const auto sim = simulate(scene + energy(R"("objects": [")" + std::string(name) + "\"]") +
                                  parameter(path));
        check_derivatives(*sim);
    }
}

TEST_CASE("energy: what is not there, or there twice, is an error at its place") {
    const std::string unknown = message(drum + energy(R"("objects": ["dram"])"));
    CHECK(unknown.find("no object called 'dram' has an energy of its own") != std::string::npos);
    CHECK(unknown.find("name one of drum") != std::string::npos);
    CHECK(unknown.find("/objective/0/objects/0") != std::string::npos);
    CHECK(message(drum + energy(R"("objects": ["drum", "drum"])")).find("counts already") !=
          std::string::npos);
    CHECK(message(drum + energy(R"("springs": ["drum"])")).find("no springs called") !=
          std::string::npos);
    CHECK(message(drum + energy(R"("objects": [])")).find("has no part") != std::string::npos);
}
