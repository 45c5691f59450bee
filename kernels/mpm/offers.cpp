#include "kernels/mpm/offers.hpp"

#include <algorithm>
#include <cmath>

#include "engine/document/read.hpp"
#include "kernels/particles/offers.hpp"

namespace hindcast::offers {

using namespace model;
using document::Node;

namespace {

// The grid that material points meet on has two nodes to a distance of points, and room around the
// block: its walls are three nodes wide. One that is there is made larger, by whole nodes.
void cover(const OfferSite& site) {
    const double spacing = 2 * site.number["spacing"];
    Node* grid = nullptr;
    Node* const forces = site.document.root().find("forces");
    for (std::size_t k = 0; forces != nullptr && k < forces->size(); ++k)
        if (const Node* const type = forces->item(k).find("type");
            type != nullptr && type->is_string() && type->string() == "mpm_grid")
            grid = &forces->item(k);
    if (grid == nullptr) {
        Node nodes = Node::array(), origin = Node::array();
        for (const std::size_t axis : {0UL, 1UL}) {
            // The block's own size to either side, and above it once more.
            const double room = std::max(site.size[axis == 0 ? 0 : 2], 8 * spacing);
            const double low = site.low[axis] - (axis == 0 ? room : room / 2) - 5 * spacing;
            const double high = site.low[axis] + site.size[axis == 0 ? 0 : 2] + room + 5 * spacing;
            origin.push_back(tidy(low));
            nodes.push_back(Node(static_cast<std::int64_t>(std::ceil((high - low) / spacing)) + 1));
        }
        site.add(Section::forces, Node::object({{"type", "mpm_grid"},
                                                {"name", site.free_name("background")},
                                                {"nodes", std::move(nodes)},
                                                {"spacing", tidy(spacing)},
                                                {"origin", std::move(origin)}}));
        return;
    }
    const double h = document::number_of(*grid->find("spacing"));
    Node* nodes = grid->find("nodes");
    const Node* const old = grid->find("origin");
    Node origin = Node::array();
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const double from = old != nullptr && old->is_array() && old->size() == 2
                                ? document::number_of(old->item(axis))
                                : 0.0;
        const double low = site.low[axis] - 5 * h,
                     high = site.low[axis] + site.size[axis == 0 ? 0 : 2] + 5 * h;
        const auto before = static_cast<std::int64_t>(std::ceil(std::max(from - low, 0.0) / h));
        const std::int64_t count = nodes->item(axis).integer() + before;
        const double start = from - static_cast<double>(before) * h;
        const auto least = static_cast<std::int64_t>(std::ceil((high - start) / h)) + 1;
        origin.push_back(tidy(start));
        nodes->item(axis) = Node(std::max(count, least));
    }
    grid->set("origin", std::move(origin));
}

Offer material() {
    Offer row{"material",
              "Block of material points",
              "Soft matter that may flow together with other blocks",
              Section::bodies,
              "material_points",
              {offer_whole("count_x", "Points along x", 24, 2),
               offer_whole("count_up", "Points upwards", 24, 2),
               offer_length("spacing", "Spacing", 0.0125),
               offer_number("density", "Density", "kg/m^2", 1000, "Mass per area of the plane"),
               young_modulus(2e4)}};
    row.rank = 110;
    row.needs = {{Section::forces, "mpm_grid"}};
    row.in_space = false;
    row.above = 0.1;
    row.count = [](const ChosenNumbers& n, int) {
        return OfferCount{n.whole("count_x") * n.whole("count_up"), 0, ""};
    };
    row.size = [](const ChosenNumbers& n) {
        return Place{(n["count_x"] - 1) * n["spacing"], 0, (n["count_up"] - 1) * n["spacing"]};
    };
    row.make = [](const OfferSite& site) {
        const ChosenNumbers& n = site.number;
        const double h = n["spacing"];
        site.add(Section::bodies,
                 Node::object(
                     {{"type", "material_points"},
                      {"name", site.name},
                      {"positions", offered_grid(site, {n.whole("count_x"), n.whole("count_up")})},
                      {"mass", tidy(n["density"] * h * h)},
                      {"volume", tidy(h * h)},
                      {"young_modulus", tidy(n["young_modulus"])},
                      {"poisson_ratio", Node(0.3)}}));
        cover(site);
        site.needs_step(0.2 * 2 * h / std::sqrt(1.35 * n["young_modulus"] / n["density"]));
    };
    return row;
}

}  // namespace

}  // namespace hindcast::offers

namespace hindcast {

void offer_mpm(Registry& registry) { registry.offer(offers::material()); }

}  // namespace hindcast
