#include "app/session/threads/work/trajectory_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/sim/non_finite.hpp"

namespace hindcast::session {

namespace {

constexpr std::int64_t most_frames = 600;

}  // namespace

TrajectoryPointer TrajectoryRuns::make(const SceneInfoPointer& scene, std::int64_t iteration,
                                       SharedNumbers base, SharedValues parameters) {
    auto t = std::make_shared<Trajectory>();
    t->scene = scene;
    t->iteration = iteration;
    t->base = std::move(base);
    t->parameters = std::move(parameters);
    const Lock lock(shared_.mutex);
    t->arrays =
        std::make_shared<const std::vector<std::string>>(scene->kept(shared_.wanted.contents));
    std::int64_t frame = 0;  // bytes
    for (const std::string& name : *t->arrays) frame += scene->array_bytes.at(name);
    if (scene->has_objective && scene->has_parameters)  // room for adjoints
        for (const std::string& name : scene->recorded) frame += scene->array_bytes.at(name);
    for (const auto* sources : {&scene->color_sources, &scene->arrow_sources}) {
        std::int64_t most = 0;  // one of them is chosen at a time
        for (const auto& [name, source] : *sources)
            if (source.kind == ValueSource::Kind::array_gradient &&
                !scene->is_recorded(source.array))
                most = std::max(most, scene->array_bytes.at(
                                          source.array == "force" ? "position" : source.array));
        frame += most;
    }
    // At least four trajectories fit: shown, ghost, the one that grows, and one more.
    const std::int64_t memory = state_.options.frame_memory - shared_.kept_besides();
    const std::int64_t share = memory / 4;
    const std::int64_t fitting =
        std::clamp<std::int64_t>(share / std::max<std::int64_t>(frame, 1) - 2, 1, most_frames);
    t->every = std::max<std::int64_t>((scene->steps + fitting - 1) / fitting, 1);
    const std::int64_t expected = frame * (scene->steps / t->every + 2);
    // Trajectories outside of the cache may belong to another scene, and be larger.
    const std::int64_t others =
        shared_.frame_bytes() - shared_.kept_besides() - shared_.trajectories.bytes();
    shared_.trajectories.shrink(
        std::max<std::int64_t>(memory - expected - std::max(expected, others), 0),
        {shared_.shown, shared_.ghost, shared_.current});
    shared_.history.changed = true;
    return t;
}

Rollout::Watch TrajectoryRuns::recorder(const TrajectoryPointer& trajectory, Simulation& of,
                                        std::function<bool()> interrupted, std::int64_t held) {
    frames_.recorder().watch(of.model(), trajectory->scene->plan.points, trajectory->arrays, held);
    return [this, trajectory, interrupted = std::move(interrupted)](std::int64_t done) {
        const SceneInfo& scene = *trajectory->scene;
        const std::int64_t step = done / scene.substeps;
        const bool whole = done % scene.substeps == 0;
        if (whole && (step % trajectory->every == 0 || step == scene.steps)) {
            FramePointer frame = frames_.recorder().record(step);
            const Lock lock(shared_.mutex);
            const std::vector<std::string>& names = frames_.recorder().energies();
            for (std::size_t k = 0; k < names.size(); ++k)
                trajectory->energies[names[k]].push_back(frame->energies[k]);
            trajectory->add(std::move(frame));
            if (!state_.optimizing) {
                state_.activity.advance(scene.steps > 0 ? static_cast<double>(step) /
                                                              static_cast<double>(scene.steps)
                                                        : 1);
            }
        }
        return !interrupted();
    };
}

void TrajectoryRuns::finish(const TrajectoryPointer& trajectory, Simulation& of, double loss) {
    const SceneInfo& scene = *trajectory->scene;
    const auto& found = of.rollout().divergence();  // until it runs again
    const bool diverged = found.has_value();
    const std::int64_t step = diverged ? found->step : 0;
    std::string why;
    if ((diverged || (scene.has_objective && !std::isfinite(loss))) && !state_.optimizing)
        why = explain_loss(of);
    else if (diverged)
        why = "the run has diverged: a number is not finite after step " +
              std::to_string(step / scene.substeps);
    const Lock lock(shared_.mutex);
    trajectory->complete = true;
    trajectory->loss = scene.has_objective ? loss : std::numeric_limits<double>::quiet_NaN();
    trajectory->terms = term_infos(of.terms());
    if (diverged)  // the objective was not reached
        for (TermInfo& term : trajectory->terms)
            term.value = std::numeric_limits<double>::quiet_NaN();
    if (!why.empty())
        shared_.fail(Error(why).remedy("make the time step smaller, or the forces softer"));
    shared_.mark_changed();
}

void TrajectoryRuns::show_current() {
    const TrajectoryPointer t = make(state_.now.scene, -1, state_.base, state_.values);
    const Lock lock(shared_.mutex);
    shared_.current = t;
    shared_.mark_changed();
}

void TrajectoryRuns::run(const TrajectoryPointer& wanted, bool as_current) {
    TrajectoryPointer t = wanted;
    if (!t->frames.empty()) {  // begun before, and left: from the start
        t = make(wanted->scene, wanted->iteration, wanted->base, wanted->parameters);
        t->gradient = wanted->gradient;
        const Lock lock(shared_.mutex);
        if (as_current && shared_.current == wanted) shared_.current = t;
        if (shared_.trajectories.peek(t->iteration) == wanted)
            shared_.trajectories.put(t->iteration, t);
    }
    {
        const Lock lock(shared_.mutex);
        shared_.growing = t;
    }
    BuiltScene& of = scenes_.built_for(t->scene);
    state_.activity.set(Activity::simulating,
                        t->iteration >= 0
                            ? "running iteration " + std::to_string(t->iteration) + " again"
                            : "simulating",
                        0);
    of.load(*t->base, t->parameters);
    bool left = false;
    const double loss = of.simulation->run(false, recorder(t, *of.simulation, [&] {
                                               left = interrupts_.stops_run();
                                               return left;
                                           }));
    const bool complete = !left || t->steps_done() == t->scene->steps;
    if (complete) {
        scenes_.check_rerun(*t, loss);
        finish(t, *of.simulation, loss);
    }
    const Lock lock(shared_.mutex);
    shared_.growing = nullptr;
    shared_.history.changed = true;
    shared_.mark_changed();
}

void TrajectoryRuns::run_iteration(std::int64_t iteration) {
    TrajectoryPointer t;
    SceneRevisionPointer revision;
    {
        const Lock lock(shared_.mutex);
        revision = shared_.history.revision_of(iteration);
        if (!revision) {
            if (shared_.wanted.iteration == iteration) shared_.wanted.iteration.reset();
            if (shared_.wanted.ghost == iteration) shared_.wanted.ghost.reset();
            shared_.mark_changed();
            return;
        }
        t = shared_.trajectories.find(iteration);
    }
    if (!t || t->complete) {
        const TrajectoryPointer old = t;
        SharedValues parameters, gradient;
        {
            const Lock lock(shared_.mutex);
            const IterationInfo* const row = shared_.history.row_of(iteration);
            if (row == nullptr) return;  // thinned out meanwhile
            parameters = row->parameters;
            gradient = row->gradient;
        }
        t = make(revision->scene, iteration, revision->base, parameters);
        t->gradient = gradient;
        const Lock lock(shared_.mutex);
        shared_.trajectories.put(iteration, t);
        if (old && shared_.current == old) shared_.current = t;
    }
    try {
        run(t, false);
    } catch (const Error&) {
        if (t->scene != state_.now.scene) forget(iteration);
        throw;
    }
}

// An iteration that cannot be run again is not shown any more.
void TrajectoryRuns::forget(std::int64_t iteration) {
    const Lock lock(shared_.mutex);
    if (shared_.wanted.iteration == iteration) shared_.wanted.iteration.reset();
    if (shared_.wanted.ghost == iteration) shared_.wanted.ghost.reset();
    shared_.trajectories.erase(iteration);
    shared_.mark_changed();
}

bool TrajectoryRuns::needs_more(const Trajectory& trajectory) {
    const Lock lock(shared_.mutex);
    return lacks(trajectory, shared_.wanted.contents);
}

}  // namespace hindcast::session
