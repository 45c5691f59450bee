// Vectors of three numbers.
#pragma once

#include <array>
#include <cmath>

namespace hindcast::numeric {

using Vec3 = std::array<double, 3>;

inline double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// a + scale b
inline Vec3 plus(const Vec3& a, const Vec3& b, double scale = 1) {
    return {a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]};
}

inline Vec3 minus(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

inline Vec3 cross(const Vec3& a, const Vec3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Vec3 scaled(const Vec3& a, double s) { return {a[0] * s, a[1] * s, a[2] * s}; }

// A vector of length 1; the zero vector stays as it is.
inline Vec3 unit(const Vec3& v) {
    const double length = std::sqrt(dot(v, v));
    return length > 0 ? scaled(v, 1 / length) : v;
}

// The same; `otherwise` in place of the zero vector.
inline Vec3 normalized(const Vec3& v, const Vec3& otherwise) {
    const double length = std::sqrt(dot(v, v));
    return length > 0 ? Vec3{v[0] / length, v[1] / length, v[2] / length} : otherwise;
}

}  // namespace hindcast::numeric
