// Sensors of a model, as a kernel: what mjData.sensordata holds after a step, that is what they say of the
// state before it and of its accelerations.
//
// Simulated are jointpos, jointvel, ballquat, ballangvel, tendonpos, tendonvel, actuatorpos, actuatorvel,
// actuatorfrc, jointactuatorfrc, tendonactuatorfrc, magnetometer, accelerometer, velocimeter, gyro, all
// frame sensors on bodies, geoms and sites, subtreecom, subtreelinvel and subtreeangmom. A cutoff
// limits what a sensor says; noise is not added.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// A frame that a sensor is about.
struct SensedFrame {
    robot::ObjectType type{};  // body (its inertial frame), xbody, geom, site
    int number = 0, body = 0;
};

struct Sensor {
    std::string name;
    robot::SensorType type{};
    int object = 0;                // joint, tendon, actuator, body of a subtree
    SensedFrame frame, reference;  // of frame sensors and those on sites
    bool relative = false;         // to the reference
    int first = 0, count = 0;      // rows of sensordata
    double cutoff = 0;             // 0: none
    bool positive = false;         // never negative: the cutoff is only above
};

struct SensorPlan {
    std::vector<Sensor> sensors;
    std::array<double, 3> magnetic{};  // T
    int rows = 0;
    bool needs_accelerations = false;
    bool needs_geoms = false;
};

using SensorPointer = std::shared_ptr<const SensorPlan>;

// Those of these names, in this order. Throws Error, by name, for what is no sensor of the model and what
// is not simulated.
SensorPointer sensors_of(const robot::RobotModel& model, const std::vector<std::string>& names);

// The state, what follows from it and "qacc_sensed" (accelerations without what the integrator takes
// implicitly: m/s^2, rad/s^2) -> sensordata.
KernelDef sensors(const TreePointer& tree, const SensorPointer& plan);

}  // namespace hindcast::articulated
