#include "kernels/articulated/articulated.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>

#include "engine/document/read.hpp"
#include "engine/robot/rigid_shapes.hpp"
#include "kernels/articulated/collision/robot_bounds.hpp"
#include "kernels/articulated/derived/geom_inertia.hpp"
#include "kernels/articulated/derived/pseudo_inertia.hpp"
#include "kernels/articulated/looks/appearance.hpp"
#include "kernels/articulated/looks/sliders.hpp"
#include "kernels/articulated/numbers/equal_frictions.hpp"
#include "kernels/articulated/numbers/model_numbers.hpp"
#include "kernels/articulated/numbers/names.hpp"
#include "kernels/articulated/offers.hpp"
#include "kernels/articulated/robot_body.hpp"
#include "kernels/articulated/robots.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace articulated {

using model::Model;
using model::Settings;
using robot::ObjectKind;
using robot::RobotModel;

namespace {

// Most contacts at once that there is room for, where a scene says nothing.
constexpr int usual_contacts = 64;

class Articulated final : public model::Instance {
public:
    explicit Articulated(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void declare(Model& model) override {
        if (model.dimension() != 3)
            throw settings_->error("type", "articulated bodies live in scenes of dimension 3")
                .remedy("write \"dimension\": 3");
        read(model);
        const RobotModel& m = *robot_;
        pose_ = state("qpos", "qpos0");
        const auto bodies = m.size("nbody"), points = bodies - 1 + m.size("nsite");
        range_ = model.add_points(settings_->name(), points);
        particles::follow_from_coordinates(model, settings_->name());
        model::name_elements(model, settings_->name(), names_of_points(m));
        model.set_initial_points(range_.first, points_at(tree_, m, pose_));
        model.draw({settings_->name(), model::DrawnPoints{range_.first, points, 0}});
        model::DrawnSegments links;
        const auto parents = m.integers("body_parentid");
        for (std::int64_t b = 1; b < bodies; ++b)
            if (const std::int64_t parent = parents[static_cast<std::size_t>(b)]; parent > 0)
                for (const std::int64_t end : {parent, b})
                    links.ends.push_back(static_cast<std::uint32_t>(range_.first + end - 1));
        if (!links.ends.empty()) model.draw({settings_->name(), std::move(links)});
    }

    void build(Model& model) override {
        const RobotModel& m = *robot_;
        const std::int64_t bodies = m.size("nbody"), joints = m.size("njnt");
        const auto own = [&](const char* name) {
            const auto values = m.reals(name);
            return std::vector<double>(values.begin(), values.end());
        };
        Given given;
        const auto give = [&](const char* parameter, const char* key, std::int64_t count,
                              std::vector<double> values) {
            if (count > 0) {
                given.insert_or_assign(
                    parameter,
                    number_of(*settings_, model, key, count, std::move(values), m).argument());
            } else if (settings_->written(key)) {
                throw settings_->error(key, "the model has nothing that it would be a number of")
                    .remedy("remove this key");
            }
        };
        std::vector<double> places = own("body_pos"), turns = own("body_quat");
        move_mocap(places, turns);
        give("body_pos", "body_pos", bodies, places);
        give("body_quat", "body_quat", bodies, turns);
        std::optional<Argument> pseudo;
        for (const char* key : {"body_mass", "body_inertia", "body_ipos", "body_iquat"}) {
            if (inertias() == "principal")
                give(key, key, bodies, own(key));
            else if (settings_->written(key))
                throw settings_
                    ->error(key, inertias() == "pseudo"
                                     ? "inertias are those of \"body_pseudo_inertia\""
                                     : "inertias are those of the geoms")
                    .remedy("remove this key, or \"inertia_numbers\"");
        }
        only_with("body_pseudo_inertia", "pseudo");
        only_with("geom_density", "geoms");
        only_with("geom_mass", "geoms");
        if (inertias() == "pseudo")
            pseudo =
                number_of(*settings_, model, "body_pseudo_inertia", bodies, pseudo_inertias(m), m)
                    .argument();
        for (const char* key : {"jnt_pos", "jnt_axis", "jnt_stiffness"})
            give(key, key, joints, own(key));
        for (const char* key :
             {"dof_damping", "dof_armature", "dof_frictionloss", "dof_solref", "dof_solimp"})
            give(key, key, tree_->nv, own(key));
        for (const char* key : {"jnt_range", "jnt_solref", "jnt_solimp"})
            give(key, key, joints, own(key));
        const std::int64_t geoms = m.size("ngeom");
        const SensorPointer sensed = sensors();
        if (from_geoms_ != nullptr) {
            give("geom_density", "geom_density", geoms, from_geoms_->density);
            give("geom_mass", "geom_mass", geoms, from_geoms_->mass);
        }
        if (plan_->contacts > 0 || !tree_->obstacles.empty() || sensed->needs_geoms ||
            from_geoms_ != nullptr)
            for (const char* key : {"geom_pos", "geom_quat", "geom_size"})
                give(key, key, geoms, own(key));
        if (plan_->contacts > 0) {
            for (const char* key : {"geom_friction", "geom_solref", "geom_solimp", "geom_solmix"})
                give(key, key, geoms, own(key));
            for (const char* key :
                 {"pair_friction", "pair_solref", "pair_solreffriction", "pair_solimp"})
                give(key, key, m.size("npair"), own(key));
            tell_equal_frictions(model, *model.find_quantity(settings_->name() + ".geom_friction"),
                                 robot_, plan_);
        }
        const bool derives = settings_->find("derived") == nullptr || settings_->boolean("derived");
        for (const auto& [key, count] : {std::pair("dof_invweight0", std::int64_t{tree_->nv}),
                                         {"body_invweight0", bodies},
                                         {"tendon_invweight0", m.size("ntendon")}})
            if (!derives || settings_->written(key)) give(key, key, count, own(key));
        for (const char* key : {"eq_data", "eq_solref", "eq_solimp"})
            give(key, key, m.size("neq"), own(key));
        for (const char* key : {"tendon_range", "tendon_solref_lim", "tendon_solimp_lim",
                                "tendon_frictionloss", "tendon_solref_fri", "tendon_solimp_fri"})
            give(key, key, m.size("ntendon"), own(key));
        give("qpos_spring", "qpos_spring", tree_->nq, own("qpos_spring"));
        const auto& gravity = m.options().gravity;
        if (settings_->find("model")->is_object() && !settings_->written("gravity"))
            given.insert_or_assign("gravity", model.find_quantity("gravity")->argument());
        else
            give("gravity", "gravity", 1, {gravity.begin(), gravity.end()});
        give("qpos", "qpos", tree_->nq, pose_);
        give("qvel", "qvel", tree_->nv, state("qvel", nullptr));
        give("act", "act", tree_->na, state("act", nullptr));
        // A model whose actuators are turned off has no use for their numbers.
        const auto actuators = static_cast<std::int64_t>(tree_->actuators.size());
        give("ctrl", "ctrl", actuators > 0 ? tree_->nu : 0, state("ctrl", nullptr));
        give("gainprm", "actuator_gainprm", actuators, first_three("actuator_gainprm"));
        give("biasprm", "actuator_biasprm", actuators, first_three("actuator_biasprm"));
        give("gear", "actuator_gear", actuators, own("actuator_gear"));
        if (settings_->written("dof_coulomb")) {
            give("dof_coulomb", "dof_coulomb", tree_->nv, std::vector<double>(at(tree_->nv)));
            give("dof_coulomb_speed", "dof_coulomb_speed", tree_->nv,
                 std::vector<double>(at(tree_->nv), 0.01));
        } else if (settings_->written("dof_coulomb_speed")) {
            throw settings_->error("dof_coulomb_speed", "there is no dry friction that has a speed")
                .remedy("add \"dof_coulomb\", or remove this key");
        }
        if (const auto ctrl = given.find("ctrl"); ctrl != given.end())
            self(model).ctrl = ctrl->second;
        body_.emplace(model, settings_->name(), tree_, plan_, std::move(given), range_.first);
        if (pseudo) {
            std::vector<std::int64_t> has_mass;
            for (const double mass : m.reals("body_mass")) has_mass.push_back(mass > 0 ? 1 : 0);
            body_->take_pseudo_inertia(*pseudo, has_mass, own("body_iquat"));
        }
        if (from_geoms_ != nullptr) body_->take_geom_inertia(from_geoms_, own("body_iquat"));
        if (derives) body_->derive(reference(), !settings_->written("eq_data"));
        if (sensed->rows > 0) body_->sense_with(sensed);
        body_->build();
        name_arrays(model, settings_->name(), m);
        self(model).placed = body_->placed();
        self(model).placed_as = [body = *body_](const Array& qpos, const Array& xpos,
                                                const Array& xquat) {
            return body.placed_as(qpos, xpos, xquat);
        };

        add_contact_body(model, settings_->name(), settings_->node().pointer(), m,
                         plan_->contacts > 0);
        for (model::DrawnBody& body : drawn_bodies(m, model.array(settings_->name() + ".xpos"),
                                                   model.array(settings_->name() + ".xquat")))
            model.draw({settings_->name(), std::move(body)});
    }

    void finish(Model& model) override {
        if (!body_) throw std::logic_error("a robot that was not built");
        body_->finish(self(model).control);
        if (model.is_implicit()) particles::integrate(model);
        name_arrays(model, settings_->name(), *robot_);
        offer_sliders(model, settings_->name(), *robot_);
    }

private:
    Robot& self(Model& model) const { return model.shared<Robots>().by_name.at(settings_->name()); }

    void read(Model& model) {
        const document::Node& source = *settings_->find("model");
        const int most = settings_->find("max_contacts") == nullptr
                             ? usual_contacts
                             : static_cast<int>(settings_->integer("max_contacts"));
        const std::vector<double>& gravity = model.find_quantity("gravity")->values;
        const auto up =
            std::abs(gravity[1]) > std::abs(gravity[2]) ? robot::UpAxis::y : robot::UpAxis::z;
        try {
            const char* const integrator = model.is_implicit() ? "discrete" : "implicitfast";
            robot_ = std::make_shared<const RobotModel>(
                source.is_object()
                    ? RobotModel::from_text(robot::model_of_shapes(source, up, integrator),
                                            "shapes.xml")
                    : RobotModel::load(model.options().files.resolve(source)));
            if (inertias() == "geoms") from_geoms_ = geom_inertias_of(*robot_);
            tree_ = tree_of(*robot_, inertias() != "principal");
            plan_ = plan_of(*robot_, *tree_, most);
            if (model.is_implicit()) require_coupling(model);
            model.shared<Robots>().by_name[settings_->name()] = {.name = settings_->name(),
                                                                 .model = robot_,
                                                                 .tree = tree_,
                                                                 .ctrl = {},
                                                                 .control = {}};
        } catch (Error& error) {
            if (error.json_pointer().empty()) error.at_pointer(source.pointer());
            throw;
        }
        const document::Node* const name = settings_->find("keyframe");
        if (name == nullptr) return;
        try {
            keyframe_ = robot_->find(ObjectKind::keyframe, document::string_of(*name));
        } catch (Error& error) {
            error.at_pointer(name->pointer());
            throw;
        }
    }

    // Refuses what does not go with points that move to the minimum of energies.
    void require_coupling(const Model& model) const {
        if (tree_->integrator != robot::IntegratorType::discrete)
            throw Error(
                "in a scene with implicit steps a robot's own integrator is 'discrete', and "
                "that of this model is another")
                .remedy(
                    "write <option integrator=\"discrete\"/> in the model, or give the scene the "
                    "integrator semi_implicit_euler");
        if (model.options().integrator != model::Integrator::implicit_euler)
            throw Error(
                "robots and rigid bodies move by implicit_euler, and this scene's integrator "
                "is another")
                .remedy("write \"integrator\": \"implicit_euler\" in the scene");
    }

    // The keyframe's numbers, if there is one; else the model's, or 0.
    std::vector<double> state(const std::string& name, const char* otherwise) const {
        const char* const size = name == "qpos"   ? "nq"
                                 : name == "qvel" ? "nv"
                                 : name == "act"  ? "na"
                                                  : "nu";
        const auto count = static_cast<std::size_t>(robot_->size(size));
        if (keyframe_) {
            const auto row = robot_->reals("key_" + name)
                                 .subspan(static_cast<std::size_t>(*keyframe_) * count, count);
            return {row.begin(), row.end()};
        }
        if (otherwise == nullptr) return std::vector<double>(count, 0);
        const auto values = robot_->reals(otherwise);
        return {values.begin(), values.end()};
    }

    // Moves mocap bodies to their places and orientations in the keyframe.
    void move_mocap(std::vector<double>& places, std::vector<double>& turns) const {
        if (!keyframe_) return;
        const auto numbers = robot_->integers("body_mocapid");
        const auto count = static_cast<std::size_t>(robot_->size("nmocap"));
        for (std::size_t b = 0; b < numbers.size(); ++b) {
            if (numbers[b] < 0) continue;
            const std::size_t row =
                static_cast<std::size_t>(*keyframe_) * count + static_cast<std::size_t>(numbers[b]);
            for (std::size_t k = 0; k < 3; ++k)
                places[3 * b + k] = robot_->reals("key_mpos")[3 * row + k];
            for (std::size_t k = 0; k < 4; ++k)
                turns[4 * b + k] = robot_->reals("key_mquat")[4 * row + k];
        }
    }

    // The numbers that define the bodies' inertia: "principal", "pseudo" or "geoms".
    std::string inertias() const { return settings_->choice("inertia_numbers"); }
    // Refuses a key that another choice of them has.
    void only_with(const char* key, const std::string& choice) const {
        if (inertias() == choice || !settings_->written(key)) return;
        throw settings_
            ->error(key, inertias() == "principal" ? "inertias are principal moments here"
                                                   : "inertias are not those of this key")
            .remedy("write \"inertia_numbers\": \"" + choice + "\", or remove this key");
    }

    SensorPointer sensors() const {
        std::vector<std::string> names;
        const document::Node* const list = settings_->find("sensors");
        if (list != nullptr)
            for (std::size_t k = 0; k < document::array_of(*list).size(); ++k)
                names.push_back(document::string_of(list->item(k)));
        try {
            return sensors_of(*robot_, names);
        } catch (Error& error) {
            if (list != nullptr) error.at_pointer(list->pointer());
            throw;
        }
    }

    ReferencePose reference() const {
        ReferencePose pose;
        const auto qpos = robot_->reals("qpos0");
        pose.qpos.assign(qpos.begin(), qpos.end());
        if (!keyframe_ || robot_->size("nmocap") == 0) return pose;
        const auto places = robot_->reals("body_pos"), turns = robot_->reals("body_quat");
        pose.places.assign(places.begin(), places.end());
        pose.turns.assign(turns.begin(), turns.end());
        for (const int number : robot_->integers("body_mocapid"))
            pose.mocap.push_back(number >= 0 ? 1 : 0);
        return pose;
    }

    // The first three of each actuator's ten numbers: fixed and affine gains and biases use those.
    std::vector<double> first_three(const char* name) const {
        const auto all = robot_->reals(name);
        std::vector<double> some;
        for (std::size_t i = 0; i < all.size(); i += 10)
            some.insert(some.end(), {all[i], all[i + 1], all[i + 2]});
        return some;
    }

    std::shared_ptr<Settings> settings_;
    std::shared_ptr<const RobotModel> robot_;
    TreePointer tree_;
    PlanPointer plan_;
    GeomInertiasPointer from_geoms_;  // with "inertia_numbers": "geoms"
    std::optional<int> keyframe_;
    std::vector<double> pose_;
    model::Range range_;
    std::optional<RobotBody> body_;
};

}  // namespace

}  // namespace articulated

void register_articulated(Registry& registry) {
    using namespace model;
    offer_articulated(registry);
    std::vector<Field> fields = {
        any("model")
            .schema(R"({"oneOf":[{"title":"file","type":"string","means":"file",)"
                    R"("files":[".xml",".urdf",".mjcf"]},)" +
                    robot::schema_of_shapes() + "]}")
            .doc("a file, MJCF or URDF, beside the scene or below; or rigid bodies of simple "
                 "shapes: {\"ground\": 0, \"shapes\": [{\"type\": \"box\", \"size\": [x, y, "
                 "z], \"position\": [x, y, z]}]}, and other kinds, "
                 "which move freely and collide with each other, the ground and fixed ones, by "
                 "contact "
                 "that begins softly (\"solimp\")"),
        text("keyframe")
            .optional()
            .doc("of the model: where qpos, qvel, act, ctrl and mocap bodies start; without it "
                 "qpos is "
                 "the model's own and the others are 0")};
    fields.push_back(
        integer("max_contacts")
            .optional()
            .at_least(1)
            .at_most(10'000)
            .doc("contacts at once that there is room for; without it 64. More of them "
                 "are an error"));
    fields.push_back(
        choice("inertia_numbers", {"principal", "pseudo", "geoms"})
            .fallback("\"principal\"")
            .doc("what says how bodies resist: body_mass, body_ipos, body_inertia and body_iquat; "
                 "body_pseudo_inertia, of which every value is possible, for identification; or "
                 "the geoms of each body that the model gives no inertia of its own, by "
                 "geom_density or geom_mass and their places and sizes, for the design of "
                 "shapes"));
    fields.push_back(
        list("sensors")
            .optional()
            .schema(R"({"type":"string"})")
            .doc("names of sensors of the model, whose numbers NAME.sensordata holds in this "
                 "order: of the "
                 "state at the begin of each step and its accelerations, without noise. All of "
                 "MuJoCo's types but tactile, user and plugins: also distance, normal, fromto, "
                 "camprojection, lists of contacts, rangefinders that see meshes and height "
                 "fields; what of a type is not simulated is refused by name"));
    fields.push_back(boolean("derived").optional().doc(
        "whether inverse weights, and where and how equalities hold their second body, follow "
        "from the other numbers, as in MuJoCo's mj_setConst: then dof_invweight0, "
        "body_invweight0 and tendon_invweight0 are no parameters unless they are written here; "
        "without it true"));
    for (Field& number : articulated::number_fields()) fields.push_back(std::move(number));
    registry.add(
        {Section::bodies, "articulated", "Rigid bodies",
         "A robot or simple rigid bodies, in reduced coordinates: the bodies, joints, tendons and "
         "actuators of a model in MJCF or URDF, with MuJoCo's conventions, or shapes that are "
         "listed. The step is the scene's, the method the model's: Euler (implicit in the joints' "
         "damping), implicitfast, discrete or RK4; with the scene's integrator implicit_euler it "
         "is "
         "discrete, in one minimization with soft bodies. Its points are "
         "the centers of mass of its bodies, without the world, then its sites. Limits, friction "
         "loss, equalities and contact are MuJoCo's. Every key "
         "that is a field of the compiled model has the model's numbers "
         "where it is left out.",
         std::move(fields),
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<articulated::Articulated>(std::move(s));
         },
         true});
}

}  // namespace hindcast
