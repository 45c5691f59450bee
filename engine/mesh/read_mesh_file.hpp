// Meshes from files, by the ending of the name:
//
//   .msh                            Gmsh 2.2 and 4.1, text and binary
//   .vtk                            legacy VTK (all versions), UNSTRUCTURED_GRID, text and binary
//   .vtu                            VTK's XML: text, base64, raw, also compressed by zlib
//   .obj .ply .stl .off .gltf .glb  and what else assimp reads, as triangles
//
// A mesh from the first three has the tetrahedra, or the triangles if there are no tetrahedra:
// triangles beside them, lines and single points are leftovers of meshers on a boundary, and are
// skipped. Any other kind of element is an error that names it. Points keep their order and are
// never joined; those that no element uses (centers of arcs) are left out.
//
// In a surface, points at the same place are one point, since many formats (.stl) have no other way
// to say which triangles are neighbors; convex polygons are cut into triangles, others are
// refused; the transformations of a file's nodes are applied. assimp holds places in single
// precision, so that is how exact they are. Files that a file refers to are not read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/document/file_access.hpp"
#include "engine/document/read.hpp"

namespace hindcast::mesh {

struct MeshFile {
    std::vector<double> points;  // x, y, z each, in meters
    std::vector<std::array<std::int64_t, 4>>
        tetrahedra;  // numbers of points, oriented as in the file
    std::vector<std::array<std::int64_t, 3>> triangles;  // empty where there are tetrahedra

    std::int64_t point_count() const { return static_cast<std::int64_t>(points.size()) / 3; }
};

// The mesh in the file that the string node names, found as all files of a document are. Throws
// Error at the node: the file, the line or byte, the element, and what to do.
MeshFile read_mesh_file(const document::FileAccess& files, const document::Node& node);

// The same of the key "file" of an object, with places multiplied by its key "scale" (default 1).
MeshFile read_mesh_file(const document::FileAccess& files, document::Reader& reader);

// The same of a file's content; `name` gives the format and stands in messages. Throws Error
// without a place.
MeshFile parse_mesh(std::string_view content, const std::string& name);

}  // namespace hindcast::mesh
