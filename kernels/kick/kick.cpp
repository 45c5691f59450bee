// v <- v + change, at the beginning of every (sub)step. With x <- x + h v after it, a constant kick
// moves a free point by h n (n + 1) / 2 times the change in n steps: sensitivities that accumulate
// over the whole run, with every integrator. Fixed points keep their velocity.
#include "kernels/kick/kick.hpp"

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
KernelDef kick(std::int64_t first, bool second_order) {
    using V = Vec<Float, D>;
    return kernel(
        "kick", {"change", "w", "h", "v", "x_before", "v_before"},
        [first, second_order](Int i, Property<V> change, Read<Float> w, Param<Float> h,
                              ReadWrite<V> v, ReadWrite<V> x_before, ReadWrite<V> v_before) {
            const Int j = particles::point_at(i, first);
            const V old = v[j];
            const Bool free = w[j] > 0.0;
            v[j] = select(free, old + change[i], old);
            if (!second_order) return;
            particles::change_earlier_step<D>(j, select(free, V(change[i]), V::filled(Float(0))),
                                              h.value(), x_before, v_before);
        });
}

void publish_kernels(Registry& registry) {
    model::publish_for_dimension(
        registry, "kick", "One item per point: v <- v + change where w > 0.", {},
        {{"change", "m/s"}, {"w", "1 / mass of the points; 0: fixed"}, {"v", "velocities, m/s"}},
        [](auto D, const Settings&) { return kick<D>(0, false); });
}

void build_kick(const Settings& settings, Model& model) {
    const model::Range range = particles::body_or_all_with_velocities(
        settings, model, "let an actuator move it, or give it another \"qvel\"");
    const particles::Arrays a = particles::arrays(model);
    std::vector<NamedArgument> arguments{
        {"change", settings.quantity(model, "change", range.count).argument()},
        {"w", a.inverse_mass},
        {"v", a.velocity}};
    const bool second_order = model.options().integrator == model::Integrator::bdf2;
    if (second_order) {
        const auto [x_before, v_before] = particles::earlier_step(model);
        arguments.insert(arguments.end(),
                         {{"h", model.step()}, {"x_before", x_before}, {"v_before", v_before}});
    }
    const KernelDef kernel =
        model::for_dimension(model, [&](auto D) { return kick<D>(range.first, second_order); });
    model.add(Phase::controllers,
              model.launch(kernel, range.count, arguments, settings.name() + ": kick"));
}

}  // namespace

void register_kick(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::controllers,
         "kick",
         "Kick at every step",
         "Adds a velocity to points at the beginning of every substep: v <- v + change. Fixed "
         "points "
         "keep their velocity.",
         {particles::of_field().optional().doc(
              "the body; without it, all points of the scene but those of rigid bodies"),
          vectors("change").unit("m/s").differentiable().doc(
              "per substep, one for all points or one per point")},
         built_by(build_kick),
         true});
}

}  // namespace hindcast
