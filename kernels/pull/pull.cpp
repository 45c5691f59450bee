// The force on the point, at x with velocity v, in the substeps of whole step s:
//     f = stiffness (places[s - start_step] - x) - damping v
// for start_step <= s < start_step + rows, and none before and after. Stiffness m w^2 and damping
// 2 m w draw a free point of mass m to a place that rests without overshoot, at the rate w.
#include "kernels/pull/pull.hpp"

#include "engine/document/read.hpp"
#include "engine/model/built_by.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Phase;
using model::Settings;

// One item for each place, of which one acts at a time: its indices do not change from step to
// step, so that sums over them need no dynamic scatter. `begin` counts whole steps.
template <int D>
KernelDef pull_force() {
    using V = Vec<Float, D>;
    return kernel("pull_force",
                  {"places", "stiffness", "damping", "substep", "substeps", "begin", "point", "x",
                   "v", "force"},
                  [](Int i, Read<V> places, Property<Float> stiffness, Property<Float> damping,
                     Param<Int> substep, Param<Int> substeps, Param<Int> begin, Param<Int> point,
                     Read<V> x, Read<V> v, Accumulate<V> force) {
                      const Bool acts = substep.value() / substeps.value() - begin.value() == i;
                      const Int p = point.value();
                      const V f = (places[i] - x[p]) * stiffness[0] - v[p] * damping[0];
                      force[p] += select(acts, f, V::filled(Float(0)));
                  });
}

// k/2 |x - place|^2 and, for the way from the start of the step, c/(2 h) |x - x_n|^2.
template <int D>
EnergyKernels pull_energy() {
    using V = Vec<Float, D>;
    return energy<D, 1>(
        "pull",
        {"places", "stiffness", "damping", "substep", "substeps", "begin", "rows", "point", "start",
         "h"},
        [](Int, const Points<D, 1>& x, Read<V> places, Property<Float> stiffness,
           Property<Float> damping, Param<Int> substep, Param<Int> substeps, Param<Int> begin,
           Param<Int> rows, Param<Int> point, Read<V> start, Param<Float> h) -> Float {
            const Int row = substep.value() / substeps.value() - begin.value();
            const Bool acts = row >= 0 && row < rows.value();
            const V away = x[0] - places[select(acts, row, Int(0))],
                    way = x[0] - start[point.value()];
            const Float stored = stiffness[0] * dot(away, away),
                        lost = damping[0] * dot(way, way) / h.value();
            return select(acts, 0.5 * (stored + lost), Float(0));
        });
}

void publish_kernels(Registry& registry) {
    model::publish_for_dimension(
        registry, "pull_force",
        "One item per place: that with the number substep / substeps - begin (whole numbers) adds "
        "stiffness (places - x) - damping v to the force on the point, the others add 0.",
        {model::adds_option()},
        {{"places", "m, one for each step"},
         {"stiffness", "N/m"},
         {"damping", "N s/m"},
         {"substep", "number of the substep"},
         {"substeps", "in a step"},
         {"begin", "number of the first step"},
         {"point", "its number"},
         {"x", "positions, m"},
         {"v", "velocities, m/s"},
         {"force", "on the points, N"}},
        [](auto D, const Settings&) { return pull_force<D>(); });
}

void build_pull(const Settings& settings, Model& model) {
    const model::Range body = settings.points(model, "of");
    const std::int64_t point = settings.integer("point");
    if (point >= body.count)
        throw settings.error("point", "the body has no point " + std::to_string(point))
            .remedy("its points are numbered from 0 to " + std::to_string(body.count - 1));
    const auto rows =
        static_cast<std::int64_t>(document::array_of(*settings.find("places"), 1).size());
    const std::int64_t begin = settings.integer("start_step"), steps = model.options().scene_steps;
    if (begin > steps - rows)
        throw settings
            .error("places", "there are " + std::to_string(rows) + " places from step " +
                                 std::to_string(begin) + " on, and the scene has " +
                                 std::to_string(steps) + " steps")
            .remedy("leave out the last " + std::to_string(begin + rows - steps) +
                    " places, or raise time.steps");
    const model::Quantity& places = settings.quantity(model, "places", rows);
    if (places.shared)
        throw settings.error("places", "one place is given where a list of them is expected")
            .remedy("put it in brackets: [[...]] is the place for one step");
    const particles::Arrays a = particles::arrays(model);
    model.draw({settings.name(), model::DrawnTargets{&places}});
    const model::Range one{body.first + point, 1};
    std::vector<NamedArgument> arguments{
        {"places", places.argument()},
        {"stiffness", settings.quantity(model, "stiffness").argument()},
        {"damping", settings.quantity(model, "damping").argument()},
        {"substep", model.step_counter()},
        {"substeps", model.options().substeps},
        {"begin", begin},
        {"point", one.first}};
    const auto add = [&arguments](const std::vector<NamedArgument>& more) {
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    };
    if (model.is_implicit())
        model.add_energy({settings.name() + ": pull",
                          model::for_dimension(model, [](auto D) { return pull_energy<D>(); }), 1,
                          particles::numbers_of(model, one),
                          add({{"rows", rows},
                               {"start", particles::start_of_step(model)},
                               {"h", model.step()}})});
    else
        model.add(
            Phase::forces,
            model.launch(
                model::for_dimension(model, [](auto D) { return pull_force<D>(); }), rows,
                add({{"x", a.position}, {"v", a.velocity}, {"force", particles::force(model)}}),
                settings.name() + ": pull"));
}

}  // namespace

void register_pull(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::forces,
         "pull",
         "Pull on a point",
         "A spring between one point and a place that moves as recorded: in whole step s the force "
         "is stiffness (places[s - start_step] - x) - damping v, while there is such a place.",
         {particles::of_field(),
          integer("point").fallback("0").at_least(0).doc("which of the body's points"),
          vectors("places")
              .schema(R"({"$ref":"#/$defs/vectors"})")
              .unit("m")
              .differentiable()
              .doc(
                  "one for each whole step, no more than the scene has from start_step on: a list"),
          integer("start_step").fallback("0").at_least(0).doc("the whole step of the first place"),
          number("stiffness").unit("N/m").positive().differentiable().doc("of the spring"),
          number("damping").unit("N s/m").fallback("0").at_least(0).differentiable().doc(
              "of the point's velocity")},
         built_by(build_pull),
         true});
}

}  // namespace hindcast
