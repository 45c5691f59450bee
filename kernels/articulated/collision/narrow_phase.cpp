#include "kernels/articulated/collision/narrow_phase.hpp"

#include <fmt/format.h>

#include "engine/geometry/kinds/row.hpp"
#include "engine/geometry/pairs.hpp"
#include "kernels/articulated/collision/contact_slots.hpp"
#include "kernels/articulated/collision/hull_arrays.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using robot::GeomType;

namespace {

// The matrix of a quaternion of any length. Quarter, third and half turns about axes and diagonals
// give zeros and ones without rounding, so that what is aligned is so exactly: no product is fused
// with a sum.
Mat3 rotation_of(const Quat& q) {
    const bool contract = builder().contract;
    builder().contract = false;
    const Float& w = q.w();
    const Vec3 v = q.vector();
    const Float ww = w * w, xx = v.x() * v.x(), yy = v.y() * v.y(), zz = v.z() * v.z();
    const Float squared = ww + xx + (yy + zz);
    Mat3 m;
    m(0, 0) = (ww + xx) - (yy + zz);
    m(1, 1) = (ww + yy) - (xx + zz);
    m(2, 2) = (ww + zz) - (xx + yy);
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;  // turns about axis k
        m(j, i) = 2.0 * (v[i] * v[j] + w * v[k]);
        m(i, j) = 2.0 * (v[i] * v[j] - w * v[k]);
    }
    const Mat3 axes = m / squared;
    builder().contract = contract;
    return axes;
}

}  // namespace

KernelDef geom_places() {
    return kernel(
        "articulated_geom_places",
        {"geom_body", "xpos", "xquat", "geom_pos", "geom_quat", "geom_xpos", "geom_xmat"},
        [](Int g, Read<Int> geom_body, Read<Vec3> xpos, Read<Quat> xquat, Property<Vec3> geom_pos,
           Property<Quat> geom_quat, Write<Vec3> geom_xpos, Write<Mat3> geom_xmat) {
            const Int body = geom_body[g];
            const Quat turned = xquat[body];
            geom_xpos[g] = xpos[body] + rotate(turned, geom_pos[g]);
            geom_xmat[g] = rotation_of(turned * geom_quat[g]);
        });
}

bool is_searched(GeomType first, GeomType second) {
    const auto pair = geometry::pair_of(kind_of(first), kind_of(second));
    return pair && pair->searched;
}

int slots_of(GeomType first, GeomType second) {
    const auto pair = geometry::pair_of(kind_of(first), kind_of(second));
    return pair ? pair->slots : 0;
}

namespace {

KernelDef plane_mesh_kernel() {
    return kernel(
        "articulated_plane_mesh",
        {"pair_geoms", "pair_slot", "pair_reach", "geom_xpos", "geom_xmat", "geom_hull",
         "hull_vertex", "vertex_polygons", "polygon_at", "polygon_corners", "corner_vertex",
         "polygon_normal", "slot_dist", "slot_pos", "slot_frame"},
        [](Int pair, Read<Int2> pair_geoms, Read<Int> pair_slot, Read<Float> /*pair_reach*/,
           Read<Vec3> geom_xpos, Read<Mat3> geom_xmat, Read<Int2> geom_hull, Read<Vec3> hull_vertex,
           Read<Int2> vertex_polygons, Read<Int> polygon_at, Read<Int2> polygon_corners,
           Read<Int> corner_vertex, Read<Vec3> polygon_normal, WriteSlice<Float> slot_dist,
           WriteSlice<Vec3> slot_pos, WriteSlice<Mat3> slot_frame) {
            const Hulls hulls{geom_hull,       hull_vertex,   vertex_polygons, polygon_at,
                              polygon_corners, corner_vertex, polygon_normal};
            const Int2 geoms = pair_geoms[pair];
            const auto shape = [&](const Int& g) {
                return Shape(geom_xpos[g], geom_xmat[g], Vec3());
            };
            store_all(plane_mesh(shape(geoms.x()), shape(geoms.y()), geoms.y(), hulls),
                      pair_slot[pair], slot_dist, slot_pos, slot_frame);
        });
}

}  // namespace

KernelDef narrow_phase(GeomType first, GeomType second, int slots) {
    const geometry::Pair pair_of_kinds = *geometry::pair_of(kind_of(first), kind_of(second));
    if (pair_of_kinds.searched) return convex_contacts(first, second, slots);
    if (pair_of_kinds.closed == nullptr) return plane_mesh_kernel();
    return kernel(
        fmt::format("articulated_{}_{}", geometry::row(kind_of(first)).name,
                    geometry::row(kind_of(second)).name),
        {"pair_geoms", "pair_slot", "pair_reach", "geom_xpos", "geom_xmat", "geom_size",
         "slot_dist", "slot_pos", "slot_frame"},
        [collide = pair_of_kinds.closed](
            Int pair, Read<Int2> pair_geoms, Read<Int> pair_slot, Read<Float> pair_reach,
            Read<Vec3> geom_xpos, Read<Mat3> geom_xmat, Property<Vec3> geom_size,
            WriteSlice<Float> slot_dist, WriteSlice<Vec3> slot_pos, WriteSlice<Mat3> slot_frame) {
            const Int2 geoms = pair_geoms[pair];
            const auto shape = [&](const Int& g) {
                return Shape(geom_xpos[g], geom_xmat[g], geom_size[g]);
            };
            const Contacts contacts = collide(shape(geoms.x()), shape(geoms.y()), pair_reach[pair]);
            store_all(contacts, pair_slot[pair], slot_dist, slot_pos, slot_frame);
        });
}

KernelDef gather(int slots, int capacity, const std::string& too_many) {
    return kernel(
        "articulated_gather", {"slot_dist", "slot_margin", "contact_slot", "contact_count"},
        [slots, capacity, too_many](Int, Read<Float> slot_dist, Read<Float> slot_margin,
                                    WriteSlice<Int> contact_slot, WriteSlice<Int> contact_count) {
            Int count = 0;
            for_(0, slots, [&](Int slot) {
                if_(slot_dist[slot] < slot_margin[slot], [&] {
                    raise_if(count >= capacity, too_many, slot);
                    contact_slot.store_once(count, slot);
                    count = count + 1;
                });
            });
            contact_count.store_once(0, count);
            for_(count, capacity, [&](Int place) { contact_slot.store_once(place, Int(-1)); });
        });
}

}  // namespace hindcast::articulated
