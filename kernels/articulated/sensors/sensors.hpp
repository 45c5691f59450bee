// Sensors of a model, as a kernel: what mjData.sensordata holds after a step, that is what they say of the
// state before it and of its accelerations.
//
// Simulated are jointpos, jointvel, ballquat, ballangvel, tendonpos, tendonvel, actuatorpos, actuatorvel,
// actuatorfrc, jointactuatorfrc, tendonactuatorfrc, magnetometer, accelerometer, velocimeter, gyro, all
// frame sensors on bodies, geoms and sites, subtreecom, subtreelinvel, subtreeangmom, touch, force, torque,
// rangefinders of sites, limits of joints and tendons, insidesite, energies, the clock and one contact out of
// several, or their sum. A cutoff limits
// what a sensor says; noise is not added.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// A frame that a sensor is about.
struct SensedFrame {
    robot::ObjectType type{};  // body (its inertial frame), xbody, geom, site
    int number = 0, body = 0;
};

// What a contact has to be of.
struct ContactSide {
    robot::ObjectType type{};  // geom, body, xbody (with all that it carries); others: anything
    int number = 0;
    std::vector<int> bodies;  // of a body
    bool any() const { return type != robot::ObjectType::geom && bodies.empty(); }
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
    robot::GeomType shape{};       // of the site that a touch sensor or insidesite is about
    std::array<double, 3> size{};
    ContactSide sides[2];  // of a sensor of contacts
    unsigned data = 0;     // what it says: MuJoCo's bits
    enum Reduce : std::uint8_t { none, least_distance, most_force, net_force } reduce = none;
    std::vector<SensedFrame> seen;  // geoms that a rangefinder may meet
    std::vector<robot::GeomType> seen_types;
};

struct SensorPlan {
    std::vector<Sensor> sensors;
    std::array<double, 3> magnetic{};  // T
    int rows = 0;
    bool needs_accelerations = false;
    bool needs_geoms = false;
    bool needs_rows = false;       // forces of constraints
    std::vector<int> load_bodies;  // bodies whose loads are sensed, each once
};

using SensorPointer = std::shared_ptr<const SensorPlan>;

// Those of these names, in this order. Throws Error, by name, for what is no sensor of the model and what
// is not simulated.
SensorPointer sensors_of(const robot::RobotModel& model, const std::vector<std::string>& names);

// The state, what follows from it, "qacc_sensed" (accelerations without what the integrator takes
// implicitly: m/s^2, rad/s^2) and forces of constraints -> sensordata. `first`: the number of the robot's
// first point.
KernelDef sensors(const TreePointer& tree, const PlanPointer& constraints,
                  const SensorPointer& plan, SceneForces scene, std::int64_t first);

}  // namespace hindcast::articulated
