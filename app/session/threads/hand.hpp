// A pull by hand (Grab, PullTo, Release): how stiff its spring is, and the force of the scene that
// it becomes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/session/frames/trajectory.hpp"
#include "engine/document/document.hpp"

namespace hindcast::session {

// The spring between the hand and a point of mass m, in a body whose free points weigh M together,
// in steps of h seconds:
//     w = min(10/s, 1/(4 h))      m_eff = min(M, m / (4 w h))      k = m_eff w^2      c = 2 m_eff w
// A body that is free to move follows the hand at the rate w without overshoot, whatever it weighs.
// The bounds keep semi-implicit Euler stable where the point is light beside its body: that takes
// h^2 k / m + 2 h c / m < 4, and here it is at most 17/16. Both are rounded to four digits.
struct HandSpring {
    double stiffness = 0;  // k, N/m
    double damping = 0;    // c, N s/m
};
HandSpring hand_spring(double point_mass, double body_mass, double step_seconds);

// A path of places, as it is written into the scene: rounded to seven digits, so that what runs
// live and what is read from the file are the same numbers.
double written_place(double metres);

// The point that a hand holds, and the way it went.
struct HandPath {
    std::string body;
    std::int64_t point = 0;  // of the body
    int dimension = 3;
    std::int64_t start_step = 0;                // whole steps
    std::vector<std::vector<double>> places{};  // m, one for each whole step from start_step on
    HandSpring spring{};
};
// The scene's force of module "pull".
document::Node force_of(const HandPath& path, const std::string& name);

// What the threads of a session share of a pull that goes on; part of the desk.
struct Hand {
    std::uint64_t number = 0;
    bool held = true;             // the front ends it
    bool kept = true;             // false: it is to leave no trace
    render::Vec3 by{};            // m, where the hand is from where the point was
    double speed = 1;             // simulated seconds per second; 0: as fast as possible
    std::int64_t start_step = 0;  // whole steps
    // From when it is felt on (`live`), of the runner:
    bool live = false;
    std::int64_t scene_point = -1;
    render::Vec3 anchor{};  // where the point was at start_step, m
    TrajectoryPointer trajectory{};
};

}  // namespace hindcast::session
