#include "kernels/articulated/derived/derived_constants.hpp"

#include "kernels/articulated/dynamics/lower.hpp"

namespace hindcast::articulated {

using robot::EqualityType;
using robot::JointType;

namespace {

class Weights {
public:
    Weights(const Tree& tree, const Read<Float>& factors) : t_(tree), factors_(tree) {
        for (int i = 0; i < t_.nv; ++i)
            for (const int j : t_.ancestors[at(i)]) factors_(i, j) = factors[t_.entry(i, j)];
    }
    // x . M^-1 x.
    Float of(Numbers x) const {
        const Numbers y = factors_.half_solve(std::move(x));
        Float sum;
        for (int i = 0; i < t_.nv; ++i) sum = sum + y[at(i)] * y[at(i)] * factors_(i, i);
        return sum;
    }

private:
    const Tree& t_;
    Lower factors_;
};

}  // namespace

KernelDef reference_places() {
    return kernel(
        "articulated_reference_places",
        {"is_mocap", "own_pos", "own_quat", "body_pos", "body_quat", "reference_pos",
         "reference_quat"},
        [](Int i, Read<Int> is_mocap, Read<Vec3> own_pos, Read<Vec4> own_quat,
           Property<Vec3> body_pos, Property<Vec4> body_quat, Write<Vec3> pos, Write<Vec4> quat) {
            const Bool own = is_mocap[i] == 1;
            pos[i] = select(own, Vec3(own_pos[i]), Vec3(body_pos[i]));
            quat[i] = select(own, Vec4(own_quat[i]), Vec4(body_quat[i]));
        });
}

KernelDef factors_of_inertia(const TreePointer& tree) {
    return kernel("articulated_factors_of_inertia", {"inertia", "factors"},
                  [tree](Int, Read<Float> inertia, WriteSlice<Float> factors) {
                      const Tree& t = *tree;
                      Lower m(t);
                      for (int i = 0; i < t.nv; ++i)
                          for (const int j : t.ancestors[at(i)]) m(i, j) = inertia[t.entry(i, j)];
                      m.factor();
                      for (int i = 0; i < t.nv; ++i)
                          for (const int j : t.ancestors[at(i)])
                              factors.store_once(t.entry(i, j), m(i, j));
                  });
}

KernelDef dof_weights(const TreePointer& tree) {
    return kernel("articulated_dof_weights", {"factors", "dof_weight"},
                  [tree](Int i, Read<Float> factors, Write<Float> dof_weight) {
                      Numbers one(at(tree->nv));
                      for (int k = 0; k < tree->nv; ++k)
                          one[at(k)] = select(i == k, Float(1), Float(0));
                      dof_weight[i] = Weights(*tree, factors).of(std::move(one));
                  });
}

KernelDef joint_weights(const TreePointer& tree) {
    return kernel("articulated_joint_weights", {"dof_weight", "dof_invweight0"},
                  [tree](Int, Read<Float> each, WriteSlice<Float> all) {
                      for (const Joint& joint : tree->joints)
                          for (int k = 0; k < joint.dofs(); k += 3) {
                              const int first = joint.dof + k;
                              if (joint.dofs() == 1) {
                                  all.store_once(first, each[first]);
                                  continue;
                              }
                              const Float mean =
                                  (each[first] + each[first + 1] + each[first + 2]) / 3.0;
                              for (int j = 0; j < 3; ++j) all.store_once(first + j, mean);
                          }
                  });
}

KernelDef body_weights(const TreePointer& tree) {
    return kernel("articulated_body_weights",
                  {"factors", "cdof", "xpos", "xipos", "dof_moves", "body_invweight0"},
                  [tree](Int i, Read<Float> factors, Read<Six> cdof, Read<Vec3> xpos,
                         Read<Vec3> xipos, Read<Int> moves, Write<Vec<Float, 2>> weight) {
                      const Tree& t = *tree;
                      const Weights weights(t, factors);
                      const Vec3 center = xipos[i];
                      std::array<Numbers, 6> rows;
                      for (Numbers& row : rows) row.resize(at(t.nv));
                      for (int k = 0; k < t.nv; ++k) {
                          const Motion way(cdof[k]);
                          const Vec3 origin = xpos[t.bodies[at(t.dof_body[at(k)])].root];
                          const Vec3 linear = way.linear + cross(way.angular, center - origin);
                          const Float is(moves[i * t.nv + k]);
                          for (int j = 0; j < 3; ++j) {
                              rows[at(j)][at(k)] = is * linear[j];
                              rows[at(3 + j)][at(k)] = is * way.angular[j];
                          }
                      }
                      Float sums[2];
                      for (int j = 0; j < 6; ++j)
                          sums[j / 3] = sums[j / 3] + weights.of(std::move(rows[at(j)])) / 3.0;
                      weight[i] = Vec<Float, 2>(sums[0], sums[1]);
                  });
}

KernelDef tendon_weights(const TreePointer& tree) {
    return kernel("articulated_tendon_weights", {"factors", "tendon_moment", "tendon_invweight0"},
                  [tree](Int i, Read<Float> factors, Read<Float> moment, Write<Float> weight) {
                      Numbers row(at(tree->nv));
                      for (int k = 0; k < tree->nv; ++k) row[at(k)] = moment[i * tree->nv + k];
                      weight[i] = Weights(*tree, factors).of(std::move(row));
                  });
}

KernelDef equality_data(const PlanPointer& plan) {
    using Data = Vec<Float, 12>;
    return kernel(
        "articulated_equality_data", {"xpos", "xquat", "eq_data", "derived_eq_data"},
        [plan](Int, Read<Vec3> xpos, Read<Quat> xquat, Property<Data> given,
               WriteSlice<Data> derived) {
            for (const EqualityRow& e : plan->equalities) {
                Data data = given[e.number];
                const auto vector = [&](int k) { return Vec3(data[k], data[k + 1], data[k + 2]); };
                if (e.derived) {
                    const bool weld = e.type == EqualityType::weld;
                    // A weld has the anchor in the second body first.
                    const int held = weld ? e.second : e.first, other = weld ? e.first : e.second;
                    const Vec3 place = Vec3(xpos[held]) + rotate(xquat[held], vector(0));
                    const Vec3 local = rotate(conjugate(xquat[other]), place - Vec3(xpos[other]));
                    for (int k = 0; k < 3; ++k) data[3 + k] = local[k];
                    if (weld) {
                        const Quat turn = conjugate(xquat[e.first]) * Quat(xquat[e.second]);
                        for (int k = 0; k < 4; ++k) data[6 + k] = turn.component(k);
                    }
                }
                derived.store_once(e.number, data);
            }
        });
}

}  // namespace hindcast::articulated
