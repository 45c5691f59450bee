#include "kernels/colliders/barrier.hpp"

#include <cmath>

#include "engine/document/text.hpp"
#include "engine/runtime/minimization/energy.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::barrier {

using namespace lang;
using model::for_dimension;
using model::Model;
using model::Phase;

namespace {

struct Form {
    bool plane = true, moves = false;
    std::int64_t first = 0;  // of the points
};

// The surface at a time: distance and normal at x.
template <int D>
struct Surface {
    using V = Vec<Float, D>;
    Form form;
    V vector, place;  // how far it has moved
    Float number;

    // At the beginning (0) or at the end (1) of the step that runs.
    Surface(const Form& f, const Property<V>& given, const Property<Float>& size,
            const Property<V>& velocity, const Param<Float>& h, const Param<Int>& step, int end = 1)
        : form(f), vector(given[0]), number(size[0]) {
        place = form.moves ? velocity[0] * (Float(step.value() + end) * h.value())
                           : V::filled(Float(0));
        if (form.plane) vector = normalize(vector);
    }
    Float distance(const V& x) const {
        if (form.plane) return (dot(vector, x - place) - number).name("distance");
        return (norm(x - place - vector) - number).name("distance");
    }
    V normal(const V& x) const { return form.plane ? vector : normalize(x - place - vector); }
    // The part of the way along `step` after which a tenth of the distance is left; at most 1.
    Float limit(const V& x, const V& step) const {
        const Float left = 0.9 * distance(x);
        if (form.plane) {
            const Float rate = -dot(vector, step);
            return select(rate > left, left / rate, Float(1));
        }
        // |x - c + t step| = |x - c| - left, the first time.
        const V from = x - place - vector;
        const Float radius = norm(from) - left, a = dot(step, step), b = dot(from, step);
        const Float root = b * b - a * (dot(from, from) - radius * radius);
        const Bool meets = b < 0.0 && root > 0.0;
        const Float t = (-b - sqrt(select(meets, root, Float(1)))) / select(meets, a, Float(1));
        return select(meets, min(t, Float(1)), Float(1));
    }
};

// b(d), and -b'(d).
Float barrier(const Float& d, const Float& reach) {
    const Float off = d - reach;
    return select(d < reach, -off * off * log(d / reach), Float(0));
}
Float repulsion(const Float& d, const Float& reach) {
    const Float off = d - reach;
    return select(d < reach, off * (2.0 * log(d / reach) + off / d), Float(0));
}

std::vector<std::string> with_surface(std::vector<std::string> names) {
    names.insert(names.begin(), {"vector", "number", "velocity", "h", "step"});
    return names;
}
template <int D>
EnergyKernels contact(const Form& form) {
    using V = Vec<Float, D>;
    return energy<D, 1>(
        "barrier", with_surface({"stiffness", "reach"}),
        [form](Int, const Points<D, 1>& x, Property<V> vector, Property<Float> number,
               Property<V> velocity, Param<Float> h, Param<Int> step, Property<Float> stiffness,
               Property<Float> reach) -> Float {
            const Surface<D> s(form, vector, number, velocity, h, step);
            const Float e = stiffness[0] * barrier(s.distance(x[0]), reach[0]);
            if (!form.moves) return e;
            // No value where it moves too far: check_speed(), of values that were set later.
            const Bool fits = norm(velocity[0]) * h.value() <= reach[0];
            return e * sqrt(select(fits, Float(1), Float(-1)));
        });
}

template <int D>
KernelDef step_limit(const Form& form) {
    using V = Vec<Float, D>;
    return kernel("barrier_step_limit", with_surface({"points", "x", "direction", "fraction"}),
                  [form](Int i, Property<V> vector, Property<Float> number, Property<V> velocity,
                         Param<Float> h, Param<Int> step, Read<Int> points, Read<V> x,
                         Read<V> direction, Write<Float> fraction) {
                      const Surface<D> s(form, vector, number, velocity, h, step);
                      const Int p = points[i];
                      fraction[i] = s.limit(x[p], direction[p]);
                  });
}

// z + u of point p at x, which was at `start`.
template <int D>
Vec<Float, D> bent(const Form& form, const Vec<Float, D>& x, const Vec<Float, D>& start,
                   const Property<Vec<Float, D>>& velocity, const Param<Float>& h,
                   const Vec<Float, D>& normal, const Vec<Float, D>& bristle) {
    Vec<Float, D> way = x - start;
    if (form.moves) way = way - velocity[0] * h.value();
    return bristle + way - normal * dot(normal, way);
}

template <int D>
EnergyKernels stick(const Form& form) {
    using V = Vec<Float, D>;
    return energy<D, 1>(
        "friction",
        {"velocity", "h", "friction", "bristle_stiffness", "normal_force", "normal", "bristle",
         "start"},
        [form](Int i, const Points<D, 1>& x, Property<V> velocity, Param<Float> h,
               Property<Float> friction, Property<Float> stiffness, Read<Float> force,
               Read<V> normal, Read<V> bristle, Read<V> start) -> Float {
            const Int p = i + static_cast<std::int32_t>(form.first);
            const V z = bent<D>(form, x[0], start[p], velocity, h, normal[i], bristle[i]);
            const Float k = stiffness[0], r = friction[0] * force[i] / k, length = norm(z);
            const Float elastic = 0.5 * k * dot(z, z), sliding = k * r * (length - 0.5 * r);
            return select(force[i] > 0.0, select(length <= r, elastic, sliding), Float(0));
        });
}

// At the end of a step: the bristle as it is left, then normal and normal force as they are now.
template <int D>
KernelDef remember(const Form& form) {
    using V = Vec<Float, D>;
    return kernel("friction_state",
                  with_surface({"stiffness", "reach", "friction", "bristle_stiffness", "x", "start",
                                "normal_force", "normal", "bristle"}),
                  [form](Int i, Property<V> vector, Property<Float> number, Property<V> velocity,
                         Param<Float> h, Param<Int> step, Property<Float> stiffness,
                         Property<Float> reach, Property<Float> friction,
                         Property<Float> bristle_stiffness, Read<V> x, Read<V> start,
                         ReadWrite<Float> normal_force, ReadWrite<V> normal, ReadWrite<V> bristle) {
                      const Int p = i + static_cast<std::int32_t>(form.first);
                      const Surface<D> s(form, vector, number, velocity, h, step);
                      const V at = x[p];
                      const Float force = normal_force[i],
                                  r = friction[0] * force / bristle_stiffness[0];
                      const V z = bent<D>(form, at, start[p], velocity, h, normal[i], bristle[i]);
                      const Float length = norm(z);
                      const V kept = z * select(length <= r, Float(1), divz(r, length));
                      const V n = s.normal(at);
                      const V turned = kept - n * dot(n, kept);
                      bristle[i] = select(force > 0.0, turned, V::filled(Float(0)));
                      normal[i] = n;
                      normal_force[i] = stiffness[0] * repulsion(s.distance(at), reach[0]);
                  });
}

template <int D>
KernelDef forget() {
    using V = Vec<Float, D>;
    return kernel("friction_begins", {"normal_force", "normal", "bristle"},
                  [](Int i, Write<Float> normal_force, Write<V> normal, Write<V> bristle) {
                      normal_force[i] = Float(0);
                      normal[i] = V::filled(Float(0));
                      bristle[i] = V::filled(Float(0));
                  });
}

// Where the search for the minimum starts: points within reach go with the obstacle.
template <int D>
KernelDef carry(const Form& form) {
    using V = Vec<Float, D>;
    return kernel("barrier_carry", with_surface({"reach", "w", "x"}),
                  [form](Int i, Property<V> vector, Property<Float> number, Property<V> velocity,
                         Param<Float> h, Param<Int> step, Property<Float> reach, Read<Float> w,
                         ReadWrite<V> x) {
                      const Int p = particles::point_at(i, form.first);
                      const Surface<D> s(form, vector, number, velocity, h, step, 0);
                      const V at = x[p];
                      const Bool near = s.distance(at) < reach[0] && w[p] > 0.0;
                      x[p] = select(near, at + velocity[0] * h.value(), at);
                  });
}

}  // namespace

namespace {

// Within a step a moving obstacle stays within its barrier's reach, so that no point is overrun: the
// energy sees where it is at the step's end only. Throws Error.
void check_speed(std::span<const double> velocity, double reach, double h) {
    double square = 0;
    for (const double v : velocity) square += v * v;
    const double way = std::sqrt(square) * h;
    if (way <= reach) return;
    throw Error("the obstacle moves " + document::shortest(way) +
                " m in a step, farther than its barrier reaches, " + document::shortest(reach) +
                " m: it could pass a point")
        .remedy("make the step smaller, the velocity lower or \"distance\" larger");
}

// What the energies say of both is held against the other whenever one of them changes.
void limit_speed(model::Quantity& velocity, model::Quantity& distance, double h) {
    velocity.check = [&distance, h](std::span<const double> values) {
        check_speed(values, distance.values.front(), h);
    };
    distance.check = [&velocity, h](std::span<const double> values) {
        check_speed(velocity.values, values.front(), h);
    };
    velocity.check(velocity.values);
}

}  // namespace

void meet(Model& model, const Obstacle& o) {
    Form form{o.plane, o.velocity != nullptr, o.range.first};
    if (form.moves) limit_speed(*o.velocity, *o.distance, model.step());
    const std::int64_t n = o.range.count;
    const Array points = particles::numbers_of(model, o.range);
    std::vector<NamedArgument> surface{{"vector", o.vector->argument()},
                                       {"number", o.number->argument()}};
    if (form.moves)
        surface.insert(surface.end(), {{"velocity", o.velocity->argument()},
                                       {"h", model.step()},
                                       {"step", model.step_counter()}});
    const auto with = [&](std::vector<NamedArgument> more) {
        more.insert(more.begin(), surface.begin(), surface.end());
        return more;
    };
    const Argument stiffness = o.stiffness->argument(), reach = o.distance->argument();
    model.add_energy(
        {o.name + ": barrier", for_dimension(model, [&](auto D) { return contact<D>(form); }), n,
         points, with({{"stiffness", stiffness}, {"reach", reach}}),
         StepLimit{for_dimension(model, [&](auto D) { return step_limit<D>(form); }), surface}});
    const particles::Arrays a = particles::arrays(model);
    if (form.moves)
        model.add(Phase::velocity_constraints,
                  model.launch(for_dimension(model, [&](auto D) { return carry<D>(form); }), n,
                               with({{"reach", reach}, {"w", a.inverse_mass}, {"x", a.position}}),
                               o.name + ": points go with it"));
    if (o.friction == nullptr) return;
    const Array force = model.add_array(
                    o.name + ": normal force", n, 1,
                    {.unit = "N", .meaning = "normal force on each point", .state = true}),
                normal = model.add_array(o.name + ": normal", n, model.dimension(),
                                         {.meaning = "normal at each point", .state = true}),
                bristle = model.add_array(
                    o.name + ": bristle", n, model.dimension(),
                    {.unit = "m", .meaning = "how far friction's bristle is bent", .state = true});
    const Array start = particles::start_of_step(model);
    const Argument friction = o.friction->argument(),
                   bristle_stiffness =
                       o.bristle_stiffness != nullptr ? o.bristle_stiffness->argument() : stiffness;
    std::vector<NamedArgument> sticking{
        {"friction", friction},  {"bristle_stiffness", bristle_stiffness},
        {"normal_force", force}, {"normal", normal},
        {"bristle", bristle},    {"start", start}};
    if (form.moves)
        sticking.insert(sticking.end(),
                        {{"velocity", o.velocity->argument()}, {"h", model.step()}});
    model.add_energy({o.name + ": friction",
                      for_dimension(model, [&](auto D) { return stick<D>(form); }), n, points,
                      std::move(sticking)});
    model.prologue().add(
        model.launch(for_dimension(model, [](auto D) { return forget<D>(); }), n,
                     {{"normal_force", force}, {"normal", normal}, {"bristle", bristle}},
                     o.name + ": no friction yet"));
    model.add(Phase::end,
              model.launch(for_dimension(model, [&](auto D) { return remember<D>(form); }), n,
                           with({{"stiffness", stiffness},
                                 {"reach", reach},
                                 {"friction", friction},
                                 {"bristle_stiffness", bristle_stiffness},
                                 {"x", a.position},
                                 {"start", start},
                                 {"normal_force", force},
                                 {"normal", normal},
                                 {"bristle", bristle}}),
                           o.name + ": friction's state"));
}

}  // namespace hindcast::barrier
