#include "engine/model/warnings/warning.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.hpp"
#include "engine/document/read.hpp"

namespace hindcast {

using document::Node;

namespace {

constexpr WarningKind kinds[] = {
    {"contact_pairs", "bodies that nothing keeps apart pass through each other"},
    {"bodies_overlap", "the boxes of two such bodies overlap"},
    {"coarse_mesh", "an obstacle is thinner than the triangles of a surface are wide"},
    {"time_step", "the step is beyond the limit of stability of a spring, an element or a contact"},
    {"runaway", "speeds grow beyond what the scene can cause"},
    {"friction_step", "friction by penalty is unstable in a step as long as the scene's"},
    {"overlapping_balls", "balls that meet each other overlap at the start"},
};

}  // namespace

std::span<const WarningKind> warning_kinds() { return kinds; }

std::string accepted_warnings_schema() {
    std::string names, texts;
    for (const WarningKind& kind : kinds) {
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", kind.identifier);
        texts += fmt::format("{}{}: {}", texts.empty() ? "" : "; ", kind.identifier, kind.meaning);
    }
    return fmt::format(
        R"({{"description": "warnings that this scene causes on purpose. {}", "type": "array", )"
        R"("items": {{"enum": [{}]}}, "uniqueItems": true}})",
        texts, names);
}

std::string Warning::text() const {
    std::string text;
    if (step >= 0) text = fmt::format("step {}: ", step);
    text += happened;
    if (!remedy.empty()) text += "; " + remedy;
    return text + " [" + identifier + "]";
}

Node Warning::to_node() const {
    Node values = Node::object();
    for (const auto& [name, value] : numbers) values.set(name, document::number_node(value));
    Node node = Node::object({{"identifier", identifier},
                              {"happened", happened},
                              {"remedy", remedy},
                              {"pointer", pointer},
                              {"numbers", std::move(values)}});
    if (step >= 0) node.set("step", step);
    return node;
}

std::set<std::string> Warnings::read_accepted(const Node* list) {
    std::set<std::string> accepted;
    if (list == nullptr) return accepted;
    std::vector<std::string_view> names;
    for (const WarningKind& kind : kinds) names.emplace_back(kind.identifier);
    document::array_of(*list);
    for (std::size_t k = 0; k < list->size(); ++k)
        accepted.emplace(names[document::choice_of(list->item(k), names, "warning")]);
    return accepted;
}

bool Warnings::has(std::string_view identifier) const {
    return std::ranges::any_of(list_, [&](const Warning& w) { return w.identifier == identifier; });
}

void Warnings::add(Warning warning) {
    if (accepts(warning.identifier)) return;
    if (std::ranges::any_of(list_, [&](const Warning& w) {
            return w.identifier == warning.identifier && w.pointer == warning.pointer;
        }))
        return;
    if (options_.strict) {
        Error error(warning.happened);
        if (!warning.pointer.empty()) error.at_pointer(warning.pointer);
        if (!warning.remedy.empty()) error.remedy(warning.remedy);
        if (warning.step >= 0) error.note("after step " + std::to_string(warning.step));
        throw error.note("the warning '" + warning.identifier +
                         "' is an error with --strict; a scene that means it writes "
                         "\"accepted_warnings\": [\"" +
                         warning.identifier + "\"]");
    }
    list_.push_back(warning);
    if (options_.heard) options_.heard(warning);
}

}  // namespace hindcast
