// A point and a geom of a rigid body, each moved by the other: the barrier between them, and friction.
//
// An item names a point and the four points of the body's frame (engine/runtime/minimization/energy/
// carrier.hpp): the place x0 and the ends x1, x2, x3 of its axes. With R = (x1 - x0, x2 - x0, x3 - x0)
// the point is at s = R^T (x - x0) in the body's frame, where the geom rests. In this frame
//   barrier    E = k b(d), d the distance of s from the geom (kernels/colliders/barrier.hpp)
//   friction   u = s - s_n is the point's way in a step from s_n, t its part across the normal at
//              the end of the last step, N the normal force then, z the bristle:
//                  E = w/2 |z + t|^2 where |z + t| <= r = mu N / w, else w r |z + t| - w/2 r^2
// so a body that carries a point along is no slip. Parameters of the kernels, besides those of
// energies:
//   geom                          items, i32: the geom's number in its model
//   geom_pos, geom_quat, geom_size    the model's numbers of geoms
//   stiffness, reach, friction, bristle_stiffness     k, d^, mu, w
//   normal_force, normal, bristle, local_start        items: N, n, z and s_n
#pragma once

#include "engine/geometry/kinds/shape_kind.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"

namespace hindcast::contact {

using geometry::ShapeKind;

EnergyKernels barrier_energy(ShapeKind kind);
EnergyKernels friction_energy();
// The part of the points' ways after which a tenth of the distance is left.
lang::KernelDef step_limit(ShapeKind kind);

// "point", "body" (items), x, xpos, xquat -> local_start.
lang::KernelDef begin_slip();
// The same -> normal_force, normal, bristle, at the end of a step.
lang::KernelDef keep_friction(ShapeKind kind);
// -> normal_force = 0.
lang::KernelDef begin_friction();
// Adds the forces on points in the present state to "contact_force"; with `friction` those of bristles
// too.
lang::KernelDef force_on_points(ShapeKind kind, bool friction);

}  // namespace hindcast::contact
