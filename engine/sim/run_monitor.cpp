#include "engine/sim/run_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/model/model.hpp"
#include "engine/model/point_owner.hpp"
#include "engine/runtime/array/magnitude.hpp"

namespace hindcast {

using model::Model;

namespace {

// The longest row of a list of vectors, and its number.
std::pair<double, std::size_t> longest(const std::vector<double>& values, std::size_t dimension) {
    long double most = 0;
    std::size_t row = 0;
    for (std::size_t i = 0; i + dimension <= values.size(); i += dimension) {
        long double square = 0;  // of 1e300, say
        for (std::size_t k = 0; k < dimension; ++k)
            square += static_cast<long double>(values[i + k]) * values[i + k];
        if (square > most) {
            most = square;
            row = i / dimension;
        }
    }
    return {static_cast<double>(std::sqrt(most)), row};
}

double norm_of(const std::vector<double>& v) { return longest(v, v.size()).first; }

bool has_points(const Model& model) {
    return model.has_array("position") && model.has_array("velocity");
}

}  // namespace

RunMonitor::RunMonitor(Simulation& simulation) : simulation_(simulation) {
    const Model& model = simulation.model();
    pairs_ = model.contact_pairs().watched(model.warnings());
    if (!has_points(model)) return;
    const auto dimension = static_cast<std::size_t>(model.dimension());
    model::Box box;
    const std::vector<double>& start = model.initial_points();
    for (std::size_t i = 0; i + dimension <= start.size(); i += dimension)
        box.add(&start[i], model.dimension());
    double square = 0;
    if (!box.empty())
        for (std::size_t k = 0; k < 3; ++k) square += std::pow(box.high[k] - box.low[k], 2);
    double speed = 0;
    for (const auto& [path, quantity] : simulation.model().quantities())
        if (quantity->unit == "m/s" && quantity->components == model.dimension())
            speed = std::max(speed, longest(quantity->values, dimension).first);
    const double gravity = norm_of(simulation.model().find_quantity("gravity")->values),
                 time = time_after(simulation.steps());
    size_ = std::sqrt(square) + speed * time + 0.5 * gravity * time * time;
}

double RunMonitor::time_after(std::int64_t substeps) const {
    return static_cast<double>(substeps) * simulation_.model().step();
}

std::int64_t RunMonitor::whole_steps(std::int64_t substeps) const {
    const std::int64_t each = simulation_.scene().substeps();
    return (substeps + each - 1) / each;
}

Rollout::Watch RunMonitor::watch(const Rollout::Watch& watch) {
    left_physics_ = false;
    const DeviceOptions& device = simulation_.options().device->options();
    const bool each_step = !pairs_.empty() && first_run_ &&
                           device.whole_program != WholeProgramUse::always &&
                           !simulation_.options().device->cuda();
    first_run_ = false;
    if (!each_step && !watch) return {};
    const std::int64_t every =
        simulation_.options().device->cuda() ? Simulation::divergence_interval : 16;
    return [this, watch, each_step, every](std::int64_t substeps) {
        if (each_step && substeps % simulation_.scene().substeps() == 0) look_at_boxes(substeps);
        if (substeps > 0 && substeps % every == 0) look(substeps);
        return !watch || watch(substeps);
    };
}

void RunMonitor::finish(std::int64_t substeps) {
    if (simulation_.rollout().divergence()) return;  // an outcome of its own
    look(substeps);
    look_at_boxes(substeps);
}

void RunMonitor::look(std::int64_t substeps) {
    look_at_speeds(substeps);
    Model& model = simulation_.model();
    for (const auto& look : model.state_looks())
        look({whole_steps(substeps), time_after(substeps), model.warnings()});
}

void RunMonitor::look_at_boxes(std::int64_t substeps) {
    if (pairs_.empty()) return;
    Warnings& warnings = simulation_.model().warnings();
    if (model::ContactPairs::warn_of_overlap(pairs_, time_after(substeps), whole_steps(substeps),
                                             warnings))
        pairs_.clear();
}

void RunMonitor::look_at_speeds(std::int64_t substeps) {
    Model& model = simulation_.model();
    constexpr std::int64_t least_steps = 16;  // before that growth is not told from a start
    if (size_ <= 0 || substeps < least_steps || left_physics_ || !has_points(model)) return;
    const auto dimension = static_cast<std::size_t>(model.dimension());
    // A vector is at most sqrt(dimension) times as long as its largest component.
    const Array velocity = model.array("velocity");
    if (2 * largest_magnitude(velocity) * model.step() <= size_) return;
    const auto [speed, row] = longest(velocity.to_doubles(), dimension);
    const double way = speed * model.step();
    if (!(way > size_)) return;
    const std::vector<double> now = model.array("position").to_doubles();
    const std::vector<double>& start = model.initial_points();
    std::vector<double> from_start;
    for (std::size_t k = row * dimension; k < (row + 1) * dimension; ++k)
        from_start.push_back(now[k] - (k < start.size() ? start[k] : 0));
    if (way <= 1000 * size_ && way <= 0.25 * norm_of(from_start)) return;
    left_physics_ = true;
    const auto [name, point] = model::owner_of(model, static_cast<std::int64_t>(row));
    const model::ContactBody* const body = model.contact_pairs().find(name);
    model.warnings().add(
        {.identifier = "runaway",
         .happened = fmt::format("the run has left physics: point {} of '{}' moves at {:.3g} m/s, "
                                 "{:.3g} m in one step, in a scene of {:.3g} m",
                                 point, name, speed, way, size_),
         .remedy = "make the time step smaller (\"substeps\"), or what pushes it softer",
         .pointer = body != nullptr ? body->pointer : "",
         .numbers = {{"speed", speed}, {"way", way}, {"size", size_}},
         .step = whole_steps(substeps)});
}

}  // namespace hindcast
