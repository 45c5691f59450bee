#include "kernels/articulated/dynamics/step.hpp"

#include <algorithm>

#include "kernels/articulated/dynamics/discrete.hpp"
#include "kernels/articulated/dynamics/lower.hpp"
#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

namespace {

// Six equations by Gauss's elimination without pivoting: the matrix is that of an inertia and a part
// that goes to 0 with the step.
std::array<Float, 6> solve_six(std::array<std::array<Float, 6>, 6> a, std::array<Float, 6> b) {
    for (std::size_t k = 0; k < 6; ++k)
        for (std::size_t i = k + 1; i < 6; ++i) {
            const Float ratio = a[i][k] / a[k][k];
            for (std::size_t j = k + 1; j < 6; ++j) a[i][j] -= ratio * a[k][j];
            b[i] -= ratio * b[k];
        }
    for (std::size_t k = 6; k-- > 0;) {
        for (std::size_t j = k + 1; j < 6; ++j) b[k] -= a[k][j] * b[j];
        b[k] = b[k] / a[k][k];
    }
    return b;
}

// The derivative of the bias force of a free body, with what is fixed to it, by its velocities: row,
// column.
std::array<std::array<Float, 6>, 6> bias_derivative(const Tree& t, int body, const Read<Six>& cdof,
                                                    const Read<Six>& cvel, const Read<Ten>& cinert,
                                                    const Read<Float>& qvel) {
    const int dof = t.joints[at(t.bodies[at(body)].joints[0])].dof;
    std::array<Motion, 6> way;
    for (int k = 0; k < 6; ++k) way[at(k)] = Motion(cdof[dof + k]);
    Motion shift, spin;
    for (int k = 0; k < 3; ++k) {
        shift = shift + way[at(k)] * qvel[dof + k];
        spin = spin + way[at(3 + k)] * qvel[dof + 3 + k];
    }
    Inertia inertia(cinert[body]);
    for (int b = body + 1; b < static_cast<int>(t.bodies.size()); ++b)
        if (t.bodies[at(b)].root == body) inertia = inertia + Inertia(cinert[b]);
    const Motion v(cvel[body]);
    const Force momentum = inertia * v;
    std::array<std::array<Float, 6>, 6> derivative;
    for (std::size_t k = 0; k < 6; ++k) {
        const Motion acceleration = k < 3 ? cross(way[k], spin) : cross(shift, way[k]);
        const Force force =
            inertia * acceleration + (cross(way[k], momentum) + cross(v, inertia * way[k]));
        for (std::size_t i = 0; i < 6; ++i) derivative[i][k] = dot(way[i], force);
    }
    return derivative;
}

// dexp^-1(u) w. Below |u|^2 = 0.25 c is its series, of Bernoulli's numbers over factorials, whose
// first omitted term is below one rounding.
Vec3 rate_of_increment(const Vec3& u, const Vec3& w) {
    const Float t2 = dot(u, u);
    const Bool small = t2 < 0.25;
    static constexpr double series[] = {1.0 / 12,           1.0 / 720,      1.0 / 30240,
                                        1.0 / 1209600,      1.0 / 47900160, 691.0 / 1307674368000.0,
                                        1.0 / 74724249600.0};
    Float sum = Float(series[6]);
    for (int k = 5; k >= 0; --k) sum = sum * t2 + series[k];
    const Float safe = select(small, Float(1), t2), half = 0.5 * sqrt(safe);
    const Float c = select(small, sum, (1.0 - half * cos(half) / sin(half)) / safe);
    const Vec3 turned = cross(u, w);
    return w + 0.5 * turned + c * cross(u, turned);
}

void integrate_positions(const Tree& t, const Read<Float>& qpos, const Numbers& velocity,
                         const Float& h, const WriteSlice<Float>& next) {
    for (const Joint& joint : t.joints) {
        const int ways = joint.scalars();
        for (int k = 0; k < ways; ++k)
            next.store_once(joint.qpos + k, qpos[joint.qpos + k] + velocity[at(joint.dof + k)] * h);
        if (joint.dofs() < 3) continue;
        const std::size_t w = at(joint.dof + ways);
        const Vec3 turn(velocity[w] * h, velocity[w + 1] * h, velocity[w + 2] * h);
        const Quat q = quaternion_at(qpos, joint.qpos + ways) * exponential(turn);
        for (int k = 0; k < 4; ++k) next.store_once(joint.qpos + ways + k, q.component(k));
    }
}

}  // namespace

KernelDef acceleration(const TreePointer& tree, Implicit implicit, SceneForces forces,
                       const HoldingRows* constrained_by) {
    const bool constrained = constrained_by != nullptr;
    const HoldingRows rows = constrained ? *constrained_by : HoldingRows{};
    return kernel(
        "articulated_acceleration",
        {"inertia",
         "passive",
         "actuator",
         "bias",
         "h",
         "dof_damping",
         "dof_coulomb",
         "dof_coulomb_speed",
         "moment",
         "slope",
         "cdof",
         "cvel",
         "cinert",
         "qvel",
         "qacc_constrained",
         "tendon_moment",
         "metric",
         "force",
         "row_count",
         "row_mass",
         "row_jacobian",
         "qpos",
         "tendon_length",
         "rise",
         "qacc"},
        [tree, implicit, forces, constrained, rows](
            Int, Read<Float> inertia, Read<Float> passive, Read<Float> actuator, Read<Float> bias,
            Param<Float> h, Property<Float> dof_damping, Property<Float> dof_coulomb,
            Property<Float> dof_coulomb_speed, Read<Float> moment, Read<Float> slope,
            Read<Six> cdof, Read<Six> cvel, Read<Ten> cinert, Read<Float> qvel,
            Read<Float> qacc_constrained, Read<Float> tendon_moment, Read<Float> metric,
            Read<Float> smooth_force, Read<Int> row_count, Read<Float> row_mass,
            Read<Float> row_jacobian, Read<Float> qpos, Read<Float> tendon_length, Read<Float> rise,
            WriteSlice<Float> qacc) {
            const Tree& t = *tree;
            const bool fast = implicit == Implicit::fast, mapped = implicit == Implicit::step_map;
            const auto matrix = [&](int i, int j) -> Float {
                return mapped ? Float(metric[t.entry(i, j)]) : Float(inertia[t.entry(i, j)]);
            };
            Lower m(t);
            Numbers force(at(t.nv), Float(0));
            if (constrained) force = times(t, matrix, qacc_constrained);
            for (int i = 0; i < t.nv; ++i) {
                if (!constrained && mapped) {
                    force[at(i)] = smooth_force[i];
                } else if (!constrained) {
                    force[at(i)] = passive[i] - bias[i];
                    if (!t.actuators.empty()) force[at(i)] = force[at(i)] + actuator[i];
                }
                for (const int j : t.ancestors[at(i)]) m(i, j) = matrix(i, j);
                if (implicit == Implicit::nothing || mapped) continue;
                if (t.dampers) m(i, i) = m(i, i) + h.value() * dof_damping[i];
                if (forces.coulomb) {
                    m(i, i) = m(i, i) + coulomb_resistance(h.value(), dof_coulomb[i],
                                                           dof_coulomb_speed[i], qvel[i]);
                }
            }
            // Adds scale r_i r_j wherever the tree couples two of the degrees of freedom.
            const auto add_square = [&](const std::vector<std::pair<int, Float>>& row,
                                        const Float& scale) {
                for (const auto& [i, a] : row)
                    for (const auto& [j, b] : row)
                        for (const int up : t.ancestors[at(i)])
                            if (up == j) m(i, j) = m(i, j) + scale * (a * b);
            };
            const TendonReader tendons{t, qpos, tendon_length, tendon_moment};
            const Couplings couplings{t, tendons, moment, slope, rise};
            for (int i = 0; fast && i < static_cast<int>(t.tendons.size()); ++i)
                if (const double damping = t.tendons[at(i)].damping; damping != 0)
                    add_square(tendons.moment(i), h.value() * damping);
            for (int u = 0; fast && u < static_cast<int>(t.actuators.size()); ++u) {
                const Actuator& a = t.actuators[at(u)];
                if (a.off ||
                    (a.gain != robot::GainType::affine && a.bias != robot::BiasType::affine))
                    continue;
                std::vector<std::pair<int, Float>> row;
                for (const int k : a.dofs) row.emplace_back(k, moment[t.entry(u, k)]);
                add_square(row, -(h.value() * slope[u]));
            }
            Numbers solution;
            if (mapped && constrained) {  // but for single bodies they are those already
                for (int i = 0; i < t.nv; ++i) solution.push_back(qacc_constrained[i]);
            } else {
                Lower factors = m;
                factors.factor();
                solution = factors.solve(force);
            }
            for (int b = 1; (fast || mapped) && b < static_cast<int>(t.bodies.size()); ++b) {
                if (!t.is_single(b)) continue;
                auto a = bias_derivative(t, b, cdof, cvel, cinert, qvel);
                const int dof = t.joints[at(t.bodies[at(b)].joints[0])].dof;
                if (mapped && std::ranges::any_of(rows.dofs,
                                                  [dof](int k) { return k >= dof && k < dof + 6; }))
                    continue;
                std::array<Float, 6> right;
                for (int i = 0; i < 6; ++i) {
                    right[at(i)] = force[at(dof + i)];
                    for (int j = 0; j < 6; ++j)
                        a[at(i)][at(j)] = m(dof + std::max(i, j), dof + std::min(i, j)) +
                                          h.value() * a[at(i)][at(j)];
                }
                const std::array<Float, 6> own = solve_six(a, right);
                Bool is_free = Int(0) < 1;
                for (const CouplingOf& of : mapped ? couplings_of(t) : std::vector<CouplingOf>{}) {
                    const Coupling c = couplings.of(of);
                    Bool holds = Int(1) < 0;
                    for (const auto& [k, value] : c.row)
                        if (k >= dof && k < dof + 6) holds = holds || value != 0.0;
                    is_free = is_free && !(holds && c.resistance(h.value()) > 0.0);
                }
                if (mapped && rows.rows > rows.first) {
                    Int holding = 0;
                    for_(
                        rows.first, row_count[0],
                        [&](const Int& row) {
                            Bool holds = row_jacobian[row * t.nv + dof] != 0.0;
                            for (int k = 1; k < 6; ++k)
                                holds = holds || row_jacobian[row * t.nv + dof + k] != 0.0;
                            holding += select(holds && row_mass[row] > 0.0, Int(1), Int(0));
                        },
                        rows.rows);
                    is_free = is_free && holding == 0;
                }
                for (int i = 0; i < 6; ++i)
                    solution[at(dof + i)] =
                        mapped ? select(is_free, own[at(i)], solution[at(dof + i)]) : own[at(i)];
            }
            for (int i = 0; i < t.nv; ++i) qacc.store_once(i, solution[at(i)]);
        });
}

namespace {

// Values at the start of a step from which activations at its end are computed.
struct Servos {
    const Tree& tree;
    const Read<Float>& length;
    const Property<Six>& gear;
    const Property<Vec3>&gain, &bias;

    Float after(int u, const Float& act, const Float& rate, const Float& h) const {
        const Actuator& a = tree.actuators[at(u)];
        const Float next = next_activation(a, act, rate, h);
        if (!a.may_wrap || a.off) return next;
        return nearest_setpoint(a, gear[u], gain[u], bias[u], next, length[u]);
    }
};

}  // namespace

KernelDef euler_step(const TreePointer& tree) {
    return kernel(
        "articulated_euler_step",
        {"qpos", "qvel", "act", "qacc", "act_dot", "actuator_length", "gear", "gainprm", "biasprm",
         "h", "next_qpos", "next_qvel", "next_act"},
        [tree](Int, Read<Float> qpos, Read<Float> qvel, Read<Float> act, Read<Float> qacc,
               Read<Float> act_dot, Read<Float> length, Property<Six> gear, Property<Vec3> gainprm,
               Property<Vec3> biasprm, Param<Float> h, WriteSlice<Float> next_qpos,
               WriteSlice<Float> next_qvel, WriteSlice<Float> next_act) {
            const Tree& t = *tree;
            Numbers v(at(t.nv));
            for (int i = 0; i < t.nv; ++i) {
                v[at(i)] = qvel[i] + qacc[i] * h.value();
                next_qvel.store_once(i, v[at(i)]);
            }
            integrate_positions(t, qpos, v, h.value(), next_qpos);
            const Servos servos{t, length, gear, gainprm, biasprm};
            for (int u = 0; u < static_cast<int>(t.actuators.size()); ++u)
                if (const int k = t.actuators[at(u)].activation; k >= 0)
                    next_act.store_once(k, servos.after(u, act[k], act_dot[k], h.value()));
        });
}

KernelDef stage(const TreePointer& tree, double fraction, bool second) {
    return kernel(
        "articulated_stage",
        {"qpos", "qvel", "act", "last_rate", "qacc", "act_dot", "h", "next_qpos", "next_qvel",
         "next_act", "next_rate"},
        [tree, fraction, second](
            Int, Read<Float> qpos, Read<Float> qvel, Read<Float> act, Read<Float> last_rate,
            Read<Float> qacc, Read<Float> act_dot, Param<Float> h, WriteSlice<Float> next_qpos,
            WriteSlice<Float> next_qvel, WriteSlice<Float> next_act, WriteSlice<Float> next_rate) {
            const Tree& t = *tree;
            const Float part = fraction * h.value();
            Numbers last(at(t.nv)), rate(at(t.nv));
            for (int i = 0; i < t.nv; ++i) {
                last[at(i)] = second ? qvel[i] : last_rate[i];
                rate[at(i)] = qvel[i] + qacc[i] * part;
                next_qvel.store_once(i, rate[at(i)]);
            }
            integrate_positions(t, qpos, last, part, next_qpos);
            for (const Joint& joint : t.joints) {
                if (joint.dofs() < 3) continue;
                const std::size_t k = at(joint.dof + joint.scalars());
                const Vec3 u(last[k] * part, last[k + 1] * part, last[k + 2] * part);
                const Vec3 turn = rate_of_increment(u, Vec3(rate[k], rate[k + 1], rate[k + 2]));
                for (int m = 0; m < 3; ++m) rate[k + at(m)] = turn[m];
            }
            for (int i = 0; i < t.nv; ++i) next_rate.store_once(i, rate[at(i)]);
            for (const Actuator& a : t.actuators)
                if (const int k = a.activation; k >= 0)
                    next_act.store_once(k, act[k] + act_dot[k] * part);
        });
}

KernelDef rk4_step(const TreePointer& tree) {
    return kernel(
        "articulated_rk4_step",
        {"qpos",      "qvel",      "act",       "rate_2",    "rate_3",
         "rate_4",    "qacc",      "qacc_2",    "qacc_3",    "qacc_4",
         "act_dot",   "act_dot_2", "act_dot_3", "act_dot_4", "actuator_length",
         "gear",      "gainprm",   "biasprm",   "h",         "next_qpos",
         "next_qvel", "next_act"},
        [tree](Int, Read<Float> qpos, Read<Float> qvel, Read<Float> act, Read<Float> v2,
               Read<Float> v3, Read<Float> v4, Read<Float> a1, Read<Float> a2, Read<Float> a3,
               Read<Float> a4, Read<Float> r1, Read<Float> r2, Read<Float> r3, Read<Float> r4,
               Read<Float> length, Property<Six> gear, Property<Vec3> gainprm,
               Property<Vec3> biasprm, Param<Float> h, WriteSlice<Float> next_qpos,
               WriteSlice<Float> next_qvel, WriteSlice<Float> next_act) {
            const Tree& t = *tree;
            const auto mean = [](const Float& a, const Float& b, const Float& c, const Float& d) {
                return (a + 2.0 * b + 2.0 * c + d) / 6.0;
            };
            Numbers v(at(t.nv));
            for (int i = 0; i < t.nv; ++i) {
                v[at(i)] = mean(qvel[i], v2[i], v3[i], v4[i]);
                next_qvel.store_once(i, qvel[i] + mean(a1[i], a2[i], a3[i], a4[i]) * h.value());
            }
            integrate_positions(t, qpos, v, h.value(), next_qpos);
            const Servos servos{t, length, gear, gainprm, biasprm};
            for (int u = 0; u < static_cast<int>(t.actuators.size()); ++u)
                if (const int k = t.actuators[at(u)].activation; k >= 0)
                    next_act.store_once(
                        k, servos.after(u, act[k], mean(r1[k], r2[k], r3[k], r4[k]), h.value()));
        });
}

KernelDef copy() {
    return kernel("articulated_copy", {"from", "to"},
                  [](Int i, Property<Float> from, Write<Float> to) { to[i] = from[i]; });
}

}  // namespace hindcast::articulated
