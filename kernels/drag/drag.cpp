// The medium moves with u(t) = wind + amplitude sin(2 pi frequency t + phase), the same everywhere;
// t is the time at which the (sub)step begins. The force on a point of velocity v is
//     f = (linear + quadratic |u - v|) (u - v).
// With gravity g, a point of mass m falls at last with linear drag at v = u + m g / linear, and
// with quadratic drag at speed sqrt(m |g| / quadratic).
#include "kernels/drag/drag.hpp"

#include "engine/model/built_by.hpp"
#include "kernels/particles/oscillation.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Phase;
using model::Settings;

struct Form {
    bool linear = false, quadratic = false, gusts = false;
    std::int64_t first = 0;  // of the points
};

template <int D>
KernelDef drag_force(const Form& form) {
    using V = Vec<Float, D>;
    return kernel("drag_force",
                  {"linear", "quadratic", "wind", "amplitude", "frequency", "phase", "step", "h",
                   "v", "force"},
                  [form](Int i, Property<Float> linear, Property<Float> quadratic, Property<V> wind,
                         Property<V> amplitude, Property<Float> frequency, Property<Float> phase,
                         Param<Int> step, Param<Float> h, Read<V> v, Accumulate<V> force) {
                      const Int j = particles::point_at(i, form.first);
                      V u = wind[0];
                      if (form.gusts) {
                          const Float time = Float(step.value()) * h.value();
                          u += amplitude[0] * particles::oscillation(frequency[0], phase[0], time);
                      }
                      u -= v[j];
                      Float coefficient;
                      if (form.linear) coefficient = linear[i];
                      if (form.quadratic) {
                          const Float growing = quadratic[i] * norm(u);
                          coefficient = form.linear ? coefficient + growing : growing;
                      }
                      force[j] += u * coefficient;
                  });
}

void publish_kernels(Registry& registry) {
    using model::boolean;
    model::publish_for_dimension(
        registry, "drag_force",
        "One item per point: with u = wind + amplitude sin(2 pi frequency step h + phase) - v it "
        "adds (linear + quadratic |u|) u to the force.",
        {boolean("linear").fallback("true").doc("with linear drag"),
         boolean("quadratic").fallback("true").doc("with quadratic drag"),
         boolean("gusts").fallback("false").doc("with an amplitude; without, u = wind - v"),
         model::adds_option()},
        {{"linear", "N s/m"},
         {"quadratic", "N s^2/m^2"},
         {"wind", "m/s"},
         {"amplitude", "m/s"},
         {"frequency", "Hz"},
         {"phase", "rad"},
         {"step", "number of the step"},
         {"h", "the step, s"},
         {"v", "velocities, m/s"},
         {"force", "on the points, N"}},
        [](auto D, const Settings& options) {
            const Form form{options.boolean("linear"), options.boolean("quadratic"),
                            options.boolean("gusts"), 0};
            if (!form.linear && !form.quadratic)
                throw options.error("linear", "this drag has no coefficient")
                    .remedy("let linear or quadratic be true");
            return drag_force<D>(form);
        });
}

void build_drag(const Settings& settings, Model& model) {
    const model::Range range = particles::body_or_all(settings, model);
    const Form form{settings.written("linear"), settings.written("quadratic"),
                    particles::oscillates(settings, "gusts need"), range.first};
    if (!form.linear && !form.quadratic)
        throw settings.error("type", "this drag has no coefficient")
            .remedy("write \"linear\", \"quadratic\", or both");
    std::vector<NamedArgument> arguments{{"v", particles::arrays(model).velocity},
                                         {"force", particles::force(model)}};
    const auto add = [&](const char* key) {
        arguments.emplace_back(key, settings.quantity(model, key, range.count).argument());
    };
    add("wind");
    if (form.linear) add("linear");
    if (form.quadratic) add("quadratic");
    if (form.gusts) {
        for (const char* key : {"amplitude", "frequency", "phase"}) add(key);
        arguments.emplace_back("step", model.step_counter());
        arguments.emplace_back("h", model.step());
    }
    model.add(Phase::forces,
              model.launch(model::for_dimension(model, [&](auto D) { return drag_force<D>(form); }),
                           range.count, arguments, settings.name() + ": drag"));
}

}  // namespace

void register_drag(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::forces,
         "drag",
         "Drag in air or water",
         "The force of a moving medium on points: f = (linear + quadratic |u - v|) (u - v), with "
         "u(t) = wind + amplitude sin(2 pi frequency t + phase).",
         {particles::of_field().optional().doc("the body; without it, all points of the scene"),
          values("linear").unit("N s/m").optional().at_least(0).differentiable().doc(
              "one for all points or one per point"),
          values("quadratic")
              .unit("N s^2/m^2")
              .optional()
              .at_least(0)
              .differentiable()
              .doc("one for all points or one per point"),
          vector("wind").unit("m/s").zero().differentiable().doc("the medium's mean velocity"),
          vector("amplitude").unit("m/s").optional().differentiable().doc("of the gusts"),
          number("frequency")
              .unit("Hz")
              .optional()
              .at_least(0)
              .differentiable()
              .doc("of the gusts"),
          number("phase").unit("rad").fallback("0").differentiable().doc("of the gusts at time 0")},
         built_by(build_drag)});
}

}  // namespace hindcast
