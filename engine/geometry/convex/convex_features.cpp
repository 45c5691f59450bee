#include "engine/geometry/convex/convex_features.hpp"

#include "engine/ad/grad.hpp"

namespace hindcast::geometry {

namespace {

ConvexShape still_shape(const ConvexShape& s) {
    ConvexShape still = s;
    still.shape = without_derivative(s.shape);
    return still;
}

Bool is_off_axis(const Vec3& p) { return p.x() * p.x() + p.y() * p.y() > 0.0; }

// A unit vector at right angles to a unit vector.
Vec3 beside(const Vec3& n) {
    const Vec3 axis = select(abs(n.x()) < 0.6, Vec3(1, 0, 0), Vec3(0, 1, 0));
    return normalize(cross(n, axis));
}

}  // namespace

Vec3 ConvexShape::unit() const {
    switch (core) {
        case Core::point:
        case Core::ellipsoid: return Vec3();
        case Core::segment: return Vec3(0, 0, shape.half_length());
        case Core::cylinder: return Vec3(shape.radius(), shape.radius(), shape.half_length());
        case Core::box: return shape.size;
        default: return Vec3(1, 1, 1);
    }
}

Vec3 ConvexShape::unit_of_directions() const {
    return core == Core::cylinder ? Vec3(1, 1, 1) : unit();
}

Float ConvexShape::radius() const {
    return core == Core::point || core == Core::segment ? shape.radius() : Float(0);
}

Vec3 ConvexShape::curve(const Vec3& normal, const Bool& on_cap) const {
    if (!is_curved()) return {};
    const Vec3 n = shape.inward(normal);
    if (core == Core::cylinder)
        return shape.outward(
            select(on_cap, Vec3(), shape.radius() * normalize(Vec3(n.x(), n.y(), 0.0))));
    return shape.outward(cwise_product(shape.size, normalize(cwise_product(shape.size, n))));
}

// As m changes by x, r m / |m| changes by r (x - u (u . x)) / |m|, with u the direction of m. For
// an ellipsoid with half axes S, m is S n, x is S x, and r is S.
Vec3 ConvexShape::curve_change(const Vec3& normal, const Vec3& x, const Bool& on_cap) const {
    if (!is_curved()) return {};
    const Vec3 n = shape.inward(normal), way = shape.inward(x);
    const bool is_circle = core == Core::cylinder;
    const Vec3 size = is_circle ? Vec3(1.0, 1.0, 0.0) : shape.size;
    const Vec3 m = cwise_product(size, n), y = cwise_product(size, way);
    const Vec3 u = normalize(m), change = y - dot(u, y) * u;
    const Float length = norm(m);
    const Vec3 turned =
        Vec3(divz(change.x(), length), divz(change.y(), length), divz(change.z(), length));
    const Vec3 moved = is_circle ? shape.radius() * turned : cwise_product(shape.size, turned);
    return shape.outward(select(on_cap, Vec3(), moved));
}

Feature Feature::from(const Mat3& rows) {
    const auto row = [&](int r) {
        return without_derivative(Vec3(rows(r, 0), rows(r, 1), rows(r, 2)));
    };
    return Feature(row(0), row(1), row(2));
}

Mat3 Feature::rows() const { return transpose(Mat3::from_columns({point, first, second})); }

Meeting::Meeting(const ConvexShape& one, const Feature& of_one, const ConvexShape& two,
                 const Feature& of_two)
    : one_(one),
      two_(two),
      plane_one_(is_some(of_one.second)),
      plane_two_(is_some(of_two.second)),
      flat_one_(plane_one_ || is_off_axis(of_one.point)),
      flat_two_(plane_two_ || is_off_axis(of_two.point)),
      has_one_(is_some(of_one.first)),
      has_two_(is_some(of_two.first)),
      point_one_(one.shape.outward(cwise_product(one.unit(), of_one.point))),
      point_two_(two.shape.place - one.shape.place +
                 two.shape.outward(cwise_product(two.unit(), of_two.point))) {
    const auto turned = [](const ConvexShape& s, const Vec3& direction) {
        return s.shape.outward(cwise_product(s.unit_of_directions(), direction));
    };
    along_one_ = turned(one, of_one.first), along_two_ = turned(two, of_two.first);
    across_one_ = turned(one, of_one.second), across_two_ = turned(two, of_two.second);
    first_ = select(plane_two_ || !has_one_, along_two_, along_one_);
    second_ = select(plane_two_, across_two_,
                     select(plane_one_, across_one_, select(has_one_, along_two_, Vec3())));
}

Vec3 Meeting::gap(const Vec3& normal) const {
    return point_two_ + two_.curve(-normal, flat_two_) - point_one_ - one_.curve(normal, flat_one_);
}

Vec3 Meeting::gap_change(const Vec3& normal, const Vec3& x) const {
    return -(two_.curve_change(-normal, x, flat_two_) + one_.curve_change(normal, x, flat_one_));
}

Vec3 Meeting::normal_from(const Vec3& near) const {
    const Vec3 both = normalize(cross(first_, second_)),
               determined = select(dot(both, near) < 0.0, -both, both);
    const Vec3 along = normalize(first_);
    const Bool has_first = has_one_ || has_two_,
               has_second = plane_one_ || plane_two_ || (has_one_ && has_two_);
    const Vec3 start = select(has_first, normalize(near - dot(along, near) * along), near);
    const Vec3 q = normalize(select(has_first, cross(start, along), beside(near)));
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
    const Float by_p = select(has_first, Float(0), divz(pq * slope_q - qq * slope_p, both_ways));
    const Float by_q =
        select(has_first, divz(-slope_q, qq), divz(pq * slope_p - pp * slope_q, both_ways));
    // Limits the step far from the root.
    const Float length = max(1.0, 2.0 * max(abs(by_p), abs(by_q)));
    const Vec3 stepped = normalize(start + (by_p / length) * p + (by_q / length) * q);
    return select(has_second, determined, stepped);
}

Contact Meeting::contact(const Vec3& normal) const {
    const Vec3 on_one = point_one_ + one_.curve(normal, flat_one_),
               on_two = point_two_ + two_.curve(-normal, flat_two_), w = on_two - on_one;
    const Bool each = has_one_ && has_two_, planes = plane_one_ && plane_two_;
    // The first's point moves along its direction to where its line crosses the second's, as seen
    // along the normal; if the first is a face, the second's point moves over the face.
    const Vec3 over_two = cross(along_two_, normal), over_one = cross(along_one_, normal);
    const Bool moves_one = each && !plane_one_, moves_two = each && plane_one_ && !plane_two_;
    const Float s = divz(dot(w, over_two), dot(along_one_, over_two)),
                t = divz(-dot(w, over_one), dot(along_two_, over_one));
    const Vec3 one = select(moves_one, on_one + s * along_one_, on_one),
               two = select(moves_two, on_two + t * along_two_, on_two);
    const Vec3 facing = cross(along_one_, across_one_);
    const Float dist =
        select(planes, divz(dot(facing, w), dot(facing, normal)), dot(normal, two - one));
    const Bool by_two = has_one_ && (!has_two_ || plane_one_);
    // Midway between a point of one feature and the nearest point of the other.
    const Vec3 middle = select(by_two, two - (0.5 * dist) * normal,
                               select(has_two_, one + (0.5 * dist) * normal, 0.5 * (one + two)));
    const Float radius_one = one_.radius(), radius_two = two_.radius();
    return Contact(dist - radius_one - radius_two,
                   one_.shape.place + middle + (0.5 * (radius_one - radius_two)) * normal, normal);
}

}  // namespace hindcast::geometry
