// Sensors of contacts: of those between two sides the first ones, the nearest, those with the most force, or
// one that stands for all of them.
#pragma once

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/sensors/sensor_frames.hpp"

namespace hindcast::articulated {

// In which order MuJoCo has the contacts of a model, three numbers of each pair: where those of the pair
// begin, their first slot, and 1 if the lowest corners of a box on a plane come by their numbers. Pairs of the
// same bodies are sorted by the numbers of their geoms, after the model's own pairs; without the flag midphase
// they are not.
std::vector<std::int64_t> pair_order(const robot::RobotModel& model);

// A force or moment in the world's axes, from the numbers first to first + 2 in a contact's frame.
Vec3 in_world(const Mat3& frame, const Six& local, int first);

class ContactSensors {
public:
    ContactSensors(const Tree& tree, const ConstraintPlan& plan, const Sources& from,
                   const SensorFrames& frames)
        : t_(tree), p_(plan), from_(from), frames_(frames) {}

    // The values that the sensor's bits select, for one contact after another: the number of
    // matching contacts, force and moment, distance, place, normal, tangent, and the velocity and
    // spin of the second body as seen from the first; zeros for missing contacts.
    std::vector<Float> told(const Sensor& s) const;

private:
    // The match of a slot's contact; the sign is -1 if it matches with its sides exchanged.
    struct Match {
        Vec<Int, 7> pair;
        Float sign;
        Bool is;
    };
    Match match(const Sensor& s, const Int& slot) const;
    // Contacts come in MuJoCo's order where this is less.
    Int order(const Match& m, const Int& slot) const;
    std::vector<Float> chosen(const Sensor& s) const;
    std::vector<Float> net(const Sensor& s) const;
    // The motion of a body of a pair, at this place.
    Motion motion_of(const Int& body, const Vec3& place) const;

    const Tree& t_;
    const ConstraintPlan& p_;
    const Sources& from_;
    const SensorFrames& frames_;
};

}  // namespace hindcast::articulated
