#include "engine/sim/loss_function.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.hpp"

namespace hindcast {

namespace {

using document::Node;

// The scene with these parameters and no others.
Scene with_parameters(const Scene& scene, const std::vector<std::string>& paths) {
    document::Document document = scene.document();
    std::vector<Node> list;
    for (std::size_t k = 0; k < paths.size(); ++k) {
        if (std::find(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(k), paths[k]) !=
            paths.begin() + static_cast<std::ptrdiff_t>(k))
            throw Error("the input '" + paths[k] + "' is given twice");
        list.push_back(Node::object({{"path", Node(paths[k])}}));
    }
    if (paths.empty()) throw Error("a function needs inputs").remedy("give paths of the scene");
    document.set("/parameters", Node::array(std::move(list)));
    return Scene::of(std::move(document), scene.file());
}

}  // namespace

LossFunction::LossFunction(const Scene& scene, const Registry& registry,
                           const SimulationOptions& options, const std::vector<std::string>& inputs)
    : simulation_(std::make_unique<Simulation>(with_parameters(scene, inputs), registry, options)) {
    if (simulation_->model().terms().empty())
        throw Error("the scene has no objective, so there is no loss")
            .remedy("add one to its \"objective\"");
    values_ = simulation_->parameters().values();
    std::int64_t first = 0;
    for (const Parameter& p : simulation_->parameters().list()) {
        Input input{p.path, {}, first, static_cast<std::int64_t>(p.entries.size())};
        const model::Quantity& q = *p.quantity;
        if (p.entries.size() == q.values.size()) {  // the whole value
            if (!q.shared) input.shape.push_back(q.count);
            if (q.components > 1) input.shape.push_back(q.components);
        } else if (p.entries.size() > 1) {
            input.shape.push_back(input.size);
        }
        first += input.size;
        inputs_.push_back(std::move(input));
    }
}

void LossFunction::set(std::span<const double> x) {
    if (x.size() != values_.size())
        throw Error("the function takes " + std::to_string(values_.size()) +
                    " numbers, and is given " + std::to_string(x.size()));
    simulation_->parameters().set_values(x);
}

double LossFunction::value(std::span<const double> x) {
    const std::lock_guard lock(mutex_);
    set(x);
    return simulation_->run(false);
}

std::vector<double> LossFunction::gradient(std::span<const double> x) {
    const std::lock_guard lock(mutex_);
    set(x);
    if (!std::isfinite(simulation_->run(true)))
        return std::vector<double>(values_.size(), std::numeric_limits<double>::quiet_NaN());
    return simulation_->gradient();
}

double LossFunction::slope(std::span<const double> x, std::span<const double> t) {
    const std::lock_guard lock(mutex_);
    set(x);
    return simulation_->directional_derivative(t);
}

std::vector<double> LossFunction::hessian(std::span<const double> x, std::span<const double> u) {
    const std::lock_guard lock(mutex_);
    set(x);
    return simulation_->hessian_product(u);
}

std::vector<Ensemble::Result> LossFunction::evaluate(std::span<const std::vector<double>> points,
                                                     bool gradient) {
    const std::lock_guard lock(mutex_);
    if (!ensemble_) ensemble_ = std::make_unique<Ensemble>(*simulation_);
    std::vector<Ensemble::Result> results = ensemble_->evaluate(points, gradient);
    for (Ensemble::Result& r : results)
        if (gradient && r.gradient.size() != values_.size())
            r.gradient.assign(values_.size(), std::numeric_limits<double>::quiet_NaN());
    return results;
}

}  // namespace hindcast
