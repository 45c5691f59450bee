// A pull with the mouse (Grab, PullTo, Release): the stiffness of its spring, and the force that it
// becomes in the scene.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/session/frames/trajectory.hpp"
#include "engine/document/document.hpp"

namespace hindcast::session {

// The spring between the mouse and a point of mass m, in a body whose free points weigh M together,
// in steps of h seconds:
//     w = min(10/s, 1/(4 h))      m_eff = min(M, m / (4 w h))      k = m_eff w^2      c = 2 m_eff w
// A free body follows the mouse at the rate w without overshoot, whatever it weighs. The bounds
// keep semi-implicit Euler stable where the point is light beside its body: stability needs h^2 k /
// m + 2 h c / m < 4, and here the sum is at most 17/16. Both are rounded to four digits.
struct PullSpring {
    double stiffness = 0;  // k, N/m
    double damping = 0;    // c, N s/m
};
PullSpring pull_spring(double point_mass, double body_mass, double step_seconds);

// A coordinate as it is written into the scene: rounded to seven digits, so that the live run and
// the file have the same numbers.
double written_place(double meters);

// The grabbed point and the recorded path of the mouse.
struct PullPath {
    std::string body;
    std::int64_t point = 0;  // of the body
    int dimension = 3;
    std::int64_t start_step = 0;                // whole steps
    std::vector<std::vector<double>> places{};  // m, one for each whole step from start_step on
    PullSpring spring{};
};
// The scene's force of module "pull".
document::Node force_of(const PullPath& path, const std::string& name);

// A pull in progress; part of the shared state.
struct MousePull {
    std::uint64_t number = 0;
    bool held = true;             // until Playback takes a Release
    bool kept = true;             // false: discarded on release
    render::Vec3 by{};            // m, the displacement of the mouse from `anchor`
    double speed = 1;             // simulated seconds per second; 0: as fast as possible
    std::int64_t start_step = 0;  // whole steps
    // Set by the runner, once the force acts:
    bool live = false;
    std::int64_t scene_point = -1;
    render::Vec3 anchor{};  // the point's position at start_step, m
    TrajectoryPointer trajectory{};
};

}  // namespace hindcast::session
