// The launches of a robot's accelerations: forces, rows of constraints, and the solve.
#include "kernels/articulated/collision/narrow_phase.hpp"
#include "kernels/articulated/constraints/constraint_rows.hpp"
#include "kernels/articulated/constraints/constraint_solver.hpp"
#include "kernels/articulated/constraints/contact_rows.hpp"
#include "kernels/articulated/constraints/soft_rows.hpp"
#include "kernels/articulated/dynamics/applied.hpp"
#include "kernels/articulated/robot_body.hpp"

namespace hindcast::articulated {

using robot::IntegratorType;

Implicit implicit_of(const Tree& t) {
    if (t.integrator == IntegratorType::rk4) return Implicit::nothing;
    if (t.integrator == IntegratorType::implicitfast) return Implicit::fast;
    if (t.integrator == IntegratorType::discrete) return Implicit::step_map;
    return t.damping_is_implicit ? Implicit::damping : Implicit::nothing;
}

const char* solved_by(const Tree& t) {
    return implicit_of(t) == Implicit::nothing ? "qacc" : "qacc_constrained";
}

std::vector<Launch> RobotBody::find_forces(const Stage& stage) const {
    std::vector<Launch> all = {launch(inertia(tree_), stage, "inertia matrix"),
                               launch(bias(tree_), stage, "bias force")};
    if (forces_.applied)
        all.push_back(launch(applied_force(tree_, first_), stage, "forces on its points"));
    all.push_back(launch(passive(tree_, forces_), stage, "passive forces"));
    if (!tree_->actuators.empty()) all.push_back(launch(actuation(tree_), stage, "actuators"));
    if (implicit_of(*tree_) == Implicit::step_map)
        all.push_back(launch(discrete_step_map(tree_, forces_.coulomb), stage, "step map"));
    return all;
}

std::vector<Launch> RobotBody::accelerate(const Stage& stage) const {
    const Implicit implicit = implicit_of(*tree_);
    std::vector<Launch> all = find_forces(stage);
    if (plan_->empty()) {
        all.push_back(launch(acceleration(tree_, implicit, forces_), stage, "acceleration"));
        return all;
    }
    for (const Launch& l : find_rows(stage)) all.push_back(l);
    all.push_back(constrain(stage));
    if (implicit != Implicit::nothing) {
        const HoldingRows rows = plan_->holding();
        all.push_back(launch(acceleration(tree_, implicit, forces_, &rows), stage, "acceleration"));
    }
    return all;
}

std::vector<Launch> RobotBody::find_rows(const Stage& stage) const {
    const Array &solved = stage.at(solved_by(*tree_)), &first = now_.at(solved_by(*tree_));
    std::vector<Launch> all;
    if (tree_->integrator != IntegratorType::discrete)
        all.push_back(launch(smooth_force(tree_), stage, "force"));
    // The search starts from the accelerations of the step before; of later stages, of the first one.
    if (!first.same_memory(solved)) all.push_back(copied(first, solved, "start of the search"));
    const RowSizes sizes = plan_->sizes(tree_->nv);
    const int dof_frictions = plan_->dof_frictions(), tendon_frictions = plan_->tendon_frictions();
    const auto rows = [&](const auto& kernel, const auto& names, int begin, std::int64_t count,
                          const std::string& what) {
        if (count > 0)
            all.push_back(launch(kernel(names, plan_->springs, begin), stage, what, {}, count));
    };
    if (sizes.dof_rows > 0)
        all.push_back(launch(dof_motions(plan_), stage, "motions along limits of joints"));
    rows(friction_rows, dof_friction, 0, dof_frictions, "friction of joints");
    rows(limit_rows, dof_limit, dof_frictions, sizes.dof_rows - dof_frictions, "limits of joints");
    if (!plan_->coupled.empty())
        all.push_back(launch(coupled_rows(tree_, plan_), stage, "couplings of joints"));
    if (!plan_->equalities.empty())
        all.push_back(launch(equality_rows(tree_, plan_), stage, "equalities"));
    if (!plan_->balls.empty())
        all.push_back(launch(ball_rows(tree_, plan_), stage, "limits of ball joints"));
    if (!plan_->tendons.empty()) {
        const auto count = static_cast<int>(plan_->tendons.size());
        all.push_back(launch(tendon_motions(tree_, plan_), stage, "motions along tendons"));
        rows(friction_rows, tendon_friction, plan_->tendons.front().row, tendon_frictions,
             "friction of tendons");
        rows(limit_rows, tendon_limit, plan_->tendons.back().row - (count - tendon_frictions) + 1,
             count - tendon_frictions, "limits of tendons");
    }
    for (const Launch& l : collide(stage)) all.push_back(l);
    return all;
}

std::map<std::string, Array> RobotBody::constraint_arrays(const Stage& stage) const {
    std::map<std::string, Array> arrays(constants_.begin(), constants_.end());
    arrays.insert(stage.begin(), stage.end());
    if (tree_->integrator == IntegratorType::discrete) arrays["inertia"] = stage.at("metric");
    return arrays;
}

Launch RobotBody::constrain(const Stage& stage) const {
    const auto kernels = std::make_shared<ConstraintKernels>(
        plan_->sizes(tree_->nv), constraint_arrays(stage), stage.at(solved_by(*tree_)));
    return {model_.options().device, kernels, 1, kernels->arguments(), name_ + ": constraints"};
}

std::vector<Launch> RobotBody::collide(const Stage& stage) const {
    std::vector<Launch> all;
    const Collisions& collisions = plan_->collisions;
    if (plan_->contacts == 0) return all;
    all.push_back(launch(geom_places(), stage, "places of geoms", {},
                         static_cast<std::int64_t>(plan_->geom_bodies.size())));
    for (const Launch& l : meet(collisions.pairs, collisions.groups, stage)) all.push_back(l);
    const std::string most = std::to_string(plan_->contacts);
    all.push_back(launch(gather(collisions.slots, plan_->contacts,
                                "the robot '" + name_ + "' has more than " + most +
                                    " contacts at once; allow more of them with "
                                    "\"max_contacts\" of this body"),
                         stage, "list of contacts"));
    all.push_back(launch(count_rows(plan_), stage, "count of rows"));
    all.push_back(launch(contact_rows(tree_, plan_), stage, "rows of contacts"));
    return all;
}

std::vector<Launch> RobotBody::meet(const std::vector<CollisionPair>& list,
                                    const std::vector<CollisionGroup>& groups,
                                    const Stage& stage) const {
    std::vector<Launch> all;
    for (const CollisionGroup& group : groups) {
        std::vector<std::int64_t> geoms, first;
        std::vector<double> reach;
        for (const int k : group.pairs) {
            const CollisionPair& pair = list[at(k)];
            geoms.insert(geoms.end(), {pair.geom1, pair.geom2});
            first.push_back(pair.first_slot);
            reach.push_back(pair.margin + pair.gap);
        }
        const auto count = static_cast<std::int64_t>(group.pairs.size());
        const std::vector<NamedArgument> pairs = {{"pair_geoms", model_.index_array(geoms, 2)},
                                                  {"pair_slot", model_.index_array(first, 1)},
                                                  {"pair_reach", array_of(reach, 1)}};
        const std::string of = std::string(robot::name_of(group.first)) + " and " +
                               std::string(robot::name_of(group.second));
        if (group.searched) {
            all.push_back(launch(search(group.first, group.second, group.slots), stage,
                                 "search for contacts of " + of, pairs, count));
            all.back().differentiate_only({});
        }
        const auto kernel = group.searched ? convex_contacts : narrow_phase;
        all.push_back(launch(kernel(group.first, group.second, group.slots), stage,
                             "contacts of " + of, pairs, count));
    }
    return all;
}

}  // namespace hindcast::articulated
