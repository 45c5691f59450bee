#include "kernels/colliders/barrier.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "engine/document/text.hpp"
#include "engine/model/shown.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"
#include "kernels/colliders/barrier_function.hpp"
#include "kernels/colliders/room.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::barrier {

using namespace lang;
using model::for_dimension;
using model::Model;
using model::Phase;
using model::Quantity;

namespace {

template <int D>
EnergyKernels contact(const Form& form) {
    using V = Vec<Float, D>;
    return energy<D, 1>(
        "barrier", with_obstacle({"stiffness", "reach"}),
        [form](Int, const Points<D, 1>& x, Property<V> place, Property<V> extent,
               Property<Float> size, Property<Orientation<D>> orientation, Property<V> velocity,
               Property<Spin<D>> spin, Property<Float> samples, Param<Float> h, Param<Int> step,
               Property<Float> stiffness, Property<Float> reach) -> Float {
            const Given<D> given{form,     place, extent,  size, orientation,
                                 velocity, spin,  samples, h,    step};
            const Float e = stiffness[0] * barrier(given.at().distance(x[0]), reach[0]);
            if (!form.moves()) return e;
            // Like check_speed(), for values that are set later: no value if it moves too far.
            const Bool fits = norm(given.way()) + given.turning_way() <= reach[0];
            return e * sqrt(select(fits, Float(1), Float(-1)));
        });
}

template <int D>
KernelDef step_limit(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "barrier_step_limit", with_obstacle({"points", "x", "direction", "fraction"}),
        [form](Int i, Property<V> place, Property<V> extent, Property<Float> size,
               Property<Orientation<D>> orientation, Property<V> velocity, Property<Spin<D>> spin,
               Property<Float> samples, Param<Float> h, Param<Int> step, Read<Int> points,
               Read<V> x, Read<V> direction, Write<Float> fraction) {
            const Given<D> given{form,     place, extent,  size, orientation,
                                 velocity, spin,  samples, h,    step};
            const Int p = points[i];
            fraction[i] = given.at().limit(x[p], direction[p]);
        });
}

// The tangential way of a point at x, which was at `start`, relative to the obstacle; with its
// bristle.
template <int D>
struct Slip {
    using V = Vec<Float, D>;
    V normal, bent;
    Slip(const Given<D>& given, const V& x, const V& start, const V& normal_before,
         const V& bristle)
        : normal(normal_before), bent(bristle) {
        V way = x - start;
        if (given.form.moves()) way = x - given.carried(start);
        if (given.form.turns) {
            const Mat<Float, D, D> turn = rotation_by<D>(given.turn());
            normal = turn * normal;
            bent = turn * bent;
        }
        bent = bent + way - normal * dot(normal, way);
    }
};

// The energy of a bristle that is bent by `z`; if smoothed, of the way z.
template <int D>
Float friction_energy(const Form& form, const Vec<Float, D>& z, const Float& most,
                      const Float& stiffness, const Float& slip_way) {
    if (form.smoothed) {
        const Float y = norm(z) / slip_way;
        // |z|^2 in place of length^2: smooth at zero.
        const Float below = dot(z, z) / (slip_way * slip_way) * (1.0 - y / 3.0);
        return most * slip_way * select(y < 1.0, below, y - 1.0 / 3.0);
    }
    return bristle_energy<D>(z, most, stiffness);
}

template <int D>
EnergyKernels stick(const Form& form) {
    using V = Vec<Float, D>;
    return energy<D, 1>(
        "friction",
        with_obstacle({"friction", "bristle_stiffness", "slip_speed", "normal_force", "normal",
                       "bristle", "start"}),
        [form](Int i, const Points<D, 1>& x, Property<V> place, Property<V> extent,
               Property<Float> size, Property<Orientation<D>> orientation, Property<V> velocity,
               Property<Spin<D>> spin, Property<Float> samples, Param<Float> h, Param<Int> step,
               Property<Float> friction, Property<Float> stiffness, Property<Float> slip_speed,
               Read<Float> force, Read<V> normal, Read<V> bristle, Read<V> start) -> Float {
            const Given<D> given{form,     place, extent,  size, orientation,
                                 velocity, spin,  samples, h,    step};
            const Int p = i + static_cast<std::int32_t>(form.first);
            const V z = form.smoothed ? V::filled(Float(0)) : bristle[i];
            const Slip<D> slip(given, x[0], start[p], normal[i], z);
            const Float most = friction[0] * force[i];
            const Float e =
                form.smoothed
                    ? friction_energy<D>(form, slip.bent, most, Float(0), slip_speed[0] * h.value())
                    : friction_energy<D>(form, slip.bent, most, stiffness[0], Float(0));
            return select(force[i] > 0.0, e, Float(0));
        });
}

// Keeps the bristle, the normal and the normal force at the end of a step for the next one.
template <int D>
KernelDef remember(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "friction_state",
        with_obstacle({"stiffness", "reach", "friction", "bristle_stiffness", "x", "start",
                       "normal_force", "normal", "bristle"}),
        [form](Int i, Property<V> place, Property<V> extent, Property<Float> size,
               Property<Orientation<D>> orientation, Property<V> velocity, Property<Spin<D>> spin,
               Property<Float> samples, Param<Float> h, Param<Int> step, Property<Float> stiffness,
               Property<Float> reach, Property<Float> friction, Property<Float> bristle_stiffness,
               Read<V> x, Read<V> start, ReadWrite<Float> normal_force, ReadWrite<V> normal,
               ReadWrite<V> bristle) {
            const Given<D> given{form,     place, extent,  size, orientation,
                                 velocity, spin,  samples, h,    step};
            const Obstacle<D> obstacle = given.at();
            const Int p = i + static_cast<std::int32_t>(form.first);
            const V at = x[p];
            const V n = obstacle.normal(at);
            if (!form.smoothed) {
                const Float force = normal_force[i];
                const V z = Slip<D>(given, at, start[p], normal[i], bristle[i]).bent;
                const V kept = kept_bristle<D>(z, friction[0] * force, bristle_stiffness[0]);
                bristle[i] = select(force > 0.0, kept - n * dot(n, kept), V::filled(Float(0)));
            }
            normal[i] = n;
            normal_force[i] = stiffness[0] * repulsion(obstacle.distance(at), reach[0]);
        });
}

// Forces on each point in the present state: that of the barrier, and that of the bent bristle.
template <int D>
KernelDef normal_force(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "contact_normal_force", with_obstacle({"stiffness", "reach", "x", "contact_force"}),
        [form](Int i, Property<V> place, Property<V> extent, Property<Float> size,
               Property<Orientation<D>> orientation, Property<V> velocity, Property<Spin<D>> spin,
               Property<Float> samples, Param<Float> h, Param<Int> step, Property<Float> stiffness,
               Property<Float> reach, Read<V> x, Accumulate<V> contact_force) {
            const Given<D> given{form,     place, extent,  size, orientation,
                                 velocity, spin,  samples, h,    step};
            const Obstacle<D> obstacle = given.at(0);
            const Int p = i + static_cast<std::int32_t>(form.first);
            const V at = x[p];
            contact_force[p] +=
                obstacle.normal(at) * (stiffness[0] * repulsion(obstacle.distance(at), reach[0]));
        });
}
template <int D>
KernelDef bristle_force(const Form& form) {
    using V = Vec<Float, D>;
    return kernel("contact_friction_force", {"bristle", "bristle_stiffness", "contact_force"},
                  [form](Int i, Read<V> bristle, Property<Float> bristle_stiffness,
                         Accumulate<V> contact_force) {
                      const Int p = i + static_cast<std::int32_t>(form.first);
                      contact_force[p] -= bristle[i] * bristle_stiffness[0];
                  });
}

template <int D>
KernelDef forget() {
    using V = Vec<Float, D>;
    return kernel("friction_begins", {"normal_force", "normal"},
                  [](Int i, Write<Float> normal_force, Write<V> normal) {
                      normal_force[i] = Float(0);
                      normal[i] = V::filled(Float(0));
                  });
}
template <int D>
KernelDef straighten() {
    using V = Vec<Float, D>;
    return kernel("friction_begins_straight", {"bristle"},
                  [](Int i, Write<V> bristle) { bristle[i] = V::filled(Float(0)); });
}

// For use without a scene: the energy k b(d) of points and its force, for planes and spheres at
// rest.
template <int D>
Float standing_energy(const Form& form, const Vec<Float, D>& x,
                      const Property<Vec<Float, D>>& vector, const Property<Float>& number,
                      const Property<Float>& stiffness, const Property<Float>& reach) {
    Obstacle<D> obstacle(form);
    obstacle.size = number[0];
    if (form.kind == ShapeKind::plane) {
        obstacle.center = Vec<Float, D>::filled(Float(0));
        obstacle.extent = normalize(vector[0]);
    } else {
        obstacle.center = vector[0];
    }
    return stiffness[0] * barrier(obstacle.distance(x), reach[0]);
}
std::vector<std::string> with_surface(const Form& form, std::vector<std::string> names) {
    const bool plane = form.kind == ShapeKind::plane;
    names.insert(names.begin(), {plane ? "normal" : "center", plane ? "offset" : "radius",
                                 "stiffness", "reach", "x"});
    return names;
}
template <int D>
KernelDef standing_energy(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "barrier_energy", with_surface(form, {"scale", "value"}),
        [form](Int i, Property<V> vector, Property<Float> number, Property<Float> stiffness,
               Property<Float> reach, Read<V> x, Param<Float> scale, Reduce<Float> value) {
            value +=
                scale.value() * standing_energy<D>(form, x[i], vector, number, stiffness, reach);
        });
}
template <int D>
KernelDef standing_force(const Form& form) {
    using V = Vec<Float, D>;
    return kernel(
        "barrier_force", with_surface(form, {"force"}),
        [form](Int i, Property<V> vector, Property<Float> number, Property<Float> stiffness,
               Property<Float> reach, Read<V> x, Accumulate<V> force) {
            const V at = ad::variable(V(x[i]));
            force[i] -=
                ad::grad(standing_energy<D>(form, at, vector, number, stiffness, reach), at);
        });
}

using Values = std::span<const double>;

double length(Values v) {
    double square = 0;
    for (const double x : v) square += x * x;
    return std::sqrt(square);
}

// Given::turning_way() for a turn by 1 rad, m, from values of the scene.
double turning_radius(const Meeting& m, const auto& values_of) {
    const Numbers& n = m.numbers;
    if (m.form.is_field()) return m.form.grid.half_diagonal();
    if (m.form.row().placed_by == PlacedBy::center_and_half_extents)
        return length(values_of(n.extent));
    if (!m.form.has_axis()) return 0;
    std::vector<double> half;
    for (std::size_t c = 0; c < values_of(n.place).size(); ++c)
        half.push_back(0.5 * (values_of(n.extent)[c] - values_of(n.place)[c]));
    const double radius = values_of(n.size).front(), axis = length(half);
    double farthest = m.form.row().round_ends ? axis + radius : std::hypot(axis, radius);
    const Values omega = values_of(m.angular_velocity);
    if (omega.size() == 3) {  // turning about its own axis does not move it
        double along = 0;
        for (std::size_t c = 0; c < 3; ++c) along += omega[c] * half[c] / axis;
        const double size = length(omega);
        if (size > 0) farthest *= std::sqrt(std::max(0.0, 1 - along * along / (size * size)));
    }
    return farthest;
}

// Throws Error if a moving obstacle goes farther in a step than its barrier reaches: the energy
// sees its place at the step's end only.
void check_speed(const Meeting& m, double h, const auto& values_of) {
    const double reach = values_of(m.distance).front();
    double way = 0;
    if (m.velocity != nullptr) way += length(values_of(m.velocity)) * h;
    if (m.angular_velocity != nullptr)
        way += length(values_of(m.angular_velocity)) * h * turning_radius(m, values_of);
    if (way <= reach) return;
    throw Error("the obstacle moves " + document::shortest(way) +
                " m in a step, farther than its barrier reaches, " + document::shortest(reach) +
                " m: it could pass a point")
        .remedy("make the step smaller, the velocity lower or \"distance\" larger");
}

// Checks the speed now and whenever one of the numbers that it depends on changes.
void limit_speed(const Meeting& m, double h) {
    for (Quantity* changed : {m.velocity, m.angular_velocity, m.distance, m.numbers.place,
                              m.numbers.extent, m.numbers.size}) {
        if (changed == nullptr) continue;
        changed->check = [m, h, changed, before = changed->check](Values values) {
            if (before) before(values);
            check_speed(
                m, h, [&](const Quantity* q) { return q == changed ? values : Values(q->values); });
        };
    }
    m.distance->check(m.distance->values);
}

}  // namespace

void publish_kernels(Registry& registry) {
    const model::Field surface = model::choice("surface", {"plane", "sphere"})
                                     .fallback("\"plane\"")
                                     .doc("the half-space n.x < offset, or a ball");
    const auto form_of = [](const model::Settings& options) {
        Form form;
        form.kind = options.choice("surface") == "plane" ? ShapeKind::plane : ShapeKind::sphere;
        return form;
    };
    using Parameters = std::vector<model::PublishedKernel::Parameter>;
    const auto with_rows = [](Parameters rows) {
        rows.insert(rows.begin(), {{"normal", "n, out of the obstacle, of any length"},
                                   {"offset", "of the plane n.x = offset, m"},
                                   {"center", "of the ball, m"},
                                   {"radius", "of the ball, m"},
                                   {"stiffness", "k, N/m"},
                                   {"reach", "d^, m"},
                                   {"x", "positions, m"}});
        return rows;
    };
    registry.publish(
        {"barrier_energy",
         "One item per point, d its distance: value += scale k b, with b = -(d - d^)^2 log(d / d^) "
         "for d < d^ and 0 beyond.",
         {model::dimension_option(), surface},
         with_rows({{"scale", "a factor"}, {"value", "a sum, J"}}),
         [form_of](const model::Settings& options) {
             return for_dimension(options,
                                  [&](auto D) { return standing_energy<D>(form_of(options)); });
         }});
    registry.publish(
        {"barrier_force",
         "One item per point, d its distance: adds -k db/dd n to the force, with b as of "
         "barrier_energy.",
         {model::dimension_option(), surface, model::adds_option()},
         with_rows({{"force", "on the points, N"}}),
         [form_of](const model::Settings& options) {
             return for_dimension(options,
                                  [&](auto D) { return standing_force<D>(form_of(options)); });
         }});
}

void meet(Model& model, const Meeting& m) {
    Form form = m.form;
    form.translates = m.velocity != nullptr;
    form.turns = m.angular_velocity != nullptr;
    form.oriented = m.numbers.orientation != nullptr;
    form.smoothed = m.slip_speed != nullptr;
    form.first = m.range.first;
    if (form.moves()) limit_speed(m, model.step());
    const std::int64_t n = m.range.count;
    const Array points = particles::numbers_of(model, m.range);
    std::vector<NamedArgument> obstacle;
    const auto give = [&](const char* name, const Quantity* quantity) {
        if (quantity != nullptr) obstacle.emplace_back(name, quantity->argument());
    };
    give("place", m.numbers.place);
    give("extent", m.numbers.extent);
    give("size", m.numbers.size);
    give("orientation", m.numbers.orientation);
    give("samples", m.numbers.samples);
    give("velocity", m.velocity);
    give("spin", m.angular_velocity);
    obstacle.insert(obstacle.end(), {{"h", model.step()}, {"step", model.step_counter()}});
    const auto with = [&](std::vector<NamedArgument> more) {
        more.insert(more.begin(), obstacle.begin(), obstacle.end());
        return more;
    };
    const Argument stiffness = m.stiffness->argument(), reach = m.distance->argument();
    model.add_energy(
        {m.name + ": barrier", for_dimension(model, [&](auto D) { return contact<D>(form); }), n,
         points, with({{"stiffness", stiffness}, {"reach", reach}}),
         StepLimit{for_dimension(model, [&](auto D) { return step_limit<D>(form); }), obstacle}});
    add_to_room(model, {m.name, form, m.range, obstacle, reach});
    // Shows the forces of barrier and bristle. The state does not hold that of smoothed friction.
    const auto show = [&](std::optional<std::pair<Array, Argument>> bristle) {
        model::publish(
            model, {.owner = m.name,
                    .name = form.smoothed ? "normal contact force" : "contact force",
                    .unit = "N",
                    .meaning = form.smoothed ? "of barriers on each point, without friction"
                                             : "of barriers on each point, with friction",
                    .of = model::ShownQuantity::Of::points,
                    .count = model.point_count(),
                    .components = model.dimension(),
                    .add = [=, name = m.name,
                            barrier = with({{"stiffness", stiffness}, {"reach", reach}})](
                               Model& of, const Array& values, Program& program) {
                        std::vector<NamedArgument> arguments = barrier;
                        arguments.insert(arguments.end(),
                                         {{"x", of.array("position")}, {"contact_force", values}});
                        program.add(of.launch(
                            for_dimension(of, [&](auto D) { return normal_force<D>(form); }), n,
                            arguments, name + ": contact force"));
                        if (!bristle) return;
                        program.add(of.launch(
                            for_dimension(of, [&](auto D) { return bristle_force<D>(form); }), n,
                            {{"bristle", bristle->first},
                             {"bristle_stiffness", bristle->second},
                             {"contact_force", values}},
                            name + ": friction force"));
                    }});
    };
    if (m.friction == nullptr || form.smoothed) show({});
    if (m.friction == nullptr) return;
    const Array force = model.add_array(
                    m.name + ": normal force", n, 1,
                    {.unit = "N", .meaning = "normal force on each point", .state = true}),
                normal = model.add_array(
                    m.name + ": normal", n, model.dimension(),
                    {.meaning = "normal at each point", .state = true, .internal = true});
    std::vector<NamedArgument> kept{{"normal_force", force}, {"normal", normal}};
    const std::string begins = m.name + ": no friction yet";
    model.prologue().add(
        model.launch(for_dimension(model, [](auto D) { return forget<D>(); }), n, kept, begins));
    if (!form.smoothed) {
        const Array bristle = model.add_array(m.name + ": bristle", n, model.dimension(),
                                              {.unit = "m",
                                               .meaning = "how far friction's bristle is bent",
                                               .state = true,
                                               .internal = true});
        model.prologue().add(
            model.launch(for_dimension(model, [](auto D) { return straighten<D>(); }), n,
                         {{"bristle", bristle}}, begins));
        kept.emplace_back("bristle", bristle);
        show(std::pair(
            bristle, m.bristle_stiffness != nullptr ? m.bristle_stiffness->argument() : stiffness));
    }
    kept.emplace_back("start", particles::start_of_step(model));
    kept.emplace_back("friction", m.friction->argument());
    if (!form.smoothed)
        kept.emplace_back("bristle_stiffness", m.bristle_stiffness != nullptr
                                                   ? m.bristle_stiffness->argument()
                                                   : stiffness);
    std::vector<NamedArgument> sticking = with(kept);
    if (form.smoothed) sticking.emplace_back("slip_speed", m.slip_speed->argument());
    model.add_energy({m.name + ": friction",
                      for_dimension(model, [&](auto D) { return stick<D>(form); }), n, points,
                      std::move(sticking)});
    kept.insert(
        kept.end(),
        {{"stiffness", stiffness}, {"reach", reach}, {"x", particles::arrays(model).position}});
    model.add(Phase::end,
              model.launch(for_dimension(model, [&](auto D) { return remember<D>(form); }), n,
                           with(kept), m.name + ": friction's state"));
}

}  // namespace hindcast::barrier
