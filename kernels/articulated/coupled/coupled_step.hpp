// The launches of a robot's step in a minimization with soft bodies (coupled.hpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/looks/shown.hpp"

namespace hindcast::articulated {

class CoupledStep {
public:
    CoupledStep(TreePointer tree, PlanPointer plan, Launcher launch);

    // Makes the robot a part of the scene's minimization, as `name`. `first`: the number of its first
    // point in the scene; `arguments`: its arrays and numbers by their names, those of
    // constraint_terms.hpp among them.
    void couple(model::Model& model, const std::string& name, std::int64_t first,
                const std::map<std::string, Argument>& arguments);
    // The launches between the rows of constraints and the minimization.
    std::vector<Launch> begin() const;
    // The minimum that was found, as accelerations.
    Launch acceleration() const;

private:
    TreePointer tree_;
    PlanPointer plan_;
    Launcher launch_;
    std::map<std::string, Array> arrays_;  // y, place; of single bodies: smooth, solved, free_force
};

}  // namespace hindcast::articulated
