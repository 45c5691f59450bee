// Frictions of two geoms that may touch: a contact takes the larger number, which is a kink where they
// are equal.
#pragma once

#include <memory>

#include "engine/model/model.hpp"
#include "engine/robot/robot_model.hpp"
#include "kernels/articulated/constraints/constraint_plan.hpp"

namespace hindcast::articulated {

// Tells model::Kinks of those of this quantity, NAME.geom_friction.
void tell_equal_frictions(model::Model& model, const model::Quantity& friction,
                          std::shared_ptr<const robot::RobotModel> robot, PlanPointer plan);

}  // namespace hindcast::articulated
