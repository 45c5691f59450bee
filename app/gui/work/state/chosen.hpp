// The selected object of the scene, and the parts that were chosen in the picture.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "app/exchange/stage.hpp"
#include "app/session/making/parts.hpp"

namespace hindcast::gui {

struct Selection {
    std::string pointer;        // "/forces/0", "/optimizer", "": nothing
    std::int64_t element = -1;  // the picked element; -1: the whole object
    std::string field;          // the field to show in the scene's text, or empty
    render::ElementKind kind = render::ElementKind::none;  // what `element` counts

    render::Element part() const { return {kind, element}; }
};

struct Chosen {
    Selection object;
    session::Parts parts;
    session::WhereIs where_is;  // set by the view; throws Error if a place is not known

    void select(Selection selection) { object = std::move(selection); }
    // Selects nothing, for another scene.
    void clear() {
        object = {};
        parts = {};
    }
};

}  // namespace hindcast::gui
