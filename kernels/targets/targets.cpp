// point_target    mean over points i and times t of |x_i(t) - target_i|^2
// trajectory      mean over points i and times t_k of |x_i(t_k) - targets_{k,i}|^2
// A sum over the points, and still a mean over the times, if "sum".
#include "kernels/targets/targets.hpp"

#include "engine/model/built_by.hpp"
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
    model::publish_for_dimension(
        registry, "squared_distance",
        "One item per point j: value += scale |x - target|^2; the target of item i is number "
        "i + row.",
        {particles::listed_option()},
        {{"x", "positions, m"},
         {"target", "m"},
         {"row", "number of the first target"},
         {"first", "number of the first point"},
         {"index", "numbers of the points"},
         {"scale", "a factor"},
         {"value", "a sum, m^2"}},
        [](auto D, const Settings& options) {
            return squared_distance<D>(particles::selection_of(options));
        });
}

// The targets of all points at each time, or those of one time for all.
void add_distance(const Settings& settings, Model& model, const Selection& selection,
                  const model::Quantity& places, bool each_time) {
    const std::int64_t n = selection.count();
    const double per_point = settings.boolean("sum") ? 1.0 : 1.0 / static_cast<double>(n);
    const double scale = per_point / static_cast<double>(settings.times(model).size());
    model.draw({settings.name(), model::DrawnTargets{&places}});
    const KernelDef kernel =
        model::for_dimension(model, [&](auto D) { return squared_distance<D>(selection); });
    const auto at = [&](const Array& value, std::int64_t row) {
        Program program;
        program.add(model.launch(kernel, n,
                                 {{"x", model.array("position")},
                                  {"target", places.argument()},
                                  {"row", row},
                                  selection.argument(),
                                  {"scale", scale},
                                  {"value", value}},
                                 settings.name() + ": squared distance"));
        return program;
    };
    if (each_time)
        add_mean(settings, model,
                 [&](double, const Array& value, std::int64_t k) { return at(value, k * n); });
    else
        add_mean(settings, model, [&](double, const Array& value) { return at(value, 0); });
}

// The starting positions of the points, for formulas.
std::vector<double> start_of(const Selection& selection, const Model& model) {
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

void build_point_target(const Settings& settings, Model& model) {
    const Selection selection = particles::select_points(settings, model);
    add_distance(settings, model, selection,
                 settings.quantity(model, "target", selection.count(), start_of(selection, model)),
                 false);
}

void build_trajectory(const Settings& settings, Model& model) {
    const Selection selection = particles::select_points(settings, model);
    const std::int64_t n = selection.count();
    const auto times = static_cast<std::int64_t>(settings.term(model).times.size());
    add_distance(settings, model, selection, settings.quantity(model, "targets", times * n), true);
}

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
                  built_by(build_point_target)});
    registry.add({Section::objective, "trajectory", "Course of points over time",
                  "Squared distance to a course of positions: mean over points and the times t_k "
                  "of \"at\" of |x_i(t_k) - targets_(k,i)|^2; a sum over the points if \"sum\".",
                  fields(vectors("targets").unit("m").differentiable().doc(
                      "positions, for each time of \"at\" in its order those of all points: row "
                      "k * points + i")),
                  built_by(build_trajectory)});
}

}  // namespace hindcast
