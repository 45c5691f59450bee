// The layout of MuJoCo's compiled model in memory: names, offsets, types and sizes of mjModel's
// fields, as facts of one release. Building needs no header of MuJoCo's.
//
// An array of mjModel is a pointer to rows x columns elements in C order. Its number of rows is a
// size of the model; its number of columns is a number, or a size of the model times a number.
// generate.py writes the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hindcast::robot {

enum class Element : std::uint8_t { real64, real32, int32, int64, byte };

// A number of things, such as "nbody": an int64 at this offset in bytes.
struct SizeField {
    std::string_view name;
    std::size_t offset = 0;
};

// Elements at this offset, or a pointer to them. `rows` and `columns_by` name sizes; empty: 1.
struct ModelField {
    std::string_view name;
    std::size_t offset = 0;
    Element element = Element::real64;
    std::string_view rows, columns_by;
    int columns = 1;  // times the size columns_by
};

// A member of the structs of a model as it is written, before it is compiled: "mjsGeom.density".
struct WrittenField {
    std::string_view name;
    std::size_t offset = 0;
};

// The release that the tables are of, as mj_version() says it: 4000001 is 4.0.1.
int layout_version();

std::span<const SizeField> size_fields();
// Options and statistics, which lie in mjModel itself: "opt.timestep", "stat.meaninertia".
std::span<const ModelField> inline_fields();
// Arrays that mjModel points to: "body_mass".
std::span<const ModelField> array_fields();
std::span<const WrittenField> written_fields();

}  // namespace hindcast::robot
