#include "app/session/document/fields/form.hpp"

#include <algorithm>

#include "engine/document/text.hpp"
#include "engine/sim/scene/schema.hpp"

namespace hindcast::session {

namespace {

using document::Node;

constexpr const char *fraction_pattern = "^-?[0-9]+/[0-9]+$", *anything_pattern = ".";
constexpr std::size_t longest_vector = 9;

// The unit of a field holds for the numbers within it.
void set_unit(Form& form, const std::string& unit) {
    if (!form.unit.empty()) return;
    if (form.kind == FormKind::number) form.unit = unit;
    for (Form& part : form.parts) set_unit(part, unit);
}

bool is_fraction(const Form& form) {
    return form.kind == FormKind::text && form.means == "fraction";
}

void set_array(const SchemaView& schema, Form& form) {
    if (const auto x = schema.number("minItems")) form.least = static_cast<std::size_t>(*x);
    if (const auto x = schema.number("maxItems")) form.most = static_cast<std::size_t>(*x);
    if (schema.find("prefixItems") != nullptr) {
        form.kind = FormKind::tuple;
        for (const SchemaView& column : schema.parts("prefixItems"))
            form.parts.push_back(form_of(column));
    } else if (const auto items = schema.part("items")) {
        form.kind = FormKind::list;
        form.parts.push_back(form_of(*items));
    }
}

// An object of that member alone.
Form only(const std::string& key, Form inner) {
    Form one;
    one.kind = FormKind::object;
    one.title = inner.title.empty() ? in_words(key) : inner.title;
    one.help = inner.help;
    one.keys = {key};
    one.required = {true};
    one.parts.push_back(std::move(inner));
    return one;
}

void set_object(const SchemaView& schema, Form& form) {
    const std::vector<std::string> keys = schema.names("properties");
    if (schema.find("properties") == nullptr) {
        const auto others = schema.part("additionalProperties");
        if (!others) return;  // of any content
        form.kind = FormKind::by_name;
        form.parts.push_back(form_of(*others));
        return;
    }
    if (schema.number("minProperties") == 1 && schema.number("maxProperties") == 1) {
        form.kind = FormKind::alternatives;
        for (const std::string& key : keys) {
            Form inner = form_of(*schema.member(key));
            // Each way to write the one member is an alternative of its own.
            const bool several = inner.kind == FormKind::alternatives;
            for (Form way : several ? inner.parts : std::vector<Form>{inner}) {
                if (way.help.empty()) way.help = inner.help;
                form.parts.push_back(only(key, std::move(way)));
            }
        }
        return;
    }
    form.kind = FormKind::object;
    form.keys = keys;
    for (const std::string& key : keys) {
        form.required.push_back(schema.lists("required", key));
        form.parts.push_back(form_of(*schema.member(key)));
    }
    if (schema.find("oneOf") != nullptr) {
        Form::Exclusive group{{}, true};
        for (const SchemaView& one : schema.parts("oneOf"))
            for (const std::string& key : one.names("required")) group.keys.push_back(key);
        form.exclusive.push_back(std::move(group));
    }
    if (const auto none = schema.part("not"))
        form.exclusive.push_back({none->names("required"), false});
}

// Alternatives of alternatives are one list, and each word of a choice is one.
void add_alternative(std::vector<Form>& parts, Form part) {
    if (part.kind == FormKind::alternatives) {
        for (Form& inner : part.parts) add_alternative(parts, std::move(inner));
        return;
    }
    if (part.kind != FormKind::choice) {
        parts.push_back(std::move(part));
        return;
    }
    for (Node& value : part.values) {
        Form word = part;
        word.kind = FormKind::word;
        word.values = {std::move(value)};
        parts.push_back(std::move(word));
    }
}

Form of_alternatives(const std::vector<SchemaView>& schemas) {
    Form form;
    form.kind = FormKind::alternatives;
    for (const SchemaView& schema : schemas) add_alternative(form.parts, form_of(schema));
    // A number that may also be written as a fraction.
    if (std::ranges::any_of(form.parts, [](const Form& p) {
            return p.kind == FormKind::number || p.kind == FormKind::integer;
        }))
        std::erase_if(form.parts, is_fraction);
    // An element by its number or by its name.
    if (form.parts.size() == 2 && form.parts[0].kind == FormKind::integer &&
        form.parts[1].kind == FormKind::text) {
        form.parts.pop_back();
        form.parts[0].kind = FormKind::element;
    }
    if (form.parts.size() > 1) return form;
    Form one = std::move(form.parts.front());
    return one;
}

Form content_of(const SchemaView& schema) {
    for (const char* const keyword : {"anyOf", "oneOf"})
        if (schema.find(keyword) != nullptr && schema.find("properties") == nullptr)
            return of_alternatives(schema.parts(keyword));
    Form form;
    for (const Node* const value : schema.values()) form.values.push_back(*value);
    if (!form.values.empty()) {
        form.kind = schema.find("const") != nullptr ? FormKind::word : FormKind::choice;
    } else if (schema.has_type("array")) {
        set_array(schema, form);
    } else if (schema.has_type("object")) {
        set_object(schema, form);
    } else if (schema.has_type("boolean")) {
        form.kind = FormKind::boolean;
    } else if (schema.has_type("integer") && schema.has_type("string")) {
        form.kind = FormKind::element;
    } else if (schema.has_type("string") && schema.text("means") == "formula") {
        form.kind = FormKind::text;
        form.or_number = schema.has_type("number");
    } else if (schema.has_type("number") || schema.has_type("integer")) {
        form.kind = schema.has_type("number") ? FormKind::number : FormKind::integer;
        form.range = schema.range();
    } else if (schema.has_type("string")) {
        form.kind = FormKind::text;
        if (schema.text("pattern") == fraction_pattern) form.means = "fraction";
        if (schema.text("pattern") == anything_pattern) form.least = 1;
    }
    return form;
}

void collect(const Form& form, const std::string& pointer, std::vector<std::string>& places) {
    if (form.kind == FormKind::unknown) places.push_back(pointer);
    for (std::size_t k = 0; k < form.parts.size(); ++k)
        collect(form.parts[k],
                pointer + "/" + (form.kind == FormKind::object ? form.keys[k] : std::to_string(k)),
                places);
}

}  // namespace

bool Form::is_scalar() const {
    switch (kind) {
        case FormKind::number:
        case FormKind::integer:
        case FormKind::boolean:
        case FormKind::text:
        case FormKind::choice:
        case FormKind::word:
        case FormKind::element: return true;
        default: return false;
    }
}

bool Form::is_vector() const {
    return kind == FormKind::list && most <= longest_vector && most >= 1 &&
           (parts[0].kind == FormKind::number || parts[0].kind == FormKind::integer);
}

bool Form::is_sheet() const {
    if (kind != FormKind::list) return false;
    const Form& item = parts[0];
    if (item.is_scalar()) return true;
    if (item.kind == FormKind::list) return item.parts[0].is_scalar();
    return item.kind == FormKind::tuple &&
           std::ranges::all_of(item.parts, [](const Form& f) { return f.is_scalar(); });
}

const Form* Form::member(const std::string& key) const {
    const auto found = std::ranges::find(keys, key);
    return found == keys.end() ? nullptr : &parts[static_cast<std::size_t>(found - keys.begin())];
}

Form form_of(const SchemaView& schema) {
    Form form = content_of(schema);
    const auto take = [&schema](std::string& to, std::string_view keyword) {
        if (const std::string& text = schema.text(keyword); !text.empty()) to = text;
    };
    take(form.title, "title");
    take(form.help, "description");
    take(form.means, "means");
    take(form.of, "of");
    if (schema.find("files") != nullptr) form.files = schema.names("files");
    if (const Node* const fallback = schema.find("default")) form.fallback = *fallback;
    if (const std::string& unit = schema.text("unit"); !unit.empty()) {
        set_unit(form, unit);
        form.unit = unit;
    }
    return form;
}

std::vector<std::string> places_without_editor(const Form& form) {
    std::vector<std::string> places;
    collect(form, "", places);
    return places;
}

std::string in_words(const std::string& key) {
    std::string text = key;
    std::ranges::replace(text, '_', ' ');
    return text;
}

SceneForms::SceneForms(const Registry& registry) : schema_(scene_schema(registry)) {}

const Form& SceneForms::at(const std::string& pointer) const {
    const auto known = forms_.find(pointer);
    if (known != forms_.end()) return known->second;
    return forms_.emplace(pointer, form_of({schema_.at(pointer), schema_.root()})).first->second;
}

const Form* SceneForms::of_field(model::Section section, const std::string& type,
                                 const std::string& key) const {
    const std::string pointer = std::string("/$defs/") + model::name_of(section) + "." +
                                document::pointer_token(type) + "/properties/" +
                                document::pointer_token(key);
    return forms_.contains(pointer) || schema_.find(pointer) != nullptr ? &at(pointer) : nullptr;
}

}  // namespace hindcast::session
