// Gradient coverage: every field that a module marks as differentiable has a scene here in which
// reverse mode, forward mode and differences agree, Hessian products too, and f32 comes near.
// A new differentiable field without a line in the table below fails the test.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Fields ("section/type.field") and the paths under which a scene has them as parameters.
struct Covering {
    const char* name;
    std::vector<std::pair<std::string, std::string>> fields;
    std::string scene;
};

// Two bodies of points against planes and spheres; none is near a kink at a step.
std::string contacts(const char* response) {
    const std::string coefficients = response;
    return R"("dimension": 2, "time": {"step": "1/200", "steps": 60}, "gravity": [0.2, -9.81],
    "bodies": [
        {"type": "particles", "name": "stones", "mass": [1, 0.6, 0.8],
         "positions": [[0, 0.11], [0.7, 0.32], [-0.5, 0.2]],
         "velocity": [[1, -0.4], [-0.9, -1.6], [0.6, -1]]}],
    "colliders": [
        {"type": "plane", "name": "floor", "normal": [0.1, 1], "offset": 0.05, )" +
           coefficients + R"(},
        {"type": "sphere", "name": "rock", "center": [0.35, 0.1], "radius": 0.25, )" +
           coefficients + R"(}],
    "objective": [
        {"type": "point_target", "name": "hit", "of": "stones", "target": [0.3, 0.5]},
        {"type": "area", "name": "area", "of": "stones", "target": 0.2, "at": [0.1, 0.3]}])";
}

// Balls of unequal mass that meet each other, a floor that sinks and a ball that rises.
std::string balls() {
    return R"("dimension": 2, "time": {"step": "1/200", "steps": 80}, "gravity": [0.2, -9.81],
    "bodies": [
        {"type": "particles", "name": "left", "mass": 0.7, "positions": [[-0.3, 0.4], [-0.4, 0.8]],
         "velocity": [[2, 0.3], [1, 0.2]], "radius": 0.11},
        {"type": "particles", "name": "right", "mass": 1.2, "positions": [[0.3, 0.5]],
         "velocity": [-1.5, 0.2], "radius": 0.08}],
    "colliders": [
        {"type": "plane", "name": "floor", "normal": [0.1, 1], "offset": 0.05, "restitution": 0.7,
         "friction": 0.1, "velocity": [0, -0.2]},
        {"type": "sphere", "name": "rock", "center": [-0.6, -0.2], "radius": 0.4,
         "restitution": 0.5, "velocity": [0.1, 0.3]},
        {"type": "particle_contact", "name": "hits", "restitution": 0.8, "friction": 0.05}],
    "objective": [
        {"type": "point_target", "name": "left end", "of": "left", "target": [0.3, 0.5]},
        {"type": "point_target", "name": "right end", "of": "right", "target": [0.1, 0.2]}])";
}

// A membrane with a loss at two times; `keys` say how its numbers are written.
std::string membrane(const char* boundary, const char* keys) {
    return std::string(R"json("dimension": 2, "time": {"step": "1/50", "steps": 9},
    "bodies": [{"type": "waves", "name": "drum", "nodes": [5, 6], "spacing": 0.5, "boundary": ")json") +
           boundary + "\", " + keys + R"json(}],
    "objective": [{"type": "field_target", "of": "drum", "at": [0.1, 0.18],
                   "target": {"formula": "exp(-(x-1)^2-(y-0.7)^2)"}, "zero_mean": true}])json";
}

// Two elastic blocks on one string, far from being turned inside out; `keys` are the moduli.
std::string blocks(const char* keys) {
    return std::string(R"json("time": {"step": "1/200", "steps": 12}, "gravity": [0.5, -1, -9.81],
    "bodies": [
        {"type": "solid", "name": "block", "density": {"formula": "0.9+0.1*x+0.05*i"},
         "mesh": {"box": {"min": [0, 0, 0], "max": [0.5, 0.3, 0.4], "cells": [2, 1, 1]}},
         "positions": {"formula": ["1.1*x+0.1*y", "0.9*y-0.05*z", "z+0.1*x*x"]},
         "velocity": {"formula": ["sin(x)", "0.3", "y*z"]},
         "fixed": {"box": {"min": [-1, -1, -1], "max": [0, 1, 1]}}, )json") +
           keys + R"json(},
        {"type": "solid", "name": "wedge", "density": 0.7, "mu": 2, "lambda": 3,
         "mesh": {"points": [[1, 0, 0], [1.3, 0, 0], [1, 0.2, 0], [1, 0, 0.3], [1.3, 0.2, 0.3]],
                  "tetrahedra": [[0, 1, 2, 3], [1, 2, 3, 4]]},
         "positions": {"formula": ["1.2*x-0.2", "y+0.1*x", "0.8*z-0.2*y"]}}],
    "forces": [{"type": "springs", "connect": [["block", 9, "wedge", 0]], "stiffness": 0.5}],
    "objective": [
        {"type": "point_target", "of": "block", "target": {"formula": ["1.2*x", "y", "z"]}},
        {"type": "center_of_mass", "of": "wedge", "target": [1.5, 0.3, 0.1]},
        {"type": "energy", "solids": ["block", "wedge"], "at": [0.03, 0.06]}])json";
}

// Two blocks that press against each other, away from the walls.
const char* const material_blocks = R"("dimension": 2, "time": {"step": "1/500", "steps": 12},
    "gravity": [0.4, -9.81],
    "bodies": [
        {"type": "material_points", "name": "upper", "mass": [0.2, 0.25, 0.22, 0.3, 0.2, 0.28],
         "volume": 0.0012, "young_modulus": 4000, "poisson_ratio": 0.3, "velocity": [0.5, -2],
         "positions": {"grid": {"counts": [3, 2], "spacing": 0.04, "origin": [0.43, 0.53]}}},
        {"type": "material_points", "name": "lower", "mass": 0.3, "volume": 0.0016,
         "mu": [2000, 2500, 1800, 2100, 2200, 1900], "lambda": 1500, "velocity": [-0.3, 1.5],
         "positions": {"grid": {"counts": [2, 3], "spacing": 0.041, "origin": [0.44, 0.41]}}}],
    "forces": [{"type": "mpm_grid", "name": "grid", "nodes": [14, 16], "spacing": "1/14"}],
    "objective": [
        {"type": "point_target", "name": "hit", "of": "upper", "points": [1, 4], "target": [0.4, 0.6]},
        {"type": "center_of_mass", "name": "low", "of": "lower", "target": [0.3, 0.3]}])";

const std::vector<Covering>& coverings() {
    static const std::vector<Covering> list = {
        {"springs in wind",
         {{"bodies/particles.positions", "chain.positions"},
          {"bodies/particles.velocity", "chain.velocity"},
          {"bodies/particles.mass", "chain.mass"},
          {"scene/gravity", "gravity"},
          {"forces/springs.stiffness", "links.stiffness"},
          {"forces/springs.stiffness", "rope.stiffness"},
          {"forces/springs.damping", "links.damping"},
          {"forces/springs.damping", "rope.damping"},
          {"forces/springs.rest_length", "links.rest_length"},
          {"forces/springs.rest_length", "rope.rest_length"},
          {"forces/drag.linear", "wind.linear"},
          {"forces/drag.quadratic", "wind.quadratic"},
          {"forces/drag.wind", "wind.wind"},
          {"forces/drag.amplitude", "wind.amplitude"},
          {"forces/drag.frequency", "wind.frequency"},
          {"forces/drag.phase", "wind.phase"},
          {"forces/pull.places", "hand.places"},
          {"forces/pull.stiffness", "hand.stiffness"},
          {"forces/pull.damping", "hand.damping"},
          {"forces/damping.rate", "air.rate"},
          {"forces/damping.rate", "water.rate"},
          {"controllers/kick.change", "engine.change"},
          {"objective/point_target.target", "hit.target"},
          {"objective/trajectory.targets", "track.targets"},
          {"objective/center_of_mass.target", "center.target"},
          {"objective/volume.target", "volume.target"}},
         springs_in_wind},
        {"penalty contact",
         {{"colliders/plane.normal", "floor.normal"},
          {"colliders/plane.offset", "floor.offset"},
          {"colliders/plane.stiffness", "floor.stiffness"},
          {"colliders/plane.damping", "floor.damping"},
          {"colliders/plane.friction", "floor.friction"},
          {"colliders/plane.slip_speed", "floor.slip_speed"},
          {"colliders/sphere.center", "rock.center"},
          {"colliders/sphere.radius", "rock.radius"},
          {"colliders/sphere.stiffness", "rock.stiffness"},
          {"colliders/sphere.damping", "rock.damping"},
          {"colliders/sphere.friction", "rock.friction"},
          {"colliders/sphere.slip_speed", "rock.slip_speed"},
          {"objective/area.target", "area.target"},
          {"bodies/particles.velocity", "stones.velocity"}},
         contacts(R"("response": "penalty", "stiffness": 900, "damping": 3, "friction": 0.4,
                     "slip_speed": 0.8)")},
        {"impacts",
         {{"colliders/plane.normal", "floor.normal"},
          {"colliders/plane.offset", "floor.offset"},
          {"colliders/plane.restitution", "floor.restitution"},
          {"colliders/plane.friction", "floor.friction"},
          {"colliders/plane.velocity", "floor.velocity"},
          {"colliders/sphere.center", "rock.center"},
          {"colliders/sphere.radius", "rock.radius"},
          {"colliders/sphere.restitution", "rock.restitution"},
          {"colliders/sphere.friction", "rock.friction"},
          {"colliders/sphere.velocity", "rock.velocity"},
          {"bodies/particles.velocity", "stones.velocity"},
          {"scene/gravity", "gravity"}},
         contacts(R"("response": "impact", "restitution": 0.6, "friction": 0.1,
                     "velocity": [0.1, 0.2])")},
        {"balls",
         {{"colliders/plane.normal", "floor.normal"},
          {"colliders/plane.offset", "floor.offset"},
          {"colliders/plane.velocity", "floor.velocity"},
          {"colliders/sphere.center", "rock.center"},
          {"colliders/sphere.radius", "rock.radius"},
          {"colliders/particle_contact.restitution", "hits.restitution"},
          {"colliders/particle_contact.friction", "hits.friction"},
          {"bodies/particles.positions", "left.positions"},
          {"bodies/particles.velocity", "right.velocity"},
          {"bodies/particles.mass", "right.mass"},
          {"bodies/particles.radius", "left.radius"},
          {"scene/gravity", "gravity"}},
         balls()},
        {"impulses",
         {{"colliders/plane.normal", "floor.normal"},
          {"colliders/plane.restitution", "floor.restitution"},
          {"colliders/plane.friction", "floor.friction"},
          {"colliders/sphere.center", "rock.center"},
          {"colliders/sphere.restitution", "rock.restitution"},
          {"colliders/sphere.friction", "rock.friction"},
          {"bodies/particles.velocity", "stones.velocity"}},
         contacts(R"("response": "impulse", "restitution": 0.6, "friction": 0.1)")},
        {"projections",
         {{"colliders/plane.normal", "floor.normal"},
          {"colliders/plane.friction", "floor.friction"},
          {"colliders/sphere.center", "rock.center"},
          {"colliders/sphere.friction", "rock.friction"},
          {"bodies/particles.velocity", "stones.velocity"}},
         contacts(R"("response": "projection", "friction": 0.1)")},
        {"waves",
         {{"bodies/waves.speed", "drum.speed"},
          {"bodies/waves.damping", "drum.damping"},
          {"bodies/waves.level_0", "drum.level_0"},
          {"bodies/waves.level_1", "drum.level_1"}},
         membrane("zero_outside", R"json("speed": {"formula": "20+5*sin(x+2*y)"}, "damping": 2,
                  "level_0": {"formula": "sin(3*x)*cos(y)"}, "level_1": 0.3)json")},
        {"waves with a border",
         {{"bodies/waves.speed", "drum.speed"},
          {"bodies/waves.damping", "drum.damping"},
          {"bodies/waves.level_0", "drum.level_0"},
          {"bodies/waves.level_1", "drum.level_1"}},
         membrane("fixed_border", R"json("speed": 20, "damping": {"formula": "1+x*y"},
                  "level_0": 0.4, "level_1": {"formula": "sin(3*x)*cos(y)"})json")},
        {"waves of six levels a step",
         {{"bodies/waves.speed", "drum.speed"},
          {"bodies/waves.level_0", "drum.level_0"},
          {"bodies/waves.level_1", "drum.level_1"}},
         membrane("zero_outside", R"json("speed": {"formula": "20+5*sin(x+2*y)"},
                  "levels_per_step": 6, "level_0": {"formula": "sin(3*x)*cos(y)"},
                  "level_1": 0.3)json")},
        {"waves of four levels a step, with a border",
         {{"bodies/waves.speed", "drum.speed"},
          {"bodies/waves.level_0", "drum.level_0"},
          {"bodies/waves.level_1", "drum.level_1"}},
         membrane("fixed_border", R"json("speed": 20, "levels_per_step": 4, "level_0": 0.4,
                  "level_1": {"formula": "sin(3*x)*cos(y)"})json")},
        {"solids",
         {{"bodies/solid.positions", "block.positions"},
          {"bodies/solid.velocity", "block.velocity"},
          {"bodies/solid.density", "block.density"},
          {"bodies/solid.density", "wedge.density"},
          {"bodies/solid.mu", "block.mu"},
          {"bodies/solid.mu", "wedge.mu"},
          {"bodies/solid.lambda", "block.lambda"},
          {"bodies/solid.lambda", "wedge.lambda"},
          {"scene/gravity", "gravity"}},
         blocks(R"json("mu": 3, "lambda": {"formula": "4+0.5*x+0.1*i"})json")},
        {"solids with engineering constants",
         {{"bodies/solid.young_modulus", "block.young_modulus"},
          {"bodies/solid.poisson_ratio", "block.poisson_ratio"}},
         blocks(R"json("young_modulus": {"formula": "8+0.3*i"}, "poisson_ratio": 0.3)json")},

        {"material points",
         {{"bodies/material_points.positions", "upper.positions"},
          {"bodies/material_points.velocity", "upper.velocity"},
          {"bodies/material_points.mass", "upper.mass"},
          {"bodies/material_points.mass", "lower.mass"},
          {"bodies/material_points.volume", "lower.volume"},
          {"bodies/material_points.mu", "lower.mu"},
          {"bodies/material_points.lambda", "lower.lambda"},
          {"bodies/material_points.young_modulus", "upper.young_modulus"},
          {"bodies/material_points.poisson_ratio", "upper.poisson_ratio"},
          {"scene/gravity", "gravity"}},
         material_blocks},
    };
    return list;
}

std::unique_ptr<Simulation> with_parameter(const Covering& covering, const std::string& path,
                                           ir::Precision precision = ir::Precision::f64) {
    return simulate(covering.scene + R"(, "parameters": [{"path": ")" + path + "\"}]", precision);
}

}  // namespace

TEST_CASE("every differentiable field of every module is in the table") {
    std::set<std::string> covered;
    for (const Covering& covering : coverings())
        for (const auto& [field, path] : covering.fields) covered.insert(field);
    std::set<std::string> known{"scene/gravity"};
    for (const model::ModuleType& type : all_modules().all())
        for (const model::Field& field : type.fields)
            if (field.may_optimize)
                known.insert(std::string(model::name_of(type.section)) + "/" + type.type + "." +
                             field.key);
    for (const std::string& field : known) {
        CAPTURE(field);
        CHECK_MESSAGE(covered.contains(field),
                      "no scene of this file has this field as a parameter: add one");
    }
    for (const std::string& field : covered) {
        CAPTURE(field);
        CHECK_MESSAGE(known.contains(field), "no module has this differentiable field any more");
    }
}

TEST_CASE("reverse mode, forward mode, differences and Hessian products agree on every field") {
    for (const Covering& covering : coverings())
        for (const auto& [field, path] : covering.fields) {
            CAPTURE(covering.name);
            CAPTURE(path);
            const auto sim = with_parameter(covering, path);
            check_derivatives(*sim);
        }
}

TEST_CASE("gradients in f32 are within 1e-3 of those in f64 on every field") {
    for (const Covering& covering : coverings())
        for (const auto& [field, path] : covering.fields) {
            CAPTURE(covering.name);
            CAPTURE(path);
            const auto wide = with_parameter(covering, path);
            const auto narrow = with_parameter(covering, path, ir::Precision::f32);
            wide->run(true);
            narrow->run(true);
            const std::vector<double> exact = wide->gradient(), found = narrow->gradient();
            std::vector<double> miss = found;
            for (std::size_t k = 0; k < miss.size(); ++k) miss[k] -= exact[k];
            CHECK(norm(miss) < 1e-3 * norm(exact));
            CHECK(dot(found, exact) > 0.9999 * norm(found) * norm(exact));
        }
}
