// Forces of tendons in space on bodies, for sensors of forces between bodies: along the path's straight pieces,
// at the places of their ends, also where it meets and leaves what it goes around.
#pragma once

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/sensors/sources.hpp"

namespace hindcast::articulated {

class TendonLoads {
public:
    TendonLoads(const Tree& tree, const ConstraintPlan& plan, const Sources& from)
        : t_(tree), p_(plan), from_(from) {}

    // On this body and all that it carries, about a place: N m, N.
    Force load(int body, const Vec3& place) const;

private:
    // The force along the length of springs, dampers, actuators, limits, friction loss, equalities
    // and armature, N; positive if it lengthens the tendon.
    Float tension(int tendon) const;
    Float of_rows(int tendon) const;
    Vec3 site(int number) const;

    const Tree& t_;
    const ConstraintPlan& p_;
    const Sources& from_;
};

}  // namespace hindcast::articulated
