#include "kernels/contact/contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/document/read.hpp"
#include "engine/geometry/kinds/distances.hpp"
#include "engine/geometry/kinds/row.hpp"
#include "engine/model/implicit/minimized.hpp"
#include "engine/model/model.hpp"
#include "engine/model/shown.hpp"
#include "kernels/articulated/robots.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"
#include "kernels/contact/rigid_kernels.hpp"
#include "kernels/particles/contact_bodies.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace contact {

using articulated::Robot;
using model::Model;
using model::Phase;
using model::Settings;

// The kinds of geoms that barriers are around.
static std::string names_of_kinds() {
    std::string names;
    for (const geometry::KindRow& row : geometry::kind_rows())
        if (row.in_mjcf && geometry::has_distance(row.kind))
            names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

namespace {

// The items of all geoms of one kind: each point with each geom.
struct Items {
    ShapeKind kind{};
    std::vector<std::int64_t> points;  // five each
    std::vector<std::int64_t> point, body, geom;

    std::int64_t count() const { return static_cast<std::int64_t>(point.size()); }
};

using Arguments = std::vector<NamedArgument>;

Arguments joined(const std::vector<Arguments>& lists) {
    Arguments all;
    for (const Arguments& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

class RigidObstacle final : public model::Instance {
public:
    explicit RigidObstacle(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Settings& s = *settings_;
        if (!model.is_implicit())
            throw s
                .error("type",
                       "rigid bodies are obstacles by a barrier, which does not go with the "
                       "integrator semi_implicit_euler")
                .remedy("choose implicit_euler");
        const Robot& robot = articulated::robot_of(s, model, "with");
        name_ = robot.name;
        if (!s.written("friction") && s.written("bristle_stiffness"))
            throw s
                .error("bristle_stiffness", "'bristle_stiffness' has no meaning without friction")
                .remedy("add \"friction\", or leave it out");
        const model::Range range = particles::body_or_all(s, model);
        collect(model, robot, range);
        stiffness_ = s.quantity(model, "stiffness").argument();
        reach_ = s.quantity(model, "distance").argument();
        if (s.written("friction")) {
            friction_ = s.quantity(model, "friction").argument();
            bristle_ = s.written("bristle_stiffness")
                           ? s.quantity(model, "bristle_stiffness").argument()
                           : stiffness_;
        }
        for (std::size_t k = 0; k < all_.size(); ++k) meet(model, robot, all_[k], k);
        for (const auto& [body, of] : model.bodies_with_points())
            if (of.overlaps(range) && !particles::follows_from_coordinates(model, body)) {
                model.contact_pairs().keep_apart(name_, body, "barrier");
                warn_of_coarse_mesh(model, robot, body);
            }
    }

    // The state of friction at the end of a step, when the bodies are where they end.
    void finish(Model& model) override {
        for (const Launch& launch : last_) model.add(Phase::end, launch);
    }

private:
    // The geoms that meet points, by kind, and the points that they meet.
    void collect(Model& model, const Robot& robot, model::Range range) {
        const Settings& s = *settings_;
        const robot::RobotModel& m = *robot.model;
        const auto types = m.integers("geom_type"), bodies = m.integers("geom_bodyid"),
                   groups = m.integers("geom_contype"), others = m.integers("geom_conaffinity");
        std::vector<int> geoms;
        if (s.written("geoms")) {
            geoms = articulated::things_of(s.find("geoms"), robot, robot::ObjectKind::geom,
                                           static_cast<int>(types.size()));
        } else {
            for (std::size_t g = 0; g < types.size(); ++g)
                if (groups[g] != 0 || others[g] != 0) geoms.push_back(static_cast<int>(g));
        }
        std::vector<std::int64_t> points;
        for (const auto& [body, of] : model.bodies_with_points()) {
            if (particles::follows_from_coordinates(model, body)) continue;
            for (std::int64_t p = of.first; p < of.first + of.count; ++p)
                if (p >= range.first && p < range.first + range.count) points.push_back(p);
        }
        if (points.empty())
            throw s.error("of", "there are no points of soft bodies that could touch it")
                .remedy("name a body of particles, cloth or a solid");
        std::map<ShapeKind, Items> by_kind;
        for (const int number : geoms) {
            const auto g = static_cast<std::size_t>(number);
            const ShapeKind kind = articulated::kind_of(static_cast<robot::GeomType>(types[g]));
            if (!geometry::has_distance(kind))
                throw s
                    .error("with",
                           fmt::format("the geom {} of '{}' is of the kind {}: barriers are around "
                                       "these kinds: {}",
                                       number, robot.name,
                                       robot::name_of(static_cast<robot::GeomType>(types[g])),
                                       names_of_kinds()))
                    .remedy("list the geoms that soft bodies meet in \"geoms\"");
            Items& items = by_kind[kind];
            items.kind = kind;
            const std::int64_t frame =
                model.minimized().frame_of(robot.name, bodies[g], model.point_count());
            for (const std::int64_t p : points) {
                items.points.push_back(p);
                for (std::int64_t k = 0; k < frame_points; ++k) items.points.push_back(frame + k);
                items.point.push_back(p);
                items.body.push_back(bodies[g]);
                items.geom.push_back(number);
            }
        }
        if (by_kind.empty())
            throw s.error("with", "'" + robot.name + "' has no geoms that collide")
                .remedy("list the geoms that soft bodies meet in \"geoms\"");
        for (auto& [kind, items] : by_kind) all_.push_back(std::move(items));
    }

    // Only points touch: a geom that is thinner than edges are long could pass between them.
    void warn_of_coarse_mesh(Model& model, const Robot& robot, const std::string& body) const {
        const double edge = particles::longest_edge(model, body);
        const auto sizes = robot.model->reals("geom_size");
        double thinnest = std::numeric_limits<double>::infinity();
        for (const Items& items : all_) {
            if (items.kind == ShapeKind::plane) continue;
            for (const std::int64_t g : items.geom) {
                const double* size = &sizes[static_cast<std::size_t>(3 * g)];
                thinnest = std::min(thinnest, 2 * (items.kind == ShapeKind::box
                                                       ? std::min({size[0], size[1], size[2]})
                                                       : size[0]));
            }
        }
        if (edge <= thinnest) return;
        model.warnings().add(
            {.identifier = "coarse_mesh",
             .happened = fmt::format("'{}' has parts that are {:.3g} m across, and the edges of "
                                     "'{}' are up to {:.3g} m long: they can pass between points, "
                                     "which alone touch",
                                     robot.name, thinnest, body, edge),
             .remedy = "make the mesh finer or the parts thicker",
             .pointer = settings_->node().pointer(),
             .numbers = {{"thickness", thinnest}, {"edge", edge}}});
    }

    void meet(Model& model, const Robot& robot, const Items& items, std::size_t number) {
        const Settings& s = *settings_;
        const std::string name =
            all_.size() == 1 ? s.name() : s.name() + " " + std::to_string(number + 1);
        const std::int64_t n = items.count();
        const Array points = model.index_array(items.points, 5);
        Arguments geoms{{"geom", model.index_array(items.geom, 1)}};
        for (const auto& [key, columns] :
             {std::pair("geom_pos", 3), std::pair("geom_quat", 4), std::pair("geom_size", 3)})
            geoms.emplace_back(key, number_of_geoms(model, robot, key, columns));
        const Arguments law{{"stiffness", *stiffness_}, {"reach", *reach_}};
        EnergyTerm barrier{name + ": barrier",
                           barrier_energy(items.kind),
                           n,
                           points,
                           joined({law, geoms}),
                           StepLimit{step_limit(items.kind), geoms}};
        model.add_energy(std::move(barrier));
        const Arguments places{{"point", model.index_array(items.point, 1)},
                               {"body", model.index_array(items.body, 1)},
                               {"x", model.array("position")},
                               {"xpos", model.array(robot.name + ".xpos")},
                               {"xquat", model.array(robot.name + ".xquat")}};
        Arguments shown = joined({law, geoms, places});
        if (friction_) add_friction(model, name, items, points, places, shown);
        model::publish(model, {.owner = name,
                               .name = "contact force",
                               .unit = "N",
                               .meaning = "of rigid bodies on each point",
                               .of = model::ShownQuantity::Of::points,
                               .count = model.point_count(),
                               .components = 3,
                               .add = [=, kind = items.kind, friction = friction_.has_value()](
                                          Model& of, const Array& values, Program& program) {
                                   Arguments arguments = shown;
                                   arguments.emplace_back("contact_force", values);
                                   program.add(of.launch(force_on_points(kind, friction), n,
                                                         arguments, name + ": contact force"));
                               }});
    }

    // `shown`: the arguments of the barrier's forces, to which those of bristles are added.
    void add_friction(Model& model, const std::string& name, const Items& items,
                      const Array& points, const Arguments& places, Arguments& shown) {
        const std::int64_t n = items.count();
        const auto add = [&](const char* what, int columns, const char* unit, const char* meaning,
                             bool state) {
            return model.add_array(
                name + ": " + what, n, columns,
                {.unit = unit, .meaning = meaning, .state = state, .internal = !state});
        };
        const Array force = add("normal force", 1, "N", "of each point and geom in the last step",
                                true),
                    normal = add("normal", 3, "",
                                 "of each geom toward each point, in the body's "
                                 "axes",
                                 true),
                    bristle = add("bristle", 3, "m",
                                  "by which each point is held, in the body's "
                                  "axes",
                                  true),
                    start = add("start", 3, "m", "each point in each body's frame", false);
        const Arguments state{{"normal_force", force}, {"normal", normal}, {"bristle", bristle}};
        const Arguments bristles{
            {"friction", *friction_}, {"bristle_stiffness", *bristle_}, {"local_start", start}};
        model.prologue().add(model.launch(begin_friction(), n, state, name + ": friction begins"));
        model.add(Phase::begin,
                  model.launch(begin_slip(), n, joined({places, {{"local_start", start}}}),
                               name + ": slip begins"));
        model.add_energy(
            {name + ": friction", friction_energy(), n, points, joined({state, bristles})});
        last_.push_back(model.launch(keep_friction(items.kind), n, joined({shown, state, bristles}),
                                     name + ": friction"));
        shown.insert(shown.end(), {{"bristle_stiffness", *bristle_}, {"bristle", bristle}});
    }

    // The scene's numbers of geoms, or the model's where a robot without contacts has none.
    static Argument number_of_geoms(Model& model, const Robot& robot, const std::string& key,
                                    int columns) {
        if (model::Quantity* const given = model.find_quantity(robot.name + "." + key))
            return given->argument();
        const auto values = robot.model->reals(key);
        const Array array(model.real(),
                          {static_cast<std::int64_t>(values.size()) / columns, columns});
        array.assign(values);
        return array;
    }

    std::shared_ptr<Settings> settings_;
    std::string name_;  // of the robot
    std::vector<Items> all_;
    std::optional<Argument> stiffness_, reach_, friction_, bristle_;
    std::vector<Launch> last_;
};

}  // namespace

}  // namespace contact

void register_contact(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::colliders,
         "articulated",
         "Rigid bodies",
         "The geoms of a robot or of rigid bodies as obstacles of soft bodies, which push them in "
         "turn: a barrier keeps points of soft bodies out of them, and friction holds these by "
         "elastic bristles in the body's frame. Points alone touch: edges should be shorter than "
         "the geoms are thick. Kinds of geoms: " +
             contact::names_of_kinds() + ".",
         {body("with").doc("the body of type articulated"),
          list("geoms")
              .optional()
              .schema(R"({"oneOf":[{"type":"string"},{"type":"integer","minimum":0}]})")
              .doc("its geoms that soft bodies meet, by name or number; without it all that "
                   "collide"),
          particles::of_field().optional().doc(
              "the soft body; without it, all points of soft bodies"),
          number("stiffness")
              .unit("N/m")
              .at_least(0)
              .differentiable()
              .doc("k of the energy -k (d - distance)^2 log(d / distance) of a point at d < "
                   "distance"),
          number("distance")
              .unit("m")
              .fallback("1e-3")
              .positive()
              .differentiable()
              .doc("how far from the surface the barrier begins"),
          number("friction").optional().at_least(0).differentiable().doc("Coulomb's coefficient"),
          number("bristle_stiffness")
              .unit("N/m")
              .optional()
              .positive()
              .differentiable()
              .doc("force per way of a point that friction holds, before it slides; default: "
                   "stiffness")},
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<contact::RigidObstacle>(std::move(s));
         },
         true});
}

}  // namespace hindcast
