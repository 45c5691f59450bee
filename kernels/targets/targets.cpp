// point_target    mean (or sum) over the body's points of |x_i - target_i|^2
// center_of_mass  |sum m_i x_i / sum m_i - target|^2, fixed points excepted
// Both are means over the times given by "at".
#include "kernels/targets/targets.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Settings;

template <int D>
KernelDef point_target() {
    using V = Vec<Float, D>;
    return kernel("point_target", {"x", "target", "first", "scale", "value"},
                  [](Int i, Read<V> x, Property<V> target, Param<Int> first, Param<Float> scale, Reduce<Float> value) {
                      const V d = x[i + first.value()] - target[i];
                      value += dot(d, d) * scale.value();
                  });
}

class PointTarget final : public model::Instance {
public:
    explicit PointTarget(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void build(Model& model) override {
        const model::Range body = settings_->points(model, "of");
        model::Term term = settings_->term(model);
        const double mean = settings_->boolean("sum") ? 1.0 : 1.0 / static_cast<double>(body.count);
        const double scale = mean / static_cast<double>(term.times.size());
        Program program;
        program.add(model.launch(model.dimension() == 2 ? point_target<2>() : point_target<3>(), body.count,
                                 {model.array("position"), settings_->quantity(model, "target", body.count).argument(), body.first, scale, term.value},
                                 settings_->name() + ": point target"));
        model.add_term(std::move(term), program);
    }

private:
    std::shared_ptr<Settings> settings_;
};

}  // namespace

void register_targets(Registry& registry) {
    using namespace model;
    registry.add({Section::objective,
                  "point_target",
                  "mean over the body's points of |x_i - target_i|^2; a sum if \"sum\".",
                  {body("of").doc("the body"), vectors("target").unit("m").differentiable().doc("one position for all points or one per point"),
                   boolean("sum").fallback("false").doc("sum over the points instead of their mean")},
                  [](std::shared_ptr<Settings> s) { return std::make_unique<PointTarget>(std::move(s)); }});
}

}  // namespace hindcast
