#include "kernels/colliders/impacts.hpp"

#include <algorithm>

#include "engine/document/read.hpp"
#include "kernels/colliders/meeting.hpp"

namespace hindcast::impact {

namespace {

using model::for_dimension;
using model::Model;
using model::Phase;

// Normals of unit length, places and numbers of all surfaces, one after the other: read by all points.
template <int D>
KernelDef gather(bool plane) {
    using V = Vec<Float, D>;
    return kernel(
        "impact_surface",
        {"place", "size", "velocity", "restitution", "friction", "rest_speed", "first", "places",
         "velocities", "numbers"},
        [plane](Int i, Property<V> place, Property<Float> size, Property<V> velocity,
                Property<Float> restitution, Property<Float> friction, Property<Float> rest_speed,
                Param<Int> first, Write<V> places, Write<V> velocities, Write<Vec4> numbers) {
            const Int j = injective(i + first.value());
            places[j] = plane ? normalize(place[0]) : V(place[0]);
            velocities[j] = velocity[0];
            numbers[j] = Vec4(size[0], restitution[0], friction[0], rest_speed[0]);
        });
}

template <int D>
KernelDef move(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "position_update_impacts",
        {"w", "force", "gravity", "h", "step", "radius", "places", "velocities", "numbers", "v",
         "x"},
        [form](Int i, Read<Float> w, Read<V> force, Property<V> gravity, Param<Float> h,
               Param<Int> step, Read<Float> radius, Read<V> places, Read<V> velocities,
               Read<Vec4> numbers, ReadWrite<V> v, ReadWrite<V> x) {
            Motion<D> m;
            m.x = x[i];
            m.w = v[i];
            m.left = h.value();
            const Obstacles<D> obstacles(form, i, form.radii ? Float(radius[i]) : Float(0), h, step,
                                         places, velocities, numbers);
            const Bool free = w[i] > 0.0;
            if_(free && obstacles.may_meet(m), [&] {
                m.a = V(gravity[0]);
                if (form.forced) m.a += force[i] * w[i];
                m.pull = m.a;
                Corner<D> corner;
                while_([&] { return obstacles.next(m).time < m.left; },
                       [&] {
                           const auto next = obstacles.next(m);
                           m.advance(next.time);
                           Outcome<D> out = respond<D>(m, next.with, obstacles.friction());
                           corner.hold(next.with, out, obstacles.friction(), epsilon());
                           m.w = out.w;
                           m.a = out.a;
                       },
                       most_impacts, too_many);
            });
            v[i] = m.w;
            x[i] = m.x + m.w * m.left;
        });
}

Bound bind(Model& model, const Impacts& impacts, const std::optional<Array>& force) {
    const auto count = static_cast<std::int64_t>(impacts.surfaces.size());
    const std::int64_t room = std::max<std::int64_t>(count, 1);
    const int d = model.dimension();
    Bound bound;
    const Array places = model.add_array(
        "collider_place", room, d,
        {.meaning = "unit normal of each plane, center of each sphere (m) at time 0"});
    const Array velocities = model.add_array(
        "collider_velocity", room, d, {.unit = "m/s", .meaning = "velocity of each obstacle"});
    const Array numbers = model.add_array(
        "collider_numbers", room, 4,
        {.meaning =
             "of each obstacle: offset or radius (m), restitution, friction, rest speed (m/s)"});
    Form& form = bound.form;
    form.forced = force.has_value();
    form.radii = model.has_array("radius");
    bound.obstacles = {{"w", particles::arrays(model).inverse_mass},
                       {"h", model.step()},
                       {"step", model.step_counter()},
                       {"places", places},
                       {"velocities", velocities},
                       {"numbers", numbers}};
    if (form.radii) bound.obstacles.emplace_back("radius", model.array("radius"));
    bound.acceleration = {{"gravity", model.find_quantity("gravity")->argument()}};
    if (force) bound.acceleration.emplace_back("force", *force);
    for (std::int64_t c = 0; c < count; ++c) {
        const Surface& s = impacts.surfaces[static_cast<std::size_t>(c)];
        form.surfaces.push_back({s.plane, s.range.count == model.point_count(),
                                 s.friction != nullptr, s.velocity != nullptr, s.range.first,
                                 s.range.first + s.range.count});
        model.prologue().add(model.launch(
            for_dimension(model, [&](auto dimension) { return gather<dimension>(s.plane); }), 1,
            {{"place", s.place->argument()},
             {"size", s.size->argument()},
             {"velocity", argument_of(s.velocity, d)},
             {"restitution", argument_of(s.restitution)},
             {"friction", argument_of(s.friction)},
             {"rest_speed", argument_of(s.rest_speed)},
             {"first", c},
             {"places", places},
             {"velocities", velocities},
             {"numbers", numbers}},
            "surface of an obstacle"));
    }
    return bound;
}

void add_move(Model& model, const std::optional<Array>& force) {
    const Impacts& impacts = model.shared<Impacts>();
    const Bound bound = bind(model, impacts, force);
    if (impacts.pairs) {
        add_rounds(model, bound, *impacts.pairs);
        return;
    }
    const particles::Arrays a = particles::arrays(model);
    std::vector<NamedArgument> arguments = bound.obstacles;
    arguments.insert(arguments.end(), bound.acceleration.begin(), bound.acceleration.end());
    arguments.emplace_back("v", a.velocity);
    arguments.emplace_back("x", a.position);
    model.add(Phase::position_update,
              model.launch(for_dimension(model, [&](auto D) { return move<D>(bound.form); }),
                           model.point_count(), arguments, "position update with impacts"));
}

}  // namespace

Argument argument_of(const model::Quantity* quantity, int components) {
    if (quantity != nullptr) return quantity->argument();
    return std::vector<double>(static_cast<std::size_t>(components), 0.0);
}

void meet(Model& model, const Surface& surface) {
    model.shared<Impacts>().surfaces.push_back(surface);
    model.shared<particles::Integration>().position_update = add_move;
}

void publish_kernels(Registry& registry) {
    using model::boolean;
    registry.publish(
        {"position_update_impacts",
         "One item per point: x <- x + h v with impacts at their times within the step; v is that "
         "after the velocity update, and the step's acceleration gravity + w force is split where "
         "the point meets an obstacle.",
         {model::dimension_option(),
          model::list("surfaces")
              .doc("of the obstacles in order: \"plane\" (the half-space n.x < offset) or "
                   "\"sphere\"")
              .schema(R"({"enum":["plane","sphere"]})"),
          boolean("friction").fallback("false").doc("with friction"),
          boolean("moving").fallback("false").doc("obstacles have velocities"),
          boolean("forced").fallback("false").doc("with a force"),
          boolean("radii").fallback("false").doc("points are balls")},
         {{"w", "1 / mass of the points, 1/kg; 0: fixed"},
          {"force", "on the points, N"},
          {"gravity", "m/s^2"},
          {"h", "the step, s"},
          {"step", "its number"},
          {"radius", "of the points, m"},
          {"places", "normals of length 1, or centers at time 0, of the obstacles"},
          {"velocities", "of the obstacles, m/s"},
          {"numbers",
           "of the obstacles: offset at time 0 or radius (m), restitution, friction, "
           "rest speed (m/s): a slower approach has no rebound"},
          {"v", "velocities, m/s"},
          {"x", "positions, m"}},
         [](const model::Settings& options) {
             Form form;
             form.forced = options.boolean("forced");
             form.radii = options.boolean("radii");
             const document::Node& list = document::array_of(*options.find("surfaces"), 1);
             for (std::size_t k = 0; k < list.size(); ++k) {
                 static constexpr std::string_view names[] = {"plane", "sphere"};
                 Form::Of surface;
                 surface.plane = document::choice_of(list.item(k), names, "surface") == 0;
                 surface.friction = options.boolean("friction");
                 surface.moves = options.boolean("moving");
                 form.surfaces.push_back(surface);
             }
             return for_dimension(options, [&](auto D) { return move<D>(form); });
         }});
}

void meet_each_other(Model& model, const Pairs& pairs) {
    model.shared<Impacts>().pairs = pairs;
    model.shared<particles::Integration>().position_update = add_move;
}

}  // namespace hindcast::impact
