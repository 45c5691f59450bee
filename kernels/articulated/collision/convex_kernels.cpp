#include <string>

#include "engine/geometry/convex/contact_patch.hpp"
#include "engine/geometry/convex/convex_search.hpp"
#include "kernels/articulated/collision/contact_slots.hpp"
#include "kernels/articulated/collision/height_field.hpp"
#include "kernels/articulated/collision/narrow_phase.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using robot::GeomType;

namespace {

std::string named(const char* what, GeomType first, GeomType second) {
    return std::string("articulated_") + what + "_" + std::string(robot::name_of(first)) + "_" +
           std::string(robot::name_of(second));
}

}  // namespace

KernelDef search(GeomType first, GeomType second, int slots) {
    if (first == GeomType::hfield) return field_search(second, slots);
    return kernel(named("search", first, second),
                  {"pair_geoms", "pair_slot", "pair_reach", "geom_xpos", "geom_xmat", "geom_size",
                   "geom_hull", "hull_vertex", "vertex_polygons", "polygon_at", "polygon_corners",
                   "corner_vertex", "polygon_normal", "slot_normal", "slot_one", "slot_two"},
                  [first, second, slots](
                      Int pair, Read<Int2> pair_geoms, Read<Int> pair_slot, Read<Float> pair_reach,
                      Read<Vec3> geom_xpos, Read<Mat3> geom_xmat, Property<Vec3> geom_size,
                      Read<Int2> geom_hull, Read<Vec3> hull_vertex, Read<Int2> vertex_polygons,
                      Read<Int> polygon_at, Read<Int2> polygon_corners, Read<Int> corner_vertex,
                      Read<Vec3> polygon_normal, WriteSlice<Vec3> slot_normal,
                      WriteSlice<Mat3> slot_one, WriteSlice<Mat3> slot_two) {
                      const Hulls hulls{geom_hull,       hull_vertex,   vertex_polygons, polygon_at,
                                        polygon_corners, corner_vertex, polygon_normal};
                      const Int2 geoms = pair_geoms[pair];
                      const auto shape = [&](GeomType type, const Int& g) {
                          return SearchedShape{
                              {kind_of(type),
                               without_derivative(Shape(geom_xpos[g], geom_xmat[g], geom_size[g]))},
                              g,
                              &hulls,
                              {}};
                      };
                      const SearchedShape one = shape(first, geoms.x()),
                                          two = shape(second, geoms.y());
                      const Float reach = pair_reach[pair];
                      const FoundFeatures found = meeting_features(one, two, reach);
                      std::vector<FoundFeatures> all = {found};
                      if (slots > 1) all = contact_patch(one, two, found, reach, slots);
                      Int slot = pair_slot[pair];
                      for (const FoundFeatures& f : all) {
                          slot_normal.store_once(slot, f.normal);
                          slot_one.store_once(slot, f.one.rows());
                          slot_two.store_once(slot, f.two.rows());
                          slot = slot + 1;
                      }
                  });
}

KernelDef convex_contacts(GeomType first, GeomType second, int slots) {
    return kernel(
        named("contacts", first, second),
        {"pair_geoms", "pair_slot", "pair_reach", "geom_xpos", "geom_xmat", "geom_size",
         "slot_normal", "slot_one", "slot_two", "slot_dist", "slot_pos", "slot_frame"},
        [first, second, slots](
            Int pair, Read<Int2> pair_geoms, Read<Int> pair_slot, Read<Float> /*pair_reach*/,
            Read<Vec3> geom_xpos, Read<Mat3> geom_xmat, Property<Vec3> geom_size,
            Read<Vec3> slot_normal, Read<Mat3> slot_one, Read<Mat3> slot_two,
            WriteSlice<Float> slot_dist, WriteSlice<Vec3> slot_pos, WriteSlice<Mat3> slot_frame) {
            const Int2 geoms = pair_geoms[pair];
            const auto shape = [&](GeomType type, const Int& g) {
                return ConvexShape{kind_of(type), Shape(geom_xpos[g], geom_xmat[g], geom_size[g])};
            };
            const ConvexShape one = shape(first, geoms.x()), two = shape(second, geoms.y());
            const Int first_slot = pair_slot[pair];
            for_(0, slots, [&](Int k) {
                const Int slot = first_slot + k;
                const Meeting meeting(one, Feature::from(slot_one[slot]), two,
                                      Feature::from(slot_two[slot]));
                const Vec3 near = without_derivative(slot_normal[slot]);
                // One step for the first derivatives, another one for the second.
                Contact contact = meeting.contact(meeting.normal_from(meeting.normal_from(near)));
                contact.exists = squared_norm(near) > 0.0;
                store(contact, slot, slot_dist, slot_pos, slot_frame);
            });
        });
}

}  // namespace hindcast::articulated
