// Runs of a scene: values, gradients, products, optimization, the gradient check.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "engine/base/pages.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/runs/scene_runs.hpp"

namespace hindcast::runs {

using model::Quantity;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<Rollout::Seed> seeds_of(Simulation& simulation) {
    std::vector<Rollout::Seed> list;
    for (const model::Term& term : simulation.model().terms())
        list.push_back({term.value, term.weight});
    return list;
}

}  // namespace

// ---------------------------------------------------------------- frames

Shape Frames::shape_of(const Array& array) {
    Shape shape = array.shape();
    if (array.components() == 1) shape.resize(1);
    return shape;
}

Shape Frames::strides_of(const Array& array) {
    Shape strides = shape_of(array);
    std::int64_t stride = array.component_stride();
    for (std::size_t d = strides.size(); d-- > 1;) {
        const std::int64_t extent = strides[d];
        strides[d] = stride;
        stride *= extent;
    }
    strides[0] = array.element_stride();
    return strides;
}

Frames::Frames(model::Model& model, const std::vector<std::string>& names, std::int64_t most) {
    for (const std::string& name : names) {
        if (find(name) != nullptr) continue;
        if (!model.has_array(name)) {
            std::vector<std::string_view> known;
            for (const auto& [array, published] : model.arrays()) known.push_back(array);
            ArgumentFault fault(fmt::format("keep: there is no array '{}'", name));
            fault.remedy(document::suggestion(name, known, "there are"));
            throw fault;
        }
        Kept kept{.name = name, .array = model.array(name), .frame_bytes = 0, .bytes = nullptr};
        kept.frame_bytes = kept.array.bytes();
        const std::size_t bytes = kept.frame_bytes * static_cast<std::size_t>(most);
        try {
            if (static_cast<std::int64_t>(bytes) > free_memory()) throw std::bad_alloc();
            kept.bytes.reset(new std::byte[bytes]);
        } catch (const std::bad_alloc&) {
            throw Error(fmt::format("{} frames of '{}' take {:.3g} GiB, more than is free", most,
                                    name, static_cast<double>(bytes) / (1 << 30)))
                .remedy("keep less, or make fewer steps");
        }
        kept_.push_back(std::move(kept));
    }
}

void Frames::add() {
    for (const Kept& kept : kept_)
        if (kept.frame_bytes > 0)
            std::memcpy(kept.bytes.get() + static_cast<std::size_t>(count_) * kept.frame_bytes,
                        kept.array.data(), kept.frame_bytes);
    ++count_;
}

const Frames::Kept* Frames::find(const std::string& name) const {
    const auto found = std::ranges::find(kept_, name, &Kept::name);
    return found == kept_.end() ? nullptr : &*found;
}

std::vector<std::string> Frames::names() const {
    std::vector<std::string> list;
    for (const Kept& kept : kept_) list.push_back(kept.name);
    return list;
}

// ---------------------------------------------------------------- runs

void SceneRuns::forget_runs() {
    sets_.clear();
    last_.reset();
}

bool SceneRuns::goes_on() {
    const Clock::time_point now = Clock::now();
    if (!go_on || now - asked_ < asking_interval) return true;
    asked_ = now;
    return go_on();
}

void SceneRuns::require_objective() const {
    if (model().terms().empty())
        throw Error("the scene has no objective, so there is nothing to differentiate")
            .remedy("say what is wanted: \"objective\": [{\"type\": \"point_target\", ...}]");
}

double SceneRuns::forward(Made& made, bool keep, RolloutMode mode, Frames* frames) {
    Simulation& simulation = *made.simulation;
    double& took = made.forward[static_cast<int>(mode)];
    const std::int64_t substeps = simulation.scene().substeps();
    bool stopped = false;
    Rollout::Watch watch;
    if (frames != nullptr || is_long(took))
        watch = [&](std::int64_t done) {
            if (frames != nullptr && done % substeps == 0) frames->add();
            stopped = !goes_on();
            return !stopped;
        };
    last_.reset();
    const Clock::time_point start = Clock::now();
    double loss = 0;
    if (mode == RolloutMode::first) {
        loss = simulation.run(keep, watch);
    } else {
        simulation.rollout().forward(keep, watch, mode);
        loss = simulation.loss();
    }
    if (stopped) throw Interrupted();
    if (frames == nullptr) took = seconds_since(start);
    return loss;
}

void SceneRuns::backward(Made& made, RolloutMode mode) {
    Simulation& simulation = *made.simulation;
    double& took = made.backward[static_cast<int>(mode)];
    const double expected = took >= 0 ? took : 3 * made.forward[static_cast<int>(mode)];
    struct Watching {
        Rollout& rollout;
        ~Watching() { rollout.watch_adjoints({}); }
    } const watching{simulation.rollout()};
    if (is_long(expected))
        simulation.rollout().watch_adjoints([&](std::int64_t) {
            if (!goes_on()) throw Interrupted();
        });
    const Clock::time_point start = Clock::now();
    simulation.rollout().backward(seeds_of(simulation), mode);
    took = seconds_since(start);
}

double SceneRuns::run(Frames* frames) {
    require_idle();
    const double loss = forward(*base_, false, RolloutMode::first, frames);
    last_ = base_;
    return loss;
}

double SceneRuns::forward(Set& set, bool keep, Frames* frames) {
    require_objective();
    const double loss = forward(*set.made, keep, RolloutMode::first, frames);
    last_ = set.made;
    return loss;
}

std::vector<double> SceneRuns::gather(const Set& set, bool tangents) const {
    std::vector<double> all;
    all.reserve(set.size);
    for (const Leaf& leaf : set.leaves) {
        const Array gradient = leaf.quantity->array.gradient();
        const std::vector<double> part =
            (tangents ? gradient.tangent() : gradient).values_at(leaf.entries);
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

std::vector<double> SceneRuns::gradient(Set& set) {
    if (!std::isfinite(set.made->simulation->loss())) return std::vector<double>(set.size, nan);
    backward(*set.made, RolloutMode::first);
    return gather(set, false);
}

void SceneRuns::set_tangents(Set& set, std::span<const double> direction) {
    if (direction.size() != set.size)
        throw Error(
            fmt::format("a direction has {} entries for {} numbers", direction.size(), set.size));
    std::size_t k = 0;
    std::map<Quantity*, std::vector<double>> tangents;
    for (const Leaf& leaf : set.leaves) {
        std::vector<double>& t = tangents[leaf.quantity];
        t.resize(leaf.quantity->values.size());
        for (const std::size_t e : leaf.entries) t[e] = direction[k++];
    }
    for (const auto& [quantity, t] : tangents) quantity->array.tangent().assign(t);
}

std::vector<double> SceneRuns::hessian_product(Set& set, std::span<const double> direction) {
    require_objective();
    set_tangents(set, direction);
    const double loss = forward(*set.made, true, RolloutMode::second, nullptr);
    last_ = set.made;
    if (!std::isfinite(loss)) return std::vector<double>(set.size, nan);
    backward(*set.made, RolloutMode::second);
    return gather(set, true);
}

SceneRuns::Directional SceneRuns::directional_derivative(Set& set,
                                                         std::span<const double> direction) {
    require_objective();
    set_tangents(set, direction);
    Directional result;
    result.loss = forward(*set.made, false, RolloutMode::tangent, nullptr);
    last_ = set.made;
    if (!std::isfinite(result.loss)) return {result.loss, nan};
    for (const model::Term& term : set.made->simulation->model().terms())
        result.derivative += term.weight * term.value.tangent().value(0);
    return result;
}

// ---------------------------------------------------------------- optimization

std::int64_t SceneRuns::iterations() const { return Optimization(*base_->simulation).iterations(); }

SceneRuns::Optimized SceneRuns::optimize(
    std::int64_t iterations, const std::function<bool(const Optimization::Row&)>& watch) {
    require_idle();
    Simulation& simulation = *base_->simulation;
    Optimization optimization(simulation, iterations);
    optimization.set_row_limit(0);
    bool stopped = false;
    optimization.set_interrupt([&] { return stopped = stopped || !goes_on(); });
    if (base_->forward[0] < 0) forward(*base_, false, RolloutMode::first, nullptr);
    last_.reset();
    if (is_long(base_->forward[0]))
        optimization.set_evaluator([&](const std::vector<double>& values,
                                       bool gradient) -> std::optional<Ensemble::Result> {
            Ensemble::Result result;
            simulation.parameters().set_values(values);
            try {
                result.loss = forward(*base_, gradient, RolloutMode::first, nullptr);
                result.terms = simulation.terms();
                if (gradient && std::isfinite(result.loss)) {
                    backward(*base_, RolloutMode::first);
                    result.gradient = simulation.parameters().gradient();
                }
            } catch (const Interrupted&) {
                stopped = true;
                return {};
            }
            return result;
        });
    const std::vector<double> before = simulation.parameters().values();
    for (const Parameter& p : simulation.parameters().list()) changed_.insert(p.quantity->path);
    Optimized result;
    Optimization::Outcome outcome;
    {
        optimizing_ = true;
        struct Done {
            bool& flag;
            ~Done() { flag = false; }
        } const done{optimizing_};
        outcome = optimization.run([&](const Optimization::Row& row) {
            result.losses.push_back(row.loss);
            result.gradient_norms.push_back(row.gradient_norm);
            result.evaluations = row.evaluations;
            return watch(row);
        });
    }
    const bool any = !result.losses.empty();
    simulation.parameters().set_values(any ? outcome.best.parameters : before);
    if (stopped) throw Interrupted();
    static constexpr const char* names[] = {"iterations", "converged", "stopped", "not_finite",
                                            "stuck"};
    result.stopped = names[static_cast<std::size_t>(outcome.stop)];
    result.reason = outcome.reason;
    result.loss = run();
    return result;
}

GradientReport SceneRuns::check(const std::vector<std::string>& paths,
                                GradientCheckOptions wanted) {
    require_idle();
    require_objective();
    set_of(paths);  // refuses what has no gradient
    bool stopped = false;
    wanted.go_on = [&](std::int64_t, std::int64_t) { return !(stopped = !goes_on()); };
    GradientReport report =
        check_gradients(with_parameters(written(), paths), registry_, options_, wanted);
    if (stopped) throw Interrupted();
    return report;
}

}  // namespace hindcast::runs
