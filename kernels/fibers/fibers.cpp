// Fibers along the unit vector a at rest are stretched by |F a| where the solid has the deformation
// gradient F, and want to be 1 - alpha long:
//     W = k/2 (|F a| - (1 - alpha))^2 per volume at rest.
// alpha, the activation, may swing: alpha(t) = activation + amplitude sin(2 pi frequency t +
// phase), t the time at the end of the step (explicit: at its beginning). The tension
//     T = k (|F a| - (1 - alpha))
// is the force per area at rest, by which fibers pull.
#include "kernels/fibers/fibers.hpp"

#include "engine/model/built_by.hpp"
#include "kernels/particles/energies.hpp"
#include "kernels/particles/oscillation.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/surfaces.hpp"
#include "kernels/solids/bodies.hpp"
#include "kernels/solids/elements.hpp"

namespace hindcast {

using namespace lang;
using model::Model;
using model::Settings;

namespace {

template <int D>
struct Fiber {
    bool swings = false;
    int end = 0;  // 1: t is the time of the step's end

    // |F a| - (1 - alpha) of element e, with its corners x.
    Float stretch(Int e, const Points<D, D + 1>& x, Read<solids::Gradient<D>> inverse,
                  Property<Vec<Float, D>> direction, Property<Float> activation,
                  Property<Float> amplitude, Property<Float> frequency, Property<Float> phase,
                  Param<Int> step, Param<Float> h) const {
        const solids::Gradient<D> F = solids::deformation_gradient<D>(
            [&](int k) { return x[static_cast<std::size_t>(k)]; }, solids::Gradient<D>(inverse[e]));
        Float alpha = activation[e];
        if (swings) {
            const Float time = Float(step.value() + end) * h.value();
            alpha += amplitude[e] * particles::oscillation(frequency[e], phase[e], time);
        }
        return norm(F * normalize(Vec<Float, D>(direction[e]))) - (1.0 - alpha);
    }
    Float operator()(Int e, const Points<D, D + 1>& x, Read<solids::Gradient<D>> inverse,
                     Read<Float> volume, Property<Vec<Float, D>> direction,
                     Property<Float> stiffness, Property<Float> activation,
                     Property<Float> amplitude, Property<Float> frequency, Property<Float> phase,
                     Param<Int> step, Param<Float> h) const {
        const Float off =
            stretch(e, x, inverse, direction, activation, amplitude, frequency, phase, step, h);
        return 0.5 * stiffness[e] * volume[e] * off * off;
    }
    static std::vector<std::string> names() {
        return {"inverse",   "volume",    "direction", "stiffness", "activation",
                "amplitude", "frequency", "phase",     "step",      "h"};
    }
};

// The tension in the state after the steps that are done.
template <int D>
KernelDef tension(bool swings) {
    std::vector<std::string> names = Fiber<D>::names();
    names.insert(names.begin(), {"points", "x"});
    names.emplace_back("values");
    return kernel(
        "fiber_tension", names,
        [fiber = Fiber<D>{swings}](Int e, Read<solids::Corners<D>> corners, Read<Vec<Float, D>> x,
                                   Read<solids::Gradient<D>> inverse, Read<Float>,
                                   Property<Vec<Float, D>> direction, Property<Float> stiffness,
                                   Property<Float> activation, Property<Float> amplitude,
                                   Property<Float> frequency, Property<Float> phase,
                                   Param<Int> step, Param<Float> h, Write<Float> values) {
            const solids::Corners<D> c = corners[e];
            Points<D, D + 1> at;
            for (int k = 0; k <= D; ++k) at[static_cast<std::size_t>(k)] = x[c[k]];
            values[e] = stiffness[e] * fiber.stretch(e, at, inverse, direction, activation,
                                                     amplitude, frequency, phase, step, h);
        });
}

void build_fibers(const Settings& settings, Model& model) {
    const solids::Body& body =
        particles::kept_of(settings, model, model.shared<solids::Bodies>().by_name,
                           "is not a solid", "name a body of type \"solid\"");
    const bool swings = particles::oscillates(settings, "a swing needs");
    const auto argument = [&](const char* key) {
        return settings.quantity(model, key, body.elements, body.centroids).argument();
    };
    const std::string& name = settings.name();
    EnergyTerm term{name + ": fibers",
                    model::for_dimension(model,
                                         [&](auto D) {
                                             return energy<D, D + 1>(
                                                 "fiber", Fiber<D>::names(),
                                                 Fiber<D>{swings, model.is_implicit() ? 1 : 0});
                                         }),
                    body.elements,
                    body.corners,
                    {{"inverse", body.inverse},
                     {"volume", body.volume},
                     {"direction", argument("direction")},
                     {"stiffness", argument("stiffness")},
                     {"activation", argument("activation")},
                     {"step", model.step_counter()},
                     {"h", model.step()}}};
    if (swings)
        for (const char* key : {"amplitude", "frequency", "phase"})
            term.arguments.emplace_back(key, argument(key));
    particles::add_energy(model, term);
    particles::publish_energy(model, "fibers", name, "elastic energy", term);
    particles::publish_shown(
        model,
        {.owner = name,
         .name = "fiber tension",
         .unit = "Pa",
         .meaning = "force per area at rest in each element, positive where it pulls",
         .body = settings.choice("of")},
        term, [swings](Model& m) {
            return model::for_dimension(m, [&](auto D) { return tension<D>(swings); });
        });
}

}  // namespace

void register_fibers(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::forces,
         "fibers",
         "Fibers and muscles",
         "Fibers in a solid with the energy k/2 (|F a| - (1 - alpha))^2 per volume at rest: F the "
         "deformation gradient, a the direction, alpha(t) = activation + amplitude sin(2 pi "
         "frequency t + phase). An activation of 0.2 makes them want to be a fifth shorter.",
         {particles::of_field().doc("the solid"),
          vectors("direction")
              .differentiable()
              .doc("a, at rest (made a unit vector); one for the solid or one per element"),
          values("stiffness")
              .unit("Pa")
              .at_least(0)
              .differentiable()
              .doc("k, one for the solid or one per element"),
          values("activation")
              .fallback("0")
              .at_most(1)
              .differentiable()
              .doc("mean of alpha, one for the solid or one per element"),
          values("amplitude")
              .optional()
              .differentiable()
              .doc("of the swing of alpha, one for the solid or one per element"),
          values("frequency")
              .unit("Hz")
              .optional()
              .at_least(0)
              .differentiable()
              .doc("of the swing, one for the solid or one per element"),
          values("phase").unit("rad").fallback("0").differentiable().doc(
              "of the swing at time 0, one for the solid or one per element")},
         built_by(build_fibers),
         true});
}

}  // namespace hindcast
