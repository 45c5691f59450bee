// Contacts of any two convex shapes, from the features that meet.
//
// A shape's core is the shape without its radius: a point, a segment, a polytope, a cylinder, an
// ellipsoid. A feature of a core is a point, line or plane, spanned by up to two directions that
// are fixed in the shape. It goes through a point that is fixed in the shape, or through the point
// of a circle or an ellipsoid at which the normal is n:
//     a(n, s, t) = point + curve(n) + s first + t second
// Two features meet along the normal n that is at right angles to all directions and separates
// most: n . (b(-n) - a(n)) is greatest. Two directions determine n. With one or none n is a root of
// the derivative of that product. The search finds the root to full precision but without
// derivatives (convex_search.hpp); one step of Newton's method from there has exact first
// derivatives, two steps have exact second ones too.
#pragma once

#include "engine/geometry/contact.hpp"
#include "engine/geometry/kinds/row.hpp"

namespace hindcast::geometry {

inline Bool is_some(const Vec3& v) { return squared_norm(v) > 0.0; }

// A shape whose core is known while tracing.
struct ConvexShape {
    Core core;
    Shape shape;

    ConvexShape(Core c, const Shape& s) : core(c), shape(s) {}
    ConvexShape(ShapeKind kind, const Shape& s) : ConvexShape(row(kind).core, s) {}
    ConvexShape(const ConvexShape&) = default;
    ConvexShape& operator=(const ConvexShape&) & = default;

    bool is_curved() const { return core == Core::cylinder || core == Core::ellipsoid; }
    // The lengths, m along the shape's axes, of which a feature's numbers are multiples: those of
    // its point, and those of its directions.
    Vec3 unit() const;
    Vec3 unit_of_directions() const;
    // The radius, m, of the ball that is added to the core; 0 for a core without one.
    Float radius() const;
    // From a circle's or an ellipsoid's center to its point with this normal, and how that changes as
    // the normal does by x; zero for other shapes and on a cap.
    Vec3 curve(const Vec3& normal, const Bool& on_cap) const;
    Vec3 curve_change(const Vec3& normal, const Vec3& x, const Bool& on_cap) const;
};

// In multiples of the shape's units, along its axes; a missing direction is zero. A cylinder's
// point is the middle of a cap, or fixed on its rim. Its first direction alone is the axis or a
// chord of the cap; two directions span the cap.
struct Feature {
    Vec3 point, first, second;

    Feature() = default;
    Feature(const Feature&) = default;
    Feature& operator=(const Feature&) & = default;
    Feature(const Vec3& p, const Vec3& along, const Vec3& across)
        : point(p), first(along), second(across) {}
    // Vectors as the rows of a matrix; from() drops derivatives.
    static Feature from(const Mat3& rows);
    Mat3 rows() const;
    static Feature chosen(const Bool& c, const Feature& a, const Feature& b) {
        return Feature(select(c, a.point, b.point), select(c, a.first, b.first),
                       select(c, a.second, b.second));
    }
};

// Two features that meet. If they have at most two directions together, these are not parallel.
// With more, contact() is given the normal of a face, which is a feature with two directions; of
// two faces, the second's. The contact is then:
//     face and edge     where the edge crosses the face's first direction, as seen along the normal
//     face and face     at the second's point, from the first's plane along the normal
class Meeting {
public:
    Meeting(const ConvexShape& one, const Feature& of_one, const ConvexShape& two,
            const Feature& of_two);
    // The normal, from one near it: at once with two directions, else by a step of Newton's method.
    Vec3 normal_from(const Vec3& near) const;
    // The vector from the first core's point with this normal to the second's, but for ways along
    // directions.
    Vec3 gap(const Vec3& normal) const;
    Contact contact(const Vec3& normal) const;

private:
    // The change of the gap as the normal changes by x.
    Vec3 gap_change(const Vec3& normal, const Vec3& x) const;

    ConvexShape one_, two_;
    Bool plane_one_, plane_two_;  // two directions
    Bool flat_one_, flat_two_;    // a cylinder's cap
    Bool has_one_, has_two_;      // a direction
    Vec3 point_one_, point_two_;  // from the first shape's place
    Vec3 along_one_, across_one_, along_two_, across_two_;
    Vec3 first_, second_;  // the directions that the normal is at right angles to
};

}  // namespace hindcast::geometry
