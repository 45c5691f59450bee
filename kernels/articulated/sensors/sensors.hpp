// Sensors of a model, as a kernel: what mjData.sensordata holds after a step, that is what they say of the
// state before it and of its accelerations.
//
// Simulated are jointpos, jointvel, ballquat, ballangvel, tendonpos, tendonvel, actuatorpos, actuatorvel,
// actuatorfrc, jointactuatorfrc, tendonactuatorfrc, magnetometer, accelerometer, velocimeter, gyro, all
// frame sensors on bodies, geoms, sites and cameras that are fixed, subtreecom, subtreelinvel,
// subtreeangmom, touch, force, torque, rangefinders of sites, limits of joints and tendons, insidesite,
// camprojection, distance, normal, fromto, contact, energies and the clock. A cutoff limits what a sensor
// says; noise is not added. README.md says what of them is refused.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/dynamics/dynamics.hpp"
#include "kernels/articulated/sensors/distances.hpp"
#include "kernels/articulated/sensors/triangles.hpp"

namespace hindcast::articulated {

// A frame that a sensor is about.
struct SensedFrame {
    robot::ObjectType type{};  // body (its inertial frame), xbody, geom, site, camera
    int number = 0, body = 0;
    std::array<double, 3> position{};  // in the body, of a camera
    std::array<double, 4> orientation{};
};

// A camera that a site's picture is seen by: it looks along its third axis, backwards.
struct SensedCamera {
    // The placement: `fixed` has its frame's; `track` follows its body's place and `track_com` the
    // center of mass of the body and all that it carries, both without turning; `target` and
    // `target_com` have the frame's place and look at such a place of a body.
    enum Mode : std::uint8_t { fixed, track, track_com, target, target_com } mode = fixed;
    SensedFrame frame;
    int target_body = -1;
    std::array<double, 3> offset{};           // of one that tracks, in the world
    std::array<double, 9> axes{};             // of one that tracks, row by row
    std::array<double, 2> focal{}, middle{};  // pixels
};

// The object that a side of a contact must belong to; for a site, where the contact must be.
struct ContactSide {
    robot::ObjectType
        type{};  // geom, body, xbody (with all that it carries), site; others: anything
    int number = 0;
    std::vector<int> bodies;  // of a body
    bool any() const { return type != robot::ObjectType::geom && bodies.empty(); }
};

// The parts of a geom that a ray may meet: its shape, or triangles; for a height field the
// triangles on top and at the sides, and the box below.
struct SeenGeom {
    SensedFrame frame;
    robot::GeomType type{};
    TriangleRange triangles;
    std::array<double, 4> field{};  // half lengths along x and y, height, depth
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
    int first_side = 0, end_side = 0;  // of a site that is a mesh: SensorPlan::sides
    ContactSide
        sides[2];      // of a sensor of contacts; the first one may be a site, which is its frame
    int contacts = 1;  // how many it tells of
    bool needs_forces = false;  // of contacts
    unsigned data = 0;          // the selected values: MuJoCo's bits
    enum Reduce : std::uint8_t { none, least_distance, most_force, net_force } reduce = none;
    std::vector<SeenGeom> seen;  // that a rangefinder may meet
    DistanceSlots near;          // of distance, normal and fromto
    SensedCamera camera;
};

struct SensorPlan {
    std::vector<Sensor> sensors;
    std::array<double, 3> magnetic{};  // T
    int rows = 0;
    bool needs_accelerations = false;
    bool needs_geoms = false;
    bool needs_rows = false;       // forces of constraints
    std::vector<int> load_bodies;  // bodies whose loads are sensed, each once
    Distances distances;
    Triangles triangles;
    std::vector<double>
        sides;  // of convex hulls, x 4: a normal outwards, and how far along it a side lies, m
    std::vector<std::int64_t> pair_order;  // contact_sensors.hpp; empty if it does not count
};

using SensorPointer = std::shared_ptr<const SensorPlan>;

// Those of these names, in this order. Throws Error with the name if the model has no such sensor,
// or if the sensor is not simulated.
SensorPointer sensors_of(const robot::RobotModel& model, const std::vector<std::string>& names);

// The state, what follows from it, "qacc_sensed" (accelerations without what the integrator takes
// implicitly: m/s^2, rad/s^2) and forces of constraints -> sensordata. `first`: the number of the robot's
// first point.
KernelDef sensors(const TreePointer& tree, const PlanPointer& constraints,
                  const SensorPointer& plan, SceneForces scene, std::int64_t first);

}  // namespace hindcast::articulated
