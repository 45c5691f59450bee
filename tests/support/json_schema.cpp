#include "tests/support/json_schema.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <stdexcept>

#include "engine/document/document.hpp"

namespace hindcast::test {

namespace {

using document::Node;

bool is_number(const Node& node) { return node.is_integer() || node.is_real(); }
double number(const Node& node) {
    return node.is_integer() ? static_cast<double>(node.integer()) : node.real();
}

bool has_type(const Node& node, const std::string& type) {
    if (type == "object") return node.is_object();
    if (type == "array") return node.is_array();
    if (type == "string") return node.is_string();
    if (type == "boolean") return node.is_boolean();
    if (type == "null") return node.is_null();
    if (type == "number") return is_number(node);
    if (type == "integer") return is_number(node) && number(node) == std::floor(number(node));
    throw std::runtime_error("unknown type in a schema: " + type);
}

bool same(const Node& a, const Node& b) {
    if (is_number(a) && is_number(b)) return number(a) == number(b);
    return a == b;
}

class Checker {
public:
    explicit Checker(const Node& root) : root_(root) {}

    using Faults = std::vector<std::string>;

    Faults check(const Node& schema, const Node& node) {
        Faults faults;
        if (schema.is_boolean()) {
            if (!schema.boolean()) faults.push_back(node.pointer() + ": not allowed");
            return faults;
        }
        for (std::size_t k = 0; k < schema.size(); ++k)
            keyword(schema, schema.key(k), schema.item(k), node, faults);
        return faults;
    }

private:
    void keyword(const Node& schema, const std::string& key, const Node& value, const Node& node,
                 Faults& faults) {
        static const std::set<std::string> annotations = {
            "description", "default", "title", "unit", "differentiable", "$schema",
            "$defs",       "then",    "means", "of",   "files"};
        if (annotations.contains(key)) return;
        const auto fault = [&](const std::string& what) {
            faults.push_back(node.pointer() + ": " + what);
        };
        const auto count = [&value] { return static_cast<std::size_t>(value.integer()); };
        if (key == "type") {
            bool fits = false;
            if (value.is_string()) fits = has_type(node, value.string());
            for (std::size_t k = 0; k < value.size(); ++k)
                fits = fits || has_type(node, value.item(k).string());
            if (!fits) fault("is not of type " + document::to_line(value));
        } else if (key == "const") {
            if (!same(node, value)) fault("is not " + document::to_line(value));
        } else if (key == "enum") {
            bool found = false;
            for (std::size_t k = 0; k < value.size(); ++k)
                found = found || same(node, value.item(k));
            if (!found) fault("is none of " + document::to_line(value));
        } else if (key == "$ref") {
            const Node* target = document::find_below(root_, value.string().substr(1));
            if (target == nullptr) throw std::runtime_error("dangling " + value.string());
            append(faults, check(*target, node));
        } else if (key == "allOf" || key == "anyOf" || key == "oneOf") {
            combine(key, value, node, faults);
        } else if (key == "not") {
            if (check(value, node).empty()) fault("fits what is forbidden");
        } else if (key == "if") {
            const Node* then = schema.find("then");
            if (then != nullptr && check(value, node).empty()) append(faults, check(*then, node));
        } else if (is_number(node) && number_keyword(key, value, number(node))) {
            if (!holds(key, number(node), number(value)))
                fault(key + " " + document::to_line(value) + " is violated");
        } else if (number_keyword(key, value, 0)) {
            return;
        } else if (key == "pattern") {
            if (node.is_string() && !std::regex_search(node.string(), std::regex(value.string())))
                fault("does not match " + value.string());
        } else if (key == "properties") {
            for (std::size_t k = 0; node.is_object() && k < value.size(); ++k)
                if (const Node* member = node.find(value.key(k)))
                    append(faults, check(value.item(k), *member));
        } else if (key == "required") {
            for (std::size_t k = 0; node.is_object() && k < value.size(); ++k)
                if (node.find(value.item(k).string()) == nullptr)
                    fault(value.item(k).string() + " is missing");
        } else if (key == "additionalProperties") {
            const Node* known = schema.find("properties");
            for (std::size_t k = 0; node.is_object() && k < node.size(); ++k)
                if (known == nullptr || known->find(node.key(k)) == nullptr)
                    append(faults, check(value, node.item(k)));
        } else if (key == "propertyNames") {
            for (std::size_t k = 0; node.is_object() && k < node.size(); ++k)
                append(faults, check(value, Node(node.key(k))));
        } else if (key == "minProperties" || key == "maxProperties") {
            if (node.is_object() &&
                (key == "minProperties" ? node.size() < count() : node.size() > count()))
                fault("has a wrong number of members");
        } else if (key == "items") {
            for (std::size_t k = 0; node.is_array() && k < node.size(); ++k)
                append(faults, check(value, node.item(k)));
        } else if (key == "prefixItems") {
            for (std::size_t k = 0; node.is_array() && k < std::min(node.size(), value.size()); ++k)
                append(faults, check(value.item(k), node.item(k)));
        } else if (key == "minItems" || key == "maxItems") {
            if (node.is_array() &&
                (key == "minItems" ? node.size() < count() : node.size() > count()))
                fault("has a wrong number of items");
        } else if (key == "uniqueItems") {
            for (std::size_t i = 0; node.is_array() && i < node.size(); ++i)
                for (std::size_t j = 0; j < i; ++j)
                    if (same(node.item(i), node.item(j))) fault("names something twice");
        } else {
            throw std::runtime_error("unknown keyword in a schema: " + key);
        }
    }

    void combine(const std::string& key, const Node& value, const Node& node, Faults& faults) {
        std::size_t fits = 0;
        Faults all;
        for (std::size_t k = 0; k < value.size(); ++k) {
            const Faults some = check(value.item(k), node);
            if (some.empty()) ++fits;
            append(all, some);
        }
        const bool right = key == "allOf"   ? fits == value.size()
                           : key == "anyOf" ? fits > 0
                                            : fits == 1;
        if (right) return;
        if (key == "oneOf" && fits > 1)
            faults.push_back(node.pointer() + ": fits more than one form");
        append(faults, all);
    }

    static bool number_keyword(const std::string& key, const Node& value, double) {
        return is_number(value) && (key == "minimum" || key == "maximum" ||
                                    key == "exclusiveMinimum" || key == "exclusiveMaximum");
    }
    static bool holds(const std::string& key, double x, double bound) {
        if (key == "minimum") return x >= bound;
        if (key == "maximum") return x <= bound;
        return key == "exclusiveMinimum" ? x > bound : x < bound;
    }
    static void append(Faults& to, const Faults& from) {
        to.insert(to.end(), from.begin(), from.end());
    }

    const Node& root_;
};

}  // namespace

std::vector<std::string> schema_violations(const document::Node& schema,
                                           const document::Node& document) {
    return Checker(schema).check(schema, document);
}

}  // namespace hindcast::test
