// Arrows that can be shown for a robot beside its bodies, computed only while they are shown: the
// forces of its contacts, the axes of its joints and sites.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast::articulated {

// Makes a launch whose arguments are those given, and the robot's arrays and numbers by their names.
using Launcher = std::function<Launch(const lang::KernelDef& kernel, const std::string& what,
                                      const std::vector<NamedArgument>& more, std::int64_t items)>;

// Arrows at places of their own:
//   contact force between bodies   N, on the second geom of each contact, at the begin of the last step
//   joint axis      of length 1, of each hinge and slide
//   site axis       of length 1, three of each site
// `acceleration`: that the constraints were solved for.
void publish_shown(model::Model& model, const std::string& owner, const TreePointer& tree,
                   const PlanPointer& plan, const Array& acceleration, const Launcher& launch);

}  // namespace hindcast::articulated
