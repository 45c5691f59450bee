// VTK's XML for unstructured grids: one piece, numbers as text, base64 or raw, whole or compressed
// by zlib.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/document/text.hpp"
#include "engine/mesh/formats.hpp"
#include "engine/mesh/vtu_data.hpp"
#include "engine/mesh/vtu_tags.hpp"

namespace hindcast::mesh {

namespace {

constexpr const char* as_paraview_writes = "write the file by VTK, ParaView or meshio";

// An array of the file, and where its numbers are.
struct DataArray {
    Tag tag;
    std::string_view text;
    std::int64_t first_line = 1;
};

class VtuReader {
public:
    explicit VtuReader(std::string_view content)
        : content_(content), tags_(cut_off_appended(content)) {}

    MeshFile read() {
        read_tags();
        const std::size_t points = number(piece_, "NumberOfPoints"),
                          cells = number(piece_, "NumberOfCells");
        read_array(find("points"), "points", [&](Source& in, std::string_view type) {
            if (type == "Float32")
                mesh_.points.push_back(in.coordinate<float>("a coordinate"));
            else if (type == "Float64")
                mesh_.points.push_back(in.coordinate<double>("a coordinate"));
            else
                throw fault("points", fmt::format("of type {}", document::shown(type)),
                            "write Float32 or Float64");
        });
        if (mesh_.points.size() % 3 != 0 || mesh_.points.size() / 3 != points)
            throw fault("points", fmt::format("{} numbers, and the piece has {} points",
                                              mesh_.points.size(), points));
        const std::vector<std::int64_t> corners = integers("connectivity"),
                                        ends = integers("offsets"), types = integers("types");
        if (ends.size() != cells || types.size() != cells)
            throw fault("cells", fmt::format("{} offsets and {} types, and the piece has {} cells",
                                             ends.size(), types.size(), cells));
        std::size_t begin = 0;
        for (std::size_t cell = 0; cell < cells; ++cell) {
            if (ends[cell] < static_cast<std::int64_t>(begin) ||
                ends[cell] > static_cast<std::int64_t>(corners.size()))
                throw fault("offsets",
                            fmt::format("cell {} ends at {}, after {}; there are {} numbers", cell,
                                        ends[cell], begin, corners.size()));
            const auto end = static_cast<std::size_t>(ends[cell]);
            add_vtk_cell(mesh_, cell, types[cell], std::span(corners).subspan(begin, end - begin),
                         place_of("connectivity"));
            begin = end;
        }
        return std::move(mesh_);
    }

private:
    // Raw data are no XML: the tags end where they begin.
    std::string_view cut_off_appended(std::string_view content) {
        const std::size_t at = content.find("<AppendedData");
        if (at == std::string_view::npos) return content;
        const std::size_t end = content.find('>', at), mark = content.find('_', end);
        if (end == std::string_view::npos || mark == std::string_view::npos)
            throw Error("the appended data have no beginning ('_')").remedy(damaged);
        const std::string_view tag = content.substr(at, end - at);
        appended_is_raw_ = tag.find("raw") != std::string_view::npos;
        if (!appended_is_raw_ && tag.find("base64") == std::string_view::npos)
            throw Error("appended data have an encoding that is not read")
                .remedy("write raw or base64");
        appended_ = content.substr(mark + 1);
        return content.substr(0, at);
    }

    void read_tags() {
        const auto file = tags_.next();
        if (!file || file->name != "VTKFile")
            throw tags_.error(file ? file->at : 0, "the tag VTKFile is expected",
                              as_paraview_writes);
        if (file->get("type") != "UnstructuredGrid")
            throw tags_.error(
                file->at,
                fmt::format("files of type {} are not read", document::shown(file->get("type"))),
                "write an UnstructuredGrid");
        const std::string_view order = file->get("byte_order"), header = file->get("header_type"),
                               compressor = file->get("compressor");
        if (order != "LittleEndian" && order != "BigEndian" && !order.empty())
            throw tags_.error(file->at, fmt::format("the byte order {}", document::shown(order)));
        form_.swapped = order == "BigEndian";
        if (header != "UInt32" && header != "UInt64" && !header.empty())
            throw tags_.error(file->at, fmt::format("headers of type {}", document::shown(header)),
                              "write UInt32 or UInt64");
        form_.long_headers = header == "UInt64";
        if (compressor != "vtkZLibDataCompressor" && !compressor.empty())
            throw tags_.error(
                file->at, fmt::format("the compressor {} is not read", document::shown(compressor)),
                "write vtkZLibDataCompressor, or no compression");
        form_.compressed = !compressor.empty();
        std::string_view group;
        bool pieces = false;
        while (const std::optional<Tag> tag = tags_.next()) {
            if (tag->name == "Piece") {
                if (std::exchange(pieces, true))
                    throw tags_.error(tag->at, "a second piece", "merge the pieces into one");
                piece_ = *tag;
            }
            if (tag->name == "Points" || tag->name == "Cells") group = tag->name;
            if (tag->name == "/Points" || tag->name == "/Cells") group = {};
            if (tag->name != "DataArray" || group.empty()) continue;
            DataArray array{*tag, {}, 1};
            if (!tag->closed) array.text = tags_.text_here();
            array.first_line +=
                std::count(content_.begin(),
                           content_.begin() + static_cast<std::ptrdiff_t>(tags_.position()), '\n');
            const std::string key = group == "Points" ? "points" : std::string(tag->get("Name"));
            if (!arrays_.emplace(key, array).second)
                throw tags_.error(tag->at, fmt::format("a second array {}", document::shown(key)));
        }
        if (!pieces)
            throw Error("the file has no piece of an unstructured grid").remedy(as_paraview_writes);
    }

    std::size_t number(const Tag& tag, std::string_view key) const {
        Source text(tag.get(key));
        try {
            return static_cast<std::size_t>(text.next<std::uint32_t>("a number"));
        } catch (const Error&) {
            throw tags_.error(tag.at, fmt::format("{} of a piece is expected, found {}", key,
                                                  document::shown(tag.get(key))));
        }
    }

    const DataArray& find(const std::string& name) const {
        const auto found = arrays_.find(name);
        if (found != arrays_.end()) return found->second;
        throw tags_.error(piece_.at, fmt::format("the piece has no array of {}", name));
    }

    Source place_of(const std::string& name) const {
        Source place(content_);
        place.move_to(arrays_.at(name).tag.at);
        return place;
    }
    Error fault(const std::string& array, const std::string& happened,
                const std::string& remedy = damaged) const {
        const auto found = arrays_.find(array);
        return tags_.error(found == arrays_.end() ? piece_.at : found->second.tag.at,
                           fmt::format("{}: {}", array, happened), remedy);
    }

    std::vector<std::int64_t> integers(const char* name) {
        std::vector<std::int64_t> list;
        read_array(find(name), name, [&](Source& in, std::string_view type) {
            const auto next = [&]<class T>(T) {
                const T value = in.next<T>("a number");
                if (!std::in_range<std::int64_t>(value))
                    throw fault(name, fmt::format("{} is no number of a point or cell", value));
                list.push_back(static_cast<std::int64_t>(value));
            };
            if (type == "Int64") return next(std::int64_t{});
            if (type == "Int32") return next(std::int32_t{});
            if (type == "Int16") return next(std::int16_t{});
            if (type == "Int8") return next(std::int8_t{});
            if (type == "UInt64") return next(std::uint64_t{});
            if (type == "UInt32") return next(std::uint32_t{});
            if (type == "UInt16") return next(std::uint16_t{});
            if (type == "UInt8") return next(std::uint8_t{});
            throw fault(name, fmt::format("numbers of type {}", document::shown(type)),
                        "write Int64, Int32 or UInt8");
        });
        return list;
    }

    // Calls take(source, type) as long as there are numbers.
    template <class Take>
    void read_array(const DataArray& array, const std::string& name, const Take& take) {
        const std::string_view format = array.tag.get("format"), type = array.tag.get("type");
        if (format == "ascii") {
            Source in(array.text, array.first_line);
            while (!in.peek().empty()) take(in, type);
            return;
        }
        const Fault here = [&](const std::string& happened) { return fault(name, happened); };
        std::string bytes;
        if (format == "binary") {
            Source text(array.text);
            bytes = array_bytes(text.word(), false, form_, here);
        } else if (format == "appended") {
            Source text(array.tag.get("offset"));
            std::uint64_t offset = 0;
            try {
                offset = text.next<std::uint64_t>("the offset");
            } catch (const Error&) {
                throw fault(name, "the offset is no number");
            }
            if (offset >= appended_.size())
                throw fault(name,
                            fmt::format("offset {} lies beyond the {} bytes that are appended",
                                        offset, appended_.size()));
            bytes = array_bytes(appended_.substr(offset), appended_is_raw_, form_, here);
        } else {
            throw fault(name, fmt::format("the format {}", document::shown(format)),
                        "write ascii, binary or appended");
        }
        Source in(bytes);
        in.binary = true;
        in.swapped = form_.swapped;
        try {
            while (in.left() > 0) take(in, type);
        } catch (const Error& e) {
            throw fault(name, e.happened(), e.what_to_do());
        }
    }

    std::string_view content_, appended_;
    bool appended_is_raw_ = false;
    DataForm form_;
    Tags tags_;
    Tag piece_;
    std::map<std::string, DataArray> arrays_;
    MeshFile mesh_;
};

}  // namespace

MeshFile read_vtu(std::string_view content) { return VtuReader(content).read(); }

}  // namespace hindcast::mesh
