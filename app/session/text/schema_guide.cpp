// A row is the schema of one key as it is written in the schema: with its description, before
// alternatives are followed. Expanding a row gives the leaves: plain types, objects with their
// properties, constants.
#include "app/session/text/schema_guide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/document/text.hpp"

namespace hindcast::session {

using document::Node;
using Kind = TextTree::Kind;
using Schemas = SchemaGuide::Schemas;

namespace {

constexpr std::size_t most_words = 8;  // of a choice, in a line of help

template <class T>
void add_new(std::vector<T>& list, const T& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

// True if the written text cannot be meant by this leaf.
bool contradicts(const SchemaView& leaf, const TextTree& tree, int entry) {
    if (entry == TextTree::none) return false;
    const TextTree::Entry& e = tree[entry];
    const bool typed = leaf.find("type") != nullptr, is_array = leaf.has_type("array");
    switch (e.kind) {
        case Kind::missing: return false;
        case Kind::array: return typed && !is_array;
        case Kind::string:
        case Kind::word:
            return typed && (is_array || leaf.is_object()) && !leaf.has_type("string") &&
                   !leaf.has_type("number");
        case Kind::object: break;
    }
    if ((typed && !leaf.is_object()) || !leaf.values().empty()) return true;
    // Drops alternatives that do not know a key in the text.
    const Node* const more = leaf.find("additionalProperties");
    const bool strict = (more != nullptr && more->is_boolean() && !more->boolean()) ||
                        (leaf.find("properties") == nullptr && !leaf.names("required").empty());
    return strict && std::ranges::any_of(e.parts, [&](int k) {
               return tree[k].has_colon && !leaf.member(tree[k].key) &&
                      !leaf.lists("required", tree[k].key);
           });
}

void expand(const SchemaView& schema, const TextTree& tree, int entry, Schemas& into) {
    for (const SchemaView& part : schema.parts("allOf")) expand(part, tree, entry, into);
    // Alternatives that the text contradicts are left out, unless it contradicts all.
    for (const char* const keyword : {"anyOf", "oneOf"}) {
        Schemas every, fitting;
        for (const SchemaView& part : schema.parts(keyword)) {
            Schemas leaves;
            expand(part, tree, entry, leaves);
            every.insert(every.end(), leaves.begin(), leaves.end());
            if (!std::ranges::all_of(
                    leaves, [&](const SchemaView& leaf) { return contradicts(leaf, tree, entry); }))
                fitting.insert(fitting.end(), leaves.begin(), leaves.end());
        }
        const Schemas& kept = fitting.empty() ? every : fitting;
        into.insert(into.end(), kept.begin(), kept.end());
    }
    const auto written = [&](const std::string& key) {
        return entry != TextTree::none ? tree.string_at(entry, key) : std::string();
    };
    if (const auto then = schema.chosen(written)) expand(*then, tree, entry, into);
    for (const char* const keyword :
         {"type", "properties", "enum", "const", "required", "items", "additionalProperties"})
        if (schema.find(keyword) != nullptr) {
            into.push_back(schema);
            return;
        }
}

Schemas expanded(const Schemas& rows, const TextTree& tree, int entry) {
    Schemas leaves;
    for (const SchemaView& row : rows) expand(row, tree, entry, leaves);
    return leaves;
}

bool allows_more(const SchemaView& leaf, const TextTree& tree, int object) {
    const auto most = leaf.number("maxProperties");
    const auto written =
        std::ranges::count_if(tree[object].parts, [&](int k) { return tree[k].has_colon; });
    return !most || static_cast<double>(written) < *most;
}

bool is_fraction(const SchemaView& leaf) {
    return leaf.text("pattern").find('/') != std::string::npos;
}

// ">= 0, < 1"
std::string bounds_of(const SchemaView& leaf) {
    std::string text;
    for (const auto& [keyword, sign] :
         {std::pair{"minimum", ">= "}, std::pair{"exclusiveMinimum", "> "},
          std::pair{"maximum", "<= "}, std::pair{"exclusiveMaximum", "< "}})
        if (const Node* const bound = leaf.find(keyword))
            text += (text.empty() ? "" : ", ") + (sign + document::to_line(*bound));
    return text;
}

// The kinds of value that a leaf takes, in words.
std::vector<std::string> kinds_of(const SchemaView& leaf) {
    if (const std::vector<const Node*> values = leaf.values(); !values.empty()) {
        std::string list;
        for (std::size_t k = 0; k < values.size() && k < most_words; ++k)
            list += (k > 0 ? " | " : "") + document::to_line(*values[k]);
        std::erase(list, '"');
        return {list + (values.size() > most_words ? " | ..." : "")};
    }
    if (leaf.refers_to("generator")) return {"generator"};
    std::vector<std::string> kinds;
    for (const auto& [type, words] :
         {std::pair{"number", "number"}, std::pair{"integer", "integer"},
          std::pair{"boolean", "true or false"}, std::pair{"string", "text"},
          std::pair{"array", "list"}})
        if (leaf.has_type(type) && !(type == std::string("string") && leaf.has_type("number")))
            kinds.emplace_back(words);
    if (leaf.is_object()) kinds.emplace_back("object");
    return kinds;
}

std::string first_description(const Schemas& rows) {
    for (const SchemaView& row : rows)
        if (const std::string& text = row.text("description"); !text.empty()) return text;
    return "";
}

std::string sample_of(const SchemaView& schema, const TextTree& tree) {
    if (const Node* const value = schema.find("default")) return document::to_line(*value);
    if (const std::vector<const Node*> values = schema.values(); !values.empty())
        return document::to_line(*values.front());
    for (const char* const keyword : {"anyOf", "oneOf"})
        if (const Schemas parts = schema.parts(keyword); !parts.empty())
            return sample_of(parts.front(), tree);
    if (schema.has_type("number") || schema.has_type("integer")) {
        for (const int candidate : {1, 0})
            if (schema.range().contains(candidate)) return std::to_string(candidate);
        for (const char* const keyword : {"minimum", "maximum"})
            if (const Node* const node = schema.find(keyword)) return document::to_line(*node);
        return "0.5";
    }
    if (schema.has_type("boolean")) return "false";
    if (schema.has_type("string")) return "\"\"";
    if (schema.has_type("array")) {
        const auto items = schema.part("items");
        auto count = static_cast<int>(schema.number("minItems").value_or(0));
        if (count == 2 && schema.number("maxItems") == 3) {
            const int dimension = tree.member(TextTree::root, "dimension");
            if (dimension == TextTree::none || tree[dimension].text != "2") count = 3;
        }
        std::string one = items ? sample_of(*items, tree) : "0";
        // One of each: a vector's components are nought as far as they may be.
        if (count > 1 && one == "1" && items) {
            const Schemas leaves = expanded({*items}, tree, TextTree::none);
            if (!leaves.empty() && leaves.front().find("exclusiveMinimum") == nullptr &&
                leaves.front().has_type("number"))
                one = "0";
        }
        return fmt::format("[{}]",
                           fmt::join(std::vector(static_cast<std::size_t>(count), one), ", "));
    }
    std::string members;
    for (const std::string& key : schema.names("required")) {
        const auto row = schema.member(key);
        members += (members.empty() ? "" : ", ") + document::json_quoted(key) + ": " +
                   (row ? sample_of(*row, tree) : "\"\"");
    }
    return members.empty() ? "{}" : "{ " + members + " }";
}

KeyHelp help_of(const Schemas& rows, const TextTree& tree, const std::string& key) {
    KeyHelp help;
    help.key = key;
    help.documentation = first_description(rows);
    std::vector<std::string> kinds;
    std::string unit, bounds, fallback;
    bool differentiable = false;
    for (const SchemaView& row : rows) {
        if (unit.empty()) unit = row.text("unit");
        if (const Node* const node = row.find("default"); node != nullptr && fallback.empty())
            fallback = "default " + document::to_line(*node);
        if (const Node* const node = row.find("differentiable"))
            differentiable |= node->is_boolean() && node->boolean();
        for (const SchemaView& leaf : expanded({row}, tree, TextTree::none)) {
            if (is_fraction(leaf)) continue;
            for (const std::string& kind : kinds_of(leaf)) add_new(kinds, kind);
            if (bounds.empty() && leaf.values().empty()) bounds = bounds_of(leaf);
        }
    }
    help.facts = fmt::format("{}", fmt::join(kinds, " or "));
    for (const std::string& fact :
         {unit, bounds, fallback, std::string(differentiable ? "differentiable" : "")})
        if (!fact.empty()) help.facts += (help.facts.empty() ? "" : ", ") + fact;
    return help;
}

}  // namespace

SchemaGuide::SchemaGuide(document::Document schema) : schema_(std::move(schema)) {}

// The rows of a member's key, or of an item.
Schemas SchemaGuide::rows(const TextTree& tree, int container, const std::string& key) const {
    Schemas found;
    for (const SchemaView& leaf : at(tree, container)) {
        auto row = tree[container].kind == Kind::array ? leaf.part("items") : leaf.member(key);
        if (!row && tree[container].kind != Kind::array) row = leaf.part("additionalProperties");
        if (row) add_new(found, *row);
    }
    return found;
}

Schemas SchemaGuide::rows(const TextTree& tree, int entry) const {
    if (entry <= TextTree::root) return {};
    return rows(tree, tree[entry].parent, tree[entry].key);
}

Schemas SchemaGuide::at(const TextTree& tree, int entry) const {
    if (entry != TextTree::root) return expanded(rows(tree, entry), tree, entry);
    return expanded({SchemaView(schema_.root(), schema_.root())}, tree, entry);
}

Schemas SchemaGuide::at_new(const TextTree& tree, int container, const std::string& key) const {
    return expanded(rows(tree, container, key), tree, TextTree::none);
}

// ---------------------------------------------------------------- help

std::vector<KeyHelp> SchemaGuide::keys(const TextTree& tree, int object) const {
    std::vector<KeyHelp> all;
    std::vector<std::string> names;
    const Schemas leaves = at(tree, object);
    for (const SchemaView& leaf : leaves)
        for (const char* const keyword : {"properties", "required"})
            if (allows_more(leaf, tree, object))
                for (const std::string& name : leaf.names(keyword)) add_new(names, name);
    for (const std::string& key : names) {
        Schemas found;
        bool required = false, several = false;
        for (const SchemaView& leaf : leaves) {
            if (const auto row = leaf.member(key)) found.push_back(*row);
            required |= leaf.lists("required", key);
            several |= leaf.find("maxProperties") != nullptr;
        }
        KeyHelp help = help_of(found, tree, key);
        help.required = required && !several;
        help.written = tree.member(object, key) != TextTree::none;
        all.push_back(std::move(help));
    }
    std::ranges::stable_sort(
        all, [](const KeyHelp& a, const KeyHelp& b) { return a.required && !b.required; });
    return all;
}

KeyHelp SchemaGuide::help(const TextTree& tree, int entry) const {
    // An object with a type by what that is, other items by the key that they stand under.
    if (const std::string type = entry > TextTree::root && !tree[entry].has_key()
                                     ? tree.string_at(entry, "type")
                                     : std::string();
        !type.empty()) {
        KeyHelp help = this->help(tree, tree.member(entry, "type"));
        help.key = type;
        help.facts.clear();
        return help;
    }
    while (entry > TextTree::root && !tree[entry].has_key()) entry = tree[entry].parent;
    if (entry <= TextTree::root) return {};
    const Schemas found = rows(tree, entry);
    if (found.empty()) return {};
    KeyHelp help = help_of(found, tree, tree[entry].key);
    help.written = true;
    for (const SchemaView& leaf : at(tree, tree[entry].parent)) {
        help.required |= leaf.lists("required", help.key);
        // At "type" the help describes the chosen type.
        if (const std::string& text = leaf.text("description"); help.key == "type" && !text.empty())
            help.documentation = text;
    }
    if (help.required) help.facts += help.facts.empty() ? "required" : ", required";
    return help;
}

std::string SchemaGuide::description_of_new(const TextTree& tree, int container,
                                            const std::string& key) const {
    if (container == TextTree::none) return "";
    const std::string own = first_description(rows(tree, container, key));
    return own.empty() ? description(tree, container) : own;
}

std::string SchemaGuide::description(const TextTree& tree, int entry) const {
    std::string text;
    for (; entry > TextTree::root && text.empty(); entry = tree[entry].parent)
        text = first_description(rows(tree, entry));
    return text;
}

bool SchemaGuide::refers_to(const TextTree& tree, int entry, const std::string& definition) const {
    return std::ranges::any_of(rows(tree, entry),
                               [&](const SchemaView& row) { return row.refers_to(definition); });
}

// ---------------------------------------------------------------- values

std::vector<std::string> SchemaGuide::values(const Schemas& schemas) {
    std::vector<std::string> list;
    for (const SchemaView& leaf : schemas) {
        for (const Node* const value : leaf.values()) add_new(list, document::to_line(*value));
        if (!leaf.has_type("boolean")) continue;
        add_new<std::string>(list, "true");
        add_new<std::string>(list, "false");
    }
    return list;
}

std::string SchemaGuide::sample(const Schemas& schemas, const TextTree& tree) {
    return schemas.empty() ? "\"\"" : sample_of(schemas.front(), tree);
}

std::string SchemaGuide::sample_of_key(const TextTree& tree, int object,
                                       const std::string& key) const {
    const Schemas found = rows(tree, object, key);
    for (const SchemaView& row : found)
        if (const Node* const value = row.find("default")) return document::to_line(*value);
    // A condition beside the row of "type" says more than the list of all types.
    return found.empty() ? "\"\"" : sample_of(found.back(), tree);
}

}  // namespace hindcast::session
