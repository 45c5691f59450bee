// A triangle of area A and unit normal n whose center moves with v feels the air, which moves with
// u(t) = velocity + amplitude sin(2 pi frequency t + phase), t the time at the beginning of the
// step. With w = u - v, s = w.n and t = w - s n:
//     f = rho A/2 (drag |s| s n + skin_friction |t| t),
// a third on each corner. In an implicit step A and n are those at its beginning, v = (c - c_n)/h
// with c the center, and f is minus the derivative of h rho A/6 (drag |s|^3 + skin_friction |t|^3)
// by c.
#include "kernels/wind/wind.hpp"

#include "engine/model/built_by.hpp"
#include "kernels/particles/energies.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/oscillation.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/surfaces.hpp"

namespace hindcast {

using namespace lang;
using model::Model;
using model::Settings;

namespace {

// The triangle and the air at the beginning of a step.
struct Facing {
    Float area;
    Vec3 normal, air;
};
struct Air {
    bool gusts = false;

    Facing facing(const Int3& c, const Read<Vec3>& x, const Property<Vec3>& velocity,
                  const Property<Vec3>& amplitude, const Property<Float>& frequency,
                  const Property<Float>& phase, const Param<Int>& step,
                  const Param<Float>& h) const {
        const Vec3 x0 = x[c[0]], n = cross(x[c[1]] - x0, x[c[2]] - x0);
        Vec3 air = velocity[0];
        if (gusts) {
            const Float time = Float(step.value()) * h.value();
            air += amplitude[0] * particles::oscillation(frequency[0], phase[0], time);
        }
        return {0.5 * norm(n), normalize(n), air};
    }
};

struct Dissipation {
    Air air;

    Float operator()(Int e, const Points<3, 3>& x, Read<Int3> corners, Read<Vec3> start,
                     Property<Vec3> velocity, Property<Vec3> amplitude, Property<Float> frequency,
                     Property<Float> phase, Property<Float> density, Property<Float> drag,
                     Property<Float> skin_friction, Param<Int> step, Param<Float> h) const {
        const Int3 c = corners[e];
        const Facing f = air.facing(c, start, velocity, amplitude, frequency, phase, step, h);
        Vec3 way = x[0] - start[c[0]];
        for (int k = 1; k < 3; ++k) way += x[static_cast<std::size_t>(k)] - start[c[k]];
        const Vec3 w = f.air - way / (3.0 * h.value());
        const Float s = abs(dot(w, f.normal));
        const Float t = norm(w - f.normal * dot(w, f.normal));
        return h.value() * density[0] * f.area / 6.0 *
               (drag[e] * s * s * s + skin_friction[e] * t * t * t);
    }
};

KernelDef wind_force(Air air) {
    return kernel(
        "wind_force",
        {"corners", "x", "v", "velocity", "amplitude", "frequency", "phase", "density", "drag",
         "skin_friction", "step", "h", "force"},
        [air](Int e, Read<Int3> corners, Read<Vec3> x, Read<Vec3> v, Property<Vec3> velocity,
              Property<Vec3> amplitude, Property<Float> frequency, Property<Float> phase,
              Property<Float> density, Property<Float> drag, Property<Float> skin_friction,
              Param<Int> step, Param<Float> h, Accumulate<Vec3> force) {
            const Int3 c = corners[e];
            const Facing f = air.facing(c, x, velocity, amplitude, frequency, phase, step, h);
            const Vec3 w = f.air - (v[c[0]] + v[c[1]] + v[c[2]]) / 3.0;
            const Float s = dot(w, f.normal);
            const Vec3 t = w - f.normal * s;
            const Vec3 third =
                (f.normal * (drag[e] * abs(s) * s) + t * (skin_friction[e] * norm(t))) *
                (density[0] * f.area / 6.0);
            for (int k = 0; k < 3; ++k) force[c[k]] += third;
        });
}

void build_wind(const Settings& settings, Model& model) {
    if (model.dimension() != 3)
        throw settings.error("type", "wind blows on surfaces in scenes of dimension 3")
            .remedy("use \"drag\" in the plane");
    const std::vector<std::int64_t>& surface =
        particles::kept_of(settings, model, model.shared<particles::Surfaces>().by_name,
                           "has no surface", "name a cloth or a solid, or use \"drag\" for points");
    const Air air{particles::oscillates(settings, "gusts need")};
    const auto triangles = static_cast<std::int64_t>(surface.size()) / 3;
    const Array corners = model.index_array(surface, 3);
    std::vector<NamedArgument> arguments{
        {"corners", corners}, {"step", model.step_counter()}, {"h", model.step()}};
    for (const char* key : {"velocity", "density", "drag", "skin_friction"})
        arguments.emplace_back(key, settings.quantity(model, key, triangles).argument());
    if (air.gusts)
        for (const char* key : {"amplitude", "frequency", "phase"})
            arguments.emplace_back(key, settings.quantity(model, key).argument());
    if (model.is_implicit()) {
        arguments.emplace_back("start", particles::start_of_step(model));
        model.add_energy({settings.name() + ": wind",
                          energy<3, 3>("wind",
                                       {"corners", "start", "velocity", "amplitude", "frequency",
                                        "phase", "density", "drag", "skin_friction", "step", "h"},
                                       Dissipation{air}),
                          triangles, corners, arguments});
        return;
    }
    const particles::Arrays a = particles::arrays(model);
    arguments.insert(arguments.end(),
                     {{"x", a.position}, {"v", a.velocity}, {"force", particles::force(model)}});
    model.add(model::Phase::forces,
              model.launch(wind_force(air), triangles, arguments, settings.name() + ": wind"));
}

}  // namespace

void register_wind(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::forces,
         "wind",
         "Wind",
         "Air on the triangles of a surface: with w its velocity u(t) = velocity + amplitude "
         "sin(2 pi frequency t + phase) less that of the triangle, s the part of w along the "
         "normal "
         "n, t the rest: f = density A/2 (drag |s| s n + skin_friction |t| t), A the area.",
         {particles::of_field().doc("the cloth or the solid, whose surface it blows on"),
          vector("velocity").unit("m/s").differentiable().doc("the air's mean velocity"),
          number("density").unit("kg/m^3").fallback("1.2").at_least(0).differentiable().doc(
              "of the air"),
          values("drag").fallback("1").at_least(0).differentiable().doc(
              "coefficient of the pressure, one for the surface or one per triangle"),
          values("skin_friction")
              .fallback("0.05")
              .at_least(0)
              .differentiable()
              .doc("coefficient along the surface, one for it or one per triangle"),
          vector("amplitude").unit("m/s").optional().differentiable().doc("of the gusts"),
          number("frequency")
              .unit("Hz")
              .optional()
              .at_least(0)
              .differentiable()
              .doc("of the gusts"),
          number("phase").unit("rad").fallback("0").differentiable().doc("of the gusts at time 0")},
         built_by(build_wind),
         true});
}

}  // namespace hindcast
