// value = mean over the times of |c - target|^2, with the centre of mass c = sum m_i x_i / sum m_i.
// Two launches: the moments m_i (x_i - target) are summed in f64 by a reduction (they stay small
// near the target, where they must be exact), then one item squares their mean. Gradient by hand:
// dvalue/dx_i = 2 (m_i / sum m) (c - target).
#include "kernels/center_of_mass/center_of_mass.hpp"

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
    const model::Field listed = particles::listed_option();
    registry.publish({"center_of_mass_moments",
                      "One item per point j: moment += mass (x - target), total += mass.",
                      {model::dimension_option(), listed},
                      {{"x", "positions, m"},
                       {"mass", "kg"},
                       {"target", "m"},
                       {"first", "number of the first point"},
                       {"index", "numbers of the points"},
                       {"moment", "a sum, kg m"},
                       {"total", "a sum, kg"}},
                      [](const Settings& options) {
                          return model::for_dimension(options, [&](auto D) {
                              return moments<D>(particles::selection_of(options));
                          });
                      }});
    registry.publish(
        {"center_of_mass_distance",
         "One item: value += scale |moment / total|^2.",
         {model::dimension_option()},
         {{"moment", "kg m"}, {"total", "kg"}, {"scale", "a factor"}, {"value", "a sum, m^2"}},
         [](const Settings& options) {
             return model::for_dimension(options, [](auto D) { return squared_distance<D>(); });
         }});
}

class CenterOfMass final : public model::Instance {
public:
    explicit CenterOfMass(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Selection selection = particles::select_points(*settings_, model);
        model::Term term = settings_->term(model);
        const double scale = 1.0 / static_cast<double>(term.times.size());
        const model::Quantity& target = settings_->quantity(model, "target");
        model.draw({settings_->name(), model::DrawnTargets{&target}});
        const KernelDef sum = model::for_dimension(
            model, [&](auto dimension) { return moments<dimension>(selection); });
        const KernelDef distance = model::for_dimension(
            model, [](auto dimension) { return squared_distance<dimension>(); });
        std::vector<Program> programs;
        for (std::size_t t = 0; t < term.times.size(); ++t) {  // sums of its own for each time
            const Array moment(ir::Type::f64, {1, model.dimension()}), total(ir::Type::f64, {1});
            Program program;
            program.add(model.launch(sum, selection.count(),
                                     {{"x", model.array("position")},
                                      {"mass", model.array("mass")},
                                      {"target", target.argument()},
                                      selection.argument(),
                                      {"moment", moment},
                                      {"total", total}},
                                     settings_->name() + ": moments"));
            program.add(model.launch(
                distance, 1,
                {{"moment", moment}, {"total", total}, {"scale", scale}, {"value", term.value}},
                settings_->name() + ": centre of mass"));
            programs.push_back(std::move(program));
        }
        model.add_term(std::move(term), programs);
    }

private:
    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_center_of_mass(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    registry.add(
        {Section::objective,
         "center_of_mass",
         "Place of the centre of mass",
         "Squared distance of the centre of mass to a target: mean over the times of "
         "|sum m_i x_i / sum m_i - target|^2.",
         {particles::of_field(), particles::points_field(),
          vector("target").unit("m").differentiable().doc("where it should be")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<CenterOfMass>(std::move(s)); }});
}

}  // namespace hindcast
