// value = mean over the times of |c - target|^2, with the centre of mass c = sum m_i x_i / sum m_i.
// One work item goes over the points in order and adds m_i (x_i - target): the sums stay small near
// the target, where they must be exact. Gradient by hand: dvalue/dx_i = 2 (m_i / sum m) (c -
// target).
#include "kernels/center_of_mass/center_of_mass.hpp"

#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Settings;
using particles::Selection;

template <int D>
KernelDef center_of_mass(const Selection& selection) {
    using V = Vec<Float, D>;
    return kernel(
        "center_of_mass", {"x", "mass", "target", "first", "index", "scale", "value"},
        [selection](Int, Read<V> x, Read<Float> mass, Property<V> target, Param<Int> first,
                    Read<Int> index, Param<Float> scale, Reduce<Float> value) {
            V moment;
            Float total;
            for_(0, selection.count(), [&](const Int& k) {
                const Int i = selection.point(k, first, index);
                moment += (x[i] - target[0]) * mass[i];
                total += mass[i];
            });
            const V d = moment / total;
            value += dot(d, d) * scale.value();
        });
}

class CenterOfMass final : public model::Instance {
public:
    explicit CenterOfMass(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const Selection selection = particles::select_points(*settings_, model);
        model::Term term = settings_->term(model);
        const double scale = 1.0 / static_cast<double>(term.times.size());
        const KernelDef kernel = particles::for_dimension(
            model, [&](auto dimension) { return center_of_mass<dimension>(selection); });
        Program program;
        program.add(model.launch(kernel, 1,
                                 {model.array("position"), model.array("mass"),
                                  settings_->quantity(model, "target").argument(),
                                  selection.body.first, selection.index, scale, term.value},
                                 settings_->name() + ": centre of mass"));
        model.add_term(std::move(term), program);
    }

private:
    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_center_of_mass(Registry& registry) {
    using namespace model;
    registry.add(
        {Section::objective,
         "center_of_mass",
         "Squared distance of the centre of mass to a target: mean over the times of "
         "|sum m_i x_i / sum m_i - target|^2.",
         {particles::of_field(), particles::points_field(),
          vector("target").unit("m").differentiable().doc("where it should be")},
         [](std::shared_ptr<Settings> s) { return std::make_unique<CenterOfMass>(std::move(s)); }});
}

}  // namespace hindcast
