// value = mean over the times of |c - target|^2, with the center of mass c = sum m_i x_i / sum m_i.
// Two launches: the moments m_i (x_i - target) are summed in f64 by a reduction (they stay small
// near the target, where they must be exact), then one item squares their mean. Gradient by hand:
// dvalue/dx_i = 2 (m_i / sum m) (c - target).
#include "kernels/center_of_mass/center_of_mass.hpp"

#include "engine/model/built_by.hpp"
#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Settings;
using particles::Selection;

template <int D>
KernelDef moments(const Selection& selection) {
    using V = Vec<Float, D>;
    return kernel(
        "center_of_mass_moments", {"x", "mass", "target", "first", "index", "moment", "total"},
        [selection](Int k, Read<V> x, Read<Float> mass, Property<V> target, Param<Int> first,
                    Read<Int> index, Reduce<V> moment, Reduce<Float> total) {
            const Int i = selection.point(k, first, index);
            moment += (x[i] - target[0]) * mass[i];
            total += mass[i];
        });
}

template <int D>
KernelDef squared_distance() {
    using V = Vec<Float, D>;
    return kernel(
        "center_of_mass_distance", {"moment", "total", "scale", "value"},
        [](Int, Param<V> moment, Param<Float> total, Param<Float> scale, Reduce<Float> value) {
            const V d = moment.value() / total.value();
            value += dot(d, d) * scale.value();
        });
}

void publish_kernels(Registry& registry) {
    model::publish_for_dimension(
        registry, "center_of_mass_moments",
        "One item per point j: moment += mass (x - target), total += mass.",
        {particles::listed_option()},
        {{"x", "positions, m"},
         {"mass", "kg"},
         {"target", "m"},
         {"first", "number of the first point"},
         {"index", "numbers of the points"},
         {"moment", "a sum, kg m"},
         {"total", "a sum, kg"}},
        [](auto D, const Settings& options) {
            return moments<D>(particles::selection_of(options));
        });
    model::publish_for_dimension(
        registry, "center_of_mass_distance", "One item: value += scale |moment / total|^2.", {},
        {{"moment", "kg m"}, {"total", "kg"}, {"scale", "a factor"}, {"value", "a sum, m^2"}},
        [](auto D, const Settings&) { return squared_distance<D>(); });
}

void build_center_of_mass(const Settings& settings, Model& model) {
    const Selection selection = particles::select_points(settings, model);
    const model::Quantity& target = settings.quantity(model, "target");
    model.draw({settings.name(), model::DrawnTargets{&target}});
    const KernelDef sum =
        model::for_dimension(model, [&](auto dimension) { return moments<dimension>(selection); });
    const KernelDef distance =
        model::for_dimension(model, [](auto dimension) { return squared_distance<dimension>(); });
    // Sums of its own for each time.
    add_mean(settings, model, [&](double scale, const Array& value, std::int64_t) {
        const Array moment(ir::Type::f64, {1, model.dimension()}), total(ir::Type::f64, {1});
        Program program;
        program.add(model.launch(sum, selection.count(),
                                 {{"x", model.array("position")},
                                  {"mass", model.array("mass")},
                                  {"target", target.argument()},
                                  selection.argument(),
                                  {"moment", moment},
                                  {"total", total}},
                                 settings.name() + ": moments"));
        program.add(model.launch(
            distance, 1, {{"moment", moment}, {"total", total}, {"scale", scale}, {"value", value}},
            settings.name() + ": center of mass"));
        return program;
    });
}

}  // namespace

void register_center_of_mass(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add({Section::objective,
                  "center_of_mass",
                  "Place of the center of mass",
                  "Squared distance of the center of mass to a target: mean over the times of "
                  "|sum m_i x_i / sum m_i - target|^2.",
                  {particles::of_field(), particles::points_field(),
                   vector("target").unit("m").differentiable().doc("where it should be")},
                  built_by(build_center_of_mass)});
}

}  // namespace hindcast
