#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

KernelDef tendons(const TreePointer& tree) {
    return kernel("articulated_tendons", {"tendon_moment"},
                  [tree](Int, WriteSlice<Float> tendon_moment) {
                      const Tree& t = *tree;
                      for (int i = 0; i < static_cast<int>(t.tendons.size()); ++i) {
                          std::vector<double> row(at(t.nv));
                          for (const auto& [joint, coefficient] : t.tendons[at(i)].joints)
                              row[at(t.joints[at(joint)].dof)] += coefficient;
                          for (int k = 0; k < t.nv; ++k)
                              tendon_moment.store_once(t.entry(i, k), row[at(k)]);
                      }
                  });
}

}  // namespace hindcast::articulated
