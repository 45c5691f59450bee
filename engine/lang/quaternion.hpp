// Traced quaternions q = w + x i + y j + z k, in memory (w, x, y, z). Unit quaternions are
// rotations, q and -q the same one:
//     rotate(q, v) = q v q*,   rotate(p * q, v) = rotate(p, rotate(q, v))
// A rotation vector r turns by |r| radians about r/|r|; exponential(r) is its quaternion, smooth
// also at r = 0.
//
// A rotation has three degrees of freedom: state moves by update(q, r) = exponential(r) q, and an
// objective's gradient with respect to the four components becomes one with respect to r, at r = 0,
// by tangent_gradient(q, g).
#pragma once

#include "engine/lang/buffers.hpp"
#include "engine/lang/matrix.hpp"

namespace hindcast::lang {

class Quat {
public:
    Quat() : c_(1.0, 0.0, 0.0, 0.0) {}  // no rotation
    Quat(const Float& w, const Vec3& v) : c_(w, v.x(), v.y(), v.z()) {}
    explicit Quat(const Vec4& components) : c_(components) {}
    Quat(const Quat&) = default;
    Quat& operator=(const Quat&) & = default;

    const Float& w() const { return c_[0]; }
    Vec3 vector() const { return Vec3(c_[1], c_[2], c_[3]); }
    const Vec4& components() const { return c_; }
    Float& component(int k) { return c_[k]; }
    const Float& component(int k) const { return c_[k]; }

    // Hamilton's product: first q, then p.
    friend Quat operator*(const Quat& p, const Quat& q) {
        const Vec3 a = p.vector(), b = q.vector();
        return Quat(p.w() * q.w() - dot(a, b), p.w() * b + q.w() * a + cross(a, b));
    }
    friend Quat operator+(const Quat& p, const Quat& q) { return Quat(p.c_ + q.c_); }
    friend Quat operator-(const Quat& p, const Quat& q) { return Quat(p.c_ - q.c_); }
    friend Quat operator*(const Quat& q, Float::Operand s) { return Quat(q.c_ * s); }
    friend Quat operator*(Float::Operand s, const Quat& q) { return Quat(q.c_ * s); }

private:
    Vec4 c_;
};

template <>
struct Shape<Quat> {
    using S = Float;
    static constexpr int components = 4, rows = 1;
    static Float& component(Quat& q, int k) { return q.component(k); }
    static const Float& component(const Quat& q, int k) { return q.component(k); }
};

// The inverse of a unit quaternion.
inline Quat conjugate(const Quat& q) { return Quat(q.w(), -q.vector()); }
inline Float dot(const Quat& p, const Quat& q) { return dot(p.components(), q.components()); }
inline Float norm(const Quat& q) { return norm(q.components()); }
inline Quat normalize(const Quat& q) { return Quat(normalize(q.components())); }

// q v q* for a unit q: v + 2 u x (u x v + w v), with u the vector part.
inline Vec3 rotate(const Quat& q, const Vec3& v) {
    const Vec3 u = q.vector();
    return v + 2.0 * cross(u, cross(u, v) + q.w() * v);
}
inline Mat3 to_matrix(const Quat& q) {
    return Mat3::from_columns({rotate(q, Vec3(1.0, 0.0, 0.0)), rotate(q, Vec3(0.0, 1.0, 0.0)),
                               rotate(q, Vec3(0.0, 0.0, 1.0))});
}

// The rotation by `angle` radians about a unit axis.
inline Quat from_axis_angle(const Vec3& axis, Float::Operand angle) {
    const Float half = 0.5 * Float::from(angle.value);
    return Quat(cos(half), sin(half) * axis);
}

// (cos h, sin h r/|r|) with h = |r|/2. Below h^2 = 0.01 both are series in h^2, whose first omitted
// terms, h^12/12! and h^12/13!, are below one rounding, and so are those of their first two
// derivatives.
inline Quat exponential(const Vec3& r) {
    const Float h2 = 0.25 * squared_norm(r), h = sqrt(h2);
    const Bool small = h2 < 0.01;
    const Float cosine =
        1.0 -
        h2 / 2.0 * (1.0 - h2 / 12.0 * (1.0 - h2 / 30.0 * (1.0 - h2 / 56.0 * (1.0 - h2 / 90.0))));
    const Float sine =
        1.0 -
        h2 / 6.0 * (1.0 - h2 / 20.0 * (1.0 - h2 / 42.0 * (1.0 - h2 / 72.0 * (1.0 - h2 / 110.0))));
    return Quat(select(small, cosine, cos(h)), 0.5 * select(small, sine, sin(h) / h) * r);
}

// The rotation vector of a unit quaternion, of at most pi: exponential(r) is q or -q.
// r = 2 asin(s) / s v with s = |v|, v the vector part where w >= 0. Below s^2 = 0.02 it is the
// series of asin, whose first omitted term is below one rounding.
inline Vec3 rotation_vector(const Quat& q) {
    const Bool flipped = q.w() < 0.0;
    const Float w = select(flipped, -q.w(), q.w());
    const Vec3 v = select(flipped, -q.vector(), q.vector());
    const Float s2 = dot(v, v);
    const Bool small = s2 < 0.02;
    // Coefficients of asin(s) / s as a series in s^2.
    static constexpr double series[] = {1.0,           1.0 / 6,       3.0 / 40,
                                        5.0 / 112,     35.0 / 1152,   63.0 / 2816,
                                        231.0 / 13312, 143.0 / 10240, 6435.0 / 557056};
    Float sum = Float(series[8]);
    for (int k = 7; k >= 0; --k) sum = sum * s2 + series[k];
    const Float s = sqrt(select(small, Float(1), s2));
    return (2.0 * select(small, sum, atan2(s, w) / s)) * v;
}

// q turned further by the rotation vector r, given in the frame that q rotates into.
inline Quat update(const Quat& q, const Vec3& r) { return normalize(exponential(r) * q); }
// The gradient with respect to r of f(update(q, r)) at r = 0, from the gradient g of f with respect
// to q's components.
inline Vec3 tangent_gradient(const Quat& q, const Quat& g) {
    return 0.5 * (g * conjugate(q)).vector();
}

}  // namespace hindcast::lang
