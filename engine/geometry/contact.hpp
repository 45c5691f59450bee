// Shapes that collide, and the contacts that they make, on traced values.
//
// A contact's distance is that of the surfaces, negative if they overlap; its place lies midway
// between them; its normal points from the first shape to the second.
#pragma once

#include <vector>

#include "engine/lang/kernel.hpp"
#include "engine/lang/quaternion.hpp"

namespace hindcast::geometry {

using namespace lang;

// Lengths below this one count as zero, as in MuJoCo; choices in singular cases are also MuJoCo's.
inline constexpr double no_length = 1e-15;
// Two shapes have a fixed number of slots for contacts; this is the distance of an empty slot, m.
inline constexpr double far_away = 1e10;

// A shape at its place. The meaning of `size`, m, depends on the kind: radius; radius and half
// length; half axes; half edges.
struct Shape {
    Vec3 place;
    Mat3 axes;  // its axes are the columns
    Vec3 size;

    Shape() = default;
    Shape(const Vec3& where, const Mat3& turned, const Vec3& large)
        : place(where), axes(turned), size(large) {}
    Shape(const Shape&) = default;
    Shape& operator=(const Shape&) & = default;
    Vec3 axis(int k) const { return axes.column(k); }
    const Float& radius() const { return size[0]; }
    const Float& half_length() const { return size[1]; }  // along the axis
    // A vector of the world in this shape's axes, and one of the shape in the world's.
    Vec3 inward(const Vec3& v) const { return transpose(axes) * v; }
    Vec3 outward(const Vec3& v) const { return axes * v; }
};

// The same numbers without a derivative.
Vec3 without_derivative(const Vec3& v);
Shape without_derivative(const Shape& s);

struct Contact {
    Bool exists;
    Float dist;
    Vec3 place, normal;
    Vec3 tangent;  // the frame's second axis points about there; zero: anywhere

    Contact() : exists(false) {}
    Contact(const Bool& is, const Float& distance, const Vec3& where, const Vec3& direction)
        : exists(is), dist(distance), place(where), normal(direction) {}
    Contact(const Float& distance, const Vec3& where, const Vec3& direction)
        : Contact(Bool(true), distance, where, direction) {}
    Contact(const Contact&) = default;
    Contact& operator=(const Contact&) & = default;
    // The same contact seen from the other shape.
    Contact flipped() const {
        Contact other = *this;
        other.normal = -normal;
        return other;
    }
};

using Contacts = std::vector<Contact>;

inline Contact select(const Bool& c, const Contact& a, const Contact& b) {
    Contact chosen((c && a.exists) || (!c && b.exists), select(c, a.dist, b.dist),
                   select(c, a.place, b.place), select(c, a.normal, b.normal));
    chosen.tangent = select(c, a.tangent, b.tangent);
    return chosen;
}

// v / |v|; the x axis if v is zero.
inline Vec3 direction_of(const Vec3& v) {
    return select(norm(v) < no_length, Vec3(1.0, 0.0, 0.0), normalize(v));
}

// Normal and two tangents, as rows. The first tangent is the contact's or, without one, the y axis,
// or z if the normal is near y; it is made orthogonal to the normal.
inline Mat3 frame_of(const Contact& contact) {
    const Vec3& x = contact.normal;
    const Vec3 otherwise = select(x.y() < 0.5 && x.y() > -0.5, Vec3(0, 1, 0), Vec3(0, 0, 1));
    const Vec3 wish = select(squared_norm(contact.tangent) < 0.25, otherwise, contact.tangent);
    const Vec3 y = direction_of(wish - dot(x, wish) * x), z = cross(x, y);
    Mat3 frame;
    for (int k = 0; k < 3; ++k) frame(0, k) = x[k], frame(1, k) = y[k], frame(2, k) = z[k];
    return frame;
}

}  // namespace hindcast::geometry
