// u_a = stiffness_a (target_a(t) - q_a) + damping_a (d target_a / dt - dq_a/dt), with q_a the angle or
// the way of the joint that the actuator acts on.
#include "engine/model/built_by.hpp"
#include "engine/model/components.hpp"
#include "kernels/controllers/actuators.hpp"
#include "kernels/controllers/controllers.hpp"
#include "kernels/controllers/course.hpp"

namespace hindcast::controllers {

namespace {

using namespace lang;
using articulated::at;
using model::Model;
using model::Settings;

struct Controlled {
    int actuator = 0, qpos = 0, dof = 0;
};

KernelDef pd(const Course& course, const std::vector<Controlled>& all) {
    return kernel(
        "pd_control", {"targets", "stiffness", "damping", "qpos", "qvel", "step", "h", "control"},
        [course, all](Int, Property<Float> targets, Property<Float> stiffness,
                      Property<Float> damping, Read<Float> qpos, Read<Float> qvel, Param<Int> step,
                      Param<Float> h, Accumulate<Float> control) {
            const auto now = course.at(targets, step);
            for (std::size_t a = 0; a < all.size(); ++a) {
                const int row = static_cast<int>(a);
                const Float rate = now[a].slope * course.rows_per_step() / h.value();
                control[all[a].actuator] += stiffness[row] * (now[a].value - qpos[all[a].qpos]) +
                                            damping[row] * (rate - qvel[all[a].dof]);
            }
        });
}

void build_pd(const Settings& settings, Model& model) {
    const Actuators actuators = actuators_of(settings, model);
    const articulated::Tree& tree = *actuators.robot->tree;
    std::vector<Controlled> all;
    for (const int u : actuators.numbers) {
        const articulated::Actuator& actuator = tree.actuators.at(at(u));
        const bool on_joint = actuator.acts_on == robot::TransmissionType::joint ||
                              actuator.acts_on == robot::TransmissionType::jointinparent;
        if (!on_joint || tree.joints[at(actuator.target)].dofs() != 1)
            throw settings
                .error(settings.written("actuators") ? "actuators" : "of",
                       "the " + actuators.robot->model->describe(robot::ObjectKind::actuator, u) +
                           " does not act on a hinge or a slide")
                .remedy("list only actuators of hinges and slides in \"actuators\"");
        const articulated::Joint& joint = tree.joints[at(actuator.target)];
        all.push_back({u, joint.qpos, joint.dof});
    }
    const ReadCourse read =
        read_course(settings, model, "targets", static_cast<int>(actuators.count()));
    const auto number = [&](const char* key) {
        return numbers_of_each(model, settings, key, actuators);
    };
    const std::string& robot = actuators.robot->name;
    add(model, settings, actuators, pd(read.course, all),
        {{"targets", read.quantity->argument()},
         {"stiffness", number("stiffness")},
         {"damping", number("damping")},
         {"qpos", model.array(robot + ".qpos")},
         {"qvel", model.array(robot + ".qvel")},
         {"h", model.step()}},
        "toward targets");
}

}  // namespace

void register_pd(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::controllers,
         "pd",
         "Springs and dampers of a robot's joints",
         "Adds to the control of each actuator that acts on a hinge or a slide what draws its "
         "joint to a target: stiffness (target - q) + damping (d target / dt - dq/dt). The target "
         "rests, or follows a course over time.",
         {of_field(), actuators_field(),
          values("targets")
              .schema(rows_schema)
              .fallback("0")
              .differentiable()
              .doc("m or rad, of each actuator; with \"interval\" for each time in order those of "
                   "all "
                   "actuators: a list of rows, number time * actuators + actuator"),
          values("stiffness")
              .at_least(0)
              .differentiable()
              .doc("control per m or rad, of each actuator"),
          values("damping").fallback("0").at_least(0).differentiable().doc(
              "control per m/s or rad/s, of each actuator"),
          interval_field(), interpolation_field()},
         built_by(build_pd),
         true});
}

}  // namespace hindcast::controllers
