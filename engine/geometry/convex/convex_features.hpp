// Contacts of any two convex shapes, from the features that meet.
//
// A shape's core is what is left of it without its radius: a point, a segment, a polytope, a
// cylinder, an ellipsoid. A feature of a core is a flat, spanned by up to two directions that the
// shape carries along, through a point that it carries along too, or through the point of a circle or
// an ellipsoid at which the normal is n:
//     a(n, s, t) = point + curve(n) + s first + t second
// Two features meet where n is at right angles to all directions and separates most: where
// n . (b(-n) - a(n)) is greatest. Two directions determine n. With one or none n is a root of the
// derivative, which is known to full precision but without derivatives (convex_search.hpp); a step of
// Newton's method from there has exact first ones, two steps have exact second ones, too.
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
    // From a circle's or an ellipsoid's centre to its point with this normal, and how that changes as
    // the normal does by x; zero for other shapes and on a cap.
    Vec3 curve(const Vec3& normal, const Bool& on_cap) const;
    Vec3 curve_change(const Vec3& normal, const Vec3& x, const Bool& on_cap) const;
};

// In multiples of the shape's units, along its axes; no direction is zero. A cylinder's point is a
// middle of a cap, or fixed on its rim; its first direction alone the axis or a chord of the cap, two
// directions span the cap.
struct Feature {
    Vec3 point, first, second;

    Feature() = default;
    Feature(const Feature&) = default;
    Feature& operator=(const Feature&) & = default;
    Feature(const Vec3& p, const Vec3& along, const Vec3& across)
        : point(p), first(along), second(across) {}
    // Stored row by row; read without a derivative.
    static Feature from(const Mat3& rows);
    Mat3 rows() const;
    static Feature chosen(const Bool& c, const Feature& a, const Feature& b) {
        return Feature(select(c, a.point, b.point), select(c, a.first, b.first),
                       select(c, a.second, b.second));
    }
};

// Two features that meet. With at most two directions between them these are not parallel. More of
// them come with a given normal, that of a face with two directions; of two faces, the second's:
//     face and edge     where the edge crosses the face's first direction, as seen along the normal
//     face and face     at the second's point, from the first's plane along the normal
class Meeting {
public:
    Meeting(const ConvexShape& one, const Feature& of_one, const ConvexShape& two,
            const Feature& of_two);
    // The normal, from one near to it: of two directions at once, else by a step of Newton's method.
    Vec3 normal_from(const Vec3& near) const;
    // From the first core's point with this normal to the second's, but for ways along directions.
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
