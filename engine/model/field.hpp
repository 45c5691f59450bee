// A field row: everything that is known about one key of the scene, in one place.
//
// Reader, JSON schema, editor, parameter paths, reference documentation and the gradient-coverage
// test all derive from it.
//
//     fields: {number("damping").unit("N s/m").fallback("0").at_least(0).doc("..."),
//              values("stiffness").unit("N/m").positive().differentiable().doc("...")}
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace hindcast::model {

enum class FieldKind {
    number,   // one real
    vector,   // one real per dimension of the scene
    values,   // one real for all elements, or one per element, or a generator
    vectors,  // one vector for all elements, or one per element, or a generator
    integer,
    boolean,
    text,
    choice,  // one of `choices`
    body,    // the name of a body
    list,    // an array that the module reads itself; `item_schema` describes one item
    any      // read by the module itself
};

struct Field {
    std::string key;
    FieldKind kind = FieldKind::number;
    std::string unit_text;  // "" = dimensionless
    std::string documentation;
    std::string fallback_json;  // "" = required; "none" = optional without a default; "zero" = the
                                // zero vector
    double low = -std::numeric_limits<double>::infinity(),
           high = std::numeric_limits<double>::infinity();
    bool low_open = false, high_open = false;
    bool may_optimize = false;  // has a gradient, may be named by a parameter
    bool in_plane = false;      // for scenes of two dimensions alone
    std::vector<std::string> choices;
    std::string item_schema;  // JSON schema text, for list and any

    Field unit(std::string u) && {
        unit_text = std::move(u);
        return std::move(*this);
    }
    Field doc(std::string d) && {
        documentation = std::move(d);
        return std::move(*this);
    }
    Field fallback(std::string json) && {
        fallback_json = std::move(json);
        return std::move(*this);
    }
    Field zero() && {
        fallback_json = "zero";
        return std::move(*this);
    }
    Field optional() && {
        fallback_json = "none";
        return std::move(*this);
    }
    Field at_least(double bound) && {
        low = bound;
        return std::move(*this);
    }
    Field at_most(double bound) && {
        high = bound;
        return std::move(*this);
    }
    Field positive() && {
        low = 0;
        low_open = true;
        return std::move(*this);
    }
    Field only_in_plane() && {
        in_plane = true;
        return std::move(*this);
    }
    Field differentiable() && {
        may_optimize = true;
        return std::move(*this);
    }
    Field schema(std::string json) && {
        item_schema = std::move(json);
        return std::move(*this);
    }
};

inline Field field(std::string key, FieldKind kind) {
    Field f;
    f.key = std::move(key);
    f.kind = kind;
    return f;
}
inline Field number(std::string key) { return field(std::move(key), FieldKind::number); }
inline Field vector(std::string key) { return field(std::move(key), FieldKind::vector); }
inline Field values(std::string key) { return field(std::move(key), FieldKind::values); }
inline Field vectors(std::string key) { return field(std::move(key), FieldKind::vectors); }
inline Field integer(std::string key) { return field(std::move(key), FieldKind::integer); }
inline Field boolean(std::string key) { return field(std::move(key), FieldKind::boolean); }
inline Field text(std::string key) { return field(std::move(key), FieldKind::text); }
inline Field body(std::string key) { return field(std::move(key), FieldKind::body); }
inline Field list(std::string key) { return field(std::move(key), FieldKind::list); }
inline Field any(std::string key) { return field(std::move(key), FieldKind::any); }
inline Field choice(std::string key, std::vector<std::string> names) {
    Field f = field(std::move(key), FieldKind::choice);
    f.choices = std::move(names);
    return f;
}

}  // namespace hindcast::model
