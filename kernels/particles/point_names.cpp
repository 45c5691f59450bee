#include "kernels/particles/point_names.hpp"

#include <algorithm>

#include "engine/document/read.hpp"
#include "engine/model/element_names.hpp"
#include "engine/model/point_owner.hpp"

namespace hindcast::particles {

std::int64_t point_of(const document::Node& node, const std::string& body, model::Range range,
                      model::Model& model) {
    const model::ElementNames* const names = model::element_names(model, body);
    if (names == nullptr || !node.is_string())
        return document::integer_of(node, 0, range.count - 1);
    try {
        return names->at(body, node.string()).first;
    } catch (const Error& error) {
        throw document::fault(node, error.happened()).remedy(error.what_to_do());
    }
}

std::string point_name(model::Model& model, std::int64_t point) {
    const auto [body, own] = model::owner_of(model, point);
    if (body.empty()) return "point " + std::to_string(point);
    const model::ElementNames* const names = model::element_names(model, body);
    const std::string name = names != nullptr ? names->name(own) : "";
    return "point " + (name.empty() ? std::to_string(own) : "'" + name + "'") + " of '" + body +
           "'";
}

std::vector<double> start_points(model::Model& model) {
    std::vector<double> places = model.initial_points();
    const auto dimension = static_cast<std::size_t>(model.dimension());
    places.resize(static_cast<std::size_t>(model.point_count()) * dimension);
    for (const auto& [body, range] : model.bodies_with_points()) {
        const model::Quantity* const own = model.find_quantity(body + ".positions");
        if (own == nullptr ||
            own->values.size() != static_cast<std::size_t>(range.count) * dimension)
            continue;
        std::ranges::copy(own->values,
                          places.begin() + static_cast<std::ptrdiff_t>(
                                               static_cast<std::size_t>(range.first) * dimension));
    }
    return places;
}

}  // namespace hindcast::particles
