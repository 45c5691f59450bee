#include "app/session/document/fields/form.hpp"

#include <algorithm>

#include "app/session/document/schema_node.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/scene/schema.hpp"

namespace hindcast::session {

namespace {

using document::Node;

constexpr const char *fraction_pattern = "^-?[0-9]+/[0-9]+$", *anything_pattern = ".";
constexpr std::size_t longest_vector = 9;

std::optional<double> number_at(const Node& schema, const char* key) {
    const Node* const found = schema.find(key);
    if (found == nullptr || !(found->is_integer() || found->is_real())) return std::nullopt;
    return found->is_integer() ? static_cast<double>(found->integer()) : found->real();
}

// The schema with what it refers to; what stands beside the reference comes first.
Node resolved(const Node& schema, const Node& root) {
    Node result = schema;
    while (const Node* const reference = result.find("$ref")) {
        const std::string pointer = reference->string().substr(1);
        const Node* const target = document::find_below(root, pointer);
        if (target == nullptr)
            throw Error("the schema refers to '" + pointer + "', which it does not have");
        result.erase("$ref");
        for (std::size_t k = 0; k < target->size(); ++k)
            if (result.find(target->key(k)) == nullptr) result.set(target->key(k), target->item(k));
    }
    return result;
}

// The unit of a field holds for the numbers within it.
void set_unit(Form& form, const std::string& unit) {
    if (!form.unit.empty()) return;
    if (form.kind == FormKind::number) form.unit = unit;
    for (Form& part : form.parts) set_unit(part, unit);
}

bool is_fraction(const Form& form) {
    return form.kind == FormKind::text && form.means == "fraction";
}

class Maker {
public:
    explicit Maker(const Node& root) : root_(root) {}

    Form make(const Node& written) const {
        const Node schema = resolved(written, root_);
        Form form = content(schema);
        if (std::string title = text_of(schema, "title"); !title.empty())
            form.title = std::move(title);
        if (std::string help = text_of(schema, "description"); !help.empty())
            form.help = std::move(help);
        if (std::string means = text_of(schema, "means"); !means.empty())
            form.means = std::move(means);
        if (std::string of = text_of(schema, "of"); !of.empty()) form.of = std::move(of);
        if (const Node* const fallback = schema.find("default")) form.fallback = *fallback;
        if (const std::string unit = text_of(schema, "unit"); !unit.empty()) {
            set_unit(form, unit);
            form.unit = unit;
        }
        return form;
    }

private:
    Form content(const Node& schema) const {
        for (const char* const key : {"anyOf", "oneOf"})
            if (const Node* const options = schema.find(key);
                options != nullptr && schema.find("properties") == nullptr)
                return alternatives(*options);
        Form form;
        if (const Node* const value = schema.find("const")) {
            form.kind = FormKind::word;
            form.values = {*value};
        } else if (const Node* const list = schema.find("enum")) {
            form.kind = FormKind::choice;
            for (std::size_t k = 0; k < list->size(); ++k) form.values.push_back(list->item(k));
        } else if (has_type(schema, "array")) {
            make_array(schema, form);
        } else if (has_type(schema, "object")) {
            make_object(schema, form);
        } else if (has_type(schema, "boolean")) {
            form.kind = FormKind::boolean;
        } else if (has_type(schema, "integer") && has_type(schema, "string")) {
            form.kind = FormKind::element;
        } else if (has_type(schema, "string") && text_of(schema, "means") == "formula") {
            form.kind = FormKind::text;
            form.or_number = has_type(schema, "number");
        } else if (has_type(schema, "number") || has_type(schema, "integer")) {
            form.kind = has_type(schema, "number") ? FormKind::number : FormKind::integer;
            set_bounds(schema, form);
        } else if (has_type(schema, "string")) {
            form.kind = FormKind::text;
            if (text_of(schema, "pattern") == fraction_pattern) form.means = "fraction";
            if (text_of(schema, "pattern") == anything_pattern) form.least = 1;
        }
        return form;
    }

    static void set_bounds(const Node& schema, Form& form) {
        if (const auto x = number_at(schema, "minimum")) form.low = *x;
        if (const auto x = number_at(schema, "maximum")) form.high = *x;
        if (const auto x = number_at(schema, "exclusiveMinimum")) {
            form.low = *x;
            form.low_open = true;
        }
        if (const auto x = number_at(schema, "exclusiveMaximum")) {
            form.high = *x;
            form.high_open = true;
        }
    }

    Form alternatives(const Node& options) const {
        Form form;
        form.kind = FormKind::alternatives;
        for (std::size_t k = 0; k < options.size(); ++k) add(form.parts, make(options.item(k)));
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
        if (form.parts.size() == 1) {
            Form only = std::move(form.parts.front());
            return only;
        }
        return form;
    }

    // Alternatives of alternatives are one list, and each word of a choice is one.
    static void add(std::vector<Form>& parts, Form part) {
        if (part.kind == FormKind::alternatives) {
            for (Form& inner : part.parts) add(parts, std::move(inner));
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

    void make_array(const Node& schema, Form& form) const {
        if (const auto x = number_at(schema, "minItems")) form.least = static_cast<std::size_t>(*x);
        if (const auto x = number_at(schema, "maxItems")) form.most = static_cast<std::size_t>(*x);
        if (const Node* const columns = schema.find("prefixItems")) {
            form.kind = FormKind::tuple;
            for (std::size_t k = 0; k < columns->size(); ++k)
                form.parts.push_back(make(columns->item(k)));
        } else if (const Node* const items = schema.find("items")) {
            form.kind = FormKind::list;
            form.parts.push_back(make(*items));
        }
    }

    void make_object(const Node& schema, Form& form) const {
        const Node* const members = schema.find("properties");
        const Node* const others = schema.find("additionalProperties");
        if (members == nullptr) {
            if (others == nullptr || !others->is_object()) return;  // of any content
            form.kind = FormKind::by_name;
            form.parts.push_back(make(*others));
            return;
        }
        const bool exactly_one =
            number_at(schema, "minProperties") == 1 && number_at(schema, "maxProperties") == 1;
        if (exactly_one) {
            form.kind = FormKind::alternatives;
            for (std::size_t k = 0; k < members->size(); ++k) {
                Form inner = make(members->item(k));
                const std::string title = in_words(members->key(k));
                // Each way to write the one member is an alternative of its own.
                if (inner.kind != FormKind::alternatives) {
                    form.parts.push_back(only(members->key(k), title, std::move(inner)));
                    continue;
                }
                for (Form& part : inner.parts) {
                    const std::string own = part.title.empty() ? title : part.title;
                    if (part.help.empty()) part.help = inner.help;
                    form.parts.push_back(only(members->key(k), own, std::move(part)));
                }
            }
            return;
        }
        form.kind = FormKind::object;
        const Node* const required = schema.find("required");
        for (std::size_t k = 0; k < members->size(); ++k) {
            form.keys.push_back(members->key(k));
            bool needed = false;
            for (std::size_t j = 0; required != nullptr && j < required->size(); ++j)
                needed = needed || required->item(j).string() == members->key(k);
            form.required.push_back(needed);
            form.parts.push_back(make(members->item(k)));
        }
        if (const Node* const one_of = schema.find("oneOf")) {
            Form::Exclusive group{{}, true};
            for (std::size_t k = 0; k < one_of->size(); ++k)
                for (const std::string& key : names(one_of->item(k))) group.keys.push_back(key);
            form.exclusive.push_back(std::move(group));
        }
        if (const Node* const none = schema.find("not"))
            form.exclusive.push_back({names(*none), false});
    }

    // An object of that member alone.
    static Form only(const std::string& key, std::string title, Form inner) {
        Form one;
        one.kind = FormKind::object;
        one.title = std::move(title);
        one.help = inner.help;
        one.keys = {key};
        one.required = {true};
        one.parts.push_back(std::move(inner));
        return one;
    }

    static std::vector<std::string> names(const Node& schema) {
        std::vector<std::string> list;
        const Node* const required = schema.find("required");
        for (std::size_t k = 0; required != nullptr && k < required->size(); ++k)
            list.push_back(required->item(k).string());
        return list;
    }

    const Node& root_;
};

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

Form form_of(const Node& schema, const Node& root) { return Maker(root).make(schema); }

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
    return forms_.emplace(pointer, form_of(schema_.at(pointer), schema_.root())).first->second;
}

const Form* SceneForms::of_field(model::Section section, const std::string& type,
                                 const std::string& key) const {
    const std::string pointer = std::string("/$defs/") + model::name_of(section) + "." +
                                document::pointer_token(type) + "/properties/" +
                                document::pointer_token(key);
    return forms_.contains(pointer) || schema_.find(pointer) != nullptr ? &at(pointer) : nullptr;
}

}  // namespace hindcast::session
