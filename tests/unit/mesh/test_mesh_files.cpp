// Mesh files: every format, as text and as numbers, written here by the format's description; what
// is damaged is an error that says where.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "engine/mesh/read_mesh_file.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using hindcast::test::message;
using mesh::MeshFile;
using mesh::parse_mesh;

namespace {

// Two tetrahedra with a common face, a triangle and a line of their border; point 2 is in none.
constexpr double places[6][3] = {{0, 0, 0},    {1, 0, 0}, {9, 9, 9},
                                 {0, 1.25, 0}, {0, 0, 1}, {1, 1, 0.1}};
constexpr int tetrahedra[2][4] = {{0, 1, 3, 4}, {1, 5, 3, 4}};
constexpr int triangle[3] = {0, 1, 3};
constexpr int segment[2] = {0, 1};

void check_solid(const MeshFile& m, bool single = false) {
    REQUIRE(m.point_count() == 5);
    const int kept[] = {0, 1, 3, 4, 5};
    for (std::size_t p = 0; p < 5; ++p)
        for (std::size_t k = 0; k < 3; ++k) {
            const double x = places[kept[p]][k];
            CHECK(m.points[3 * p + k] == (single ? static_cast<double>(static_cast<float>(x)) : x));
        }
    CHECK(m.tetrahedra == std::vector<std::array<std::int64_t, 4>>{{0, 1, 2, 3}, {1, 4, 2, 3}});
    CHECK(m.triangles.empty());
}

template <class T>
std::string raw(T value, bool big = false) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    if (big) std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

std::string base64(const std::string& bytes) {
    constexpr const char* letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t k = 0; k < bytes.size(); k += 3) {
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits =
                bits << 8 | (k + j < bytes.size() ? static_cast<unsigned char>(bytes[k + j]) : 0u);
        for (std::size_t j = 0; j < 4; ++j)
            text += k + j > bytes.size() ? '=' : letters[bits >> (18 - 6 * j) & 63];
    }
    return text;
}

std::string coordinates_text(int point) {
    return fmt::format("{} {} {}", places[point][0], places[point][1], places[point][2]);
}

// Node p has the number 10 p + 3.
int tag(int p) { return 10 * p + 3; }

std::string gmsh_2(bool binary, bool big = false) {
    std::string s = fmt::format("$MeshFormat\n2.2 {} 8\n", binary ? 1 : 0);
    if (binary) s += raw(1, big) + "\n";
    s += "$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n$Nodes\n6\n";
    for (int p = 0; p < 6; ++p) {
        if (binary) {
            s += raw(tag(p), big);
            for (const double x : places[p]) s += raw(x, big);
        } else {
            s += fmt::format("{} {}\n", tag(p), coordinates_text(p));
        }
    }
    s += "$EndNodes\n$Elements\n4\n";
    int number = 0;
    const auto add = [&](int type, const int* corners, int count, int block) {
        if (binary) {
            if (block > 0) s += raw(type, big) + raw(block, big) + raw(2, big);
            s += raw(++number, big) + raw(1, big) + raw(7, big);
            for (int k = 0; k < count; ++k) s += raw(tag(corners[k]), big);
        } else {
            s += fmt::format("{} {} 2 1 7", ++number, type);
            for (int k = 0; k < count; ++k) s += fmt::format(" {}", tag(corners[k]));
            s += "\n";
        }
    };
    add(1, segment, 2, 1);
    add(2, triangle, 3, 1);
    add(4, tetrahedra[0], 4, 2);
    add(4, tetrahedra[1], 4, 0);
    return s + "$EndElements\n";
}

std::string gmsh_4(bool binary, bool big = false) {
    std::string s = fmt::format("$MeshFormat\n4.1 {} 8\n", binary ? 1 : 0);
    if (binary) s += raw(1, big) + "\n";
    s += "$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n$Nodes\n";
    const auto size = [&](int value) {
        s += binary ? raw(std::uint64_t(value), big) : fmt::format("{} ", value);
    };
    const auto number = [&](int value) {
        s += binary ? raw(value, big) : fmt::format("{} ", value);
    };
    const auto end = [&] { s += binary ? "" : "\n"; };
    for (const int k : {2, 6, tag(0), tag(5)}) size(k);
    end();
    const auto nodes = [&](int dimension, int parametric, int first, int last) {
        for (const int k : {dimension, 1, parametric}) number(k);
        size(last - first);
        end();
        for (int p = first; p < last; ++p) size(tag(p)), end();
        for (int p = first; p < last; ++p) {
            if (binary)
                for (const double x : places[p]) s += raw(x, big);
            else
                s += coordinates_text(p);
            for (int k = 0; k < parametric * dimension; ++k) s += binary ? raw(0.5, big) : " 0.5";
            end();
        }
    };
    nodes(2, 1, 0, 4);
    nodes(3, 0, 4, 6);
    s += std::string(binary ? "\n" : "") + "$EndNodes\n$Elements\n";
    for (const int k : {3, 4, 1, 4}) size(k);
    end();
    int element = 0;
    const auto elements = [&](int dimension, int type, int count, const int* corners, int points) {
        for (const int k : {dimension, 1, type}) number(k);
        size(count);
        end();
        for (int e = 0; e < count; ++e) {
            size(++element);
            for (int k = 0; k < points; ++k) size(tag(corners[e * points + k]));
            end();
        }
    };
    elements(1, 1, 1, segment, 2);
    elements(2, 2, 1, triangle, 3);
    elements(3, 4, 2, tetrahedra[0], 4);
    return s + (binary ? "\n" : "") + "$EndElements\n";
}

// Cells: line, triangle, two tetrahedra. `type`: float or double.
std::string vtk(bool binary, bool offsets, bool single) {
    std::string s =
        fmt::format("# vtk DataFile Version {}\na title\n{}\nDATASET UNSTRUCTURED_GRID\n",
                    offsets ? "5.1" : "3.0", binary ? "BINARY" : "ASCII");
    s += "FIELD FieldData 1\nTIME 1 1 double\n" + (binary ? raw(0.5, true) : std::string("0.5")) +
         "\n";
    s += fmt::format("POINTS 6 {}\n", single ? "float" : "double");
    for (int p = 0; p < 6; ++p) {
        if (!binary) s += coordinates_text(p) + "\n";
        if (binary)
            for (const double x : places[p])
                s += single ? raw(static_cast<float>(x), true) : raw(x, true);
    }
    const std::vector<std::vector<int>> cells = {{segment, segment + 2},
                                                 {triangle, triangle + 3},
                                                 {tetrahedra[0], tetrahedra[0] + 4},
                                                 {tetrahedra[1], tetrahedra[1] + 4}};
    const auto number = [&](auto value) {
        s += binary ? raw(value, true) : fmt::format("{} ", value);
    };
    if (offsets) {
        s += "\nMETADATA\nINFORMATION 0\n\nCELLS 5 13\nOFFSETS vtktypeint64\n";
        std::int64_t at = 0;
        number(at);
        for (const auto& cell : cells) number(at += static_cast<std::int64_t>(cell.size()));
        s += "\nCONNECTIVITY vtktypeint64\n";
        for (const auto& cell : cells)
            for (const int corner : cell) number(std::int64_t{corner});
    } else {
        s += "\nCELLS 4 17\n";
        for (const auto& cell : cells) {
            number(static_cast<int>(cell.size()));
            for (const int corner : cell) number(corner);
            if (!binary) s += "\n";
        }
    }
    s += "\nCELL_TYPES 4\n";
    for (const int type : {3, 5, 10, 10}) number(type);
    return s + "\nCELL_DATA 4\nSCALARS a float\nLOOKUP_TABLE default\n1 2 3 4\n";
}

enum class Form { ascii, base64, base64_apart, raw, appended_base64, zlib, zlib_raw };

std::string vtu(Form form, bool wide, bool big = false) {
    const bool compressed = form == Form::zlib || form == Form::zlib_raw;
    const bool appended =
        form == Form::raw || form == Form::appended_base64 || form == Form::zlib_raw;
    const auto length = [&](std::size_t n) {
        return wide ? raw(std::uint64_t(n), big) : raw(static_cast<std::uint32_t>(n), big);
    };
    std::string s = fmt::format(
        "<?xml version=\"1.0\"?>\n<!-- a > b -->\n<VTKFile type=\"UnstructuredGrid\" "
        "version=\"1.0\" "
        "byte_order=\"{}\" header_type=\"{}\"{}>\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"6\" "
        "NumberOfCells=\"4\">\n<PointData/>\n",
        big ? "BigEndian" : "LittleEndian", wide ? "UInt64" : "UInt32",
        compressed ? " compressor=\"vtkZLibDataCompressor\"" : "");
    std::string tail;
    const auto add = [&](const char* name, const char* type, const std::string& bytes,
                         const std::string& text) {
        std::string packed;
        if (compressed) {
            // Two blocks, the second one shorter.
            const std::size_t half = bytes.size() / 2 + 1;
            std::string blocks[2] = {bytes.substr(0, half), bytes.substr(half)};
            std::string header = length(2) + length(half) + length(bytes.size() - half), data;
            for (const std::string& block : blocks) {
                std::string out(compressBound(block.size()), '\0');
                uLongf size = out.size();
                REQUIRE(compress(reinterpret_cast<Bytef*>(out.data()), &size,
                                 reinterpret_cast<const Bytef*>(block.data()),
                                 block.size()) == Z_OK);
                header += length(size);
                data += out.substr(0, size);
            }
            packed = form == Form::zlib ? base64(header) + base64(data) : header + data;
        } else if (form == Form::raw) {
            packed = length(bytes.size()) + bytes;
        } else if (form == Form::base64_apart) {
            packed = base64(length(bytes.size())) + base64(bytes);
        } else {
            packed = base64(length(bytes.size()) + bytes);
        }
        s += fmt::format(
            "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"1\" format=\"{}\"", type, name,
            appended              ? "appended"
            : form == Form::ascii ? "ascii"
                                  : "binary");
        if (appended) {
            s += fmt::format(" offset=\"{}\"/>\n", tail.size());
            tail += packed;
        } else {
            s += ">\n" + (form == Form::ascii ? text : packed) + "\n</DataArray>\n";
        }
    };
    std::string bytes, text;
    for (int p = 0; p < 6; ++p) {
        for (const double x : places[p]) bytes += raw(x, big);
        text += coordinates_text(p) + "\n";
    }
    s += "<Points>\n";
    add("Points", "Float64", bytes, text);
    s += "</Points>\n<Cells>\n";
    bytes = text = "";
    const auto corner = [&](int value) {
        bytes += raw(value, big);
        text += fmt::format("{} ", value);
    };
    for (const int c : segment) corner(c);
    for (const int c : triangle) corner(c);
    for (const auto& t : tetrahedra)
        for (const int c : t) corner(c);
    add("connectivity", "Int32", bytes, text);
    bytes = text = "";
    for (const std::int64_t end : {2, 5, 9, 13})
        bytes += raw(end, big), text += fmt::format("{} ", end);
    add("offsets", "Int64", bytes, text);
    add("types", "UInt8", "\x03\x05\x0a\x0a", "3 5 10 10");
    s += "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    if (appended)
        s += fmt::format("<AppendedData encoding=\"{}\">\n_",
                         form == Form::appended_base64 ? "base64" : "raw") +
             tail + "\n</AppendedData>\n";
    return s + "</VTKFile>\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

// A unit square in the plane z = 0 as a quadrilateral.
constexpr const char* square_obj =
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\n";

std::string ply(bool binary) {
    std::string s = fmt::format(
        "ply\nformat {} 1.0\nelement vertex 4\nproperty double x\nproperty double y\n"
        "property double z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n",
        binary ? "binary_little_endian" : "ascii");
    const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    for (const auto& c : corners)
        s += binary ? raw(c[0]) + raw(c[1]) + raw(c[2])
                    : fmt::format("{} {} {}\n", c[0], c[1], c[2]);
    if (!binary) return s + "3 0 1 2\n3 0 2 3\n";
    s += '\3' + raw(0) + raw(1) + raw(2) + '\3' + raw(0) + raw(2) + raw(3);
    return s;
}

std::string stl(bool binary) {
    const float triangles[2][3][3] = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}},
                                      {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
    if (!binary) {
        std::string s = "solid square\n";
        for (const auto& t : triangles) {
            s += "facet normal 0 0 1\nouter loop\n";
            for (const auto& v : t) s += fmt::format("vertex {} {} {}\n", v[0], v[1], v[2]);
            s += "endloop\nendfacet\n";
        }
        return s + "endsolid square\n";
    }
    std::string s(80, ' ');
    s += raw(std::uint32_t{2});
    for (const auto& t : triangles) {
        s += raw(0.f) + raw(0.f) + raw(1.f);
        for (const auto& v : t)
            for (const float x : v) s += raw(x);
        s += raw(std::uint16_t{0});
    }
    return s;
}

constexpr const char* square_off = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";

// One triangle, in a node that is moved by (0, 0, 5) and mirrored in x.
std::string gltf(const std::string& buffer_uri = "") {
    std::string bytes;
    for (const float x : {0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f}) bytes += raw(x);
    for (const int k : {0, 1, 2}) bytes += raw(static_cast<std::uint16_t>(k));
    return R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,)"
           R"("translation":[0,0,5],"scale":[-1,1,1]}],"meshes":[{"primitives":[{"attributes":)"
           R"({"POSITION":0},"indices":1}]}],"buffers":[{"byteLength":42,"uri":")" +
           (buffer_uri.empty() ? "data:application/octet-stream;base64," + base64(bytes)
                               : buffer_uri) +
           R"("}],"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":36},{"buffer":0,)"
           R"("byteOffset":36,"byteLength":6}],"accessors":[{"bufferView":0,"componentType":5126,)"
           R"("count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]},{"bufferView":1,)"
           R"("componentType":5123,"count":3,"type":"SCALAR"}]})";
}

// The area that counts along +z, and the number of points.
void check_square(const MeshFile& m) {
    CHECK(m.point_count() == 4);
    CHECK(m.triangles.size() == 2);
    CHECK(m.tetrahedra.empty());
    double area = 0;
    for (const auto& t : m.triangles) {
        const double* const a = &m.points[static_cast<std::size_t>(3 * t[0])];
        const double* const b = &m.points[static_cast<std::size_t>(3 * t[1])];
        const double* const c = &m.points[static_cast<std::size_t>(3 * t[2])];
        area += 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    }
    CHECK(area == 1);
}

}  // namespace

TEST_CASE("mesh files: Gmsh 2.2 and 4.1, as text and numbers in either order of bytes") {
    check_solid(parse_mesh(gmsh_2(false), "a.msh"));
    check_solid(parse_mesh(gmsh_2(true), "a.msh"));
    check_solid(parse_mesh(gmsh_2(true, true), "A.MSH"));
    check_solid(parse_mesh(gmsh_4(false), "a.msh"));
    check_solid(parse_mesh(gmsh_4(true), "a.msh"));
    check_solid(parse_mesh(gmsh_4(true, true), "a.msh"));
    // With the line ends of another system.
    std::string text;
    for (const char c : gmsh_4(false)) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
    check_solid(parse_mesh(text, "a.msh"));
}

TEST_CASE("mesh files: legacy VTK, with cells as they were and as they are since version 5") {
    for (const bool binary : {false, true})
        for (const bool offsets : {false, true})
            for (const bool single : {false, true}) {
                CAPTURE(binary);
                CAPTURE(offsets);
                // What is written as text is read to the precision that it announces.
                check_solid(parse_mesh(vtk(binary, offsets, single), "a.vtk"), single);
            }
}

TEST_CASE("mesh files: VTU as text, base64, raw, compressed") {
    for (const Form form : {Form::ascii, Form::base64, Form::base64_apart, Form::raw,
                            Form::appended_base64, Form::zlib, Form::zlib_raw})
        for (const bool wide : {false, true})
            for (const bool big : {false, true}) {
                CAPTURE(static_cast<int>(form));
                CAPTURE(wide);
                CAPTURE(big);
                check_solid(parse_mesh(vtu(form, wide, big), "a.vtu"));
            }
}

TEST_CASE("mesh files: surfaces, whose points at one place are one point") {
    check_square(parse_mesh(square_obj, "a.obj"));
    check_square(parse_mesh(ply(false), "a.ply"));
    check_square(parse_mesh(ply(true), "a.ply"));
    check_square(parse_mesh(stl(false), "a.stl"));
    check_square(parse_mesh(stl(true), "a.stl"));
    check_square(parse_mesh(square_off, "a.off"));
    // What is mirrored keeps its outside: the triangle is seen counter-clockwise from +z still.
    const MeshFile moved = parse_mesh(gltf(), "a.gltf");
    REQUIRE(moved.point_count() == 3);
    REQUIRE(moved.triangles.size() == 1);
    double doubled = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const auto a = static_cast<std::size_t>(3 * moved.triangles[0][k]),
                   b = static_cast<std::size_t>(3 * moved.triangles[0][(k + 1) % 3]);
        doubled += moved.points[a] * moved.points[b + 1] - moved.points[a + 1] * moved.points[b];
        CHECK(moved.points[a + 2] == 5);
        CHECK(moved.points[a] <= 0);
    }
    CHECK(doubled == 1);
    // Triangles alone of a format for tetrahedra, lines beside them.
    const std::string shell =
        replaced(replaced(vtk(false, false, false), "CELLS 4 17", "CELLS 2 7"),
                 "CELL_TYPES 4\n3 5 10 10", "CELL_TYPES 2\n3 5");
    const std::size_t at = shell.find("4 0 1 3 4");
    const MeshFile plane =
        parse_mesh(shell.substr(0, at) + shell.substr(shell.find("\nCELL_TYPES")), "a.vtk");
    CHECK(plane.triangles == std::vector<std::array<std::int64_t, 3>>{{0, 1, 2}});
    CHECK(plane.point_count() == 3);
}

TEST_CASE("mesh files: what is wrong is said with line or byte, element and remedy") {
    struct Fault {
        std::string content, name, text;
    };
    const std::string text_2 = gmsh_2(false), text_4 = gmsh_4(false),
                      legacy = vtk(false, false, false);
    const std::string binary = gmsh_2(true);
    const std::string ascii = vtu(Form::ascii, true);
    const std::vector<Fault> faults = {
        {"", "a.xyz",
         "mesh file 'a.xyz': files '.xyz' are not read as meshes; mesh files end in one of msh, "
         "vtk, "
         "vtu, obj, ply, stl, off, gltf, glb"},
        {"", "mesh",
         "mesh file 'mesh': the name has no ending that says what it is; mesh files end in one of "
         "msh, vtk, vtu, obj, ply, stl, off, gltf, glb"},
        {replaced(text_2, "2.2 0", "4.0 0"), "a.msh",
         "mesh file 'a.msh': line 2: version '4.0' of the format is not read; write version 4.1 or "
         "2.2 (gmsh -format msh41)"},
        {replaced(text_2, " 4 2 1 7 3 13 33 43", " 4 2 1 7 3 13 33 44"), "a.msh",
         "mesh file 'a.msh': line 21: element 3 names node 44, which is not there; the file is "
         "damaged or cut off: write it again"},
        {replaced(text_2, " 4 2 1 7 3 13 33 43", " 11 2 1 7 3 13 33 43"), "a.msh",
         "mesh file 'a.msh': line 21: element 3 is a second-order tetrahedron; write the mesh with "
         "tetrahedra of 4 points or triangles of 3 (gmsh -order 1, without recombined elements)"},
        {replaced(text_2, "13 1 0 0", "3 1 0 0"), "a.msh",
         "mesh file 'a.msh': line 11: node 3 is there twice; give each node a number of its own"},
        {replaced(text_2, "13 1 0 0", "13 1 0 zero"), "a.msh",
         "mesh file 'a.msh': line 11: expected a coordinate, found 'zero'; the file is damaged "
         "or cut off: write it again"},
        {replaced(text_2, "13 1 0 0", "13 1 0 1e400"), "a.msh",
         "mesh file 'a.msh': line 11: expected a coordinate, found '1e400'; the file is damaged "
         "or cut off: write it again"},
        {replaced(text_2, "13 1 0 0", "13 1 0 nan"), "a.msh",
         "mesh file 'a.msh': line 11: a coordinate is not finite; write finite coordinates"},
        {replaced(text_2, "$Nodes\n6", "$Nodes\n600000000000"), "a.msh",
         "mesh file 'a.msh': line 9: 600000000000 nodes are announced, and 170 bytes follow; the "
         "file is damaged or cut off: write it again"},
        {replaced(text_2, "$Nodes\n6", "$Nodes\n5"), "a.msh",
         "mesh file 'a.msh': line 15: $EndNodes is expected, found '53'; the file is damaged or "
         "cut off: write it again"},
        {text_2.substr(0, text_2.find("$Elements")), "a.msh",
         "mesh file 'a.msh': the file has no section $Elements; the file is damaged or cut off: "
         "write it again"},
        {replaced(text_2, "3 13 33 43", "3 13 13 43"), "a.msh",
         "mesh file 'a.msh': tetrahedron 0 of 2 has a corner twice: (0, 0, 0) (1, 0, 0) (1, 0, 0) "
         "(0, 0, 1); remove it or mend the mesh; elements are counted from 0"},
        {replaced(text_2, "43 0 0 1", "43 1 1 0"), "a.msh",
         "mesh file 'a.msh': tetrahedron 0 of 2 has no volume: (0, 0, 0) (1, 0, 0) (0, 1.25, 0) "
         "(1, 1, 0); remove it or mend the mesh; elements are counted from 0"},
        {binary.substr(0, binary.find("$Elements") + 30), "a.msh",
         "mesh file 'a.msh': line 13: 4 elements are announced, and 19 bytes follow; the file is "
         "damaged or cut off: write it again"},
        {replaced(text_4, "3 1 4 2", "3 1 5 2"), "a.msh",
         "mesh file 'a.msh': line 30: elements of kind hexahedron; write the mesh with tetrahedra "
         "of 4 points or triangles of 3 (gmsh -order 1, without recombined elements)"},
        {replaced(text_4, "2 6 3 53", "2 7 3 53"), "a.msh",
         "mesh file 'a.msh': line 22: 7 nodes are announced, and the blocks have 6; the file is "
         "damaged or cut off: write it again"},
        {replaced(legacy, "UNSTRUCTURED_GRID", "POLYDATA"), "a.vtk",
         "mesh file 'a.vtk': line 4: data sets of type 'POLYDATA' are not read; write an "
         "UNSTRUCTURED_GRID"},
        {replaced(legacy, "CELLS 4 17", "CELLS 4 18"), "a.vtk",
         "mesh file 'a.vtk': line 20: CELLS announces 18 numbers, and has 17; the file is damaged "
         "or cut off: write it again"},
        {replaced(legacy, "4 1 5 3 4", "4 1 6 3 4"), "a.vtk",
         "mesh file 'a.vtk': line 16: cell 3 names point 6, and there are 6 points; the file is "
         "damaged or cut off: write it again"},
        {replaced(legacy, "3 5 10 10", "3 5 10 24"), "a.vtk",
         "mesh file 'a.vtk': line 16: cell 3 is a quadratic tetrahedron; write the mesh with "
         "tetrahedra of 4 points or triangles of 3"},
        {replaced(legacy, "3 5 10 10", "3 5 10 5"), "a.vtk",
         "mesh file 'a.vtk': line 16: cell 3 is a triangle with 4 points; the file is damaged or "
         "cut off: write it again"},
        {replaced(ascii, "UnstructuredGrid", "PolyData"), "a.vtu",
         "mesh file 'a.vtu': line 3: files of type 'PolyData' are not read; write an "
         "UnstructuredGrid"},
        {replaced(ascii, "3 5 10 10", "3 5 10 77"), "a.vtu",
         "mesh file 'a.vtu': line 19: cell 3 has VTK's type 77, which is not read; write the mesh "
         "with tetrahedra of 4 points or triangles of 3"},
        {replaced(ascii, "2 5 9 13", "2 5 9 14"), "a.vtu",
         "mesh file 'a.vtu': line 22: offsets: cell 3 ends at 14, after 9; there are 13 numbers; "
         "the file is damaged or cut off: write it again"},
        {replaced(ascii, "1.25", "x1.25"), "a.vtu",
         "mesh file 'a.vtu': line 12: expected a coordinate, found 'x1.25'; the file is damaged "
         "or cut off: write it again"},
        {replaced(vtu(Form::raw, true), "offset=\"0\"", "offset=\"99999\""), "a.vtu",
         "mesh file 'a.vtu': line 8: points: offset 99999 lies beyond the 292 bytes that are "
         "appended; the file is damaged or cut off: write it again"},
        {replaced(vtu(Form::zlib, true), "vtkZLibDataCompressor", "vtkLZMADataCompressor"), "a.vtu",
         "mesh file 'a.vtu': line 3: the compressor 'vtkLZMADataCompressor' is not read; write "
         "vtkZLibDataCompressor, or no compression"},
        {replaced(square_obj, "v 1 1 0", "v 2 0 0"), "a.obj",
         "mesh file 'a.obj': face 0 has 4 corners and is not convex; cut it into triangles before "
         "the mesh is saved; faces are counted from 0"},
        {"v 0 0 0\n", "a.obj",
         "mesh file 'a.obj': the file cannot be read: 'OBJ-file is too small.'; write it again, as "
         "one file without references to others"},
        {gltf("elsewhere.bin"), "a.gltf",
         "mesh file 'a.gltf': the file cannot be read: 'GLTF: could not open referenced file "
         "\"elsewhere.bin\"'; write it again, as one file without references to others"},
    };
    for (const Fault& fault : faults)
        CHECK(message([&] { parse_mesh(fault.content, fault.name); }) == fault.text);
}

TEST_CASE("mesh files: a scene names them, and is told where it did") {
    const test::TemporaryFolder folder;
    write_file_atomically(folder / "body.msh", gmsh_4(true));
    write_file_atomically(folder / "bad.vtk", "# vtk");
    const document::Document scene = document::Document::parse(
        "{\n \"a\": \"body.msh\", \"b\": \"bad.vtk\", \"c\": \"none.msh\"}", "scene.json");
    const document::FileAccess files{folder.path(), {}};
    check_solid(mesh::read_mesh_file(files, *scene.root().find("a")));
    CHECK(message([&] { mesh::read_mesh_file(files, *scene.root().find("b")); }) ==
          "scene.json:2:24: at /b: mesh file 'bad.vtk': line 1: '# vtk DataFile Version ...' is "
          "expected; write a legacy VTK file, or name an XML file .vtu");
    CHECK(message([&] { mesh::read_mesh_file(files, *scene.root().find("c")); }) ==
          "scene.json:2:40: at /c: there is no file 'none.msh'; check the name; it is relative to "
          "the document");
}

TEST_CASE("mesh files: cut off anywhere or changed anywhere, they are a mesh or an error") {
    const std::pair<std::string, std::string> files[] = {
        {gmsh_2(false), "a.msh"},
        {gmsh_2(true), "a.msh"},
        {gmsh_4(false), "a.msh"},
        {gmsh_4(true, true), "a.msh"},
        {vtk(false, false, false), "a.vtk"},
        {vtk(true, false, true), "a.vtk"},
        {vtk(true, true, false), "a.vtk"},
        {vtu(Form::ascii, false), "a.vtu"},
        {vtu(Form::base64, false), "a.vtu"},
        {vtu(Form::raw, true), "a.vtu"},
        {vtu(Form::zlib, true), "a.vtu"},
        {vtu(Form::zlib_raw, false), "a.vtu"},
    };
    std::mt19937_64 random(31);
    std::int64_t meshes = 0, errors = 0;
    const auto attempt = [&](const std::string& content, const std::string& name) {
        try {
            const MeshFile m = parse_mesh(content, name);
            ++meshes;
            bool inside =
                m.points.size() % 3 == 0 && !(m.tetrahedra.empty() && m.triangles.empty());
            for (const double x : m.points) inside = inside && std::isfinite(x);
            for (const auto& t : m.tetrahedra)
                for (const std::int64_t c : t) inside = inside && c >= 0 && c < m.point_count();
            for (const auto& t : m.triangles)
                for (const std::int64_t c : t) inside = inside && c >= 0 && c < m.point_count();
            if (!inside) FAIL_CHECK("a mesh whose elements name points that it has not");
        } catch (const Error& error) {
            ++errors;
            if (error.what_to_do().empty()) FAIL_CHECK(error.what());
        }
    };
    for (const auto& [content, name] : files) {
        for (std::size_t length = 0; length < content.size(); ++length)
            attempt(content.substr(0, length), name);
        for (int k = 0; k < 2000; ++k) {
            std::string changed = content;
            for (std::uint64_t n = 1 + random() % 3; n > 0; --n)
                changed[random() % changed.size()] = static_cast<char>(random() % 256);
            attempt(changed, name);
        }
    }
    MESSAGE(meshes << " meshes, " << errors << " errors");
    CHECK(meshes > 100);
    CHECK(errors > 10'000);
}
