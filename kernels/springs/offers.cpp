#include "kernels/springs/offers.hpp"

#include <cmath>

#include "kernels/particles/offers.hpp"

namespace hindcast::offers {

using namespace model;
using document::Node;

namespace {

OfferNumber spring_stiffness(double value) {
    return offer_number("stiffness", "Stiffness", "N/m", value, "Of each spring");
}

// Springs with a hundredth of the damping that stops them from swinging, and explicit steps that
// follow the fastest of them: omega = 2 sqrt(k/m), stable below 2/omega, times 0.4.
Node springs(const OfferSite& site, Node connect, const char* name) {
    const double k = site.number["stiffness"], m = site.number["mass"];
    site.needs_step(0.3 * std::sqrt(m / k));
    return Node::object({{"type", "springs"},
                         {"name", site.free_name(name)},
                         {"connect", std::move(connect)},
                         {"stiffness", tidy(k)},
                         {"damping", tidy(0.05 * std::sqrt(k * m))}});
}

Offer chain() {
    Offer row{"chain",
              "Chain",
              "Points in a row with springs between them; the first one is fixed, so that it "
              "hangs",
              Section::bodies,
              "particles",
              {offer_whole("points", "Points", 20, 2), offer_length("spacing", "Spacing", 0.05),
               point_mass(0.02), spring_stiffness(500)}};
    row.rank = 20;
    row.needs = {{Section::forces, "springs"}};
    row.count = [](const ChosenNumbers& n, int) {
        return OfferCount{n.whole("points"), n.whole("points") - 1, "springs"};
    };
    const auto long_is = [](const ChosenNumbers& n) { return (n["points"] - 1) * n["spacing"]; };
    // With the room in which it swings down, and stretches.
    row.size = [long_is](const ChosenNumbers& n) { return Place{long_is(n), 0, 1.1 * long_is(n)}; };
    row.make = [](const OfferSite& site) {
        Node places = Node::array();
        for (std::int64_t k = 0; k < site.number.whole("points"); ++k)
            places.push_back(
                site.at(static_cast<double>(k) * site.number["spacing"], 0, site.size[2]));
        Node body = offered_points(site, std::move(places));
        body.set("fixed", Node::array({Node(0)}));
        site.add(Section::bodies, std::move(body));
        site.add(Section::forces, springs(site, Node::object({{"chain", site.name}}), "links"));
    };
    return row;
}

Offer net() {
    Offer row{"net",
              "Net of springs",
              "A flat grid of points with springs along it and across its meshes",
              Section::bodies,
              "particles",
              {offer_whole("count_x", "Points along x", 16, 2),
               offer_whole("count_y", "Points along y", 16, 2),
               offer_length("spacing", "Spacing", 0.06), point_mass(0.01), spring_stiffness(100)}};
    row.rank = 40;
    row.needs = {{Section::forces, "springs"}};
    row.in_plane = false;
    row.above = 0.1;
    row.count = [](const ChosenNumbers& n, int) {
        const std::int64_t x = n.whole("count_x"), y = n.whole("count_y");
        return OfferCount{x * y, (x - 1) * y + x * (y - 1) + 2 * (x - 1) * (y - 1), "springs"};
    };
    row.size = [](const ChosenNumbers& n) {
        return Place{(n["count_x"] - 1) * n["spacing"], (n["count_y"] - 1) * n["spacing"], 0};
    };
    row.make = [](const OfferSite& site) {
        const std::int64_t x = site.number.whole("count_x"), y = site.number.whole("count_y");
        site.add(Section::bodies, offered_points(site, offered_grid(site, {x, y, 1})));
        Node connect = Node::object({{"grid", site.name},
                                     {"counts", Node::array({Node(x), Node(y)})},
                                     {"patterns", Node::array({"structural", "shear"})}});
        site.needs_step(0.15 * std::sqrt(site.number["mass"] / site.number["stiffness"]));
        site.add(Section::forces, springs(site, std::move(connect), "threads"));
    };
    return row;
}

}  // namespace

}  // namespace hindcast::offers

namespace hindcast {

void offer_springs(Registry& registry) {
    registry.offer(offers::chain());
    registry.offer(offers::net());
}

}  // namespace hindcast
