#include "kernels/solids/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/base/pages.hpp"
#include "engine/document/read.hpp"
#include "engine/mesh/read_mesh_file.hpp"

namespace hindcast::solids {

namespace {

using document::Node;
using document::Reader;

constexpr std::int64_t most_elements = 100'000'000;
// Measured: what an element takes until its scene runs, its share of points and surface included.
constexpr double bytes_of_element = 600;

void require_memory(std::int64_t elements, const Node& at) {
    const std::string lack = lack_of_memory(bytes_of_element * static_cast<double>(elements));
    if (!lack.empty())
        throw document::fault(at, std::to_string(elements) + " elements need " + lack)
            .remedy("use a coarser mesh");
}

Mesh box(const Node& node, int dimension) {
    const auto D = static_cast<std::size_t>(dimension);
    Reader reader(node, "a box of elements");
    const std::vector<double> low = document::numbers_of(reader.require("min"), D);
    const Node& high_node = reader.require("max");
    const std::vector<double> high = document::numbers_of(high_node, D);
    const Node& cells_node = reader.array("cells", D, D);
    // In the plane the third axis has no cells, and one layer of points.
    std::array<std::int64_t, 3> cells{};
    std::int64_t total = dimension == 3 ? 6 : 2;
    for (std::size_t a = 0; a < D; ++a) {
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
    require_memory(total, cells_node);

    Mesh mesh;
    mesh.dimension = dimension;
    const auto number = [&](const std::array<std::int64_t, 3>& p) {
        return (p[0] * (cells[1] + 1) + p[1]) * (cells[2] + 1) + p[2];
    };
    std::array<std::int64_t, 3> p{};
    for (p[0] = 0; p[0] <= cells[0]; ++p[0])
        for (p[1] = 0; p[1] <= cells[1]; ++p[1])
            for (p[2] = 0; p[2] <= cells[2]; ++p[2])
                for (std::size_t a = 0; a < D; ++a)
                    mesh.points.push_back(low[a] +
                                          static_cast<double>(p[a]) *
                                              ((high[a] - low[a]) / static_cast<double>(cells[a])));
    std::vector<std::vector<std::size_t>> orders{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
    if (dimension == 2) orders = {{0}, {1}};
    const std::int64_t layers = std::max<std::int64_t>(cells[2], 1);
    for (p[0] = 0; p[0] < cells[0]; ++p[0])
        for (p[1] = 0; p[1] < cells[1]; ++p[1])
            for (p[2] = 0; p[2] < layers; ++p[2])
                for (const auto& order : orders) {
                    std::array<std::int64_t, 3> corner = p, opposite = p;
                    mesh.corners.push_back(number(corner));
                    for (const std::size_t axis : order) {
                        ++corner[axis];
                        mesh.corners.push_back(number(corner));
                    }
                    for (std::size_t a = 0; a < D; ++a) ++opposite[a];
                    mesh.corners.push_back(number(opposite));
                }
    return mesh;
}

const char* elements_key(int dimension) { return dimension == 3 ? "tetrahedra" : "triangles"; }

Mesh written(const Node& node, int dimension) {
    const std::size_t D = static_cast<std::size_t>(dimension), K = D + 1;
    Reader reader(node, std::string("a mesh of ") + elements_key(dimension));
    const Node& points = reader.array("points", K);
    const Node& elements = reader.array(elements_key(dimension), 1);
    reader.finish();
    Mesh mesh;
    mesh.dimension = dimension;
    for (std::size_t k = 0; k < points.size(); ++k)
        for (const double x : document::numbers_of(points.item(k), D)) mesh.points.push_back(x);
    for (std::size_t k = 0; k < elements.size(); ++k) {
        const Node& row = document::array_of(elements.item(k), K, K);
        for (std::size_t c = 0; c < K; ++c)
            mesh.corners.push_back(document::integer_of(row.item(c), 0, mesh.point_count() - 1));
    }
    return mesh;
}

Mesh from_file(const Node& node, int dimension, const document::FileAccess& files) {
    Reader reader(node, "a mesh");
    const mesh::MeshFile file = mesh::read_mesh_file(files, reader);
    reader.finish();
    const Node& name = *node.find("file");
    Mesh mesh;
    mesh.dimension = dimension;
    if (dimension == 3 && file.tetrahedra.empty())
        throw document::fault(name, "this file has triangles and no tetrahedra")
            .remedy("give a file in which the inside is meshed, or make the body a cloth");
    if (dimension == 2 && file.triangles.empty())
        throw document::fault(name, "this file has tetrahedra, and the scene is in the plane")
            .remedy("give a file of triangles, or leave out \"dimension\"");
    for (std::size_t k = 0; k < file.points.size(); ++k)
        if (k % 3 < static_cast<std::size_t>(dimension))
            mesh.points.push_back(file.points[k]);
        else if (file.points[k] != file.points[2])
            throw document::fault(name, "point " + std::to_string(k / 3) +
                                            " of this file is not in the plane of point 0")
                .remedy("give a file whose triangles have one z");
    for (const auto& t : file.tetrahedra)
        mesh.corners.insert(mesh.corners.end(), t.begin(), t.end());
    if (dimension == 2)
        for (const auto& t : file.triangles)
            mesh.corners.insert(mesh.corners.end(), t.begin(), t.end());
    return mesh;
}

// D^-1 and the volume of one element; false if it has none.
bool shape_at_rest(const Mesh& mesh, std::size_t element, double* inverse, double& volume) {
    const auto D = static_cast<std::size_t>(mesh.dimension);
    const std::int64_t* corner = &mesh.corners[(D + 1) * element];
    // In the plane with a third edge of length 1 across it.
    double d[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 1}}, size = 0;
    for (std::size_t c = 0; c < D; ++c)
        for (std::size_t r = 0; r < D; ++r) {
            d[r][c] = mesh.points[D * static_cast<std::size_t>(corner[c + 1]) + r] -
                      mesh.points[D * static_cast<std::size_t>(corner[0]) + r];
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
    if (!(std::fabs(determinant) > 1e-12 * std::pow(size, mesh.dimension))) return false;
    for (std::size_t r = 0; r < D; ++r)
        for (std::size_t c = 0; c < D; ++c) inverse[D * r + c] = cofactor[c][r] / determinant;
    volume = std::fabs(determinant) / (mesh.dimension == 3 ? 6 : 2);
    return true;
}

}  // namespace

std::vector<double> Mesh::centroids() const {
    const auto D = static_cast<std::size_t>(dimension);
    std::vector<double> list;
    list.reserve(D * static_cast<std::size_t>(element_count()));
    for (std::size_t e = 0; e < corners.size(); e += D + 1)
        for (std::size_t a = 0; a < D; ++a) {
            double sum = 0;
            for (std::size_t k = 0; k <= D; ++k)
                sum += points[D * static_cast<std::size_t>(corners[e + k]) + a];
            list.push_back(sum / static_cast<double>(D + 1));
        }
    return list;
}

Mesh::Surface Mesh::surface() const {
    Surface surface;
    if (dimension == 2) {
        for (std::size_t e = 0; 3 * e < corners.size(); ++e) {
            surface.triangles.push_back({corners[3 * e], corners[3 * e + 1], corners[3 * e + 2]});
            surface.element_of.push_back(static_cast<std::int64_t>(e));
        }
        return surface;
    }
    const auto point = [&](std::int64_t p) { return points.data() + 3 * p; };
    // The triangles of all elements by their sorted corners, and how often each occurs.
    std::map<std::array<std::int64_t, 3>, int> count;
    const auto each_triangle = [&](auto f) {
        for (std::size_t e = 0; 4 * e < corners.size(); ++e)
            for (std::size_t opposite = 0; opposite < 4; ++opposite) {
                std::array<std::int64_t, 3> triangle{};
                std::size_t k = 0;
                for (std::size_t corner = 0; corner < 4; ++corner)
                    if (corner != opposite) triangle[k++] = corners[4 * e + corner];
                std::array<std::int64_t, 3> key = triangle;
                std::sort(key.begin(), key.end());
                f(e, triangle, corners[4 * e + opposite], key);
            }
    };
    each_triangle([&](std::size_t, const auto&, std::int64_t, const auto& key) { ++count[key]; });
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

Mesh read_mesh(const Node& node, int dimension, const document::FileAccess& files) {
    document::object_of(node);
    Mesh mesh;
    if (node.find("box") != nullptr) {
        Reader reader(node, "a mesh");
        const Node& inner = reader.require("box");
        reader.finish();
        mesh = box(inner, dimension);
    } else if (node.find("file") != nullptr) {
        mesh = from_file(node, dimension, files);
        require_memory(mesh.element_count(), node);
    } else {
        mesh = written(node, dimension);
    }
    const auto elements = static_cast<std::size_t>(mesh.element_count());
    const auto D = static_cast<std::size_t>(dimension), size = D * D;
    mesh.inverse.resize(size * elements);
    mesh.volumes.resize(elements);
    for (std::size_t e = 0; e < elements; ++e)
        if (!shape_at_rest(mesh, e, &mesh.inverse[size * e], mesh.volumes[e])) {
            const Node* list = node.find(elements_key(dimension));
            const bool space = dimension == 3;
            throw document::fault(list != nullptr ? list->item(e) : node,
                                  (space ? "tetrahedron " : "triangle ") + std::to_string(e) +
                                      " has no " + (space ? "volume" : "area") + " at rest")
                .remedy(space ? "let its four corners not lie in a plane"
                              : "let its three corners not lie on a line");
        }
    return mesh;
}

}  // namespace hindcast::solids
