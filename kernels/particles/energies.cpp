#include "kernels/particles/energies.hpp"

#include <utility>

#include "engine/model/dimension.hpp"
#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast::particles {

using namespace lang;
using model::Model;

namespace {

template <int D>
EnergyKernels mass_damping(std::int64_t first) {
    using V = Vec<Float, D>;
    return hindcast::energy<D, 1>(
        "mass_damping", {"mass", "start", "alpha", "h"},
        [first](Int i, const Points<D, 1>& x, Read<Float> mass, Read<V> start,
                Property<Float> alpha, Param<Float> h) -> Float {
            const Int p = point_at(i, first);
            const V way = x[0] - start[p];
            return 0.5 * alpha[0] * mass[p] * dot(way, way) / h.value();
        });
}

// The arguments of the term's energy, and those of one of its kernels besides.
std::vector<NamedArgument> arguments_of(const EnergyTerm& term, const Array& positions,
                                        const std::vector<NamedArgument>& own) {
    std::vector<NamedArgument> all = term.arguments;
    all.insert(all.end(), {{"points", term.points}, {"x", positions}});
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

}  // namespace

void add_energy(Model& model, EnergyTerm term) {
    if (model.is_implicit()) return model.add_energy(std::move(term));
    model.add(model::Phase::forces,
              model.launch(term.kernels.force, term.items,
                           arguments_of(term, arrays(model).position, {{"force", force(model)}}),
                           term.name));
}

void publish_energy(Model& model, std::string type, std::string owner, std::string name,
                    const EnergyTerm& term) {
    model.publish_energy(
        {std::move(type), std::move(owner), std::move(name),
         [term](Model& m, double scale, const Array& value, Program& program) {
             program.add(m.launch(
                 term.kernels.value, term.items,
                 arguments_of(term, m.array("position"), {{"scale", scale}, {"value", value}}),
                 term.name));
         }});
}

void publish_shown(Model& model, model::ShownQuantity quantity, const EnergyTerm& term,
                   std::function<KernelDef(Model&)> kernel) {
    quantity.count = term.items;
    quantity.add = [term, kernel = std::move(kernel), what = quantity.owner + ": " + quantity.name](
                       Model& m, const Array& values, Program& program) {
        program.add(m.launch(kernel(m), term.items,
                             arguments_of(term, m.array("position"), {{"values", values}}), what));
    };
    model::publish(model, std::move(quantity));
}

void add_rayleigh_damping(Model& model, const model::Settings& settings, model::Range points,
                          const std::vector<DampedEnergy>& energies, std::int64_t elements,
                          std::span<const double> centroids) {
    for (const char* key : {"mass_damping", "stiffness_damping"})
        if (settings.written(key) && !model.is_implicit())
            throw settings.error(key, "explicit steps have no Rayleigh damping")
                .remedy("let time.integrator be \"implicit_euler\" or \"bdf2\"");
    const auto add = [&](EnergyTerm term, std::vector<NamedArgument> arguments) {
        arguments.insert(arguments.end(), {{"start", start_of_step(model)}, {"h", model.step()}});
        term.arguments.insert(term.arguments.end(), arguments.begin(), arguments.end());
        model.add_energy(std::move(term));
    };
    if (settings.written("mass_damping"))
        add({settings.name() + ": damping by mass",
             model::for_dimension(model, [&](auto D) { return mass_damping<D>(points.first); }),
             points.count,
             numbers_of(model, points),
             {}},
            {{"mass", arrays(model).mass},
             {"alpha", settings.quantity(model, "mass_damping").argument()}});
    if (!settings.written("stiffness_damping")) return;
    const Argument beta =
        settings.quantity(model, "stiffness_damping", elements, centroids).argument();
    for (const DampedEnergy& e : energies) {
        EnergyTerm damping = e.elastic;
        damping.name += ", damping";
        damping.kernels = e.damping;
        add(std::move(damping), {{"numbers", e.elastic.points}, {"beta", beta}});
    }
}

std::vector<model::Field> rayleigh_fields() {
    using namespace model;
    return {number("mass_damping")
                .unit("1/s")
                .fallback("0")
                .at_least(0)
                .differentiable()
                .doc("implicit integrators: alpha of Rayleigh's damping force -(alpha M + beta K) "
                     "v, M the masses, K the stiffness at the start of the step, v the way in the "
                     "step over h"),
            values("stiffness_damping")
                .unit("s")
                .fallback("0")
                .at_least(0)
                .differentiable()
                .doc("implicit integrators: beta, one for the body or one per element")};
}

}  // namespace hindcast::particles
