// Grips: data for pulling points of a body that are not particles, such as those of a robot's
// bodies: a hand that takes one must know how heavy it feels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::model {

struct GripMasses {
    double least =
        0;  // kg: the effective mass of the point in the direction in which it is least; 0:
            // nothing can move it
    double all = 0;  // kg: of all that moves with it, at most
};

struct Grips {
    // The row of the DrawnBody that each point of the owner is on.
    std::vector<std::int64_t> body_of;
    // The masses of a point of the owner, in the state as it is.
    std::function<GripMasses(std::int64_t point)> masses;
};

void publish_grips(Model& model, const std::string& owner, Grips grips);
// Null: the owner's points are particles.
const Grips* grips_of(Model& model, const std::string& owner);

}  // namespace hindcast::model
