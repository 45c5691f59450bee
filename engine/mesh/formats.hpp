// The readers of the formats. Each gives all points of the file, and triangles also beside
// tetrahedra; which of them are kept is for parse_mesh(). Errors begin with the line or byte, where
// there is one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/mesh/read_mesh_file.hpp"
#include "engine/mesh/source.hpp"

namespace hindcast::mesh {

// https://gmsh.info/doc/texinfo/gmsh.html#Gmsh-file-formats
MeshFile read_gmsh(std::string_view content);
// https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
MeshFile read_vtk(std::string_view content);
MeshFile read_vtu(std::string_view content);
// By assimp; `ending` without the dot.
MeshFile read_surface(std::string_view content, const std::string& ending);
// True if assimp knows the ending.
bool is_surface(const std::string& ending);

// Adds cell number `cell` of VTK's `type` with these points. `source` gives the place of errors.
void add_vtk_cell(MeshFile& mesh, std::size_t cell, std::int64_t type,
                  std::span<const std::int64_t> points, const Source& source);

inline constexpr const char* only_linear =
    "write the mesh with tetrahedra of 4 points or triangles of 3";

}  // namespace hindcast::mesh
