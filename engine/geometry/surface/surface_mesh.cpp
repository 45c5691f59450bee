#include "engine/geometry/surface/surface_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hindcast::geometry {

using numeric::cross;
using numeric::plus;
using numeric::scaled;
using numeric::unit;
using Vertex = SurfaceMesh::Vertex;

void SurfaceMesh::add(const Vertex& a, const Vertex& b, const Vertex& c) {
    for (const Vertex* v : {&a, &b, &c}) {
        places.push_back(v->place);
        normals.push_back(v->normal);
    }
}

void SurfaceMesh::add_fan(const std::vector<Vertex>& corners) {
    for (std::size_t k = 2; k < corners.size(); ++k) add(corners[0], corners[k - 1], corners[k]);
}

SurfaceMesh flat_triangles(const std::vector<double>& corners) {
    SurfaceMesh mesh;
    for (std::size_t t = 0; t + 9 <= corners.size(); t += 9) {
        numeric::Vec3 p[3];
        for (std::size_t k = 0; k < 9; ++k) p[k / 3][k % 3] = corners[t + k];
        const numeric::Vec3 normal =
            unit(cross(numeric::minus(p[1], p[0]), numeric::minus(p[2], p[0])));
        mesh.add({p[0], normal}, {p[1], normal}, {p[2], normal});
    }
    return mesh;
}

SurfaceMesh revolved(const numeric::Vec3& axis, const std::vector<Ring>& profile, int around) {
    const numeric::Vec3 d = unit(axis);
    const std::size_t least = static_cast<std::size_t>(
        std::ranges::min_element(d, {}, [](double x) { return std::abs(x); }) - d.begin());
    numeric::Vec3 e{};
    e[least] = 1;
    const numeric::Vec3 a = unit(cross(e, d)), b = cross(d, a);
    const auto at = [&](const Ring& ring, int k) {
        const double angle = 2 * std::numbers::pi * (k % around) / around;
        const numeric::Vec3 out = plus(scaled(a, std::cos(angle)), scaled(b, std::sin(angle)));
        return Vertex{plus(scaled(out, ring.radius), scaled(d, ring.along)),
                      plus(scaled(out, ring.normal_out), scaled(d, ring.normal_along))};
    };
    SurfaceMesh mesh;
    for (std::size_t i = 0; i + 1 < profile.size(); ++i) {
        const Ring &from = profile[i], &to = profile[i + 1];
        if (from.radius == to.radius && from.along == to.along) continue;  // an edge
        for (int k = 0; k < around; ++k) {
            if (from.radius > 0) mesh.add(at(from, k), at(from, k + 1), at(to, k));
            if (to.radius > 0) mesh.add(at(from, k + 1), at(to, k + 1), at(to, k));
        }
    }
    return mesh;
}

SurfaceMesh ellipsoid_mesh(const numeric::Vec3& half, int around) {
    std::vector<Ring> profile;
    const int rings = around / 2;
    for (int k = 0; k <= rings; ++k) {
        const double angle = std::numbers::pi * k / rings;
        const double out = k == 0 || k == rings ? 0 : std::sin(angle), along = -std::cos(angle);
        profile.push_back({out, along, out, along});
    }
    SurfaceMesh mesh = revolved({0, 0, 1}, profile, around);
    for (numeric::Vec3& p : mesh.places)
        for (std::size_t k = 0; k < 3; ++k) p[k] *= half[k];
    for (numeric::Vec3& n : mesh.normals) {
        for (std::size_t k = 0; k < 3; ++k) n[k] /= half[k];
        n = unit(n);
    }
    return mesh;
}

SurfaceMesh filled_outline(const std::vector<numeric::Vec3>& outline) {
    std::vector<Vertex> corners;
    for (const numeric::Vec3& place : outline) corners.push_back({place, {0, 0, 1}});
    SurfaceMesh mesh;
    mesh.add_fan(corners);
    return mesh;
}

}  // namespace hindcast::geometry
