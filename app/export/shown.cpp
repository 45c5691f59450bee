#include "app/export/shown.hpp"

#include <algorithm>
#include <optional>

#include "engine/base/error.hpp"

namespace hindcast::exporting {

namespace {

using model::ShownQuantity;

// The part that draws the quantity's elements, if there is one: as segments or as triangles of a
// surface.
std::optional<std::size_t> part_of(const ShownQuantity& quantity, const Geometry& geometry) {
    for (std::size_t p = 0; p < geometry.parts().size(); ++p) {
        const Part& part = geometry.parts()[p];
        if (part.owner != quantity.drawn_by() || part.corners == 1 || part.cells.empty()) continue;
        const std::int64_t last = *std::ranges::max_element(part.element_of);
        // The surface of a body of tetrahedra shows some elements only.
        if (part.corners == 3 ? last < quantity.count : last + 1 == quantity.count) return p;
    }
    return std::nullopt;
}

}  // namespace

Shown::Shown(model::Model& model, const Geometry& geometry) {
    const auto add = [&](const std::string& name, const ShownQuantity& quantity, Attribute::Of of,
                         std::size_t part) {
        if (std::ranges::find(geometry.attributes(), name, &Attribute::name) !=
            geometry.attributes().end())
            throw Error("internal: '" + name + "' of '" + quantity.owner +
                        "' is shown under the name of a state array");
        values_.emplace_back(model, quantity.key());
        attributes_.push_back({name, values_.back().values(), of, 0, part});
    };
    for (const ShownQuantity& quantity : model::shown_quantities(model)) {
        const std::string name = model::shown_name(model, quantity);
        if (quantity.of == ShownQuantity::Of::points) {
            // Several owners add to the same values.
            if (std::ranges::find(attributes_, name, &Attribute::name) == attributes_.end())
                add(name, quantity, Attribute::Of::points, 0);
        } else if (quantity.of == ShownQuantity::Of::places) {
            continue;  // exported geometry has no such places
        } else if (const auto part = part_of(quantity, geometry)) {
            add(name, quantity, Attribute::Of::cells, *part);
        }
    }
}

void Shown::evaluate() {
    for (model::ShownValues& values : values_) values.evaluate();
}

}  // namespace hindcast::exporting
