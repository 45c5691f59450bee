// Several contacts of two shapes with flat sides that are nearly parallel.
//
// Only faces and edges at the features that meet count. Two faces that look at each other within 5
// degrees make a patch: the second shape's face is the plane of contact, and up to four corners of
// their common part are contacts. Else an edge that lies within 5 degrees of the other shape's face
// makes two contacts: the ends of its part above the face. A rounded line counts as an edge, and
// so does the line of a cylinder's side that is nearest to the face; the rim of a cylinder's cap
// counts as a polygon.
#pragma once

#include <vector>

#include "engine/geometry/convex/convex_search.hpp"

namespace hindcast::geometry {

// Up to `slots` contacts, as features, in place of the one that was found; empty slots have a
// normal of zero.
std::vector<FoundFeatures> contact_patch(const SearchedShape& one, const SearchedShape& two,
                                         const FoundFeatures& found, const Float& reach, int slots);

}  // namespace hindcast::geometry
