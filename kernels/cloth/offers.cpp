#include "kernels/cloth/offers.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/particles/offers.hpp"

namespace hindcast::offers {

using namespace model;
using document::Node;

namespace {

void set_cloth(const OfferSite& site, Node& body) {
    body.set("area_density", tidy(site.number["area_density"]));
    body.set("warp_stiffness", tidy(site.number["stiffness"]));
    body.set("bending_stiffness", Node(1e-3));
    set_damping(site, body, 2, 0.02);
}

Offer cloth() {
    Offer row{
        "cloth",
        "Cloth",
        "A sheet that stretches, shears and bends",
        Section::bodies,
        "cloth",
        {offer_length("size_x", "Length along x", 1), offer_length("size_y", "Length along y", 1),
         offer_whole("cells_x", "Cells along x", 12, 1, 500),
         offer_whole("cells_y", "Cells along y", 12, 1, 500),
         offer_number("area_density", "Mass per area", "kg/m^2", 0.3, "Cotton: about 0.2"),
         offer_number("stiffness", "Stiffness", "N/m", 60,
                      "Against stretch: Young's modulus times thickness")}};
    row.rank = 50;
    row.in_plane = false;
    row.steps = Steps::elastic;
    row.above = 0.05;
    row.count = [](const ChosenNumbers& n, int) {
        const std::int64_t x = n.whole("cells_x"), y = n.whole("cells_y");
        return OfferCount{(x + 1) * (y + 1), 2 * x * y, "triangles"};
    };
    row.size = [](const ChosenNumbers& n) { return Place{n["size_x"], n["size_y"], 0}; };
    row.make = [](const OfferSite& site) {
        const ChosenNumbers& n = site.number;
        const std::int64_t x = n.whole("cells_x"), y = n.whole("cells_y");
        Node mesh = Node::object({{"origin", site.at(0, 0, 0)},
                                  {"warp", site.vector(n["size_x"], 0, 0)},
                                  {"weft", site.vector(0, n["size_y"], 0)},
                                  {"cells", Node::array({Node(x), Node(y)})}});
        Node body = Node::object({{"type", "cloth"},
                                  {"name", site.name},
                                  {"mesh", Node::object({{"grid", std::move(mesh)}})}});
        set_cloth(site, body);
        const double a = n["size_x"] / n["cells_x"], b = n["size_y"] / n["cells_y"];
        site.needs_step(0.15 * std::min(a, b) * std::sqrt(n["area_density"] / n["stiffness"]));
        site.add(Section::bodies, std::move(body));
    };
    return row;
}

Offer cloth_from_file() {
    Offer row{"cloth_file",
              "Cloth from a file...",
              "A sheet with the triangles of a file, where the file has it",
              Section::bodies,
              "cloth",
              {offer_number("scale", "Meters per unit", "m", 1, "1e-3 for a file in millimeters"),
               offer_number("area_density", "Mass per area", "kg/m^2", 0.3, "Cotton: about 0.2"),
               offer_number("stiffness", "Stiffness", "N/m", 60,
                            "Against stretch: Young's modulus times thickness")},
              {".obj", ".ply", ".stl", ".gltf", ".glb", ".msh"}};
    row.rank = 90;
    row.in_plane = false;
    row.steps = Steps::elastic;
    row.make = [](const OfferSite& site) {
        Node body = Node::object(
            {{"type", "cloth"},
             {"name", site.name},
             {"mesh", Node::object({{"file", site.file}, {"scale", tidy(site.number["scale"])}})}});
        set_cloth(site, body);
        site.add(Section::bodies, std::move(body));
    };
    return row;
}

}  // namespace

}  // namespace hindcast::offers

namespace hindcast {

void offer_cloth(Registry& registry) {
    registry.offer(offers::cloth());
    registry.offer(offers::cloth_from_file());
}

}  // namespace hindcast
