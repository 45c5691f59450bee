#include "engine/geometry/pairs.hpp"

#include "engine/geometry/box_pairs.hpp"
#include "engine/geometry/kinds/row.hpp"
#include "engine/geometry/round_pairs.hpp"

namespace hindcast::geometry {

namespace {

struct ClosedForm {
    ShapeKind first, second;
    int slots;
    Collide collide;
};

const ClosedForm* closed_form(ShapeKind first, ShapeKind second) {
    using enum ShapeKind;
    static constexpr ClosedForm all[] = {
        {plane, sphere, 1, plane_sphere},
        {plane, capsule, 2, plane_capsule},
        {plane, ellipsoid, 1, plane_ellipsoid},
        {plane, cylinder, 4, plane_cylinder},
        {plane, box, 4, plane_box},
        {sphere, sphere, 1, sphere_sphere},
        {sphere, capsule, 1, sphere_capsule},
        {sphere, cylinder, 1, sphere_cylinder},
        {sphere, box, 1, sphere_box},
        {capsule, capsule, 2, capsule_capsule},
        {capsule, box, 2, capsule_box},
        {box, box, box_box_slots, box_box},
    };
    for (const ClosedForm& one : all)
        if (one.first == first && one.second == second) return &one;
    return nullptr;
}

// A smooth shape meets another one at a point, a segment along a part of it, faces in a polygon.
int searched_slots(Core first, Core second) {
    const auto any = [&](Core core) { return first == core || second == core; };
    if (any(Core::prism)) return height_field_slots;
    if (any(Core::point) || any(Core::ellipsoid)) return 1;
    return any(Core::segment) ? 2 : 4;
}

}  // namespace

std::optional<Pair> pair_of(ShapeKind first, ShapeKind second) {
    const Core one = row(first).core, two = row(second).core;
    const bool on_plane = first == ShapeKind::plane;
    if (const ClosedForm* const closed = closed_form(first, second))
        return Pair{closed->slots, closed->collide, false,
                    closed->slots == 1 || on_plane || one == Core::segment};
    if (on_plane && two == Core::hull) return Pair{4, nullptr, false, true};
    if (one == Core::none || two == Core::none || two == Core::prism) return std::nullopt;
    const int slots = searched_slots(one, two);
    return Pair{slots, nullptr, true, slots == 1};
}

}  // namespace hindcast::geometry
