#include "app/session/shapes/shapes_obstacles.hpp"

#include <algorithm>

namespace hindcast::session {

namespace {

using document::Node;
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

Node named(const ShapeSite& site, const char* type) {
    return Node::object({{"type", type}, {"name", site.name}});
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
        Node object = named(site, "plane");
        object.set("normal", site.vector(0, 0, 1));
        object.set("offset", tidy(height));
        finish(site, std::move(object));
    };
    return row;
}

ShapeRow ball() {
    ShapeRow row = obstacle({"sphere",
                             "Sphere",
                             "A ball that things fall on; in the plane a disc",
                             Section::colliders,
                             "sphere",
                             {length("radius", "Radius", 0.3)}});
    row.steps = Steps::any;
    row.size = [](const ShapeNumbers& n) {
        return Place{2 * n["radius"], 2 * n["radius"], 2 * n["radius"]};
    };
    row.make = [](const ShapeSite& site) {
        const double r = site.number["radius"];
        Node object = named(site, "sphere");
        object.set("center", site.at(r, r, r));
        object.set("radius", tidy(r));
        finish(site, std::move(object));
    };
    return row;
}

ShapeRow box() {
    ShapeRow row =
        obstacle({"box",
                  "Box",
                  "A box with flat sides; in the plane a rectangle",
                  Section::colliders,
                  "box",
                  {length("size_x", "Length along x", 0.6), length("size_y", "Length along y", 0.6),
                   length("size_up", "Height", 0.3)}});
    row.size = [](const ShapeNumbers& n) { return Place{n["size_x"], n["size_y"], n["size_up"]}; };
    row.make = [](const ShapeSite& site) {
        const double x = site.number["size_x"] / 2, y = site.number["size_y"] / 2,
                     up = site.number["size_up"] / 2;
        Node object = named(site, "box");
        object.set("center", site.at(x, y, up));
        object.set("half_extents", site.vector(x, y, up));
        finish(site, std::move(object));
    };
    return row;
}

// A capsule lies along x, so that it does not fall; so does a cylinder.
ShapeRow round(const char* id, const char* label, const char* help, bool in_plane) {
    ShapeRow row = obstacle(
        {id,
         label,
         help,
         Section::colliders,
         id,
         {length("length", "Length", 0.8, "From end to end"), length("radius", "Radius", 0.15)}});
    const bool capped = std::string(id) == "capsule";
    row.in_plane = in_plane;
    row.size = [](const ShapeNumbers& n) {
        return Place{n["length"], 2 * n["radius"], 2 * n["radius"]};
    };
    row.make = [id, capped](const ShapeSite& site) {
        const double r = site.number["radius"], l = site.number["length"];
        const double cap = capped ? std::min(r, 0.49 * l) : 0;
        Node object = named(site, id);
        object.set("start", site.at(cap, r, r));
        object.set("end", site.at(l - cap, r, r));
        object.set("radius", tidy(r));
        finish(site, std::move(object));
    };
    return row;
}

}  // namespace

std::vector<ShapeRow> obstacle_rows() {
    std::vector<ShapeRow> rows;
    rows.push_back(ground());
    rows.push_back(ball());
    rows.push_back(box());
    rows.push_back(round("capsule", "Capsule", "A bar with round ends, along x", true));
    rows.push_back(round("cylinder", "Cylinder", "A bar with flat ends, along x", false));
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
