// Trajectories and gradients.
#include <algorithm>
#include <cmath>

#include "app/session/force_adjoint.hpp"
#include "app/session/runner.hpp"
#include "engine/sim/non_finite.hpp"

namespace hindcast::session {

namespace {

constexpr std::int64_t most_frames = 600;

std::vector<TermInfo> infos(const std::vector<Simulation::TermValue>& terms) {
    std::vector<TermInfo> list;
    for (const Simulation::TermValue& t : terms) list.push_back({t.name, t.weight, t.value});
    return list;
}

}  // namespace

// What frames hold: what is always drawn, and what this look needs besides.
std::vector<std::string> Runner::recorded_arrays(const Look& look) const {
    std::vector<std::string> names = world_->recorded;
    const auto add = [&](const std::map<std::string, Source>& sources, const std::string& name) {
        const auto found = sources.find(name);
        if (found == sources.end() || found->second.kind != Source::Kind::array) return;
        if (std::find(names.begin(), names.end(), found->second.array) == names.end())
            names.push_back(found->second.array);
    };
    add(world_->colour_sources, look.colour);
    add(world_->arrow_sources, look.arrows);
    return names;
}

TrajectoryPointer Runner::new_trajectory(std::int64_t iteration,
                                         std::shared_ptr<const std::vector<Numbers>> base,
                                         Numbers parameters) {
    auto t = std::make_shared<Trajectory>();
    t->world = world_;
    t->iteration = iteration;
    t->base = std::move(base);
    t->parameters = std::move(parameters);
    const Lock lock(desk_.mutex);
    t->arrays = std::make_shared<const std::vector<std::string>>(recorded_arrays(desk_.look));
    std::int64_t frame = 0;
    for (const std::string& name : *t->arrays) frame += world_->array_bytes.at(name);
    if (world_->has_objective && world_->has_parameters)  // room for adjoints
        for (const std::string& name : world_->recorded) frame += world_->array_bytes.at(name);
    if (world_->arrow_sources.contains("force gradient"))
        frame += world_->array_bytes.at("position");
    // At least four trajectories fit: shown, ghost, the one that grows, and one more.
    const std::int64_t share = options_.frame_memory / 4;
    const std::int64_t fitting =
        std::clamp<std::int64_t>(share / std::max<std::int64_t>(frame, 1) - 2, 1, most_frames);
    t->every = std::max<std::int64_t>((world_->steps + fitting - 1) / fitting, 1);
    const std::int64_t expected = frame * (world_->steps / t->every + 2);
    desk_.library.shrink(std::max<std::int64_t>(options_.frame_memory - 2 * expected, 0),
                         {desk_.shown, desk_.ghost, desk_.current});
    desk_.rows_changed = true;
    return t;
}

// The numbers of the simulation's quantities; only what differs is uploaded.
void Runner::load(const std::vector<Numbers>& base, const Numbers& parameters) {
    std::size_t k = 0;
    for (const auto& [path, q] : simulation_->model().quantities()) {
        if (loaded_[k] != base[k]) {
            q->values = *base[k];
            q->upload();
            loaded_[k] = base[k];
        }
        ++k;
    }
    if (parameters && simulation_->parameters().values() != *parameters)
        simulation_->parameters().set_values(*parameters);
}

// Keeps frames of the run that it watches.
Rollout::Watch Runner::recorder(const TrajectoryPointer& trajectory, Simulation& of,
                                std::function<bool()> leaves, std::int64_t held) {
    keeper_.watch(of.model(), world_->plan.points, trajectory->arrays, held);
    return [this, trajectory, leaves = std::move(leaves)](std::int64_t done) {
        const std::int64_t step = done / world_->substeps;
        const bool whole = done % world_->substeps == 0;
        if (whole && (step % trajectory->every == 0 || step == world_->steps)) {
            FramePointer frame = keeper_.keep(step);
            const Lock lock(desk_.mutex);
            if (keeper_.has_energy()) trajectory->kinetic_energy.push_back(frame->kinetic_energy);
            trajectory->add(std::move(frame));
            if (!optimising_) {
                desk_.draft.progress = world_->steps > 0 ? static_cast<double>(step) /
                                                               static_cast<double>(world_->steps)
                                                         : 1;
                desk_.mark();
            }
        }
        return !leaves();
    };
}

void Runner::finish(const TrajectoryPointer& trajectory, double loss) {
    const auto divergence = simulation_->rollout().divergence();
    std::string why;
    if (world_->has_objective && !std::isfinite(loss) && !optimising_)
        why = explain_loss(*simulation_);
    else if (divergence)
        why = "the run has diverged: a number is not finite after step " +
              std::to_string(divergence->step / world_->substeps);
    const Lock lock(desk_.mutex);
    trajectory->complete = true;
    trajectory->loss = world_->has_objective ? loss : std::numeric_limits<double>::quiet_NaN();
    trajectory->terms = infos(simulation_->terms());
    if (!why.empty())
        desk_.fail(Error(why).remedy("make the time step smaller, or the forces softer"));
    desk_.mark();
}

// ---------------------------------------------------------------- what is missing

void Runner::show_current() {
    const TrajectoryPointer t = new_trajectory(-1, base_, values_);
    const Lock lock(desk_.mutex);
    desk_.current = t;
    desk_.mark();
}

bool Runner::run_trajectory(const TrajectoryPointer& wanted, bool as_current) {
    TrajectoryPointer t = wanted;
    if (!t->frames.empty()) {  // begun before, and left: from the start
        t = new_trajectory(wanted->iteration, wanted->base, wanted->parameters);
        t->gradient = wanted->gradient;
        const Lock lock(desk_.mutex);
        if (as_current && desk_.current == wanted) desk_.current = t;
        if (desk_.library.peek(t->iteration) == wanted) desk_.library.put(t->iteration, t);
    }
    {
        const Lock lock(desk_.mutex);
        desk_.growing = t;
    }
    set_activity(Activity::simulating,
                 t->iteration >= 0 ? "running iteration " + std::to_string(t->iteration) + " again"
                                   : "simulating",
                 0);
    load(*t->base, t->parameters);
    bool left = false;
    const double loss = simulation_->run(false, recorder(t, *simulation_, [&] {
                                             left = leaves_now();
                                             return left;
                                         }));
    const bool complete = !left || t->steps_done() == world_->steps;
    if (complete) finish(t, loss);
    const Lock lock(desk_.mutex);
    desk_.growing = nullptr;
    desk_.rows_changed = true;
    desk_.mark();
    return true;
}

bool Runner::run_iteration(std::int64_t iteration) {
    TrajectoryPointer t;
    {
        const Lock lock(desk_.mutex);
        const IterationInfo* const row = row_of(iteration);
        if (row == nullptr || !row->can_show) {
            if (desk_.wanted_iteration == iteration) desk_.wanted_iteration.reset();
            if (desk_.wanted_ghost == iteration) desk_.wanted_ghost.reset();
            desk_.mark();
            return true;
        }
        t = desk_.library.find(iteration);
    }
    if (!t || t->complete) {
        const auto index = static_cast<std::size_t>(iteration);
        const TrajectoryPointer old = t;
        Numbers parameters, gradient;
        {
            const Lock lock(desk_.mutex);
            parameters = desk_.rows[index].parameters;
            gradient = desk_.rows[index].gradient;
        }
        t = new_trajectory(iteration, extras_[index].base, parameters);
        t->gradient = gradient;
        const Lock lock(desk_.mutex);
        desk_.library.put(iteration, t);
        if (old && desk_.current == old) desk_.current = t;
    }
    return run_trajectory(t, false);
}

// Whether the look needs arrays that its frames do not hold.
bool Runner::needs_more(const Trajectory& trajectory) {
    const Lock lock(desk_.mutex);
    for (const std::string& name : recorded_arrays(desk_.look))
        if (!trajectory.holds(name)) return true;
    return false;
}

// ---------------------------------------------------------------- gradients

bool Runner::wants_gradient(const Trajectory& t) {
    if (!world_->has_objective || !world_->has_parameters || gradients_failed_) return false;
    if (!t.complete || !std::isfinite(t.loss) || t.gradient_failed) return false;
    const Lock lock(desk_.mutex);
    return !t.gradient || (wants_adjoints() && !t.adjoints_complete) ||
           (wants_force_adjoint() && !t.holds_gradient("force"));
}

// Whether the look shows derivatives with respect to the state. Under the desk's lock.
bool Runner::wants_adjoints() const {
    const auto wants = [](const std::map<std::string, Source>& sources, const std::string& name) {
        const auto found = sources.find(name);
        return found != sources.end() && found->second.kind == Source::Kind::array_gradient;
    };
    return wants(world_->colour_sources, desk_.look.colour) ||
           wants(world_->arrow_sources, desk_.look.arrows);
}

// The derivatives with respect to forces among them take sums over the substeps.
bool Runner::wants_force_adjoint() const {
    const auto wants = [](const std::map<std::string, Source>& sources, const std::string& name) {
        const auto found = sources.find(name);
        return found != sources.end() && found->second.kind == Source::Kind::array_gradient &&
               found->second.array == "force";
    };
    return wants(world_->colour_sources, desk_.look.colour) ||
           wants(world_->arrow_sources, desk_.look.arrows);
}

// Of what is shown, while there is nothing else to do.
bool Runner::run_gradient(const TrajectoryPointer& t) {
    {
        const Lock lock(desk_.mutex);
        desk_.growing = t;
        t->gradient_failed = true;  // unless all goes well
    }
    try {
        plan_gradients();
    } catch (const Error& error) {
        gradients_failed_ = true;
        const Lock lock(desk_.mutex);
        desk_.growing = nullptr;
        desk_.say(LogLine::Level::warning, std::string("no gradients: ") + error.what());
        return true;
    }
    set_activity(Activity::simulating, "computing the gradient");
    load(*t->base, t->parameters);
    bool left = false;
    simulation_->run(true, [&](std::int64_t) {
        left = leaves_now();
        return !left;
    });
    std::optional<std::vector<double>> gradient;
    if (!left) gradient = gradient_into(t);
    const Lock lock(desk_.mutex);
    if (gradient) t->gradient = std::make_shared<const std::vector<double>>(std::move(*gradient));
    t->gradient_failed = false;
    desk_.growing = nullptr;
    desk_.mark();
    return true;
}

// After a run that kept its values: the gradient, and what belongs to it at the frames' steps. None
// if it was left.
std::optional<std::vector<double>> Runner::gradient_into(const TrajectoryPointer& t) {
    Rollout& rollout = simulation_->rollout();
    struct Left {};
    constexpr double most_numbers = 1e9;  // that norms are taken of: about a second
    double numbers = 0;
    for (const auto& [name, published] : simulation_->model().arrays())
        if (published.state) numbers += static_cast<double>(published.array.size());
    rollout.record_adjoint_norms(numbers * static_cast<double>(simulation_->steps()) <
                                 most_numbers);
    bool adjoints = false;
    std::optional<ForceAdjoint> force;
    {
        const Lock lock(desk_.mutex);
        adjoints = wants_adjoints();
        if (wants_force_adjoint()) force.emplace(simulation_->model());
    }
    auto names = std::make_shared<std::vector<std::string>>();
    std::vector<Array> arrays;
    for (const std::string& name : world_->recorded) {
        const Array array = simulation_->model().array(name);
        if (!array.has_gradient()) continue;
        names->push_back(name);
        arrays.push_back(array.gradient());
    }
    if (force) names->emplace_back("force");
    rollout.watch_adjoints([&](std::int64_t done) {
        if (leaves_now()) throw Left();
        const std::int64_t step = done / world_->substeps;
        const bool whole = done % world_->substeps == 0;
        Array of_force;
        if (force) {
            if (whole) of_force = force->take();
            if (done > 0) force->add();
        }
        if (!adjoints || !whole || (step % t->every != 0 && step != world_->steps)) return;
        std::vector<Array> all = arrays;
        if (force) all.push_back(of_force);
        FramePointer frame = keeper_.keep(step, names, all);
        const Lock lock(desk_.mutex);
        t->add_adjoint(std::move(frame));
    });
    struct Unwatch {
        Rollout& of;
        ~Unwatch() { of.watch_adjoints({}); }
    } const unwatch{rollout};
    std::vector<double> gradient;
    try {
        gradient = simulation_->gradient();
    } catch (const Left&) {
        return std::nullopt;
    }
    const Rollout::AdjointNorms& norms = simulation_->rollout().adjoint_norms();
    const Lock lock(desk_.mutex);
    t->adjoints_complete |= adjoints;
    t->adjoint_norms.clear();
    if (norms.norms.empty()) return gradient;
    for (const FramePointer& frame : t->frames) {
        const std::int64_t place = frame->step * world_->substeps - norms.first;
        const bool known = place >= 0 && place < static_cast<std::int64_t>(norms.norms.size());
        t->adjoint_norms.push_back(known ? norms.norms[static_cast<std::size_t>(place)] : 0.0);
    }
    return gradient;
}

}  // namespace hindcast::session
