#include "kernels/articulated/unsimulated.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.hpp"
#include "engine/robot/model_reader.hpp"
#include "engine/robot/supported.hpp"

namespace hindcast::articulated {

using namespace robot;

namespace {

class Search : robot::ModelReader {
public:
    explicit Search(const RobotModel& model) : ModelReader(model) {}

    std::vector<Refusal> run() {
        const RobotOptions& o = m_.options();
        if (o.integrator == IntegratorType::discrete)
            add("option integrator = discrete is not simulated yet",
                "write Euler, implicitfast or RK4");
        if (count("nv") == 0) add("the model has no joints: nothing moves", "give a body a joint");
        tendons();
        actuators();
        if (o.disabled(DisableFlag::constraint)) return found_;
        tendon_constraints();
        if (!o.disabled(DisableFlag::equality)) equalities();
        return found_;
    }

private:
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

    void tendon_constraints() {
        for (int i = 0; i < count("ntendon"); ++i) {
            if (enum_at<TendonType>(m_.integers("tendon_type"), i) == TendonType::fixed) continue;
            if (integer("tendon_limited", i) != 0)
                add(ObjectKind::tendon, i, "is spatial and limited",
                    "remove its range, or write a fixed tendon");
            if (real("tendon_frictionloss", i) != 0)
                add(ObjectKind::tendon, i, "is spatial and has friction loss",
                    "remove frictionloss, or write a fixed tendon");
        }
    }

    void equalities() {
        for (int i = 0; i < count("neq"); ++i) {
            if (integer("eq_active0", i) == 0) continue;
            const auto type = enum_at<EqualityType>(m_.integers("eq_type"), i);
            if (type != EqualityType::tendon) continue;
            for (const char* side : {"eq_obj1id", "eq_obj2id"})
                if (const int tendon = integer(side, i);
                    tendon >= 0 &&
                    enum_at<TendonType>(m_.integers("tendon_type"), tendon) != TendonType::fixed)
                    add(ObjectKind::equality, i, "holds a spatial tendon",
                        "write active=\"false\", or a fixed tendon");
        }
    }

    std::vector<Refusal> found_;
};

}  // namespace

void require_simulated(const RobotModel& model) {
    require_supported(model);
    require_none(Search(model).run());
}

}  // namespace hindcast::articulated
