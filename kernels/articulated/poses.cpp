// Poses of a robot at joint positions other than those of the simulation.
#include <span>

#include "kernels/articulated/dynamics/kinematics.hpp"
#include "kernels/articulated/robot_body.hpp"

namespace hindcast::articulated {

std::vector<Launch> RobotBody::placed_as(const Array& qpos, const Array& xpos,
                                         const Array& xquat) const {
    Stage there;
    there["qpos"] = qpos;
    there["xpos"] = xpos;
    there["xquat"] = xquat;
    there["xipos"] = Array(model_.real(), xpos.shape());
    there["cdof"] = Array(model_.real(), {tree_->nv, 6});
    return {launch(kinematics(tree_), there, "kinematics")};
}

std::vector<double> points_at(const TreePointer& tree, const robot::RobotModel& model,
                              const std::vector<double>& qpos) {
    const auto device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    const auto array = [](std::int64_t rows, int columns, std::span<const double> values = {}) {
        Array made(ir::Type::f64, {rows, columns});
        if (!values.empty()) made.assign(values);
        return made;
    };
    const auto bodies = static_cast<std::int64_t>(tree->bodies.size());
    const std::int64_t joints = static_cast<std::int64_t>(tree->joints.size()),
                       points_in_all = bodies - 1 + static_cast<std::int64_t>(tree->sites.size());
    const auto own = [&](const char* name, std::int64_t rows, int columns) {
        return array(rows, columns, model.reals(name));
    };
    const Array xpos = array(bodies, 3), xquat = array(bodies, 4), xipos = array(bodies, 3),
                cdof = array(tree->nv, 6), x = array(points_in_all, 3);
    Launch(device, kinematics(tree), ir::Precision::f64, 1,
           {{"qpos", array(tree->nq, 1, qpos)},
            {"body_pos", own("body_pos", bodies, 3)},
            {"body_quat", own("body_quat", bodies, 4)},
            {"body_ipos", own("body_ipos", bodies, 3)},
            {"jnt_pos", own("jnt_pos", joints, 3)},
            {"jnt_axis", own("jnt_axis", joints, 3)},
            {"xpos", xpos},
            {"xquat", xquat},
            {"xipos", xipos},
            {"cdof", cdof}},
           "kinematics")
        .forward()
        .run();
    Launch(device, points(tree, 0), ir::Precision::f64, 1,
           {{"xpos", xpos},
            {"xquat", xquat},
            {"xipos", xipos},
            {"cvel", array(bodies, 6)},
            {"x", x},
            {"v", array(points_in_all, 3)}},
           "points")
        .forward()
        .run();
    return x.to_doubles();
}

}  // namespace hindcast::articulated
