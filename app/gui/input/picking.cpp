#include "app/gui/input/picking.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hindcast::gui {

namespace {

using render::Element;
using render::ElementKind;
using render::Stage;
using render::Thing;

const Thing* thing_of(const Stage& stage, int number) {
    return number < 0 || static_cast<std::size_t>(number) >= stage.things.size()
               ? nullptr
               : &stage.things[static_cast<std::size_t>(number)];
}

// How many parts a thing has; of cells, up to the last one that is seen.
std::int64_t count_of(const Thing& thing) {
    switch (render::elements_of(thing.kind)) {
        case ElementKind::point: return thing.count;
        case ElementKind::segment: return static_cast<std::int64_t>(thing.indices.size() / 2);
        case ElementKind::node: return thing.rows * thing.columns;
        case ElementKind::cell: {
            std::int64_t count = 0;
            for (std::size_t t = 0; t < thing.indices.size() / 3; ++t)
                count = std::max(count, static_cast<std::int64_t>(thing.cell_of(t)) + 1);
            return count;
        }
        case ElementKind::marker:
        case ElementKind::none: break;
    }
    return 0;
}

}  // namespace

Picked picked_of(const Stage& stage, const render::Pick& pick) {
    const Thing* const thing = thing_of(stage, pick.thing);
    if (thing == nullptr) return {};
    if (thing->kind != Thing::Kind::arrows) return {thing->name, pick.element};
    const std::int64_t point = thing->first + pick.element.number;
    for (const Thing& body : stage.things)
        if (body.kind == Thing::Kind::points && !body.ghost && point >= body.first &&
            point < body.first + body.count)
            return {body.name, {ElementKind::point, point - body.first}};
    // Bodies without balls are known by their surfaces.
    for (const Thing& body : stage.things)
        if (body.kind == Thing::Kind::surface && !body.ghost &&
            std::ranges::find(body.indices, static_cast<std::uint32_t>(point)) !=
                body.indices.end())
            return {body.name, {}};
    return {};
}

std::vector<std::int64_t> scene_points(const Stage& stage, const render::Pick& pick) {
    std::vector<std::int64_t> points;
    const Thing* const thing = thing_of(stage, pick.thing);
    if (thing == nullptr || pick.element.number < 0) return points;
    const auto number = static_cast<std::size_t>(pick.element.number);
    if (thing->kind == Thing::Kind::points) {
        points.push_back(thing->first + pick.element.number);
    } else if (thing->kind == Thing::Kind::segments && 2 * number + 1 < thing->indices.size()) {
        points = {thing->indices[2 * number], thing->indices[2 * number + 1]};
    } else if (thing->kind == Thing::Kind::surface) {
        for (std::size_t k = 0; k < thing->indices.size(); ++k)
            if (thing->cell_of(k / 3) == number) points.push_back(thing->indices[k]);
    }
    return points;
}

std::int64_t selected_row(const Stage* stage, const std::string& name, const Element& part,
                          std::int64_t rows) {
    if (stage == nullptr || part.number < 0 || part.number >= rows) return -1;
    if (part.kind == ElementKind::marker) return part.number;  // a row for each place
    for (const Thing& thing : stage->things)
        if (!thing.ghost && thing.name == name && render::elements_of(thing.kind) == part.kind &&
            count_of(thing) == rows)
            return part.number;
    return -1;
}

std::string element_text(const Element& part) {
    if (part.number < 0) return "";
    const char* kind = "element";
    if (part.kind == ElementKind::point) kind = "point";
    if (part.kind == ElementKind::segment) kind = "line";
    if (part.kind == ElementKind::node) kind = "node";
    if (part.kind == ElementKind::marker) kind = "place";
    return fmt::format("{} {}", kind, part.number);
}

}  // namespace hindcast::gui
