// The kinds of shapes that can touch each other, and the narrow phase of each pair.
#pragma once

#include <optional>

#include "engine/geometry/contact.hpp"
#include "engine/geometry/kinds/shape_kind.hpp"

namespace hindcast::geometry {

// Contacts farther apart than `reach`, m, may be left out.
using Collide = Contacts (*)(const Shape& first, const Shape& second, const Float& reach);

// The most contacts of a shape and a height field, as in MuJoCo.
inline constexpr int height_field_slots = 50;

struct Pair {
    int slots;       // contacts, at most
    Collide closed;  // their closed form; null: a hull on a plane, or the search of convex/
    bool searched;   // by convex/; for a height field, prism by prism
    bool in_order;   // contacts come in MuJoCo's order
};

// The lower kind comes first; none if these kinds do not touch.
std::optional<Pair> pair_of(ShapeKind first, ShapeKind second);

}  // namespace hindcast::geometry
