// point_target    mean over points i and times t of |x_i(t) - target_i|^2
// trajectory      mean over points i and times t_k of |x_i(t_k) - targets_{k,i}|^2
// A sum over the points, and still a mean over the times, if "sum".
#include "kernels/targets/targets.hpp"

#include "kernels/particles/particles.hpp"

namespace hindcast {

namespace {

using namespace lang;
using model::Model;
using model::Settings;
using particles::Selection;

// Item i of n: the point i of the selection; its target stands at i + row.
template <int D>
KernelDef squared_distance(const Selection& selection) {
    using V = Vec<Float, D>;
    return kernel(
        "squared_distance", {"x", "target", "row", "first", "index", "scale", "value"},
        [selection](Int i, Read<V> x, Property<V> target, Param<Int> row, Param<Int> first,
                    Read<Int> index, Param<Float> scale, Reduce<Float> value) {
            const V d = x[selection.point(i, first, index)] - target[i + row.value()];
            value += dot(d, d) * scale.value();
        });
}

void publish_kernels(Registry& registry) {
    registry.publish(
        {"squared_distance",
         "One item per point j: value += scale |x - target|^2; the target of item i is number "
         "i + row.",
         {model::dimension_option(), particles::listed_option()},
         {{"x", "positions, m"},
          {"target", "m"},
          {"row", "number of the first target"},
          {"first", "number of the first point"},
          {"index", "numbers of the points"},
          {"scale", "a factor"},
          {"value", "a sum, m^2"}},
         [](const Settings& options) {
             return model::for_dimension(options, [&](auto D) {
                 return squared_distance<D>(particles::selection_of(options));
             });
         }});
}

class Targets final : public model::Instance {
public:
    Targets(bool trajectory, std::shared_ptr<Settings> settings)
        : settings_(std::move(settings)), trajectory_(trajectory) {}

    void build(Model& model) override {
        const Selection selection = particles::select_points(*settings_, model);
        const std::int64_t n = selection.count();
        model::Term term = settings_->term(model);
        const std::int64_t times = static_cast<std::int64_t>(term.times.size());
        const double per_point = settings_->boolean("sum") ? 1.0 : 1.0 / static_cast<double>(n);
        const double scale = per_point / static_cast<double>(times);
        const model::Quantity& places =
            trajectory_ ? settings_->quantity(model, "targets", times * n)
                        : settings_->quantity(model, "target", n, start_of(selection, model));
        model.draw({settings_->name(), model::DrawnTargets{&places}});
        const Argument target = places.argument();
        const KernelDef kernel = model::for_dimension(
            model, [&](auto dimension) { return squared_distance<dimension>(selection); });
        std::vector<Program> programs;
        for (std::int64_t k = 0; k < times; ++k) {
            programs.emplace_back();
            programs.back().add(model.launch(kernel, n,
                                             {{"x", model.array("position")},
                                              {"target", target},
                                              {"row", trajectory_ ? k * n : 0},
                                              selection.argument(),
                                              {"scale", scale},
                                              {"value", term.value}},
                                             settings_->name() + ": squared distance"));
            if (!trajectory_) {
                programs.assign(static_cast<std::size_t>(times), programs.front());
                break;
            }
        }
        model.add_term(std::move(term), programs);
    }

private:
    // The starting positions of the points, for formulas.
    static std::vector<double> start_of(const Selection& selection, const Model& model) {
        const std::size_t dimension = static_cast<std::size_t>(model.dimension());
        std::vector<double> start;
        for (std::int64_t i = 0; i < selection.count(); ++i) {
            const std::size_t point = static_cast<std::size_t>(
                selection.listed ? selection.points[static_cast<std::size_t>(i)]
                                 : selection.body.first + i);
            for (std::size_t k = 0; k < dimension; ++k)
                start.push_back(model.initial_points()[point * dimension + k]);
        }
        return start;
    }

    std::shared_ptr<Settings> settings_;
    bool trajectory_;
};

}  // namespace

void register_targets(Registry& registry) {
    using namespace model;
    publish_kernels(registry);
    const auto fields = [](Field targets) {
        return std::vector<Field>{
            particles::of_field(), particles::points_field(), std::move(targets),
            boolean("sum").fallback("false").doc("sum over the points instead of their mean")};
    };
    registry.add({Section::objective, "point_target", "Place of points",
                  "Squared distance to target positions: mean over points and times of "
                  "|x_i - target_i|^2; a sum over the points if \"sum\".",
                  fields(vectors("target").unit("m").differentiable().doc(
                      "one position for all points or one per point; in formulas x, y, z is where "
                      "the point starts")),
                  [](std::shared_ptr<Settings> s) {
                      return std::make_unique<Targets>(false, std::move(s));
                  }});
    registry.add({Section::objective, "trajectory", "Course of points over time",
                  "Squared distance to a course of positions: mean over points and the times t_k "
                  "of \"at\" of |x_i(t_k) - targets_(k,i)|^2; a sum over the points if \"sum\".",
                  fields(vectors("targets").unit("m").differentiable().doc(
                      "positions, for each time of \"at\" in its order those of all points: row "
                      "k * points + i")),
                  [](std::shared_ptr<Settings> s) {
                      return std::make_unique<Targets>(true, std::move(s));
                  }});
}

}  // namespace hindcast
