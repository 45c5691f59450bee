#include "kernels/articulated/dynamics/kinematics.hpp"

namespace hindcast::articulated {

using robot::JointType;

// For each body, from the root on: the frame that its parent gives it, then each joint's motion.
void each_frame(const Tree& t, const JointPositions& q_of, const TreeShape& shape,
                const std::function<void(int, const Frames&, const std::vector<Freedom>&)>& visit) {
    Frames frames{std::vector<Vec3>(t.bodies.size()), std::vector<Quat>(t.bodies.size())};
    for (int b = 0; b < static_cast<int>(t.bodies.size()); ++b) {
        const Body& body = t.bodies[at(b)];
        Vec3 p;
        Quat q;
        std::vector<Freedom> freedoms;
        if (b > 0) {
            const Vec3& above = frames.place[at(body.parent)];
            const Quat& frame = frames.turned[at(body.parent)];
            if (body.joints.empty() || t.joints[at(body.joints[0])].type != JointType::free) {
                p = above + rotate(frame, shape.body_pos[b]);
                q = frame * normalize(shape.body_quat[b]);
            }
        }
        for (const int j : body.joints) {
            const Joint& joint = t.joints[at(j)];
            if (joint.type == JointType::free) {
                p = Vec3(q_of.number(joint.qpos), q_of.number(joint.qpos + 1),
                         q_of.number(joint.qpos + 2));
                q = q_of.quaternion(joint.qpos + 3);
                const Mat3 m = to_matrix(q), world = Mat3::identity();
                for (int k = 0; k < 3; ++k) freedoms.push_back({world.column(k), p, false});
                for (int k = 0; k < 3; ++k) freedoms.push_back({m.column(k), p, true});
                continue;
            }
            const Vec3 local = shape.jnt_pos[j];
            const Vec3 anchor = p + rotate(q, local);
            if (joint.type == JointType::ball) {
                q = q * q_of.quaternion(joint.qpos);
                const Mat3 m = to_matrix(q);
                for (int k = 0; k < 3; ++k) freedoms.push_back({m.column(k), anchor, true});
                p = anchor - rotate(q, local);
                continue;
            }
            const Vec3 own = normalize(shape.jnt_axis[j]);
            const Float way = q_of.number(joint.qpos) - joint.reference;
            const Vec3 axis = rotate(q, own);
            if (joint.type == JointType::slide) {
                p = p + axis * way;
                freedoms.push_back({axis, anchor, false});
            } else {
                q = q * from_axis_angle(own, way);
                p = anchor - rotate(q, local);
                freedoms.push_back({axis, anchor, true});
            }
        }
        if (b > 0) q = normalize(q);
        frames.place[at(b)] = p;
        frames.turned[at(b)] = q;
        visit(b, frames, freedoms);
    }
}

KernelDef kinematics(const TreePointer& tree) {
    return kernel("articulated_kinematics",
                  {"qpos", "body_pos", "body_quat", "body_ipos", "jnt_pos", "jnt_axis", "xpos",
                   "xquat", "xipos", "cdof"},
                  [tree](Int, Read<Float> qpos, Property<Vec3> body_pos, Property<Quat> body_quat,
                         Property<Vec3> body_ipos, Property<Vec3> jnt_pos, Property<Vec3> jnt_axis,
                         WriteSlice<Vec3> xpos, WriteSlice<Quat> xquat, WriteSlice<Vec3> xipos,
                         WriteSlice<Six> cdof) {
                      const Tree& t = *tree;
                      const JointPositions positions{[&](int k) { return Float(qpos[k]); },
                                                     [&](int k) { return quaternion_at(qpos, k); }};
                      each_frame(
                          t, positions, {body_pos, body_quat, jnt_pos, jnt_axis},
                          [&](int b, const Frames& frames, const std::vector<Freedom>& freedoms) {
                              const Body& body = t.bodies[at(b)];
                              const Vec3& p = frames.place[at(b)];
                              const Quat& q = frames.turned[at(b)];
                              xpos.store_once(b, p);
                              xquat.store_once(b, q);
                              xipos.store_once(b, p + rotate(q, body_ipos[b]));
                              const Vec3& origin = frames.place[at(body.root)];
                              int dof = body.joints.empty() ? 0 : t.joints[at(body.joints[0])].dof;
                              for (const Freedom& f : freedoms) {
                                  const Vec3 none;
                                  const Motion motion =
                                      f.turns ? Motion(f.axis, cross(f.axis, origin - f.anchor))
                                              : Motion(none, f.axis);
                                  cdof.store_once(dof++, motion.six());
                              }
                          });
                  });
}

KernelDef velocities(const TreePointer& tree) {
    return kernel("articulated_velocities", {"cdof", "qvel", "cvel"},
                  [tree](Int, Read<Six> cdof, Read<Float> qvel, WriteSlice<Six> cvel) {
                      const Tree& t = *tree;
                      std::vector<Motion> v(t.bodies.size());
                      for (int b = 0; b < static_cast<int>(t.bodies.size()); ++b) {
                          const Body& body = t.bodies[at(b)];
                          if (b > 0) v[at(b)] = v[at(body.parent)];
                          for (const int j : body.joints) {
                              const Joint& joint = t.joints[at(j)];
                              for (int k = joint.dof; k < joint.dof + joint.dofs(); ++k)
                                  v[at(b)] = v[at(b)] + Motion(cdof[k]) * qvel[k];
                          }
                          cvel.store_once(b, v[at(b)].six());
                      }
                  });
}

KernelDef points(const TreePointer& tree, std::int64_t first) {
    return kernel("articulated_points", {"xpos", "xquat", "xipos", "cvel", "x", "v"},
                  [tree, first](Int, Read<Vec3> xpos, Read<Quat> xquat, Read<Vec3> xipos,
                                Read<Six> cvel, WriteSlice<Vec3> x, WriteSlice<Vec3> v) {
                      const Tree& t = *tree;
                      int number = static_cast<int>(first);
                      const auto add = [&](int body, const Vec3& p) {
                          const Motion m(cvel[body]);
                          const Vec3 origin = xpos[t.bodies[at(body)].root];
                          x.store_once(number, p);
                          v.store_once(number++, m.linear + cross(m.angular, p - origin));
                      };
                      for (int b = 1; b < static_cast<int>(t.bodies.size()); ++b) add(b, xipos[b]);
                      for (const Site& site : t.sites) {
                          const Vec3 local(site.position[0], site.position[1], site.position[2]);
                          add(site.body, Vec3(xpos[site.body]) + rotate(xquat[site.body], local));
                      }
                  });
}

}  // namespace hindcast::articulated
