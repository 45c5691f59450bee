// The derivative of the loss with respect to a force on each point that is held for one step, from
// the adjoints of the state at the boundaries of steps.
//
// Points move by v' = v + h (g + f / m), x' = x + h v', in each of a whole step's n substeps. A
// force df that is added to f in substep t changes v' by (h / m) df and x' by h times that. With
// nothing between and after that acts on v' or x', both are the state at the boundary t + 1, so
//     dL/df_t = (h / m) (dL/dv_{t+1} + h dL/dx_{t+1}),      dL/df = sum of dL/df_t over the step.
#pragma once

#include "app/session/frames/trajectory.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

class ForceAdjoint {
public:
    // Whether that is how this simulation's points move: no constraint acts on velocities, and no
    // rule at the end of the step.
    static bool holds_for(model::Model& model);

    // For a simulation whose run was kept, and whose backward() goes on.
    explicit ForceAdjoint(model::Model& model);
    // At the boundary after a substep, going back: adds what belongs to that substep.
    void add();
    // dL/df of the whole step that begins at this boundary, 1/N: points x dimension numbers of the
    // run's real type. Zero after the last step. The next step's sum begins.
    Array take();

private:
    Array position_, velocity_;  // their gradients
    std::vector<double> inverse_mass_, sum_;
    double step_ = 0;
    ir::Type type_ = ir::Type::f32;
    std::vector<std::int64_t> shape_;
};

}  // namespace hindcast::session
