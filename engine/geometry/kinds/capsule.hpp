// Capsules: the points within a radius of a segment along z. The half length is the segment's.
#pragma once

#include <cmath>
#include <numbers>

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Capsule {
    static constexpr KindRow row{
        .kind = ShapeKind::capsule,
        .name = "capsule",
        .title = "Capsule",
        .looks = "bar with round ends",
        .sized_by = SizedBy::radius_and_length,
        .size_text = "between the centers of its round ends, along its own z",
        .round_ends = true,
        .core = Core::segment,
        .placed_by = PlacedBy::ends,
        .obstacle_text =
            "A capsule: points stay farther than the radius from the line between two "
            "places. It turns about the middle."};

    // A cylinder and two halves of a sphere, whose centers are 3/8 of the radius from their bases.
    template <class T>
    static Solid<T> solid(const Size<T>& size) {
        const T &r = size[0], &h = size[1];
        const T cylinder = 2 * std::numbers::pi * r * r * h,
                sphere = 4 * std::numbers::pi / 3 * r * r * r, all = cylinder + sphere;
        const T across = (cylinder * (0.25 * r * r + h * h / 3.0) +
                          sphere * (0.4 * r * r + 0.75 * h * r + h * h)) /
                         all;
        return {all, across, across, (cylinder * 0.5 + sphere * 0.4) * r * r / all};
    }
    // Centers of hemispherical shells are 1/2 of the radius from their bases.
    template <class T>
    static Solid<T> shell(const Size<T>& size) {
        const T &r = size[0], &h = size[1];
        const T side = 4 * std::numbers::pi * r * h, sphere = 4 * std::numbers::pi * r * r,
                all = side + sphere;
        const T across =
            (side * (0.5 * r * r + h * h / 3.0) + sphere * (2.0 / 3 * r * r + h * r + h * h)) / all;
        return {all, across, across, (side + sphere * (2.0 / 3)) * r * r / all};
    }

    static Crossing crossing(const Vec3& size, const Vec3& p, const Vec3& v) {
        const Vec3 up(Float(0), Float(0), size[1]);
        const Crossing ends =
            either(crossing_of_ball(size[0], p - up, v), crossing_of_ball(size[0], p + up, v));
        return either(crossing_of_tube(size, p, v), ends);
    }
    static Bool contains(const Vec3& size, const Vec3& p) {
        const Vec3 from(p[0], p[1], p[2] - clamp(p[2], -size[1], size[1]));
        return dot(from, from) <= size[0] * size[0];
    }

    // Half of the axis is e:  |p - clamp(p.e / e.e, -1, 1) e| - r
    template <class V>
    static Float distance(const V& p, const V& e, const Float& radius) {
        const Float along = clamp(dot(p, e) / dot(e, e), -1.0, 1.0);
        return norm(p - along * e) - radius;
    }

    static SurfaceMesh surface(const numeric::Vec3& e, double radius, int dimension, int around) {
        using numeric::plus;
        using numeric::scaled;
        const double length = std::sqrt(numeric::dot(e, e)), right = std::numbers::pi / 2;
        if (dimension == 2) {
            const numeric::Vec3 d = numeric::unit(e), left{-d[1], d[0], 0};
            std::vector<numeric::Vec3> outline{{}};
            const int half_way = around / 2;
            for (const double end : {1.0, -1.0})
                for (int k = 0; k <= half_way; ++k) {
                    const double angle = 2 * right * k / half_way - right;
                    const numeric::Vec3 out =
                        plus(scaled(d, end * std::cos(angle)), scaled(left, end * std::sin(angle)));
                    outline.push_back(plus(scaled(e, end), scaled(out, radius)));
                }
            outline.push_back(outline[1]);
            return filled_outline(outline);
        }
        std::vector<Ring> profile;
        const int quarter = around / 4;
        for (const double end : {-1.0, 1.0})
            for (int k = 0; k <= quarter; ++k) {
                // From the pole to the equator, and back.
                const int step = end < 0 ? k : quarter - k;
                const double out = step == 0 ? 0 : std::sin(right * step / quarter),
                             along = end * std::cos(right * step / quarter);
                profile.push_back({radius * out, end * length + radius * along, out, along});
            }
        return revolved(e, profile, around);
    }
};

}  // namespace hindcast::geometry::kinds
