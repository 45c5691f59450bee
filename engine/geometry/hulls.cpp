#include "engine/geometry/hulls.hpp"

#include <array>

namespace hindcast::geometry {

Int farthest_vertex(const Hulls& hulls, const Int& geom, const Vec3& way) {
    const Int2 own = hulls.geom_hull[geom];
    Int best = own.x();
    Float most = -1e300;
    for_(0, own.y(), [&](Int k) {
        const Int vertex = own.x() + k;
        const Float there = dot(hulls.hull_vertex[vertex], way);
        best = select(there > most, vertex, best);
        most = max(there, most);
    });
    return best;
}

namespace {

// The polygon at a vertex whose normal points most along `way`.
Int facing_polygon(const Hulls& hulls, const Int& vertex, const Vec3& way) {
    const Int2 own = hulls.vertex_polygons[vertex];
    Int best = 0;
    Float most = -1e300;
    for_(0, own.y(), [&](Int k) {
        const Int polygon = hulls.polygon_at[own.x() + k];
        const Float there = dot(hulls.polygon_normal[polygon], way);
        best = select(there > most, polygon, best);
        most = max(there, most);
    });
    return best;
}

// Four corners of a polygon that span a large part of it: the corner `first` and three others that
// move on as long as the area grows. A polygon with at most four corners gives all of them; the
// count tells how many.
struct FourCorners {
    std::array<Int, 4> vertices;
    Int count;
};
FourCorners four_corners(const Hulls& hulls, const Int& polygon, const Int& first) {
    const Int2 own = hulls.polygon_corners[polygon];
    const auto vertex = [&](const Int& k) {
        return hulls.corner_vertex[own.x() + (first + k) % own.y()];
    };
    const auto at = [&](const Int& k) { return Vec3(hulls.hull_vertex[vertex(k)]); };
    const auto area = [&](const Int& b, const Int& c, const Int& d) {
        return norm(cross(at(c) - at(Int(0)), at(d) - at(b)));
    };
    Int b = 1, c = 2, d = 3;
    Int moving = select(own.y() > 4, Int(3), Int(0));  // b, c, d: 1, 2, 3; 0: all have stopped
    while_([&] { return moving > 0; },
           [&] {
               const Int nb = b + select(moving == 1, Int(1), Int(0)),
                         nc = c + select(moving == 2, Int(1), Int(0)),
                         nd = d + select(moving == 3, Int(1), Int(0));
               const Bool free = nb < nc && nc < nd && nd < own.y(), is_last = moving == 3;
               const Bool grows = free && area(nb, nc, nd) > area(b, c, d);
               b = select(grows, nb, b);
               c = select(grows, nc, c);
               d = select(grows, nd, d);
               // d moves by one corner, then c and b as long as the area grows, then d again.
               moving = select(grows, select(is_last, Int(2), moving),
                               select(is_last, Int(0), select(moving == 2, Int(1), Int(3))));
           },
           1 << 20, "a face of a mesh has too many corners; simplify the mesh");
    return {{vertex(Int(0)), vertex(b), vertex(c), vertex(d)}, min(own.y(), Int(4))};
}

}  // namespace

Contacts plane_mesh(const Shape& plane, const Shape& mesh, const Int& geom, const Hulls& hulls) {
    const Vec3 normal = plane.axis(2), down = mesh.inward(-normal);
    const Int lowest = farthest_vertex(hulls, geom, down);
    const Int polygon = facing_polygon(hulls, lowest, down);
    const Int2 own = hulls.polygon_corners[polygon];
    Int first = 0;
    for_(0, own.y(),
         [&](Int k) { first = select(hulls.corner_vertex[own.x() + k] == lowest, k, first); });
    const FourCorners corners = four_corners(hulls, polygon, first);
    Contacts all;
    for (int k = 0; k < 4; ++k) {
        const Vec3 vertex = hulls.hull_vertex[corners.vertices[static_cast<std::size_t>(k)]];
        const Vec3 from_middle = mesh.outward(vertex), point = mesh.place + from_middle;
        const Float dist = dot(point - plane.place, normal);
        // A corner above the mesh's middle does not touch.
        all.emplace_back(corners.count > k && dot(from_middle, normal) <= 0.0, dist,
                         point - normal * (0.5 * dist), normal);
    }
    return all;
}

}  // namespace hindcast::geometry
