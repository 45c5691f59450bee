#include "kernels/colliders/offers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/geometry/kinds/row.hpp"
#include "engine/model/offers/offer.hpp"

namespace hindcast::offers {

using namespace model;
using document::Node;
using geometry::KindRow;
using geometry::PlacedBy;

namespace {

constexpr double barrier_stiffness = 2000;  // N/m
constexpr double barrier_distance = 0.01;   // m

OfferNumber friction() {
    return {"friction", "Friction", "", "Coulomb's coefficient; 0: none", 0.3, 0, 100, false};
}

Offer obstacle(const KindRow& kind, std::string id, std::string label, std::string help,
               std::vector<OfferNumber> numbers) {
    Offer row{std::move(id),      std::move(label),       std::move(help),
              Section::colliders, std::string(kind.name), std::move(numbers)};
    row.numbers.push_back(friction());
    row.rank = 200;
    row.steps = Steps::barrier;
    row.aside = Aside::beside;
    row.above = 0;
    row.count = [](const ChosenNumbers&, int) { return OfferCount{}; };
    row.size = [](const ChosenNumbers&) { return Place{}; };
    return row;
}

// A row whose identifier, label and type in scenes are those of the kind.
Offer of_kind(const KindRow& kind, const std::string& help, std::vector<OfferNumber> numbers) {
    Offer row =
        obstacle(kind, std::string(kind.name), std::string(kind.title), help, std::move(numbers));
    row.in_plane = kind.in_plane;
    return row;
}

Node named(const OfferSite& site, const KindRow& kind) {
    return Node::object({{"type", std::string(kind.name)}, {"name", site.name}});
}

void set_response(Node& object, bool implicit, double friction) {
    if (implicit) {
        object.set("response", Node("barrier"));
        object.set("stiffness", Node(barrier_stiffness));
        object.set("distance", Node(barrier_distance));
    }
    if (friction > 0) object.set("friction", tidy(friction));
}

void finish(const OfferSite& site, Node object) {
    set_response(object, site.implicit, site.number["friction"]);
    site.add(Section::colliders, std::move(object));
}

// Below everything, at a round height: 0 where there is nothing lower.
Offer ground() {
    const KindRow& plane = geometry::row(geometry::ShapeKind::plane);
    Offer row = obstacle(plane, "ground", "Ground", "A plane below everything that is there", {});
    row.steps = Steps::any;
    row.make = [&plane](const OfferSite& site) {
        double height = 0;
        for (const Room::Box& box : site.room.taken)
            height = std::min(height, box.low[site.room.up] - 2 * barrier_distance);
        Node object = named(site, plane);
        object.set("normal", site.vector(0, 0, 1));
        object.set("offset", tidy(height));
        finish(site, std::move(object));
    };
    return row;
}

Offer ball(const KindRow& kind) {
    Offer row = of_kind(kind, "A ball that things fall on; in the plane a disc",
                        {offer_length("radius", "Radius", 0.3)});
    row.steps = Steps::any;
    row.size = [](const ChosenNumbers& n) {
        return Place{2 * n["radius"], 2 * n["radius"], 2 * n["radius"]};
    };
    row.make = [&kind](const OfferSite& site) {
        const double r = site.number["radius"];
        Node object = named(site, kind);
        object.set("center", site.at(r, r, r));
        object.set("radius", tidy(r));
        finish(site, std::move(object));
    };
    return row;
}

Offer box(const KindRow& kind) {
    Offer row = of_kind(
        kind, "A box with flat sides; in the plane a rectangle",
        {offer_length("size_x", "Length along x", 0.6),
         offer_length("size_y", "Length along y", 0.6), offer_length("size_up", "Height", 0.3)});
    row.size = [](const ChosenNumbers& n) { return Place{n["size_x"], n["size_y"], n["size_up"]}; };
    row.make = [&kind](const OfferSite& site) {
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
Offer around_axis(const KindRow& kind) {
    const bool stands = kind.widest < 0;
    Offer row = of_kind(kind, fmt::format("A {}{}", kind.looks, stands ? "" : ", along x"),
                        {stands ? offer_length("length", "Height", 0.4)
                                : offer_length("length", "Length", 0.8, "From end to end"),
                         offer_length("radius", "Radius", 0.15)});
    row.size = [stands](const ChosenNumbers& n) {
        const double d = 2 * n["radius"];
        return stands ? Place{d, d, n["length"]} : Place{n["length"], d, d};
    };
    row.make = [&kind, stands](const OfferSite& site) {
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

std::vector<Offer> obstacle_rows() {
    std::vector<Offer> rows;
    rows.push_back(ground());
    rows.push_back(ball(geometry::row(geometry::ShapeKind::sphere)));
    for (const KindRow& kind : geometry::kind_rows()) {
        if (kind.placed_by == PlacedBy::center_and_half_extents) rows.push_back(box(kind));
        if (kind.placed_by == PlacedBy::ends) rows.push_back(around_axis(kind));
    }
    return rows;
}

}  // namespace

}  // namespace hindcast::offers

namespace hindcast {

void offer_obstacles(Registry& registry) {
    for (model::Offer& row : offers::obstacle_rows()) registry.offer(std::move(row));
}

void make_barrier(document::Node& obstacle) {
    using document::Node;
    const Node* const response = obstacle.find("response");
    if (response != nullptr && response->is_string() && response->string() == "barrier") return;
    for (const char* key : {"restitution", "rest_speed", "damping", "slip_speed", "stiffness"})
        obstacle.erase(key);
    offers::set_response(obstacle, true, 0);
}

}  // namespace hindcast
