#include "kernels/articulated/constraints/constraint_rows.hpp"

#include <utility>

#include "kernels/articulated/constraints/soft_constraint.hpp"
#include "kernels/articulated/dynamics/discrete.hpp"
#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

using robot::EqualityType;

namespace {

// Entries of a row of J that may differ from 0: degree of freedom, value.
using Row = std::vector<std::pair<int, Float>>;

Float velocity_along(const Row& row, const Read<Float>& qvel) {
    Float sum = 0;
    for (const auto& [dof, value] : row) sum = sum + value * qvel[dof];
    return sum;
}

void put_jacobian(const WriteSlice<Float>& jacobian, int dofs, int number, const Row& row) {
    std::vector<Float> all(at(dofs), Float(0));
    for (const auto& [dof, value] : row) all[at(dof)] = value;
    for (int k = 0; k < dofs; ++k) jacobian.store_once(number * dofs + k, all[at(k)]);
}

// The share of its inverse inertia that a row feels with the integrator `discrete`.
Float share_of(const Row& row, const Read<Two>& shares) {
    Share share;
    for (const auto& [dof, value] : row) share.add(value, shares[dof]);
    return share.felt();
}

// Rows of the tree while they are recorded.
struct Rows {
    int dofs;
    WriteSlice<Float> jacobian, aref, mass, low, high;
    Read<Two> shares;  // discrete.hpp
    SpringOptions options;
    Float h;

    SoftConstraint soft(const SoftNumbers& numbers, const Float& position, const Row& row,
                        const Float& inverse_inertia, Spring spring) const {
        const Float own =
            options.discrete ? share_of(row, shares) * inverse_inertia : inverse_inertia;
        return {numbers, position, own, h, options, spring};
    }
    void put(int number, const Row& row, const Float& reference, const Float& d, const Float& least,
             const Float& most) const {
        put_jacobian(jacobian, dofs, number, row);
        aref.store_once(number, reference);
        mass.store_once(number, d);
        low.store_once(number, least);
        high.store_once(number, most);
    }
    // The row of a limit at this distance from it.
    void put_limit(int number, const Row& row, const Float& velocity, const Float& distance,
                   double margin, const SoftNumbers& numbers, const Float& inverse_inertia) const {
        const Float past = distance - margin;
        const SoftConstraint c = soft(numbers, past, row, inverse_inertia, Spring::limited);
        put(number, row, c.reference(velocity, past), select(past < 0.0, c.mass(), Float(0)),
            -unbounded, 0.0);
    }
};

Row negative(Row row) {
    for (auto& [dof, value] : row) value = -value;
    return row;
}

// The sum of rows; entries of the same degree of freedom become one.
Row sum_of(const Row& a, const Row& b) {
    Row sum = a;
    for (const auto& [dof, value] : b) {
        auto own = sum.begin();
        while (own != sum.end() && own->first != dof) ++own;
        if (own == sum.end())
            sum.emplace_back(dof, value);
        else
            own->second = own->second + value;
    }
    return sum;
}

// The residuals of an equality and their derivatives, row by row.
struct Residuals {
    std::vector<Float> values;
    std::vector<Row> rows;
    std::vector<Float> inverse_inertia;
    std::vector<Float> carried;  // dJ/dt v, of connect and weld; 0 for the others
};

struct Frame {
    int body;
    Vec3 place;
    Quat turn;
    Vec3 spin, spin_rate, acceleration;  // where no joint accelerates
};

class Equalities {
public:
    Equalities(const Tree& tree, const Read<Float>& qpos, const Read<Float>& qvel,
               const Read<Vec3>& xpos, const Read<Quat>& xquat, const Read<Six>& cdof,
               const Read<Six>& cvel, const Property<Two>& body_invweight0,
               const Property<Float>& dof_invweight0, const Property<Float>& tendon_invweight0,
               const TendonReader& tendons, const Read<Float>& tendon_length0)
        : t_(tree),
          qpos_(qpos),
          xpos_(xpos),
          xquat_(xquat),
          cdof_(cdof),
          cvel_(cvel),
          carried_(carried_accelerations(tree, Motion(), cdof_, cvel_, qvel)),
          body_weight_(body_invweight0),
          dof_weight_(dof_invweight0),
          tendon_weight_(tendon_invweight0),
          tendons_(tendons),
          length0_(tendon_length0) {}

    Residuals of(const EqualityRow& e, const Vec<Float, 12>& data) const {
        if (e.type == EqualityType::joint || e.type == EqualityType::tendon)
            return coupling(e, data);
        const bool weld = e.type == EqualityType::weld;
        const auto anchor = [&](int k) { return Vec3(data[k], data[k + 1], data[k + 2]); };
        // A weld has the anchor in the second body first.
        const Frame a = frame(e.sites, e.first, anchor(weld ? 3 : 0)),
                    b = frame(e.sites, e.second, anchor(weld ? 0 : 3));
        const auto of_a = jacobian(t_, a.body, a.place, xpos_, cdof_),
                   of_b = jacobian(t_, b.body, b.place, xpos_, cdof_);
        Residuals r;
        const Vec3 apart = a.place - b.place, carried = a.acceleration - b.acceleration;
        for (int k = 0; k < 3; ++k)
            add(r, apart[k], difference(of_a, of_b, [k](const Motion& m) { return m.linear[k]; }),
                body_weight_[a.body][0] + body_weight_[b.body][0], carried[k]);
        if (!weld) return r;
        const Quat relative(Vec4(data[6], data[7], data[8], data[9]));
        const Quat turned = e.sites ? a.turn : a.turn * relative, back = conjugate(b.turn);
        const Float& scale = data[10];
        const Quat rest = back * turned;
        const Vec3 spin = a.spin - b.spin;
        const auto pure = [](const Vec3& v) { return Quat(Float(0), v); };
        const Quat turning[] = {back * pure(b.spin) * pure(spin) * turned,
                                back * pure(a.spin_rate - b.spin_rate) * turned,
                                back * pure(spin) * pure(a.spin) * turned};
        for (int k = 0; k < 3; ++k) {
            const auto part = [&, k](const Motion& m) {
                return 0.5 * scale * (back * pure(m.angular) * turned).component(k + 1);
            };
            const Float sum = turning[1].component(k + 1) +
                              0.5 * (turning[2].component(k + 1) - turning[0].component(k + 1));
            add(r, scale * rest.component(k + 1), difference(of_a, of_b, part),
                body_weight_[a.body][1] + body_weight_[b.body][1], 0.5 * scale * sum);
        }
        return r;
    }

private:
    using Jacobian = std::vector<std::pair<int, Motion>>;

    static void add(Residuals& r, const Float& value, Row row, const Float& inverse_inertia,
                    const Float& carried) {
        r.values.push_back(value);
        r.carried.push_back(carried);
        r.rows.push_back(std::move(row));
        r.inverse_inertia.push_back(inverse_inertia);
    }

    template <class F>
    static Row difference(const Jacobian& a, const Jacobian& b, const F& part) {
        Row first, second;
        for (const auto& [dof, motion] : a) first.emplace_back(dof, part(motion));
        for (const auto& [dof, motion] : b) second.emplace_back(dof, -part(motion));
        return sum_of(first, second);
    }

    Frame frame(bool site, int number, const Vec3& anchor) const {
        Frame f;
        f.body = number;
        Vec3 way = anchor;
        Quat own;
        if (site) {
            const Site& s = t_.sites[at(number)];
            f.body = s.body;
            way = Vec3(s.position[0], s.position[1], s.position[2]);
            own =
                Quat(Vec4(s.orientation[0], s.orientation[1], s.orientation[2], s.orientation[3]));
        }
        const Quat turn(xquat_[f.body]);
        f.place = Vec3(xpos_[f.body]) + rotate(turn, way);
        f.turn = site ? turn * own : turn;
        if (!t_.moves(f.body)) return f;
        const Vec3 from_origin = f.place - Vec3(xpos_[t_.bodies[at(f.body)].root]);
        const Motion v(cvel_[f.body]), a = carried_[at(f.body)];
        f.spin = v.angular;
        f.spin_rate = a.angular;
        f.acceleration = a.linear + cross(a.angular, from_origin) +
                         cross(v.angular, v.linear + cross(v.angular, from_origin));
        return f;
    }

    // y - y_0 - polynomial(x - x_0), of joints or lengths of tendons.
    Residuals coupling(const EqualityRow& e, const Vec<Float, 12>& data) const {
        const bool joint = e.type == EqualityType::joint;
        const auto value = [&](int number, double reference) {
            if (joint) return qpos_[t_.joints[at(number)].qpos] - reference;
            const Float length = tendons_.length(number);
            return t_.tendons[at(number)].fixed ? length - reference : length - length0_[number];
        };
        const auto row = [&](int number) {
            return joint ? Row{{t_.joints[at(number)].dof, Float(1)}} : tendons_.moment(number);
        };
        const auto weight = [&](int number) {
            return joint ? Float(dof_weight_[t_.joints[at(number)].dof])
                         : Float(tendon_weight_[number]);
        };
        Residuals r;
        Float residual = value(e.first, e.reference[0]) - data[0],
              inverse_inertia = weight(e.first);
        Row all = row(e.first);
        if (e.second >= 0) {
            const Float x = value(e.second, e.reference[1]);
            residual = residual - x * (data[1] + x * (data[2] + x * (data[3] + x * data[4])));
            const Float slope =
                data[1] + x * (2.0 * data[2] + x * (3.0 * data[3] + x * (4.0 * data[4])));
            Row other = row(e.second);
            for (auto& [dof, entry] : other) entry = -(slope * entry);
            all = sum_of(all, other);
            inverse_inertia = inverse_inertia + weight(e.second);
        }
        add(r, residual, std::move(all), inverse_inertia, 0.0);
        return r;
    }

    const Tree& t_;
    Read<Float> qpos_;
    Read<Vec3> xpos_;
    Read<Quat> xquat_;
    Read<Six> cdof_, cvel_;
    std::vector<Motion> carried_;
    Property<Two> body_weight_;
    Property<Float> dof_weight_, tendon_weight_;
    TendonReader tendons_;
    Read<Float> length0_;
};

}  // namespace

std::vector<std::pair<int, Motion>> jacobian(const Tree& tree, int body, const Vec3& point,
                                             const Read<Vec3>& xpos, const Read<Six>& cdof) {
    std::vector<std::pair<int, Motion>> list;
    if (tree.bodies[at(body)].dofs.empty()) return list;
    const Vec3 from_origin = point - Vec3(xpos[tree.bodies[at(body)].root]);
    for (const int dof : tree.bodies[at(body)].dofs) {
        const Motion way(cdof[dof]);
        list.emplace_back(dof, Motion(way.angular, way.linear + cross(way.angular, from_origin)));
    }
    return list;
}

KernelDef dof_motions(const PlanPointer& plan) {
    return kernel(
        "articulated_dof_motions",
        {"qpos", "qvel", "jnt_range", "dof_invweight0", "dof_shares", "dof_friction_motion",
         "dof_limit_motion"},
        [plan](Int, Read<Float> qpos, Read<Float> qvel, Property<Two> range, Property<Float> weight,
               Read<Two> shares, WriteSlice<Two> friction, WriteSlice<Vec3> limit) {
            const auto felt = [&](int dof) {
                const Float all = weight[dof];
                if (!plan->springs.discrete) return all;
                Share share;
                share.add(1.0, shares[dof]);
                return share.felt() * all;
            };
            for (int i = 0; i < static_cast<int>(plan->dof_rows.size()); ++i) {
                const DofRow& row = plan->dof_rows[at(i)];
                if (row.kind == DofRow::friction) {
                    friction.store_once(i, Two(qvel[row.dof], felt(row.dof)));
                    continue;
                }
                const Two limits = range[row.joint];
                const bool below = row.kind == DofRow::low;
                const Float q = qpos[row.qpos], distance = below ? q - limits[0] : limits[1] - q;
                const Float velocity = below ? Float(qvel[row.dof]) : -qvel[row.dof];
                limit.store_once(i - plan->dof_frictions(),
                                 Vec3(distance - row.margin, velocity, felt(row.dof)));
            }
        });
}

KernelDef equality_rows(const TreePointer& tree, const PlanPointer& plan) {
    return kernel(
        "articulated_equality_rows",
        {"qpos",
         "qvel",
         "xpos",
         "xquat",
         "cdof",
         "cvel",
         "eq_data",
         "eq_solref",
         "eq_solimp",
         "body_invweight0",
         "dof_invweight0",
         "tendon_invweight0",
         "tendon_length",
         "tendon_moment",
         "tendon_length0",
         "dof_shares",
         "h",
         "row_jacobian",
         "row_aref",
         "row_mass",
         "row_low",
         "row_high"},
        [tree, plan](Int, Read<Float> qpos, Read<Float> qvel, Read<Vec3> xpos, Read<Quat> xquat,
                     Read<Six> cdof, Read<Six> cvel, Property<Vec<Float, 12>> data,
                     Property<Two> solref, Property<Five> solimp, Property<Two> body_weight,
                     Property<Float> dof_weight, Property<Float> tendon_weight,
                     Read<Float> tendon_length, Read<Float> tendon_moment,
                     Read<Float> tendon_length0, Read<Two> shares, Param<Float> h,
                     WriteSlice<Float> j, WriteSlice<Float> aref, WriteSlice<Float> mass,
                     WriteSlice<Float> low, WriteSlice<Float> high) {
            const Rows rows{tree->nv, j, aref, mass, low, high, shares, plan->springs, h.value()};
            const Equalities all(*tree, qpos, qvel, xpos, xquat, cdof, cvel, body_weight,
                                 dof_weight, tendon_weight,
                                 {*tree, qpos, tendon_length, tendon_moment}, tendon_length0);
            for (const EqualityRow& e : plan->equalities) {
                const Residuals r = all.of(e, data[e.number]);
                // One impedance for all rows of a connect or weld.
                Float size = r.values[0];
                if (r.values.size() > 1) {
                    Float square = 0;
                    for (const Float& value : r.values) square = square + value * value;
                    size = safe_sqrt(square, 1e-30);
                }
                for (std::size_t k = 0; k < r.values.size(); ++k) {
                    const SoftConstraint c =
                        rows.soft({solref[e.number], solimp[e.number]}, size, r.rows[k],
                                  r.inverse_inertia[k], Spring::kept);
                    rows.put(
                        e.row + static_cast<int>(k), r.rows[k],
                        c.reference(velocity_along(r.rows[k], qvel), r.values[k], r.carried[k]),
                        c.mass(), -unbounded, unbounded);
                }
            }
        });
}

KernelDef ball_rows(const TreePointer& tree, const PlanPointer& plan) {
    return kernel(
        "articulated_ball_rows",
        {"qpos", "qvel", "jnt_range", "jnt_solref", "jnt_solimp", "dof_invweight0", "dof_shares",
         "h", "row_jacobian", "row_aref", "row_mass", "row_low", "row_high"},
        [tree, plan](Int, Read<Float> qpos, Read<Float> qvel, Property<Two> range,
                     Property<Two> solref, Property<Five> solimp, Property<Float> weight,
                     Read<Two> shares, Param<Float> h, WriteSlice<Float> j, WriteSlice<Float> aref,
                     WriteSlice<Float> mass, WriteSlice<Float> low, WriteSlice<Float> high) {
            const Rows rows{tree->nv, j, aref, mass, low, high, shares, plan->springs, h.value()};
            for (const BallLimit& ball : plan->balls) {
                const Joint& joint = tree->joints[at(ball.joint)];
                const Vec3 turn = rotation_vector(quaternion_at(qpos, joint.qpos));
                const Float square = dot(turn, turn), angle = safe_sqrt(square, 1e-30);
                Row row;
                for (int k = 0; k < 3; ++k) row.emplace_back(joint.dof + k, -(turn[k] / angle));
                const Two limits = range[ball.joint];
                rows.put_limit(ball.row, row, velocity_along(row, qvel),
                               max(limits[0], limits[1]) - angle, ball.margin,
                               {solref[ball.joint], solimp[ball.joint]}, weight[joint.dof]);
            }
        });
}

KernelDef tendon_motions(const TreePointer& tree, const PlanPointer& plan) {
    return kernel(
        "articulated_tendon_motions",
        {"qpos", "qvel", "tendon_range", "tendon_invweight0", "tendon_length", "tendon_moment",
         "dof_shares", "row_jacobian", "tendon_friction_motion", "tendon_limit_motion"},
        [tree, plan](Int, Read<Float> qpos, Read<Float> qvel, Property<Two> range,
                     Property<Float> weight, Read<Float> tendon_length, Read<Float> tendon_moment,
                     Read<Two> shares, WriteSlice<Float> j, WriteSlice<Two> friction,
                     WriteSlice<Vec3> limit) {
            const TendonReader tendons{*tree, qpos, tendon_length, tendon_moment};
            int frictions = 0, limits = 0;
            for (const TendonRow& tendon : plan->tendons) {
                const int k = tendon.tendon;
                Row row = tendons.moment(k);
                if (tendon.kind == DofRow::high) row = negative(std::move(row));
                put_jacobian(j, tree->nv, tendon.row, row);
                const Float velocity = velocity_along(row, qvel);
                Float felt = weight[k];
                if (plan->springs.discrete) felt = share_of(row, shares) * felt;
                if (tendon.kind == DofRow::friction) {
                    friction.store_once(frictions++, Two(velocity, felt));
                    continue;
                }
                const Float length = tendons.length(k);
                const Two ends = range[k];
                const Float distance =
                    tendon.kind == DofRow::low ? length - ends[0] : ends[1] - length;
                limit.store_once(limits++, Vec3(distance - tendon.margin, velocity, felt));
            }
        });
}

KernelDef coupled_rows(const TreePointer& tree, const PlanPointer& plan) {
    return kernel(
        "articulated_coupled_rows",
        {"qpos", "tendon_length", "tendon_moment", "moment", "slope", "rise", "h", "row_jacobian",
         "row_aref", "row_mass", "row_low", "row_high"},
        [tree, plan](Int, Read<Float> qpos, Read<Float> tendon_length, Read<Float> tendon_moment,
                     Read<Float> moment, Read<Float> slope, Read<Float> rise, Param<Float> h,
                     WriteSlice<Float> j, WriteSlice<Float> aref, WriteSlice<Float> mass,
                     WriteSlice<Float> low, WriteSlice<Float> high) {
            const Couplings couplings{
                *tree, {*tree, qpos, tendon_length, tendon_moment}, moment, slope, rise};
            for (const CoupledRow& row : plan->coupled) {
                const Coupling c = couplings.of(row.coupling);
                std::vector<Float> all(at(tree->nv), Float(0));
                for (const auto& [dof, value] : c.row) all[at(dof)] = value;
                for (int k = 0; k < tree->nv; ++k) j.store_once(row.row * tree->nv + k, all[at(k)]);
                aref.store_once(row.row, 0.0);
                mass.store_once(row.row, c.resistance(h.value()));
                low.store_once(row.row, -unbounded);
                high.store_once(row.row, unbounded);
            }
        });
}

KernelDef smooth_force(const TreePointer& tree) {
    return kernel("articulated_smooth_force", {"passive", "actuator", "bias", "force"},
                  [tree](Int, Read<Float> passive, Read<Float> actuator, Read<Float> bias,
                         WriteSlice<Float> force) {
                      for (int i = 0; i < tree->nv; ++i) {
                          Float sum = passive[i] - bias[i];
                          if (!tree->actuators.empty()) sum = sum + actuator[i];
                          force.store_once(i, sum);
                      }
                  });
}

}  // namespace hindcast::articulated
