// The launches of derived constants, in the prologue of a robot's scene.
#include <algorithm>

#include "kernels/articulated/derived/pseudo_inertia.hpp"
#include "kernels/articulated/dynamics/tendons.hpp"
#include "kernels/articulated/robot_body.hpp"

namespace hindcast::articulated {

// The arrays of masses, centers and inertias that other numbers say.
void RobotBody::add_inertias(const std::vector<double>& iquat) {
    const auto bodies = static_cast<std::int64_t>(tree_->bodies.size());
    const auto add = [&](const char* key, int columns, const char* unit, const char* meaning) {
        const Array made = model_.add_array(name_ + "." + key, bodies, columns,
                                            {.unit = unit, .meaning = meaning});
        given_.insert_or_assign(key, made);
    };
    add("body_mass", 1, "kg", "mass of each body");
    add("body_ipos", 3, "m", "center of mass of each body, in its frame");
    add("body_fullinertia", 6, "kg m^2",
        "inertia of each body about its center of mass, in its axes: xx, yy, zz, xy, xz, yz");
    given_.insert_or_assign("body_iquat", array_of(iquat, 4));
}

void RobotBody::take_pseudo_inertia(const Argument& numbers,
                                    const std::vector<std::int64_t>& has_mass,
                                    const std::vector<double>& iquat) {
    add_inertias(iquat);
    model_.prologue().add(
        launch(inertia_from_pseudo(), {}, "inertias from pseudo-inertias",
               {{"body_pseudo_inertia", numbers}, {"has_mass", model_.index_array(has_mass, 1)}},
               static_cast<std::int64_t>(tree_->bodies.size())));
}

void RobotBody::take_geom_inertia(const GeomInertiasPointer& inertias,
                                  const std::vector<double>& iquat) {
    add_inertias(iquat);
    model_.prologue().add(launch(inertia_from_geoms(inertias), {}, "inertias from geoms",
                                 {{"own_mass", array_of(inertias->body_mass, 1)},
                                  {"own_ipos", array_of(inertias->body_ipos, 3)},
                                  {"own_inertia", array_of(inertias->body_fullinertia, 6)}}));
}

void RobotBody::derive(const ReferencePose& pose, bool equalities) {
    if (plan_->empty()) return;
    const auto bodies = static_cast<std::int64_t>(tree_->bodies.size()),
               tendon_count = static_cast<std::int64_t>(tree_->tendons.size());
    const std::int64_t nv = tree_->nv;
    Stage at_rest;
    const auto scratch = [&](const char* key, std::int64_t rows, int columns) {
        at_rest[key] = Array(model_.real(), {rows, columns});
    };
    for (const auto& [key, columns] :
         {std::pair("xpos", 3), {"xquat", 4}, {"xipos", 3}, {"cinert", 10}})
        scratch(key, bodies, columns);
    scratch("cdof", nv, 6);
    for (const char* key : {"inertia", "factors"}) scratch(key, nv * nv, 1);
    scratch("dof_weight", nv, 1);
    if (tendon_count > 0) scratch("tendon_moment", tendon_count * nv, 1);
    if (tendon_count > 0) scratch("tendon_length", tendon_count, 1);
    at_rest["qpos"] = array_of(pose.qpos, 1);
    at_rest["dof_moves"] = moving_dofs(model_, *tree_);
    Program& prologue = model_.prologue();
    std::vector<NamedArgument> placed;
    if (!pose.mocap.empty()) {
        at_rest["is_mocap"] = model_.index_array(pose.mocap, 1);
        at_rest["own_pos"] = array_of(pose.places, 3);
        at_rest["own_quat"] = array_of(pose.turns, 4);
        scratch("reference_pos", bodies, 3);
        scratch("reference_quat", bodies, 4);
        prologue.add(
            launch(reference_places(), at_rest, "places in the reference pose", {}, bodies));
        placed = {{"body_pos", at_rest["reference_pos"]}, {"body_quat", at_rest["reference_quat"]}};
    }
    prologue.add(launch(kinematics(tree_), at_rest, "reference pose", placed));
    if (tendon_count > 0)
        prologue.add(launch(tendons(tree_), at_rest, "tendons in the reference pose"));
    if (tree_->has_spatial_tendons())
        given_.insert_or_assign("tendon_length0", at_rest["tendon_length"]);
    prologue.add(
        launch(hindcast::articulated::inertia(tree_), at_rest, "inertia in the reference pose"));
    prologue.add(launch(factors_of_inertia(tree_), at_rest, "factors of this inertia"));
    const auto add = [&](const KernelDef& kernel, const char* from, const char* to,
                         std::int64_t rows, int columns, const char* unit, const char* meaning,
                         std::int64_t items) {
        const Array made =
            model_.add_array(name_ + "." + to, rows, columns, {.unit = unit, .meaning = meaning});
        prologue.add(launch(kernel, at_rest, meaning, {{from, made}}, items));
        return made;
    };
    if (!given_.contains("dof_invweight0")) {
        prologue.add(launch(dof_weights(tree_), at_rest, "inverse weights", {}, nv));
        given_.insert_or_assign("dof_invweight0",
                                add(joint_weights(tree_), "dof_invweight0", "dof_invweight0", nv, 1,
                                    "", "inverse inertia of each degree of freedom in qpos0", 1));
    }
    if (!given_.contains("body_invweight0"))
        given_.insert_or_assign(
            "body_invweight0",
            add(body_weights(tree_), "body_invweight0", "body_invweight0", bodies, 2, "",
                "inverse inertia of each body in qpos0, of translation and rotation", bodies));
    if (tendon_count > 0 && !given_.contains("tendon_invweight0")) {
        given_.insert_or_assign(
            "tendon_invweight0",
            add(tendon_weights(tree_), "tendon_invweight0", "tendon_invweight0", tendon_count, 1,
                "", "inverse inertia of each tendon in qpos0", tendon_count));
    }
    if (equalities && std::ranges::any_of(plan_->equalities, &EqualityRow::derived)) {
        const Array made =
            add(equality_data(plan_), "derived_eq_data", "eq_data",
                plan_->equalities.back().number + 1, 12, "", "numbers of equalities", 1);
        given_.insert_or_assign("eq_data", made);
    }
}

}  // namespace hindcast::articulated
