#include "app/session/threads/work/gradient_runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/session/frames/force_adjoint.hpp"

namespace hindcast::session {

namespace {

Array zeros_like(const Array& array) {
    const Array zeros(array.type(), array.shape());
    zeros.fill(0);
    return zeros;
}

}  // namespace

void GradientRuns::plan(BuiltScene& of) {
    if (of.gradients_planned) return;
    state_.activity.set(state_.optimizing ? Activity::optimizing : Activity::simulating,
                        "planning the memory of gradients");
    const CheckpointPlan& plan = of.simulation->plan_gradients();
    of.gradients_planned = true;
    auto memory = std::make_shared<GradientMemory>();
    std::vector<std::int64_t>& kept = memory->checkpoints;
    kept.push_back(0);
    if (plan.segments > 1 && plan.checkpoints > 1) {
        CheckpointStack stack(plan.checkpoints);
        stack.push(0);
        stack.reach(
            plan.segments - 1, [](std::int64_t) {}, [](std::int64_t, std::int64_t) {},
            [&](std::int64_t) { kept.push_back(stack.top() * plan.segment / of.scene->substeps); });
    }
    memory->plan = plan.describe();
    memory->bytes = plan.peak_bytes;
    const Lock lock(shared_.mutex);
    shared_.gradient_memory[of.scene] = std::move(memory);
    shared_.mark_changed();
}

bool GradientRuns::wants(const Trajectory& t) {
    const SceneInfo& scene = *t.scene;
    if (!scene.has_objective || !scene.has_parameters) return false;
    if (scenes_.gradients_failed(t.scene)) return false;
    if (!t.complete || !std::isfinite(t.loss) || t.gradient_failed) return false;
    const Lock lock(shared_.mutex);
    const std::vector<std::string> wanted = wanted_arrays(scene);
    return !t.gradient || (!wanted.empty() && !t.adjoints_complete) ||
           std::ranges::any_of(wanted, [&](const std::string& name) {
               return !scene.is_recorded(name) && !t.holds_gradient(name);
           });
}

std::vector<std::string> GradientRuns::wanted_arrays(const SceneInfo& scene) const {
    std::vector<std::string> names;
    const auto add = [&](const std::map<std::string, ValueSource>& sources,
                         const std::string& name) {
        const auto found = sources.find(name);
        if (found == sources.end() || found->second.kind != ValueSource::Kind::array_gradient)
            return;
        if (std::ranges::find(names, found->second.array) == names.end())
            names.push_back(found->second.array);
    };
    add(scene.color_sources, shared_.wanted.contents.color);
    add(scene.arrow_sources, shared_.wanted.contents.arrows);
    return names;
}

void GradientRuns::run(const TrajectoryPointer& t) {
    {
        const Lock lock(shared_.mutex);
        shared_.growing = t;
        t->gradient_failed = true;  // unless all goes well
    }
    BuiltScene& of = scenes_.built_for(t->scene);
    try {
        plan(of);
    } catch (const Error& error) {
        of.gradients_failed = true;
        const Lock lock(shared_.mutex);
        shared_.growing = nullptr;
        shared_.log(LogLine::Level::warning, std::string("no gradients: ") + error.what());
        return;
    }
    state_.activity.set(Activity::simulating, "computing the gradient");
    of.load(*t->base, t->parameters);
    bool left = false;
    of.simulation->run(true, [&](std::int64_t) {
        left = interrupts_.stops_run();
        return !left;
    });
    std::optional<std::vector<double>> gradient;
    if (!left) gradient = compute(t, *of.simulation);
    const Lock lock(shared_.mutex);
    if (gradient) t->gradient = std::make_shared<const std::vector<double>>(std::move(*gradient));
    t->gradient_failed = false;
    shared_.growing = nullptr;
    shared_.mark_changed();
}

std::optional<std::vector<double>> GradientRuns::compute(const TrajectoryPointer& t,
                                                         Simulation& of) {
    const SceneInfo& scene = *t->scene;
    Rollout& rollout = of.rollout();
    struct Left {};
    constexpr double most_numbers = 1e9;  // that norms are taken of: about a second
    double numbers = 0;
    for (const auto& [name, published] : of.model().arrays())
        if (published.state) numbers += static_cast<double>(published.array.size());
    rollout.record_adjoint_norms(numbers * static_cast<double>(of.steps()) < most_numbers);
    std::vector<std::string> wanted;
    {
        const Lock lock(shared_.mutex);
        wanted = wanted_arrays(scene);
    }
    const bool adjoints = !wanted.empty();
    std::optional<ForceAdjoint> force;
    auto names = std::make_shared<std::vector<std::string>>();
    std::vector<Array> arrays;
    for (const std::string& name : scene.recorded) {
        if (!of.model().has_array(name)) continue;  // where a body was measured
        const Array array = of.model().array(name);
        if (!array.has_gradient()) continue;
        names->push_back(name);
        arrays.push_back(array.gradient());
    }
    for (const std::string& name : wanted) {
        if (scene.is_recorded(name) || name == "force") continue;
        const Array array = of.model().array(name);
        names->push_back(name);
        arrays.push_back(array.has_gradient() ? array.gradient() : zeros_like(array));
    }
    if (std::ranges::find(wanted, "force") != wanted.end()) {
        force.emplace(of.model());
        names->emplace_back("force");  // last
    }
    rollout.watch_adjoints([&](std::int64_t done) {
        if (interrupts_.stops_run()) throw Left();
        const std::int64_t step = done / scene.substeps;
        const bool whole = done % scene.substeps == 0;
        Array of_force;
        if (force) {
            if (whole) of_force = force->take();
            if (done > 0) force->add();
        }
        if (!adjoints || !whole || (step % t->every != 0 && step != scene.steps)) return;
        std::vector<Array> all = arrays;
        if (force) all.push_back(of_force);
        FramePointer frame = frames_.recorder().record(step, names, all);
        const Lock lock(shared_.mutex);
        t->add_adjoint(std::move(frame));
    });
    struct Unwatch {
        Rollout& watched;
        ~Unwatch() { watched.watch_adjoints({}); }
    } const unwatch{rollout};
    std::vector<double> gradient;
    try {
        gradient = of.gradient();
    } catch (const Left&) {
        return std::nullopt;
    }
    const Rollout::AdjointNorms& norms = rollout.adjoint_norms();
    const Lock lock(shared_.mutex);
    t->adjoints_complete |= adjoints;
    t->adjoint_norms.clear();
    if (norms.norms.empty()) return gradient;
    for (const FramePointer& frame : t->frames) {
        const std::int64_t place = frame->step * scene.substeps - norms.first;
        const bool known = place >= 0 && place < static_cast<std::int64_t>(norms.norms.size());
        t->adjoint_norms.push_back(known ? norms.norms[static_cast<std::size_t>(place)] : 0.0);
    }
    return gradient;
}

}  // namespace hindcast::session
