#include "kernels/solids/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/document/read.hpp"

namespace hindcast::solids {

namespace {

using document::Node;
using document::Reader;

constexpr std::int64_t most_elements = 100'000'000;

Mesh box(const Node& node) {
    Reader reader(node, "a box of tetrahedra");
    const std::vector<double> low = document::numbers_of(reader.require("min"), 3);
    const Node& high_node = reader.require("max");
    const std::vector<double> high = document::numbers_of(high_node, 3);
    const Node& cells_node = reader.array("cells", 3, 3);
    std::array<std::int64_t, 3> cells{};
    std::int64_t total = 6;
    for (std::size_t a = 0; a < 3; ++a) {
        cells[a] = document::integer_of(cells_node.item(a), 1, 1'000'000);
        total *= cells[a];
        if (total > most_elements)
            throw document::fault(cells_node, "a box of so many cells is too large")
                .remedy("write fewer cells");
        if (!(low[a] < high[a]))
            throw document::fault(high_node, "the box has no volume")
                .remedy("let every number of max be larger than that of min");
    }
    reader.finish();

    Mesh mesh;
    const auto number = [&](const std::array<std::int64_t, 3>& p) {
        return (p[0] * (cells[1] + 1) + p[1]) * (cells[2] + 1) + p[2];
    };
    std::array<std::int64_t, 3> p{};
    for (p[0] = 0; p[0] <= cells[0]; ++p[0])
        for (p[1] = 0; p[1] <= cells[1]; ++p[1])
            for (p[2] = 0; p[2] <= cells[2]; ++p[2])
                for (std::size_t a = 0; a < 3; ++a)
                    mesh.points.push_back(low[a] +
                                          static_cast<double>(p[a]) *
                                              ((high[a] - low[a]) / static_cast<double>(cells[a])));
    static constexpr std::size_t orders[6][2] = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
    for (p[0] = 0; p[0] < cells[0]; ++p[0])
        for (p[1] = 0; p[1] < cells[1]; ++p[1])
            for (p[2] = 0; p[2] < cells[2]; ++p[2])
                for (const auto& order : orders) {
                    std::array<std::int64_t, 3> corner = p;
                    std::array<std::int64_t, 4> element{number(corner)};
                    for (std::size_t step = 0; step < 2; ++step) {
                        ++corner[order[step]];
                        element[step + 1] = number(corner);
                    }
                    element[3] = number({p[0] + 1, p[1] + 1, p[2] + 1});
                    mesh.elements.push_back(element);
                }
    return mesh;
}

Mesh written(const Node& node) {
    Reader reader(node, "a mesh of tetrahedra");
    const Node& points = reader.array("points", 4);
    const Node& elements = reader.array("tetrahedra", 1);
    reader.finish();
    Mesh mesh;
    for (std::size_t k = 0; k < points.size(); ++k)
        for (const double x : document::numbers_of(points.item(k), 3)) mesh.points.push_back(x);
    for (std::size_t k = 0; k < elements.size(); ++k) {
        const Node& row = document::array_of(elements.item(k), 4, 4);
        std::array<std::int64_t, 4> element{};
        for (std::size_t c = 0; c < 4; ++c)
            element[c] = document::integer_of(row.item(c), 0, mesh.point_count() - 1);
        mesh.elements.push_back(element);
    }
    return mesh;
}

// D^-1 and the volume of one element; false if it has none.
bool shape_at_rest(const Mesh& mesh, const std::array<std::int64_t, 4>& element, double* inverse,
                   double& volume) {
    double d[3][3], size = 0;
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t r = 0; r < 3; ++r) {
            d[r][c] = mesh.points[static_cast<std::size_t>(3 * element[c + 1]) + r] -
                      mesh.points[static_cast<std::size_t>(3 * element[0]) + r];
            size = std::max(size, std::fabs(d[r][c]));
        }
    double cofactor[3][3];
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) {
            const std::size_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3,
                              c2 = (c + 2) % 3;
            cofactor[r][c] = d[r1][c1] * d[r2][c2] - d[r1][c2] * d[r2][c1];
        }
    const double determinant =
        d[0][0] * cofactor[0][0] + d[0][1] * cofactor[0][1] + d[0][2] * cofactor[0][2];
    if (!(std::fabs(determinant) > 1e-12 * size * size * size)) return false;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) inverse[3 * r + c] = cofactor[c][r] / determinant;
    volume = std::fabs(determinant) / 6;
    return true;
}

}  // namespace

std::vector<double> Mesh::centroids() const {
    std::vector<double> list;
    list.reserve(3 * elements.size());
    for (const auto& element : elements)
        for (std::size_t a = 0; a < 3; ++a) {
            double sum = 0;
            for (const std::int64_t p : element) sum += points[static_cast<std::size_t>(3 * p) + a];
            list.push_back(sum / 4);
        }
    return list;
}

Mesh::Surface Mesh::surface() const {
    const auto point = [&](std::int64_t p) { return points.data() + 3 * p; };
    // The triangles of all elements by their sorted corners, and how often each occurs.
    std::map<std::array<std::int64_t, 3>, int> count;
    const auto each_triangle = [&](auto f) {
        for (std::size_t e = 0; e < elements.size(); ++e)
            for (std::size_t opposite = 0; opposite < 4; ++opposite) {
                std::array<std::int64_t, 3> triangle{};
                std::size_t k = 0;
                for (std::size_t corner = 0; corner < 4; ++corner)
                    if (corner != opposite) triangle[k++] = elements[e][corner];
                std::array<std::int64_t, 3> key = triangle;
                std::sort(key.begin(), key.end());
                f(e, triangle, elements[e][opposite], key);
            }
    };
    each_triangle([&](std::size_t, const auto&, std::int64_t, const auto& key) { ++count[key]; });
    Surface surface;
    each_triangle([&](std::size_t e, auto triangle, std::int64_t opposite, const auto& key) {
        if (count[key] != 1) return;
        double edge[3][3];
        const std::int64_t others[3] = {triangle[1], triangle[2], opposite};
        for (std::size_t k = 0; k < 3; ++k)
            for (std::size_t a = 0; a < 3; ++a)
                edge[k][a] = point(others[k])[a] - point(triangle[0])[a];
        double volume = 0;  // 6 times it, negative if the fourth corner is behind the triangle
        for (std::size_t a = 0; a < 3; ++a)
            volume += edge[2][a] * (edge[0][(a + 1) % 3] * edge[1][(a + 2) % 3] -
                                    edge[0][(a + 2) % 3] * edge[1][(a + 1) % 3]);
        if (volume > 0) std::swap(triangle[1], triangle[2]);
        surface.triangles.push_back(triangle);
        surface.element_of.push_back(static_cast<std::int64_t>(e));
    });
    return surface;
}

Mesh read_mesh(const Node& node) {
    document::object_of(node);
    Mesh mesh;
    if (node.find("box") != nullptr) {
        Reader reader(node, "a mesh");
        const Node& inner = reader.require("box");
        reader.finish();
        mesh = box(inner);
    } else {
        mesh = written(node);
    }
    mesh.inverse.resize(9 * mesh.elements.size());
    mesh.volumes.resize(mesh.elements.size());
    for (std::size_t e = 0; e < mesh.elements.size(); ++e)
        if (!shape_at_rest(mesh, mesh.elements[e], &mesh.inverse[9 * e], mesh.volumes[e])) {
            const Node* list = node.find("tetrahedra");
            throw document::fault(list != nullptr ? list->item(e) : node,
                                  "tetrahedron " + std::to_string(e) + " has no volume at rest")
                .remedy("let its four corners not lie in a plane");
        }
    return mesh;
}

}  // namespace hindcast::solids
