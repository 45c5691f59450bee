#include "kernels/particles/offers.hpp"

namespace hindcast::offers {

using namespace model;
using document::Node;

OfferNumber point_mass(double value) {
    return offer_number("mass", "Mass of a point", "kg", value, "Of each point");
}

OfferNumber young_modulus(double value) {
    return offer_number("young_modulus", "Young's modulus", "Pa", value,
                        "How stiff: rubber about 1e6, jelly 1e4");
}

Node offered_points(const OfferSite& site, Node positions) {
    return Node::object({{"type", "particles"},
                         {"name", site.name},
                         {"positions", std::move(positions)},
                         {"mass", tidy(site.number["mass"])}});
}

Node offered_grid(const OfferSite& site, std::initializer_list<std::int64_t> counts) {
    Node list = Node::array();
    for (const std::int64_t count : counts) list.push_back(Node(count));
    if (site.room.up == 1 && counts.size() == 3) {  // y is up: along x, up, along z
        Node turned = Node::array({list.item(0), list.item(2), list.item(1)});
        list = std::move(turned);
    }
    return Node::object({{"grid", Node::object({{"counts", std::move(list)},
                                                {"spacing", tidy(site.number["spacing"])},
                                                {"origin", site.at(0, 0, 0)}})}});
}

// Elastic bodies come to rest, with implicit steps.
void set_damping(const OfferSite& site, Node& body, double mass_damping, double stiffness_damping) {
    if (!site.implicit) return;
    body.set("mass_damping", Node(mass_damping));
    body.set("stiffness_damping", Node(stiffness_damping));
}

namespace {

Offer point() {
    Offer row{"point", "Point", "One point mass", Section::bodies, "particles", {point_mass(1)}};
    row.rank = 10;
    row.above = 0.5;
    row.count = [](const ChosenNumbers&, int) { return OfferCount{1, 0, ""}; };
    row.size = [](const ChosenNumbers&) { return Place{}; };
    row.make = [](const OfferSite& site) {
        site.add(Section::bodies, offered_points(site, Node::array({site.at(0, 0, 0)})));
    };
    return row;
}

Offer cloud() {
    Offer row{
        "grid",
        "Grid of points",
        "Points at the nodes of a grid, with nothing between them",
        Section::bodies,
        "particles",
        {offer_whole("count_x", "Points along x", 8), offer_whole("count_y", "Points along y", 8),
         offer_whole("count_up", "Points upwards", 8), offer_length("spacing", "Spacing", 0.1),
         point_mass(0.1)}};
    row.rank = 30;
    row.count = [](const ChosenNumbers& n, int dimension) {
        return OfferCount{
            n.whole("count_x") * (dimension == 2 ? 1 : n.whole("count_y")) * n.whole("count_up"), 0,
            ""};
    };
    row.size = [](const ChosenNumbers& n) {
        const double h = n["spacing"];
        return Place{(n["count_x"] - 1) * h, (n["count_y"] - 1) * h, (n["count_up"] - 1) * h};
    };
    row.make = [](const OfferSite& site) {
        const std::int64_t x = site.number.whole("count_x"), y = site.number.whole("count_y"),
                           up = site.number.whole("count_up");
        site.add(Section::bodies,
                 offered_points(site, site.room.dimension == 2 ? offered_grid(site, {x, up})
                                                               : offered_grid(site, {x, y, up})));
    };
    return row;
}

}  // namespace

}  // namespace hindcast::offers

namespace hindcast {

void offer_particles(Registry& registry) {
    registry.offer(offers::point());
    registry.offer(offers::cloud());
}

}  // namespace hindcast
