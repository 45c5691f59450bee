#include "app/session/document/schema_view.hpp"

#include <algorithm>

#include "engine/document/document.hpp"

namespace hindcast::session {

using document::Node;

const std::string& text_of(const Node& node, std::string_view key) {
    static const std::string nothing;
    const Node* const text = node.find(key);
    return text != nullptr && text->is_string() ? text->string() : nothing;
}

SchemaView::SchemaView(const Node& node, const Node& root) : node_(&node), root_(&root) {
    const std::string& reference = text_of(node, "$ref");
    if (reference.empty()) return;
    target_ = document::find_below(root, reference.substr(1));
    if (target_ == nullptr)
        throw Error("the schema refers to '" + reference + "', which it does not have");
}

const Node* SchemaView::find(std::string_view keyword) const {
    if (const Node* const found = node_->find(keyword)) return found;
    return target_ != nullptr ? SchemaView(*target_, *root_).find(keyword) : nullptr;
}

const std::string& SchemaView::text(std::string_view keyword) const {
    static const std::string nothing;
    const Node* const found = find(keyword);
    return found != nullptr && found->is_string() ? found->string() : nothing;
}

std::optional<double> SchemaView::number(std::string_view keyword) const {
    const Node* const found = find(keyword);
    if (found == nullptr || !(found->is_integer() || found->is_real())) return std::nullopt;
    return found->is_integer() ? static_cast<double>(found->integer()) : found->real();
}

std::vector<std::string> SchemaView::names(std::string_view keyword) const {
    std::vector<std::string> list;
    const Node* const found = find(keyword);
    for (std::size_t k = 0; found != nullptr && k < found->size(); ++k)
        if (found->is_object() || found->item(k).is_string())
            list.push_back(found->is_object() ? found->key(k) : found->item(k).string());
    return list;
}

bool SchemaView::lists(std::string_view keyword, std::string_view name) const {
    const Node* const found = find(keyword);
    for (std::size_t k = 0; found != nullptr && found->is_array() && k < found->size(); ++k)
        if (found->item(k).is_string() && found->item(k).string() == name) return true;
    return false;
}

bool SchemaView::has_type(std::string_view name) const {
    return text("type") == name || lists("type", name);
}

bool SchemaView::is_object() const {
    return has_type("object") || find("properties") != nullptr ||
           (find("required") != nullptr && find("type") == nullptr);
}

bool SchemaView::refers_to(const std::string& definition) const {
    return text_of(*node_, "$ref") == "#/$defs/" + definition;
}

document::Range SchemaView::range() const {
    document::Range range;
    const auto take = [this](double& end, bool& open, const char* closed, const char* exclusive) {
        const std::optional<double> beyond = number(exclusive);
        open = beyond.has_value();
        if (const std::optional<double> last = open ? beyond : number(closed)) end = *last;
    };
    take(range.low, range.low_open, "minimum", "exclusiveMinimum");
    take(range.high, range.high_open, "maximum", "exclusiveMaximum");
    return range;
}

std::vector<const Node*> SchemaView::values() const {
    std::vector<const Node*> list;
    const Node* const words = find("enum");
    for (std::size_t k = 0; words != nullptr && k < words->size(); ++k)
        list.push_back(&words->item(k));
    if (const Node* const word = find("const")) list.push_back(word);
    return list;
}

std::optional<SchemaView> SchemaView::part(std::string_view keyword) const {
    const Node* const found = find(keyword);
    if (found == nullptr || !found->is_object()) return std::nullopt;
    return SchemaView(*found, *root_);
}

std::vector<SchemaView> SchemaView::parts(std::string_view keyword) const {
    std::vector<SchemaView> list;
    const Node* const found = find(keyword);
    for (std::size_t k = 0; found != nullptr && k < found->size(); ++k)
        list.emplace_back(found->item(k), *root_);
    return list;
}

std::optional<SchemaView> SchemaView::member(const std::string& key) const {
    const std::optional<SchemaView> all = part("properties");
    return all ? all->part(key) : std::nullopt;
}

std::optional<SchemaView> SchemaView::chosen(
    const std::function<std::string(const std::string& key)>& written) const {
    const std::optional<SchemaView> condition = part("if");
    if (!condition) return std::nullopt;
    const Node* const members = condition->find("properties");
    bool holds = true;
    for (std::size_t k = 0; holds && members != nullptr && k < members->size(); ++k) {
        const SchemaView member(members->item(k), *root_);
        const std::string value = written(members->key(k));
        holds = member.text("const") == value || member.lists("enum", value);
    }
    return part(holds ? "then" : "else");
}

}  // namespace hindcast::session
