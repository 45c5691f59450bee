// VTK's XML with all numbers appended as they lie in memory, each array after its length (UInt64):
// https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <type_traits>

#include "app/export/bytes.hpp"
#include "app/export/export.hpp"
#include "engine/base/text/xml_text.hpp"
#include "engine/document/text.hpp"

namespace hindcast::exporting {

namespace {

template <class T>
constexpr const char* name_of_type() {
    if constexpr (std::is_same_v<T, float>) return "Float32";
    if constexpr (std::is_same_v<T, double>) return "Float64";
    if constexpr (std::is_same_v<T, std::int64_t>) return "Int64";
    if constexpr (std::is_same_v<T, std::int32_t>) return "Int32";
    return "UInt8";
}

class Writer {
public:
    template <class T, class Value>
    void add(const std::string& name, std::size_t components, const std::vector<Value>& values,
             const std::string& more = "") {
        text_ += fmt::format(
            "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"{} format=\"appended\" "
            "offset=\"{}\"/>\n",
            name_of_type<T>(), xml_text(name), components, more, data_.size());
        put(data_, std::uint64_t{values.size() * sizeof(T)});
        for (const Value value : values) put(data_, static_cast<T>(value));
    }
    void add_real(bool single, const std::string& name, std::size_t components,
                  const std::vector<double>& values, const std::string& more = "") {
        if (single)
            add<float>(name, components, values, more);
        else
            add<double>(name, components, values, more);
    }
    void line(const std::string& text) { text_ += text + "\n"; }
    std::string finish() && {
        return text_ + "<AppendedData encoding=\"raw\">\n_" + data_ +
               "\n</AppendedData>\n</VTKFile>\n";
    }

private:
    std::string text_, data_;
};

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// One row of numbers for each of `count` points or cells: that of the element that it is of, NaN
// where it is of none. Vectors of the plane get a third component, as VTK's vectors have.
class Rows {
public:
    Rows(std::int64_t components, std::int64_t count)
        : components_(components == 2 ? 3 : static_cast<std::size_t>(components)),
          values_(static_cast<std::size_t>(count) * components_, none) {}

    // Rows first, first + 1, ... are of these elements of the array.
    template <class Elements>
    void set(std::int64_t first, const Array& array, const Elements& elements) {
        const std::vector<double> source = array.to_doubles();
        const auto from = static_cast<std::size_t>(array.components());
        std::size_t row = static_cast<std::size_t>(first) * components_;
        for (const std::int64_t element : elements)
            for (std::size_t k = 0; k < components_; ++k)
                values_[row++] =
                    k < from ? source[static_cast<std::size_t>(element) * from + k] : 0;
    }
    std::size_t components() const { return components_; }
    const std::vector<double>& values() const { return values_; }

private:
    std::size_t components_;
    std::vector<double> values_;
};

}  // namespace

std::string to_vtu(const Geometry& geometry, double time, const std::vector<Attribute>& shown) {
    Writer out;
    out.line("<?xml version=\"1.0\"?>");
    std::vector<std::string> owners;
    for (const Part& part : geometry.parts())
        if (std::ranges::find(owners, part.owner) == owners.end()) owners.push_back(part.owner);
    // Arrays of texts are unknown to many readers.
    std::string objects;
    for (std::size_t k = 0; k < owners.size(); ++k) {
        objects += fmt::format("{}{} {}", k > 0 ? ", " : "", k, owners[k]);
        for (std::size_t at; (at = objects.find("--")) != std::string::npos;)
            objects.replace(at, 2, "- -");
    }
    out.line(fmt::format("<!-- objects: {} -->", objects));
    out.line(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n<UnstructuredGrid>\n<FieldData>");
    out.add<double>("TimeValue", 1, std::vector<double>{time}, " NumberOfTuples=\"1\"");
    for (const Attribute& a : geometry.attributes())
        if (a.of == Attribute::Of::nothing)
            out.add_real(a.array.type() == ir::Type::f32, a.name,
                         static_cast<std::size_t>(a.array.components()), a.array.to_doubles(),
                         fmt::format(" NumberOfTuples=\"{}\"", a.array.elements()));
    out.line(
        fmt::format("</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<PointData>",
                    geometry.point_count(), geometry.cell_count()));
    for (const auto* const list : {&geometry.attributes(), &shown})
        for (const Attribute& a : *list) {
            if (a.of != Attribute::Of::points) continue;
            Rows rows(a.array.components(), geometry.point_count());
            rows.set(a.first, a.array, std::views::iota(std::int64_t{0}, a.array.elements()));
            out.add_real(a.array.type() == ir::Type::f32, a.name, rows.components(), rows.values());
        }
    out.line("</PointData>\n<CellData>");
    std::vector<std::int64_t> object, corners, ends, types;
    for (const Part& part : geometry.parts()) {
        const auto owner = std::ranges::find(owners, part.owner) - owners.begin();
        object.insert(object.end(), part.element_of.size(), owner);
        corners.insert(corners.end(), part.cells.begin(), part.cells.end());
        for (std::int64_t k = 0; k < part.count(); ++k) {
            ends.push_back((ends.empty() ? 0 : ends.back()) + part.corners);
            types.push_back(part.corners == 1 ? 1 : part.corners == 2 ? 3 : 5);
        }
    }
    out.add<std::int32_t>("object", 1, object);
    const auto set = [&](Rows& rows, const Attribute& a) {
        std::int64_t first = 0;
        for (std::size_t p = 0; p < a.part; ++p) first += geometry.parts()[p].count();
        rows.set(first, a.array, geometry.parts()[a.part].element_of);
    };
    for (const auto* const list : {&geometry.attributes(), &shown})
        for (auto a = list->begin(); a != list->end(); ++a) {
            const auto same = [&](const Attribute& other) { return other.name == a->name; };
            if (a->of != Attribute::Of::cells || std::find_if(list->begin(), a, same) != a)
                continue;
            Rows rows(a->array.components(), geometry.cell_count());
            for (const Attribute& of : *list)
                if (same(of)) set(rows, of);
            out.add_real(a->array.type() == ir::Type::f32, a->name, rows.components(),
                         rows.values());
        }
    out.line("</CellData>\n<Points>");
    out.add_real(geometry.is_single(), "Points", 3, geometry.places());
    out.line("</Points>\n<Cells>");
    out.add<std::int64_t>("connectivity", 1, corners);
    out.add<std::int64_t>("offsets", 1, ends);
    out.add<std::uint8_t>("types", 1, types);
    out.line("</Cells>\n</Piece>\n</UnstructuredGrid>");
    return std::move(out).finish();
}

}  // namespace hindcast::exporting
