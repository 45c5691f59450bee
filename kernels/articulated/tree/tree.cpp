#include "kernels/articulated/tree/tree.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/robot/model_reader.hpp"
#include "engine/robot/supported.hpp"

namespace hindcast::articulated {

using namespace robot;

namespace {

class TreeReading : robot::ModelReader {
public:
    explicit TreeReading(const RobotModel& model) : ModelReader(model) {}

    TreePointer run(bool full_inertia) {
        t_.full_inertia = full_inertia;
        t_.nq = count("nq");
        t_.nv = count("nv");
        t_.na = count("na");
        t_.nu = count("nu");
        const RobotOptions& o = m_.options();
        t_.integrator = o.integrator;
        t_.springs = !o.disabled(DisableFlag::spring);
        t_.dampers = !o.disabled(DisableFlag::damper);
        t_.gravity = !o.disabled(DisableFlag::gravity);
        t_.damping_is_implicit = t_.dampers && !o.disabled(DisableFlag::eulerdamp);
        joints();
        bodies();
        dofs();
        sites();
        tendons();
        if (!o.disabled(DisableFlag::actuation)) actuators();
        return std::make_shared<const Tree>(std::move(t_));
    }

private:
    Limits limits(bool present, const char* range, int i) const {
        return {present, real(range, 2 * i), real(range, 2 * i + 1)};
    }

    void joints() {
        for (int i = 0; i < count("njnt"); ++i) {
            Joint joint;
            joint.type = enum_at<JointType>(m_.integers("jnt_type"), i);
            joint.body = integer("jnt_bodyid", i);
            joint.qpos = integer("jnt_qposadr", i);
            joint.dof = integer("jnt_dofadr", i);
            joint.reference = real("qpos0", joint.qpos);
            joint.actuator_carries = integer("jnt_actgravcomp", i) != 0;
            joint.force = limits(integer("jnt_actfrclimited", i) != 0 && joint.dofs() == 1,
                                 "jnt_actfrcrange", i);
            t_.joints.push_back(joint);
        }
    }

    void bodies() {
        for (int i = 0; i < count("nbody"); ++i) {
            Body body;
            body.parent = integer("body_parentid", i);
            body.root = integer("body_rootid", i);
            body.gravity_compensation = real("body_gravcomp", i);
            if (i > 0) body.dofs = t_.bodies[at(body.parent)].dofs;
            for (int k = 0; k < integer("body_jntnum", i); ++k) {
                const int joint = integer("body_jntadr", i) + k;
                body.joints.push_back(joint);
                for (int d = 0; d < t_.joints[at(joint)].dofs(); ++d)
                    body.dofs.push_back(t_.joints[at(joint)].dof + d);
            }
            t_.bodies.push_back(std::move(body));
        }
    }

    void dofs() {
        for (int i = 0; i < t_.nv; ++i) {
            t_.dof_body.push_back(integer("dof_bodyid", i));
            t_.dof_joint.push_back(integer("dof_jntid", i));
            std::vector<int> up;
            for (int d = i; d >= 0; d = integer("dof_parentid", d)) up.push_back(d);
            t_.ancestors.push_back(std::move(up));
        }
    }

    void sites() {
        for (int i = 0; i < count("nsite"); ++i) {
            Site site;
            site.body = integer("site_bodyid", i);
            for (int k = 0; k < 3; ++k) site.position[k] = real("site_pos", 3 * i + k);
            for (int k = 0; k < 4; ++k) site.orientation[k] = real("site_quat", 4 * i + k);
            t_.sites.push_back(site);
        }
    }

    void tendons() {
        for (int i = 0; i < count("ntendon"); ++i) {
            Tendon tendon;
            tendon.fixed = enum_at<TendonType>(m_.integers("tendon_type"), i) == TendonType::fixed;
            if (tendon.fixed)
                for (int k = 0; k < integer("tendon_num", i); ++k) {
                    const int wrap = integer("tendon_adr", i) + k;
                    const int joint = integer("wrap_objid", wrap);
                    tendon.joints.emplace_back(joint, real("wrap_prm", wrap));
                    tendon.dofs.push_back(t_.joints[at(joint)].dof);
                }
            else
                pieces(tendon, i);
            std::ranges::sort(tendon.dofs);
            tendon.dofs.erase(std::ranges::unique(tendon.dofs).begin(), tendon.dofs.end());
            tendon.armature = real("tendon_armature", i);
            tendon.force = limits(integer("tendon_actfrclimited", i) != 0, "tendon_actfrcrange", i);
            tendon.stiffness = t_.springs ? real("tendon_stiffness", i) : 0;
            tendon.damping = t_.dampers ? real("tendon_damping", i) : 0;
            tendon.low = real("tendon_lengthspring", 2 * i);
            tendon.high = real("tendon_lengthspring", 2 * i + 1);
            t_.tendons.push_back(std::move(tendon));
        }
    }

    // A path is a list of sites, between which geoms and pulleys may stand.
    void pieces(Tendon& tendon, int number) {
        double share = 1;
        TendonPiece piece;
        bool begun = false;
        const auto add_body = [&](std::vector<int>& dofs, int body) {
            dofs.insert(dofs.end(), t_.bodies[at(body)].dofs.begin(),
                        t_.bodies[at(body)].dofs.end());
        };
        for (int k = 0; k < integer("tendon_num", number); ++k) {
            const int wrap = integer("tendon_adr", number) + k, thing = integer("wrap_objid", wrap);
            const auto type = enum_at<WrapType>(m_.integers("wrap_type"), wrap);
            if (type == WrapType::pulley) {
                share = 1 / real("wrap_prm", wrap);
                begun = false;
            } else if (type == WrapType::site) {
                piece.second = thing;
                piece.share = share;
                if (begun) tendon.pieces.push_back(piece);
                piece = {};
                piece.first = thing;
                begun = true;
            } else {
                piece.geom = obstacle(thing, type == WrapType::sphere);
                piece.side = static_cast<int>(std::lround(real("wrap_prm", wrap)));
            }
        }
        for (const TendonPiece& p : tendon.pieces) {
            add_body(tendon.dofs, t_.sites[at(p.first)].body);
            add_body(tendon.dofs, t_.sites[at(p.second)].body);
            if (p.geom >= 0) add_body(tendon.dofs, t_.obstacles[at(p.geom)].body);
        }
    }

    int obstacle(int geom, bool is_sphere) {
        auto& all = t_.obstacles;
        auto found = std::ranges::find(all, geom, &RoundGeom::number);
        if (found == all.end())
            found = all.insert(found, {geom, integer("geom_bodyid", geom), is_sphere});
        return static_cast<int>(found - all.begin());
    }

    void actuators() {
        const bool clamped = !m_.options().disabled(DisableFlag::clampctrl);
        for (int i = 0; i < count("nactuator"); ++i) {
            Actuator a;
            a.acts_on = enum_at<TransmissionType>(m_.integers("actuator_trntype"), i);
            a.target = integer("actuator_trnid", 2 * i);
            if (a.acts_on == TransmissionType::site)
                a.reference_site = integer("actuator_trnid", 2 * i + 1);
            a.dynamics = enum_at<DynamicsType>(m_.integers("actuator_dyntype"), i);
            a.time_constant = std::max(1e-15, real("actuator_dynprm", 10 * i));
            a.gain = enum_at<GainType>(m_.integers("actuator_gaintype"), i);
            a.bias = enum_at<BiasType>(m_.integers("actuator_biastype"), i);
            a.activation = integer("actuator_actadr", i);
            a.early = integer("actuator_actearly", i) != 0;
            const int group = integer("actuator_group", i);
            a.off = group >= 0 && group <= 30 && (m_.options().disableactuator >> group & 1) != 0;
            a.control =
                limits(clamped && integer("actuator_ctrllimited", i) != 0, "actuator_ctrlrange", i);
            a.force = limits(integer("actuator_forcelimited", i) != 0, "actuator_forcerange", i);
            a.activation_limits =
                limits(integer("actuator_actlimited", i) != 0, "actuator_actrange", i);
            a.dofs = dofs_of(a);
            const bool of_ball = (a.acts_on == TransmissionType::joint ||
                                  a.acts_on == TransmissionType::jointinparent) &&
                                 t_.joints[at(a.target)].type == JointType::ball;
            a.may_wrap = (of_ball || a.reference_site >= 0) && a.gain == GainType::fixed &&
                         a.bias == BiasType::affine;
            t_.actuators.push_back(std::move(a));
        }
    }

    std::vector<int> dofs_of(const Actuator& a) const {
        std::vector<int> dofs;
        const auto add = [&](int joint) {
            for (int d = 0; d < t_.joints[at(joint)].dofs(); ++d)
                dofs.push_back(t_.joints[at(joint)].dof + d);
        };
        if (a.acts_on == TransmissionType::tendon)
            dofs = t_.tendons[at(a.target)].dofs;
        else if (a.acts_on == TransmissionType::site)
            dofs = dofs_of_sites(a.target, a.reference_site);
        else
            add(a.target);
        std::ranges::sort(dofs);
        dofs.erase(std::ranges::unique(dofs).begin(), dofs.end());
        return dofs;
    }

    // Those that move one of them and not the other.
    std::vector<int> dofs_of_sites(int site, int reference) const {
        const std::vector<int>& own = t_.bodies[at(t_.sites[at(site)].body)].dofs;
        if (reference < 0) return own;
        const std::vector<int>& other = t_.bodies[at(t_.sites[at(reference)].body)].dofs;
        std::vector<int> dofs;
        std::ranges::set_symmetric_difference(own, other, std::back_inserter(dofs));
        return dofs;
    }

    Tree t_;
};

}  // namespace

bool Tree::is_single(int body) const {
    const Body& b = bodies[at(body)];
    if (b.joints.size() != 1 || joints[at(b.joints[0])].type != JointType::free) return false;
    return std::ranges::all_of(bodies, [&](const Body& other) {
        return other.root != body || &other == &b || other.joints.empty();
    });
}

bool Tree::has_spatial_tendons() const { return !std::ranges::all_of(tendons, &Tendon::fixed); }

bool Tree::has_tendon_armature() const {
    return std::ranges::any_of(tendons, [](const Tendon& t) { return t.armature != 0; });
}

TreePointer tree_of(const RobotModel& model, bool full_inertia) {
    require_supported(model);
    return TreeReading(model).run(full_inertia);
}

}  // namespace hindcast::articulated
