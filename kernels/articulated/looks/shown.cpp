#include "kernels/articulated/looks/shown.hpp"

#include <algorithm>

#include "engine/model/shown.hpp"
#include "kernels/articulated/constraints/contact_rows.hpp"
#include "kernels/articulated/dynamics/spatial.hpp"

namespace hindcast::articulated {

using model::Model;
using model::ShownQuantity;
using robot::JointType;

namespace {

bool has_axis(const Joint& joint) {
    return joint.type == JointType::hinge || joint.type == JointType::slide;
}

void store(const WriteSlice<Six>& to, int row, const Vec3& place, const Vec3& vector) {
    to.store_once(row, Six(place[0], place[1], place[2], vector[0], vector[1], vector[2]));
}

// A hinge's arrow begins at the place of its axis that is nearest to where its body has the joint.
KernelDef joint_axes(const TreePointer& tree) {
    return kernel("articulated_joint_axes", {"xpos", "xquat", "cdof", "jnt_pos", "axes"},
                  [tree](Int, Read<Vec3> xpos, Read<Quat> xquat, Read<Six> cdof,
                         Property<Vec3> jnt_pos, WriteSlice<Six> axes) {
                      int row = 0;
                      for (std::size_t j = 0; j < tree->joints.size(); ++j) {
                          const Joint& joint = tree->joints[j];
                          if (!has_axis(joint)) continue;
                          const Motion way(cdof[joint.dof]);
                          const Vec3 place =
                              Vec3(xpos[joint.body]) +
                              rotate(xquat[joint.body], jnt_pos[static_cast<int>(j)]);
                          const Vec3 origin = xpos[tree->bodies[at(joint.body)].root];
                          const Vec3 speed = way.linear + cross(way.angular, place - origin);
                          if (joint.type == JointType::hinge)
                              store(axes, row++, place + cross(way.angular, speed), way.angular);
                          else
                              store(axes, row++, place, way.linear);
                      }
                  });
}

KernelDef site_axes(const TreePointer& tree) {
    return kernel("articulated_site_axes", {"xpos", "xquat", "axes"},
                  [tree](Int, Read<Vec3> xpos, Read<Quat> xquat, WriteSlice<Six> axes) {
                      int row = 0;
                      for (const Site& site : tree->sites) {
                          const Quat body = xquat[site.body];
                          const double *p = site.position, *o = site.orientation;
                          const Vec3 place =
                              Vec3(xpos[site.body]) + rotate(body, Vec3(p[0], p[1], p[2]));
                          const Mat3 turn = to_matrix(body * Quat(Vec4(o[0], o[1], o[2], o[3])));
                          for (int k = 0; k < 3; ++k) store(axes, row++, place, turn.column(k));
                      }
                  });
}

}  // namespace

void publish_shown(Model& model, const std::string& owner, const TreePointer& tree,
                   const PlanPointer& plan, const Array& acceleration, const Launcher& launch) {
    const auto publish = [&](const char* name, const char* unit, const char* meaning,
                             std::int64_t count, auto add) {
        if (count == 0) return;
        model::publish(model, {.owner = owner,
                               .name = name,
                               .unit = unit,
                               .meaning = meaning,
                               .of = ShownQuantity::Of::places,
                               .count = count,
                               .components = 3,
                               .add = std::move(add)});
    };
    publish(
        "contact force between bodies", "N",
        "on the second geom of each contact, at the begin of the last step", plan->contacts,
        [=](Model& of, const Array& values, Program& program) {
            const Array force(of.real(), {plan->sizes(tree->nv).rows, 1});
            program.add(launch(row_forces(plan->sizes(tree->nv)), "forces of constraints",
                               {{"x", acceleration}, {"row_force", force}}, 1));
            const Array wrench(of.real(), {plan->contacts, 6});
            program.add(launch(contact_wrenches(plan), "forces of contacts",
                               {{"row_force", force}, {"contact_wrench", wrench}}, plan->contacts));
            program.add(launch(contact_forces(), "contact forces",
                               {{"contact_wrench", wrench}, {"shown", values}}, plan->contacts));
        });
    publish("joint axis", "", "of length 1, of each hinge and slide",
            std::ranges::count_if(tree->joints, has_axis),
            [=](Model&, const Array& values, Program& program) {
                program.add(launch(joint_axes(tree), "axes of joints", {{"axes", values}}, 1));
            });
    publish("site axis", "", "of length 1, three of each site",
            3 * static_cast<std::int64_t>(tree->sites.size()),
            [=](Model&, const Array& values, Program& program) {
                program.add(launch(site_axes(tree), "axes of sites", {{"axes", values}}, 1));
            });
}

}  // namespace hindcast::articulated
