// PLY (http://paulbourke.net/dataformats/ply/) and Wavefront's OBJ.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/export/bytes.hpp"
#include "app/export/export.hpp"

namespace hindcast::exporting {

std::string to_ply(const Geometry& geometry) {
    const bool single = geometry.is_single();
    const char* const real = single ? "float" : "double";
    std::int64_t triangles = 0, edges = 0;
    for (const Part& part : geometry.parts()) {
        if (part.corners == 3) triangles += part.count();
        if (part.corners == 2) edges += part.count();
    }
    std::string out = fmt::format("ply\nformat binary_little_endian 1.0\nelement vertex {}\n",
                                  geometry.point_count());
    for (const char* const name : {"x", "y", "z", "vx", "vy", "vz"})
        out += fmt::format("property {} {}\n", real, name);
    out += fmt::format("element face {}\nproperty list uchar int vertex_indices\n", triangles);
    // Not all readers know edges.
    if (edges > 0)
        out += fmt::format("element edge {}\nproperty int vertex1\nproperty int vertex2\n", edges);
    out += "end_header\n";
    const std::vector<double> places = geometry.places();
    std::vector<double> velocities(places.size(), 0.0);  // of the nodes of a field: none
    for (const Attribute& a : geometry.attributes()) {
        if (a.name != "velocity" || a.of != Attribute::Of::points) continue;
        const std::vector<double> v = a.array.to_doubles();
        const auto d = static_cast<std::size_t>(a.array.components());
        for (std::size_t k = 0; k < v.size(); ++k) velocities[k / d * 3 + k % d] = v[k];
    }
    for (std::size_t p = 0; p < places.size(); p += 3)
        for (const auto* const list : {&places, &std::as_const(velocities)})
            for (std::size_t k = p; k < p + 3; ++k)
                single ? put(out, static_cast<float>((*list)[k])) : put(out, (*list)[k]);
    for (const int corners : {3, 2})
        for (const Part& part : geometry.parts()) {
            if (part.corners != corners) continue;
            for (std::size_t k = 0; k < part.cells.size(); ++k) {
                if (corners == 3 && k % 3 == 0) out += '\3';
                put(out, static_cast<std::int32_t>(part.cells[k]));
            }
        }
    return out;
}

std::string to_obj(const Geometry& geometry) {
    std::string out;
    const std::vector<double> places = geometry.places();
    for (std::size_t p = 0; p < places.size(); p += 3)
        out +=
            geometry.is_single()
                ? fmt::format("v {} {} {}\n", static_cast<float>(places[p]),
                              static_cast<float>(places[p + 1]), static_cast<float>(places[p + 2]))
                : fmt::format("v {} {} {}\n", places[p], places[p + 1], places[p + 2]);
    for (const Part& part : geometry.parts()) {
        std::string name = part.owner;
        std::ranges::replace_if(
            name, [](char c) { return static_cast<unsigned char>(c) <= ' '; }, '_');
        out += fmt::format("o {}\n", name);
        const char* const kind = part.corners == 1 ? "p" : part.corners == 2 ? "l" : "f";
        for (std::size_t k = 0; k < part.cells.size(); ++k) {
            if (k % static_cast<std::size_t>(part.corners) == 0) out += kind;
            out += fmt::format(" {}", part.cells[k] + 1);
            if ((k + 1) % static_cast<std::size_t>(part.corners) == 0) out += '\n';
        }
    }
    return out;
}

}  // namespace hindcast::exporting
