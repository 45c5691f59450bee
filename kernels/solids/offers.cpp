#include "kernels/solids/offers.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/particles/offers.hpp"

namespace hindcast::offers {

using namespace model;
using document::Node;

namespace {

// The speed of sound in it times this is how far a step may look.
double solid_step(double cell, double density, double young) {
    return 0.1 * cell / std::sqrt(1.35 * young / density);
}

Node solid(const OfferSite& site, Node mesh) {
    Node body = Node::object({{"type", "solid"},
                              {"name", site.name},
                              {"mesh", std::move(mesh)},
                              {"material", "stable_neo_hookean"},
                              {"density", tidy(site.number["density"])},
                              {"young_modulus", tidy(site.number["young_modulus"])},
                              {"poisson_ratio", Node(0.3)}});
    set_damping(site, body, 0, 0.01);
    return body;
}

OfferNumber density() {
    return offer_number("density", "Density", "kg/m^3", 1000, "Water and rubber: about 1000");
}

Offer block() {
    Offer row{
        "block",
        "Elastic block",
        "A box of tetrahedra, in the plane a rectangle of triangles",
        Section::bodies,
        "solid",
        {offer_length("size_x", "Length along x", 0.4),
         offer_length("size_y", "Length along y", 0.4), offer_length("size_up", "Height", 0.4),
         offer_whole("cells_x", "Cells along x", 4, 1, 200),
         offer_whole("cells_y", "Cells along y", 4, 1, 200),
         offer_whole("cells_up", "Cells upwards", 4, 1, 200), density(), young_modulus(1e5)}};
    row.rank = 60;
    row.steps = Steps::elastic;
    row.above = 0.1;
    row.count = [](const ChosenNumbers& n, int dimension) {
        const std::int64_t x = n.whole("cells_x"), y = n.whole("cells_y"), up = n.whole("cells_up");
        if (dimension == 2) return OfferCount{(x + 1) * (up + 1), 2 * x * up, "triangles"};
        return OfferCount{(x + 1) * (y + 1) * (up + 1), 6 * x * y * up, "tetrahedra"};
    };
    row.size = [](const ChosenNumbers& n) { return Place{n["size_x"], n["size_y"], n["size_up"]}; };
    row.make = [](const OfferSite& site) {
        const ChosenNumbers& n = site.number;
        Node cells = site.vector(n["cells_x"], n["cells_y"], n["cells_up"]);
        Node box = Node::object({{"min", site.at(0, 0, 0)},
                                 {"max", site.at(n["size_x"], n["size_y"], n["size_up"])},
                                 {"cells", std::move(cells)}});
        const double cell = std::min(
            {n["size_x"] / n["cells_x"], n["size_y"] / n["cells_y"], n["size_up"] / n["cells_up"]});
        site.needs_step(solid_step(cell, n["density"], n["young_modulus"]));
        site.add(Section::bodies, solid(site, Node::object({{"box", std::move(box)}})));
    };
    return row;
}

Offer beam() {
    Offer row{
        "beam",
        "Beam",
        "A long elastic box that is clamped at one end",
        Section::bodies,
        "solid",
        {offer_length("length", "Length", 1), offer_length("thickness", "Thickness", 0.1),
         offer_whole("cells", "Cells along it", 10, 1, 500),
         offer_whole("cells_across", "Cells across", 2, 1, 50), density(), young_modulus(5e5)}};
    row.rank = 70;
    row.steps = Steps::elastic;
    row.count = [](const ChosenNumbers& n, int dimension) {
        const std::int64_t x = n.whole("cells"), y = n.whole("cells_across");
        if (dimension == 2) return OfferCount{(x + 1) * (y + 1), 2 * x * y, "triangles"};
        return OfferCount{(x + 1) * (y + 1) * (y + 1), 6 * x * y * y, "tetrahedra"};
    };
    // With the room in which it bends down.
    row.size = [](const ChosenNumbers& n) {
        return Place{n["length"], n["thickness"], n["thickness"] + 0.75 * n["length"]};
    };
    row.make = [](const OfferSite& site) {
        const ChosenNumbers& n = site.number;
        const double t = n["thickness"], low = site.size[2] - t;
        Node cells = site.vector(n["cells"], n["cells_across"], n["cells_across"]);
        Node box = Node::object({{"min", site.at(0, 0, low)},
                                 {"max", site.at(n["length"], t, low + t)},
                                 {"cells", std::move(cells)}});
        Node body = solid(site, Node::object({{"box", std::move(box)}}));
        const double edge = 0.01 * n["length"] / n["cells"];
        Node held = Node::object({{"min", site.at(-edge, -edge, low - edge)},
                                  {"max", site.at(edge, t + edge, low + t + edge)}});
        body.set("fixed", Node::object({{"box", std::move(held)}}));
        const double cell = std::min(n["length"] / n["cells"], t / n["cells_across"]);
        site.needs_step(solid_step(cell, n["density"], n["young_modulus"]));
        site.add(Section::bodies, std::move(body));
    };
    return row;
}

Offer solid_from_file() {
    Offer row{"solid_file",
              "Elastic body from a file...",
              "A body with the tetrahedra of a file, in the plane its triangles, where the file "
              "has it",
              Section::bodies,
              "solid",
              {offer_number("scale", "Meters per unit", "m", 1, "1e-3 for a file in millimeters"),
               density(), young_modulus(1e5)},
              {".msh", ".vtk", ".vtu"}};
    row.rank = 100;
    row.steps = Steps::elastic;
    row.make = [](const OfferSite& site) {
        site.add(Section::bodies,
                 solid(site,
                       Node::object({{"file", site.file}, {"scale", tidy(site.number["scale"])}})));
    };
    return row;
}

}  // namespace

}  // namespace hindcast::offers

namespace hindcast {

void offer_solids(Registry& registry) {
    registry.offer(offers::block());
    registry.offer(offers::beam());
    registry.offer(offers::solid_from_file());
}

}  // namespace hindcast
