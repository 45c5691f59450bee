// A collider gives every point x its distance phi(x), negative inside, and the outward normal n:
//     plane   phi = n.x - offset          sphere  phi = |x - center| - radius
// With v_n = v.n and v_t = v - v_n n, it answers in one of five ways.
//   impact      within the step, at the time where phi = 0: impacts.hpp.
//   penalty     a force while phi < 0: N = max(0, -stiffness phi - damping v_n) along n (it never
//               pulls), and friction -friction N v_t / max(|v_t|, slip_speed). With damping the force
//               jumps at the touch, from 0 to -damping v_n. A change of the scene moves the touch to
//               another step, and the loss jumps with it; derivatives do not see these jumps.
//   impulse     after the velocity update, where phi <= 0 and v_n < 0: v_n <- -restitution v_n,
//               and |v_t| shrinks by at most friction (1 + restitution) |v_n|. Coulomb's law, with
//               sticking: a point that friction can stop stands still. At the limit of sticking the
//               derivative is that of sliding.
//   projection  at the end of the step, on the new position, where phi < 0 and v_n < 0: v_n <- 0,
//               and |v_t| shrinks by at most friction |v_n|.
// Impulse and projection change velocities only, at the ends of steps; positions stay. A small
// change of the scene does not move a contact to another step, so that their derivatives know
// nothing of the time of a contact: they are those of the discrete program, and no guide to the
// motion that it approximates.
//   barrier     with implicit integrators: energies that keep phi > 0: barrier.hpp.
// Fixed points are not affected.
#include "kernels/colliders/colliders.hpp"

#include <algorithm>

#include "kernels/colliders/barrier_scene.hpp"
#include "kernels/colliders/impacts.hpp"
#include "kernels/colliders/obstacle_pairs.hpp"
#include "kernels/colliders/offers.hpp"
#include "kernels/colliders/penalty_checks.hpp"
#include "kernels/colliders/room.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::for_dimension;
using model::Model;
using model::Phase;
using model::Quantity;
using model::Settings;

enum class Surface { plane, sphere };

struct Form {
    Surface surface = Surface::plane;
    bool friction = false, damping = false, restitution = false;
    std::int64_t first = 0;        // of the points
    bool strictly_inside = false;  // velocities change where phi < 0, otherwise where phi <= 0
};

// A point's distance from the surface, the normal there, and its velocity along and across it.
template <int D>
struct Contact {
    Float distance, normal_speed, tangential_speed;
    Vec<Float, D> normal, tangential;
};

template <int D>
Contact<D> contact(const Form& form, const Vec<Float, D>& x, const Vec<Float, D>& v,
                   const Vec<Float, D>& vector, const Float& number) {
    Contact<D> c;
    if (form.surface == Surface::plane) {
        c.normal = normalize(vector);
        c.distance = dot(c.normal, x) - number;
    } else {
        const Vec<Float, D> d = x - vector;
        c.normal = normalize(d);
        c.distance = norm(d) - number;
    }
    c.distance.name("distance");
    c.normal_speed = dot(v, c.normal);
    c.tangential = v - c.normal * c.normal_speed;
    c.tangential_speed = norm(c.tangential);
    return c;
}

std::vector<std::string> with_surface(const Form& form, std::vector<std::string> names) {
    const bool plane = form.surface == Surface::plane;
    names.insert(names.begin(), {plane ? "normal" : "center", plane ? "offset" : "radius"});
    return names;
}

template <int D>
KernelDef penalty(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "contact_penalty",
        with_surface(form, {"stiffness", "damping", "friction", "slip_speed", "x", "v", "force"}),
        [form](Int i, Property<V> vector, Property<Float> number, Property<Float> stiffness,
               Property<Float> damping, Property<Float> friction, Property<Float> slip_speed,
               Read<V> x, Read<V> v, Accumulate<V> force) {
            const Int j = particles::point_at(i, form.first);
            const bool moves = form.damping || form.friction;
            const Contact<D> c =
                contact<D>(form, x[j], moves ? V(v[j]) : V::filled(Float(0)), vector[0], number[0]);
            Float push = -(stiffness[0] * c.distance);
            if (form.damping) push = max(push - damping[0] * c.normal_speed, 0.0);
            push = select(c.distance < 0.0, push, Float(0));
            V f = c.normal * push;
            if (form.friction)
                f -= c.tangential * (friction[0] * push / max(c.tangential_speed, slip_speed[0]));
            force[j] += f;
        });
}

// The energy of a contact by penalty: 1/2 stiffness phi^2 while phi < 0.
template <int D>
KernelDef penalty_energy(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "contact_energy", with_surface(form, {"stiffness", "x", "scale", "value"}),
        [form](Int i, Property<V> vector, Property<Float> number, Property<Float> stiffness,
               Read<V> x, Param<Float> scale, Reduce<Float> value) {
            const Int j = particles::point_at(i, form.first);
            const Contact<D> c = contact<D>(form, x[j], V::filled(Float(0)), vector[0], number[0]);
            const Float energy = 0.5 * stiffness[0] * c.distance * c.distance;
            value += select(c.distance < 0.0, energy, Float(0)) * scale.value();
        });
}

// Impulse and projection: the velocity after a contact.
template <int D>
KernelDef velocity_change(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        form.strictly_inside ? "contact_projection" : "contact_impulse",
        with_surface(form, {"restitution", "friction", "w", "x", "v"}),
        [form](Int i, Property<V> vector, Property<Float> number, Property<Float> restitution,
               Property<Float> friction, Read<Float> w, Read<V> x, ReadWrite<V> v) {
            const Int j = particles::point_at(i, form.first);
            const V old = v[j];
            const Contact<D> c = contact<D>(form, x[j], old, vector[0], number[0]);
            V after = c.tangential;
            if (form.friction) {
                Float limit = friction[0] * -c.normal_speed;
                if (form.restitution) limit = limit * (1.0 + restitution[0]);
                // Nothing holds a point of speed 0 with limit 0: the first branch, with its slope.
                after =
                    select(c.tangential_speed >= limit,
                           after * (1.0 - divz(limit, c.tangential_speed)), V::filled(Float(0)));
            }
            if (form.restitution) after -= c.normal * (restitution[0] * c.normal_speed);
            const Bool inside = form.strictly_inside ? c.distance < 0.0 : c.distance <= 0.0;
            v[j] = select(inside && c.normal_speed < 0.0 && w[j] > 0.0, after, old);
        });
}

std::vector<model::PublishedKernel::Parameter> with_surface_rows(
    std::vector<model::PublishedKernel::Parameter> rows) {
    rows.insert(rows.begin(), {{"normal", "n, out of the obstacle, of any length"},
                               {"offset", "of the plane n.x = offset, m"},
                               {"center", "of the ball, m"},
                               {"radius", "of the ball, m"}});
    return rows;
}

void publish_kernels(Registry& registry) {
    using model::boolean;
    using model::PublishedKernel;
    const model::Field surface = model::choice("surface", {"plane", "sphere"})
                                     .fallback("\"plane\"")
                                     .doc("the half-space n.x < offset, or a ball"),
                       friction = boolean("friction").fallback("false").doc("with friction");
    const auto form_of = [](const Settings& options) {
        Form form;
        form.surface = options.choice("surface") == "plane" ? Surface::plane : Surface::sphere;
        return form;
    };
    const PublishedKernel::Parameter x{"x", "positions, m"}, v{"v", "velocities, m/s"},
        stiffness{"stiffness", "N/m"};
    registry.publish(
        {"contact_penalty",
         "One item per point, phi its distance, negative inside: adds N n and friction -friction N "
         "v_t / max(|v_t|, slip_speed), with N = max(0, -stiffness phi - damping v.n) while phi < "
         "0, to the force.",
         {model::dimension_option(), surface,
          boolean("damping").fallback("false").doc("with damping"), friction, model::adds_option()},
         with_surface_rows({stiffness,
                            {"damping", "N s/m"},
                            {"friction", "a number"},
                            {"slip_speed", "m/s"},
                            x,
                            v,
                            {"force", "on the points, N"}}),
         [form_of](const Settings& options) {
             Form form = form_of(options);
             form.damping = options.boolean("damping");
             form.friction = options.boolean("friction");
             return for_dimension(options, [&](auto D) { return penalty<D>(form); });
         }});
    registry.publish(
        {"contact_energy",
         "One item per point, phi its distance: value += scale stiffness phi^2 / 2 while phi < 0.",
         {model::dimension_option(), surface},
         with_surface_rows({stiffness, x, {"scale", "a factor"}, {"value", "a sum, J"}}),
         [form_of](const Settings& options) {
             return for_dimension(options,
                                  [&](auto D) { return penalty_energy<D>(form_of(options)); });
         }});
    for (const bool strictly_inside : {false, true})
        registry.publish(
            {strictly_inside ? "contact_projection" : "contact_impulse",
             std::string("One item per point, phi its distance: where phi ") +
                 (strictly_inside ? "<" : "<=") +
                 " 0, v_n = v.n < 0 and w > 0, v_n <- -restitution v_n, and |v_t| shrinks by at "
                 "most friction (1 + restitution) |v_n|.",
             {model::dimension_option(), surface,
              boolean("restitution").fallback("false").doc("with restitution"), friction},
             with_surface_rows({{"restitution", "a number"},
                                {"friction", "a number"},
                                {"w", "1 / mass of the points; 0: fixed"},
                                x,
                                v}),
             [form_of, strictly_inside](const Settings& options) {
                 Form form = form_of(options);
                 form.friction = options.boolean("friction");
                 form.restitution = options.boolean("restitution");
                 form.strictly_inside = strictly_inside;
                 return for_dimension(options, [&](auto D) { return velocity_change<D>(form); });
             }});
}

class Collider final : public model::Instance {
public:
    Collider(Surface surface, std::shared_ptr<Settings> settings)
        : settings_(std::move(settings)), surface_(surface) {}

    void build(Model& model) override {
        const std::string response = settings_->choice("response");
        if (model.is_implicit() != (response == "barrier"))
            throw settings_
                ->error("response", "the response \"" + response +
                                        "\" does not go with the integrator " +
                                        model::name_of(model.options().integrator))
                .remedy(model.is_implicit()
                            ? "choose \"barrier\", or the integrator semi_implicit_euler"
                            : "choose another response, or an implicit integrator");
        check_keys(response);
        const bool plane = surface_ == Surface::plane;
        const auto kind = plane ? geometry::ShapeKind::plane : geometry::ShapeKind::sphere;
        Quantity& vector = settings_->quantity(model, plane ? "normal" : "center");
        Quantity& number = settings_->quantity(model, plane ? "offset" : "radius");
        if (plane) {
            vector.check = [settings = settings_](std::span<const double> normal) {
                if (std::ranges::all_of(normal, [](double n) { return n == 0; }))
                    throw settings->error("normal", "the normal is the zero vector")
                        .remedy("give the direction that points out of the obstacle");
            };
            vector.check(vector.values);
        }
        const auto given = [&](const char* key) {
            return settings_->written(key) ? &settings_->quantity(model, key) : nullptr;
        };
        Quantity* velocity = given("velocity");
        if (plane)
            model.draw({settings_->name(), model::DrawnHalfSpace{&vector, &number, velocity}});
        else
            model.draw({settings_->name(), model::DrawnBall{&vector, &number, velocity}});
        const bool pushes = response == "penalty" || response == "barrier";
        const auto keeps_off = [&](const std::string& body) {
            const model::ContactBody* const robot = model.contact_pairs().find(body);
            return plane && velocity == nullptr && robot != nullptr &&
                   robot->keeps_off(barrier::half_space_of(vector.values, number.values.front()));
        };
        const model::Range range =
            pushes
                ? particles::body_or_all(*settings_, model)
                : particles::body_or_all_with_velocities(
                      *settings_, model,
                      "rest it on the \"ground\" or a geom of its own model, or choose the "
                      "response \"penalty\", which pushes on its centers of mass",
                      [&](const std::string& body) {
                          const model::ContactBody* const robot = model.contact_pairs().find(body);
                          return robot == nullptr || !robot->falls || keeps_off(body);
                      });
        for (const auto& [body, points] : model.bodies_with_points())
            if (particles::follows_from_coordinates(model, body) && keeps_off(body))
                model.contact_pairs().keep_apart(settings_->name(), body, "its own ground");
        if (response == "impact") refuse_if_without_effect(model, range);
        barrier::add_contact_obstacle(model, *settings_,
                                      {.kind = kind,
                                       .numbers = {.place = &vector, .size = &number},
                                       .velocity = velocity,
                                       .range = range,
                                       .law = response,
                                       .through_forces = pushes});
        if (response == "barrier") {
            barrier::Form form;
            form.kind = kind;
            barrier::meet(model, barrier::meeting(*settings_, model, form,
                                                  {.place = &vector, .size = &number}));
            return;
        }
        if (response != "impact" && model.has_array("radius"))
            throw settings_
                ->error("response",
                        "particles with a radius meet obstacles by the response \"impact\" only")
                .remedy("choose \"impact\", or leave the particles' radius out");
        if (response == "impact") {
            impact::meet(model, {plane, range, &vector, &number, velocity, given("restitution"),
                                 given("friction"), given("rest_speed")});
            return;
        }
        const particles::Arrays a = particles::arrays(model);
        Form form;
        form.surface = surface_;
        form.friction = settings_->written("friction");
        form.damping = settings_->written("damping");
        form.restitution = settings_->written("restitution");
        form.first = range.first;
        form.strictly_inside = response == "projection";
        const std::vector<NamedArgument> surface{{plane ? "normal" : "center", vector.argument()},
                                                 {plane ? "offset" : "radius", number.argument()},
                                                 {"x", a.position}};
        std::vector<NamedArgument> arguments = surface;
        arguments.emplace_back("v", a.velocity);
        const auto add = [&](const char* key) {
            arguments.emplace_back(key, settings_->quantity(model, key).argument());
        };
        if (form.friction) add("friction");
        if (response == "penalty") {
            add("stiffness");
            const Argument stiffness = arguments.back().argument;
            if (form.damping) add("damping");
            if (form.friction) add("slip_speed");
            const auto made = [&](const char* key) {
                return model.find_quantity(settings_->name() + "." + key);
            };
            check_penalty(model, {.name = settings_->name(),
                                  .pointer = settings_->node().pointer(),
                                  .plane = plane,
                                  .range = range,
                                  .place = &vector,
                                  .size = &number,
                                  .stiffness = made("stiffness"),
                                  .damping = made("damping"),
                                  .friction = made("friction"),
                                  .slip_speed = made("slip_speed")});
            arguments.emplace_back("force", particles::force(model));
            const KernelDef kernel = for_dimension(model, [&](auto D) { return penalty<D>(form); });
            model.add(Phase::forces, model.launch(kernel, range.count, arguments,
                                                  settings_->name() + ": contact force"));
            model.publish_energy(
                {plane ? "plane" : "sphere", settings_->name(), "contact energy",
                 [name = settings_->name(), form, range, surface, stiffness](
                     Model& m, double scale, const Array& value, Program& program) {
                     std::vector<NamedArgument> all = surface;
                     all.emplace_back("stiffness", stiffness);
                     all.emplace_back("scale", scale);
                     all.emplace_back("value", value);
                     program.add(
                         m.launch(for_dimension(m, [&](auto D) { return penalty_energy<D>(form); }),
                                  range.count, all, name + ": contact energy"));
                 }});
            return;
        }
        // The place of the surface only decides whether there is contact: it has no derivative, and
        // asking for one is an error.
        number.may_optimize = false;
        number.no_gradient = " with the response \"" + response +
                             "\": where the surface lies only decides whether there is contact";
        number.remedy = "choose the response \"impact\" or \"penalty\", or another parameter";
        if (form.restitution) add("restitution");
        arguments.emplace_back("w", a.inverse_mass);
        const KernelDef kernel =
            for_dimension(model, [&](auto D) { return velocity_change<D>(form); });
        model.add(form.strictly_inside ? Phase::end : Phase::velocity_constraints,
                  model.launch(kernel, range.count, arguments, settings_->name() + ": contact"));
    }
    void finish(Model& model) override { barrier::make_room(model); }

private:
    // Throws Error if only material points meet the obstacle: the grid moves them, without impacts.
    void refuse_if_without_effect(Model& model, model::Range range) const {
        bool material = false;
        for (const auto& [name, of] : model.bodies_with_points()) {
            if (!of.overlaps(range)) continue;
            const model::ContactBody* const body = model.contact_pairs().find(name);
            if (body == nullptr || body->extent != model::Extent::material_points) return;
            material = true;
        }
        if (material)
            throw settings_
                ->error("response", "'" + settings_->name() +
                                        "' would have no effect: material points have no impacts")
                .remedy(
                    "choose the response \"impulse\" or \"projection\", or let the walls of "
                    "the grid hold them");
    }

    // Throws Error for keys that this response does not read, instead of ignoring them.
    void check_keys(const std::string& response) const {
        const auto refuse = [&](const char* key, const char* of) {
            if (settings_->written(key))
                throw settings_
                    ->error(key, std::string("'") + key +
                                     "' has no meaning for the "
                                     "response \"" +
                                     response + "\"")
                    .remedy(std::string("leave it out, or choose the response ") + of);
        };
        if (response != "impulse" && response != "impact")
            refuse("restitution", "\"impact\" or \"impulse\"");
        const bool barrier = response == "barrier";
        if (response != "impact") refuse("rest_speed", "\"impact\"");
        if (response != "impact" && !barrier) refuse("velocity", "\"impact\" or \"barrier\"");
        if (response != "penalty" && !barrier) refuse("stiffness", "\"penalty\" or \"barrier\"");
        if (response != "penalty") refuse("damping", "\"penalty\"");
        if (barrier) return;  // barrier::meeting() checks the rest
        if (response != "penalty") refuse("slip_speed", "\"penalty\" or \"barrier\"");
        for (const char* key :
             {"distance", "bristle_stiffness", "friction_model", "angular_velocity"})
            refuse(key, "\"barrier\"");
        if (response == "penalty" && !settings_->written("stiffness"))
            throw settings_->error("response", "a penalty needs a stiffness")
                .remedy("add \"stiffness\" (N/m)");
        if (settings_->written("slip_speed") && !settings_->written("friction"))
            throw settings_->error("slip_speed", "'slip_speed' has no meaning without friction")
                .remedy("add \"friction\", or leave it out");
    }

    std::shared_ptr<Settings> settings_;
    Surface surface_;
};

std::vector<model::Field> with_response(std::vector<model::Field> fields) {
    using namespace model;
    fields.push_back(particles::of_field().optional().doc(
        "the body; without it, all points of the scene; of rigid bodies, whose points are their "
        "centers of mass, with the response penalty only"));
    fields.push_back(
        choice("response", {"impact", "penalty", "impulse", "projection", "barrier"})
            .fallback("\"impact\"")
            .doc(
                "impact: the rebound happens at its time within the step, and gradients are those "
                "of the motion. penalty: a force while a point is inside. impulse: the velocity "
                "changes in the step after which it is inside and approaching; projection: the "
                "same "
                "at the end of the step, without rebound. Gradients of the last two are exact for "
                "the steps as they are made, and mislead: they do not see that a contact comes "
                "earlier or later (a ball that drops from 1 m onto an elastic floor: dy/dy0 after "
                "0.7 s is 0.101, and +1 with impulse at any step). Those of a penalty are right on "
                "average and noisy where it is stiff: the same ball of 1 kg has 0.101 +- 0.05 with "
                "1e4 N/m in 10 000 steps, +- 0.02 in 100 000; with 1e6 N/m +- 4.6 and +- 0.9. "
                "barrier: with an implicit integrator, and only there: an energy that no point "
                "passes, with friction that holds what it can hold; gradients are those of the "
                "steps as they are made"));
    fields.push_back(vector("velocity")
                         .unit("m/s")
                         .optional()
                         .differentiable()
                         .doc("impact, barrier: the obstacle moves with it, from where it is at "
                              "time 0"));
    fields.push_back(
        number("rest_speed")
            .unit("m/s")
            .fallback("0")
            .at_least(0)
            .doc("impact: a point that approaches more slowly does not rebound. A rebound that the "
                 "acceleration takes back within the step is none in any case, so that bouncing "
                 "ends"));
    fields.push_back(number("restitution")
                         .fallback("0")
                         .at_least(0)
                         .at_most(1)
                         .differentiable()
                         .doc("impact, impulse: the part of the normal speed that is given back"));
    fields.push_back(
        number("friction").fallback("0").at_least(0).differentiable().doc("Coulomb's coefficient"));
    fields.push_back(number("damping").unit("N s/m").optional().at_least(0).differentiable().doc(
        "penalty: force per normal speed. The force then jumps where a point touches; derivatives "
        "do "
        "not see that jump, and without damping there is none"));
    for (model::Field& f : barrier::response_fields()) fields.push_back(std::move(f));
    return fields;
}

}  // namespace

void register_colliders(Registry& registry) {
    using namespace model;
    offer_obstacles(registry);
    publish_kernels(registry);
    impact::publish_kernels(registry);
    barrier::publish_kernels(registry);
    registry.add(
        {Section::colliders, "plane", "Plane",
         "A half-space: points stay where normal.x >= offset (the normal is made a unit "
         "vector). Impact, at the time in the step where phi = normal.x - offset = 0: v_n <- "
         "-restitution v_n, |v_t| reduced by at most friction (1 + restitution) |v_n|, with the "
         "velocity of that moment, after which the step is made to its end; a point that cannot "
         "rebound is held for the rest of the step, and its friction is at most friction times "
         "what "
         "holds it. More than 8 impacts of a point in one step are an error. Penalty: N = max(0, "
         "-stiffness phi - damping v_n) while phi = "
         "normal.x - offset < 0, friction -friction N v_t / max(|v_t|, slip_speed). "
         "Impulse, where phi <= 0 and v_n < 0: v_n <- -restitution v_n, |v_t| reduced by at most "
         "friction (1 + restitution) |v_n|. Projection, where phi < 0 and v_n < 0: v_n <- 0, |v_t| "
         "reduced by at most friction |v_n|. What friction can stop stands still; where it can "
         "just stop it, the derivative is that of sliding.",
         with_response(
             {vector("normal").differentiable().doc("points out of the obstacle"),
              number("offset").unit("m").fallback("0").differentiable().doc(
                  "distance of the plane from the origin, along the normal; it has a gradient "
                  "with the responses impact, penalty and barrier")}),
         [](std::shared_ptr<Settings> s) {
             return std::make_unique<Collider>(Surface::plane, std::move(s));
         },
         true, make_barrier});
    registry.add({Section::colliders, "sphere", "Sphere",
                  "A ball: points stay where phi = |x - center| - radius >= 0. Responses as of a "
                  "plane.",
                  with_response({vector("center").unit("m").differentiable().doc("of the ball"),
                                 number("radius").unit("m").positive().differentiable().doc(
                                     "of the ball; it has a gradient with the responses impact, "
                                     "penalty and barrier"),
                                 barrier::angular_velocity_field("barrier: ")}),
                  [](std::shared_ptr<Settings> s) {
                      return std::make_unique<Collider>(Surface::sphere, std::move(s));
                  },
                  true, make_barrier});
    barrier::register_obstacles(registry);
    register_particle_contact(registry);
}

}  // namespace hindcast
