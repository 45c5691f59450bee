#include "engine/sim/scene/gradient_settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/document/read.hpp"

namespace hindcast {

namespace {

struct Unit {
    std::string_view name;
    double bytes;
};
constexpr Unit units[] = {{"", 1},         {"B", 1},        {"bytes", 1},    {"KiB", 0x1p10},
                          {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
                          {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};

}  // namespace

std::int64_t parse_bytes(std::string_view text) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    const auto* known = std::find_if(std::begin(units), std::end(units),
                                     [&](const Unit& u) { return u.name == unit; });
    const double bytes = known != std::end(units) ? number * known->bytes : 0;
    if (code != std::errc() || known == std::end(units) || !(bytes >= 1) || bytes >= 0x1p62)
        throw Error("'" + std::string(text) + "' is no amount of memory")
            .remedy("write a number above 0 and a unit, such as 512 MiB or 1.5 GB");
    return static_cast<std::int64_t>(bytes);
}

GradientSettings GradientSettings::read(const document::Node* node) {
    GradientSettings settings;
    if (node == nullptr) return settings;
    document::Reader reader(*node, "the settings of gradients");
    if (const document::Node* memory = reader.find("memory")) {
        try {
            settings.memory = parse_bytes(document::string_of(*memory));
        } catch (const Error& e) {
            if (!memory->is_string()) throw;
            throw document::fault(*memory, e.happened()).remedy(e.what_to_do());
        }
    }
    settings.horizon = reader.integer_or("horizon", 0, 1, 100'000'000);
    reader.finish();
    return settings;
}

std::string gradient_settings_schema() {
    return R"json({"description": "how gradients are computed", "type": "object", "additionalProperties": false,
  "properties": {
    "memory": {"description": "what gradients and all that is kept for the backward pass may take, such as \"512 MiB\"; where it does not suffice, steps are computed again from stored states, with the same bits; default: half of the memory that is free", "type": "string"},
    "horizon": {"description": "gradients over the last so many whole steps only; the state before them is taken as given; default: all steps", "type": "integer", "minimum": 1}}})json";
}

}  // namespace hindcast
