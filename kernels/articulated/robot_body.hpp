// The arrays and launches of one articulated body.
//
// At the start of a step the arrays that place the bodies (kinematics.hpp) are those of the state; a
// step accelerates, moves the state, and places them anew.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/coupled/coupled_step.hpp"
#include "kernels/articulated/derived/derived_constants.hpp"
#include "kernels/articulated/derived/geom_inertia.hpp"
#include "kernels/articulated/dynamics/step.hpp"
#include "kernels/articulated/sensors/sensors.hpp"

namespace hindcast::articulated {

// The numbers of a model that have a gradient, by MuJoCo's names. Those of things that a model does
// not have are missing.
using Given = std::map<std::string, Argument, std::less<>>;

class RobotBody {
public:
    // `first`: the number of the body's first point in the scene. Arrays are published as NAME.qpos
    // and so on.
    // A body with "dof_coulomb" has dry friction.
    RobotBody(model::Model& model, std::string name, TreePointer tree, PlanPointer plan,
              Given given, std::int64_t first);
    // Takes masses, centers of mass and inertias from these numbers (derived/pseudo_inertia.hpp), before
    // derive(). `iquat`: the axes that sensors mean by a body's inertial frame.
    void take_pseudo_inertia(const Argument& numbers, const std::vector<std::int64_t>& has_mass,
                             const std::vector<double>& iquat);
    // Takes them from the geoms (derived/geom_inertia.hpp), before derive().
    void take_geom_inertia(const GeomInertiasPointer& inertias, const std::vector<double>& iquat);
    // Derives inverse weights that constraints need and that are not given, and, if `equalities`, what of
    // "eq_data" follows from the others. Adds this to the prologue.
    void derive(const ReferencePose& pose, bool equalities);
    // Publishes these as NAME.sensordata, of the state at the start of each step and its accelerations.
    void sense_with(SensorPointer sensors);
    // Makes the arrays, and adds the start to the prologue and the energies.
    void build();
    // Adds the step to the phases, once it is known whether the scene has controllers and forces:
    // `control` replaces the constant one.
    void finish(const std::optional<Array>& control);
    // The launches that place bodies and points as in the state.
    std::vector<Launch> placed() const;
    // The launches that write the bodies' places and orientations for `qpos` to `xpos` and `xquat`
    // (Robot::placed_as).
    std::vector<Launch> placed_as(const Array& qpos, const Array& xpos, const Array& xquat) const;

private:
    // A state and what follows from it; a Runge-Kutta method has one for each stage.
    using Stage = std::map<std::string, Array, std::less<>>;
    void add_inertias(const std::vector<double>& iquat);
    Stage make_stage(bool published);
    Launch launch(const lang::KernelDef& kernel, const Stage& stage, const std::string& what,
                  const std::vector<NamedArgument>& more = {}, std::int64_t items = 1) const;
    Launcher launcher() const;  // with the arrays of the state
    Array array_of(const std::vector<double>& values, int columns) const;
    Launch copied(const Argument& from, const Array& to, const std::string& what) const;
    std::vector<Launch> place(const Stage& stage) const;
    std::vector<Launch> accelerate(const Stage& stage) const;
    std::vector<Launch> find_forces(const Stage& stage) const;
    std::vector<Launch> find_rows(const Stage& stage) const;
    Launch constrain(const Stage& stage) const;
    // The arrays of constraint_terms.hpp.
    std::map<std::string, Array> constraint_arrays(const Stage& stage) const;
    std::vector<Launch> collide(const Stage& stage) const;
    // The launches that find where the geoms of these pairs meet.
    std::vector<Launch> meet(const std::vector<CollisionPair>& list,
                             const std::vector<CollisionGroup>& groups, const Stage& stage) const;
    void make_constants();
    Launch follow() const;
    std::vector<Launch> sense();
    // Distances that sensors tell of; adds to `found` what the kernel of sensors reads of them.
    std::vector<Launch> find_distances(const Stage& stage, std::vector<NamedArgument>& found) const;
    void step();
    void publish_energies();
    void publish_all_shown();

    model::Model& model_;
    std::string name_;
    TreePointer tree_;
    PlanPointer plan_;
    SensorPointer sensors_;
    Given given_;
    std::int64_t first_;
    Stage constants_;  // integers and numbers of constraints that never change
    Stage now_;
    std::optional<CoupledStep> coupled_;  // where points move to the minimum of energies
    SceneForces forces_;
};

// The forces that the integrator takes implicitly.
Implicit implicit_of(const Tree& tree);
// The array of the accelerations that constraints are solved for, and start from in the next step.
const char* solved_by(const Tree& tree);

// 1 where a degree of freedom moves a body: bodies x dofs.
Array moving_dofs(const model::Model& model, const Tree& tree);

// The places (m) of the points of a tree at qpos, 3 numbers each, without a scene.
std::vector<double> points_at(const TreePointer& tree, const robot::RobotModel& model,
                              const std::vector<double>& qpos);

}  // namespace hindcast::articulated
