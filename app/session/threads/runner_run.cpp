// Trajectories and gradients.
#include <algorithm>
#include <cmath>

#include "app/session/frames/force_adjoint.hpp"
#include "app/session/threads/runner.hpp"
#include "engine/sim/non_finite.hpp"

namespace hindcast::session {

namespace {

constexpr std::int64_t most_frames = 600;

bool is_recorded(const SceneInfo& scene, const std::string& array) {
    return std::ranges::find(scene.recorded, array) != scene.recorded.end();
}

Array zeros_like(const Array& array) {
    const Array zeros(array.type(), array.shape());
    zeros.fill(0);
    return zeros;
}

}  // namespace

TrajectoryPointer Runner::new_trajectory(const SceneInfoPointer& scene, std::int64_t iteration,
                                         std::shared_ptr<const std::vector<SharedValues>> base,
                                         SharedValues parameters) {
    auto t = std::make_shared<Trajectory>();
    t->scene = scene;
    t->iteration = iteration;
    t->base = std::move(base);
    t->parameters = std::move(parameters);
    const Lock lock(shared_.mutex);
    t->arrays =
        std::make_shared<const std::vector<std::string>>(scene->kept(shared_.frame_contents));
    std::int64_t frame = 0;
    for (const std::string& name : *t->arrays) frame += scene->array_bytes.at(name);
    if (scene->has_objective && scene->has_parameters)  // room for adjoints
        for (const std::string& name : scene->recorded) frame += scene->array_bytes.at(name);
    for (const auto* sources : {&scene->colour_sources, &scene->arrow_sources}) {
        std::int64_t most = 0;  // one of them is chosen at a time
        for (const auto& [name, source] : *sources)
            if (source.kind == ValueSource::Kind::array_gradient &&
                !is_recorded(*scene, source.array))
                most = std::max(most, scene->array_bytes.at(
                                          source.array == "force" ? "position" : source.array));
        frame += most;
    }
    // At least four trajectories fit: shown, ghost, the one that grows, and one more.
    const std::int64_t memory = options_.frame_memory - shared_.kept_besides();
    const std::int64_t share = memory / 4;
    const std::int64_t fitting =
        std::clamp<std::int64_t>(share / std::max<std::int64_t>(frame, 1) - 2, 1, most_frames);
    t->every = std::max<std::int64_t>((scene->steps + fitting - 1) / fitting, 1);
    const std::int64_t expected = frame * (scene->steps / t->every + 2);
    // Those that are in no cache may be of another scene, and larger.
    const std::int64_t others =
        shared_.frame_bytes() - shared_.kept_besides() - shared_.trajectories.bytes();
    shared_.trajectories.shrink(
        std::max<std::int64_t>(memory - expected - std::max(expected, others), 0),
        {shared_.shown, shared_.ghost, shared_.current});
    shared_.rows_changed = true;
    return t;
}

// The numbers of the simulation's quantities; only what differs is uploaded.
void Runner::load(BuiltScene& into, const std::vector<SharedValues>& base,
                  const SharedValues& parameters) {
    std::size_t k = 0;
    for (const auto& [path, q] : into.simulation->model().quantities()) {
        if (into.loaded[k] != base[k]) {
            q->values = *base[k];
            q->upload();
            into.loaded[k] = base[k];
        }
        ++k;
    }
    if (parameters && into.simulation->parameters().values() != *parameters)
        into.simulation->parameters().set_values(*parameters);
}

// Keeps frames of the run that it watches.
Rollout::Watch Runner::recorder(const TrajectoryPointer& trajectory, Simulation& of,
                                std::function<bool()> interrupted, std::int64_t held) {
    frame_recorder_.watch(of.model(), trajectory->scene->plan.points, trajectory->arrays, held);
    return [this, trajectory, interrupted = std::move(interrupted)](std::int64_t done) {
        const SceneInfo& scene = *trajectory->scene;
        const std::int64_t step = done / scene.substeps;
        const bool whole = done % scene.substeps == 0;
        if (whole && (step % trajectory->every == 0 || step == scene.steps)) {
            FramePointer frame = frame_recorder_.record(step);
            const Lock lock(shared_.mutex);
            const std::vector<std::string>& names = frame_recorder_.energies();
            for (std::size_t k = 0; k < names.size(); ++k)
                trajectory->energies[names[k]].push_back(frame->energies[k]);
            trajectory->add(std::move(frame));
            if (!optimising_) {
                shared_.draft.progress =
                    scene.steps > 0 ? static_cast<double>(step) / static_cast<double>(scene.steps)
                                    : 1;
                shared_.mark_changed();
            }
        }
        return !interrupted();
    };
}

void Runner::finish(const TrajectoryPointer& trajectory, Simulation& of, double loss) {
    const SceneInfo& scene = *trajectory->scene;
    const auto& found = of.rollout().divergence();  // until it runs again
    const bool diverged = found.has_value();
    const std::int64_t step = diverged ? found->step : 0;
    std::string why;
    if ((diverged || (scene.has_objective && !std::isfinite(loss))) && !optimising_)
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

// ---------------------------------------------------------------- what is missing

void Runner::show_current() {
    const TrajectoryPointer t = new_trajectory(now_.scene, -1, base_, values_);
    const Lock lock(shared_.mutex);
    shared_.current = t;
    shared_.mark_changed();
}

bool Runner::run_trajectory(const TrajectoryPointer& wanted, bool as_current) {
    TrajectoryPointer t = wanted;
    if (!t->frames.empty()) {  // begun before, and left: from the start
        t = new_trajectory(wanted->scene, wanted->iteration, wanted->base, wanted->parameters);
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
    BuiltScene& of = built_for(t->scene);
    set_activity(Activity::simulating,
                 t->iteration >= 0 ? "running iteration " + std::to_string(t->iteration) + " again"
                                   : "simulating",
                 0);
    load(of, *t->base, t->parameters);
    bool left = false;
    const double loss = of.simulation->run(false, recorder(t, *of.simulation, [&] {
                                               left = interrupted();
                                               return left;
                                           }));
    const bool complete = !left || t->steps_done() == t->scene->steps;
    if (complete) {
        check_rerun(*t, loss);
        finish(t, *of.simulation, loss);
    }
    const Lock lock(shared_.mutex);
    shared_.growing = nullptr;
    shared_.rows_changed = true;
    shared_.mark_changed();
    return true;
}

bool Runner::run_iteration(std::int64_t iteration) {
    TrajectoryPointer t;
    SceneRevisionPointer scene_revision;
    {
        const Lock lock(shared_.mutex);
        scene_revision = shared_.scene_revision_of(iteration);
        if (!scene_revision) {
            if (shared_.wanted_iteration == iteration) shared_.wanted_iteration.reset();
            if (shared_.wanted_ghost == iteration) shared_.wanted_ghost.reset();
            shared_.mark_changed();
            return true;
        }
        t = shared_.trajectories.find(iteration);
    }
    if (!t || t->complete) {
        const TrajectoryPointer old = t;
        SharedValues parameters, gradient;
        {
            const Lock lock(shared_.mutex);
            const IterationInfo* const row = row_of(iteration);
            if (row == nullptr) return true;  // thinned out meanwhile
            parameters = row->parameters;
            gradient = row->gradient;
        }
        t = new_trajectory(scene_revision->scene, iteration, scene_revision->base, parameters);
        t->gradient = gradient;
        const Lock lock(shared_.mutex);
        shared_.trajectories.put(iteration, t);
        if (old && shared_.current == old) shared_.current = t;
    }
    try {
        return run_trajectory(t, false);
    } catch (const Error&) {
        if (t->scene != now_.scene) forget(iteration);
        throw;
    }
}

void Runner::forget_arrays() {
    frame_kernels_.forget();
    frame_recorder_.release();
}

// Whether the look needs arrays that its frames do not hold.
bool Runner::needs_more(const Trajectory& trajectory) {
    const Lock lock(shared_.mutex);
    return lacks(trajectory, shared_.frame_contents);
}

// ---------------------------------------------------------------- gradients

bool Runner::wants_gradient(const Trajectory& t) {
    const SceneInfo& scene = *t.scene;
    if (!scene.has_objective || !scene.has_parameters) return false;
    if (t.scene == now_.scene && now_.gradients_failed) return false;
    if (older_ && t.scene == older_->scene && older_->gradients_failed) return false;
    if (!t.complete || !std::isfinite(t.loss) || t.gradient_failed) return false;
    const Lock lock(shared_.mutex);
    const std::vector<std::string> wanted = wanted_gradients(scene);
    return !t.gradient || (!wanted.empty() && !t.adjoints_complete) ||
           std::ranges::any_of(wanted, [&](const std::string& name) {
               return !is_recorded(scene, name) && !t.holds_gradient(name);
           });
}

// Arrays whose derivatives the look shows. Under the shared lock.
std::vector<std::string> Runner::wanted_gradients(const SceneInfo& scene) const {
    std::vector<std::string> names;
    const auto add = [&](const std::map<std::string, ValueSource>& sources,
                         const std::string& name) {
        const auto found = sources.find(name);
        if (found == sources.end() || found->second.kind != ValueSource::Kind::array_gradient)
            return;
        if (std::ranges::find(names, found->second.array) == names.end())
            names.push_back(found->second.array);
    };
    add(scene.colour_sources, shared_.frame_contents.colour);
    add(scene.arrow_sources, shared_.frame_contents.arrows);
    return names;
}

// Of what is shown, while there is nothing else to do.
bool Runner::run_gradient(const TrajectoryPointer& t) {
    {
        const Lock lock(shared_.mutex);
        shared_.growing = t;
        t->gradient_failed = true;  // unless all goes well
    }
    BuiltScene& of = built_for(t->scene);
    try {
        plan_gradients(of);
    } catch (const Error& error) {
        of.gradients_failed = true;
        const Lock lock(shared_.mutex);
        shared_.growing = nullptr;
        shared_.log(LogLine::Level::warning, std::string("no gradients: ") + error.what());
        return true;
    }
    set_activity(Activity::simulating, "computing the gradient");
    load(of, *t->base, t->parameters);
    bool left = false;
    of.simulation->run(true, [&](std::int64_t) {
        left = interrupted();
        return !left;
    });
    std::optional<std::vector<double>> gradient;
    if (!left) gradient = gradient_into(t, *of.simulation);
    const Lock lock(shared_.mutex);
    if (gradient) t->gradient = std::make_shared<const std::vector<double>>(std::move(*gradient));
    t->gradient_failed = false;
    shared_.growing = nullptr;
    shared_.mark_changed();
    return true;
}

// After a run that kept its values: the gradient, and what belongs to it at the frames' steps. None
// if it was left.
std::optional<std::vector<double>> Runner::gradient_into(const TrajectoryPointer& t,
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
        wanted = wanted_gradients(scene);
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
        if (is_recorded(scene, name) || name == "force") continue;
        const Array array = of.model().array(name);
        names->push_back(name);
        arrays.push_back(array.has_gradient() ? array.gradient() : zeros_like(array));
    }
    if (std::ranges::find(wanted, "force") != wanted.end()) {
        force.emplace(of.model());
        names->emplace_back("force");  // last
    }
    rollout.watch_adjoints([&](std::int64_t done) {
        if (interrupted()) throw Left();
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
        FramePointer frame = frame_recorder_.record(step, names, all);
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
