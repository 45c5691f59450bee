#include "engine/robot/rigid_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "engine/base/error.hpp"
#include "engine/document/read.hpp"
#include "engine/geometry/kinds/row.hpp"
#include "engine/geometry/kinds/solids.hpp"

namespace hindcast::robot {

namespace {

using document::Node;
using document::Range;
using document::Reader;

using geometry::SizedBy;

std::vector<const geometry::KindRow*> rigid_kinds() {
    std::vector<const geometry::KindRow*> kinds;
    for (const geometry::KindRow& row : geometry::kind_rows())
        if (row.sized_by != SizedBy::nothing) kinds.push_back(&row);
    return kinds;
}

// Half lengths, or the radius and half the length, as MJCF has them; the rest is 0.
numeric::Vec3 half_sizes(Reader& reader, SizedBy by) {
    const Range length = Range::positive("m");
    if (by == SizedBy::lengths) {
        const auto size = reader.vector<3>("size", length);
        return {size[0] / 2, size[1] / 2, size[2] / 2};
    }
    const double radius = reader.number("radius", length);
    if (by == SizedBy::radius) return {radius};
    return {radius, reader.number("length", length) / 2};
}

// The geom's type and size. A kind that MJCF does not have is a mesh, added to `assets`.
std::string geom_of(const geometry::KindRow& kind, const std::string& name,
                    const numeric::Vec3& size, std::string& assets) {
    if (kind.in_mjcf)
        return fmt::format("type=\"{}\" size=\"{}\"", kind.name, fmt::join(size, " "));
    constexpr int sides = 64;
    const std::vector<numeric::Vec3> places = geometry::surface_of(kind.kind, size, sides).places;
    std::string vertices;
    for (const numeric::Vec3& p : std::set(places.begin(), places.end()))
        vertices += fmt::format("{} ", fmt::join(p, " "));
    assets += fmt::format("  <mesh name=\"{}\" vertex=\"{}\"/>\n", name, vertices);
    return fmt::format("type=\"mesh\" mesh=\"{}\"", name);
}

// The mass of a mesh's body is that of the shape, not of the mesh.
std::string inertial_of(const geometry::KindRow& kind, const numeric::Vec3& size, double mass) {
    if (kind.in_mjcf) return "";
    const auto solid = geometry::solid_of<double>(kind.kind, false, size);
    return fmt::format("    <inertial pos=\"0 0 {}\" mass=\"{}\" diaginertia=\"{} {} {}\"/>\n",
                       kind.centroid * size[1], mass, mass * solid.xx, mass * solid.yy,
                       mass * solid.zz);
}

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

std::string name_of(Reader& reader, std::string_view type, std::size_t number,
                    std::set<std::string>& taken) {
    const Node* const written = reader.find("name");
    std::string name =
        written != nullptr ? document::string_of(*written) : fmt::format("{}_{}", type, number);
    const Node& at = written != nullptr ? *written : reader.node();
    if (name.empty() || name.find_first_not_of(letters) != std::string::npos)
        throw document::mismatch(at, "a name of letters, digits and underscores");
    if (name == "world" || !taken.insert(name).second)
        throw Error("there is another body '" + name + "'")
            .at_pointer(at.pointer())
            .remedy("give each shape a name of its own");
    return name;
}

// The softness of contact, in MuJoCo's terms. Contact begins softly: a force that jumps at the
// first touch makes the end of a run jump with the step in which it happens.
struct Softness {
    std::array<double, 2> solref{0.02, 1};
    std::array<double, 5> solimp{1e-4, 0.95, 0.002, 0.5, 2};

    std::string attributes() const {
        return fmt::format("solref=\"{}\" solimp=\"{}\"", fmt::join(solref, " "),
                           fmt::join(solimp, " "));
    }
};

// "solref" and "solimp" of the object, or those of all shapes.
Softness softness(Reader& reader, const Softness& otherwise) {
    Softness soft{reader.vector_or<2>("solref", otherwise.solref),
                  reader.vector_or<5>("solimp", otherwise.solimp)};
    const auto refuse = [&](const char* key, const char* what, const char* remedy) {
        const Node& at = reader.require(key);
        throw document::fault(at, what).remedy(remedy);
    };
    const auto& [time, ratio] = soft.solref;
    if (!(time > 0 && ratio > 0) && !(time < 0 && ratio <= 0))
        refuse("solref", "a contact needs two positive numbers, or two negative ones",
               "write a time constant (s) and a damping ratio, such as [0.02, 1]; or minus the "
               "stiffness and minus the damping, such as [-1000, 0], which rebounds");
    const auto& [first, last, width, midpoint, power] = soft.solimp;
    const auto is_part = [](double d) { return d >= 1e-4 && d <= 0.9999; };
    if (!is_part(first) || !is_part(last) || !(width > 0) || !is_part(midpoint) || !(power >= 1))
        refuse("solimp",
               "the impedances and the midpoint must lie in [0.0001, 0.9999], the width above 0 "
               "and the power at 1 or above",
               "write for instance [0.0001, 0.95, 0.002, 0.5, 2]");
    return soft;
}

// The number of directions that a contact resists in, and MuJoCo's three coefficients.
std::string resistance(Reader& reader) {
    std::array<double, 3> friction{0.5, 0.005, 1e-4};
    const Node* const written = reader.find("friction");
    if (written != nullptr && written->is_array())
        friction = reader.vector<3>("friction", Range::at_least(0));
    else
        friction[0] = reader.number_or("friction", friction[0], Range::at_least(0));
    const bool rough = friction[0] > 0;
    const std::int64_t directions = reader.integer_or("condim", rough ? 3 : 1);
    if (directions != 1 && directions != 3 && directions != 4 && directions != 6)
        throw document::mismatch(reader.require("condim"), "1, 3, 4 or 6");
    if (directions > 1 && !rough)
        throw document::fault(reader.require("condim"),
                              "without friction a contact resists along "
                              "its normal only, in one direction")
            .remedy("raise \"friction\", or leave \"condim\" out");
    return fmt::format("condim=\"{}\" friction=\"{}\"", directions, fmt::join(friction, " "));
}

std::string body_of(const Node& shape, std::size_t number, const Softness& all,
                    std::set<std::string>& taken, std::string& assets) {
    Reader reader(shape, "a rigid shape");
    std::vector<std::string_view> names;
    const std::vector<const geometry::KindRow*> kinds = rigid_kinds();
    for (const geometry::KindRow* kind : kinds) names.push_back(kind->name);
    const geometry::KindRow& type = *kinds[reader.choice("type", names)];
    const std::string name = name_of(reader, type.name, number, taken);
    const numeric::Vec3 size = half_sizes(reader, type.sized_by);
    const auto position = reader.vector_or<3>("position", {0, 0, 0});
    const auto turn = reader.vector_or<4>("orientation", {1, 0, 0, 0});
    if (std::ranges::all_of(turn, [](double q) { return q == 0; }))
        throw Error("the quaternion is zero")
            .at_pointer(reader.require("orientation").pointer())
            .remedy("give (w, x, y, z); no rotation is [1, 0, 0, 0]");
    if (reader.has("mass") && reader.has("density"))
        throw Error("a shape has a mass or a density, not both")
            .at_pointer(reader.require("density").pointer())
            .remedy("remove one of the two");
    const bool by_mass = reader.has("mass");
    const double heavy = by_mass ? reader.number("mass", Range::positive("kg"))
                                 : reader.number_or("density", 1000, Range::positive("kg/m^3"));
    const double mass =
        by_mass ? heavy : heavy * geometry::solid_of<double>(type.kind, false, size).volume;
    const std::string contact = resistance(reader) + " " + softness(reader, all).attributes();
    const bool fixed = reader.boolean_or("fixed", false);
    reader.finish();
    return fmt::format(
        "  <body name=\"{0}\" pos=\"{1}\" quat=\"{2}\">\n"
        "{3}{4}"
        "    <geom name=\"{0}\" {5} {6}=\"{7}\" {8}/>\n"
        "  </body>\n",
        name, fmt::join(position, " "), fmt::join(turn, " "),
        fixed ? "" : fmt::format("    <freejoint name=\"{}\"/>\n", name),
        inertial_of(type, size, mass), geom_of(type, name, size, assets),
        by_mass ? "mass" : "density", heavy, contact);
}

}  // namespace

std::string model_of_shapes(const Node& description, UpAxis up, const std::string& integrator) {
    Reader reader(description, "a list of rigid shapes");
    const Node& shapes = reader.array("shapes", 1, 10'000);
    const Softness soft = softness(reader, {});
    std::string world, assets;
    std::set<std::string> taken;
    if (const Node* const ground = reader.find("ground")) {
        const double height = document::number_of(*ground, Range::any("m"));
        // MuJoCo takes the greater friction coefficient and number of directions: the shape's.
        world += fmt::format(
            "  <geom name=\"ground\" type=\"plane\" size=\"0 0 1\" {} "
            "condim=\"1\" friction=\"0 0 0\" {}/>\n",
            up == UpAxis::z ? fmt::format("pos=\"0 0 {}\"", height)
                            : fmt::format("pos=\"0 {} 0\" quat=\"1 -1 0 0\"", height),
            soft.attributes());
    }
    reader.finish();
    for (std::size_t k = 0; k < shapes.size(); ++k)
        world += body_of(shapes.item(k), k + 1, soft, taken, assets);
    return fmt::format(
        "<mujoco model=\"shapes\">\n"
        "<option integrator=\"{}\"/>\n<asset>\n{}</asset>\n"
        "<worldbody>\n{}</worldbody>\n</mujoco>\n",
        integrator, assets, world);
}

// The schema of the keys that softness() reads.
static std::string schema_of_softness(std::string_view otherwise) {
    return fmt::format(
        R"("solref":{{"type":"array","description":"how fast contact pushes back, as MuJoCo has it: time constant (s) and damping ratio; or minus stiffness, minus damping, such as [-1000, 0], which rebounds; {0}",)"
        R"("items":{{"$ref":"#/$defs/number"}},"minItems":2,"maxItems":2}},)"
        R"("solimp":{{"type":"array","description":"how hard contact is, as MuJoCo has it: impedance at the first touch, impedance in depth, depth (m), midpoint, power; {0}",)"
        R"("items":{{"$ref":"#/$defs/number"}},"minItems":5,"maxItems":5}})",
        otherwise);
}

const Node* rigid_shapes_of(const Node& body) {
    const Node* const model = body.is_object() ? body.find("model") : nullptr;
    const Node* const shapes =
        model != nullptr && model->is_object() ? model->find("shapes") : nullptr;
    return shapes != nullptr && shapes->is_array() ? shapes : nullptr;
}

std::string schema_of_shapes() {
    const std::string length = R"({"$ref":"#/$defs/positive","unit":"m")";
    const auto own = [&](const geometry::KindRow& kind) {
        switch (kind.sized_by) {
            case SizedBy::radius: return R"("radius":)" + length + "}";
            case SizedBy::radius_and_length:
                return fmt::format(R"("radius":{0}}},"length":{0},"description":"{1}"}})", length,
                                   kind.size_text);
            default:
                return fmt::format(
                    R"("size":{{"type":"array","description":"{}","unit":"m","items":)"
                    R"({{"$ref":"#/$defs/positive"}},"minItems":3,"maxItems":3}})",
                    kind.size_text);
        }
    };
    const auto required = [](const geometry::KindRow& kind) {
        switch (kind.sized_by) {
            case SizedBy::radius: return R"("radius")";
            case SizedBy::radius_and_length: return R"("radius","length")";
            default: return R"("size")";
        }
    };
    std::string shapes;
    for (const geometry::KindRow* kind : rigid_kinds())
        shapes += fmt::format(
            R"({0}{{"title":"{1}","type":"object","required":["type",{2}],)"
            R"("additionalProperties":false,"properties":{{"type":{{"const":"{1}"}},)"
            R"("name":{{"type":"string","description":"of its body, joint and geom; without it the type and its number, such as {1}_1","pattern":"^[A-Za-z0-9_]+$"}},)"
            R"({3},"position":{{"description":"of its center; default: 0","unit":"m","$ref":"#/$defs/place"}},)"
            R"("orientation":{{"type":"array","description":"quaternion (w, x, y, z); default: as the axes","items":{{"$ref":"#/$defs/number"}},"minItems":4,"maxItems":4}},)"
            R"("density":{{"default":1000,"unit":"kg/m^3","$ref":"#/$defs/positive"}},)"
            R"("mass":{{"unit":"kg","description":"instead of a density","$ref":"#/$defs/positive"}},)"
            R"("friction":{{"description":"Coulomb's coefficient; or that, and those against spinning and rolling, in m; of two in contact the greater counts, so that equal ones of two shapes are a kink for gradients; with 0 there is none, whatever geom_friction says","default":0.5,"anyOf":[)"
            R"({{"title":"Coulomb's coefficient","type":"number","minimum":0}},)"
            R"({{"title":"sliding, spinning and rolling","type":"array","items":{{"type":"number","minimum":0}},"minItems":3,"maxItems":3}}]}},)"
            R"("condim":{{"description":"directions in which a contact resists; of two in contact the greater counts: 1: its normal; 3: sliding as well; 4: spinning too; 6: rolling too; default: 3, without friction 1","enum":[1,3,4,6]}},)"
            R"({4},)"
            R"("fixed":{{"type":"boolean","default":false,"description":"it does not move"}}}},)"
            R"("not":{{"required":["density","mass"]}}}})",
            shapes.empty() ? "" : ",", kind->name, required(*kind), own(*kind),
            schema_of_softness("default: those of all shapes"));
    return R"({"title":"shapes","type":"object","required":["shapes"],"additionalProperties":false,)"
           R"("properties":{"shapes":{"type":"array","minItems":1,"items":{"oneOf":[)" +
           shapes + R"(]}},)" +
           schema_of_softness(
               "of the ground and of shapes that have none of their own; default: "
               "[0.02, 1], [0.0001, 0.95, 0.002, 0.5, 2]") +
           R"(,"ground":{"unit":"m","$ref":"#/$defs/number","description":"height of a level floor; without it there is none"}}})";
}

}  // namespace hindcast::robot
