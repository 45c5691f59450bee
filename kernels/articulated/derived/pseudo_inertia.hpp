// Inertias of bodies by numbers of which every value is possible: the logarithmic Cholesky factor of
// the pseudo-inertia (Rucker and Wensing, Smooth parameterization of rigid-body inertia, IEEE RA-L
// 2022). With the ten numbers (a, d1, d2, d3, s12, s23, s13, t1, t2, t3) of a body
//   U = e^a [ e^d1  s12   s13   t1 ]
//           [       e^d2  s23   t2 ]
//           [             e^d3  t3 ]
//           [                   1  ],        J = U U^T = [ S      m c ]
//                                                        [ m c^T  m   ]
// m = e^(2a) is the mass, c = t the center of mass, and with S_c = S - m c c^T the inertia about c is
// tr(S_c) 1 - S_c. All in the body's frame.
#pragma once

#include <vector>

#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// The numbers of each body of a model, and 0 for those without mass. Throws Error, by name, where an
// inertia is on the edge of what is possible (a sum of two principal moments is not more than the third).
std::vector<double> pseudo_inertias(const robot::RobotModel& model);

// body_pseudo_inertia -> body_mass (kg), body_ipos (m), body_fullinertia (kg m^2); without mass where
// the i32 has_mass is 0. One item for each body.
KernelDef inertia_from_pseudo();

}  // namespace hindcast::articulated
