#include "kernels/cloth/sheet.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "engine/base/pages.hpp"
#include "engine/document/read.hpp"
#include "engine/mesh/read_mesh_file.hpp"

namespace hindcast::cloth {

namespace {

using document::Node;
using document::Reader;
using Vector = std::array<double, 3>;

Vector difference(const Vector& a, const Vector& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double length(const Vector& a) { return std::sqrt(dot(a, a)); }
Vector point(const Sheet& sheet, std::int64_t p) {
    const double* x = &sheet.points[static_cast<std::size_t>(3 * p)];
    return {x[0], x[1], x[2]};
}
Vector vector_of(const Node& node) {
    const std::vector<double> v = document::numbers_of(node, 3);
    return {v[0], v[1], v[2]};
}

// The grid's points and triangles; gives its warp.
Vector add_grid(const Node& node, Sheet& sheet) {
    Reader reader(node, "a grid of triangles");
    const Vector origin = vector_of(reader.require("origin")),
                 warp = vector_of(reader.require("warp")), weft = vector_of(reader.require("weft"));
    const Node& cells = reader.array("cells", 2, 2);
    const std::int64_t n = document::integer_of(cells.item(0), 1, 10'000),
                       m = document::integer_of(cells.item(1), 1, 10'000);
    static constexpr std::string_view patterns[] = {"alternating", "diagonal"};
    const Node* pattern = reader.find("pattern");
    const bool alternates =
        pattern == nullptr || document::choice_of(*pattern, patterns, "pattern") == 0;
    reader.finish();
    // Measured: a cell takes this until its scene runs, its hinges included.
    if (const std::string lack = lack_of_memory(1900.0 * static_cast<double>(n * m)); !lack.empty())
        throw document::fault(cells, std::to_string(n * m) + " cells need " + lack)
            .remedy("write fewer cells");
    for (std::int64_t i = 0; i <= n; ++i)
        for (std::int64_t j = 0; j <= m; ++j)
            for (std::size_t a = 0; a < 3; ++a)
                sheet.points.push_back(origin[a] +
                                       static_cast<double>(i) * (warp[a] / static_cast<double>(n)) +
                                       static_cast<double>(j) * (weft[a] / static_cast<double>(m)));
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < m; ++j) {
            const std::int64_t a = i * (m + 1) + j, b = a + m + 1, c = b + 1, d = a + 1;
            if (alternates && (i + j) % 2 == 1) {
                sheet.triangles.push_back({a, b, d});
                sheet.triangles.push_back({b, c, d});
            } else {
                sheet.triangles.push_back({a, b, c});
                sheet.triangles.push_back({a, c, d});
            }
        }
    return warp;
}

Vector add_written(const Node& node, Sheet& sheet) {
    Reader reader(node, "a mesh of triangles");
    const Node& points = reader.array("points", 3);
    const Node& triangles = reader.array("triangles", 1);
    const Node* warp = reader.find("warp");
    reader.finish();
    for (std::size_t k = 0; k < points.size(); ++k)
        for (const double x : vector_of(points.item(k))) sheet.points.push_back(x);
    for (std::size_t k = 0; k < triangles.size(); ++k) {
        const Node& row = document::array_of(triangles.item(k), 3, 3);
        std::array<std::int64_t, 3> t{};
        for (std::size_t c = 0; c < 3; ++c)
            t[c] =
                document::integer_of(row.item(c), 0, static_cast<std::int64_t>(points.size()) - 1);
        sheet.triangles.push_back(t);
    }
    return warp != nullptr ? vector_of(*warp) : Vector{1, 0, 0};
}

Vector add_file(const Node& node, const document::FileAccess& files, Sheet& sheet) {
    Reader reader(node, "a mesh of triangles");
    mesh::MeshFile file = mesh::read_mesh_file(files, reader);
    const Node* warp = reader.find("warp");
    reader.finish();
    if (file.triangles.empty())
        throw document::fault(*node.find("file"),
                              "this file has tetrahedra, and a cloth consists of triangles")
            .remedy("give a file of a surface, or make the body a solid");
    sheet.points = std::move(file.points);
    sheet.triangles = std::move(file.triangles);
    return warp != nullptr ? vector_of(*warp) : Vector{1, 0, 0};
}

// D^-1 and area of each triangle. `at`: the place of a triangle, for errors.
template <class At>
void measure(Sheet& sheet, At at) {
    const Vector& warp = sheet.warp;
    for (std::size_t k = 0; k < sheet.triangles.size(); ++k) {
        const auto& t = sheet.triangles[k];
        const Vector x0 = point(sheet, t[0]), e1 = difference(point(sheet, t[1]), x0),
                     e2 = difference(point(sheet, t[2]), x0), n = cross(e1, e2);
        const double twice = length(n);
        if (!(twice > 1e-12 * (dot(e1, e1) + dot(e2, e2))))
            throw document::fault(at(k), "triangle " + std::to_string(k) + " has no area at rest")
                .remedy("let its three corners not lie on a line");
        const Vector normal{n[0] / twice, n[1] / twice, n[2] / twice};
        const double off = dot(warp, normal);
        Vector u{warp[0] - off * normal[0], warp[1] - off * normal[1], warp[2] - off * normal[2]};
        const double size = length(u);
        if (!(size > 1e-6 * length(warp)))
            throw document::fault(at(k),
                                  "the warp is perpendicular to triangle " + std::to_string(k))
                .remedy("write another \"warp\"");
        for (double& c : u) c /= size;
        const Vector v = cross(normal, u);
        const double a = dot(e1, u), b = dot(e2, u), c = dot(e1, v), d = dot(e2, v),
                     determinant = a * d - b * c;
        for (const double entry : {d, -b, -c, a}) sheet.inverse.push_back(entry / determinant);
        sheet.areas.push_back(0.5 * twice);
    }
}

template <class At>
void find_hinges(Sheet& sheet, At at) {
    struct Side {
        std::size_t triangle;
        std::int64_t opposite;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Side> sides;  // in the triangles' direction
    for (std::size_t k = 0; k < sheet.triangles.size(); ++k)
        for (std::size_t c = 0; c < 3; ++c) {
            const auto& t = sheet.triangles[k];
            const std::pair edge{t[c], t[(c + 1) % 3]};
            if (!sides.try_emplace(edge, Side{k, t[(c + 2) % 3]}).second)
                throw document::fault(
                    at(k), "the edge between points " + std::to_string(edge.first) + " and " +
                               std::to_string(edge.second) + " runs the same way in two triangles")
                    .remedy(
                        "order the corners of neighbors alike, and let no more than two "
                        "triangles meet at an edge");
        }
    for (const auto& [edge, left] : sides) {
        const auto [a, b] = edge;
        if (a > b) continue;
        const auto right = sides.find({b, a});
        if (right == sides.end()) continue;
        const std::int64_t c = left.opposite, d = right->second.opposite;
        const Vector xa = point(sheet, a), e = difference(point(sheet, b), xa),
                     n1 = cross(e, difference(point(sheet, c), xa)),
                     n2 = cross(difference(point(sheet, d), xa), e);
        sheet.hinges.push_back({a, b, c, d});
        sheet.angles.push_back(std::atan2(dot(e, cross(n2, n1)) / length(e), dot(n1, n2)));
    }
}

std::vector<double> means(const Sheet& sheet, const auto& lists, std::size_t count) {
    std::vector<double> result;
    for (const auto& list : lists)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            double sum = 0;
            for (std::size_t k = 0; k < count; ++k)
                sum += sheet.points[static_cast<std::size_t>(3 * list[k]) + axis];
            result.push_back(sum / static_cast<double>(count));
        }
    return result;
}

}  // namespace

std::vector<double> Sheet::centroids() const { return means(*this, triangles, 3); }
std::vector<double> Sheet::midpoints() const { return means(*this, hinges, 2); }

Sheet read_sheet(const Node& node, const document::FileAccess& files) {
    document::object_of(node);
    Sheet sheet;
    if (node.find("grid") != nullptr) {
        Reader reader(node, "a mesh");
        const Node& grid = reader.require("grid");
        reader.finish();
        sheet.warp = add_grid(grid, sheet);
    } else if (node.find("file") != nullptr) {
        sheet.warp = add_file(node, files, sheet);
    } else {
        sheet.warp = add_written(node, sheet);
    }
    const Node* list = node.find("triangles");
    const auto at = [&](std::size_t triangle) -> const Node& {
        return list != nullptr ? list->item(triangle) : node;
    };
    measure(sheet, at);
    find_hinges(sheet, at);
    return sheet;
}

}  // namespace hindcast::cloth
