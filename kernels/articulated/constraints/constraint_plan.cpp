#include "kernels/articulated/constraints/constraint_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/robot/model_reader.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast::articulated {

using namespace robot;

namespace {

class Planning : robot::ModelReader {
public:
    Planning(const RobotModel& model, const Tree& tree) : ModelReader(model), t_(tree) {}

    ConstraintPlan run(int contacts) {
        const RobotOptions& o = m_.options();
        p_.elliptic = o.cone == ConeType::elliptic;
        p_.friction_impedance = o.impratio;
        p_.springs = {.guarded = !o.disabled(DisableFlag::refsafe),
                      .discrete = o.integrator == IntegratorType::discrete};
        if (p_.springs.discrete)
            for (const CouplingOf& coupling : couplings_of(t_))
                if (!fits(t_, coupling)) p_.coupled.push_back({coupling, rows(1)});
        if (o.disabled(DisableFlag::constraint)) return p_;
        if (!o.disabled(DisableFlag::equality)) equalities();
        if (!o.disabled(DisableFlag::frictionloss)) friction();
        if (!o.disabled(DisableFlag::limit)) limits();
        if (!o.disabled(DisableFlag::contact)) collide(contacts);
        return p_;
    }

private:
    int rows(int number) { return std::exchange(p_.tree_rows, p_.tree_rows + number); }

    void equalities() {
        for (int i = 0; i < count("neq"); ++i) {
            if (integer("eq_active0", i) == 0) continue;
            EqualityRow e;
            e.type = enum_at<EqualityType>(m_.integers("eq_type"), i);
            e.number = i;
            e.first = integer("eq_obj1id", i);
            e.second = integer("eq_obj2id", i);
            e.sites = enum_at<ObjectType>(m_.integers("eq_objtype"), i) == ObjectType::site;
            // MuJoCo's compiler marks welds whose relative pose it has found.
            e.derived =
                !e.sites && (e.type == EqualityType::connect ||
                             (e.type == EqualityType::weld && real("eq_data", 12 * i + 11) != 0));
            const int things[] = {e.first, e.second};
            for (int k = 0; k < 2; ++k) {
                if (things[k] < 0) continue;
                if (e.type == EqualityType::joint)
                    e.reference[k] = real("qpos0", integer("jnt_qposadr", things[k]));
                if (e.type == EqualityType::tendon)
                    e.reference[k] = real("tendon_length0", things[k]);
            }
            e.row = rows(e.rows());
            p_.equalities.push_back(e);
        }
    }

    void friction() {
        for (int i = 0; i < count("nv"); ++i)
            if (real("dof_frictionloss", i) > 0)
                p_.dof_rows.push_back({DofRow::friction, integer("dof_jntid", i), i, 0, 0});
        for (int i = 0; i < count("ntendon"); ++i)
            if (real("tendon_frictionloss", i) > 0)
                p_.tendons.push_back({DofRow::friction, i, rows(1), 0});
    }

    void limits() {
        for (int i = 0; i < count("njnt"); ++i) {
            if (integer("jnt_limited", i) == 0) continue;
            const double margin = real("jnt_margin", i);
            const auto type = enum_at<JointType>(m_.integers("jnt_type"), i);
            if (type == JointType::ball) p_.balls.push_back({i, rows(1), margin});
            if (type != JointType::hinge && type != JointType::slide) continue;
            const int dof = integer("jnt_dofadr", i), qpos = integer("jnt_qposadr", i);
            for (const DofRow::Kind side : {DofRow::low, DofRow::high})
                p_.dof_rows.push_back({side, i, dof, qpos, margin});
        }
        for (int i = 0; i < count("ntendon"); ++i)
            if (integer("tendon_limited", i) != 0)
                for (const DofRow::Kind side : {DofRow::low, DofRow::high})
                    p_.tendons.push_back({side, i, rows(1), real("tendon_margin", i)});
    }

    void collide(int contacts) {
        p_.collisions = collisions_of(m_);
        if (p_.collisions.slots == 0) return;
        p_.contacts = std::min(contacts, p_.collisions.slots);
        const auto bodies = m_.integers("geom_bodyid");
        p_.geom_bodies.assign(bodies.begin(), bodies.end());
        for (const CollisionPair& pair : p_.collisions.pairs) {
            p_.rows_of_a_contact = std::max(p_.rows_of_a_contact, p_.rows_of(pair.condim));
            const int one = integer("geom_priority", pair.geom1),
                      two = integer("geom_priority", pair.geom2);
            p_.priorities.push_back(one == two ? 0 : one > two ? 1 : 2);
        }
    }

    const Tree& t_;
    ConstraintPlan p_;
};

}  // namespace

namespace {

template <class R>
int frictions_of(const std::vector<R>& rows) {
    return static_cast<int>(std::ranges::count(rows, DofRow::friction, &R::kind));
}

}  // namespace

int ConstraintPlan::dof_frictions() const { return frictions_of(dof_rows); }
int ConstraintPlan::tendon_frictions() const { return frictions_of(tendons); }

RowSizes ConstraintPlan::sizes(int dofs) const {
    RowSizes sizes;
    sizes.dofs = dofs;
    sizes.dof_rows = static_cast<int>(dof_rows.size());
    sizes.rows = tree_rows + contacts * rows_of_a_contact;
    sizes.alone = tree_rows;
    std::set<int> dimensions;
    if (elliptic)
        for (const CollisionPair& pair : collisions.pairs)
            if (pair.condim > 1) dimensions.insert(pair.condim);
    sizes.cones.assign(dimensions.begin(), dimensions.end());
    return sizes;
}

HoldingRows ConstraintPlan::holding() const {
    HoldingRows held;
    for (const DofRow& row : dof_rows) held.dofs.push_back(row.dof);
    held.first = static_cast<int>(coupled.size());
    held.rows = tree_rows + contacts * rows_of_a_contact;
    return held;
}

PlanPointer plan_of(const RobotModel& model, const Tree& tree, int contacts) {
    return std::make_shared<const ConstraintPlan>(Planning(model, tree).run(contacts));
}

}  // namespace hindcast::articulated
