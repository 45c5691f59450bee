#include "app/session/shapes/shapes_obstacles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/geometry/kinds/row.hpp"

namespace hindcast::session {

namespace {

using document::Node;
using geometry::KindRow;
using geometry::PlacedBy;
using model::Section;

constexpr double barrier_stiffness = 2000;  // N/m
constexpr double barrier_distance = 0.01;   // m

ShapeNumber length(const char* key, const char* label, double value, const char* help = "") {
    return {key, label, "m", help, value, 1e-3, 1e3, false};
}

ShapeNumber friction() {
    return {"friction", "Friction", "", "Coulomb's coefficient; 0: none", 0.3, 0, 100, false};
}

ShapeRow obstacle(Shape shape) {
    ShapeRow row;
    shape.section = Section::colliders;
    shape.numbers.push_back(friction());
    row.shape = std::move(shape);
    row.steps = Steps::barrier;
    row.aside = Aside::beside;
    row.above = 0;
    row.count = [](const ShapeNumbers&, int) { return ShapeCount{}; };
    row.size = [](const ShapeNumbers&) { return Place{}; };
    return row;
}

// A row whose identifier, label and type in scenes are those of the kind.
ShapeRow of_kind(const KindRow& kind, const std::string& help, std::vector<ShapeNumber> numbers) {
    const std::string name(kind.name);
    ShapeRow row = obstacle(
        {name, std::string(kind.title), help, Section::colliders, name, std::move(numbers)});
    row.in_plane = kind.in_plane;
    return row;
}

Node named(const ShapeSite& site, const KindRow& kind) {
    return Node::object({{"type", std::string(kind.name)}, {"name", site.name}});
}

void finish(const ShapeSite& site, Node object) {
    set_response(object, site.implicit, site.number["friction"]);
    site.add(Section::colliders, std::move(object));
}

// Below everything, at a round height: 0 where there is nothing lower.
ShapeRow ground() {
    ShapeRow row = obstacle({"ground",
                             "Ground",
                             "A plane below everything that is there",
                             Section::colliders,
                             "plane",
                             {}});
    row.steps = Steps::any;
    row.make = [](const ShapeSite& site) {
        double height = 0;
        for (const Room::Box& box : site.room.taken)
            height = std::min(height, box.low[site.room.up] - 2 * barrier_distance);
        Node object = named(site, geometry::row(geometry::ShapeKind::plane));
        object.set("normal", site.vector(0, 0, 1));
        object.set("offset", tidy(height));
        finish(site, std::move(object));
    };
    return row;
}

ShapeRow ball(const KindRow& kind) {
    ShapeRow row = of_kind(kind, "A ball that things fall on; in the plane a disc",
                           {length("radius", "Radius", 0.3)});
    row.steps = Steps::any;
    row.size = [](const ShapeNumbers& n) {
        return Place{2 * n["radius"], 2 * n["radius"], 2 * n["radius"]};
    };
    row.make = [&kind](const ShapeSite& site) {
        const double r = site.number["radius"];
        Node object = named(site, kind);
        object.set("center", site.at(r, r, r));
        object.set("radius", tidy(r));
        finish(site, std::move(object));
    };
    return row;
}

ShapeRow box(const KindRow& kind) {
    ShapeRow row =
        of_kind(kind, "A box with flat sides; in the plane a rectangle",
                {length("size_x", "Length along x", 0.6), length("size_y", "Length along y", 0.6),
                 length("size_up", "Height", 0.3)});
    row.size = [](const ShapeNumbers& n) { return Place{n["size_x"], n["size_y"], n["size_up"]}; };
    row.make = [&kind](const ShapeSite& site) {
        const double x = site.number["size_x"] / 2, y = site.number["size_y"] / 2,
                     up = site.number["size_up"] / 2;
        Node object = named(site, kind);
        object.set("center", site.at(x, y, up));
        object.set("half_extents", site.vector(x, y, up));
        finish(site, std::move(object));
    };
    return row;
}

// A bar lies along x. A shape that is wider at its start stands on it.
ShapeRow around_axis(const KindRow& kind) {
    const bool stands = kind.widest < 0;
    ShapeRow row = of_kind(kind, fmt::format("A {}{}", kind.looks, stands ? "" : ", along x"),
                           {stands ? length("length", "Height", 0.4)
                                   : length("length", "Length", 0.8, "From end to end"),
                            length("radius", "Radius", 0.15)});
    row.size = [stands](const ShapeNumbers& n) {
        const double d = 2 * n["radius"];
        return stands ? Place{d, d, n["length"]} : Place{n["length"], d, d};
    };
    row.make = [&kind, stands](const ShapeSite& site) {
        const double r = site.number["radius"], l = site.number["length"];
        const double cap = kind.round_ends ? std::min(r, 0.49 * l) : 0;
        Node object = named(site, kind);
        object.set("start", stands ? site.at(r, r, 0) : site.at(cap, r, r));
        object.set("end", stands ? site.at(r, r, l) : site.at(l - cap, r, r));
        object.set("radius", tidy(r));
        finish(site, std::move(object));
    };
    return row;
}

}  // namespace

std::vector<ShapeRow> obstacle_rows() {
    std::vector<ShapeRow> rows;
    rows.push_back(ground());
    rows.push_back(ball(geometry::row(geometry::ShapeKind::sphere)));
    for (const KindRow& kind : geometry::kind_rows()) {
        if (kind.placed_by == PlacedBy::centre_and_half_extents) rows.push_back(box(kind));
        if (kind.placed_by == PlacedBy::ends) rows.push_back(around_axis(kind));
    }
    return rows;
}

void set_response(Node& obstacle, bool implicit, double friction) {
    if (implicit) {
        obstacle.set("response", Node("barrier"));
        obstacle.set("stiffness", Node(barrier_stiffness));
        obstacle.set("distance", Node(barrier_distance));
    }
    if (friction > 0) obstacle.set("friction", tidy(friction));
}

void make_barriers(document::Document& document) {
    Node* const list = document.root().find("colliders");
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
        Node& obstacle = list->item(k);
        const Node* const type = obstacle.find("type");
        if (type == nullptr || !type->is_string() ||
            (type->string() != "plane" && type->string() != "sphere"))
            continue;
        const Node* const response = obstacle.find("response");
        if (response != nullptr && response->is_string() && response->string() == "barrier")
            continue;
        for (const char* key : {"restitution", "rest_speed", "damping", "slip_speed", "stiffness"})
            obstacle.erase(key);
        set_response(obstacle, true, 0);
    }
}

}  // namespace hindcast::session
