// Kernels that place geoms and find their contacts. One item of a kernel is one pair of geoms; each
// pair has slots of its own for the contacts that it may make (collision_pairs.hpp). Arrays:
//   geom_xpos    geoms x 3    place of each geom
//   geom_xmat    geoms x 9    its axes, as columns of a matrix that is stored row by row
//   slot_dist    slots        distance of the surfaces, m; far_away where there is no contact
//   slot_pos     slots x 3    midway between the surfaces
//   slot_frame   slots x 9    rows: the normal, from the pair's first geom to its second, and two
//                             tangents
//   slot_normal  slots x 3    of general convex shapes, what meets, without derivatives: the normal,
//   slot_one     slots x 9    and the features of the first and of the second
//   slot_two     slots x 9    (engine/geometry/convex/convex_features.hpp)
// The contacts are those of MuJoCo, whose order within a pair is not kept. All have exact
// derivatives by places, orientations and sizes, while the features that meet stay the same.
#pragma once

#include <string>

#include "engine/geometry/contact.hpp"
#include "engine/robot/layout/model_enums.hpp"

namespace hindcast::articulated {

using namespace geometry;
using geometry::Shape;

// An item is a geom: geom_body [geoms], xpos and xquat of bodies, geom_pos and geom_quat in them ->
// geom_xpos, geom_xmat.
KernelDef geom_places();

// The number of slots of a pair of geoms of these types, the lower type first; 0 if there is no
// kernel for it.
int slots_of(robot::GeomType first, robot::GeomType second);

// An item is a pair of geoms of these types: pair_geoms [pairs x 2], pair_slot [pairs] (its first
// slot), pair_reach [pairs] (margin and gap together), geom_xpos, geom_xmat, geom_size -> its slots,
// of which it has this many.
KernelDef narrow_phase(robot::GeomType first, robot::GeomType second, int slots);

// True for types whose contact needs a search for the features that meet: search() comes before
// narrow_phase(), and has no derivative.
bool is_searched(robot::GeomType first, robot::GeomType second);
// An item is a pair of geoms of these types: pair_geoms, pair_slot, pair_reach, geom_xpos, geom_xmat,
// geom_size, the arrays of hulls (engine/geometry/hulls.hpp) -> slot_normal, slot_one, slot_two.
KernelDef search(robot::GeomType first, robot::GeomType second, int slots);
// The contacts of these features: what narrow_phase() is for such types. `slots`: of a pair.
KernelDef convex_contacts(robot::GeomType first, robot::GeomType second, int slots);

// One item: slot_dist, slot_margin [slots] -> contact_slot [capacity], the slots with a distance
// below their margin, in order, then -1; contact_count [1]. More of them than there is room for end
// the launch with the error `too_many`: "what has happened; remedy".
KernelDef gather(int slots, int capacity, const std::string& too_many);

}  // namespace hindcast::articulated
