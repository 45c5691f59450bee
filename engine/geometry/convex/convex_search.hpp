// The features of two convex shapes that meet: a search without derivatives, whose result
// convex_features.hpp turns into a contact.
//
// The search works on the difference of the two cores, {b - a}. If the difference does not hold the
// origin, the search finds its nearest point (Gilbert, Johnson, Keerthi, 1988), else its facet
// nearest to the origin (expanding polytope; van den Bergen, 2001). Both end with three points of
// the difference, whose corners tell which features meet. Circles and ellipsoids have no corners:
// the search tries their features, each with its best normal, and takes those that separate most.
#pragma once

#include <array>

#include "engine/geometry/convex/convex_features.hpp"
#include "engine/geometry/hulls.hpp"

namespace hindcast::geometry {

// A convex shape of a geom: for a mesh its hull, for a height field one prism, by its corners.
struct SearchedShape {
    ConvexShape convex;
    Int geom;
    const Hulls* hulls = nullptr;
    std::array<Vec3, 6> corners = {};
};

// A point of the difference: b - a, from a in the first shape's units and b in the second's.
struct DifferencePoint {
    Vec3 w, one, two;

    DifferencePoint& operator=(const DifferencePoint&) & = default;
};
inline DifferencePoint select(const Bool& c, const DifferencePoint& a, const DifferencePoint& b) {
    return {select(c, a.w, b.w), select(c, a.one, b.one), select(c, a.two, b.two)};
}

struct Triangle {
    DifferencePoint corners[3];  // NOLINT: some may be the same

    Triangle& operator=(const Triangle&) & = default;
};

// The corner of a shape, in its units, that lies farthest along `way`, a vector of the world.
Vec3 farthest(const SearchedShape& shape, const Vec3& way);
// The difference's point that lies farthest along `way`.
DifferencePoint farthest(const SearchedShape& one, const SearchedShape& two, const Vec3& way);

struct NearestPoint {
    Triangle around;  // the nearest point lies on it
    Vec3 point;       // from the origin
    Bool overlap;     // the origin is within the difference, or next to it
    Bool beyond;      // the nearest point is farther than the reach
};
NearestPoint nearest_point(const SearchedShape& one, const SearchedShape& two, const Float& reach);

struct NearestFacet {
    Triangle facet;
    Vec3 normal;  // outwards
};
// The facet nearest to an origin within the difference; without meaning unless `counts`.
NearestFacet nearest_facet(const SearchedShape& one, const SearchedShape& two, const Bool& counts);

// The features that meet, and the normal, which is zero if they are farther apart than the reach.
struct FoundFeatures {
    Vec3 normal;
    Feature one, two;

    FoundFeatures() = default;
    FoundFeatures(const FoundFeatures&) = default;
    FoundFeatures& operator=(const FoundFeatures&) & = default;
};
FoundFeatures meeting_features(const SearchedShape& one, const SearchedShape& two,
                               const Float& reach);

}  // namespace hindcast::geometry
