#include "kernels/articulated/collision/hull_arrays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>

#include "engine/robot/model_reader.hpp"

namespace hindcast::articulated {

using robot::ModelArray;

namespace {

using Integers = std::vector<std::int32_t>;

class HullArrays : robot::ModelReader {
public:
    explicit HullArrays(const robot::RobotModel& model) : ModelReader(model) {}

    std::vector<ModelArray> make() {
        const auto types = m_.integers("geom_type"), meshes = m_.integers("geom_dataid");
        for (std::size_t g = 0; g < types.size(); ++g) {
            const int hull =
                hull_of(robot::enum_at<robot::GeomType>(types, static_cast<int>(g)), meshes[g]);
            if (hull == no_hull) {
                append(geom_hull_, 0, 0);
                continue;
            }
            if (!known_.contains(hull)) add_hull(hull);
            const auto [first, count] = known_.at(hull);
            append(geom_hull_, first, count);
        }
        return {integers("geom_hull", 2, geom_hull_),
                reals("hull_vertex", vertices_),
                integers("vertex_polygons", 2, vertex_polygons_),
                integers("polygon_at", 1, polygon_at_),
                integers("polygon_corners", 2, polygon_corners_),
                integers("corner_vertex", 1, corners_),
                reals("polygon_normal", normals_)};
    }

private:
    static void append(Integers& list, int a, int b) { list.push_back(a), list.push_back(b); }
    static ModelArray integers(const char* name, int columns, Integers list) {
        if (list.empty()) list.resize(static_cast<std::size_t>(columns));
        return {name, static_cast<std::int64_t>(list.size()) / columns, columns, std::move(list)};
    }
    static ModelArray reals(const char* name, std::vector<double> list) {
        if (list.empty()) list.resize(3);
        return {name, static_cast<std::int64_t>(list.size()) / 3, 3, std::move(list)};
    }

    static int hull_of(robot::GeomType type, int mesh) {
        if (type == robot::GeomType::box) return of_box;
        if (type == robot::GeomType::cylinder) return of_cylinder;
        return type == robot::GeomType::mesh && mesh >= 0 ? mesh : no_hull;
    }
    void add_hull(int hull) {
        if (hull == of_box)
            add_box();
        else if (hull == of_cylinder)
            add_caps();
        else
            add_mesh(hull);
    }
    // By the corners of each polygon.
    void add_polygons(int hull, const std::vector<std::array<double, 3>>& vertices,
                      const std::vector<Integers>& polygons,
                      const std::vector<std::array<double, 3>>& normals) {
        const int first = static_cast<int>(vertices_.size()) / 3;
        for (const auto& v : vertices) vertices_.insert(vertices_.end(), v.begin(), v.end());
        std::vector<Integers> polygons_at(vertices.size());
        for (std::size_t p = 0; p < polygons.size(); ++p) {
            const int own = static_cast<int>(polygon_corners_.size()) / 2;
            append(polygon_corners_, static_cast<int>(corners_.size()),
                   static_cast<int>(polygons[p].size()));
            normals_.insert(normals_.end(), normals[p].begin(), normals[p].end());
            for (const int vertex : polygons[p]) {
                corners_.push_back(first + vertex);
                polygons_at[static_cast<std::size_t>(vertex)].push_back(own);
            }
        }
        for (const Integers& list : polygons_at) {
            append(vertex_polygons_, static_cast<int>(polygon_at_.size()),
                   static_cast<int>(list.size()));
            polygon_at_.insert(polygon_at_.end(), list.begin(), list.end());
        }
        known_[hull] = {first, static_cast<int>(vertices.size())};
    }
    void add_box() {
        std::vector<std::array<double, 3>> vertices, normals;
        std::vector<Integers> polygons;
        for (int k = 0; k < 8; ++k)
            vertices.push_back({k % 2 * 2. - 1, k / 2 % 2 * 2. - 1, k / 4 * 2. - 1});
        for (int axis = 0; axis < 3; ++axis)
            for (const int side : {0, 1}) {
                const int u = 1 << ((axis + 1) % 3), v = 1 << ((axis + 2) % 3), at = side << axis;
                polygons.push_back(side != 0 ? Integers{at, at + u, at + u + v, at + v}
                                             : Integers{at, at + v, at + u + v, at + u});
                std::array<double, 3> normal{};
                normal[static_cast<std::size_t>(axis)] = side * 2. - 1;
                normals.push_back(normal);
            }
        add_polygons(of_box, vertices, polygons, normals);
    }
    void add_caps() {
        std::vector<std::array<double, 3>> vertices;
        Integers upper, lower;
        for (const double end : {1.0, -1.0})
            for (int k = 0; k < cap_corners; ++k) {
                const double angle = 2 * std::numbers::pi * k / cap_corners;
                vertices.push_back({std::cos(angle), std::sin(angle), end});
            }
        for (int k = 0; k < cap_corners; ++k) {
            upper.push_back(k);
            lower.push_back(2 * cap_corners - 1 - k);
        }
        add_polygons(of_cylinder, vertices, {upper, lower}, {{0, 0, 1}, {0, 0, -1}});
    }

    void add_mesh(int mesh) {
        const int first = static_cast<int>(vertices_.size()) / 3;
        std::map<int, int> number;  // of the mesh's vertices that are in polygons
        std::map<int, Integers> polygons_at;
        for (int k = 0; k < integer("mesh_polynum", mesh); ++k) {
            const int polygon = integer("mesh_polyadr", mesh) + k;
            const int own = static_cast<int>(polygon_corners_.size()) / 2,
                      corners = integer("mesh_polyvertnum", polygon);
            append(polygon_corners_, static_cast<int>(corners_.size()), corners);
            for (std::size_t c = 0; c < 3; ++c)
                normals_.push_back(
                    m_.reals("mesh_polynormal")[3 * static_cast<std::size_t>(polygon) + c]);
            for (int c = 0; c < corners; ++c) {
                const int vertex =
                    integer("mesh_polyvert", integer("mesh_polyvertadr", polygon) + c);
                const auto [found, is_new] =
                    number.try_emplace(vertex, first + static_cast<int>(number.size()));
                if (is_new) add_vertex(integer("mesh_vertadr", mesh) + vertex);
                corners_.push_back(found->second);
                polygons_at[found->second].push_back(own);
            }
        }
        for (const auto& [vertex, polygons] : polygons_at) {
            append(vertex_polygons_, static_cast<int>(polygon_at_.size()),
                   static_cast<int>(polygons.size()));
            polygon_at_.insert(polygon_at_.end(), polygons.begin(), polygons.end());
        }
        known_[mesh] = {first, static_cast<int>(number.size())};
    }
    void add_vertex(int vertex) {
        const auto all = m_.reals("mesh_vert");
        for (std::size_t c = 0; c < 3; ++c)
            vertices_.push_back(all[3 * static_cast<std::size_t>(vertex) + c]);
    }

    // Numbers of hulls other than of meshes.
    static constexpr int no_hull = -1, of_box = -2, of_cylinder = -3, cap_corners = 16;

    std::map<int, std::pair<int, int>> known_;  // hulls: first vertex and number
    Integers geom_hull_, vertex_polygons_, polygon_at_, polygon_corners_, corners_;
    std::vector<double> vertices_, normals_;
};

}  // namespace

std::vector<ModelArray> hull_arrays(const robot::RobotModel& model) {
    return HullArrays(model).make();
}

}  // namespace hindcast::articulated
