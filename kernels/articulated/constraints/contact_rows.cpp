#include "kernels/articulated/constraints/contact_rows.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/articulated/constraints/soft_constraint.hpp"

namespace hindcast::articulated {

namespace {

constexpr double least_norm = 1e-15, least_friction = 1e-5;
using Frictions = std::array<Float, 5>;  // along two tangents, about the normal, about the tangents

// The numbers of a contact from two geoms, or from a <pair>.
struct Surface {
    Frictions friction;
    SoftNumbers soft;
    Two friction_reference;  // of the rows of friction; 0: that of the normal
};

struct Given {
    Property<Vec3> geom_friction;
    Property<Two> geom_solref;
    Property<Five> geom_solimp;
    Property<Float> geom_solmix;
    Property<Five> pair_friction;
    Property<Two> pair_solref, pair_solreffriction;
    Property<Five> pair_solimp;
};

// The first geom's numbers, the second's, or both mixed.
template <class V, class F>
V chosen(const Int& priority, const V& a, const V& b, const F& mixed) {
    return select(priority == 1, a, select(priority == 2, b, mixed(a, b)));
}

Surface surface_of_geoms(const Given& given, const Int& a, const Int& b, const Int& priority) {
    const Float share_a = given.geom_solmix[a], share_b = given.geom_solmix[b];
    const Bool some_a = share_a >= least_norm, some_b = share_b >= least_norm;
    const Float all = select(some_a && some_b, share_a + share_b, Float(1));
    const Float mix = select(some_a && some_b, share_a / all,
                             select(some_a, Float(1), select(some_b, Float(0), Float(0.5))));
    const auto blend = [&](const auto& x, const auto& y) { return mix * x + (1.0 - mix) * y; };
    Surface s;
    const Vec3 friction_a = given.geom_friction[a], friction_b = given.geom_friction[b];
    const Vec3 friction = chosen(priority, friction_a, friction_b, [](Vec3 x, const Vec3& y) {
        for (int k = 0; k < 3; ++k) x[k] = max(x[k], y[k]);
        return x;
    });
    s.friction = {friction[0], friction[0], friction[1], friction[2], friction[2]};
    const Two reference_a = given.geom_solref[a], reference_b = given.geom_solref[b];
    s.soft.reference = chosen(priority, reference_a, reference_b, [&](const Two& x, const Two& y) {
        const Two blended = blend(x, y);
        Two smaller;
        for (int k = 0; k < 2; ++k) smaller[k] = min(x[k], y[k]);
        return select(x[0] > 0.0 && y[0] > 0.0, blended, smaller);
    });
    const Five impedance_a = given.geom_solimp[a], impedance_b = given.geom_solimp[b];
    s.soft.impedance = chosen(priority, impedance_a, impedance_b, blend);
    return s;
}

Surface surface_of(const Given& given, const Vec<Int, 7>& pair, bool some_predefined) {
    Surface s = surface_of_geoms(given, pair[2], pair[3], pair[5]);
    if (some_predefined) {
        const Bool own = pair[6] >= 0;
        const Int k = max(pair[6], 0);
        const Five friction = given.pair_friction[k];
        for (int j = 0; j < 5; ++j) s.friction[at(j)] = select(own, friction[j], s.friction[at(j)]);
        s.soft.reference = select(own, Two(given.pair_solref[k]), s.soft.reference);
        s.soft.impedance = select(own, Five(given.pair_solimp[k]), s.soft.impedance);
        s.friction_reference = select(own, Two(given.pair_solreffriction[k]), Two());
    }
    for (Float& f : s.friction) f = max(f, least_friction);
    return s;
}

// The rows of one contact while they are recorded.
class ContactRows {
public:
    ContactRows(const ConstraintPlan& plan, const Vec<Int, 7>& pair, const Surface& surface)
        : p_(plan), dimension_(pair[4]), surface_(surface) {
        for (const CollisionPair& one : plan.collisions.pairs) most_ = std::max(most_, one.condim);
        for (Float& f : surface_.friction) f = select(dimension_ == 1, Float(0), f);
    }
    // `weight`: inverse inertia along, and about an axis; `share`: what the first row feels of it.
    void soften(const Vec<Float, 2>& weight, const Share* share, const Float& past,
                const Float& h) {
        const Float f = surface_.friction[0];
        Float felt = p_.elliptic ? weight[0] : weight[0] * (1.0 + f * f);
        if (share != nullptr) felt = felt * share->felt();
        past_ = past;
        const SoftNumbers& soft = surface_.soft;
        normal_.emplace(soft, past, felt, h, p_.springs, Spring::limited);
        if (p_.elliptic) {
            const Two own = surface_.friction_reference;
            const Bool is_own = own[0] != 0.0 || own[1] != 0.0;
            along_.emplace(SoftNumbers{select(is_own, own, soft.reference), soft.impedance}, past,
                           felt, h, p_.springs, Spring::none);
        }
        set_masses(normal_->inverse_mass);
    }

    int components() const { return most_; }  // normal, tangents, spin, rolling
    int rows() const { return p_.rows_of_a_contact; }
    // A row of components of the relative motion: normal first, then as the frictions.
    Float row(int number, const std::array<Float, 6>& c) const {
        if (p_.elliptic) return c[at(number)];
        if (most_ == 1) return c[0];
        const std::size_t j = at(number / 2);
        const Float side = surface_.friction[j] * c[j + 1];
        return number % 2 == 0 ? c[0] + side : c[0] - side;
    }
    Float reference(int number, const std::array<Float, 6>& velocity) const {
        const Float v = row(number, velocity);
        return p_.elliptic && number > 0 ? along_->reference(v) : normal_->reference(v, past_);
    }
    const Float& mass(int number) const { return masses_[at(number)]; }
    // The friction of a row of an elliptic cone.
    Float friction(int number) const {
        return number == 0 ? mu_ : surface_.friction[at(number - 1)];
    }
    Int cone(int number) const {
        return number > 0 ? Int(-1) : select(dimension_ == 1, Int(0), dimension_);
    }

private:
    // Every friction direction of an elliptic cone has the inverse mass of the normal over impratio,
    // such that R f^2 is the same for all; all edges of a pyramid have the same one.
    void set_masses(const Float& normal) {
        const Float f = surface_.friction[0];
        masses_.assign(at(rows()), Float(0));
        const auto at_work = [&](int number, const Float& inverse) {
            Bool is = dimension_ > 0;
            for (const int d : {1, 3, 4, 6})
                if (d <= most_ && number >= p_.rows_of(d)) is = is && dimension_ != d;
            masses_[at(number)] = select(is, 1.0 / inverse, Float(0));
        };
        if (p_.elliptic) {
            const Float first =
                max(normal / std::max(least_norm, p_.friction_impedance), least_norm);
            mu_ = f * sqrt(first / normal);
            at_work(0, normal);
            for (int j = 1; j < rows(); ++j) {
                const Float own = surface_.friction[at(j - 1)];
                const Bool none = own == 0.0;
                const Float ratio = f / select(none, Float(1), own);
                at_work(j, j == 1 ? first : first * (select(none, Float(1), ratio * ratio)));
            }
        } else {
            const Float edge = 2.0 / p_.friction_impedance * (f * f) * normal;
            const Float all = select(dimension_ == 1, normal, max(edge, least_norm));
            for (int j = 0; j < rows(); ++j) at_work(j, all);
        }
    }

    const ConstraintPlan& p_;
    Int dimension_;
    Surface surface_;
    int most_ = 1;
    Float past_, mu_;
    std::optional<SoftConstraint> normal_, along_;  // `along_`: friction of elliptic cones
    std::vector<Float> masses_;
};

}  // namespace

KernelDef contact_rows(const TreePointer& tree, const PlanPointer& plan) {
    return kernel(
        "articulated_contact_rows",
        {"contact_count", "contact_slot",    "slot_pair",   "pair_numbers",
         "pair_margin",   "slot_dist",       "slot_pos",    "slot_frame",
         "dof_moves",     "dof_root",        "cdof",        "xpos",
         "qvel",          "geom_friction",   "geom_solref", "geom_solimp",
         "geom_solmix",   "pair_friction",   "pair_solref", "pair_solreffriction",
         "pair_solimp",   "body_invweight0", "dof_shares",  "h",
         "row_jacobian",  "row_aref",        "row_mass",    "row_low",
         "row_high",      "row_friction",    "row_cone"},
        [tree, plan](
            Int, Read<Int> count, Read<Int> contact_slot, Read<Int> slot_pair,
            Read<Vec<Int, 7>> pair_numbers, Read<Float> pair_margin, Read<Float> dist,
            Read<Vec3> pos, Read<Mat3> frames, Read<Int> moves, Read<Int> root, Read<Six> cdof,
            Read<Vec3> xpos, Read<Float> qvel, Property<Vec3> geom_friction,
            Property<Two> geom_solref, Property<Five> geom_solimp, Property<Float> geom_solmix,
            Property<Five> pair_friction, Property<Two> pair_solref,
            Property<Two> pair_solreffriction, Property<Five> pair_solimp, Property<Two> weight,
            Read<Two> shares, Param<Float> h, WriteSlice<Float> jacobian, WriteSlice<Float> aref,
            WriteSlice<Float> mass, WriteSlice<Float> low, WriteSlice<Float> high,
            WriteSlice<Float> friction, WriteSlice<Int> cone) {
            const Given given{geom_friction, geom_solref, geom_solimp,         geom_solmix,
                              pair_friction, pair_solref, pair_solreffriction, pair_solimp};
            const bool some_predefined =
                std::ranges::any_of(plan->collisions.pairs,
                                    [](const CollisionPair& pair) { return pair.predefined >= 0; });
            const int nv = tree->nv;
            const bool discrete = plan->springs.discrete;
            const auto one_contact = [&](const Int& contact) {
                const Int slot = contact_slot[contact], number = slot_pair[slot];
                const Vec<Int, 7> pair = pair_numbers[number];
                const Float past = dist[slot] - pair_margin[number];
                const Two one = weight[pair[0]], two = weight[pair[1]];
                ContactRows c(*plan, pair, surface_of(given, pair, some_predefined));
                const Vec3 place = pos[slot];
                const Mat3 frame = frames[slot];
                const auto axis = [&](int j) {
                    return Vec3(frame(j, 0), frame(j, 1), frame(j, 2));
                };
                const Vec3 axes[] = {axis(0), axis(1), axis(2)};
                const Int first = plan->tree_rows + contact * c.rows();
                std::array<Float, 6> velocity;
                for (Float& v : velocity) v = 0;
                Share share;
                for_(
                    0, nv,
                    [&](Int k) {
                        const Motion way(cdof[k]);
                        const Vec3 v = way.linear + cross(way.angular, place - Vec3(xpos[root[k]]));
                        const Float side(moves[pair[1] * nv + k] - moves[pair[0] * nv + k]);
                        std::array<Float, 6> along;
                        for (int j = 0; j < c.components(); ++j) {
                            along[at(j)] =
                                side * (j < 3 ? dot(axes[j], v) : dot(axes[j - 3], way.angular));
                            velocity[at(j)] += along[at(j)] * qvel[k];
                        }
                        for (int r = 0; r < c.rows(); ++r)
                            jacobian.store_once((first + r) * nv + k, c.row(r, along));
                        if (discrete) share.add(c.row(0, along), shares[k]);
                    },
                    nv);
                c.soften(one + two, discrete ? &share : nullptr, past, h.value());
                for (int r = 0; r < c.rows(); ++r) {
                    aref.store_once(first + r, c.reference(r, velocity));
                    mass.store_once(first + r, c.mass(r));
                    low.store_once(first + r, -unbounded);
                    high.store_once(first + r, 0.0);
                    if (plan->elliptic && c.components() > 1) {
                        friction.store_once(first + r, c.friction(r));
                        cone.store_once(first + r, c.cone(r));
                    }
                }
            };
            for_(0, count[0], one_contact, plan->contacts);
        });
}

KernelDef contact_wrenches(const PlanPointer& plan) {
    return kernel(
        "articulated_contact_wrenches",
        {"contact_count", "contact_slot", "slot_pair", "pair_numbers", "geom_friction",
         "geom_solref", "geom_solimp", "geom_solmix", "pair_friction", "pair_solref",
         "pair_solreffriction", "pair_solimp", "row_mass", "row_force", "contact_wrench"},
        [plan](Int contact, Read<Int> count, Read<Int> contact_slot, Read<Int> slot_pair,
               Read<Vec<Int, 7>> pair_numbers, Property<Vec3> geom_friction,
               Property<Two> geom_solref, Property<Five> geom_solimp, Property<Float> geom_solmix,
               Property<Five> pair_friction, Property<Two> pair_solref,
               Property<Two> pair_solreffriction, Property<Five> pair_solimp, Read<Float> mass,
               Read<Float> force, Write<Six> wrench) {
            const Given given{geom_friction, geom_solref, geom_solimp,         geom_solmix,
                              pair_friction, pair_solref, pair_solreffriction, pair_solimp};
            const bool some_predefined =
                std::ranges::any_of(plan->collisions.pairs,
                                    [](const CollisionPair& pair) { return pair.predefined >= 0; });
            const Bool is = contact < count[0];
            const Int slot = select(is, Int(contact_slot[contact]), Int(0));
            const Vec<Int, 7> pair = pair_numbers[slot_pair[slot]];
            const Surface surface = surface_of(given, pair, some_predefined);
            const int rows = plan->rows_of_a_contact;
            const Int first = plan->tree_rows + contact * rows;
            std::array<Float, 6> along;
            for (Float& f : along) f = 0;
            for (int r = 0; r < rows; ++r) {
                const Bool works = is && mass[first + r] > 0.0;
                const Float f = select(works, Float(force[first + r]), Float(0));
                if (plan->elliptic) {
                    along[at(r)] += f;
                    continue;
                }
                along[0] += f;
                if (rows == 1) continue;
                const Float side = select(pair[4] > 1, surface.friction[at(r / 2)] * f, Float(0));
                along[at(r / 2 + 1)] += r % 2 == 0 ? side : -side;
            }
            wrench[contact] = Six(along[0], along[1], along[2], along[3], along[4], along[5]);
        });
}

KernelDef contact_forces() {
    return kernel(
        "articulated_contact_forces",
        {"contact_count", "contact_slot", "slot_pos", "slot_frame", "contact_wrench", "shown"},
        [](Int contact, Read<Int> count, Read<Int> contact_slot, Read<Vec3> pos, Read<Mat3> frames,
           Read<Six> wrench, Write<Six> shown) {
            const Int slot = select(contact < count[0], Int(contact_slot[contact]), Int(0));
            const Mat3 frame = frames[slot];
            const Six along = wrench[contact];
            Vec3 world;
            for (int j = 0; j < 3; ++j)
                world = world + Vec3(frame(j, 0), frame(j, 1), frame(j, 2)) * along[j];
            const Vec3 place = pos[slot];
            shown[contact] = Six(place[0], place[1], place[2], world[0], world[1], world[2]);
        });
}

std::vector<std::int64_t> pair_numbers(const ConstraintPlan& plan) {
    std::vector<std::int64_t> numbers;
    for (std::size_t k = 0; k < plan.priorities.size(); ++k) {
        const CollisionPair& p = plan.collisions.pairs[k];
        for (const int number :
             {p.body1, p.body2, p.geom1, p.geom2, p.condim, plan.priorities[k], p.predefined})
            numbers.push_back(number);
    }
    return numbers;
}

KernelDef count_rows(const PlanPointer& plan) {
    return kernel("articulated_count_rows", {"contact_count", "row_count"},
                  [plan](Int i, Read<Int> contacts, Write<Int> rows) {
                      rows[i] = plan->tree_rows + contacts[0] * plan->rows_of_a_contact;
                  });
}

}  // namespace hindcast::articulated
