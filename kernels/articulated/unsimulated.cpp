#include "kernels/articulated/unsimulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/error.hpp"
#include "engine/robot/supported.hpp"

namespace hindcast::articulated {

using namespace robot;

namespace {

struct Found {
    std::string what, remedy;
};

class Search {
public:
    explicit Search(const RobotModel& model) : m_(model) {}

    std::vector<Found> run() {
        const RobotOptions& o = m_.options();
        if (o.integrator == IntegratorType::discrete)
            add("option integrator = discrete is not simulated yet",
                "write Euler, implicitfast or RK4");
        if (count("nv") == 0) add("the model has no joints: nothing moves", "give a body a joint");
        tendons();
        actuators();
        if (o.disabled(DisableFlag::constraint)) return found_;
        if (!o.disabled(DisableFlag::limit)) limits();
        if (!o.disabled(DisableFlag::frictionloss)) friction_loss();
        if (!o.disabled(DisableFlag::equality)) equalities();
        if (!o.disabled(DisableFlag::contact)) contacts();
        return found_;
    }

private:
    int count(const char* size) const { return static_cast<int>(m_.size(size)); }
    int integer(const char* array, int i) const {
        return m_.integers(array)[static_cast<std::size_t>(i)];
    }
    double real(const char* array, int i) const {
        return m_.reals(array)[static_cast<std::size_t>(i)];
    }
    void add(std::string what, std::string remedy) {
        found_.push_back({std::move(what), std::move(remedy)});
    }
    void add(ObjectKind kind, int number, const std::string& is, std::string remedy) {
        add(m_.describe(kind, number) + " " + is + ", which is not simulated yet",
            std::move(remedy));
    }

    void tendons() {
        for (int i = 0; i < count("ntendon"); ++i) {
            const bool fixed =
                enum_at<TendonType>(m_.integers("tendon_type"), i) == TendonType::fixed;
            if (!fixed && (real("tendon_stiffness", i) != 0 || real("tendon_damping", i) != 0))
                add(ObjectKind::tendon, i, "is spatial and has stiffness or damping",
                    "set them to 0, or write a fixed tendon");
            if (real("tendon_armature", i) != 0)
                add(ObjectKind::tendon, i, "has armature", "give armature to its joints");
        }
    }

    void actuators() {
        if (m_.options().disabled(DisableFlag::actuation)) return;
        for (int i = 0; i < count("nactuator"); ++i) {
            const auto acts_on = enum_at<TransmissionType>(m_.integers("actuator_trntype"), i);
            const int target = integer("actuator_trnid", 2 * i);
            if (acts_on == TransmissionType::site && integer("actuator_trnid", 2 * i + 1) >= 0)
                add(ObjectKind::actuator, i, "has a reference site", "remove refsite");
            if ((acts_on == TransmissionType::joint ||
                 acts_on == TransmissionType::jointinparent) &&
                enum_at<JointType>(m_.integers("jnt_type"), target) == JointType::ball &&
                enum_at<DynamicsType>(m_.integers("actuator_dyntype"), i) ==
                    DynamicsType::integrator)
                add(ObjectKind::actuator, i, "integrates the setpoint of a ball joint",
                    "write a position actuator");
            if (acts_on != TransmissionType::tendon) continue;
            if (enum_at<TendonType>(m_.integers("tendon_type"), target) != TendonType::fixed)
                add(ObjectKind::actuator, i, "acts on a spatial tendon",
                    "let it act on a joint, a site or a fixed tendon");
            else if (integer("tendon_actfrclimited", target) != 0)
                add(ObjectKind::tendon, target, "limits the force of its actuators",
                    "remove actuatorfrcrange, and give the actuators a forcerange");
        }
    }

    void limits() {
        const char* const remedy =
            "remove its range, or write <option><flag limit=\"disable\"/></option>";
        for (int i = 0; i < count("njnt"); ++i)
            if (integer("jnt_limited", i) != 0) add(ObjectKind::joint, i, "is limited", remedy);
        for (int i = 0; i < count("ntendon"); ++i)
            if (integer("tendon_limited", i) != 0) add(ObjectKind::tendon, i, "is limited", remedy);
    }

    void friction_loss() {
        const char* const remedy =
            "remove frictionloss, or write <option><flag frictionloss=\"disable\"/></option>";
        std::set<int> joints;
        for (int i = 0; i < count("nv"); ++i)
            if (real("dof_frictionloss", i) != 0 && joints.insert(integer("dof_jntid", i)).second)
                add(ObjectKind::joint, integer("dof_jntid", i), "has friction loss", remedy);
        for (int i = 0; i < count("ntendon"); ++i)
            if (real("tendon_frictionloss", i) != 0)
                add(ObjectKind::tendon, i, "has friction loss", remedy);
    }

    void equalities() {
        for (int i = 0; i < count("neq"); ++i)
            if (integer("eq_active0", i) != 0)
                add(ObjectKind::equality, i, "is a constraint",
                    "write active=\"false\", or <option><flag equality=\"disable\"/></option>");
    }

    // The pairs that MuJoCo would look at, whatever the place; the first one is enough.
    void contacts() {
        const auto touch = [&](int a, int b) {
            add(fmt::format("{} and {} may touch, which is not simulated yet",
                            m_.describe(ObjectKind::geom, a), m_.describe(ObjectKind::geom, b)),
                "write contype=\"0\" and conaffinity=\"0\" in their geoms, or "
                "<option><flag contact=\"disable\"/></option>");
        };
        if (count("npair") > 0) return touch(integer("pair_geom1", 0), integer("pair_geom2", 0));
        for (int a = 0; a < count("ngeom"); ++a)
            for (int b = a + 1; b < count("ngeom"); ++b)
                if (may_touch(a, b)) return touch(a, b);
    }

    bool may_touch(int a, int b) const {
        const auto meets = [&](int i, int j) {
            return (integer("geom_contype", i) & integer("geom_conaffinity", j)) != 0;
        };
        if (!meets(a, b) && !meets(b, a)) return false;
        const auto is_ground = [&](int i) {
            const auto type = enum_at<GeomType>(m_.integers("geom_type"), i);
            return type == GeomType::plane || type == GeomType::hfield;
        };
        if (is_ground(a) && is_ground(b)) return false;
        const int body_a = integer("geom_bodyid", a), body_b = integer("geom_bodyid", b);
        // Bodies that are rigidly joined are one; a parent does not meet its child.
        const int one = integer("body_weldid", body_a), two = integer("body_weldid", body_b);
        if (one == two) return false;
        const auto over = [&](int weld) {
            return integer("body_weldid", integer("body_parentid", weld));
        };
        if (!m_.options().disabled(DisableFlag::filterparent) && one != 0 && two != 0 &&
            (over(one) == two || over(two) == one))
            return false;
        const auto excluded = m_.integers("exclude_signature");
        const int low = std::min(body_a, body_b), high = std::max(body_a, body_b);
        return std::ranges::none_of(excluded,
                                    [&](int signature) { return signature == (low << 16) + high; });
    }

    const RobotModel& m_;
    std::vector<Found> found_;
};

}  // namespace

void require_simulated(const RobotModel& model) {
    require_supported(model);
    const std::vector<Found> found = Search(model).run();
    if (found.empty()) return;
    Error error(found.front().what);
    error.remedy(found.front().remedy);
    for (std::size_t i = 1; i < found.size(); ++i)
        error.note(found[i].what + "; " + found[i].remedy);
    throw error;
}

}  // namespace hindcast::articulated
