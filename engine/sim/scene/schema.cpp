// scene_schema() puts the sections together; field_schema() turns one field row into its schema.
#include "engine/sim/scene/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "engine/document/text.hpp"
#include "engine/model/warnings/contact_pairs.hpp"
#include "engine/optim/settings.hpp"
#include "engine/sim/scene/checkpoint_list.hpp"
#include "engine/sim/scene/gradient_settings.hpp"
#include "engine/sim/scene/scene_check.hpp"

namespace hindcast {

using document::Node;
using model::Field;
using model::FieldKind;
using model::ModuleType;
using model::Section;

namespace {

Node parsed(const std::string& json, const std::string& what) {
    return document::Document::parse(json, what).root();
}

Node reference_to(const std::string& definition) {
    return Node::object({{"$ref", "#/$defs/" + definition}});
}

Node any_of(std::vector<Node> alternatives) {
    if (alternatives.size() == 1) return std::move(alternatives.front());
    return Node::object({{"anyOf", Node::array(std::move(alternatives))}});
}

// A bound as it is written: 0, not 0.0.
Node plain(double value) {
    if (value == std::floor(value) && std::fabs(value) < 1e15)
        return Node(static_cast<std::int64_t>(value));
    return Node(value);
}

// ---------------------------------------------------------------- fields

// One number within the field's bounds, or a fraction (whose value a schema cannot compare).
Node number_schema(const Field& f, const char* type) {
    Node number = Node::object({{"type", type}});
    if (std::isfinite(f.low)) number.set(f.low_open ? "exclusiveMinimum" : "minimum", plain(f.low));
    if (std::isfinite(f.high))
        number.set(f.high_open ? "exclusiveMaximum" : "maximum", plain(f.high));
    return any_of({std::move(number), reference_to("fraction")});
}

Node list_of(Node items) { return Node::object({{"type", "array"}, {"items", std::move(items)}}); }

Node vector_of(Node number) {
    return Node::object(
        {{"type", "array"}, {"items", std::move(number)}, {"minItems", 2}, {"maxItems", 3}});
}

bool has_default(const Field& f) {
    return !f.fallback_json.empty() && f.fallback_json != "none" && f.fallback_json != "zero";
}

Node field_schema(const Field& f) {
    const auto extra = [&f] { return parsed(f.item_schema, "schema of " + f.key); };
    Node schema;
    switch (f.kind) {
        case FieldKind::number: schema = number_schema(f, "number"); break;
        case FieldKind::integer: schema = number_schema(f, "integer"); break;
        case FieldKind::vector: schema = vector_of(number_schema(f, "number")); break;
        case FieldKind::values:
        case FieldKind::vectors: {
            Node one = number_schema(f, "number");
            if (f.kind == FieldKind::vectors) one = vector_of(std::move(one));
            std::vector<Node> forms = {one, list_of(one), reference_to("generator")};
            // No value is for all of them: places of points, or as many as are written.
            if (f.item_schema == R"({"$ref":"#/$defs/counted"})" ||
                f.item_schema == R"({"$ref":"#/$defs/generator"})")
                forms = {list_of(one)};
            if (f.item_schema == R"({"$ref":"#/$defs/vectors"})") forms.clear();
            // Other values that the module understands, such as "initial".
            if (has_default(f)) {
                const Node fallback = parsed(f.fallback_json, "default of " + f.key);
                if (fallback.is_string()) forms.push_back(Node::object({{"const", fallback}}));
            }
            if (!f.item_schema.empty()) forms.push_back(extra());
            schema = any_of(std::move(forms));
            break;
        }
        case FieldKind::boolean: schema = Node::object({{"type", "boolean"}}); break;
        case FieldKind::text:
            schema = f.item_schema.empty() ? Node::object({{"type", "string"}}) : extra();
            break;
        case FieldKind::body: schema = Node::object({{"type", "string"}, {"means", "body"}}); break;
        case FieldKind::choice: {
            Node names = Node::array();
            for (const std::string& name : f.choices) names.push_back(name);
            schema = Node::object({{"enum", std::move(names)}});
            break;
        }
        case FieldKind::list:
            schema = Node::object({{"type", "array"}});
            if (!f.item_schema.empty()) schema.set("items", extra());
            break;
        case FieldKind::any: schema = f.item_schema.empty() ? Node::object() : extra(); break;
    }
    Node result = Node::object();
    std::string text = f.documentation;
    if (!f.unit_text.empty()) text += " (" + f.unit_text + ")";
    result.set("description", text);
    if (!f.unit_text.empty()) result.set("unit", f.unit_text);
    if (f.may_optimize) result.set("differentiable", true);
    if (has_default(f)) result.set("default", parsed(f.fallback_json, "default of " + f.key));
    for (std::size_t k = 0; k < schema.size(); ++k) result.set(schema.key(k), schema.item(k));
    return result;
}

// ---------------------------------------------------------------- module types

Node type_schema(const ModuleType& type) {
    Node properties = Node::object(
        {{"type", Node::object({{"const", type.type}})}, {"name", reference_to("name")}});
    Node required = Node::array({Node("type")});
    if (type.section == Section::objective) {
        properties.set("weight", Node::object({{"description", "factor of this term in the loss"},
                                               {"default", 1},
                                               {"minimum", 0},
                                               {"$ref", "#/$defs/number"}}));
        properties.set("at", reference_to("at"));
    }
    for (const Field& f : type.fields) {
        properties.set(f.key, field_schema(f));
        if (f.fallback_json.empty()) required.push_back(f.key);
    }
    return Node::object({{"title", type.title},
                         {"type", "object"},
                         {"description", type.documentation},
                         {"properties", std::move(properties)},
                         {"required", std::move(required)},
                         {"additionalProperties", false}});
}

// A list of objects, each checked as its "type" says.
Node section_schema(const Registry& registry, Section section, const char* description) {
    Node types = Node::array(), cases = Node::array();
    for (const ModuleType& type : registry.all()) {
        if (type.section != section) continue;
        types.push_back(type.type);
        const Node condition = Node::object(
            {{"properties", Node::object({{"type", Node::object({{"const", type.type}})}})},
             {"required", Node::array({Node("type")})}});
        cases.push_back(Node::object(
            {{"if", condition},
             {"then", reference_to(std::string(model::name_of(section)) + "." + type.type)}}));
    }
    Node list = Node::object({{"description", description}, {"type", "array"}});
    if (types.size() == 0) {
        list.set("maxItems", 0);
        return list;
    }
    list.set(
        "items",
        Node::object({{"type", "object"},
                      {"required", Node::array({Node("type")})},
                      {"properties", Node::object({{"type", Node::object({{"enum", types}})}})},
                      {"allOf", std::move(cases)}}));
    return list;
}

// ---------------------------------------------------------------- what every scene has

// Definitions and global keys that no module owns. Kept as text: it is read as such.
constexpr const char* shared_definitions = R"json({
"fraction": {"description": "an exact fraction, such as \"1/30\"", "type": "string", "pattern": "^-?[0-9]+/[0-9]+$"},
"number": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/fraction"}]},
"positive": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"$ref": "#/$defs/fraction"}]},
"row": {"anyOf": [{"$ref": "#/$defs/number"}, {"type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 2, "maxItems": 9}]},
"vector": {"type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 2, "maxItems": 3},
"vectors": {"type": "array", "items": {"$ref": "#/$defs/vector"}},
"places": {"type": "array", "items": {"$ref": "#/$defs/place"}},
"triangles": {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 3, "maxItems": 3}},
"cells": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 3, "means": "cells"},
"limits": {"description": "an axis-aligned box", "type": "object", "required": ["min", "max"], "additionalProperties": false,
  "properties": {"min": {"description": "its lowest corner", "unit": "m", "$ref": "#/$defs/vector"}, "max": {"description": "its highest corner", "unit": "m", "$ref": "#/$defs/vector"}}},
"place": {"type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 3, "maxItems": 3},
"distance_end": {"anyOf": [
  {"title": "place", "description": "m", "$ref": "#/$defs/place"},
  {"title": "point", "type": "object", "required": ["of", "point"], "additionalProperties": false, "properties": {"of": {"description": "a body", "type": "string", "means": "body"}, "point": {"description": "its number", "type": "integer", "minimum": 0}}},
  {"title": "between points", "type": "object", "required": ["of", "points", "weights"], "additionalProperties": false, "properties": {"of": {"description": "a body", "type": "string", "means": "body"}, "points": {"description": "their numbers", "type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}, "weights": {"description": "one for each point; they sum to 1", "type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 1}}},
  {"title": "on a part", "type": "object", "required": ["of", "part", "place"], "additionalProperties": false, "properties": {"of": {"description": "an object drawn as rigid bodies or balls", "type": "string"}, "part": {"description": "which of them, from 0", "type": "integer", "minimum": 0}, "place": {"description": "in its axes (m)", "$ref": "#/$defs/place"}}}]},
"counts": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1, "maxItems": 9, "means": "counts"},
"name": {"description": "what paths call this object; unique in the scene (default: its type and a number)", "type": "string", "pattern": "^[^.\\[\\]\"]+$"},
"path": {"description": "a number of the scene: name.field, name.field[i], name.field[i].x, gravity, or robot.body_mass[torso] where elements have names", "type": "string", "means": "path"},
"by_name": {"description": "values of elements by their names; the others keep what they have without this key", "type": "object", "minProperties": 1, "additionalProperties": {"anyOf": [{"$ref": "#/$defs/number"},
  {"type": "array", "items": {"$ref": "#/$defs/number"}}, {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/number"}}}]}},
"at": {"description": "when the term is evaluated: \"end\", \"all\" (after every step, not at the start), a time in seconds, or a list of times", "default": "end",
  "anyOf": [{"title": "at the end", "const": "end"}, {"title": "after every step", "const": "all"}, {"title": "at a time", "unit": "s", "$ref": "#/$defs/number"},
    {"title": "at several times", "type": "array", "items": {"unit": "s", "$ref": "#/$defs/number"}}]},
"generator": {"description": "values that are computed once, when the scene is loaded", "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
  "properties": {
    "formula": {"description": "i: element, n: their number, x y z: position where there is one, t: time of a row of a course; an array has one formula per component",
      "anyOf": [{"title": "formula", "type": "string", "means": "formula"},
        {"title": "formula for each component", "type": "array", "items": {"type": ["string", "number"], "means": "formula"}}]},
    "random": {"type": "object", "required": ["seed"], "additionalProperties": false, "oneOf": [{"required": ["normal"]}, {"required": ["uniform"]}],
      "properties": {
        "seed": {"type": "integer", "minimum": 0},
        "normal": {"description": "mean and deviation", "type": "array", "prefixItems": [{"title": "mean", "$ref": "#/$defs/row"}, {"title": "deviation", "$ref": "#/$defs/row"}], "minItems": 2, "maxItems": 2},
        "uniform": {"description": "lower and upper end", "type": "array", "prefixItems": [{"title": "from", "$ref": "#/$defs/row"}, {"title": "to", "$ref": "#/$defs/row"}], "minItems": 2, "maxItems": 2}}},
    "grid": {"description": "element (i, j, k) lies at origin + (i, j, k) * spacing", "type": "object", "required": ["counts", "spacing"], "additionalProperties": false,
      "not": {"required": ["origin", "center"]},
      "properties": {"counts": {"$ref": "#/$defs/counts"}, "spacing": {"$ref": "#/$defs/row"}, "origin": {"$ref": "#/$defs/row"}, "center": {"$ref": "#/$defs/row"}}},
    "box": {"description": "the centers of the cells of a box", "type": "object", "required": ["min", "max", "counts"], "additionalProperties": false,
      "properties": {"min": {"$ref": "#/$defs/row"}, "max": {"$ref": "#/$defs/row"}, "counts": {"$ref": "#/$defs/counts"}}},
    "file": {"description": "an .npy file, relative to the scene, of shape (elements, components)", "type": "string", "means": "file", "files": [".npy"]}}}
})json";

constexpr const char* global_properties = R"json({
"$schema": {"description": "this schema, for editors", "type": "string"},
"format": {"description": "version of the scene format", "const": 1},
"name": {"description": "what the scene is called", "type": "string", "default": "scene"},
"description": {"description": "what it shows", "type": "string"},
"dimension": {"description": "components of positions; with 2, y is up", "enum": [2, 3], "default": 3},
"up": {"description": "the axis that points upwards", "enum": ["z", "y"], "default": "z"},
"time": {"description": "the steps that are made", "type": "object", "required": ["step", "steps"], "additionalProperties": false,
  "properties": {
    "step": {"description": "length of a step (s)", "unit": "s", "$ref": "#/$defs/positive"},
    "steps": {"description": "number of steps", "type": "integer", "minimum": 0, "maximum": 100000000},
    "substeps": {"description": "equal parts of a step", "type": "integer", "minimum": 1, "maximum": 100000, "default": 1},
    "integrator": {"description": "how motion is integrated: by forces, or to the minimum of inertia and energies (implicit_euler, bdf2), or of energies alone (quasi_static)", "enum": ["semi_implicit_euler", "implicit_euler", "bdf2", "quasi_static"], "default": "semi_implicit_euler"},
    "minimization": {"description": "how the integrators other than semi_implicit_euler find the minimum", "type": "object", "additionalProperties": false, "properties": {
      "tolerance": {"description": "a minimum is found when another step of Newton's method would gain less than this part of the energy's scale", "$ref": "#/$defs/positive", "default": 1e-12},
      "iterations": {"description": "most steps of Newton's method; more are an error", "type": "integer", "minimum": 1, "maximum": 1000000, "default": 200},
      "solver": {"description": "of linear systems; dense: the whole minimization in one kernel, up to 64 unknowns, which ensembles run in SIMD lanes; automatic: dense up to 24 unknowns, direct up to 300000", "enum": ["automatic", "direct", "conjugate_gradients", "dense"], "default": "automatic"}}}}},
"gravity": {"description": "acceleration of everything that is free (m/s^2); default: 9.81 downwards", "unit": "m/s^2", "differentiable": true,
  "type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 2, "maxItems": 3}
})json";

constexpr const char* closing_properties = R"json({
"parameters": {"description": "the numbers that an optimization may change", "type": "array", "items": {
  "type": "object", "required": ["path"], "additionalProperties": false,
  "properties": {
    "path": {"$ref": "#/$defs/path"},
    "per": {"description": "one value for all, per body, or one per element; default: as the value is written", "enum": ["shared", "body", "element"]},
    "bounds": {"description": "lowest and highest value", "type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 2, "maxItems": 2},
    "scale": {"description": "log: the optimizer works on the logarithm", "enum": ["linear", "log"], "default": "linear"},
    "select": {"description": "which elements, by number or by name", "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
      "properties": {"indices": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1}}},
    "components": {"description": "which components; of four numbers w, x, y, z, of more their numbers", "type": "array", "items": {"type": "string", "pattern": "^([xyzw]|[0-9]+)$"}, "minItems": 1},
    "group": {"description": "a name that the optimizer's \"groups\" may use; default: the path", "type": "string"},
    "rate": {"description": "factor on the optimizer's rate", "default": 1, "$ref": "#/$defs/positive"}}}},
"outputs": {"description": "what is recorded in the results", "type": "object", "additionalProperties": false,
  "properties": {
    "every": {"description": "whole steps between frames; default: a hundredth of all steps, at least 1", "type": "integer", "minimum": 1},
    "arrays": {"description": "names of arrays; default: all of the state", "type": "array", "items": {"type": "string", "means": "array"}, "uniqueItems": true}}}
})json";

void add_all(Node& to, const Node& from) {
    for (std::size_t k = 0; k < from.size(); ++k) to.set(from.key(k), from.item(k));
}

}  // namespace

document::Document scene_schema(const Registry& registry) {
    Node properties = parsed(global_properties, "global keys");
    constexpr std::pair<Section, const char*> sections[] = {
        {Section::bodies, "what exists"},
        {Section::forces, "what acts on it"},
        {Section::colliders, "what it runs into"},
        {Section::controllers, "what steers it"},
        {Section::objective, "what is wanted: the loss is the sum of weight * value"}};
    for (const auto& [section, description] : sections)
        properties.set(model::name_of(section), section_schema(registry, section, description));
    Node closing = parsed(closing_properties, "closing keys");
    properties.set("parameters", *closing.find("parameters"));
    Node optimizer = parsed(optim::schema(), "schema of optimizer");
    Node described = Node::object({{"description", "how the parameters are optimized"}});
    add_all(described, optimizer);
    properties.set("optimizer", std::move(described));
    properties.set("gradients", parsed(gradient_settings_schema(), "schema of gradients"));
    properties.set("checkpoints", parsed(checkpoints_schema(), "schema of checkpoints"));
    add_all(properties, closing);
    properties.set("contact", parsed(model::contact_schema(), "schema of contact"));
    properties.set("accepted_warnings",
                   parsed(accepted_warnings_schema(), "schema of accepted_warnings"));
    properties.set("view", parsed(view_schema(), "schema of view"));

    Node definitions = parsed(shared_definitions, "shared definitions");
    Node counted = *definitions.find("generator");
    counted.set("description", "values that say how many there are, computed at load");
    for (const char* const without : {"formula", "random"})
        counted.find("properties")->erase(without);
    definitions.set("counted", std::move(counted));
    for (const ModuleType& type : registry.all())
        definitions.set(std::string(model::name_of(type.section)) + "." + type.type,
                        type_schema(type));
    return document::Document(
        Node::object({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "Hindcast scene"},
                      {"type", "object"},
                      {"required", Node::array({Node("format"), Node("time")})},
                      {"additionalProperties", false},
                      {"properties", std::move(properties)},
                      {"$defs", std::move(definitions)}}));
}

// ---------------------------------------------------------------- reference text

namespace {

const char* kind_name(const Field& f) {
    switch (f.kind) {
        case FieldKind::number: return "number";
        case FieldKind::vector: return "vector";
        case FieldKind::values: return "number(s)";
        case FieldKind::vectors: return "vector(s)";
        case FieldKind::integer: return "integer";
        case FieldKind::boolean: return "true or false";
        case FieldKind::text: return "text";
        case FieldKind::choice: return "choice";
        case FieldKind::body: return "name of a body";
        case FieldKind::list: return "list";
        case FieldKind::any: return "see text";
    }
    return "?";
}

std::string bounds_text(const Field& f) {
    const auto number = [](double value) {
        const Node node = plain(value);
        return document::to_line(node);
    };
    std::string text;
    if (std::isfinite(f.low)) text += (f.low_open ? "> " : ">= ") + number(f.low);
    if (std::isfinite(f.high))
        text +=
            (text.empty() ? "" : ", ") + std::string(f.high_open ? "< " : "<= ") + number(f.high);
    return text;
}

// Breaks a text into lines of at most `width`, the later ones indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string result;
    std::size_t column = indent;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (column > indent && column + 1 + end > width) {
            result += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            result += ' ';
            ++column;
        }
        result.append(text.substr(0, end));
        column += end;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

// model::Phase has the phases; a module's build() says to which its launches belong.
constexpr const char* order_of_a_substep =
    "Order within a substep of length h:\n"
    "  1  kick                      v <- v + change\n"
    "  2  forces, penalty contacts  f from the x and v that there are now\n"
    "  3  damping \"before\"          v <- exp(-rate h) v\n"
    "  4  particles                 v <- v + h (g + f/m)\n"
    "     material points           grid velocities, with gravity and walls; from them v, F, x\n"
    "  5  damping \"after\"           v <- exp(-rate h) v\n"
    "     impulse contacts          on the new v; the x of particles is still the old one\n"
    "  6  particles                 x <- x + h v\n"
    "     waves                     the next level\n"
    "  7  projection contacts       on the new x and v\n"
    "Within a line: forces, then colliders, then controllers, each in scene order. Terms of the\n"
    "objective follow the last substep of a step. Fixed points keep their velocity: no force, "
    "kick,\n"
    "damping or contact changes it; their x <- x + h v is made like that of the others.\n";

// "number, N/m, >= 0, required, differentiable"
std::string facts_of(const Field& f) {
    std::string facts = kind_name(f);
    if (!f.choices.empty()) facts = fmt::format("{}", fmt::join(f.choices, " | "));
    if (!f.unit_text.empty()) facts += ", " + f.unit_text;
    if (const std::string bounds = bounds_text(f); !bounds.empty()) facts += ", " + bounds;
    if (f.fallback_json.empty()) facts += ", required";
    if (has_default(f)) facts += ", default " + f.fallback_json;
    if (f.fallback_json == "zero") facts += ", default 0";
    if (f.may_optimize) facts += ", differentiable";
    return facts;
}

}  // namespace

std::string reference(const ModuleType& type) {
    constexpr std::size_t width = 100, indent = 8;
    std::string text =
        fmt::format("{} (in \"{}\"): {}\n    {}\n", type.type, model::name_of(type.section),
                    type.title, wrapped(type.documentation, 4, width));
    for (const Field& f : type.fields)
        text += fmt::format("\n    {}  ({})\n        {}\n", f.key, facts_of(f),
                            wrapped(f.documentation, indent, width));
    if (type.section == Section::objective)
        text +=
            "\n    weight  (number, >= 0, default 1)\n        factor of this term in the loss\n"
            "\n    at  (\"end\", \"all\", a time in s, or a list of times, default \"end\")\n"
            "        when the term is evaluated; \"all\": after every step, not at the start. Over "
            "several\n        times it is the mean\n";
    else
        text += std::string("\n") + order_of_a_substep;
    return text;
}

std::string reference(const model::PublishedKernel& kernel) {
    constexpr std::size_t width = 100;
    std::string text =
        fmt::format("{}\n    {}\n", kernel.name, wrapped(kernel.documentation, 4, width));
    if (!kernel.options.empty()) text += "\n  options\n";
    for (const Field& f : kernel.options)
        text += fmt::format("    {}  ({})\n        {}\n", f.key, facts_of(f),
                            wrapped(f.documentation, 8, width));
    text += "\n  parameters, of which each form has those that it uses\n";
    for (const auto& p : kernel.parameters)
        text += fmt::format("    {}\n        {}\n", p.name, wrapped(p.documentation, 8, width));
    return text;
}

std::string kernel_list(const Registry& registry) {
    std::string text;
    std::size_t longest = 0;
    for (const auto& kernel : registry.kernels()) longest = std::max(longest, kernel.name.size());
    for (const auto& kernel : registry.kernels())
        text += fmt::format("  {:<{}}  {}\n", kernel.name, longest,
                            wrapped(kernel.documentation, longest + 4, 100));
    return text;
}

std::string module_list(const Registry& registry) {
    std::string text;
    std::size_t longest = 0;
    for (const ModuleType& type : registry.all()) longest = std::max(longest, type.type.size());
    for (const Section section : model::all_sections) {
        bool first = true;
        for (const ModuleType& type : registry.all()) {
            if (type.section != section) continue;
            if (first) text += fmt::format("{}\n", model::name_of(section));
            first = false;
            text += fmt::format("  {:<{}}  {}\n", type.type, longest,
                                wrapped(type.documentation, longest + 4, 100));
            std::string keys;
            for (const Field& f : type.fields) keys += (keys.empty() ? "" : ", ") + f.key;
            text +=
                fmt::format("  {:<{}}  keys: {}\n", "", longest, wrapped(keys, longest + 10, 100));
        }
    }
    text += std::string("\n") + order_of_a_substep;
    return text;
}

}  // namespace hindcast
