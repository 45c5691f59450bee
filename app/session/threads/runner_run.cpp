// Trajectories and gradients.
#include <algorithm>
#include <cmath>

#include "app/session/frames/force_adjoint.hpp"
#include "app/session/threads/runner.hpp"
#include "engine/sim/non_finite.hpp"

namespace hindcast::session {

namespace {

constexpr std::int64_t most_frames = 600;

// What frames hold: what is always drawn, and what this look needs besides.
std::vector<std::string> recorded_arrays(const World& world, const Look& look) {
    std::vector<std::string> names = world.recorded;
    const auto add = [&](const std::map<std::string, Source>& sources, const std::string& name) {
        const auto found = sources.find(name);
        if (found == sources.end() || found->second.kind != Source::Kind::array) return;
        if (std::find(names.begin(), names.end(), found->second.array) == names.end())
            names.push_back(found->second.array);
    };
    add(world.colour_sources, look.colour);
    add(world.arrow_sources, look.arrows);
    return names;
}

bool is_recorded(const World& world, const std::string& array) {
    return std::ranges::find(world.recorded, array) != world.recorded.end();
}

Array zeros_like(const Array& array) {
    const Array zeros(array.type(), array.shape());
    zeros.fill(0);
    return zeros;
}

}  // namespace

TrajectoryPointer Runner::new_trajectory(const WorldPointer& world, std::int64_t iteration,
                                         std::shared_ptr<const std::vector<Numbers>> base,
                                         Numbers parameters) {
    auto t = std::make_shared<Trajectory>();
    t->world = world;
    t->iteration = iteration;
    t->base = std::move(base);
    t->parameters = std::move(parameters);
    const Lock lock(desk_.mutex);
    t->arrays =
        std::make_shared<const std::vector<std::string>>(recorded_arrays(*world, desk_.look));
    std::int64_t frame = 0;
    for (const std::string& name : *t->arrays) frame += world->array_bytes.at(name);
    if (world->has_objective && world->has_parameters)  // room for adjoints
        for (const std::string& name : world->recorded) frame += world->array_bytes.at(name);
    for (const auto* sources : {&world->colour_sources, &world->arrow_sources}) {
        std::int64_t most = 0;  // one of them is chosen at a time
        for (const auto& [name, source] : *sources)
            if (source.kind == Source::Kind::array_gradient && !is_recorded(*world, source.array))
                most = std::max(most, world->array_bytes.at(
                                          source.array == "force" ? "position" : source.array));
        frame += most;
    }
    // At least four trajectories fit: shown, ghost, the one that grows, and one more.
    const std::int64_t memory = options_.frame_memory - desk_.kept_besides();
    const std::int64_t share = memory / 4;
    const std::int64_t fitting =
        std::clamp<std::int64_t>(share / std::max<std::int64_t>(frame, 1) - 2, 1, most_frames);
    t->every = std::max<std::int64_t>((world->steps + fitting - 1) / fitting, 1);
    const std::int64_t expected = frame * (world->steps / t->every + 2);
    // Those that are in no library may be of another world, and larger.
    const std::int64_t others = desk_.frame_bytes() - desk_.kept_besides() - desk_.library.bytes();
    desk_.library.shrink(std::max<std::int64_t>(memory - expected - std::max(expected, others), 0),
                         {desk_.shown, desk_.ghost, desk_.current});
    desk_.rows_changed = true;
    return t;
}

// The numbers of the simulation's quantities; only what differs is uploaded.
void Runner::load(Built& into, const std::vector<Numbers>& base, const Numbers& parameters) {
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
                                std::function<bool()> leaves, std::int64_t held) {
    keeper_.watch(of.model(), trajectory->world->plan.points, trajectory->arrays, held);
    return [this, trajectory, leaves = std::move(leaves)](std::int64_t done) {
        const World& world = *trajectory->world;
        const std::int64_t step = done / world.substeps;
        const bool whole = done % world.substeps == 0;
        if (whole && (step % trajectory->every == 0 || step == world.steps)) {
            FramePointer frame = keeper_.keep(step);
            const Lock lock(desk_.mutex);
            const std::vector<std::string>& names = keeper_.energies();
            for (std::size_t k = 0; k < names.size(); ++k)
                trajectory->energies[names[k]].push_back(frame->energies[k]);
            trajectory->add(std::move(frame));
            if (!optimising_) {
                desk_.draft.progress =
                    world.steps > 0 ? static_cast<double>(step) / static_cast<double>(world.steps)
                                    : 1;
                desk_.mark();
            }
        }
        return !leaves();
    };
}

void Runner::finish(const TrajectoryPointer& trajectory, Simulation& of, double loss) {
    const World& world = *trajectory->world;
    const auto& found = of.rollout().divergence();  // until it runs again
    const bool diverged = found.has_value();
    const std::int64_t step = diverged ? found->step : 0;
    std::string why;
    if ((diverged || (world.has_objective && !std::isfinite(loss))) && !optimising_)
        why = explain_loss(of);
    else if (diverged)
        why = "the run has diverged: a number is not finite after step " +
              std::to_string(step / world.substeps);
    const Lock lock(desk_.mutex);
    trajectory->complete = true;
    trajectory->loss = world.has_objective ? loss : std::numeric_limits<double>::quiet_NaN();
    trajectory->terms = term_infos(of.terms());
    if (diverged)  // the objective was not reached
        for (TermInfo& term : trajectory->terms)
            term.value = std::numeric_limits<double>::quiet_NaN();
    if (!why.empty())
        desk_.fail(Error(why).remedy("make the time step smaller, or the forces softer"));
    desk_.mark();
}

// ---------------------------------------------------------------- what is missing

void Runner::show_current() {
    const TrajectoryPointer t = new_trajectory(now_.world, -1, base_, values_);
    const Lock lock(desk_.mutex);
    desk_.current = t;
    desk_.mark();
}

bool Runner::run_trajectory(const TrajectoryPointer& wanted, bool as_current) {
    TrajectoryPointer t = wanted;
    if (!t->frames.empty()) {  // begun before, and left: from the start
        t = new_trajectory(wanted->world, wanted->iteration, wanted->base, wanted->parameters);
        t->gradient = wanted->gradient;
        const Lock lock(desk_.mutex);
        if (as_current && desk_.current == wanted) desk_.current = t;
        if (desk_.library.peek(t->iteration) == wanted) desk_.library.put(t->iteration, t);
    }
    {
        const Lock lock(desk_.mutex);
        desk_.growing = t;
    }
    Built& of = built_for(t->world);
    set_activity(Activity::simulating,
                 t->iteration >= 0 ? "running iteration " + std::to_string(t->iteration) + " again"
                                   : "simulating",
                 0);
    load(of, *t->base, t->parameters);
    bool left = false;
    const double loss = of.simulation->run(false, recorder(t, *of.simulation, [&] {
                                               left = leaves_now();
                                               return left;
                                           }));
    const bool complete = !left || t->steps_done() == t->world->steps;
    if (complete) {
        check_rerun(*t, loss);
        finish(t, *of.simulation, loss);
    }
    const Lock lock(desk_.mutex);
    desk_.growing = nullptr;
    desk_.rows_changed = true;
    desk_.mark();
    return true;
}

bool Runner::run_iteration(std::int64_t iteration) {
    TrajectoryPointer t;
    EditionPointer edition;
    {
        const Lock lock(desk_.mutex);
        edition = desk_.edition_of(iteration);
        if (!edition) {
            if (desk_.wanted_iteration == iteration) desk_.wanted_iteration.reset();
            if (desk_.wanted_ghost == iteration) desk_.wanted_ghost.reset();
            desk_.mark();
            return true;
        }
        t = desk_.library.find(iteration);
    }
    if (!t || t->complete) {
        const TrajectoryPointer old = t;
        Numbers parameters, gradient;
        {
            const Lock lock(desk_.mutex);
            const IterationInfo* const row = row_of(iteration);
            if (row == nullptr) return true;  // thinned out meanwhile
            parameters = row->parameters;
            gradient = row->gradient;
        }
        t = new_trajectory(edition->world, iteration, edition->base, parameters);
        t->gradient = gradient;
        const Lock lock(desk_.mutex);
        desk_.library.put(iteration, t);
        if (old && desk_.current == old) desk_.current = t;
    }
    try {
        return run_trajectory(t, false);
    } catch (const Error&) {
        if (t->world != now_.world) forget(iteration);
        throw;
    }
}

void Runner::forget_arrays() {
    frame_kernels_.forget();
    keeper_.let_go();
}

// Whether the look needs arrays that its frames do not hold.
bool Runner::needs_more(const Trajectory& trajectory) {
    const Lock lock(desk_.mutex);
    for (const std::string& name : recorded_arrays(*trajectory.world, desk_.look))
        if (!trajectory.holds(name)) return true;
    return false;
}

// ---------------------------------------------------------------- gradients

bool Runner::wants_gradient(const Trajectory& t) {
    const World& world = *t.world;
    if (!world.has_objective || !world.has_parameters) return false;
    if (t.world == now_.world && now_.gradients_failed) return false;
    if (older_ && t.world == older_->world && older_->gradients_failed) return false;
    if (!t.complete || !std::isfinite(t.loss) || t.gradient_failed) return false;
    const Lock lock(desk_.mutex);
    const std::vector<std::string> wanted = wanted_gradients(world);
    return !t.gradient || (!wanted.empty() && !t.adjoints_complete) ||
           std::ranges::any_of(wanted, [&](const std::string& name) {
               return !is_recorded(world, name) && !t.holds_gradient(name);
           });
}

// Arrays whose derivatives the look shows. Under the desk's lock.
std::vector<std::string> Runner::wanted_gradients(const World& world) const {
    std::vector<std::string> names;
    const auto add = [&](const std::map<std::string, Source>& sources, const std::string& name) {
        const auto found = sources.find(name);
        if (found == sources.end() || found->second.kind != Source::Kind::array_gradient) return;
        if (std::ranges::find(names, found->second.array) == names.end())
            names.push_back(found->second.array);
    };
    add(world.colour_sources, desk_.look.colour);
    add(world.arrow_sources, desk_.look.arrows);
    return names;
}

// Of what is shown, while there is nothing else to do.
bool Runner::run_gradient(const TrajectoryPointer& t) {
    {
        const Lock lock(desk_.mutex);
        desk_.growing = t;
        t->gradient_failed = true;  // unless all goes well
    }
    Built& of = built_for(t->world);
    try {
        plan_gradients(of);
    } catch (const Error& error) {
        of.gradients_failed = true;
        const Lock lock(desk_.mutex);
        desk_.growing = nullptr;
        desk_.say(LogLine::Level::warning, std::string("no gradients: ") + error.what());
        return true;
    }
    set_activity(Activity::simulating, "computing the gradient");
    load(of, *t->base, t->parameters);
    bool left = false;
    of.simulation->run(true, [&](std::int64_t) {
        left = leaves_now();
        return !left;
    });
    std::optional<std::vector<double>> gradient;
    if (!left) gradient = gradient_into(t, *of.simulation);
    const Lock lock(desk_.mutex);
    if (gradient) t->gradient = std::make_shared<const std::vector<double>>(std::move(*gradient));
    t->gradient_failed = false;
    desk_.growing = nullptr;
    desk_.mark();
    return true;
}

// After a run that kept its values: the gradient, and what belongs to it at the frames' steps. None
// if it was left.
std::optional<std::vector<double>> Runner::gradient_into(const TrajectoryPointer& t,
                                                         Simulation& of) {
    const World& world = *t->world;
    Rollout& rollout = of.rollout();
    struct Left {};
    constexpr double most_numbers = 1e9;  // that norms are taken of: about a second
    double numbers = 0;
    for (const auto& [name, published] : of.model().arrays())
        if (published.state) numbers += static_cast<double>(published.array.size());
    rollout.record_adjoint_norms(numbers * static_cast<double>(of.steps()) < most_numbers);
    std::vector<std::string> wanted;
    {
        const Lock lock(desk_.mutex);
        wanted = wanted_gradients(world);
    }
    const bool adjoints = !wanted.empty();
    std::optional<ForceAdjoint> force;
    auto names = std::make_shared<std::vector<std::string>>();
    std::vector<Array> arrays;
    for (const std::string& name : world.recorded) {
        const Array array = of.model().array(name);
        if (!array.has_gradient()) continue;
        names->push_back(name);
        arrays.push_back(array.gradient());
    }
    for (const std::string& name : wanted) {
        if (is_recorded(world, name) || name == "force") continue;
        const Array array = of.model().array(name);
        names->push_back(name);
        arrays.push_back(array.has_gradient() ? array.gradient() : zeros_like(array));
    }
    if (std::ranges::find(wanted, "force") != wanted.end()) {
        force.emplace(of.model());
        names->emplace_back("force");  // last
    }
    rollout.watch_adjoints([&](std::int64_t done) {
        if (leaves_now()) throw Left();
        const std::int64_t step = done / world.substeps;
        const bool whole = done % world.substeps == 0;
        Array of_force;
        if (force) {
            if (whole) of_force = force->take();
            if (done > 0) force->add();
        }
        if (!adjoints || !whole || (step % t->every != 0 && step != world.steps)) return;
        std::vector<Array> all = arrays;
        if (force) all.push_back(of_force);
        FramePointer frame = keeper_.keep(step, names, all);
        const Lock lock(desk_.mutex);
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
    const Lock lock(desk_.mutex);
    t->adjoints_complete |= adjoints;
    t->adjoint_norms.clear();
    if (norms.norms.empty()) return gradient;
    for (const FramePointer& frame : t->frames) {
        const std::int64_t place = frame->step * world.substeps - norms.first;
        const bool known = place >= 0 && place < static_cast<std::int64_t>(norms.norms.size());
        t->adjoint_norms.push_back(known ? norms.norms[static_cast<std::size_t>(place)] : 0.0);
    }
    return gradient;
}

}  // namespace hindcast::session
