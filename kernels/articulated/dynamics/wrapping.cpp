#include "kernels/articulated/dynamics/wrapping.hpp"

namespace hindcast::articulated {

namespace {

constexpr double tiny = 1e-15;

Float cross(const Vec2& a, const Vec2& b) { return a[0] * b[1] - a[1] * b[0]; }
Float angle(const Vec2& from, const Vec2& to) { return atan2(cross(from, to), dot(from, to)); }
Vec2 across(const Vec2& v) { return Vec2(-v[1], v[0]); }

struct PlaneWrap {
    Bool touches;
    Vec2 first, second;
    Float along;
};

// Numbers that no formula fails with, where there is nothing to find.
void make_safe(const Bool& is, Vec2& p, Vec2& q, Float& radius) {
    p = select(is, p, Vec2(Float(2), Float(0.5)));
    q = select(is, q, Vec2(Float(-2), Float(0.5)));
    radius = select(is, radius, Float(1));
}

Bool is_outside(const Vec2& p, const Vec2& q, const Float& radius) {
    const Float square = radius * radius;
    return dot(p, p) > square && dot(q, q) > square && radius > tiny;
}

PlaneWrap around(Vec2 p, Vec2 q, const Vec2* side, Float radius) {
    const Bool outside = is_outside(p, q, radius);
    make_safe(outside, p, q, radius);
    Float turn = angle(p, q);
    if (side != nullptr) {
        const Bool some = dot(*side, *side) > tiny * tiny;
        const Vec2 s = select(some, *side, Vec2(Float(1), Float(0)));
        turn = select(some, angle(p, s) + angle(s, q), turn);
    }
    const Float way = select(turn >= 0.0, Float(1), Float(-1));
    const Float p2 = dot(p, p), q2 = dot(q, q), r2 = radius * radius;
    const Float to = sqrt(p2 - r2), from = sqrt(q2 - r2);  // lengths of the tangents
    const Float arc = abs(turn) - atan2(to, radius) - atan2(from, radius);
    PlaneWrap w;
    w.touches = outside && arc > 0.0;
    w.first = (radius / p2) * (radius * p + (way * to) * across(p));
    w.second = (radius / q2) * (radius * q - (way * from) * across(q));
    w.along = radius * arc;
    return w;
}

// The point of the circle that the path through its inside goes by: with z the sine of the angle between
// the path and the radius there, asin(A z) + asin(B z) - 2 asin(z) + G = 0, where A and B are the radius
// over the distances of the ends, and G the angle between these. Newton's method from z = 1 comes to the
// root from one side. MuJoCo ends where the equation holds to 1e-6, so its point is up to 1e-7 beside.
PlaneWrap inside(Vec2 p, Vec2 q, Float radius) {
    Bool found = is_outside(p, q, radius);
    const Vec2 apart = q - p;
    const Float square = dot(apart, apart);
    const Bool some = square > tiny;
    const Float share = -dot(apart, p) / select(some, square, Float(1));
    const Vec2 nearest = p + share * apart;
    const Bool passes =
        some && share > 0.0 && share < 1.0 && dot(nearest, nearest) <= radius * radius;
    found = found && !passes;
    make_safe(found, p, q, radius);
    const Float one = sqrt(dot(p, p)), two = sqrt(dot(q, q));
    const Float a = radius / one, b = radius / two;
    const Float cosine = dot(p, q) / (one * two);
    found = found && cosine > -1.0 + tiny;
    const Bool between = cosine < 1.0 - tiny;  // else both are in one direction
    const Float between_angle = select(between, abs(atan2(cross(p, q), dot(p, q))), Float(1));
    const auto equation = [&](const Float& z) {
        return asin(a * z) + asin(b * z) - 2.0 * asin(z) + between_angle;
    };
    Float z = 1 - 1e-7;
    Float value = equation(z);
    const Bool solvable = between && value <= 0.0;
    for_(0, 20, [&](Int) {
        const auto slope = [&](const Float& c) {
            return c / max(sqrt(max(1.0 - (c * z) * (c * z), tiny)), tiny);
        };
        const Bool going = abs(value) > 1e-15 && solvable;
        const Float down = slope(a) + slope(b) - 2.0 * slope(Float(1));
        z = select(going, z - value / select(going, down, Float(1)), z);
        value = select(going, equation(z), value);
    });
    const Bool left = cross(p, q) > 0.0;
    const Vec2 from = select(left, p, q);
    const Float size = select(left, one, two), ratio = select(left, a, b);
    const Float turn = asin(z) - asin(ratio * z);
    const Vec2 unit = (1.0 / size) * from;
    const Vec2 solution = radius * (cos(turn) * unit + sin(turn) * across(unit));
    const Vec2 middle = p + q;
    const Float length = safe_sqrt(dot(middle, middle), 1e-30);
    PlaneWrap w;
    w.touches = found;
    w.first = w.second = select(solvable, solution, (radius / length) * middle);
    w.along = 0;
    return w;
}

}  // namespace

Wrap wrap(const Obstacle& o, const Vec3& p_world, const Vec3& q_world) {
    const Mat3 back = transpose(o.axes);
    const Vec3 p = back * (p_world - o.place), q = back * (q_world - o.place);
    Vec3 first_axis(1, 0, 0), second_axis(0, 1, 0);
    if (o.is_sphere) {
        const Vec3 normal = cross(p, q);
        const Float size = dot(normal, normal), length = dot(p, p);
        // Ends in one line with the center have any plane.
        const Bool some = size > tiny * tiny && length > tiny * tiny;
        const Vec3 n = select(some, normal, Vec3(0, 0, 1));
        first_axis = normalize(select(some, p, Vec3(1, 0, 0)));
        second_axis = normalize(cross(n, first_axis));
    }
    const auto in_plane = [&](const Vec3& v) {
        return Vec2(dot(v, first_axis), dot(v, second_axis));
    };
    const Vec2 from = in_plane(p), to = in_plane(q);
    PlaneWrap w;
    if (o.side == nullptr) {
        w = around(from, to, nullptr, o.radius);
    } else {
        const Vec3 s = back * (*o.side - o.place);
        const Vec2 side = in_plane(s);
        const Bool through = dot(s, s) < o.radius * o.radius;
        const PlaneWrap out = around(from, to, &side, o.radius), in = inside(from, to, o.radius);
        w.touches = (through && in.touches) || (!through && out.touches);
        w.first = select(through, in.first, out.first);
        w.second = select(through, in.second, out.second);
        w.along = select(through, in.along, out.along);
    }
    Vec3 first = first_axis * w.first[0] + second_axis * w.first[1],
         second = first_axis * w.second[0] + second_axis * w.second[1];
    Float along = w.along;
    if (!o.is_sphere) {
        // It climbs evenly along the unrolled path.
        const auto distance = [](const Vec2& a, const Vec2& b) {
            const Vec2 d = a - b;
            return safe_sqrt(dot(d, d), 1e-30);
        };
        const Float before = distance(from, w.first), after = distance(to, w.second);
        const Float rise = (q[2] - p[2]) / (before + along + after);
        first[2] = p[2] + rise * before;
        second[2] = p[2] + rise * (before + along);
        const Float climb = rise * along;
        along = safe_sqrt(along * along + climb * climb, 1e-30);
    }
    Wrap result;
    result.touches = w.touches;
    result.first = o.place + o.axes * first;
    result.second = o.place + o.axes * second;
    result.along = along;
    return result;
}

}  // namespace hindcast::articulated
