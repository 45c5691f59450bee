#include "kernels/articulated/robot_body.hpp"

#include <algorithm>

#include "engine/model/element_names.hpp"
#include "engine/model/settling.hpp"
#include "kernels/articulated/collision/narrow_phase.hpp"
#include "kernels/articulated/constraints/contact_rows.hpp"
#include "kernels/articulated/constraints/soft_rows.hpp"
#include "kernels/articulated/dynamics/energies.hpp"
#include "kernels/articulated/dynamics/tendons.hpp"
#include "kernels/articulated/looks/grips.hpp"
#include "kernels/articulated/looks/shown.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::articulated {

using model::Model;
using model::Phase;
using robot::IntegratorType;

namespace {

struct Row {
    const char* name;
    std::int64_t rows;
    int columns;
    const char *unit, *meaning;
    bool state = false, integers = false;  // the latter are not published
};

std::vector<Row> rows_of(const Tree& t, const ConstraintPlan& plan) {
    const RowSizes sizes = plan.sizes(t.nv);
    const bool discrete = t.integrator == IntegratorType::discrete;
    const std::int64_t constrained = plan.empty() ? 0 : t.nv, rows = sizes.rows,
                       dof_rows = sizes.dof_rows, slots = plan.collisions.slots,
                       geoms = static_cast<std::int64_t>(plan.geom_bodies.size()),
                       searched = plan.collisions.searches() ? slots : 0;
    const auto bodies = static_cast<std::int64_t>(t.bodies.size()), nv = std::int64_t{t.nv},
               actuators = static_cast<std::int64_t>(t.actuators.size()),
               spatial = t.has_spatial_tendons() ? static_cast<std::int64_t>(t.tendons.size()) : 0;
    return {
        {"qpos", t.nq, 1, "", "positions of the joints: m, rad, quaternions (w, x, y, z)", true},
        {"qvel", nv, 1, "", "velocities of the joints: m/s, rad/s", true},
        {"act", t.na, 1, "", "activations of the actuators", true},
        {"xpos", bodies, 3, "m", "place of each body's frame"},
        {"xquat", bodies, 4, "", "orientation of each body's frame (w, x, y, z)"},
        {"xipos", bodies, 3, "m", "center of mass of each body"},
        {"cdof", nv, 6, "", "motion of a unit velocity of each degree of freedom: rad/s, m/s"},
        {"cvel", bodies, 6, "", "velocity of each body: rad/s, m/s about its tree's root"},
        {"cinert", bodies, 10, "", "inertia of each body: kg, kg m, kg m^2 about its tree's root"},
        {"inertia", nv * nv, 1, "", "inertia matrix of the joints, on and below its diagonal"},
        {"bias", nv, 1, "", "force that motion and gravity ask of the joints: N, N m"},
        {"passive", nv, 1, "", "force of springs, dampers and gravity compensation: N, N m"},
        {"compensation", nv, 1, "", "gravity compensation by the actuators: N, N m"},
        {"moment", actuators * nv, 1, "", "force on the joints of a unit force of each actuator"},
        {"actuator_length", actuators, 1, "", "length of what each actuator acts along"},
        {"actuator_force", actuators, 1, "", "force of each actuator: N, N m"},
        {"slope", actuators, 1, "", "derivative of each actuator's force by its velocity"},
        {"rise", discrete ? actuators : 0, 1, "",
         "derivative of each actuator's force by its length"},
        {"actuator", nv, 1, "", "force of all actuators on the joints: N, N m"},
        {"act_dot", t.na, 1, "1/s", "rate of the activations"},
        {"qacc", nv, 1, "", "accelerations of the joints in the last step: m/s^2, rad/s^2",
         constrained > 0 && implicit_of(t) == Implicit::nothing},
        {"metric", discrete ? nv * nv : 0, 1, "",
         "inertia, springs and dampers that resist the step"},
        {"dof_shares", discrete ? nv : 0, 2, "",
         "what each degree of freedom yields, by its inertia alone and with springs and dampers"},
        {"force", discrete ? nv : constrained, 1, "",
         "force on the joints without constraints: N, N m"},
        {"qacc_constrained", implicit_of(t) == Implicit::nothing ? 0 : constrained, 1, "",
         "accelerations of the joints before the method's damping: m/s^2, rad/s^2", true},
        {dof_friction.motion.c_str(), plan.dof_frictions(), 2, "",
         "velocity and inverse inertia along rows of friction loss"},
        {dof_limit.motion.c_str(), dof_rows - plan.dof_frictions(), 3, "",
         "position past limits (negative: beyond), velocity and inverse inertia along them"},
        {tendon_friction.motion.c_str(), plan.tendon_frictions(), 2, "",
         "the same of friction loss of tendons"},
        {tendon_limit.motion.c_str(),
         static_cast<std::int64_t>(plan.tendons.size()) - plan.tendon_frictions(), 3, "",
         "the same of limits of tendons"},
        {"dof_row_aref", dof_rows, 1, "", "reference accelerations of limits and friction loss"},
        {"dof_row_mass", dof_rows, 1, "", "masses of limits and friction loss; 0: at rest"},
        {"dof_row_low", dof_rows, 1, "", "least of minus the force of limits and friction loss"},
        {"dof_row_high", dof_rows, 1, "", "most of minus the force of limits and friction loss"},
        {"row_jacobian", rows * t.nv, 1, "", "Jacobian of the other constraints, row by row"},
        {"row_aref", rows, 1, "", "reference accelerations of the other constraints"},
        {"row_mass", rows, 1, "", "masses of the other constraints; 0: at rest"},
        {"row_low", rows, 1, "", "least of minus the force of the other constraints"},
        {"row_high", rows, 1, "", "most of minus the force of the other constraints"},
        {"row_friction", sizes.cones.empty() ? 0 : rows, 1, "",
         "friction of the rows of elliptic cones; of the first that of the regularized cone"},
        {"row_cone", sizes.cones.empty() ? 0 : rows, 1, "", "", false, true},
        {"row_count", plan.contacts > 0 ? 1 : 0, 1, "", "", false, true},
        {"tendon_length", spatial, 1, "m", "length of each tendon; 0 of fixed ones"},
        {"tendon_moment", spatial * t.nv, 1, "",
         "derivative of each tendon's length by the joints"},
        {"tendon_bias", t.has_tendon_armature() ? spatial : 0, 1, "m/s^2",
         "acceleration of each tendon's length where no joint accelerates"},
        {"geom_xpos", geoms, 3, "m", "place of each geom"},
        {"geom_xmat", geoms, 9, "", "axes of each geom, as columns"},
        {"slot_dist", slots, 1, "m", "distance of each contact that there may be"},
        {"slot_pos", slots, 3, "m", "place of each contact that there may be"},
        {"slot_frame", slots, 9, "", "normal and tangents of each contact that there may be"},
        {"slot_normal", searched, 3, "", "normal of each contact that is searched for"},
        {"slot_one", searched, 9, "", "what of the first geom meets there, in its units"},
        {"slot_two", searched, 9, "", "what of the second geom meets there, in its units"},
        {"contact_slot", plan.contacts, 1, "", "", false, true},
        {"contact_count", plan.contacts > 0 ? 1 : 0, 1, "", "", false, true},
    };
}

}  // namespace

Array moving_dofs(const Model& model, const Tree& tree) {
    std::vector<std::int64_t> moves(tree.bodies.size() * at(tree.nv));
    for (std::size_t b = 0; b < tree.bodies.size(); ++b)
        for (const int dof : tree.bodies[b].dofs) moves[b * at(tree.nv) + at(dof)] = 1;
    return model.index_array(moves, 1);
}

// 1 where a body of this list carries a body, or is it: list x bodies.
static Array carried_bodies(const Model& model, const Tree& tree, const std::vector<int>& list) {
    std::vector<std::int64_t> carried;
    for (const int body : list)
        for (int b = 0; b < static_cast<int>(tree.bodies.size()); ++b) {
            int up = b;
            while (up > body) up = tree.bodies[at(up)].parent;
            carried.push_back(up == body ? 1 : 0);
        }
    return model.index_array(carried, 1);
}

RobotBody::RobotBody(Model& model, std::string name, TreePointer tree, PlanPointer plan,
                     Given given, std::int64_t first)
    : model_(model),
      name_(std::move(name)),
      tree_(std::move(tree)),
      plan_(std::move(plan)),
      given_(std::move(given)),
      first_(first) {
    forces_.coulomb = given_.contains("dof_coulomb");
}

RobotBody::Stage RobotBody::make_stage(bool published) {
    Stage stage;
    for (const Row& row : rows_of(*tree_, *plan_)) {
        if (row.rows == 0) continue;
        stage[row.name] =
            row.integers ? Array(ir::Type::i32, {row.rows, row.columns})
            : published
                ? model_.add_array(name_ + "." + row.name, row.rows, row.columns,
                                   {.unit = row.unit, .meaning = row.meaning, .state = row.state})
                : Array(model_.real(), {row.rows, row.columns});
    }
    return stage;
}

Launch RobotBody::launch(const KernelDef& kernel, const Stage& stage, const std::string& what,
                         const std::vector<NamedArgument>& more, std::int64_t items) const {
    std::vector<NamedArgument> arguments = more;
    const auto given_already = [&](const std::string& name) {
        return std::ranges::any_of(
            more, [&](const NamedArgument& argument) { return argument.parameter == name; });
    };
    for (const ir::Parameter& parameter : kernel.parameters()) {
        if (given_already(parameter.name)) continue;
        if (parameter.name == "h")
            arguments.emplace_back("h", model_.step());
        else if (const auto array = stage.find(parameter.name); array != stage.end())
            arguments.emplace_back(parameter.name, array->second);
        else if (const auto constant = constants_.find(parameter.name);
                 constant != constants_.end())
            arguments.emplace_back(parameter.name, constant->second);
        else if (const auto number = given_.find(parameter.name); number != given_.end())
            arguments.emplace_back(parameter.name, number->second);
    }
    return model_.launch(kernel, items, arguments, name_ + ": " + what);
}

Array RobotBody::array_of(const std::vector<double>& values, int columns) const {
    Array array(model_.real(), {static_cast<std::int64_t>(values.size()) / columns, columns});
    array.assign(values);
    return array;
}

Launch RobotBody::copied(const Argument& from, const Array& to, const std::string& what) const {
    return model_.launch(copy(), to.shape()[0], {{"from", from}, {"to", to}}, name_ + ": " + what);
}

std::vector<Launch> RobotBody::place(const Stage& stage) const {
    std::vector<Launch> all = {launch(kinematics(tree_), stage, "kinematics"),
                               launch(velocities(tree_), stage, "velocities")};
    if (!tree_->has_spatial_tendons()) return all;
    all.push_back(launch(tendons(tree_), stage, "tendons"));
    if (tree_->has_tendon_armature())
        all.push_back(launch(tendon_bias(tree_), stage, "accelerations of tendons"));
    return all;
}

void RobotBody::make_constants() {
    const auto integers = [&](const char* key, const std::vector<std::int64_t>& values,
                              int columns = 1) {
        if (!values.empty()) constants_[key] = model_.index_array(values, columns);
    };
    const auto reals = [&](const char* key, const std::vector<double>& values, int columns = 1) {
        if (!values.empty()) constants_[key] = array_of(values, columns);
    };
    std::vector<std::int64_t> dofs;
    std::vector<double> signs;
    std::map<std::string, std::vector<std::int64_t>> of;  // rows of soft_rows.hpp
    for (const DofRow& row : plan_->dof_rows) {
        dofs.push_back(row.dof);
        signs.push_back(row.kind == DofRow::high ? -1 : 1);
        const bool friction = row.kind == DofRow::friction;
        of[friction ? dof_friction.of : dof_limit.of].push_back(friction ? row.dof : row.joint);
    }
    for (const TendonRow& row : plan_->tendons)
        of[row.kind == DofRow::friction ? tendon_friction.of : tendon_limit.of].push_back(
            row.tendon);
    for (const auto& [key, numbers] : of) integers(key.c_str(), numbers);
    integers("dof_row_dof", dofs);
    reals("dof_row_sign", signs);
    if (tree_->has_spatial_tendons() && !given_.contains("tendon_length0")) {
        std::vector<double> lengths(tree_->tendons.size());
        for (const EqualityRow& e : plan_->equalities) {
            if (e.type != robot::EqualityType::tendon) continue;
            lengths[at(e.first)] = e.reference[0];
            if (e.second >= 0) lengths[at(e.second)] = e.reference[1];
        }
        reals("tendon_length0", lengths);
    }
    const bool apart = sensors_ != nullptr && !sensors_->distances.pairs.empty();
    if (plan_->contacts > 0 || apart) {
        integers("geom_body", apart ? sensors_->distances.geom_bodies : plan_->geom_bodies);
        for (const robot::ModelArray& hull :
             apart ? sensors_->distances.hulls : plan_->collisions.hulls) {
            const int columns = static_cast<int>(hull.columns);
            if (const auto* const values = std::get_if<std::vector<std::int32_t>>(&hull.values))
                integers(hull.name.c_str(), {values->begin(), values->end()}, columns);
            else
                reals(hull.name.c_str(), std::get<std::vector<double>>(hull.values), columns);
        }
    }
    if (plan_->contacts == 0) {
        if (plan_->tree_rows > 0) integers("row_count", {plan_->tree_rows});
        return;
    }
    std::vector<std::int64_t> roots, slot_pairs;
    for (const int body : tree_->dof_body) roots.push_back(tree_->bodies[at(body)].root);
    std::vector<double> margins, slot_margins;
    const std::vector<CollisionPair>& pairs = plan_->collisions.pairs;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        margins.push_back(pairs[k].margin);
        slot_pairs.insert(slot_pairs.end(), at(pairs[k].slots), static_cast<std::int64_t>(k));
        slot_margins.insert(slot_margins.end(), at(pairs[k].slots), pairs[k].margin);
    }
    constants_["dof_moves"] = moving_dofs(model_, *tree_);
    integers("dof_root", roots);
    integers("slot_pair", slot_pairs);
    integers("pair_numbers", pair_numbers(*plan_), 7);
    reals("pair_margin", margins);
    reals("slot_margin", slot_margins);
}

Launch RobotBody::follow() const {
    const particles::Arrays a = particles::arrays(model_);
    return launch(points(tree_, first_), now_, "points", {{"x", a.position}, {"v", a.velocity}});
}

std::vector<Launch> RobotBody::placed() const {
    std::vector<Launch> all = place(now_);
    all.push_back(follow());
    return all;
}

void RobotBody::build() {
    make_constants();
    now_ = make_stage(true);
    Program& prologue = model_.prologue();
    prologue.add(copied(given_.at("qpos"), now_.at("qpos"), "initialize positions"));
    prologue.add(copied(given_.at("qvel"), now_.at("qvel"), "initialize velocities"));
    if (tree_->na > 0)
        prologue.add(copied(given_.at("act"), now_.at("act"), "initialize activations"));
    if (!plan_->empty())
        prologue.add(copied(0.0, now_.at(solved_by(*tree_)), "initialize accelerations"));
    for (const Launch& l : placed()) prologue.add(l);
    for (const Launch& l : placed()) model_.shared<model::Settling>().program.add(l);
    publish_energies();
    publish_all_shown();
    if (!model_.is_implicit()) return;
    std::map<std::string, Argument> arguments(given_.begin(), given_.end());
    for (const auto& [name, array] : constraint_arrays(now_))
        arguments.insert_or_assign(name, array);
    coupled_.emplace(tree_, plan_, launcher());
    coupled_->couple(model_, name_, first_, arguments);
}

void RobotBody::finish(const std::optional<Array>& control) {
    if (control) given_.insert_or_assign("ctrl", *control);
    if (model_.has_array("force")) {
        forces_.applied = true;
        constants_["point_force"] = model_.array("force");
        now_["applied"] =
            model_.add_array(name_ + ".applied", tree_->nv, 1,
                             {.meaning = "force on the joints of the scene's forces: N, N m"});
    }
    step();
    model_.add(Phase::end, follow());
}

void RobotBody::sense_with(SensorPointer sensors) {
    sensors_ = std::move(sensors);
    const std::string path = name_ + ".sensordata";
    model_.add_array(path, sensors_->rows, 1,
                     {.meaning = "what sensors say of the state at the begin of the last step"});
    model::ElementNames names(sensors_->rows);
    for (const Sensor& s : sensors_->sensors) names.add(s.name, s.count);
    model::name_elements(model_, path, std::move(names));
}

std::vector<Launch> RobotBody::find_distances(const Stage& stage,
                                              std::vector<NamedArgument>& found) const {
    const Distances& distances = sensors_->distances;
    if (distances.pairs.empty()) return {};
    std::vector<Launch> all;
    Stage apart = stage;
    const auto make = [&](const char* name, std::int64_t rows, int columns) {
        apart[name] = Array(model_.real(), {rows, columns});
    };
    if (plan_->contacts == 0) {
        const auto geoms = static_cast<std::int64_t>(distances.geom_bodies.size());
        make("geom_xpos", geoms, 3);
        make("geom_xmat", geoms, 9);
        all.push_back(launch(geom_places(), apart, "places of geoms for sensors", {}, geoms));
    }
    make("slot_dist", distances.slots, 1);
    make("slot_pos", distances.slots, 3);
    make("slot_frame", distances.slots, 9);
    if (distances.searches()) {
        make("slot_normal", distances.slots, 3);
        make("slot_one", distances.slots, 9);
        make("slot_two", distances.slots, 9);
    }
    for (const Launch& l : meet(distances.pairs, distances.groups, apart)) all.push_back(l);
    found.insert(found.end(), {{"apart_dist", apart.at("slot_dist")},
                               {"apart_pos", apart.at("slot_pos")},
                               {"apart_frame", apart.at("slot_frame")},
                               {"apart_sign", array_of(distances.signs, 1)}});
    return all;
}

std::vector<Launch> RobotBody::sense() {
    std::vector<Launch> all;
    if (sensors_ == nullptr || sensors_->rows == 0) return all;
    const std::string data = name_ + ".sensordata";
    Stage sensed = now_;
    sensed["sensordata"] = model_.array(data);
    const bool implicit = implicit_of(*tree_) != Implicit::nothing;
    const bool mapped = implicit_of(*tree_) == Implicit::step_map;
    sensed["qacc_sensed"] = now_.at(plan_->empty() || mapped ? "qacc" : solved_by(*tree_));
    if (sensors_->needs_accelerations && plan_->empty() && implicit && !mapped) {
        // The step has only those with what it takes implicitly.
        sensed["qacc_sensed"] = Array(model_.real(), {tree_->nv, 1});
        all.push_back(launch(acceleration(tree_, Implicit::nothing, forces_), now_,
                             "acceleration for sensors", {{"qacc", sensed["qacc_sensed"]}}));
    }
    std::vector<NamedArgument> more = {{"step", model_.step_counter()}};
    const std::int64_t rows = plan_->sizes(tree_->nv).rows;
    if (sensors_->needs_rows && rows > 0) {
        sensed["row_force"] = Array(model_.real(), {rows, 1});
        all.push_back(launch(row_forces(plan_->sizes(tree_->nv)), sensed, "forces of constraints",
                             {{"x", sensed["qacc_sensed"]}}));
    }
    if (sensors_->needs_rows && plan_->contacts > 0) {
        sensed["contact_wrench"] = Array(model_.real(), {plan_->contacts, 6});
        all.push_back(
            launch(contact_wrenches(plan_), sensed, "forces of contacts", {}, plan_->contacts));
    }
    for (const Launch& l : find_distances(sensed, more)) all.push_back(l);
    if (!sensors_->sides.empty()) more.emplace_back("volume_side", array_of(sensors_->sides, 4));
    if (const Triangles& triangles = sensors_->triangles; !triangles.corners.empty()) {
        more.emplace_back("ray_triangle", model_.index_array(triangles.corners, 3));
        more.emplace_back("ray_vertex", array_of(triangles.vertices, 3));
    }
    if (!sensors_->pair_order.empty())
        more.emplace_back("pair_order", model_.index_array(sensors_->pair_order, 3));
    if (!sensors_->load_bodies.empty())
        more.emplace_back("sensor_carries", carried_bodies(model_, *tree_, sensors_->load_bodies));
    all.push_back(
        launch(sensors(tree_, plan_, sensors_, forces_, first_), sensed, "sensors", more));
    return all;
}

void RobotBody::step() {
    const auto add = [&](const std::vector<Launch>& launches) {
        for (const Launch& l : launches) model_.add(Phase::velocity_update, l);
    };
    const Tree& t = *tree_;
    const bool rates = t.na > 0 && !t.actuators.empty();
    std::vector<NamedArgument> next;
    Stage moved;
    for (const char* name : {"qpos", "qvel", "act"}) {
        if (std::string_view(name) == "act" && !rates) continue;
        const Array& array = now_.at(name);
        moved[name] = Array(model_.real(), array.shape());
        next.emplace_back(std::string("next_") + name, moved[name]);
    }
    if (model_.is_implicit()) {
        add(find_forces(now_));
        if (!plan_->empty()) add(find_rows(now_));
        add(coupled_->begin());
        model_.add(Phase::end, coupled_->acceleration());
        for (const Launch& l : sense()) model_.add(Phase::end, l);
        model_.add(Phase::end, launch(euler_step(tree_), now_, "step", next));
    } else if (t.integrator != IntegratorType::rk4) {
        add(accelerate(now_));
        add(sense());
        add({launch(euler_step(tree_), now_, "step", next)});
    } else {
        std::vector<Stage> stages = {now_};
        add(accelerate(now_));
        add(sense());
        for (const double fraction : {0.5, 0.5, 1.0}) {
            const Stage& last = stages.back();
            Stage one = make_stage(false);
            one["rate"] = Array(model_.real(), {t.nv, 1});
            if (forces_.applied) one["applied"] = Array(model_.real(), {t.nv, 1});
            const bool second = stages.size() == 1;
            std::vector<NamedArgument> ends = {{"qacc", last.at("qacc")},
                                               {"next_qpos", one.at("qpos")},
                                               {"next_qvel", one.at("qvel")},
                                               {"next_rate", one.at("rate")}};
            if (!second) ends.emplace_back("last_rate", last.at("rate"));
            if (rates) {
                ends.emplace_back("act_dot", last.at("act_dot"));
                ends.emplace_back("next_act", one.at("act"));
            }
            add({launch(stage(tree_, fraction, second), now_, "stage", ends)});
            add(place(one));
            add(accelerate(one));
            stages.push_back(std::move(one));
        }
        for (std::size_t k = 1; k < stages.size(); ++k)
            for (const char* name : {"rate", "qacc", "act_dot"})
                if (const auto found = stages[k].find(name); found != stages[k].end())
                    next.emplace_back(std::string(name) + "_" + std::to_string(k + 1),
                                      found->second);
        add({launch(rk4_step(tree_), now_, "step", next)});
    }
    const Phase last = model_.is_implicit() ? Phase::end : Phase::velocity_update;
    for (const auto& [name, array] : moved)
        model_.add(last, copied(array, now_.at(name), "take over " + name));
    for (const Launch& l : place(now_)) model_.add(last, l);
}

void RobotBody::publish_energies() {
    const auto publish = [&](const char* name, const KernelDef& kernel) {
        model_.publish_energy({"articulated", name_, name,
                               [robot = *this, kernel, name](Model&, double scale,
                                                             const Array& value, Program& program) {
                                   program.add(robot.launch(kernel, robot.now_, name,
                                                            {{"scale", scale}, {"value", value}}));
                               }});
    };
    publish("kinetic energy", kinetic_energy(tree_));
    publish("gravitational energy", gravitational_energy(tree_));
}

Launcher RobotBody::launcher() const {
    return [robot = *this](const KernelDef& kernel, const std::string& what,
                           const std::vector<NamedArgument>& more, std::int64_t items) {
        return robot.launch(kernel, robot.now_, what, more, items);
    };
}

void RobotBody::publish_all_shown() {
    publish_shown(model_, name_, tree_, plan_, now_.at(plan_->empty() ? "qacc" : solved_by(*tree_)),
                  launcher());
    publish_grips(model_, name_, tree_, launcher());
}

}  // namespace hindcast::articulated
