#include "kernels/articulated/collision/convex_features.hpp"

#include "engine/ad/grad.hpp"

namespace hindcast::articulated {

using robot::GeomType;

Vec3 without_derivative(const Vec3& v) {
    return Vec3(ad::stop_gradient(v.x()), ad::stop_gradient(v.y()), ad::stop_gradient(v.z()));
}

namespace {

ConvexShape still_shape(const ConvexShape& s) {
    ConvexShape still = s;
    still.shape.size = without_derivative(s.shape.size);
    for (int k = 0; k < 9; ++k)
        still.shape.axes(k / 3, k % 3) = ad::stop_gradient(s.shape.axes(k / 3, k % 3));
    return still;
}

Bool is_some(const Vec3& v) { return squared_norm(v) > 0.0; }

// A unit vector at right angles to a unit vector.
Vec3 beside(const Vec3& n) {
    const Vec3 axis = select(abs(n.x()) < 0.6, Vec3(1, 0, 0), Vec3(0, 1, 0));
    return normalize(cross(n, axis));
}

}  // namespace

Vec3 ConvexShape::unit() const {
    switch (type) {
        case GeomType::sphere:
        case GeomType::ellipsoid: return Vec3();
        case GeomType::capsule:
        case GeomType::cylinder: return Vec3(0, 0, shape.half_length());
        case GeomType::box: return shape.size;
        default: return Vec3(1, 1, 1);
    }
}

Vec3 ConvexShape::unit_of_directions() const {
    return type == GeomType::cylinder ? Vec3(1, 1, 1) : unit();
}

Float ConvexShape::radius() const {
    return type == GeomType::sphere || type == GeomType::capsule ? shape.radius() : Float(0);
}

Vec3 ConvexShape::curve(const Vec3& normal, const Bool& on_cap) const {
    if (!is_curved()) return {};
    const Vec3 n = shape.inward(normal);
    if (type == GeomType::cylinder)
        return shape.outward(select(on_cap, Vec3(),
                                    shape.radius() * normalize(Vec3(n.x(), n.y(), 0.0))));
    return shape.outward(cwise_product(shape.size, normalize(cwise_product(shape.size, n))));
}

// Of r m / |m|: r (x - u (u . x)) / |m| with u the direction of m; of an ellipsoid, whose half axes
// are S, the same with m = S n and S x, times S.
Vec3 ConvexShape::curve_change(const Vec3& normal, const Vec3& x, const Bool& on_cap) const {
    if (!is_curved()) return {};
    const Vec3 n = shape.inward(normal), way = shape.inward(x);
    const bool is_circle = type == GeomType::cylinder;
    const Vec3 size = is_circle ? Vec3(1.0, 1.0, 0.0) : shape.size;
    const Vec3 m = cwise_product(size, n), y = cwise_product(size, way);
    const Vec3 u = normalize(m), change = y - dot(u, y) * u;
    const Float length = norm(m);
    const Vec3 turned = Vec3(divz(change.x(), length), divz(change.y(), length),
                             divz(change.z(), length));
    const Vec3 moved =
        is_circle ? shape.radius() * turned : cwise_product(shape.size, turned);
    return shape.outward(select(on_cap, Vec3(), moved));
}

Feature Feature::from(const Mat3& rows) {
    const auto row = [&](int r) {
        return without_derivative(Vec3(rows(r, 0), rows(r, 1), rows(r, 2)));
    };
    return Feature(row(0), row(1), row(2));
}

Mat3 Feature::rows() const {
    return transpose(Mat3::from_columns({point, first, second}));
}

Meeting::Meeting(const ConvexShape& one, const Feature& of_one, const ConvexShape& two,
                 const Feature& of_two)
    : one_(one),
      two_(two),
      one_flat_(is_some(of_one.second)),
      two_flat_(is_some(of_two.second)),
      point_one_(one.shape.outward(cwise_product(one.unit(), of_one.point))),
      point_two_(two.shape.place - one.shape.place +
                 two.shape.outward(cwise_product(two.unit(), of_two.point))),
      one_has_direction_(is_some(of_one.first)),
      two_has_direction_(is_some(of_two.first)) {
    const auto turned = [](const ConvexShape& s, const Vec3& direction) {
        return s.shape.outward(cwise_product(s.unit_of_directions(), direction));
    };
    const Vec3 a = turned(one, of_one.first), b = turned(one, of_one.second),
               c = turned(two, of_two.first), d = turned(two, of_two.second);
    first_ = select(one_has_direction_, a, c);
    second_ = select(one_flat_, b, select(one_has_direction_, c, d));
    has_first_ = one_has_direction_ || two_has_direction_;
    has_second_ = one_flat_ || two_flat_ || (one_has_direction_ && two_has_direction_);
}

Vec3 Meeting::gap(const Vec3& normal) const {
    return point_two_ + two_.curve(-normal, two_flat_) - point_one_ -
           one_.curve(normal, one_flat_);
}

Vec3 Meeting::gap_change(const Vec3& normal, const Vec3& x) const {
    return -(two_.curve_change(-normal, x, two_flat_) + one_.curve_change(normal, x, one_flat_));
}

Vec3 Meeting::normal_from(const Vec3& near) const {
    const Vec3 both = normalize(cross(first_, second_)),
               determined = select(dot(both, near) < 0.0, -both, both);
    const Vec3 along = normalize(first_);
    const Vec3 start = select(has_first_, normalize(near - dot(along, near) * along), near);
    const Vec3 q = normalize(select(has_first_, cross(start, along), beside(near)));
    const Vec3 p = cross(q, start);
    const Vec3 w = gap(start);
    // The slope of n . gap(n) along p and q, and its second derivative.
    const Float slope_p = dot(p, w), slope_q = dot(q, w);
    Meeting still = *this;
    still.one_ = still_shape(one_), still.two_ = still_shape(two_);
    const Vec3 n0 = without_derivative(start), p0 = without_derivative(p),
               q0 = without_derivative(q);
    const Float dist = dot(n0, without_derivative(w));
    const Vec3 along_p = still.gap_change(n0, p0), along_q = still.gap_change(n0, q0);
    const Float pp = dot(p0, along_p) - dist, pq = dot(p0, along_q), qq = dot(q0, along_q) - dist;
    const Float both_ways = pp * qq - pq * pq;
    const Float by_p = select(has_first_, Float(0), divz(pq * slope_q - qq * slope_p, both_ways));
    const Float by_q = select(has_first_, divz(-slope_q, qq),
                              divz(pq * slope_p - pp * slope_q, both_ways));
    // Far from the root it goes no farther than this.
    const Float length = max(1.0, 2.0 * max(abs(by_p), abs(by_q)));
    const Vec3 stepped = normalize(start + (by_p / length) * p + (by_q / length) * q);
    return select(has_second_, determined, stepped);
}

Contact Meeting::contact(const Vec3& normal) const {
    const Vec3 w = gap(normal);
    const Float dist = dot(normal, w);
    // w = s first - t second + dist normal where each has a direction.
    const Vec3 side = cross(second_, normal);
    const Float s = divz(dot(w, side), dot(first_, side));
    const Vec3 on_one = point_one_ + one_.curve(normal, one_flat_),
               on_two = point_two_ + two_.curve(-normal, two_flat_);
    const Bool each = one_has_direction_ && two_has_direction_;
    // The middle of a point of the one without directions, and of the other's nearest point.
    const Vec3 middle =
        select(each, on_one + s * first_ + (0.5 * dist) * normal,
               select(one_has_direction_, on_two - (0.5 * dist) * normal,
                      select(two_has_direction_, on_one + (0.5 * dist) * normal,
                             0.5 * (on_one + on_two))));
    const Float one = one_.radius(), two = two_.radius();
    return Contact(dist - one - two, one_.shape.place + middle + (0.5 * (one - two)) * normal,
                   normal);
}

}  // namespace hindcast::articulated
