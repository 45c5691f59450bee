// The mass that a hand feels when it pulls a point of a robot's body.
#pragma once

#include <string>

#include "kernels/articulated/looks/shown.hpp"

namespace hindcast::articulated {

// A point feels, along a unit vector n, as heavy as 1 / (n . A n) with A = J M^-1 J^T, where J is its
// Jacobian and M the inertia matrix. Least is the inverse of the largest eigenvalue of A, all is what the
// bodies of its tree weigh together that move.
void publish_grips(model::Model& model, const std::string& owner, const TreePointer& tree,
                   const Launcher& launch);

}  // namespace hindcast::articulated
