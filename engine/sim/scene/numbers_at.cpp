#include "engine/sim/scene/numbers_at.hpp"

#include <fmt/format.h>

#include "engine/document/text.hpp"

namespace hindcast {

using model::ElementNames;
using model::ElementRange;
using model::Model;
using model::Quantity;

std::vector<std::size_t> NumbersAt::entries() const {
    const auto components = static_cast<std::size_t>(quantity->components);
    std::size_t first = 0, count = static_cast<std::size_t>(quantity->rows());
    if (elements && !quantity->shared) {
        first = static_cast<std::size_t>(elements->first);
        count = static_cast<std::size_t>(elements->count);
    }
    std::vector<std::size_t> found;
    for (std::size_t e = first; e < first + count; ++e)
        for (std::size_t c = 0; c < components; ++c)
            if (!component || static_cast<std::size_t>(*component) == c)
                found.push_back(e * components + c);
    return found;
}

std::optional<ElementRange> elements_at(Model& model, const Path& path, std::int64_t count) {
    if (path.name) {
        const ElementNames* const names = model::element_names(model, path.base());
        if (names == nullptr)
            throw Error("the elements of '" + path.base() + "' have no names")
                .remedy("give a number: " + path.base() + "[0]");
        return names->at(path.base(), *path.name);
    }
    if (!path.element) return std::nullopt;
    if (*path.element >= count)
        throw Error("'" + path.base() + "' has " + std::to_string(count) +
                    " elements, no element " + std::to_string(*path.element));
    return ElementRange{*path.element, 1};
}

std::optional<int> component_at(const Path& path, int components) {
    if (path.component.empty()) return std::nullopt;
    const auto found = path.component_of(components);
    if (!found)
        throw Error("'" + path.base() + "' has " + std::to_string(components) + " component" +
                    (components == 1 ? "" : "s") + ", no ." + path.component);
    return found;
}

NumbersAt numbers_at(Model& model, const Path& path) {
    NumbersAt found;
    found.quantity = model.find_quantity(path.base());
    if (found.quantity == nullptr) return found;
    found.elements = elements_at(model, path, found.quantity->count);
    found.component = component_at(path, found.quantity->components);
    return found;
}

std::string index_text(Model& model, const std::string& path, std::int64_t element) {
    if (const ElementNames* const names = model::element_names(model, path))
        if (const std::string name = names->name(element); !name.empty())
            return Path::in_brackets(name);
    return "[" + std::to_string(element) + "]";
}

std::string entry_name(Model& model, const Quantity& quantity, std::size_t entry) {
    const auto components = static_cast<std::size_t>(quantity.components);
    std::string name = quantity.path;
    if (!quantity.shared)
        name += index_text(model, quantity.path, static_cast<std::int64_t>(entry / components));
    if (components > 1)
        name += "." + component_name(static_cast<int>(entry % components), quantity.components);
    return name;
}

void refuse_value(const Quantity& quantity, double value, const std::string& name) {
    const std::string text = document::number_text(value);
    if (std::isfinite(value) && quantity.range.contains(value))
        throw Error(fmt::format("{} = {} does not fit f32", name, text))
            .remedy("use the precision f64");
    throw Error(fmt::format("{} cannot be {}", name, text))
        .remedy("give " + quantity.range.describe());
}

}  // namespace hindcast
