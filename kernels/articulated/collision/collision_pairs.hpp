// The geoms of a robot that may touch: the pairs that MuJoCo would test, wherever the geoms are.
//
// Two geoms are a pair where their bits contype and conaffinity say so, unless their bodies are
// rigidly joined, or parent and child, or excluded, or neither can move; and where the model has a
// <pair> of them, whatever these say. Planes and height fields do not meet each other.
#pragma once

#include <vector>

#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

struct CollisionPair {
    int geom1 = 0, geom2 = 0;  // the lower type first; of equal types, the lower body
    int body1 = 0, body2 = 0;
    int predefined = -1;  // the number of its <pair>
    int condim = 3;
    double margin = 0, gap = 0;     // m; a contact pushes below the margin, and is there below both
    int first_slot = 0, slots = 0;  // of its contacts; no slots where there is no kernel for it
};

// Pairs whose geoms have the same types, by their numbers: one launch does all of them.
struct CollisionGroup {
    robot::GeomType first{}, second{};
    std::vector<int> pairs;
    int slots = 0;          // of each pair
    bool searched = false;  // for features that meet (narrow_phase.hpp)
};

struct Collisions {
    std::vector<CollisionPair> pairs;  // in the order in which MuJoCo takes them
    std::vector<CollisionGroup> groups;
    int slots = 0;  // of all
    std::vector<robot::ModelArray>
        hulls;              // what kernels of meshes read (engine/geometry/hulls.hpp)
    bool searches() const;  // for the features of any of the groups
};

// These pairs by types, with their slots one after another. `searched`: whether boxes are searched for with
// boxes, too, as general convex shapes.
std::vector<CollisionGroup> grouped(const robot::RobotModel& model,
                                    std::vector<CollisionPair>& pairs, bool searched = false);

// The pairs, also those that have no kernel.
std::vector<CollisionPair> candidate_pairs(const robot::RobotModel& model);

// Throws Error, by name and with a remedy, where geoms may touch whose contacts are not simulated.
Collisions collisions_of(const robot::RobotModel& model);

}  // namespace hindcast::articulated
