// Boxes; in the plane rectangles.
#pragma once

#include <algorithm>
#include <utility>

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Box {
    static constexpr KindRow row{
        .kind = ShapeKind::box,
        .name = "box",
        .title = "Box",
        .looks = "box with flat sides",
        .sized_by = SizedBy::lengths,
        .size_text = "the lengths of its edges",
        .core = Core::box,
        .placed_by = PlacedBy::center_and_half_extents,
        .obstacle_text = "A box; in the plane, a rectangle. It turns about its center."};

    template <class T>
    static Solid<T> solid(const Size<T>& size) {
        const T &a = size[0], &b = size[1], &c = size[2];
        return {8.0 * a * b * c, (b * b + c * c) / 3.0, (a * a + c * c) / 3.0,
                (a * a + b * b) / 3.0};
    }
    // Six faces.
    template <class T>
    static Solid<T> shell(const Size<T>& size) {
        const T &a = size[0], &b = size[1], &c = size[2];
        const T x = 8.0 * b * c, y = 8.0 * a * c, z = 8.0 * a * b, all = x + y + z;
        const T aa = a * a, bb = b * b, cc = c * c;
        return {all, (x * (bb + cc) / 3.0 + y * (cc / 3.0 + bb) + z * (bb / 3.0 + cc)) / all,
                (x * (cc / 3.0 + aa) + y * (aa + cc) / 3.0 + z * (aa / 3.0 + cc)) / all,
                (x * (bb / 3.0 + aa) + y * (aa / 3.0 + bb) + z * (aa + bb) / 3.0) / all};
    }

    static Crossing crossing(const Vec3& size, const Vec3& p, const Vec3& v) {
        return both(
            crossing_of_slab(p[0], v[0], size[0]),
            both(crossing_of_slab(p[1], v[1], size[1]), crossing_of_slab(p[2], v[2], size[2])));
    }
    static Bool contains(const Vec3& size, const Vec3& p) {
        const auto within = [&](int k) { return p[k] <= size[k] && p[k] >= -size[k]; };
        return within(0) && within(1) && within(2);
    }

    // |max(q, 0)| + min(max_k q_k, 0) with q = |p| - half extents; p in the box's axes.
    template <class V>
    static Float distance(const V& p, const V& half, const Float& /*size*/) {
        V q = p;
        for (int k = 0; k < V::size; ++k) q[k] = abs(q[k]) - half[k];
        return distance_outside(q);
    }

    static SurfaceMesh surface(const numeric::Vec3& half, double /*radius*/, int dimension,
                               int /*around*/) {
        SurfaceMesh mesh;
        for (std::size_t k = dimension == 2 ? 2 : 0; k < 3; ++k)
            for (const double side : {1.0, -1.0}) {
                if (dimension == 2 && side < 0) continue;
                numeric::Vec3 normal{};
                normal[k] = side;
                std::vector<SurfaceMesh::Vertex> corners;
                for (const auto& [x, y] :
                     {std::pair(-1.0, -1.0), {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
                    numeric::Vec3 p{};
                    p[k] = side * half[k];
                    p[(k + 1) % 3] = x * half[(k + 1) % 3];
                    p[(k + 2) % 3] = y * half[(k + 2) % 3];
                    corners.push_back({p, normal});
                }
                if (side < 0) std::ranges::reverse(corners);
                mesh.add_fan(corners);
            }
        return mesh;
    }
};

}  // namespace hindcast::geometry::kinds
