#include "app/cli/info/info_robot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/robot/supported.hpp"

namespace hindcast::cli {

namespace {

using namespace robot;
using document::Node;

// View: reads the facts about a model that are printed.
struct View {
    const RobotModel& m;

    int count(std::string_view size) const { return static_cast<int>(m.size(size)); }
    int integer(std::string_view array, int i) const {
        return m.integers(array)[static_cast<std::size_t>(i)];
    }
    double real(std::string_view array, int i, int column = 0) const {
        const auto place = i * m.array(array).columns + column;
        return m.reals(array)[static_cast<std::size_t>(place)];
    }
    template <class Enum>
    std::string type(std::string_view array, int i) const {
        return std::string(name_of(static_cast<Enum>(integer(array, i))));
    }
    std::string name(ObjectKind kind, int i) const {
        return m.names(kind)[static_cast<std::size_t>(i)];
    }
    std::string label(ObjectKind kind, int i) const {
        const std::string own = name(kind, i);
        return own.empty() ? fmt::format("#{}", i) : own;
    }
};

bool turns(const View& v, int joint) {
    const auto type = static_cast<JointType>(v.integer("jnt_type", joint));
    return type == JointType::hinge || type == JointType::ball;
}

// ---- as text ----

std::string joint_text(const View& v, int j) {
    const auto type = static_cast<JointType>(v.integer("jnt_type", j));
    const int dof = v.integer("jnt_dofadr", j);
    std::string text = fmt::format("{} joint {}", name_of(type), v.label(ObjectKind::joint, j));
    const char* const unit = turns(v, j) ? "rad" : "m";
    if (v.integer("jnt_limited", j) != 0)
        text += fmt::format(", range {:g} to {:g} {}", v.real("jnt_range", j),
                            v.real("jnt_range", j, 1), unit);
    const auto add = [&](const char* what, double value, const char* of_turns,
                         const char* of_slide) {
        if (value != 0)
            text += fmt::format(", {} {:g} {}", what, value, turns(v, j) ? of_turns : of_slide);
    };
    add("stiffness", v.real("jnt_stiffness", j), "N m/rad", "N/m");
    add("damping", v.real("dof_damping", dof), "N m s/rad", "N s/m");
    add("friction loss", v.real("dof_frictionloss", dof), "N m", "N");
    add("armature", v.real("dof_armature", dof), "kg m^2", "kg");
    return text;
}

void print_body(const View& v, int body, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth + 2), ' ');
    std::string text = indent + v.label(ObjectKind::body, body);
    if (const double mass = v.real("body_mass", body); mass != 0)
        text += fmt::format(", {:.6g} kg", mass);
    if (v.integer("body_mocapid", body) >= 0) text += ", mocap";
    fmt::print("{}\n", text);
    for (int k = 0; k < v.integer("body_jntnum", body); ++k)
        fmt::print("{}    {}\n", indent, joint_text(v, v.integer("body_jntadr", body) + k));
    for (int child = body + 1; child < v.count("nbody"); ++child)
        if (v.integer("body_parentid", child) == body) print_body(v, child, depth + 1);
}

// The target of an actuator: "joint elbow".
std::string target(const View& v, int a) {
    const int id = v.integer("actuator_trnid", 2 * a);
    switch (static_cast<TransmissionType>(v.integer("actuator_trntype", a))) {
        case TransmissionType::joint: return "joint " + v.label(ObjectKind::joint, id);
        case TransmissionType::jointinparent:
            return fmt::format("joint {} in its parent's frame", v.label(ObjectKind::joint, id));
        case TransmissionType::tendon: return "tendon " + v.label(ObjectKind::tendon, id);
        case TransmissionType::site: return "site " + v.label(ObjectKind::site, id);
        case TransmissionType::slidercrank:
            return "the slider-crank of site " + v.label(ObjectKind::site, id);
        case TransmissionType::body: return "body " + v.label(ObjectKind::body, id);
        default: return v.type<TransmissionType>("actuator_trntype", a);
    }
}

std::string actuator_text(const View& v, int a) {
    std::string text = fmt::format("{} on {}, gain {}, bias {}", v.label(ObjectKind::actuator, a),
                                   target(v, a), v.type<GainType>("actuator_gaintype", a),
                                   v.type<BiasType>("actuator_biastype", a));
    if (v.integer("actuator_dyntype", a) != 0)
        text += ", activation " + v.type<DynamicsType>("actuator_dyntype", a);
    const int control = v.integer("actuator_ctrladr", a), output = v.integer("actuator_outadr", a);
    if (v.integer("actuator_outnum", a) > 0) {
        std::vector<double> gear;
        for (int c = 0; c < 6; ++c) gear.push_back(v.real("actuator_gear", output, c));
        while (gear.size() > 1 && gear.back() == 0) gear.pop_back();
        text += fmt::format(", gear {:g}", fmt::join(gear, " "));
    }
    if (v.integer("actuator_ctrlnum", a) > 0 && v.integer("actuator_ctrllimited", control) != 0)
        text += fmt::format(", control {:g} to {:g}", v.real("actuator_ctrlrange", control),
                            v.real("actuator_ctrlrange", control, 1));
    if (v.integer("actuator_forcelimited", a) != 0)
        text += fmt::format(", force {:g} to {:g}", v.real("actuator_forcerange", a),
                            v.real("actuator_forcerange", a, 1));
    return text;
}

std::string geom_text(const View& v, int g) {
    std::string text =
        fmt::format("{} {} of {}", v.type<GeomType>("geom_type", g), v.label(ObjectKind::geom, g),
                    v.label(ObjectKind::body, v.integer("geom_bodyid", g)));
    const int data = v.integer("geom_dataid", g);
    const auto type = static_cast<GeomType>(v.integer("geom_type", g));
    if (data >= 0 && (type == GeomType::mesh || type == GeomType::sdf))
        text += fmt::format(", {} vertices", v.integer("mesh_vertnum", data));
    if (data >= 0 && type == GeomType::hfield)
        text += fmt::format(", {} x {} points", v.integer("hfield_nrow", data),
                            v.integer("hfield_ncol", data));
    return text + fmt::format(", friction {:g} {:g} {:g}", v.real("geom_friction", g),
                              v.real("geom_friction", g, 1), v.real("geom_friction", g, 2));
}

std::string counts_text(const View& v) {
    struct Row {
        const char *size, *one, *many;
    };
    std::vector<std::string> parts;
    for (const Row& row :
         {Row{"njnt", "joint", "joints"}, Row{"ngeom", "geom", "geoms"},
          Row{"nactuator", "actuator", "actuators"}, Row{"nsensor", "sensor", "sensors"},
          Row{"ntendon", "tendon", "tendons"}, Row{"neq", "equality", "equalities"},
          Row{"npair", "pair", "pairs"}, Row{"nexclude", "exclude", "excludes"},
          Row{"nkey", "keyframe", "keyframes"}, Row{"nmocap", "mocap body", "mocap bodies"}})
        if (const int n = v.count(row.size); n > 0)
            parts.push_back(fmt::format("{} {}", n, n == 1 ? row.one : row.many));
    const int bodies = v.count("nbody") - 1;  // without the world
    return fmt::format("{} {}{}{}", bodies, bodies == 1 ? "body" : "bodies",
                       parts.empty() ? "" : ", ", fmt::join(parts, ", "));
}

void print_list(const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    fmt::print("\n{}\n", title);
    for (const std::string& line : lines) fmt::print("  {}\n", line);
}

void print_text(const RobotModel& model, const Support& support, const std::string& file) {
    const View v{model};
    const RobotOptions& o = model.options();
    fmt::print("robot      {}\n", file);
    fmt::print("holds      {}\n", counts_text(v));
    fmt::print("state      {} positions, {} velocities, {} activations, {} controls\n",
               v.count("nq"), v.count("nv"), v.count("na"), v.count("nu"));
    fmt::print("step       {:g} s, {}, {} cones, gravity {:g} {:g} {:g} m/s^2\n\n", o.timestep,
               name_of(o.integrator), name_of(o.cone), o.gravity[0], o.gravity[1], o.gravity[2]);
    fmt::print("bodies and joints\n");
    print_body(v, 0, 0);
    std::vector<std::string> lines;
    for (int a = 0; a < v.count("nactuator"); ++a) lines.push_back(actuator_text(v, a));
    print_list("actuators", lines);
    lines.clear();
    for (const int geom : colliding_geoms(model)) lines.push_back(geom_text(v, geom));
    print_list("geoms that collide", lines);
    print_list("notes", support.notes);
    lines.clear();
    for (const Refusal& r : support.refusals) lines.push_back(r.happened + "; " + r.remedy);
    print_list("refused: it would move differently", lines);
}

// ---- as JSON ----

template <class T>
Node list_of(const std::vector<T>& values) {
    Node list = Node::array();
    for (const T& value : values) list.push_back(Node(value));
    return list;
}

Node joint_node(const View& v, int j) {
    const int dof = v.integer("jnt_dofadr", j);
    Node node = Node::object(
        {{"name", v.name(ObjectKind::joint, j)}, {"type", v.type<JointType>("jnt_type", j)}});
    if (v.integer("jnt_limited", j) != 0)
        node.set("range", list_of(std::vector{v.real("jnt_range", j), v.real("jnt_range", j, 1)}));
    node.set("stiffness", v.real("jnt_stiffness", j));
    node.set("damping", v.real("dof_damping", dof));
    node.set("frictionloss", v.real("dof_frictionloss", dof));
    node.set("armature", v.real("dof_armature", dof));
    return node;
}

Node body_node(const View& v, int body) {
    Node joints = Node::array();
    for (int k = 0; k < v.integer("body_jntnum", body); ++k)
        joints.push_back(joint_node(v, v.integer("body_jntadr", body) + k));
    return Node::object({{"name", v.name(ObjectKind::body, body)},
                         {"parent", v.integer("body_parentid", body)},
                         {"mass", v.real("body_mass", body)},
                         {"mocap", v.integer("body_mocapid", body) >= 0},
                         {"joints", std::move(joints)}});
}

Node actuator_node(const View& v, int a) {
    return Node::object({{"name", v.name(ObjectKind::actuator, a)},
                         {"on", target(v, a)},
                         {"gain", v.type<GainType>("actuator_gaintype", a)},
                         {"bias", v.type<BiasType>("actuator_biastype", a)},
                         {"activation", v.type<DynamicsType>("actuator_dyntype", a)}});
}

Node geom_node(const View& v, int g) {
    return Node::object({{"name", v.name(ObjectKind::geom, g)},
                         {"number", g},
                         {"type", v.type<GeomType>("geom_type", g)},
                         {"body", v.integer("geom_bodyid", g)}});
}

Node arrays_node(const RobotModel& model) {
    Node arrays = Node::object();
    for (const ModelArray& array : model.arrays())
        arrays.set(array.name,
                   Node::object({{"rows", array.rows},
                                 {"columns", array.columns},
                                 {"values", std::visit([](const auto& v) { return list_of(v); },
                                                       array.values)}}));
    return arrays;
}

void print_json(const RobotModel& model, const Support& support, const std::string& file,
                bool arrays) {
    const View v{model};
    Node sizes = Node::object(), bodies = Node::array(), actuators = Node::array(),
         geoms = Node::array(), refusals = Node::array();
    for (const auto& [name, value] : model.sizes()) sizes.set(name, value);
    for (int b = 0; b < v.count("nbody"); ++b) bodies.push_back(body_node(v, b));
    for (int a = 0; a < v.count("nactuator"); ++a) actuators.push_back(actuator_node(v, a));
    for (const int g : colliding_geoms(model)) geoms.push_back(geom_node(v, g));
    for (const Refusal& r : support.refusals)
        refusals.push_back(Node::object({{"what", r.happened}, {"remedy", r.remedy}}));
    Node root = Node::object({{"file", file},
                              {"sizes", std::move(sizes)},
                              {"bodies", std::move(bodies)},
                              {"actuators", std::move(actuators)},
                              {"colliding_geoms", std::move(geoms)},
                              {"notes", list_of(support.notes)},
                              {"refusals", std::move(refusals)}});
    if (arrays) root.set("arrays", arrays_node(model));
    fmt::print("{}\n", document::to_text(root));
}

}  // namespace

int print_robot(const std::string& file, bool json, bool arrays) {
    const RobotModel model = RobotModel::load(file);
    const Support support = support_of(model);
    if (json)
        print_json(model, support, file, arrays);
    else
        print_text(model, support, file);
    try {
        require_none(support.refusals);
    } catch (Error& error) {
        error.at({file, 0, 0});
        throw;
    }
    return 0;
}

}  // namespace hindcast::cli
