// v <- exp(-rate h) v once per (sub)step h, the exact solution of dv/dt = -rate v over it.
//     "before": v <- exp(-rate h) v + h (g + f/m)      in phase velocity_decay
//     "after":  v <- exp(-rate h) (v + h (g + f/m))    first in phase velocity_constraints
// so collisions see the decayed velocity in both orders. Fixed points keep their velocity. With an
// implicit integrator velocities decay before the step.
#include "kernels/damping/damping.hpp"

#include "engine/model/built_by.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Phase;
using model::Settings;

template <int D>
KernelDef decay(std::int64_t first, bool second_order) {
    using V = Vec<Float, D>;
    return kernel(
        "velocity_decay", {"rate", "h", "w", "v", "x_before", "v_before"},
        [first, second_order](Int i, Property<Float> rate, Param<Float> h, Read<Float> w,
                              ReadWrite<V> v, ReadWrite<V> x_before, ReadWrite<V> v_before) {
            const Int j = particles::point_at(i, first);
            const V old = v[j];
            const Float factor = exp(-(rate[i] * h.value())).name("decay factor");
            const V decayed = select(w[j] > 0.0, old * factor, old);
            v[j] = decayed;
            if (second_order)
                particles::change_earlier_step<D>(j, decayed - old, h.value(), x_before, v_before);
        });
}

void publish_kernels(Registry& registry) {
    model::publish_for_dimension(registry, "velocity_decay",
                                 "One item per point: v <- exp(-rate h) v where w > 0.", {},
                                 {{"rate", "1/s"},
                                  {"h", "the step, s"},
                                  {"w", "1 / mass of the points; 0: fixed"},
                                  {"v", "velocities, m/s"}},
                                 [](auto D, const Settings&) { return decay<D>(0, false); });
}

void build_damping(const Settings& settings, Model& model) {
    const model::Range range = particles::body_or_all_with_velocities(
        settings, model, "damp its joints by \"dof_damping\", or take \"drag\", a force");
    const particles::Arrays a = particles::arrays(model);
    if (model.is_implicit() && settings.choice("order") == "after")
        throw settings
            .error("order", "with an implicit integrator forces are not added to velocities")
            .remedy("leave \"order\" out: velocities decay before the step");
    const Phase phase =
        settings.choice("order") == "before" ? Phase::velocity_decay : Phase::velocity_constraints;
    std::vector<NamedArgument> arguments{
        {"rate", settings.quantity(model, "rate", range.count).argument()},
        {"h", model.step()},
        {"w", a.inverse_mass},
        {"v", a.velocity}};
    const bool second_order = model.options().integrator == model::Integrator::bdf2;
    if (second_order) {
        const auto [x_before, v_before] = particles::earlier_step(model);
        arguments.insert(arguments.end(), {{"x_before", x_before}, {"v_before", v_before}});
    }
    const KernelDef kernel =
        model::for_dimension(model, [&](auto D) { return decay<D>(range.first, second_order); });
    model.add(phase,
              model.launch(kernel, range.count, arguments, settings.name() + ": velocity decay"));
}

}  // namespace

void register_damping(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::forces,
         "damping",
         "Damping of all motion",
         "Velocities decay exponentially: v <- exp(-rate h) v, once per substep h. Fixed points "
         "keep "
         "their velocity.",
         {particles::of_field().optional().doc(
              "the body; without it, all points of the scene but those of rigid bodies"),
          values("rate").unit("1/s").at_least(0).differentiable().doc(
              "one for all points or one per point"),
          choice("order", {"before", "after"})
              .fallback("\"before\"")
              .doc("before or after gravity and forces are added to the velocity; before contacts "
                   "in "
                   "both cases")},
         built_by(build_damping),
         true});
}

}  // namespace hindcast
