#include "kernels/articulated/dynamics/discrete.hpp"

#include <algorithm>

#include "kernels/articulated/dynamics/dynamics.hpp"
#include "kernels/articulated/dynamics/lower.hpp"

namespace hindcast::articulated {

using robot::BiasType;
using robot::GainType;

std::vector<CouplingOf> couplings_of(const Tree& tree) {
    std::vector<CouplingOf> all;
    for (std::size_t i = 0; i < tree.tendons.size(); ++i)
        if (tree.tendons[i].stiffness != 0 || tree.tendons[i].damping != 0)
            all.push_back({false, static_cast<int>(i)});
    for (std::size_t u = 0; u < tree.actuators.size(); ++u) {
        const Actuator& a = tree.actuators[u];
        if (!a.off && (a.gain == GainType::affine || a.bias == BiasType::affine))
            all.push_back({true, static_cast<int>(u)});
    }
    return all;
}

bool fits(const Tree& tree, const CouplingOf& coupling) {
    const std::vector<int>& dofs = coupling.actuator ? tree.actuators[at(coupling.number)].dofs
                                                     : tree.tendons[at(coupling.number)].dofs;
    for (const int i : dofs)
        for (const int j : dofs)
            if (j < i && std::ranges::find(tree.ancestors[at(i)], j) == tree.ancestors[at(i)].end())
                return false;
    return true;
}

Coupling Couplings::of(const CouplingOf& coupling) const {
    Coupling c;
    const int k = coupling.number;
    if (coupling.actuator) {
        for (const int dof : tree.actuators[at(k)].dofs)
            c.row.emplace_back(dof, moment[tree.entry(k, dof)]);
        c.stiffness = max(-rise[k], 0.0);
        c.damping = max(-slope[k], 0.0);
        return c;
    }
    const Tendon& tendon = tree.tendons[at(k)];
    c.row = tendons.moment(k);
    c.stiffness = tendon.stiffness;
    c.damping = tendon.damping;
    if (tendon.stiffness != 0 && tendon.low < tendon.high) {
        const Float length = tendons.length(k);
        c.stiffness = select(length >= tendon.low && length <= tendon.high, Float(0), c.stiffness);
    }
    return c;
}

KernelDef discrete_step_map(const TreePointer& tree, bool coulomb) {
    return kernel(
        "articulated_discrete_step_map",
        {"inertia", "passive", "actuator", "bias", "qpos", "qvel", "h", "jnt_stiffness",
         "dof_damping", "dof_coulomb", "dof_coulomb_speed", "tendon_length", "tendon_moment",
         "moment", "slope", "rise", "metric", "force", "dof_shares"},
        [tree, coulomb](Int, Read<Float> inertia, Read<Float> passive, Read<Float> actuator,
                        Read<Float> bias, Read<Float> qpos, Read<Float> qvel, Param<Float> step,
                        Property<Float> jnt_stiffness, Property<Float> dof_damping,
                        Property<Float> dof_coulomb, Property<Float> dof_coulomb_speed,
                        Read<Float> tendon_length, Read<Float> tendon_moment, Read<Float> moment,
                        Read<Float> slope, Read<Float> rise, WriteSlice<Float> metric,
                        WriteSlice<Float> force, WriteSlice<Vec<Float, 2>> dof_shares) {
            const Tree& t = *tree;
            const auto h = [&] { return step.value(); };
            Lower m(t);
            Numbers forces(at(t.nv)), added(at(t.nv));
            for (int i = 0; i < t.nv; ++i) {
                forces[at(i)] = passive[i] - bias[i];
                if (!t.actuators.empty()) forces[at(i)] = forces[at(i)] + actuator[i];
                for (const int j : t.ancestors[at(i)]) m(i, j) = inertia[t.entry(i, j)];
                if (t.springs) {
                    const Float k = max(jnt_stiffness[t.dof_joint[at(i)]], 0.0);
                    added[at(i)] = added[at(i)] + h() * h() * k;
                    forces[at(i)] = forces[at(i)] - h() * k * qvel[i];
                }
                if (t.dampers) added[at(i)] = added[at(i)] + h() * max(dof_damping[i], 0.0);
                if (coulomb) {
                    added[at(i)] = added[at(i)] + coulomb_resistance(h(), dof_coulomb[i],
                                                                     dof_coulomb_speed[i], qvel[i]);
                }
            }
            const Numbers own = added;
            const Couplings couplings{
                t, {t, qpos, tendon_length, tendon_moment}, moment, slope, rise};
            for (const CouplingOf& of : couplings_of(t)) {
                const Coupling c = couplings.of(of);
                const Float resists = c.resistance(h());
                const bool in_matrix = fits(t, of);
                Float velocity;
                for (const auto& [i, a] : c.row) velocity = velocity + a * qvel[i];
                for (const auto& [i, a] : c.row) {
                    forces[at(i)] = forces[at(i)] - h() * c.stiffness * velocity * a;
                    added[at(i)] = added[at(i)] + resists * (a * a);
                    for (const auto& [j, b] : c.row)
                        if (in_matrix && j <= i) m(i, j) = m(i, j) + resists * (a * b);
                }
            }
            for (int i = 0; i < t.nv; ++i) {
                const Float inertia_of = inertia[t.entry(i, i)];
                dof_shares.store_once(
                    i, Vec<Float, 2>(1.0 / inertia_of, 1.0 / (inertia_of + added[at(i)])));
                m(i, i) = m(i, i) + own[at(i)];
                force.store_once(i, forces[at(i)]);
                for (const int j : t.ancestors[at(i)]) metric.store_once(t.entry(i, j), m(i, j));
            }
        });
}

}  // namespace hindcast::articulated
