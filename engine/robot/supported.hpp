// Support of robot models: features that Hindcast simulates, features that it leaves out because
// they concern only looks, and features that it rejects because they would change the robot's
// motion.
//
// Supported: free, ball, slide and hinge joints with linear springs, linear damping, armature,
// friction loss, limits and gravity compensation; actuators with fixed or affine gain and affine
// bias, without activation, as integrators and as filters, on joints, tendons and sites; connect,
// weld and joint equalities; fixed and spatial tendons; contact of all geoms but signed
// distance fields, with exclude and pair; mocap bodies, keyframes and sensors. README.md has the list with MuJoCo's names.
#pragma once

#include <string>
#include <vector>

#include "engine/robot/robot_model.hpp"

namespace hindcast::robot {

struct Refusal {
    std::string happened;  // "actuator 'biceps' is a muscle, which is not supported"
    std::string remedy;    // an alternative
};

struct Support {
    std::vector<std::string> notes;  // "3 lights are for looks only"
    std::vector<Refusal> refusals;   // in the order of the model's parts
};

// The numbers of the geoms that may touch others: by contype and conaffinity, or in a pair.
std::vector<int> colliding_geoms(const RobotModel& model);

Support support_of(const RobotModel& model);

// Throws Error with the first refusal, the others as notes, where there is any.
void require_none(const std::vector<Refusal>& refusals);
void require_supported(const RobotModel& model);  // none in support_of()

}  // namespace hindcast::robot
