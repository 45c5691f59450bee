// The rows of contacts: of those that a narrow phase has found (collision/narrow_phase.hpp), by the
// number of their slot. Arrays, besides those of constraint_terms.hpp:
//   slot_pair      i32   the pair of each slot
//   pair_numbers   i32   of each pair: body1, body2, geom1, geom2, dimension, whose numbers count
//                        (ConstraintPlan::priorities), number of its <pair> or -1
//   pair_margin          m
//   dof_moves      i32 bodies x dofs   1 where the degree of freedom moves the body
//   dof_root       i32 dofs            the root of its tree
#pragma once

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// For each contact: slot_dist, slot_pos, slot_frame of its slot, cdof, xpos, qvel and the geoms'
// numbers -> its rows, from the row `tree_rows` on.
KernelDef contact_rows(const TreePointer& tree, const PlanPointer& plan);
// The wrench of each contact on its second geom, from row_force of its rows (constraint_terms.hpp):
//   contact_wrench   contacts x 6   along normal and tangents, and moments about them: N, N m; 0 of a
//                                   contact that there is not
KernelDef contact_wrenches(const PlanPointer& plan);
// The place and the force in the world of each contact, on its second geom, from contact_wrench:
//   shown   contacts x 6   m, N; of a contact that there is not, any place and 0
KernelDef contact_forces();
// contact_count -> row_count.
KernelDef count_rows(const PlanPointer& plan);

// pair_numbers of a plan, seven for each pair.
std::vector<std::int64_t> pair_numbers(const ConstraintPlan& plan);

}  // namespace hindcast::articulated
