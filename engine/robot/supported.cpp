#include "engine/robot/supported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/error.hpp"
#include "engine/robot/model_reader.hpp"

namespace hindcast::robot {

namespace {

// Numbers of a flag's two states and of an id that is not in use.
constexpr int not_in_use = -1;

class Examination : robot::ModelReader {
public:
    explicit Examination(const RobotModel& model) : ModelReader(model) {}

    Support run() {
        options();
        bodies_and_joints();
        geoms();
        for (int i = 0; i < count("nflex"); ++i)
            refuse(ObjectKind::flex, i, "deforms, which is not supported",
                   "write it as a body of the scene: cloth, rods or solids");
        for (int i = 0; i < count("nplugin"); ++i)
            refuse(ObjectKind::plugin, i, "is not supported", "remove it");
        tendons();
        equalities();
        actuators();
        sensors();
        if (count("nv") == 0)
            refuse("the model has no joints: nothing moves", "give a body a joint");
        looks();
        return std::move(result_);
    }

private:
    void refuse(std::string happened, std::string remedy) {
        result_.refusals.push_back({std::move(happened), std::move(remedy)});
    }
    void refuse(ObjectKind kind, int number, std::string_view is, std::string remedy) {
        refuse(fmt::format("{} {}", m_.describe(kind, number), is), std::move(remedy));
    }

    // True if a row of an array has a number other than 0.
    bool any(std::string_view array, int row) const {
        const ModelArray& a = m_.array(array);
        const auto values = m_.reals(array).subspan(static_cast<std::size_t>(row * a.columns),
                                                    static_cast<std::size_t>(a.columns));
        return std::ranges::any_of(values, [](double v) { return v != 0; });
    }
    template <class Enum>
    Enum type(std::string_view array, int row) const {
        return static_cast<Enum>(integer(array, row));
    }

    void options() {
        const RobotOptions& o = m_.options();
        if (o.density != 0)
            refuse(
                fmt::format("option density = {}: forces of a fluid are not supported", o.density),
                "set it to 0");
        if (o.viscosity != 0)
            refuse(fmt::format("option viscosity = {}: forces of a fluid are not supported",
                               o.viscosity),
                   "set it to 0, and give the joints damping");
        if (o.integrator == IntegratorType::implicit)
            refuse("option integrator = implicit is not supported",
                   "write Euler, implicitfast, discrete or RK4");
        if (o.noslip_iterations > 0)
            refuse(fmt::format("option noslip_iterations = {}: the no-slip solver is not supported",
                               o.noslip_iterations),
                   "set it to 0, and raise impratio against slip");
        const auto refuse_flag = [&](EnableFlag flag, const char* remedy) {
            if (o.enabled(flag))
                refuse(fmt::format("flag {} = enable is not supported", name_of(flag)), remedy);
        };
        refuse_flag(EnableFlag::override, "write margin, solref, solimp and friction in the geoms");
        refuse_flag(EnableFlag::sleep, "remove it: bodies at rest are simulated like others");
        refuse_flag(EnableFlag::diagexact, "remove it");
        refuse_flag(EnableFlag::ipc, "remove it");
        refuse_flag(EnableFlag::speculative, "remove it, and take a smaller time step");
        if (o.solver != SolverType::newton)
            note(fmt::format("solver = {} is not used: Newton's method solves the same problem",
                             name_of(o.solver)));
        if (o.disabled(DisableFlag::nativeccd))
            note(
                "flag nativeccd = disable is not used: contacts of convex shapes are found our "
                "way");
    }

    void bodies_and_joints() {
        for (int i = 0; i < count("nbody"); ++i)
            if (integer("body_plugin", i) != not_in_use) plugin(ObjectKind::body, i);
        for (int i = 0; i < count("njnt"); ++i) {
            if (any("jnt_stiffnesspoly", i))
                refuse(ObjectKind::joint, i,
                       "has a spring that is not linear, which is not supported",
                       "write one number as stiffness");
            if (any("jnt_springyield", i))
                refuse(ObjectKind::joint, i, "has a spring that yields, which is not supported",
                       "remove springyield");
            const int dof = integer("jnt_dofadr", i);
            if (any("dof_dampingpoly", dof))
                refuse(ObjectKind::joint, i,
                       "has damping that is not linear, which is not supported",
                       "write one number as damping");
        }
    }

    void plugin(ObjectKind kind, int number) {
        refuse(kind, number, "has a plugin, which is not supported", "remove the plugin");
    }

    void geoms() {
        for (int i = 0; i < count("ngeom"); ++i) {
            if (type<GeomType>("geom_type", i) == GeomType::sdf)
                refuse(ObjectKind::geom, i, "is a signed distance field, which is not supported",
                       "write a mesh, or several that are convex");
            else if (integer("geom_plugin", i) != not_in_use)
                plugin(ObjectKind::geom, i);
            if (any("geom_surfacevel", i))
                refuse(ObjectKind::geom, i, "has a moving surface, which is not supported",
                       "remove surfacevel, and move the body");
            if (any("geom_adhesion", i))
                refuse(ObjectKind::geom, i, "is adhesive, which is not supported",
                       "remove adhesion, or hold with an equality constraint");
        }
        for (int i = 0; i < count("npair"); ++i)
            if (any("pair_adhesion", i))
                refuse(ObjectKind::pair, i, "is adhesive, which is not supported",
                       "remove adhesion, or hold with an equality constraint");
    }

    void tendons() {
        for (int i = 0; i < count("ntendon"); ++i) {
            if (any("tendon_stiffnesspoly", i))
                refuse(ObjectKind::tendon, i,
                       "has a spring that is not linear, which is not supported",
                       "write one number as stiffness");
            if (any("tendon_springyield", i))
                refuse(ObjectKind::tendon, i, "has a spring that yields, which is not supported",
                       "remove springyield");
            if (any("tendon_dampingpoly", i))
                refuse(ObjectKind::tendon, i,
                       "has damping that is not linear, which is not supported",
                       "write one number as damping");
        }
    }

    void equalities() {
        for (int i = 0; i < count("neq"); ++i) {
            const auto kind = type<EqualityType>("eq_type", i);
            if (kind == EqualityType::connect || kind == EqualityType::weld ||
                kind == EqualityType::joint || kind == EqualityType::tendon)
                continue;
            refuse(ObjectKind::equality, i,
                   fmt::format("is of type {}, which is not supported", name_of(kind)),
                   "write connect, weld, joint or tendon");
        }
    }

    void actuators() {
        for (int i = 0; i < count("nactuator"); ++i)
            if (acts_as_supported(i) && force_is_supported(i)) delay_and_inertia(i);
    }

    // These three checks refuse each actuator at most once.
    bool acts_as_supported(int i) {
        const auto refuse_it = [&](const char* is, const char* remedy) {
            refuse(ObjectKind::actuator, i, is, remedy);
            return false;
        };
        switch (type<TransmissionType>("actuator_trntype", i)) {
            case TransmissionType::joint:
            case TransmissionType::jointinparent:
            case TransmissionType::tendon:
            case TransmissionType::site: return true;
            case TransmissionType::slidercrank:
                return refuse_it("acts by a slider-crank, which is not supported",
                                 "build the crank of bodies and a connect constraint");
            case TransmissionType::body:
                return refuse_it("is adhesive, which is not supported",
                                 "hold with an equality constraint");
            case TransmissionType::so3:
                return refuse_it("acts on an orientation, which is not supported",
                                 "write three motors on the ball joint, with gear");
            default: break;
        }
        return refuse_it("acts in a way that is not supported", "let it act on a joint");
    }

    bool force_is_supported(int i) {
        const auto dynamics_type = type<DynamicsType>("actuator_dyntype", i);
        const auto gain = type<GainType>("actuator_gaintype", i);
        const auto bias = type<BiasType>("actuator_biastype", i);
        const auto is_one = [&](DynamicsType d, GainType g, BiasType b) {
            return dynamics_type == d || gain == g || bias == b;
        };
        std::string is, remedy = "write a motor, position, velocity or general actuator";
        if (integer("actuator_plugin", i) != not_in_use)
            is = "has a plugin, which is not supported";
        else if (is_one(DynamicsType::muscle, GainType::muscle, BiasType::muscle))
            is = "is a muscle, which is not supported";
        else if (is_one(DynamicsType::dcmotor, GainType::dcmotor, BiasType::dcmotor))
            is = "is a DC motor, which is not supported";
        else if (dynamics_type == DynamicsType::pid || gain == GainType::pid)
            is = "is a PID controller, which is not supported";
        else if (gain == GainType::so3 || bias == BiasType::so3)
            is = "acts on an orientation, which is not supported";
        else if (is_one(DynamicsType::user, GainType::user, BiasType::user))
            is = "is computed by a callback, which is not supported";
        else if (integer("actuator_ctrlnum", i) != 1 || integer("actuator_outnum", i) != 1)
            is = "has several controls or forces, which is not supported",
            remedy = "write one actuator for each";
        if (!is.empty()) refuse(ObjectKind::actuator, i, is, remedy);
        return is.empty();
    }

    void delay_and_inertia(int i) {
        if (integer("actuator_history", 2 * i) != 0 || any("actuator_delay", i))
            refuse(ObjectKind::actuator, i, "is delayed, which is not supported",
                   "remove delay and nsample");
        else if (any("actuator_damping", i) || any("actuator_dampingpoly", i) ||
                 any("actuator_armature", i))
            refuse(ObjectKind::actuator, i,
                   "has damping or armature of its own, which is not supported",
                   "write them in its joint or tendon, times the square of the gear");
    }

    void sensors() {
        for (int i = 0; i < count("nsensor"); ++i) {
            const auto kind = type<SensorType>("sensor_type", i);
            if (kind == SensorType::user)
                refuse(ObjectKind::sensor, i, "is computed by a callback, which is not supported",
                       "remove it");
            else if (kind == SensorType::plugin || integer("sensor_plugin", i) != not_in_use)
                plugin(ObjectKind::sensor, i);
            else if (kind == SensorType::tactile)
                refuse(ObjectKind::sensor, i, "is tactile, which is not supported",
                       "write touch sensors");
            if (integer("sensor_history", 2 * i) != 0 || any("sensor_delay", i) ||
                any("sensor_interval", i))
                refuse(ObjectKind::sensor, i, "is delayed or sampled, which is not supported",
                       "remove delay, nsample and interval");
        }
    }

    void note(std::string text) { result_.notes.push_back(std::move(text)); }

    void looks() {
        struct Row {
            const char *size, *one, *many;
        };
        std::set<int> used;  // cameras that sensors look through
        for (int i = 0; i < count("nsensor"); ++i) {
            if (type<ObjectType>("sensor_objtype", i) == ObjectType::camera)
                used.insert(integer("sensor_objid", i));
            if (type<ObjectType>("sensor_reftype", i) == ObjectType::camera)
                used.insert(integer("sensor_refid", i));
        }
        for (const Row& row : {Row{"ncam", "camera", "cameras"}, Row{"nlight", "light", "lights"},
                               Row{"nmat", "material", "materials"},
                               Row{"ntex", "texture", "textures"}, Row{"nskin", "skin", "skins"}}) {
            int number = count(row.size);
            if (row.size == std::string_view("ncam")) number -= static_cast<int>(used.size());
            if (number == 1) note(fmt::format("1 {} is for looks only", row.one));
            if (number > 1) note(fmt::format("{} {} are for looks only", number, row.many));
        }
        const int visual = count("ngeom") - static_cast<int>(colliding_geoms(m_).size());
        if (visual == 1) note("1 geom touches nothing");
        if (visual > 1) note(fmt::format("{} geoms touch nothing", visual));
        for (const std::string& warning : m_.warnings()) note("MuJoCo: " + warning);
    }

    Support result_;
};

}  // namespace

std::vector<int> colliding_geoms(const RobotModel& model) {
    const auto type = model.integers("geom_contype"), affinity = model.integers("geom_conaffinity");
    std::set<int> found;
    for (std::size_t i = 0; i < type.size(); ++i)
        if (type[i] != 0 || affinity[i] != 0) found.insert(static_cast<int>(i));
    for (const char* const side : {"pair_geom1", "pair_geom2"})
        for (const int geom : model.integers(side)) found.insert(geom);
    return {found.begin(), found.end()};
}

Support support_of(const RobotModel& model) { return Examination(model).run(); }

void require_none(const std::vector<Refusal>& refusals) {
    if (refusals.empty()) return;
    Error error(refusals.front().happened);
    error.remedy(refusals.front().remedy);
    for (std::size_t i = 1; i < refusals.size(); ++i)
        error.note(refusals[i].happened + "; " + refusals[i].remedy);
    throw error;
}

void require_supported(const RobotModel& model) { require_none(support_of(model).refusals); }

}  // namespace hindcast::robot
