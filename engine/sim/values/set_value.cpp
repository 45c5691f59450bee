#include "engine/sim/values/set_value.hpp"

#include <algorithm>
#include <cctype>

#include "engine/document/document.hpp"
#include "engine/document/text.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/scene/numbers_at.hpp"

namespace hindcast {

using document::Node;

namespace {

// The scene's value by name with these elements set; none if it is written in another way, or an
// element has no name. A value that the scene does not write counts as written by name.
std::optional<Node> by_name(const Scene& scene, model::Model& model, const model::Quantity& q,
                            const model::ElementRange& range, std::span<const double> rows) {
    const model::ElementNames* const names = model::element_names(model, q.path);
    if (names == nullptr || names->otherwise.empty()) return std::nullopt;
    const Node* const written = scene.find(q.path);
    if (written != nullptr && !model::is_by_name(*written)) return std::nullopt;
    Node value = written == nullptr ? Node::object() : *written;
    const auto components = static_cast<std::size_t>(q.components);
    for (std::int64_t e = 0; e < range.count; ++e) {
        const std::string name = names->name(range.first + e);
        if (name.empty()) return std::nullopt;
        // A key that names more than this element would say it twice.
        for (std::size_t k = 0; k < value.size(); ++k) {
            const auto other = names->find(value.key(k));
            if (value.key(k) != name && other && range.first + e >= other->first &&
                range.first + e < other->first + other->count)
                return std::nullopt;
        }
        const auto row = rows.subspan(static_cast<std::size_t>(e) * components, components);
        value.set(name, document::written_form(row, q.components, true));
    }
    return value;
}

// "99,5" as "99.5"; "" for a text that is not such a number.
std::string with_decimal_point(std::string text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string::npos) return "";
    text[comma] = '.';
    try {
        const document::Node number = document::Document::parse(text).root();
        return number.is_integer() || number.is_real() ? text : "";
    } catch (const Error&) {
        return "";
    }
}

}  // namespace

SimulationOptions evaluating(const SimulationOptions& options) {
    SimulationOptions plain;
    plain.device = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::interpreter});
    plain.precision = ir::Precision::f64;
    plain.seed = options.seed;
    plain.allowed_paths = options.allowed_paths;
    return plain;
}

void set_value(Scene& scene, const Registry& registry, const SimulationOptions& options,
               const std::string& path, std::string_view json) {
    const Path p = Path::parse(path);
    if (!p.has_element() && p.component.empty()) return scene.set(path, json);
    Simulation simulation(scene, registry, evaluating(options));
    const NumbersAt at = numbers_at(simulation.model(), p);
    if (at.quantity == nullptr) return scene.set(path, json);
    const model::Quantity& quantity = *at.quantity;
    if (!quantity.shared && !at.elements)
        throw Error("'" + p.base() + "' has one vector per element, so '" + path +
                    "' names no number")
            .remedy("name an element, such as " + p.base() + "[0]." + p.component);
    const model::ElementRange range = at.elements.value_or(model::ElementRange{0, 1});
    document::ValueRequest request;
    request.count = range.count;
    request.components = at.component ? 1 : quantity.components;
    const Node value = document::Document::parse(json, "--set " + path).root();
    const std::vector<double> numbers = document::evaluate(value, request).rows();
    // A value for all becomes one per element where only some are set.
    const bool shared = quantity.shared && !at.elements;
    const std::int64_t copies = at.splits() ? quantity.count : 1;
    std::vector<double> values;
    for (std::int64_t e = 0; e < copies; ++e)
        values.insert(values.end(), quantity.values.begin(), quantity.values.end());
    const auto components = static_cast<std::size_t>(quantity.components);
    const auto rows = std::span(values).subspan(static_cast<std::size_t>(range.first) * components,
                                                static_cast<std::size_t>(range.count) * components);
    for (std::size_t k = 0; k < numbers.size(); ++k)
        rows[at.component ? k * components + static_cast<std::size_t>(*at.component) : k] =
            numbers[k];
    const auto named = by_name(scene, simulation.model(), quantity, range, rows);
    scene.set(p.base(),
              document::to_line(
                  named ? *named : document::written_form(values, quantity.components, shared)));
}

std::pair<std::string, std::string> split_assignment(const std::string& text) {
    const std::size_t sign = Path::end(text);
    if (sign == std::string::npos || sign == 0) throw Error("'" + text + "' is not path=value");
    return {text.substr(0, sign), text.substr(sign + 1)};
}

void set_assignment(Scene& scene, const Registry& registry, const SimulationOptions& options,
                    const std::string& assignment) {
    auto [path, value] = split_assignment(assignment);
    if (const std::string point = with_decimal_point(value); !point.empty())
        throw Error(document::shown(assignment) + " has a decimal comma")
            .remedy("write a decimal point: " + path + "=" + point +
                    "; a list stands in brackets: " + path + "=[" + value + "]");
    const bool word = !value.empty() && std::ranges::all_of(value, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '/' || c == '.' || c == '-';
    });
    if (word) {
        try {
            document::Document::parse(value);
        } catch (const Error&) {
            value = document::json_quoted(value);
        }
    }
    set_value(scene, registry, options, path, value);
}

}  // namespace hindcast
