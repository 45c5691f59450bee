// ConstraintPlan: the constraints of a robot: lists and numbers without gradient that kernels are
// recorded for. The rows of constraint_terms.hpp in their order: those of one degree of freedom;
// then of the tree (couplings of the integrator `discrete`, equalities, limits of ball joints and
// tendons, friction loss of tendons); then of contacts, as many for each as the largest takes.
#pragma once

#include <memory>
#include <vector>

#include "engine/robot/robot_model.hpp"
#include "kernels/articulated/collision/collision_pairs.hpp"
#include "kernels/articulated/constraints/constraint_terms.hpp"
#include "kernels/articulated/constraints/soft_constraint.hpp"
#include "kernels/articulated/dynamics/discrete.hpp"
#include "kernels/articulated/dynamics/step.hpp"

namespace hindcast::articulated {

// A limit of a hinge or slide, or friction loss of a degree of freedom.
struct DofRow {
    enum Kind : std::uint8_t { low, high, friction } kind = low;
    int joint = 0, dof = 0, qpos = 0;
    double margin = 0;
};

struct EqualityRow {
    robot::EqualityType type{};
    int number = 0;              // in the model
    int first = 0, second = -1;  // bodies, sites, joints or tendons; second: -1 for none
    bool sites = false;          // of connect and weld: what they hold together
    bool derived = false;        // where the second one is held follows from qpos0
    double reference[2] = {};    // of joints and tendons: position at rest
    int row = 0;                 // its first one

    int rows() const {
        return type == robot::EqualityType::weld ? 6 : type == robot::EqualityType::connect ? 3 : 1;
    }
};

struct BallLimit {
    int joint = 0, row = 0;
    double margin = 0;
};

struct TendonRow {
    DofRow::Kind kind = DofRow::low;
    int tendon = 0, row = 0;
    double margin = 0;
};

// A row of a coupling of the integrator `discrete` (dynamics/discrete.hpp).
struct CoupledRow {
    CouplingOf coupling;
    int row = 0;
};

struct ConstraintPlan {
    std::vector<DofRow> dof_rows;
    std::vector<EqualityRow> equalities;
    std::vector<BallLimit> balls;
    std::vector<TendonRow> tendons;
    std::vector<CoupledRow> coupled;
    Collisions collisions;
    std::vector<int> priorities;  // of pairs: 1: the numbers of geom1 count, 2: of geom2, 0: both
    int tree_rows = 0;            // of the tree
    int contacts = 0;             // at most
    std::vector<std::int64_t> geom_bodies;  // of all geoms, if there may be contacts
    int rows_of_a_contact = 0;              // of the largest
    bool elliptic = false;
    double friction_impedance = 1;  // impratio
    SpringOptions springs;

    bool empty() const { return dof_rows.empty() && tree_rows == 0 && contacts == 0; }
    RowSizes sizes(int dofs) const;
    int dof_frictions() const;     // the first of dof_rows
    int tendon_frictions() const;  // the first of tendons
    HoldingRows holding() const;
    // The number of rows of a contact of this dimension.
    int rows_of(int dimension) const {
        return dimension == 1 ? 1 : elliptic ? dimension : 2 * (dimension - 1);
    }
};

using PlanPointer = std::shared_ptr<const ConstraintPlan>;

// `contacts`: how many there may be at once, if there are slots for as many. Throws Error for geoms that may
// touch and whose contacts are not simulated.
PlanPointer plan_of(const robot::RobotModel& model, const Tree& tree, int contacts);

}  // namespace hindcast::articulated
