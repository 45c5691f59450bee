// The response "barrier": contact with planes and spheres as an energy, for implicit integrators.
//
// Barrier. With d the distance of a point at the end of the step, d^ the barrier's reach:
//     E = k b(d),   b = -(d - d^)^2 log(d / d^) for 0 < d < d^, 0 beyond
// (Li et al. 2020, there with squared distances). It is twice continuously differentiable and has no
// value for d <= 0; no step of the minimisation goes farther than nine tenths of the way there. The
// normal force is N = -k b'(d). Obstacles move by their velocity, in a step no farther than d^ (more
// is an error): points within reach go with them before the minimum is looked for.
//
// Friction by an anchored elastic bristle. z is how far it is bent, N the normal force and n the
// normal at the end of the last step, u the tangential way in this step relative to the obstacle, s
// the bristle's stiffness and r = mu N / s:
//     E = s/2 |z + u|^2 where |z + u| <= r, else s r |z + u| - s/2 r^2
// and then z <- (z + u) min(1, r / |z + u|), turned into the new tangent plane. It is zero where there
// was no contact. What friction can hold is held: it does not creep.
#pragma once

#include <string>

#include "engine/model/model.hpp"

namespace hindcast::barrier {

struct Obstacle {
    std::string name;
    bool plane = true;
    model::Range range;                   // of the points that it meets
    model::Quantity* vector = nullptr;    // normal or centre, shared
    model::Quantity* number = nullptr;    // offset or radius
    model::Quantity* velocity = nullptr;  // null: it rests; of translation
    model::Quantity* stiffness = nullptr;
    model::Quantity* distance = nullptr;           // d^
    model::Quantity* friction = nullptr;           // mu; null: none
    model::Quantity* bristle_stiffness = nullptr;  // s; null: k
};

// Adds the energies and, with friction, what is kept from step to step: the arrays "NAME: normal
// force", "NAME: normal" and "NAME: bristle", one element per point of the range.
void meet(model::Model& model, const Obstacle& obstacle);

}  // namespace hindcast::barrier
