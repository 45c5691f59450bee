#include "engine/geometry/round_pairs.hpp"

#include <cmath>

#include "engine/geometry/segments.hpp"

namespace hindcast::geometry {

namespace {

// The normal if the centers of round shapes coincide: any would do; this one is across both axes.
Vec3 across(const Shape& a, const Shape& b) { return direction_of(cross(a.axis(2), b.axis(2))); }

// The contact of a plane and a point at this distance from it.
Contact plane_point(const Vec3& normal, const Vec3& point, const Float& dist) {
    return Contact(dist, point - normal * (0.5 * dist), normal);
}

}  // namespace

Contact ball_ball(const Vec3& one, const Float& radius_one, const Vec3& two,
                  const Float& radius_two, const Vec3& otherwise) {
    const Vec3 between = two - one;
    const Float length = norm(between), dist = length - radius_one - radius_two;
    const Vec3 normal = select(length < no_length, otherwise, normalize(between));
    return Contact(dist, one + normal * (radius_one + 0.5 * dist), normal);
}

Contact plane_ball(const Vec3& normal, const Vec3& through, const Vec3& center,
                   const Float& radius) {
    const Float dist = dot(center - through, normal) - radius;
    return Contact(dist, center - normal * (radius + 0.5 * dist), normal);
}

Contacts plane_sphere(const Shape& plane, const Shape& sphere, const Float& /*reach*/) {
    return {plane_ball(plane.axis(2), plane.place, sphere.place, sphere.radius())};
}

// Contacts of the capsule's two end balls.
Contacts plane_capsule(const Shape& plane, const Shape& capsule, const Float& /*reach*/) {
    Contacts both;
    for (const int side : {1, -1}) {
        const Vec3 end =
            capsule.place + static_cast<double>(side) * capsule.half_length() * capsule.axis(2);
        Contact contact = plane_ball(plane.axis(2), plane.place, end, capsule.radius());
        contact.tangent = capsule.axis(2);
        both.push_back(contact);
    }
    return both;
}

// The point of the ellipsoid that lies deepest: with n the normal in its axes and S the half axes,
// -S^2 n / |S n|.
Contacts plane_ellipsoid(const Shape& plane, const Shape& ellipsoid, const Float& /*reach*/) {
    const Vec3 normal = plane.axis(2),
               scaled = cwise_product(ellipsoid.size, ellipsoid.inward(normal));
    const Vec3 lowest =
        ellipsoid.place - ellipsoid.outward(cwise_product(ellipsoid.size, normalize(scaled)));
    return {plane_point(normal, lowest, dot(lowest - plane.place, normal))};
}

// The lowest point of the rim nearer to the plane, the one of the other rim on the same side, and
// two that make a regular triangle with the first.
Contacts plane_cylinder(const Shape& plane, const Shape& cylinder, const Float& /*reach*/) {
    const Vec3 normal = plane.axis(2);
    const Vec3 down =
        select(dot(normal, cylinder.axis(2)) > 0.0, -cylinder.axis(2), cylinder.axis(2));
    const Float along = dot(normal, down);
    const Vec3 lowest = down * along - normal;  // in the plane of the rim
    const Vec3 out =
        cylinder.radius() * select(norm(lowest) < no_length, cylinder.axis(0), normalize(lowest));
    const Vec3 sideways =
        direction_of(cross(out, down)) * (cylinder.radius() * (0.5 * std::sqrt(3.0)));
    const Vec3 center = cylinder.place, end = cylinder.half_length() * down;
    Contacts all;
    const Vec3 points[] = {center + end + out, center - end + out,
                           center + end - 0.5 * out + sideways,
                           center + end - 0.5 * out - sideways};
    for (const Vec3& point : points)
        all.push_back(plane_point(normal, point, dot(point - plane.place, normal)));
    return all;
}

// Contacts of four corners: of each two opposite ones, the one nearer to the plane.
Contacts plane_box(const Shape& plane, const Shape& box, const Float& /*reach*/) {
    const Vec3 normal = plane.axis(2);
    const Float middle = dot(box.place - plane.place, normal);
    Contacts all;
    for (int k = 0; k < 4; ++k) {
        const Vec3 to_corner =
            box.outward(Vec3(k % 2 != 0 ? box.size[0] : -box.size[0],
                             k / 2 != 0 ? box.size[1] : -box.size[1], -box.size[2]));
        const Float height = dot(normal, to_corner);
        const Vec3 lower = select(height > 0.0, -to_corner, to_corner);
        all.push_back(plane_point(normal, box.place + lower, middle - abs(height)));
    }
    return all;
}

Contacts sphere_sphere(const Shape& one, const Shape& two, const Float& /*reach*/) {
    return {ball_ball(one.place, one.radius(), two.place, two.radius(), across(one, two))};
}

// The ball about the nearest point of the capsule's axis stands for the capsule.
Contacts sphere_capsule(const Shape& sphere, const Shape& capsule, const Float& /*reach*/) {
    const Vec3 axis = capsule.axis(2);
    const Float along = clamp(dot(axis, sphere.place - capsule.place), -capsule.half_length(),
                              capsule.half_length());
    return {ball_ball(sphere.place, sphere.radius(), capsule.place + along * axis, capsule.radius(),
                      across(sphere, capsule))};
}

// The nearest one of side, cap and rim; from within, the nearer one of side and cap.
Contacts sphere_cylinder(const Shape& sphere, const Shape& cylinder, const Float& /*reach*/) {
    const Vec3 axis = cylinder.axis(2), to_sphere = sphere.place - cylinder.place;
    const Float along = dot(axis, to_sphere);
    const Float &radius = cylinder.radius(), &half_length = cylinder.half_length();
    const Vec3 out = to_sphere - along * axis;
    const Float from_axis = norm(out);
    const Bool beside = abs(along) < half_length, above = from_axis < radius;
    const Bool cap_is_nearer = half_length - abs(along) < radius - from_axis;
    const Contact side = ball_ball(sphere.place, sphere.radius(), cylinder.place + along * axis,
                                   radius, across(sphere, cylinder));
    const Vec3 up = select(along > 0.0, axis, -axis), top = cylinder.place + half_length * up;
    const Contact cap = plane_ball(up, top, sphere.place, sphere.radius()).flipped();
    const Contact rim = ball_ball(sphere.place, sphere.radius(), top + radius * normalize(out),
                                  Float(0), across(sphere, cylinder));
    const Bool is_side = beside && !(above && cap_is_nearer), is_cap = above && !is_side;
    return {select(is_side, side, select(is_cap, cap, rim))};
}

// One contact, at the nearest points of the axes. Parallel axes have two, at both ends of the
// stretch in which they lie side by side.
Contacts capsule_capsule(const Shape& one, const Shape& two, const Float& /*reach*/) {
    const Vec3 a = one.half_length() * one.axis(2), b = two.half_length() * two.axis(2);
    const TwoSegments segments(a, b, two.place - one.place);
    const Vec3 otherwise = across(one, two);
    const auto at = [&](const Nearest& n) {
        return ball_ball(one.place + n.s * a, one.radius(), two.place + n.t * b, two.radius(),
                         otherwise);
    };
    const Bool parallel = segments.parallel();
    Contact second = at(segments.beside(1));
    second.exists = parallel;
    return {select(parallel, at(segments.beside(-1)), at(segments.nearest())), second};
}

}  // namespace hindcast::geometry
