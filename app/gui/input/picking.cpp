#include "app/gui/input/picking.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hindcast::gui {

namespace {

using render::Drawable;
using render::Element;
using render::ElementKind;
using render::Stage;

const Drawable* drawable_of(const Stage& stage, int number) {
    return number < 0 || static_cast<std::size_t>(number) >= stage.drawables.size()
               ? nullptr
               : &stage.drawables[static_cast<std::size_t>(number)];
}

// The number of parts of a drawable; cells are counted up to the last visible one.
std::int64_t count_of(const Drawable& drawable) {
    switch (render::elements_of(drawable.kind)) {
        case ElementKind::point: return drawable.count;
        case ElementKind::segment: return static_cast<std::int64_t>(drawable.indices.size() / 2);
        case ElementKind::node: return drawable.rows * drawable.columns;
        case ElementKind::cell: {
            std::int64_t count = 0;
            for (std::size_t t = 0; t < drawable.indices.size() / 3; ++t)
                count = std::max(count, static_cast<std::int64_t>(drawable.cell_of(t)) + 1);
            return count;
        }
        case ElementKind::marker:
        case ElementKind::none: break;
    }
    return 0;
}

}  // namespace

Picked picked_of(const Stage& stage, const render::Pick& pick) {
    const Drawable* const drawable = drawable_of(stage, pick.drawable);
    if (drawable == nullptr) return {};
    if (drawable->kind != Drawable::Kind::arrows) return {drawable->name, pick.element};
    // Arrows at places of their own, such as contact forces of a robot.
    const auto places = static_cast<std::size_t>(drawable->places);
    if (places < stage.channels.size() && stage.channels[places].name != "position")
        return {drawable->name, {}};
    const std::int64_t point = drawable->first + pick.element.number;
    for (const Drawable& body : stage.drawables)
        if (body.kind == Drawable::Kind::points && !body.ghost && point >= body.first &&
            point < body.first + body.count)
            return {body.name, {ElementKind::point, point - body.first}};
    // Bodies without balls are known by their surfaces.
    for (const Drawable& body : stage.drawables)
        if (body.kind == Drawable::Kind::surface && !body.ghost &&
            std::ranges::find(body.indices, static_cast<std::uint32_t>(point)) !=
                body.indices.end())
            return {body.name, {}};
    return {};
}

std::vector<std::int64_t> scene_points(const Stage& stage, const render::Pick& pick) {
    std::vector<std::int64_t> points;
    const Drawable* const drawable = drawable_of(stage, pick.drawable);
    if (drawable != nullptr && drawable->kind == Drawable::Kind::solid)
        points.assign(drawable->indices.begin(), drawable->indices.end());
    if (drawable == nullptr || pick.element.number < 0) return points;
    const auto number = static_cast<std::size_t>(pick.element.number);
    if (drawable->kind == Drawable::Kind::points) {
        points.push_back(drawable->first + pick.element.number);
    } else if (drawable->kind == Drawable::Kind::segments &&
               2 * number + 1 < drawable->indices.size()) {
        points = {drawable->indices[2 * number], drawable->indices[2 * number + 1]};
    } else if (drawable->kind == Drawable::Kind::surface) {
        for (std::size_t k = 0; k < drawable->indices.size(); ++k)
            if (drawable->cell_of(k / 3) == number) points.push_back(drawable->indices[k]);
    }
    return points;
}

std::int64_t selected_row(const Stage* stage, const std::string& name, const Element& part,
                          std::int64_t rows) {
    if (stage == nullptr || part.number < 0 || part.number >= rows) return -1;
    if (part.kind == ElementKind::marker) return part.number;  // a row for each place
    for (const Drawable& drawable : stage->drawables)
        if (!drawable.ghost && drawable.name == name &&
            render::elements_of(drawable.kind) == part.kind && count_of(drawable) == rows)
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
