// Legacy VTK: DATASET UNSTRUCTURED_GRID, up to the first data of points or cells, which are not
// read.
#include <vector>

#include "engine/document/text.hpp"
#include "engine/mesh/formats.hpp"

namespace hindcast::mesh {

namespace {

struct CellName {
    std::int64_t type;
    const char* name;
};
constexpr CellName refused[] = {
    {6, "triangle strip"},
    {7, "polygon"},
    {8, "pixel"},
    {9, "quadrilateral"},
    {11, "voxel"},
    {12, "hexahedron"},
    {13, "wedge"},
    {14, "pyramid"},
    {21, "quadratic edge"},
    {22, "quadratic triangle"},
    {23, "quadratic quadrilateral"},
    {24, "quadratic tetrahedron"},
    {25, "quadratic hexahedron"},
    {26, "quadratic wedge"},
    {27, "quadratic pyramid"},
    {41, "convex set of points"},
    {42, "polyhedron"},
    {68, "Lagrange curve"},
    {69, "Lagrange triangle"},
    {71, "Lagrange tetrahedron"},
};

// Numbers in VTK's names.
enum class Type { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
struct TypeName {
    std::string_view name;
    Type type;
    std::size_t bytes;
};
constexpr TypeName type_names[] = {
    {"char", Type::i8, 1},           {"unsigned_char", Type::u8, 1},
    {"short", Type::i16, 2},         {"unsigned_short", Type::u16, 2},
    {"int", Type::i32, 4},           {"unsigned_int", Type::u32, 4},
    {"long", Type::i64, 8},          {"unsigned_long", Type::u64, 8},
    {"vtktypeint64", Type::i64, 8},  {"vtktypeint32", Type::i32, 4},
    {"vtktypeuint64", Type::u64, 8}, {"vtkIdType", Type::i64, 8},
    {"float", Type::f32, 4},         {"double", Type::f64, 8},
};

class VtkReader {
public:
    explicit VtkReader(std::string_view content) : in_(content) { in_.swapped = true; }

    MeshFile read() {
        const std::string_view first = in_.line();
        if (!first.starts_with("# vtk DataFile Version "))
            throw in_.error("'# vtk DataFile Version ...' is expected",
                            "write a legacy VTK file, or name an XML file .vtu");
        in_.line();  // the title
        const std::string_view form = in_.word();
        if (form != "ASCII" && form != "BINARY")
            throw in_.error(
                fmt::format("ASCII or BINARY is expected, found {}", document::shown(form)));
        is_binary_ = form == "BINARY";
        in_.expect("DATASET");
        const std::string_view set = in_.word();
        if (set != "UNSTRUCTURED_GRID")
            throw in_.error(fmt::format("data sets of type {} are not read", document::shown(set)),
                            "write an UNSTRUCTURED_GRID");
        bool points = false;
        while (true) {
            in_.binary = false;
            const std::string_view section = in_.word();
            if (section.empty() || section == "POINT_DATA" || section == "CELL_DATA") break;
            if (section == "FIELD") {
                pass_over_field();
            } else if (section == "METADATA") {
                in_.line();
                while (in_.left() > 0 && !in_.line().empty()) {
                }
            } else if (section == "POINTS" && !points) {
                read_points();
                points = true;
            } else if (section == "CELLS" && ends_.empty()) {
                read_cells();
            } else if (section == "CELL_TYPES" && types_.empty()) {
                read_types();
            } else {
                throw in_.error(fmt::format("a section (POINTS, CELLS, ...) is expected, found {}",
                                            document::shown(section)));
            }
        }
        if (!points || ends_.size() != types_.size())
            throw in_.error(fmt::format("{} points, {} cells and {} types of cells",
                                        mesh_.point_count(), ends_.size(), types_.size()));
        in_.move_to(cells_at_);
        std::size_t begin = 0;
        for (std::size_t cell = 0; cell < ends_.size(); begin = ends_[cell++])
            add_vtk_cell(mesh_, cell, types_[cell],
                         std::span(corners_).subspan(begin, ends_[cell] - begin), in_);
        return std::move(mesh_);
    }

private:
    const TypeName& type() {
        const std::string_view found = in_.word();
        for (const TypeName& type : type_names)
            if (type.name == found) return type;
        throw in_.error(
            fmt::format("a type of numbers is expected, found {}", document::shown(found)),
            "write float or double, and vtktypeint64 or int");
    }

    // The text's line ends, and numbers follow.
    void numbers_follow() {
        in_.line();
        in_.binary = is_binary_;
    }

    std::int64_t integer(Type type, const char* what) {
        if (type == Type::i32) return in_.next<std::int32_t>(what);
        if (type == Type::i64) return in_.next<std::int64_t>(what);
        throw in_.error(fmt::format("{} has a type that is not read", what),
                        "write vtktypeint64 or int");
    }

    void read_points() {
        const auto count = in_.count<std::int64_t>("points", 6);
        const TypeName& real = type();
        if (real.type != Type::f32 && real.type != Type::f64)
            throw in_.error(fmt::format("points of type {} are not read", real.name),
                            "write float or double");
        numbers_follow();
        in_.require_room(count, "points", is_binary_ ? 3 * real.bytes : 6);
        mesh_.points.reserve(3 * count);
        for (std::size_t k = 0; k < 3 * count; ++k)
            mesh_.points.push_back(real.type == Type::f32 ? in_.coordinate<float>("a coordinate")
                                                          : in_.coordinate<double>("a coordinate"));
    }

    void read_cells() {
        cells_at_ = in_.position();
        const auto first = in_.count<std::int64_t>("cells", 2),
                   second = in_.count<std::int64_t>("numbers of cells", 2);
        if (in_.line().empty() && in_.peek() == "OFFSETS") {
            read_offsets(first, second);
            return;
        }
        in_.binary = is_binary_;
        std::size_t numbers = 0;
        for (std::size_t k = 0; k < first; ++k) {
            const auto corners = in_.count<std::int32_t>("points of a cell", is_binary_ ? 4 : 2);
            for (std::size_t c = 0; c < corners; ++c)
                corners_.push_back(in_.next<std::int32_t>("the number of a point"));
            ends_.push_back(corners_.size());
            numbers += corners + 1;
        }
        if (numbers != second)
            throw in_.error(fmt::format("CELLS announces {} numbers, and has {}", second, numbers));
    }

    // From version 5 on: where each cell begins, and where the last one ends.
    void read_offsets(std::size_t offsets, std::size_t numbers) {
        in_.expect("OFFSETS");
        Type integers = type().type;
        numbers_follow();
        std::int64_t last = 0;
        for (std::size_t k = 0; k < offsets; ++k) {
            const std::int64_t offset = integer(integers, "an offset");
            if (offset < last || (k == 0 && offset != 0) ||
                offset > static_cast<std::int64_t>(numbers))
                throw in_.error(
                    fmt::format("offset {} of the cells is {}, after {}", k, offset, last));
            if (k > 0) ends_.push_back(static_cast<std::size_t>(offset));
            last = offset;
        }
        if (last != static_cast<std::int64_t>(numbers))
            throw in_.error(
                fmt::format("the cells end at {}, and there are {} numbers", last, numbers));
        in_.binary = false;
        in_.expect("CONNECTIVITY");
        integers = type().type;
        numbers_follow();
        for (std::size_t k = 0; k < numbers; ++k)
            corners_.push_back(integer(integers, "the number of a point"));
    }

    void read_types() {
        const auto count = in_.count<std::int64_t>("types of cells", 2);
        numbers_follow();
        for (std::size_t k = 0; k < count; ++k)
            types_.push_back(in_.next<std::int32_t>("the type of a cell"));
    }

    void pass_over_field() {
        in_.word();  // its name
        const auto arrays = in_.count<std::int64_t>("arrays", 2);
        for (std::size_t a = 0; a < arrays; ++a) {
            in_.binary = false;
            const std::string_view name = in_.word();
            if (name == "METADATA") {
                in_.line();
                while (in_.left() > 0 && !in_.line().empty()) {
                }
                in_.word();
            }
            const auto components = in_.count<std::int64_t>("components", 1),
                       tuples = in_.count<std::int64_t>("tuples", 1);
            const std::string_view type_name = in_.peek();
            if (components > 0 && tuples > in_.left() / components)
                throw in_.error("a field that is longer than the file");
            if (is_binary_) {
                const TypeName& numbers = type();
                in_.line();
                in_.skip(components * tuples, numbers.bytes, "a number");
            } else {
                in_.word();
                if (type_name == "string") {
                    in_.line();
                    for (std::size_t k = 0; k < components * tuples; ++k) in_.line();
                } else {
                    for (std::size_t k = 0; k < components * tuples; ++k) in_.word();
                }
            }
        }
    }

    Source in_;
    MeshFile mesh_;
    std::vector<std::int64_t> corners_, types_;
    std::vector<std::size_t> ends_;  // of each cell in corners_
    std::size_t cells_at_ = 0;       // in the file
    bool is_binary_ = false;
};

}  // namespace

void add_vtk_cell(MeshFile& mesh, std::size_t cell, std::int64_t type,
                  std::span<const std::int64_t> points, const Source& source) {
    for (const std::int64_t point : points)
        if (point < 0 || point >= mesh.point_count())
            throw source.error(fmt::format("cell {} names point {}, and there are {} points", cell,
                                           point, mesh.point_count()));
    const auto require = [&](const char* name, std::size_t wanted) {
        if (points.size() != wanted)
            throw source.error(
                fmt::format("cell {} is a {} with {} points", cell, name, points.size()));
    };
    switch (type) {
        case 1:
        case 2:
        case 3:
        case 4: return;  // points and lines
        case 5:
            require("triangle", 3);
            mesh.triangles.push_back({points[0], points[1], points[2]});
            return;
        case 10:
            require("tetrahedron", 4);
            mesh.tetrahedra.push_back({points[0], points[1], points[2], points[3]});
            return;
        default: break;
    }
    for (const CellName& name : refused)
        if (name.type == type)
            throw source.error(fmt::format("cell {} is a {}", cell, name.name), only_linear);
    throw source.error(fmt::format("cell {} has VTK's type {}, which is not read", cell, type),
                       only_linear);
}

MeshFile read_vtk(std::string_view content) { return VtkReader(content).read(); }

}  // namespace hindcast::mesh
