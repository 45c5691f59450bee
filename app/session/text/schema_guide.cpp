// A row is the schema of one key as it is written in the schema: with its description, before
// references and alternatives are followed. Expanding a row gives the leaves: plain types, objects
// with their properties, constants.
#include "app/session/text/schema_guide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/document/schema_node.hpp"
#include "engine/document/text.hpp"

namespace hindcast::session {

using document::Node;
using Kind = TextTree::Kind;

namespace {

constexpr int deepest = 24;

bool lists(const Node* names, const std::string& key) {
    for (std::size_t k = 0; names != nullptr && k < names->size(); ++k)
        if (names->item(k).is_string() && names->item(k).string() == key) return true;
    return false;
}

bool is_object(const Node& schema) {
    return has_type(schema, "object") || schema.find("properties") != nullptr ||
           (schema.find("required") != nullptr && schema.find("type") == nullptr);
}

// True if the written text cannot be meant by this leaf.
bool contradicts(const Node& leaf, const TextTree& tree, int entry) {
    if (entry == TextTree::none) return false;
    const TextTree::Entry& e = tree[entry];
    const bool plain = !is_object(leaf) && !has_type(leaf, "array");
    switch (e.kind) {
        case Kind::missing: return false;
        case Kind::array: return leaf.find("type") != nullptr && !has_type(leaf, "array");
        case Kind::string:
        case Kind::word:
            return leaf.find("type") != nullptr && !plain && !has_type(leaf, "string") &&
                   !has_type(leaf, "number");
        case Kind::object: break;
    }
    if (leaf.find("type") != nullptr && !is_object(leaf)) return true;
    if (leaf.find("enum") != nullptr || leaf.find("const") != nullptr) return true;
    // Drops alternatives that do not know a key in the text.
    const Node *const properties = leaf.find("properties"), *const required = leaf.find("required");
    const Node* const more = leaf.find("additionalProperties");
    const bool strict = (more != nullptr && more->is_boolean() && !more->boolean()) ||
                        (properties == nullptr && required != nullptr && required->size() > 0);
    if (!strict) return false;
    for (const int k : e.parts)
        if (tree[k].has_colon &&
            (properties == nullptr || properties->find(tree[k].key) == nullptr) &&
            !lists(required, tree[k].key))
            return true;
    return false;
}

bool allows_more(const Node& leaf, const TextTree& tree, int object, int except) {
    const Node* const most = leaf.find("maxProperties");
    if (most == nullptr || !most->is_integer()) return true;
    std::int64_t written = 0;
    for (const int k : tree[object].parts) written += k != except && tree[k].has_colon ? 1 : 0;
    return written < most->integer();
}

bool is_fraction(const Node& leaf) {
    return text_of(leaf, "pattern").find('/') != std::string::npos;
}

std::string number_at(const Node& node) { return document::to_line(node); }

}  // namespace

SchemaGuide::SchemaGuide(document::Document schema) : schema_(std::move(schema)) {}

const Node* SchemaGuide::resolved(const Node& schema) const {
    const std::string& reference = text_of(schema, "$ref");
    return reference.starts_with("#") ? schema_.find(reference.substr(1)) : nullptr;
}

bool SchemaGuide::matches(const Node& condition, const TextTree& tree, int entry) const {
    const Node* const properties = condition.find("properties");
    if (entry == TextTree::none) return false;
    for (std::size_t k = 0; properties != nullptr && k < properties->size(); ++k) {
        const Node& wanted = properties->item(k);
        const std::string written = tree.string_at(entry, properties->key(k));
        if (const Node* word = wanted.find("const"); word != nullptr && word->is_string()) {
            if (written != word->string()) return false;
        } else if (const Node* words = wanted.find("enum")) {
            if (!lists(words, written)) return false;
        }
    }
    return properties != nullptr;
}

void SchemaGuide::expand(const Node& schema, const TextTree& tree, int entry, Nodes& into,
                         int depth) const {
    if (depth > deepest || !schema.is_object()) return;
    if (const Node* const target = resolved(schema)) expand(*target, tree, entry, into, depth + 1);
    const Node* const all = schema.find("allOf");
    for (std::size_t k = 0; all != nullptr && k < all->size(); ++k)
        expand(all->item(k), tree, entry, into, depth + 1);
    // Alternatives that the text contradicts are left out, unless it contradicts all.
    for (const char* const key : {"anyOf", "oneOf"}) {
        const Node* const parts = schema.find(key);
        Nodes every;
        bool any = false;
        for (std::size_t k = 0; parts != nullptr && k < parts->size(); ++k) {
            Nodes leaves;
            expand(parts->item(k), tree, entry, leaves, depth + 1);
            every.insert(every.end(), leaves.begin(), leaves.end());
            if (std::ranges::all_of(
                    leaves, [&](const Node* leaf) { return contradicts(*leaf, tree, entry); }))
                continue;
            any = true;
            into.insert(into.end(), leaves.begin(), leaves.end());
        }
        if (!any) into.insert(into.end(), every.begin(), every.end());
    }
    if (const Node* const condition = schema.find("if")) {
        const bool holds = matches(*condition, tree, entry);
        if (const Node* const then = schema.find(holds ? "then" : "else"))
            expand(*then, tree, entry, into, depth + 1);
    }
    for (const char* const key :
         {"type", "properties", "enum", "const", "required", "items", "additionalProperties"})
        if (schema.find(key) != nullptr) {
            into.push_back(&schema);
            return;
        }
}

// The rows of a member's key, or of an item.
SchemaGuide::Nodes SchemaGuide::rows(const TextTree& tree, int container,
                                     const std::string& key) const {
    Nodes found;
    const auto add = [&found](const Node* row) {
        if (row != nullptr && row->is_object() && std::ranges::find(found, row) == found.end())
            found.push_back(row);
    };
    for (const Node* const leaf : at(tree, container)) {
        if (tree[container].kind == Kind::array) {
            add(leaf->find("items"));
            continue;
        }
        const Node* const properties = leaf->find("properties");
        if (const Node* const row = properties != nullptr ? properties->find(key) : nullptr)
            add(row);
        else
            add(leaf->find("additionalProperties"));
    }
    return found;
}

SchemaGuide::Nodes SchemaGuide::at(const TextTree& tree, int entry) const {
    Nodes leaves;
    if (entry == TextTree::root) {
        expand(schema_.root(), tree, entry, leaves);
        return leaves;
    }
    if (entry == TextTree::none) return leaves;
    for (const Node* const row : rows(tree, tree[entry].parent, tree[entry].key))
        expand(*row, tree, entry, leaves);
    return leaves;
}

SchemaGuide::Nodes SchemaGuide::at_new(const TextTree& tree, int container,
                                       const std::string& key) const {
    Nodes leaves;
    for (const Node* const row : rows(tree, container, key))
        expand(*row, tree, TextTree::none, leaves);
    return leaves;
}

// ---------------------------------------------------------------- help

KeyHelp SchemaGuide::help_of(const Nodes& rows, const TextTree& tree,
                             const std::string& key) const {
    KeyHelp help;
    help.key = key;
    std::vector<std::string> kinds;
    std::string unit, bounds, fallback;
    bool differentiable = false;
    const auto add = [&kinds](const std::string& kind) {
        if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    };
    const auto take = [](std::string& to, const std::string& from) {
        if (to.empty()) to = from;
    };
    for (const Node* const row : rows) {
        take(help.documentation, text_of(*row, "description"));
        take(unit, text_of(*row, "unit"));
        if (const Node* node = row->find("default")) take(fallback, document::to_line(*node));
        if (const Node* node = row->find("differentiable"))
            differentiable |= node->is_boolean() && node->boolean();
        if (const Node* const target = resolved(*row))
            take(help.documentation, text_of(*target, "description"));
        Nodes leaves;
        expand(*row, tree, TextTree::none, leaves);
        for (const Node* const leaf : leaves) {
            if (is_fraction(*leaf)) continue;
            if (const Node* words = leaf->find("enum")) {
                std::string list;
                for (std::size_t k = 0; k < words->size() && k < 8; ++k)
                    list += (k > 0 ? " | " : "") + document::to_line(words->item(k));
                std::erase(list, '"');
                add(list + (words->size() > 8 ? " | ..." : ""));
                continue;
            }
            if (const Node* word = leaf->find("const")) {
                std::string one = document::to_line(*word);
                std::erase(one, '"');
                add(one);
                continue;
            }
            if (leaf == schema_.find("/$defs/generator")) {
                add("generator");
                continue;
            }
            if (has_type(*leaf, "number")) add("number");
            if (has_type(*leaf, "integer")) add("integer");
            if (has_type(*leaf, "boolean")) add("true or false");
            if (has_type(*leaf, "string") && !has_type(*leaf, "number")) add("text");
            if (has_type(*leaf, "array")) add("list");
            if (is_object(*leaf)) add("object");
            if (bounds.empty())
                for (const auto& [name, sign] :
                     {std::pair{"minimum", ">= "}, std::pair{"exclusiveMinimum", "> "},
                      std::pair{"maximum", "<= "}, std::pair{"exclusiveMaximum", "< "}})
                    if (const Node* bound = leaf->find(name))
                        bounds += (bounds.empty() ? "" : ", ") + (sign + number_at(*bound));
        }
    }
    for (const std::string& kind : kinds) help.facts += (help.facts.empty() ? "" : " or ") + kind;
    const auto fact = [&help](const std::string& text) {
        if (!text.empty()) help.facts += (help.facts.empty() ? "" : ", ") + text;
    };
    fact(unit);
    fact(bounds);
    if (!fallback.empty()) fact("default " + fallback);
    if (differentiable) fact("differentiable");
    return help;
}

std::vector<KeyHelp> SchemaGuide::keys(const TextTree& tree, int object) const {
    std::vector<KeyHelp> all;
    std::vector<std::string> names;
    Nodes leaves = at(tree, object);
    const auto add = [&](const std::string& key) {
        if (std::ranges::find(names, key) == names.end()) names.push_back(key);
    };
    for (const Node* const leaf : leaves) {
        if (!allows_more(*leaf, tree, object, TextTree::none)) continue;
        if (const Node* const properties = leaf->find("properties"))
            for (std::size_t k = 0; k < properties->size(); ++k) add(properties->key(k));
        const Node* const required = leaf->find("required");
        for (std::size_t k = 0; required != nullptr && k < required->size(); ++k)
            if (required->item(k).is_string()) add(required->item(k).string());
    }
    for (const std::string& key : names) {
        Nodes found;
        bool required = false, several = false;
        for (const Node* const leaf : leaves) {
            const Node* const properties = leaf->find("properties");
            if (const Node* row = properties != nullptr ? properties->find(key) : nullptr)
                found.push_back(row);
            required |= lists(leaf->find("required"), key);
            several |= leaf->find("maxProperties") != nullptr;
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
    const int object = tree[entry].parent;
    const Nodes found = rows(tree, object, tree[entry].key);
    if (found.empty()) return {};
    KeyHelp help = help_of(found, tree, tree[entry].key);
    help.written = true;
    for (const Node* const leaf : at(tree, object))
        help.required |= lists(leaf->find("required"), tree[entry].key);
    if (help.required) help.facts += help.facts.empty() ? "required" : ", required";
    // At "type" the help describes the chosen type.
    if (help.key == "type")
        for (const Node* const leaf : at(tree, object))
            if (const std::string& text = text_of(*leaf, "description"); !text.empty())
                help.documentation = text;
    return help;
}

std::string SchemaGuide::description_of_new(const TextTree& tree, int container,
                                            const std::string& key) const {
    if (container == TextTree::none) return "";
    for (const Node* const row : rows(tree, container, key))
        if (const std::string& text = text_of(*row, "description"); !text.empty()) return text;
    return description(tree, container);
}

std::string SchemaGuide::description(const TextTree& tree, int entry) const {
    for (; entry > TextTree::root; entry = tree[entry].parent)
        for (const Node* const row : rows(tree, tree[entry].parent, tree[entry].key))
            if (const std::string& text = text_of(*row, "description"); !text.empty()) return text;
    return "";
}

bool SchemaGuide::refers_to(const TextTree& tree, int entry, const std::string& definition) const {
    if (entry <= TextTree::root) return false;
    const std::string reference = "#/$defs/" + definition;
    return std::ranges::any_of(rows(tree, tree[entry].parent, tree[entry].key),
                               [&](const Node* row) { return text_of(*row, "$ref") == reference; });
}

// ---------------------------------------------------------------- values

std::vector<std::string> SchemaGuide::values(const Nodes& schemas) {
    std::vector<std::string> list;
    const auto add = [&list](const Node& value) {
        std::string text = document::to_line(value);
        if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
    };
    for (const Node* const leaf : schemas) {
        if (const Node* words = leaf->find("enum"))
            for (std::size_t k = 0; k < words->size(); ++k) add(words->item(k));
        if (const Node* word = leaf->find("const")) add(*word);
        if (has_type(*leaf, "boolean")) {
            add(Node(true));
            add(Node(false));
        }
    }
    return list;
}

std::string SchemaGuide::sample_of(const Node& schema, const TextTree& tree, int depth) const {
    if (depth > deepest) return "0";
    if (const Node* const value = schema.find("default")) return document::to_line(*value);
    if (const Node* const word = schema.find("const")) return document::to_line(*word);
    if (const Node* const words = schema.find("enum"); words != nullptr && words->size() > 0)
        return document::to_line(words->item(0));
    for (const char* const key : {"anyOf", "oneOf"})
        if (const Node* const parts = schema.find(key); parts != nullptr && parts->size() > 0)
            return sample_of(parts->item(0), tree, depth + 1);
    if (const Node* const target = resolved(schema)) return sample_of(*target, tree, depth + 1);
    if (has_type(schema, "number") || has_type(schema, "integer")) {
        for (const int candidate : {1, 0}) {
            const auto bound = [&](const char* name, double otherwise) {
                const Node* const node = schema.find(name);
                if (node == nullptr) return otherwise;
                return node->is_integer() ? static_cast<double>(node->integer())
                       : node->is_real()  ? node->real()
                                          : otherwise;
            };
            if (candidate >= bound("minimum", candidate) &&
                candidate <= bound("maximum", candidate) &&
                candidate > bound("exclusiveMinimum", candidate - 1) &&
                candidate < bound("exclusiveMaximum", candidate + 1))
                return std::to_string(candidate);
        }
        for (const char* const name : {"minimum", "maximum"})
            if (const Node* const node = schema.find(name)) return document::to_line(*node);
        return "0.5";
    }
    if (has_type(schema, "boolean")) return "false";
    if (has_type(schema, "string")) return "\"\"";
    if (has_type(schema, "array")) {
        const Node *const least = schema.find("minItems"), *const most = schema.find("maxItems"),
                          *const items = schema.find("items");
        std::int64_t count = least != nullptr ? least->integer() : 0;
        std::string one = items != nullptr ? sample_of(*items, tree, depth + 1) : "0";
        if (count == 2 && most != nullptr && most->is_integer() && most->integer() == 3) {
            const int dimension = tree.member(TextTree::root, "dimension");
            if (dimension == TextTree::none || tree[dimension].text != "2") count = 3;
        }
        // One of each: a vector's components are nought as far as they may be.
        if (count > 1 && one == "1" && items != nullptr) {
            Nodes leaves;
            expand(*items, tree, TextTree::none, leaves);
            if (!leaves.empty() && leaves.front()->find("exclusiveMinimum") == nullptr &&
                has_type(*leaves.front(), "number"))
                one = "0";
        }
        std::string list;
        for (std::int64_t k = 0; k < count; ++k) list += (k > 0 ? ", " : "") + one;
        return "[" + list + "]";
    }
    const Node *const required = schema.find("required"), *const properties =
                                                              schema.find("properties");
    std::string members;
    for (std::size_t k = 0; required != nullptr && k < required->size(); ++k) {
        const std::string& key = required->item(k).string();
        const Node* const row = properties != nullptr ? properties->find(key) : nullptr;
        members += (members.empty() ? "" : ", ") + document::json_quoted(key) + ": " +
                   (row != nullptr ? sample_of(*row, tree, depth + 1) : std::string("\"\""));
    }
    return members.empty() ? "{}" : "{ " + members + " }";
}

std::string SchemaGuide::sample(const Nodes& schemas, const TextTree& tree) const {
    return schemas.empty() ? "\"\"" : sample_of(*schemas.front(), tree, 0);
}

std::string SchemaGuide::sample_of_key(const TextTree& tree, int object,
                                       const std::string& key) const {
    const Nodes found = rows(tree, object, key);
    for (const Node* const row : found)
        if (const Node* const value = row->find("default")) return document::to_line(*value);
    // A condition beside the row of "type" says more than the list of all types.
    return found.empty() ? "\"\"" : sample_of(*found.back(), tree, 0);
}

}  // namespace hindcast::session
