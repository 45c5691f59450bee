// Sensors that tell of constraints, contacts and what holds a body: forces between bodies, touch, limits. Contacts are
// told of by contact_sensors.hpp.
//
// The force with which the parent of a body holds it is what the body and all that it carries need for their
// accelerations, less what else acts on them from outside: contacts, connects and welds, tendons in space, forces
// of the scene. Other actuators and gravity compensation count as what holds it, as MuJoCo has it.
#pragma once

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/sensors/sensors.hpp"
#include "kernels/articulated/sensors/sources.hpp"

namespace hindcast::articulated {

class ConstraintSensors {
public:
    // `scene`: the scene has forces on points, the first of which is number `first`.
    ConstraintSensors(const Tree& tree, const ConstraintPlan& plan, const SensorPlan& sensors,
                      const Sources& from, SceneForces scene, std::int64_t first)
        : t_(tree), p_(plan), s_(sensors), from_(from), scene_(scene), first_(first) {}

    // On this body, about this place, N m and N; `accelerations` are those of all bodies, less gravity.
    Force load(int body, const Vec3& place, const std::vector<Motion>& accelerations) const;
    // The sum of the normal forces of contacts on a site's body whose line meets the site: N.
    Float touch(const Sensor& s, const Vec3& place, const Mat3& axes) const;
    // The active limit of a joint or tendon: the distance to its margin, its rate, or its force; 0
    // if none is active.
    Float joint_limit(const Sensor& s) const;
    Float tendon_limit(const Sensor& s) const;

private:
    Vec3 root(int body) const { return from_.xpos[t_.bodies[at(body)].root]; }
    bool carries(int ancestor, int body) const;
    Force of_contacts(int body, const Vec3& place) const;
    Force of_equalities(int body, const Vec3& place) const;
    Vec3 weld_moment(const EqualityRow& e, const Vec<Float, 12>& data) const;
    Force of_scene(int body, const Vec3& place) const;
    Float row_force(int row) const;
    Float row_velocity(int row) const;

    const Tree& t_;
    const ConstraintPlan& p_;
    const SensorPlan& s_;
    const Sources& from_;
    SceneForces scene_;
    std::int64_t first_;
};

}  // namespace hindcast::articulated
