// The time step against the limits of a contact by penalty, for points of mass m:
//     normal force    h^2 k/m + 2 h c/m < 4      (symplectic Euler, as for a spring)
//     friction        h mu N / (m slip_speed) < 2, since below slip_speed it is a damper of
//                     mu N / slip_speed in an explicit step
// With gravity g the normal force of a point at rest is N = m |g.n|; in motion N is the contact's.
#pragma once

#include <string>

#include "engine/model/model.hpp"

namespace hindcast {

struct PenaltyContact {
    std::string name, pointer;
    bool plane = true;
    model::Range range;                      // of its points
    const model::Quantity* place = nullptr;  // normal or center
    const model::Quantity* size = nullptr;   // offset or radius
    const model::Quantity* stiffness = nullptr;
    // Null: none.
    const model::Quantity *damping = nullptr, *friction = nullptr, *slip_speed = nullptr;
};

// Warns at load, and looks at the state while the scene runs. For build().
void check_penalty(model::Model& model, const PenaltyContact& contact);

}  // namespace hindcast
