#include "kernels/articulated/collision/height_field.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using robot::GeomType;

std::vector<robot::ModelArray> field_arrays(const robot::RobotModel& model) {
    const auto types = model.integers("geom_type"), data = model.integers("geom_dataid");
    std::vector<std::int32_t> fields;
    std::vector<double> sizes, heights;
    for (std::size_t g = 0; g < types.size(); ++g) {
        const bool is_field =
            robot::enum_at<GeomType>(types, static_cast<int>(g)) == GeomType::hfield &&
            data[g] >= 0;
        if (!is_field) {
            fields.insert(fields.end(), {0, 0, 0});
            sizes.insert(sizes.end(), {0, 0, 0});
            continue;
        }
        const auto f = static_cast<std::size_t>(data[g]);
        const std::int32_t rows = model.integers("hfield_nrow")[f],
                           columns = model.integers("hfield_ncol")[f],
                           first = model.integers("hfield_adr")[f];
        const auto size = model.reals("hfield_size").subspan(4 * f, 4);
        fields.insert(fields.end(), {static_cast<std::int32_t>(heights.size()), rows, columns});
        sizes.insert(sizes.end(), {size[0], size[1], size[3]});
        const auto data_of_field =
            model.reals("hfield_data")
                .subspan(static_cast<std::size_t>(first),
                         static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
        for (const double height : data_of_field) heights.push_back(size[2] * height);
    }
    if (heights.empty()) heights.push_back(0);
    const auto geoms = static_cast<std::int64_t>(types.size()),
               count = static_cast<std::int64_t>(heights.size());
    return {{"geom_field", geoms, 3, std::move(fields)},
            {"field_size", geoms, 3, std::move(sizes)},
            {"field_height", count, 1, std::move(heights)}};
}

namespace {

// A field where it stands.
struct Field {
    Shape shape;
    Int first, rows, columns;
    Vec3 size;
    const Read<Float>& heights;

    Float step(int axis) const {
        return 2.0 * size[axis] / Float((axis == 0 ? columns : rows) - 1);
    }
    Vec3 corner(const Int& row, const Int& column) const {
        return Vec3(Float(column) * step(0) - size.x(), Float(row) * step(1) - size.y(),
                    heights[first + row * columns + column]);
    }
    // The first or second triangle of a cell, with its bottom.
    std::array<Vec3, 6> prism(const Int& row, const Int& column, const Bool& second) const {
        const Vec3 a = corner(row, column), b = corner(row + 1, column + 1);
        const Int one = select(second, Int(1), Int(0));
        const Vec3 c = corner(row + 1 - one, column + one);
        const auto below = [&](const Vec3& v) { return Vec3(v.x(), v.y(), -size.z()); };
        return {a, b, c, below(a), below(b), below(c)};
    }
};

// The interval of a shape along an axis of the field, m, wider by `reach` at both ends.
struct Range {
    Float low, high;
};
Range range_of(const SearchedShape& s, const Shape& field, int axis, const Float& reach) {
    const ConvexShape& c = s.convex;
    const auto end = [&](const Vec3& way) {
        const Vec3 point = c.shape.place - field.place +
                           c.shape.outward(cwise_product(c.unit(), farthest(s, way))) +
                           c.curve(way, Bool(false));
        return dot(point, way) + c.radius() + reach;
    };
    return {-end(-field.axis(axis)), end(field.axis(axis))};
}

// The cells between these places along an axis: the first one, and after the last one.
struct Cells {
    Int begin, end;
};
Cells cells_of(const Field& field, int axis, const Range& range) {
    const Int count = (axis == 0 ? field.columns : field.rows) - 1;
    const auto cell = [&](const Float& x) {
        return Int(clamp(floor((x + field.size[axis]) / field.step(axis)), -1.0, Float(count)));
    };
    return {max(cell(range.low), 0), min(cell(range.high) + 1, count)};
}

}  // namespace

KernelDef field_search(GeomType second, int slots) {
    return kernel(
        std::string("articulated_search_hfield_") + std::string(robot::name_of(second)),
        {"pair_geoms", "pair_slot", "pair_reach", "geom_xpos", "geom_xmat", "geom_size",
         "geom_hull", "hull_vertex", "vertex_polygons", "polygon_at", "polygon_corners",
         "corner_vertex", "polygon_normal", "geom_field", "field_size", "field_height",
         "slot_normal", "slot_one", "slot_two"},
        [second, slots](Int pair, Read<Int2> pair_geoms, Read<Int> pair_slot,
                        Read<Float> pair_reach, Read<Vec3> geom_xpos, Read<Mat3> geom_xmat,
                        Property<Vec3> geom_size, Read<Int2> geom_hull, Read<Vec3> hull_vertex,
                        Read<Int2> vertex_polygons, Read<Int> polygon_at,
                        Read<Int2> polygon_corners, Read<Int> corner_vertex,
                        Read<Vec3> polygon_normal, Read<Int3> geom_field, Read<Vec3> field_size,
                        Read<Float> field_height, WriteSlice<Vec3> slot_normal,
                        WriteSlice<Mat3> slot_one, WriteSlice<Mat3> slot_two) {
            const Hulls hulls{geom_hull,       hull_vertex,   vertex_polygons, polygon_at,
                              polygon_corners, corner_vertex, polygon_normal};
            const Int2 geoms = pair_geoms[pair];
            const Int &g = geoms.x(), &h = geoms.y();
            const Int3 own = geom_field[g];
            const Field field{without_derivative(Shape(geom_xpos[g], geom_xmat[g], Vec3())),
                              own.x(),
                              own.y(),
                              own.z(),
                              field_size[g],
                              field_height};
            const SearchedShape other{
                {kind_of(second),
                 without_derivative(Shape(geom_xpos[h], geom_xmat[h], geom_size[h]))},
                h,
                &hulls,
                {}};
            const Float reach = pair_reach[pair];
            const Cells columns = cells_of(field, 0, range_of(other, field.shape, 0, reach)),
                        rows = cells_of(field, 1, range_of(other, field.shape, 1, reach));
            const Range up = range_of(other, field.shape, 2, reach);
            const Int first_slot = pair_slot[pair];
            Int count = 0;
            const auto put = [&](const Int& place, const FoundFeatures& f) {
                slot_normal.store_once(first_slot + place, f.normal);
                slot_one.store_once(first_slot + place, f.one.rows());
                slot_two.store_once(first_slot + place, f.two.rows());
            };
            for_(rows.begin, rows.end, [&](Int row) {
                for_(2 * columns.begin, 2 * columns.end, [&](Int half) {
                    SearchedShape prism{{Core::prism, field.shape}, g, &hulls, {}};
                    prism.corners = field.prism(row, half / 2, half % 2 == 1);
                    const Float top =
                        max(prism.corners[0].z(), max(prism.corners[1].z(), prism.corners[2].z()));
                    if_(top >= up.low && -field.size.z() <= up.high && count < slots, [&] {
                        const FoundFeatures found = meeting_features(prism, other, reach);
                        const Float dist = Meeting(prism.convex, found.one, other.convex, found.two)
                                               .contact(found.normal)
                                               .dist;
                        if_(squared_norm(found.normal) > 0.0 && dist <= reach, [&] {
                            put(count, found);
                            count = count + 1;
                        });
                    });
                });
            });
            for_(count, slots, [&](Int place) { put(place, FoundFeatures()); });
        });
}

}  // namespace hindcast::articulated
