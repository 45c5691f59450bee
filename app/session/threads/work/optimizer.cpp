#include "app/session/threads/work/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/sim/non_finite.hpp"

namespace hindcast::session {

namespace {

// "iteration 7 of 30"; a live optimization has no end.
std::string iteration_text(std::int64_t iteration, std::int64_t planned, bool live) {
    return "iteration " + std::to_string(iteration) +
           (live ? "" : " of " + std::to_string(planned));
}

}  // namespace

Optimizer::Optimizer(RunnerState& state, Interrupts& interrupts, History& history,
                     BuiltScenes& scenes, TrajectoryRuns& trajectories, GradientRuns& gradients,
                     Launches& launches)
    : state_(state),
      shared_(state.shared),
      interrupts_(interrupts),
      history_(history),
      scenes_(scenes),
      trajectories_(trajectories),
      gradients_(gradients),
      launches_(launches),
      rows_(state, history),
      optimization_(state),
      live_(state) {}

// ---------------------------------------------------------------- edits and commands

void Optimizer::follow_numbers() {
    const bool rested = state_.rests;
    live_.rest(false);
    if (rested) optimization_.make();
}

SceneOptimization::Carried Optimizer::leave(bool fresh) {
    SceneOptimization::Carried carried;
    if (fresh)
        optimization_.drop();
    else
        carried = optimization_.leave();
    live_.rest(false);
    return carried;
}

void Optimizer::enter(const SceneOptimization::Carried& carried, bool fresh) {
    const bool possible = state_.now.scene->has_objective && state_.now.scene->has_parameters;
    state_.optimizing = state_.optimizing && !fresh && possible;
    if (possible) optimization_.enter(carried);
    rows_.branch_from(-1);
}

void Optimizer::publish_scene(bool fresh) {
    if (fresh) {
        rows_.forget_time();
        live_.turn_off();
    }
    optimization_.publish();
}

void Optimizer::stop() {
    state_.optimizing = false;
    live_.rest(false);
}

void Optimizer::steer(Optimize::What what) {
    using What = Optimize::What;
    live_.rest(false);
    if (what == What::pause) {
        state_.optimizing = false;
        return;
    }
    if (what == What::stop) {
        state_.optimizing = false;
        optimization_.drop();
        const Lock lock(shared_.mutex);
        rows_.branch_from(shared_.history.last_iteration());
        shared_.note_stop("stopped on request", true);
        return;
    }
    if (!optimization_) optimization_.make();
    if (optimization_.has_begun() && optimization_.iteration() >= optimization_->iterations())
        optimization_.lengthen();
    state_.optimizing = true;
    const int one = optimization_.has_begun() ? 1 : 2;  // the first row is before any update
    rows_left_ = what == What::one ? one : -1;
    rows_.begin_slice();
    const Lock lock(shared_.mutex);
    shared_.note_stop("");
    shared_.clear_error();
    optimization_.publish();
    shared_.wanted.iteration.reset();
    shared_.mark_changed();
}

// ---------------------------------------------------------------- rows

std::optional<Ensemble::Result> Optimizer::evaluate(const std::vector<double>& values,
                                                    bool gradient) {
    const TrajectoryPointer t = trajectories_.make(
        state_.now.scene, -1, state_.base, std::make_shared<const std::vector<double>>(values));
    {
        const Lock lock(shared_.mutex);
        shared_.growing = t;
    }
    state_.now.simulation->parameters().set_values(values);
    bool left = false;
    Ensemble::Result result;
    result.loss =
        state_.now.simulation->run(gradient, trajectories_.recorder(t, *state_.now.simulation, [&] {
            left = interrupts_.stops_run();
            return left;
        }));
    if (left) return std::nullopt;
    trajectories_.finish(t, *state_.now.simulation, result.loss);
    result.terms = state_.now.simulation->terms();
    if (gradient && std::isfinite(result.loss)) {
        std::optional<std::vector<double>> computed = gradients_.compute(t, *state_.now.simulation);
        if (!computed) return std::nullopt;
        result.gradient = std::move(*computed);
    }
    rows_.note_run(t);
    return result;
}

// 0 .. 1; -1: unknown. `of_none`: the progress if no iterations are planned.
double Optimizer::progress_at(std::int64_t iteration, double of_none) {
    if (live_.is_on()) return -1;
    const std::int64_t planned = optimization_->iterations();
    return planned > 0 ? static_cast<double>(iteration) / static_cast<double>(planned) : of_none;
}

bool Optimizer::add_row(const Optimization::Row& row) {
    optimization_.note_row(row.iteration);
    state_.values = std::make_shared<const std::vector<double>>(row.parameters);
    const SceneRevisionPointer revision = history_.revision();
    Lock lock(shared_.mutex);
    rows_.write(row, revision);
    state_.note_unaccepted();
    shared_.growing = nullptr;
    shared_.history.changed = true;
    state_.activity.advance(
        progress_at(row.iteration, 1),
        iteration_text(row.iteration, optimization_->iterations(), live_.is_on()));
    lock.unlock();
    scenes_.drop_unused_older();
    launches_.publish_times();
    if (rows_left_ > 0) --rows_left_;
    if (rows_left_ == 0) return false;
    if (live_.is_on() && live_.at_minimum(row.loss)) return false;
    wait_for_next_row();
    return !interrupts_.stops_row() && !looks_elsewhere();
}

void Optimizer::wait_for_next_row() {
    if (live_.has_rate()) {
        const Clock::time_point due = live_.next_row();
        while (Clock::now() < due && !interrupts_.stops_row() && !looks_elsewhere()) {
            Lock lock(shared_.mutex);
            shared_.runner_wakes.wait_until(lock, due, [&] {
                return shared_.ends || interrupts_.has_requests() || shared_.frame_requests.job;
            });
        }
    }
    live_.note_row();
}

bool Optimizer::looks_elsewhere() const {
    const Lock lock(shared_.mutex);
    const auto missing = [&](const std::optional<std::int64_t>& iteration) {
        if (!iteration) return false;
        const TrajectoryPointer t = shared_.trajectories.peek(*iteration);
        return !t || (!t->complete && !t->failed);
    };
    return missing(shared_.wanted.iteration) ||
           (shared_.draft.optimization.ghost_problem.empty() && missing(shared_.wanted.ghost));
}

void Optimizer::run() {
    state_.load();
    const std::int64_t begin = optimization_.has_begun() ? optimization_.iteration() : 0;
    const std::int64_t planned = optimization_->iterations();
    state_.activity.set(Activity::optimizing, iteration_text(begin, planned, live_.is_on()),
                        progress_at(begin, -1));
    optimization_->set_evaluator([this](const std::vector<double>& values, bool gradient) {
        return evaluate(values, gradient);
    });
    optimization_->set_interrupt([this] { return interrupts_.stops_run(); });
    rows_.begin_slice();
    const Optimization::Outcome outcome =
        optimization_->run([this](const Optimization::Row& row) { return add_row(row); });
    rows_.end_slice();
    state_.values = std::make_shared<const std::vector<double>>(optimization_->values());
    state_.now.simulation->parameters().set_values(*state_.values);
    end(outcome);
}

void Optimizer::end(const Optimization::Outcome& outcome) {
    using Stop = Optimization::Stop;
    const bool minimum = live_.is_on() && !live_.end().empty();
    if (outcome.stop == Stop::stopped && !minimum) {
        if (rows_left_ == 0) state_.optimizing = false;
        return;
    }
    if (live_.is_on() && outcome.stop == Stop::iterations) {
        optimization_.lengthen();
        const Lock lock(shared_.mutex);
        optimization_.publish();
        shared_.mark_changed();
        return;
    }
    const bool waits = live_.is_on() && outcome.stop != Stop::not_finite;
    if (waits)
        live_.rest(true);
    else
        state_.optimizing = false;
    std::string reason = minimum ? live_.end() : outcome.reason;
    const TrajectoryPointer last = rows_.last_run();
    if (outcome.stop == Stop::not_finite && last) {
        state_.now.simulation->parameters().set_values(*last->parameters);
        reason = std::isfinite(last->loss)
                     ? explain_gradient(*state_.now.simulation, outcome.last.gradient)
                     : explain_loss(*state_.now.simulation);
        const Lock lock(shared_.mutex);
        if (!shared_.history.rows.empty()) state_.values = shared_.history.rows.back().parameters;
        shared_.fail(Error(reason).remedy(
            optimization_.has_begun() ? "use a smaller rate, or bounds"
                                      : "make the time step smaller, or the forces softer"));
    }
    const Lock lock(shared_.mutex);
    state_.note_unaccepted();
    shared_.growing = nullptr;
    shared_.note_stop(
        reason, minimum || outcome.stop == Stop::converged || outcome.stop == Stop::iterations);
    if (!waits) shared_.log(LogLine::Level::information, "the optimization has ended: " + reason);
}

// ---------------------------------------------------------------- branches

void Optimizer::branch(const Branch& command) {
    const std::int64_t iteration = command.iteration;
    {
        const Lock lock(shared_.mutex);
        const IterationInfo* const row = shared_.history.row_of(iteration);
        if (row == nullptr)
            throw Error("there is no iteration " + std::to_string(iteration) + " to branch from");
        const SceneRevisionPointer revision = shared_.history.revision_of(iteration);
        if (!revision)
            throw Error("the scene of iteration " + std::to_string(iteration) +
                        " is not in memory any more: there is nothing to go back to")
                .remedy("undo the edits since, or give the view more memory for frames");
        if (revision->scene != state_.now.scene) {
            if (command.number == 0)
                throw Error("iteration " + std::to_string(iteration) +
                            " belongs to the scene before an edit, which is not what runs")
                    .remedy("take back the edits since, and branch then");
            shared_.answer(revision->document, command.number,
                           "Branch from iteration " + std::to_string(iteration));
            return;
        }
        state_.values = row->parameters;
        shared_.wanted.iteration.reset();
        // Shown at once, if its frames are kept and it was run with the present numbers.
        const TrajectoryPointer kept = shared_.trajectories.find(iteration);
        if (kept && kept->base == state_.base) shared_.current = kept;
    }
    bool shown = false;
    {
        const Lock lock(shared_.mutex);
        shown = shared_.current && shared_.current->iteration == iteration;
    }
    rows_.branch_from(iteration);
    optimization_.make();
    if (!shown) trajectories_.show_current();
}

void Optimizer::revert() {
    stop();
    state_.values = state_.written;
    optimization_.drop();
    rows_.branch_from(-1);
    {
        const Lock lock(shared_.mutex);
        shared_.note_stop("");
        shared_.mark_changed();
    }
    trajectories_.show_current();
}

void Optimizer::reset() {
    stop();
    rows_.branch_from(-1);
    state_.values = state_.written;
    optimization_.make_again();
    {
        const Lock lock(shared_.mutex);
        shared_.note_stop("");
        shared_.clear_error();
        if (optimization_) optimization_.publish();
        shared_.mark_changed();
    }
    trajectories_.show_current();
}

}  // namespace hindcast::session
