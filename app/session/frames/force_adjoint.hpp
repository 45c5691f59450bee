// The derivative of the loss with respect to a force on each point that acts for one step, computed
// from the adjoints of the state at the boundaries of steps.
//
// Points move by v' = v + h (g + f / m), x' = x + h v', in each of a whole step's n substeps. A
// force df that is added to f in substep t changes v' by (h / m) df and x' by h times that. If
// nothing later in the substep acts on v' or x', they are the state at the boundary t + 1, so
//     dL/df_t = (h / m) (dL/dv_{t+1} + h dL/dx_{t+1}),      dL/df = sum of dL/df_t over the step.
#pragma once

#include "app/session/frames/trajectory.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

class ForceAdjoint {
public:
    // True if this simulation's points move that way: no constraint acts on velocities, and nothing
    // acts at the end of the step.
    static bool holds_for(model::Model& model);

    // For a simulation whose run was kept, during its backward().
    explicit ForceAdjoint(model::Model& model);
    // Call it at each boundary after a substep, going backward: adds that substep's part.
    void add();
    // dL/df of the whole step that begins at this boundary, 1/N: points x dimension numbers of the
    // run's real type. Zero after the last step. Starts the sum of the next step.
    Array take();

private:
    Array position_, velocity_;  // their gradients
    std::vector<double> inverse_mass_, sum_;
    double step_ = 0;
    ir::Type type_ = ir::Type::f32;
    std::vector<std::int64_t> shape_;
};

}  // namespace hindcast::session
