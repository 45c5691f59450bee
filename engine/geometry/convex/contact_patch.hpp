// Several contacts where flat sides of two shapes are nearly parallel.
//
// Faces are those at the features that meet. Two of them that look at each other within 5 degrees
// make a patch: the second's face is the plane of contact, and up to four corners of what both have
// in common are contacts. Else an edge that lies within 5 degrees of the other shape's face makes two:
// the ends of what is above the face. Edges are also a capsule's axis and the line of a cylinder's
// side that is nearest to the face; the rim of a cylinder's cap counts as a polygon.
#pragma once

#include <vector>

#include "engine/geometry/convex/convex_search.hpp"

namespace hindcast::geometry {

// Up to `slots` contacts, as features, in place of the one that was found; normals of empty ones are
// zero.
std::vector<FoundFeatures> contact_patch(const SearchedShape& one, const SearchedShape& two,
                                         const FoundFeatures& found, const Float& reach, int slots);

}  // namespace hindcast::geometry
