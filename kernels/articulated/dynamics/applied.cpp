#include "kernels/articulated/dynamics/applied.hpp"

namespace hindcast::articulated {

KernelDef applied_force(const TreePointer& tree, std::int64_t first) {
    return kernel("articulated_applied_force",
                  {"point_force", "xpos", "xquat", "xipos", "cdof", "applied"},
                  [tree, first](Int, Read<Vec3> point_force, Read<Vec3> xpos, Read<Quat> xquat,
                                Read<Vec3> xipos, Read<Six> cdof, WriteSlice<Float> applied) {
                      const Tree& t = *tree;
                      std::vector<Force> on_body(t.bodies.size());
                      int number = static_cast<int>(first);
                      const auto add = [&](int body, const Vec3& place) {
                          const Vec3 f = point_force[number++];
                          if (!t.moves(body)) return;
                          const Vec3 arm = place - Vec3(xpos[t.bodies[at(body)].root]);
                          on_body[at(body)] = on_body[at(body)] + Force(cross(arm, f), f);
                      };
                      for (int b = 1; b < static_cast<int>(t.bodies.size()); ++b) add(b, xipos[b]);
                      for (const Site& site : t.sites) {
                          const Vec3 local(site.position[0], site.position[1], site.position[2]);
                          add(site.body, Vec3(xpos[site.body]) + rotate(xquat[site.body], local));
                      }
                      std::vector<Float> sum(at(t.nv));
                      for (int b = static_cast<int>(t.bodies.size()) - 1; b > 0; --b) {
                          const Body& body = t.bodies[at(b)];
                          if (!t.moves(b)) continue;
                          // Forces on the body act on all bodies that carry it.
                          for (const int j : body.joints) {
                              const Joint& joint = t.joints[at(j)];
                              for (int k = joint.dof; k < joint.dof + joint.dofs(); ++k)
                                  sum[at(k)] = dot(Motion(cdof[k]), on_body[at(b)]);
                          }
                          if (t.moves(body.parent))
                              on_body[at(body.parent)] = on_body[at(body.parent)] + on_body[at(b)];
                      }
                      for (int i = 0; i < t.nv; ++i) applied.store_once(i, sum[at(i)]);
                  });
}

}  // namespace hindcast::articulated
