#include "kernels/articulated/numbers/names.hpp"

#include <algorithm>
#include <string_view>

#include "engine/robot/model_reader.hpp"

namespace hindcast::articulated {

using model::ElementNames;
using robot::JointType;
using robot::ObjectKind;
using robot::RobotModel;

namespace {

// Arrays with elements in the order of MuJoCo's numbers, by their prefixes.
struct Row {
    std::string_view prefix;
    ObjectKind kind;
};
constexpr Row prefixes[] = {
    {"body_", ObjectKind::body},         {"jnt_", ObjectKind::joint},
    {"geom_", ObjectKind::geom},         {"pair_", ObjectKind::pair},
    {"eq_", ObjectKind::equality},       {"tendon_", ObjectKind::tendon},
    {"actuator_", ObjectKind::actuator},
};

class Namer : robot::ModelReader {
public:
    explicit Namer(const RobotModel& robot) : ModelReader(robot) {}

    ElementNames things(ObjectKind kind) const {
        const auto& names = m_.names(kind);
        ElementNames all(static_cast<std::int64_t>(names.size()));
        for (const std::string& name : names) all.add(name);
        return all;
    }
    ElementNames positions() const {
        return joints("nq", [](JointType type) {
            return type == JointType::free ? 7 : type == JointType::ball ? 4 : 1;
        });
    }
    ElementNames velocities() const {
        return joints("nv", [](JointType type) {
            return type == JointType::free ? 6 : type == JointType::ball ? 3 : 1;
        });
    }
    ElementNames activations() const {
        ElementNames all(m_.size("na"));
        const auto& names = m_.names(ObjectKind::actuator);
        for (std::size_t u = 0; u < names.size(); ++u)
            if (const int count = integer("actuator_actnum", static_cast<int>(u)); count > 0)
                all.add(names[u], count);
        return all;
    }

private:
    template <class F>
    ElementNames joints(const char* size, F numbers_of) const {
        ElementNames all(m_.size(size));
        const auto& names = m_.names(ObjectKind::joint);
        for (std::size_t j = 0; j < names.size(); ++j)
            all.add(names[j], numbers_of(robot::enum_at<JointType>(m_.integers("jnt_type"),
                                                                   static_cast<std::int64_t>(j))));
        return all;
    }
};

}  // namespace

ElementNames names_of(const RobotModel& robot, const std::string& key) {
    const Namer namer(robot);
    const auto is = [&](auto... names) { return ((key == names) || ...); };
    if (is("qpos", "qpos_spring")) return namer.positions();
    if (key.starts_with("dof_") || is("qvel", "qacc", "qacc_constrained", "cdof", "bias", "passive",
                                      "compensation", "actuator", "force"))
        return namer.velocities();
    if (is("act", "act_dot")) return namer.activations();
    if (is("ctrl", "control", "slope")) return namer.things(ObjectKind::actuator);
    if (is("xpos", "xquat", "xipos", "cvel", "cinert")) return namer.things(ObjectKind::body);
    for (const Row& row : prefixes)
        if (key.starts_with(row.prefix)) return namer.things(row.kind);
    return ElementNames(0);
}

ElementNames names_of_points(const RobotModel& robot) {
    const auto &bodies = robot.names(ObjectKind::body), &sites = robot.names(ObjectKind::site);
    ElementNames all(static_cast<std::int64_t>(bodies.size() + sites.size()) - 1);
    for (std::size_t b = 1; b < bodies.size(); ++b) all.add(bodies[b]);
    for (const std::string& site : sites)
        all.add(std::ranges::find(bodies, site) == bodies.end() ? site : "");
    return all;
}

void name_arrays(model::Model& model, const std::string& body, const RobotModel& robot) {
    for (const auto& [name, published] : model.arrays()) {
        if (!name.starts_with(body + ".") || model::element_names(model, name) != nullptr) continue;
        const std::string key = name.substr(body.size() + 1);
        if (key.starts_with("dof_row_")) continue;  // of constraints, not of degrees of freedom
        ElementNames names = names_of(robot, key);
        if (names.count() == published.array.elements())
            model::name_elements(model, name, std::move(names));
    }
}

}  // namespace hindcast::articulated
