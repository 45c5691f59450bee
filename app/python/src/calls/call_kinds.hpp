// The five calls of a function between arrays, for enumerations that have them all.
#pragma once

#include <optional>
#include <string>

#include "app/python/src/bindings.hpp"

namespace hindcast::python {

// f.operator()<kind>(name) for each of the five calls, by the names that their targets end with.
template <class Kind, class F>
void for_each_call(const F& f) {
    f.template operator()<Kind::value>("value");
    f.template operator()<Kind::jvp>("jvp");
    f.template operator()<Kind::vjp>("vjp");
    f.template operator()<Kind::hvp>("hvp");
    f.template operator()<Kind::jvp2>("jvp2");
}

// Throws a ValueError for a name that is none of them.
template <class Kind>
Kind kind_of(const std::string& name) {
    std::optional<Kind> found;
    for_each_call<Kind>([&]<Kind kind>(const std::string& known) {
        if (name == known) found = kind;
    });
    if (!found) refuse("kind: '" + name + "' is none of value, jvp, vjp, hvp, jvp2");
    return *found;
}

}  // namespace hindcast::python
