// Rows of limits and of friction loss, one item per row. A launch before, which knows the tree,
// finds the motion of each row (constraint_rows.hpp); its softness takes most of the work, and is
// the same for all rows. Arrays of a family F, `dof` or `tendon`:
//   F_friction_motion   rows x 2   velocity along the row; its inverse inertia
//   F_limit_motion      rows x 3   position past the limit (negative: beyond it), velocity, inverse
//                                  inertia
//   F_friction_of, F_limit_of      i32: the degree of freedom, joint or tendon of each row
#pragma once

#include <string>

#include "kernels/articulated/constraints/soft_constraint.hpp"

namespace hindcast::articulated {

// The arrays and model numbers of a family, by their names.
struct FrictionNames {
    std::string of, motion, solref, solimp, loss, rows;  // rows: prefix of aref, mass, low, high
};
struct LimitNames {
    std::string of, motion, solref, solimp, rows;
};
inline const FrictionNames dof_friction{"dof_friction_of", "dof_friction_motion", "dof_solref",
                                        "dof_solimp",      "dof_frictionloss",    "dof_row_"};
inline const LimitNames dof_limit{"dof_limit_of", "dof_limit_motion", "jnt_solref", "jnt_solimp",
                                  "dof_row_"};
inline const FrictionNames tendon_friction{"tendon_friction_of",  "tendon_friction_motion",
                                           "tendon_solref_fri",   "tendon_solimp_fri",
                                           "tendon_frictionloss", "row_"};
inline const LimitNames tendon_limit{"tendon_limit_of", "tendon_limit_motion", "tendon_solref_lim",
                                     "tendon_solimp_lim", "row_"};

// Write reference accelerations, masses and bounds of as many rows as there are items, from row
// `first` on.
KernelDef friction_rows(const FrictionNames& names, SpringOptions springs, int first);
KernelDef limit_rows(const LimitNames& names, SpringOptions springs, int first);

}  // namespace hindcast::articulated
