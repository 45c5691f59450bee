#include "engine/mesh/read_mesh_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "engine/base/files.hpp"
#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/mesh/formats.hpp"

namespace hindcast::mesh {

namespace {

constexpr std::uint64_t longest = 1ull << 34;  // bytes

// x_to - x_from.
std::array<double, 3> edge(const MeshFile& mesh, std::int64_t from, std::int64_t to) {
    std::array<double, 3> e;
    for (std::size_t k = 0; k < 3; ++k)
        e[k] = mesh.points[static_cast<std::size_t>(3 * to) + k] -
               mesh.points[static_cast<std::size_t>(3 * from) + k];
    return e;
}

std::array<double, 3> cross(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Elements that name a point twice, or have no extent at all.
void refuse_degenerate(const MeshFile& mesh) {
    const auto refuse = [&](const char* kind, std::size_t k, const auto& corners, bool flat) {
        auto sorted = corners;
        std::sort(sorted.begin(), sorted.end());
        const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
        if (!twice && !flat) return;
        std::string places;
        for (const std::int64_t c : corners) {
            const double* const x = &mesh.points[static_cast<std::size_t>(3 * c)];
            places +=
                fmt::format("{}({:g}, {:g}, {:g})", places.empty() ? "" : " ", x[0], x[1], x[2]);
        }
        throw Error(fmt::format("{} {} of {} has {}: {}", kind, k,
                                std::max(mesh.triangles.size(), mesh.tetrahedra.size()),
                                twice                 ? "a corner twice"
                                : corners.size() == 3 ? "no area"
                                                      : "no volume",
                                places))
            .remedy("remove it or mend the mesh; elements are counted from 0");
    };
    for (std::size_t k = 0; k < mesh.tetrahedra.size(); ++k) {
        const auto& c = mesh.tetrahedra[k];
        const auto n = cross(edge(mesh, c[0], c[1]), edge(mesh, c[0], c[2])),
                   e = edge(mesh, c[0], c[3]);
        refuse("tetrahedron", k, c, n[0] * e[0] + n[1] * e[1] + n[2] * e[2] == 0);
    }
    for (std::size_t k = 0; k < mesh.triangles.size(); ++k) {
        const auto& c = mesh.triangles[k];
        const auto n = cross(edge(mesh, c[0], c[1]), edge(mesh, c[0], c[2]));
        refuse("triangle", k, c, n[0] == 0 && n[1] == 0 && n[2] == 0);
    }
}

void drop_unused_points(MeshFile& mesh) {
    std::vector<std::int64_t> number(static_cast<std::size_t>(mesh.point_count()), -1);
    const auto each_corner = [&](const auto& action) {
        for (auto& element : mesh.tetrahedra)
            for (std::int64_t& corner : element) action(corner);
        for (auto& element : mesh.triangles)
            for (std::int64_t& corner : element) action(corner);
    };
    each_corner([&](std::int64_t corner) { number[static_cast<std::size_t>(corner)] = 0; });
    std::int64_t kept = 0;
    for (std::size_t p = 0; p < number.size(); ++p) {
        if (number[p] < 0) continue;
        for (std::size_t k = 0; k < 3; ++k)
            mesh.points[static_cast<std::size_t>(3 * kept) + k] = mesh.points[3 * p + k];
        number[p] = kept++;
    }
    mesh.points.resize(static_cast<std::size_t>(3 * kept));
    each_corner([&](std::int64_t& corner) { corner = number[static_cast<std::size_t>(corner)]; });
}

std::string ending_of(const std::string& name) {
    std::string ending = std::filesystem::path(name).extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending;
}

MeshFile parse(std::string_view content, const std::string& ending) {
    if (ending == "msh") return read_gmsh(content);
    if (ending == "vtk") return read_vtk(content);
    if (ending == "vtu") return read_vtu(content);
    if (!ending.empty() && is_surface(ending)) return read_surface(content, ending);
    constexpr std::string_view known[] = {"msh", "vtk", "vtu",  "obj", "ply",
                                          "stl", "off", "gltf", "glb"};
    throw Error(ending.empty()
                    ? std::string("the name has no ending that says what it is")
                    : fmt::format("files {} are not read as meshes", document::shown("." + ending)))
        .remedy(document::suggestion(ending, known, "mesh files end in one of"));
}

}  // namespace

MeshFile parse_mesh(std::string_view content, const std::string& name) {
    try {
        MeshFile mesh = parse(content, ending_of(name));
        if (!mesh.tetrahedra.empty()) mesh.triangles.clear();
        if (mesh.tetrahedra.empty() && mesh.triangles.empty())
            throw Error("the file has neither tetrahedra nor triangles")
                .remedy("save the mesh with its elements, not its points alone");
        refuse_degenerate(mesh);
        drop_unused_points(mesh);
        return mesh;
    } catch (const Error& error) {
        throw Error(fmt::format("mesh file {}: {}", document::shown(name, 200), error.happened()))
            .remedy(error.what_to_do());
    }
}

MeshFile read_mesh_file(const document::FileAccess& files, const document::Node& node) {
    const std::filesystem::path path = files.resolve(node);
    try {
        return parse_mesh(read_file(path, longest), document::string_of(node));
    } catch (const Error& error) {
        throw document::fault(node, error.happened()).remedy(error.what_to_do());
    }
}

MeshFile read_mesh_file(const document::FileAccess& files, document::Reader& reader) {
    const document::Node& name = reader.require("file");
    const double scale = reader.number_or("scale", 1, document::Range::positive());
    MeshFile mesh = read_mesh_file(files, name);
    for (double& x : mesh.points) x *= scale;
    return mesh;
}

}  // namespace hindcast::mesh
