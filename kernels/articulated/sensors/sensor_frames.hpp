// Frames that sensors are about, at an instant.
#pragma once

#include <vector>

#include "kernels/articulated/sensors/sensors.hpp"
#include "kernels/articulated/sensors/sources.hpp"

namespace hindcast::articulated {

// Place and motion of a frame, in the world's axes.
struct FrameNow {  // NOLINT: assigning records, so it may throw
    Vec3 place;
    Quat turn;
    Vec3 velocity, spin;
    Vec3 acceleration, spin_rate;  // less gravity, as in a frame that falls
};

class SensorFrames {
public:
    // `accelerations`: of all bodies, less gravity; or none.
    SensorFrames(const Tree& tree, const Sources& from, std::vector<Motion> accelerations)
        : t_(tree), from_(from), accelerations_(std::move(accelerations)) {}

    FrameNow now(const SensedFrame& frame) const;
    // Mass and center of mass of a body's subtree; without mass the body's own center.
    struct Subtree {
        std::vector<int> bodies;
        Float mass;  // 1 where there is none
        Vec3 center;
    };
    Subtree subtree(int body) const;
    // True if a point lies in the sensor's site, which stands here.
    Bool holds(const Sensor& s, const FrameNow& site, const Vec3& point) const;
    // The velocity of a body's point at this place.
    Vec3 velocity_of(int body, const Vec3& place) const;
    const std::vector<Motion>& accelerations() const { return accelerations_; }

private:
    Vec3 root(int body) const { return from_.xpos[t_.bodies[at(body)].root]; }

    const Tree& t_;
    const Sources& from_;
    std::vector<Motion> accelerations_;
};

}  // namespace hindcast::articulated
