// joint_target    mean over times t of  sum over joints j of
//                 position_factor_j |q_j(t) - qpos_j|^2 + velocity_factor_j |dq_j/dt(t) - qvel_j|^2
// where the distance of quaternions is the angle of the turn between them, and that of "periodic" hinges
// the chord 2 sin(d / 2) of their angle d, which is the same after whole turns.
#include "engine/model/built_by.hpp"
#include "kernels/array_target/array_target.hpp"
#include "kernels/articulated/dynamics/kinematics.hpp"
#include "kernels/articulated/robots.hpp"

namespace hindcast::array_target {

namespace {

using namespace lang;
using articulated::at;
using articulated::Joint;
using articulated::quaternion_at;
using model::Model;
using model::Settings;

// A joint, and where its targets begin in the lists of all.
struct Aim {
    Joint joint;
    int qpos = 0, qvel = 0;
    bool periodic = false;
};

KernelDef joint_distance(const std::vector<Aim>& aims) {
    return kernel("joint_distance",
                  {"qpos", "qvel", "target_qpos", "target_qvel", "position_factor",
                   "velocity_factor", "scale", "value"},
                  [aims](Int, Read<Float> qpos, Read<Float> qvel, Property<Float> target_qpos,
                         Property<Float> target_qvel, Property<Float> position_factor,
                         Property<Float> velocity_factor, Param<Float> scale, Reduce<Float> value) {
                      Float sum;
                      for (int j = 0; j < static_cast<int>(aims.size()); ++j) {
                          const Aim& aim = aims[at(j)];
                          const Joint& joint = aim.joint;
                          Float away, faster;
                          const int ways = joint.scalars();
                          for (int k = 0; k < ways; ++k) {
                              Float d = qpos[joint.qpos + k] - target_qpos[aim.qpos + k];
                              if (aim.periodic) d = 2.0 * sin(0.5 * d);
                              away = away + d * d;
                          }
                          if (joint.dofs() > 1) {
                              const Vec3 turn = rotation_vector(
                                  conjugate(quaternion_at(target_qpos, aim.qpos + ways)) *
                                  quaternion_at(qpos, joint.qpos + ways));
                              away = away + dot(turn, turn);
                          }
                          for (int k = 0; k < joint.dofs(); ++k) {
                              const Float d = qvel[joint.dof + k] - target_qvel[aim.qvel + k];
                              faster = faster + d * d;
                          }
                          sum = sum + position_factor[j] * away + velocity_factor[j] * faster;
                      }
                      value += sum * scale.value();
                  });
}

void build_joint_target(const Settings& settings, Model& model) {
    const articulated::Robot& robot = articulated::robot_of(settings, model, "of");
    std::vector<Aim> aims;
    int positions = 0, velocities = 0;
    std::vector<double> rest;
    const auto reference = robot.model->reals("qpos0");
    const bool periodic = settings.boolean("periodic");
    for (const int number :
         articulated::things_of(settings.find("joints"), robot, robot::ObjectKind::joint,
                                static_cast<int>(robot.tree->joints.size()))) {
        Aim aim{.joint = robot.tree->joints[at(number)], .qpos = positions, .qvel = velocities};
        aim.periodic = periodic && aim.joint.type == robot::JointType::hinge;
        const int own = aim.joint.scalars() + (aim.joint.dofs() > 1 ? 4 : 0);
        for (int k = 0; k < own; ++k) rest.push_back(reference[at(aim.joint.qpos + k)]);
        positions += own;
        velocities += aim.joint.dofs();
        aims.push_back(aim);
    }
    const auto number = [&](const char* key, std::int64_t count) {
        return settings.quantity(model, key, count).argument();
    };
    const auto count = static_cast<std::int64_t>(aims.size());
    const Argument qpos =
        settings.written("qpos")
            ? number("qpos", positions)
            : settings.quantity_of(model, "qpos", positions, std::move(rest)).argument();
    add_mean(settings, model, [&](double scale, const Array& value) {
        Program program;
        program.add(model.launch(joint_distance(aims), 1,
                                 {{"qpos", model.array(robot.name + ".qpos")},
                                  {"qvel", model.array(robot.name + ".qvel")},
                                  {"target_qpos", qpos},
                                  {"target_qvel", number("qvel", velocities)},
                                  {"position_factor", number("position_factor", count)},
                                  {"velocity_factor", number("velocity_factor", count)},
                                  {"scale", scale},
                                  {"value", value}},
                                 settings.name() + ": distance of joints"));
        return program;
    });
}

}  // namespace

void register_joint_target(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::objective,
         "joint_target",
         "Joints of a robot",
         "Distance of a robot's joints to positions and velocities: mean over the times of the sum "
         "over joints of position_factor |q - qpos|^2 + velocity_factor |dq/dt - qvel|^2. The "
         "distance of quaternions is the angle of the turn between them.",
         {body("of").doc("the name of the robot"),
          list("joints")
              .optional()
              .schema(R"({"type":["string","integer"],"means":"element","of":"jnt_stiffness"})")
              .doc("names or numbers of joints; without it all, in the model's order"),
          values("qpos").optional().differentiable().doc(
              "positions to reach, joint by joint as the model orders the numbers of each: m, rad, "
              "quaternions; without it those in which the model is drawn"),
          values("qvel").fallback("0").differentiable().doc(
              "velocities to reach, joint by joint: m/s, rad/s"),
          values("position_factor").fallback("1").at_least(0).differentiable().doc("of each joint"),
          values("velocity_factor").fallback("0").at_least(0).differentiable().doc("of each joint"),
          boolean("periodic")
              .fallback("false")
              .doc("whole turns of hinges do not count: their distance is 2 sin(d / 2)")},
         built_by(build_joint_target)});
}

}  // namespace hindcast::array_target
