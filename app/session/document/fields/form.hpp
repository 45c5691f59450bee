// Form: the values allowed at a place of a scene, as a tree for editors: made from the scene's JSON
// schema (engine/sim/scene/schema.hpp) alone, so that whatever a module's rows allow can be edited
// without knowing the module. References are followed, alternatives of alternatives are one list, a
// number that may also be a fraction is a number, and an object of exactly one key is an
// alternative of its own.
//
//     SceneForms forms(registry);
//     forms.at("/$defs/forces.springs/properties/connect").kind   // FormKind::alternatives
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "app/session/document/schema_view.hpp"
#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

enum class FormKind : std::uint8_t {
    number,        // real, or a fraction
    integer,       //
    boolean,       //
    text,          // of any content
    choice,        // one of `values`
    word,          // the one in `values`
    element,       // a number from 0, or a name
    list,          // items of the form parts[0], `least` to `most` of them
    tuple,         // items of the forms `parts`
    object,        // members `keys` of the forms `parts`
    by_name,       // any keys, values of the form parts[0]
    alternatives,  // one of `parts`
    unknown        // anything: it can only be edited as text
};

struct Form {
    FormKind kind = FormKind::unknown;
    std::string title;        // its title among alternatives, columns, members; or ""
    std::string help, unit;   // the description; the unit of its numbers
    std::string means, of;    // the meaning of a text or a number (schema.hpp)
    document::Node fallback;  // its default; null: it has none
    document::Range range;    // of a number
    // Items; of a text characters.
    std::size_t least = 0, most = std::numeric_limits<std::size_t>::max();
    std::vector<document::Node> values;  // choice, word
    bool or_number = false;              // text: numbers too
    std::vector<std::string> files;      // endings of files that fit, such as ".csv"
    std::vector<std::string> keys;       // object
    std::vector<bool> required;          // object: for each key
    std::vector<Form> parts;
    // Keys of an object of which at most one may be written; with `needed` exactly one.
    struct Exclusive {
        std::vector<std::string> keys;
        bool needed = false;
    };
    std::vector<Exclusive> exclusive;

    // One line of controls is enough for it.
    bool is_scalar() const;
    // A list of a few numbers: a vector, a pair of bounds.
    bool is_vector() const;
    // A list whose items are scalars, or rows of scalars.
    bool is_sheet() const;
    const Form* member(const std::string& key) const;  // null: there is none
};

Form form_of(const SchemaView& schema);

// Pointers into the form, such as "/min" or "/1", of all places that can only be edited as text.
std::vector<std::string> places_without_editor(const Form& form);

// "rest_length" -> "rest length".
std::string in_words(const std::string& key);

// The forms of a registry's scene schema, each made when it is first asked for.
class SceneForms {
public:
    explicit SceneForms(const Registry& registry);
    const document::Document& schema() const { return schema_; }
    // By a pointer into the schema. Throws Error where the schema has nothing.
    const Form& at(const std::string& pointer) const;
    // The form of a key of a module's objects; null if its schema does not have the key.
    const Form* of_field(model::Section section, const std::string& type,
                         const std::string& key) const;

private:
    document::Document schema_;
    mutable std::map<std::string, Form> forms_;
};

}  // namespace hindcast::session
