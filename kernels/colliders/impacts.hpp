// The position update of points that meet obstacles within the step: x <- x + h v, with impacts at
// their times (impact.hpp has the effect of an impact).
//
// Impacts of a point are taken in the order of their times, ties in the order of the colliders in the
// scene. More than most_impacts in one step are an error that names the point.
#pragma once

#include <optional>
#include <vector>

#include "kernels/particles/particles.hpp"

namespace hindcast::impact {

inline constexpr int most_impacts = 8;

// An obstacle: the half-space n.x >= offset or the outside of a ball, moving with a velocity of its
// own. Quantities are shared values of the scene; a null one is 0.
struct Surface {
    bool plane = true;
    model::Range range;                      // of the points that meet it
    const model::Quantity* place = nullptr;  // normal, or center at time 0
    const model::Quantity* size = nullptr;   // offset at time 0, or radius
    const model::Quantity *velocity = nullptr, *restitution = nullptr, *friction = nullptr,
                          *rest_speed = nullptr;
};

// Points that meet each other: all pairs of a range, as balls of their radii (array "radius", m) and
// masses, without spin. Quantities as above.
struct Pairs {
    model::Range range;
    const model::Quantity *restitution = nullptr, *friction = nullptr, *rest_speed = nullptr;
};

// All impacts of a model; Model::shared() holds them.
struct Impacts {
    std::vector<Surface> surfaces;
    std::optional<Pairs> pairs;
};

// The position update with impacts, for obstacles that all points meet.
void publish_kernels(Registry& registry);
// Adds an obstacle; modules call it in build().
void meet(model::Model& model, const Surface& surface);
// The same for pairs, at most once.
void meet_each_other(model::Model& model, const Pairs& pairs);

}  // namespace hindcast::impact
