// The response "barrier": contact with obstacles (obstacle.hpp) as an energy, for implicit
// integrators.
//
// Barrier. With d the distance of a point at the end of the step, d^ the barrier's reach:
//     E = k b(d),   b = -(d - d^)^2 log(d / d^) for 0 < d < d^, 0 beyond
// (Li et al. 2020, there with squared distances). It is twice continuously differentiable and has
// no value for d <= 0; no step of the minimization goes farther than nine tenths of the way there.
// The normal force is N = -k b'(d). Points that a moving obstacle would overrun are moved out of
// its way before the minimization starts: room.hpp. In a step an obstacle moves and turns no
// farther than d^ (more is an error).
//
// Friction, with N the normal force and n the normal at the end of the last step, both turned with
// the obstacle, and u the tangential way in this step relative to the obstacle:
//   bristle   z is how far an anchored elastic bristle is bent, s its stiffness and r = mu N / s:
//                 E = s/2 |z + u|^2 where |z + u| <= r, else s r |z + u| - s/2 r^2
//             and then z <- (z + u) min(1, r / |z + u|), in the new tangent plane. It is zero if
//             there was no contact, and turns with the obstacle. A point that friction can hold
//             does not creep.
//   smoothed  with y = |u| / (v h) and v the slip speed:
//                 E = mu N v h F(y),   F' = 2 y - y^2 for y < 1, 1 beyond
//             A held point creeps: on an incline of the angle a at v (1 - sqrt(1 - tan(a) / mu)).
#pragma once

#include <string>

#include "engine/model/model.hpp"
#include "kernels/colliders/obstacle.hpp"

namespace hindcast::barrier {

// The numbers of an obstacle; null if its kind has none.
struct Numbers {
    model::Quantity* place = nullptr;        // normal, center, one end or a grid's first node
    model::Quantity* extent = nullptr;       // the other end or half extents
    model::Quantity* size = nullptr;         // offset or radius
    model::Quantity* orientation = nullptr;  // rad, or a quaternion (w, x, y, z); null: none
    model::Quantity* samples = nullptr;      // of a distance field
};

// An obstacle and the points that meet it.
struct Meeting {
    std::string name;
    Form form;  // its kind, and the grid of a distance field; meet() fills in the rest
    Numbers numbers;
    model::Range range;                           // of the points that it meets
    model::Quantity* velocity = nullptr;          // m/s; null: none
    model::Quantity* angular_velocity = nullptr;  // rad/s, about the center; null: none
    model::Quantity* stiffness = nullptr;
    model::Quantity* distance = nullptr;           // d^
    model::Quantity* friction = nullptr;           // mu; null: none
    model::Quantity* bristle_stiffness = nullptr;  // s; null: k
    model::Quantity* slip_speed = nullptr;         // v; null: bristle
};

// Adds the energies and, with friction, the state that friction keeps from step to step: the arrays
// "NAME: normal force", "NAME: normal" and, with bristles, "NAME: bristle", one element per point
// of the range.
void meet(model::Model& model, const Meeting& meeting);

// barrier_energy and barrier_force, for use without a scene.
void publish_kernels(Registry& registry);

}  // namespace hindcast::barrier
