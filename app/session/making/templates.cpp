// Templates are texts: what one reads in the scene file after choosing one is what stands here.
#include "app/session/making/templates.hpp"

#include <algorithm>
#include <utility>

namespace hindcast::session {

namespace {

using document::Document;
using model::Section;

struct Row {
    SceneTemplate shown;
    std::vector<std::pair<Section, std::string>> needs;
    const char* text;
};

const std::vector<Row>& rows() {
    static const std::vector<Row> all = {
        {{"empty", "Empty scene", "The ground alone, to add things to"},
         {{Section::colliders, "plane"}},
         R"({
    "format": 1,
    "name": "new scene",
    "time": { "step": "1/60", "steps": 90 },
    "gravity": [0, 0, -9.81],
    "colliders": [{ "type": "plane", "name": "ground", "normal": [0, 0, 1], "friction": 0.3 }],
    "optimizer": { "type": "lbfgs", "iterations": 30 },
    "view": { "camera": { "eye": [1.8, -2.4, 1.4], "target": [0, 0, 0.4] } }
})"},
        {{"hang", "Hang this", "A cloth held at two corners: how stiff it is, from how it hangs"},
         {{Section::bodies, "cloth"}, {Section::objective, "center_of_mass"}},
         R"({
    "format": 1,
    "name": "hang this",
    "description": "A cloth hangs from two corners; its stiffness is found from how low it hangs.",
    "time": { "step": "1/30", "steps": 60, "integrator": "implicit_euler" },
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "type": "cloth", "name": "cloth", "area_density": 0.3,
            "mesh": { "grid": { "origin": [-0.5, -0.5, 1], "warp": [1, 0, 0], "weft": [0, 1, 0], "cells": [10, 10] } },
            "warp_stiffness": 60, "bending_stiffness": 1e-3, "mass_damping": 4, "stiffness_damping": 0.02,
            "fixed": [0, 110]
        }
    ],
    "objective": [{ "type": "center_of_mass", "name": "hang_here", "of": "cloth", "target": [0, -0.505, 0.477] }],
    "parameters": [{ "path": "cloth.warp_stiffness", "bounds": [10, 1000], "scale": "log" }],
    "optimizer": { "type": "lbfgs", "iterations": 15 },
    "view": { "camera": { "eye": [2.2, -2.4, 1.6], "target": [0, -0.2, 0.6] } }
})"},
        {{"drop", "Drop this",
          "A cloth that falls over a sphere: the friction with which it comes to lie as wanted"},
         {{Section::bodies, "cloth"},
          {Section::colliders, "sphere"},
          {Section::objective, "center_of_mass"}},
         R"({
    "format": 1,
    "name": "drop this",
    "description": "A cloth falls over a ball and slides to one side; the friction is found with which it comes to lie as wanted.",
    "time": { "step": "1/50", "steps": 40, "integrator": "implicit_euler" },
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "type": "cloth", "name": "cloth", "area_density": 0.3,
            "mesh": { "grid": { "origin": [-0.34, -0.5, 0.33], "warp": [1, 0, 0], "weft": [0, 1, 0], "cells": [10, 10] } },
            "warp_stiffness": 60, "bending_stiffness": 1e-3, "mass_damping": 4, "stiffness_damping": 0.02
        }
    ],
    "colliders": [
        {
            "type": "sphere", "name": "ball", "center": [0, 0, 0], "radius": 0.3, "response": "barrier",
            "stiffness": 2000, "distance": 0.01, "friction": 0.1
        }
    ],
    "objective": [{ "type": "center_of_mass", "name": "lie_here", "of": "cloth", "target": [0.1, 0, 0.047] }],
    "parameters": [{ "path": "ball.friction", "bounds": [0, 1] }],
    "optimizer": { "type": "lbfgs", "iterations": 12 },
    "view": { "camera": { "eye": [1.2, -1.6, 0.9], "target": [0, 0, 0] } }
})"},
        {{"throw", "Throw at target", "A ball: the velocity with which it bounces to the target"},
         {{Section::bodies, "particles"},
          {Section::colliders, "plane"},
          {Section::objective, "point_target"}},
         R"({
    "format": 1,
    "name": "throw at target",
    "description": "A ball is thrown so that it bounces off the ground to the target.",
    "time": { "step": "1/60", "steps": 72 },
    "gravity": [0, 0, -9.81],
    "bodies": [
        { "type": "particles", "name": "ball", "positions": [[0, 0, 1]], "velocity": [2, 0, 1], "radius": 0.05 }
    ],
    "colliders": [
        { "type": "plane", "name": "ground", "normal": [0, 0, 1], "restitution": 0.8, "friction": 0.1 }
    ],
    "objective": [{ "type": "point_target", "name": "target", "of": "ball", "target": [3, 0.5, 0.8] }],
    "parameters": [{ "path": "ball.velocity" }],
    "optimizer": { "type": "lbfgs", "iterations": 40 },
    "view": { "camera": { "eye": [1.5, -4.5, 2], "target": [1.5, 0, 0.5] } }
})"},
        {{"identify", "Identify from motion",
          "A pendulum of springs whose motion was seen: its stiffness and damping are found"},
         {{Section::bodies, "particles"},
          {Section::forces, "springs"},
          {Section::objective, "trajectory"}},
         R"({
    "format": 1,
    "name": "identify from motion",
    "description": "A weight on a spring was seen at four times: the spring's stiffness and damping are found from that. Put a file of places for \"targets\": {\"file\": \"seen.npy\"}.",
    "time": { "step": "1/200", "steps": 200 },
    "gravity": [0, 0, -9.81],
    "bodies": [
        { "type": "particles", "name": "weight", "positions": [[0, 0, 0.5]], "mass": 0.5 },
        { "type": "particles", "name": "hook", "positions": [[0, 0, 1]], "fixed": true }
    ],
    "forces": [
        { "type": "springs", "name": "spring", "connect": [["hook", 0, "weight", 0]], "stiffness": 60, "damping": 0.1, "rest_length": 0.5 }
    ],
    "objective": [
        {
            "type": "trajectory", "name": "seen", "of": "weight", "at": [0.25, 0.5, 0.75, 1],
            "targets": [[0, 0, 0.3804], [0, 0, 0.4942], [0, 0, 0.386], [0, 0, 0.4888]]
        }
    ],
    "parameters": [
        { "path": "spring.stiffness", "bounds": [10, 1000], "scale": "log" },
        { "path": "spring.damping", "bounds": [0.01, 10], "scale": "log" }
    ],
    "optimizer": { "type": "lbfgs", "iterations": 40 },
    "view": { "camera": { "eye": [0.8, -1.6, 0.9], "target": [0, 0, 0.65] } }
})"}};
    return all;
}

bool has_all(const Registry& registry, const Row& row) {
    return std::ranges::all_of(row.needs, [&](const auto& need) {
        return registry.find(need.first, need.second) != nullptr;
    });
}

}  // namespace

std::vector<SceneTemplate> scene_templates(const Registry& registry) {
    std::vector<SceneTemplate> list;
    for (const Row& row : rows())
        if (has_all(registry, row)) list.push_back(row.shown);
    return list;
}

Document scene_of_template(const Registry& registry, const std::string& id) {
    for (const Row& row : rows())
        if (row.shown.id == id && has_all(registry, row))
            return Document::parse(row.text, "the template " + id);
    throw Error("there is no template '" + id + "'");
}

}  // namespace hindcast::session
