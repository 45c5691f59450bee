// The rows of bodies; those of obstacles are in shapes_obstacles.cpp.
#include "app/session/shapes/shapes_table.hpp"

#include <algorithm>
#include <cmath>

#include "app/session/shapes/shapes_obstacles.hpp"
#include "app/session/shapes/shapes_rigid.hpp"
#include "engine/document/read.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::session {

namespace {

using document::Node;
using model::Section;

ShapeNumber length(const char* key, const char* label, double value, double low = 1e-3,
                   double high = 1e3, const char* help = "") {
    return {key, label, "m", help, value, low, high, false};
}

ShapeNumber whole(const char* key, const char* label, double value, double low = 1,
                  double high = 1000, const char* help = "") {
    return {key, label, "", help, value, low, high, true};
}

ShapeNumber number(const char* key, const char* label, const char* unit, double value,
                   const char* help) {
    return {key, label, unit, help, value, 1e-9, 1e12, false};
}

ShapeNumber mass(double value) {
    return number("mass", "Mass of a point", "kg", value, "Of each point");
}
ShapeNumber spring_stiffness(double value) {
    return number("stiffness", "Stiffness", "N/m", value, "Of each spring");
}
ShapeNumber young_modulus(double value) {
    return number("young_modulus", "Young's modulus", "Pa", value,
                  "How stiff: rubber about 1e6, jelly 1e4");
}

// Springs with a hundredth of the damping that stops them from swinging, and explicit steps that
// follow the fastest of them: omega = 2 sqrt(k/m), stable below 2/omega, times 0.4.
Node springs(const ShapeSite& site, Node connect, const char* name) {
    const double k = site.number["stiffness"], m = site.number["mass"];
    site.needs_step(0.3 * std::sqrt(m / k));
    return Node::object({{"type", "springs"},
                         {"name", site.free_name(name)},
                         {"connect", std::move(connect)},
                         {"stiffness", tidy(k)},
                         {"damping", tidy(0.05 * std::sqrt(k * m))}});
}

Node particles(const ShapeSite& site, Node positions) {
    return Node::object({{"type", "particles"},
                         {"name", site.name},
                         {"positions", std::move(positions)},
                         {"mass", tidy(site.number["mass"])}});
}

Node grid(const ShapeSite& site, std::initializer_list<std::int64_t> counts) {
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
void set_damping(const ShapeSite& site, Node& body, double mass_damping, double stiffness_damping) {
    if (!site.implicit) return;
    body.set("mass_damping", Node(mass_damping));
    body.set("stiffness_damping", Node(stiffness_damping));
}

ShapeRow point() {
    ShapeRow row;
    row.shape = {"point", "Point", "One point mass", Section::bodies, "particles", {mass(1)}};
    row.above = 0.5;
    row.count = [](const ShapeNumbers&, int) { return ShapeCount{1, 0, ""}; };
    row.size = [](const ShapeNumbers&) { return Place{}; };
    row.make = [](const ShapeSite& site) {
        site.add(Section::bodies, particles(site, Node::array({site.at(0, 0, 0)})));
    };
    return row;
}

ShapeRow chain() {
    ShapeRow row;
    row.shape = {"chain",
                 "Chain",
                 "Points in a row with springs between them; the first one is fixed, so that it "
                 "hangs",
                 Section::bodies,
                 "particles",
                 {whole("points", "Points", 20, 2), length("spacing", "Spacing", 0.05), mass(0.02),
                  spring_stiffness(500)}};
    row.needs = {{Section::forces, "springs"}};
    row.count = [](const ShapeNumbers& n, int) {
        return ShapeCount{n.whole("points"), n.whole("points") - 1, "springs"};
    };
    const auto long_is = [](const ShapeNumbers& n) { return (n["points"] - 1) * n["spacing"]; };
    // With the room in which it swings down, and stretches.
    row.size = [long_is](const ShapeNumbers& n) { return Place{long_is(n), 0, 1.1 * long_is(n)}; };
    row.make = [](const ShapeSite& site) {
        Node places = Node::array();
        for (std::int64_t k = 0; k < site.number.whole("points"); ++k)
            places.push_back(
                site.at(static_cast<double>(k) * site.number["spacing"], 0, site.size[2]));
        Node body = particles(site, std::move(places));
        body.set("fixed", Node::array({Node(0)}));
        site.add(Section::bodies, std::move(body));
        site.add(Section::forces, springs(site, Node::object({{"chain", site.name}}), "links"));
    };
    return row;
}

ShapeRow cloud() {
    ShapeRow row;
    row.shape = {
        "grid",
        "Grid of points",
        "Points at the nodes of a grid, with nothing between them",
        Section::bodies,
        "particles",
        {whole("count_x", "Points along x", 8), whole("count_y", "Points along y", 8),
         whole("count_up", "Points upwards", 8), length("spacing", "Spacing", 0.1), mass(0.1)}};
    row.count = [](const ShapeNumbers& n, int dimension) {
        return ShapeCount{
            n.whole("count_x") * (dimension == 2 ? 1 : n.whole("count_y")) * n.whole("count_up"), 0,
            ""};
    };
    row.size = [](const ShapeNumbers& n) {
        const double h = n["spacing"];
        return Place{(n["count_x"] - 1) * h, (n["count_y"] - 1) * h, (n["count_up"] - 1) * h};
    };
    row.make = [](const ShapeSite& site) {
        const std::int64_t x = site.number.whole("count_x"), y = site.number.whole("count_y"),
                           up = site.number.whole("count_up");
        site.add(Section::bodies,
                 particles(site, site.room.dimension == 2 ? grid(site, {x, up})
                                                          : grid(site, {x, y, up})));
    };
    return row;
}

ShapeRow net() {
    ShapeRow row;
    row.shape = {
        "net",
        "Net of springs",
        "A flat grid of points with springs along it and across its meshes",
        Section::bodies,
        "particles",
        {whole("count_x", "Points along x", 16, 2), whole("count_y", "Points along y", 16, 2),
         length("spacing", "Spacing", 0.06), mass(0.01), spring_stiffness(100)}};
    row.needs = {{Section::forces, "springs"}};
    row.in_plane = false;
    row.above = 0.1;
    row.count = [](const ShapeNumbers& n, int) {
        const std::int64_t x = n.whole("count_x"), y = n.whole("count_y");
        return ShapeCount{x * y, (x - 1) * y + x * (y - 1) + 2 * (x - 1) * (y - 1), "springs"};
    };
    row.size = [](const ShapeNumbers& n) {
        return Place{(n["count_x"] - 1) * n["spacing"], (n["count_y"] - 1) * n["spacing"], 0};
    };
    row.make = [](const ShapeSite& site) {
        const std::int64_t x = site.number.whole("count_x"), y = site.number.whole("count_y");
        site.add(Section::bodies, particles(site, grid(site, {x, y, 1})));
        Node connect = Node::object({{"grid", site.name},
                                     {"counts", Node::array({Node(x), Node(y)})},
                                     {"patterns", Node::array({"structural", "shear"})}});
        site.needs_step(0.15 * std::sqrt(site.number["mass"] / site.number["stiffness"]));
        site.add(Section::forces, springs(site, std::move(connect), "threads"));
    };
    return row;
}

void set_cloth(const ShapeSite& site, Node& body) {
    body.set("area_density", tidy(site.number["area_density"]));
    body.set("warp_stiffness", tidy(site.number["stiffness"]));
    body.set("bending_stiffness", Node(1e-3));
    set_damping(site, body, 2, 0.02);
}

ShapeRow cloth() {
    ShapeRow row;
    row.shape = {"cloth",
                 "Cloth",
                 "A sheet that stretches, shears and bends",
                 Section::bodies,
                 "cloth",
                 {length("size_x", "Length along x", 1), length("size_y", "Length along y", 1),
                  whole("cells_x", "Cells along x", 12, 1, 500),
                  whole("cells_y", "Cells along y", 12, 1, 500),
                  number("area_density", "Mass per area", "kg/m^2", 0.3, "Cotton: about 0.2"),
                  number("stiffness", "Stiffness", "N/m", 60,
                         "Against stretch: Young's modulus times thickness")}};
    row.in_plane = false;
    row.steps = Steps::elastic;
    row.above = 0.05;
    row.count = [](const ShapeNumbers& n, int) {
        const std::int64_t x = n.whole("cells_x"), y = n.whole("cells_y");
        return ShapeCount{(x + 1) * (y + 1), 2 * x * y, "triangles"};
    };
    row.size = [](const ShapeNumbers& n) { return Place{n["size_x"], n["size_y"], 0}; };
    row.make = [](const ShapeSite& site) {
        const ShapeNumbers& n = site.number;
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

// The speed of sound in it times this is how far a step may look.
double solid_step(double cell, double density, double young) {
    return 0.1 * cell / std::sqrt(1.35 * young / density);
}

Node solid(const ShapeSite& site, Node mesh) {
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

ShapeNumber density() {
    return number("density", "Density", "kg/m^3", 1000, "Water and rubber: about 1000");
}

ShapeRow block() {
    ShapeRow row;
    row.shape = {"block",
                 "Elastic block",
                 "A box of tetrahedra, in the plane a rectangle of triangles",
                 Section::bodies,
                 "solid",
                 {length("size_x", "Length along x", 0.4), length("size_y", "Length along y", 0.4),
                  length("size_up", "Height", 0.4), whole("cells_x", "Cells along x", 4, 1, 200),
                  whole("cells_y", "Cells along y", 4, 1, 200),
                  whole("cells_up", "Cells upwards", 4, 1, 200), density(), young_modulus(1e5)}};
    row.steps = Steps::elastic;
    row.above = 0.1;
    row.count = [](const ShapeNumbers& n, int dimension) {
        const std::int64_t x = n.whole("cells_x"), y = n.whole("cells_y"), up = n.whole("cells_up");
        if (dimension == 2) return ShapeCount{(x + 1) * (up + 1), 2 * x * up, "triangles"};
        return ShapeCount{(x + 1) * (y + 1) * (up + 1), 6 * x * y * up, "tetrahedra"};
    };
    row.size = [](const ShapeNumbers& n) { return Place{n["size_x"], n["size_y"], n["size_up"]}; };
    row.make = [](const ShapeSite& site) {
        const ShapeNumbers& n = site.number;
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

ShapeRow beam() {
    ShapeRow row;
    row.shape = {"beam",
                 "Beam",
                 "A long elastic box that is clamped at one end",
                 Section::bodies,
                 "solid",
                 {length("length", "Length", 1), length("thickness", "Thickness", 0.1),
                  whole("cells", "Cells along it", 10, 1, 500),
                  whole("cells_across", "Cells across", 2, 1, 50), density(), young_modulus(5e5)}};
    row.steps = Steps::elastic;
    row.count = [](const ShapeNumbers& n, int dimension) {
        const std::int64_t x = n.whole("cells"), y = n.whole("cells_across");
        if (dimension == 2) return ShapeCount{(x + 1) * (y + 1), 2 * x * y, "triangles"};
        return ShapeCount{(x + 1) * (y + 1) * (y + 1), 6 * x * y * y, "tetrahedra"};
    };
    // With the room in which it bends down.
    row.size = [](const ShapeNumbers& n) {
        return Place{n["length"], n["thickness"], n["thickness"] + 0.75 * n["length"]};
    };
    row.make = [](const ShapeSite& site) {
        const ShapeNumbers& n = site.number;
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

ShapeRow cloth_from_file() {
    ShapeRow row;
    row.shape = {"cloth_file",
                 "Cloth from a file...",
                 "A sheet with the triangles of a file, where the file has it",
                 Section::bodies,
                 "cloth",
                 {number("scale", "Metres per unit", "m", 1, "1e-3 for a file in millimetres"),
                  number("area_density", "Mass per area", "kg/m^2", 0.3, "Cotton: about 0.2"),
                  number("stiffness", "Stiffness", "N/m", 60,
                         "Against stretch: Young's modulus times thickness")},
                 {".obj", ".ply", ".stl", ".gltf", ".glb", ".msh"}};
    row.in_plane = false;
    row.steps = Steps::elastic;
    row.count = [](const ShapeNumbers&, int) { return ShapeCount{-1, -1, ""}; };
    row.size = [](const ShapeNumbers&) { return Place{}; };
    row.make = [](const ShapeSite& site) {
        Node body = Node::object(
            {{"type", "cloth"},
             {"name", site.name},
             {"mesh", Node::object({{"file", site.file}, {"scale", tidy(site.number["scale"])}})}});
        set_cloth(site, body);
        site.add(Section::bodies, std::move(body));
    };
    return row;
}

ShapeRow solid_from_file() {
    ShapeRow row;
    row.shape = {"solid_file",
                 "Elastic body from a file...",
                 "A body with the tetrahedra of a file, in the plane its triangles, where the file "
                 "has it",
                 Section::bodies,
                 "solid",
                 {number("scale", "Metres per unit", "m", 1, "1e-3 for a file in millimetres"),
                  density(), young_modulus(1e5)},
                 {".msh", ".vtk", ".vtu"}};
    row.steps = Steps::elastic;
    row.count = [](const ShapeNumbers&, int) { return ShapeCount{-1, -1, ""}; };
    row.size = [](const ShapeNumbers&) { return Place{}; };
    row.make = [](const ShapeSite& site) {
        site.add(Section::bodies,
                 solid(site,
                       Node::object({{"file", site.file}, {"scale", tidy(site.number["scale"])}})));
    };
    return row;
}

// The grid that material points meet on has two nodes to a distance of points, and room around the
// block: its walls are three nodes wide. One that is there is made larger, by whole nodes.
void cover(const ShapeSite& site) {
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

ShapeRow material() {
    ShapeRow row;
    row.shape = {"material",
                 "Block of material points",
                 "Soft matter that may flow together with other blocks",
                 Section::bodies,
                 "material_points",
                 {whole("count_x", "Points along x", 24, 2),
                  whole("count_up", "Points upwards", 24, 2), length("spacing", "Spacing", 0.0125),
                  number("density", "Density", "kg/m^2", 1000, "Mass per area of the plane"),
                  young_modulus(2e4)}};
    row.needs = {{Section::forces, "mpm_grid"}};
    row.in_space = false;
    row.above = 0.1;
    row.count = [](const ShapeNumbers& n, int) {
        return ShapeCount{n.whole("count_x") * n.whole("count_up"), 0, ""};
    };
    row.size = [](const ShapeNumbers& n) {
        return Place{(n["count_x"] - 1) * n["spacing"], 0, (n["count_up"] - 1) * n["spacing"]};
    };
    row.make = [](const ShapeSite& site) {
        const ShapeNumbers& n = site.number;
        const double h = n["spacing"];
        site.add(Section::bodies,
                 Node::object({{"type", "material_points"},
                               {"name", site.name},
                               {"positions", grid(site, {n.whole("count_x"), n.whole("count_up")})},
                               {"mass", tidy(n["density"] * h * h)},
                               {"volume", tidy(h * h)},
                               {"young_modulus", tidy(n["young_modulus"])},
                               {"poisson_ratio", Node(0.3)}}));
        cover(site);
        site.needs_step(0.2 * 2 * h / std::sqrt(1.35 * n["young_modulus"] / n["density"]));
    };
    return row;
}

ShapeRow robot() {
    ShapeRow row;
    row.shape = {"robot",
                 "Robot from a file...",
                 "Bodies and joints of a model in MJCF or URDF, where the model has them",
                 Section::bodies,
                 "articulated",
                 {},
                 {".xml", ".urdf", ".mjcf"}};
    row.in_plane = false;
    row.count = [](const ShapeNumbers&, int) { return ShapeCount{-1, -1, ""}; };
    row.size = [](const ShapeNumbers&) { return Place{}; };
    row.make = [](const ShapeSite& site) {
        site.add(
            Section::bodies,
            Node::object({{"type", "articulated"}, {"name", site.name}, {"model", site.file}}));
        // Steps as long as those of the model, at most.
        site.needs_step(robot::RobotModel::load(site.path).options().timestep);
    };
    return row;
}

}  // namespace

Node tidy(double value) {
    const double scale = std::pow(10.0, 9 - std::ceil(std::log10(std::abs(value) + 1e-300)));
    const double rounded = value == 0 ? 0 : std::round(value * scale) / scale;
    const double at = std::abs(rounded) < 1e-12 ? 0 : rounded;
    return at == std::floor(at) && std::abs(at) < 1e6 ? Node(static_cast<std::int64_t>(at))
                                                      : Node(at);
}

double number_at(const Node& object, const char* key, double otherwise) {
    const Node* const node = object.find(key);
    return node != nullptr && document::is_number(*node) ? document::number_of(*node) : otherwise;
}

std::optional<std::vector<double>> numbers_in(const Node* node, std::size_t size, bool alike) {
    if (node == nullptr) return std::nullopt;
    if (alike && document::is_number(*node))
        return std::vector<double>(size, document::number_of(*node));
    if (!node->is_array() || node->size() != size) return std::nullopt;
    std::vector<double> list;
    for (std::size_t k = 0; k < size; ++k) {
        if (!document::is_number(node->item(k))) return std::nullopt;
        list.push_back(document::number_of(node->item(k)));
    }
    return list;
}

const std::vector<ShapeRow>& shape_rows() {
    static const std::vector<ShapeRow> rows = [] {
        std::vector<ShapeRow> all{point(),           chain(),    cloud(), net(),
                                  cloth(),           block(),    beam(),  cloth_from_file(),
                                  solid_from_file(), material(), robot()};
        for (ShapeRow& row : rigid_rows()) all.insert(all.end() - 4, std::move(row));
        for (ShapeRow& row : obstacle_rows()) all.push_back(std::move(row));
        return all;
    }();
    return rows;
}

}  // namespace hindcast::session
