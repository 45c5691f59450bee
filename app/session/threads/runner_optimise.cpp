// Rows, branches, accepting. The optimisation runs in slices: a row that an edit or a pause ends is
// followed by another Optimization::run(), which goes on from the parameters as they then stand.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/session/threads/runner.hpp"
#include "engine/sim/non_finite.hpp"

namespace hindcast::session {

namespace {

// Live, a rule that would go on for ever rests after so many rows that have not lowered the loss by
// this part, or where the loss is this part of what it was: less cannot be seen in the picture.
constexpr std::int64_t rows_without_progress = 50;
constexpr double least_progress = 1e-6, least_loss = 1e-12;

constexpr std::int64_t share_of_rows = 8;  // what rows hold may take that part

std::int64_t bytes_of(const SharedValues& numbers) {
    return numbers ? static_cast<std::int64_t>(numbers->size() * sizeof(double)) : 0;
}

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

const IterationInfo* Runner::row_of(std::int64_t iteration) const {
    const std::optional<std::size_t> index = shared_.index_of(iteration);
    return index ? &shared_.rows[*index] : nullptr;
}

void Runner::make_optimisation() {
    now_.simulation->parameters().set_values(*values_);
    optimization_ = std::make_unique<Optimization>(*now_.simulation);
    began_ = false;
    const Lock lock(shared_.mutex);
    shared_.draft.optimiser = optimization_->describe();
    shared_.draft.iterations_planned = optimization_->iterations();
}

// By as many iterations as the scene has.
void Runner::lengthen() {
    const std::int64_t more =
        std::max<std::int64_t>(Optimization(*now_.simulation).iterations(), 1);
    auto longer = std::make_unique<Optimization>(*now_.simulation, iteration_ + more);
    longer->restore(optimization_->state());
    optimization_ = std::move(longer);
}

void Runner::set_live(const Live& live) {
    live_ = live;
    live_.rate = std::isfinite(live.rate) ? std::max(live.rate, 0.0) : 0;
    if (!live_.on && rests_) {
        rest(false);
        optimising_ = false;
    }
    const Lock lock(shared_.mutex);
    shared_.draft.live = live_;
    shared_.mark_changed();
}

bool Runner::at_minimum(double loss) {
    LiveProgress& p = live_progress_;
    p.greatest = std::max(p.greatest, std::fabs(loss));
    if (p.rows == 0 || loss < p.mark - least_progress * std::fabs(p.mark)) {
        p.mark = loss;
        p.rows = 1;
    } else if (p.rows++ == rows_without_progress) {
        p.end = "at a minimum: " + std::to_string(rows_without_progress) +
                " iterations have not lowered the loss";
    }
    if (std::fabs(loss) <= least_loss * p.greatest)
        p.end = "at a minimum: almost nothing is left of the loss";
    return !p.end.empty();
}

void Runner::rest(bool on) {
    rests_ = on;
    if (!on) live_progress_ = {};
    const Lock lock(shared_.mutex);
    if (shared_.draft.live_waits == on) return;
    shared_.draft.live_waits = on;
    if (!on) shared_.draft.stop_reason.clear();
    shared_.mark_changed();
}

// After an edit: one that rests begins anew, with another loss to come to the minimum of.
void Runner::go_on() {
    const bool rested = rests_;
    rest(false);
    if (rested) make_optimisation();
}

// With a rate: until the next row is due, or something else is asked for.
void Runner::wait_for_next_row() {
    if (live_.on && live_.rate > 0) {
        const auto due = last_row_ + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(1 / live_.rate));
        while (Clock::now() < due && interrupt() == Interrupt::none && !looks_elsewhere()) {
            Lock lock(shared_.mutex);
            shared_.runner_wakes.wait_until(lock, due, [&] {
                return shared_.ends || shared_.runner_wakeups != seen_ || shared_.job;
            });
        }
    }
    last_row_ = Clock::now();
}

void Runner::steer(Optimise::What what) {
    using What = Optimise::What;
    rest(false);
    if (what == What::pause) {
        optimising_ = false;
        return;
    }
    if (what == What::stop) {
        optimising_ = false;
        began_ = false;
        optimization_.reset();
        const Lock lock(shared_.mutex);
        branched_from_ = shared_.last_iteration();
        shared_.draft.stop_reason = "stopped on request";
        shared_.draft.stopped_well = true;
        shared_.mark_changed();
        return;
    }
    if (!optimization_) make_optimisation();  // throws where there is nothing to optimise
    // All its iterations are done: as many once more.
    if (began_ && iteration_ >= optimization_->iterations()) lengthen();
    optimising_ = true;
    rows_left_ = what == What::one ? (began_ ? 1 : 2) : -1;  // the first row is before any update
    optimising_since_ = Clock::now();
    const Lock lock(shared_.mutex);
    shared_.draft.stop_reason.clear();
    shared_.draft.error = nullptr;
    shared_.draft.iterations_planned = optimization_->iterations();
    shared_.wanted_iteration.reset();
    shared_.mark_changed();
}

// One roll-out of the optimisation, whose frames are kept.
std::optional<Ensemble::Result> Runner::evaluate(const std::vector<double>& values, bool gradient) {
    const TrajectoryPointer t =
        new_trajectory(now_.scene, -1, base_, std::make_shared<const std::vector<double>>(values));
    {
        const Lock lock(shared_.mutex);
        shared_.growing = t;
    }
    now_.simulation->parameters().set_values(values);
    bool left = false;
    Ensemble::Result result;
    result.loss = now_.simulation->run(gradient, recorder(t, *now_.simulation, [&] {
                                           left = interrupted();
                                           return left;
                                       }));
    if (left) return std::nullopt;
    finish(t, *now_.simulation, result.loss);
    result.terms = now_.simulation->terms();
    if (gradient && std::isfinite(result.loss)) {
        std::optional<std::vector<double>> computed = gradient_into(t, *now_.simulation);
        if (!computed) return std::nullopt;
        result.gradient = std::move(*computed);
    }
    last_ = t;
    return result;
}

// "iteration 7 of 30"; live there is no end.
std::string Runner::iteration_text(std::int64_t iteration) const {
    std::string text = "iteration " + std::to_string(iteration);
    if (!live_.on) text += " of " + std::to_string(optimization_->iterations());
    return text;
}

double Runner::progress_at(std::int64_t iteration, double of_none) const {
    if (live_.on) return -1;
    const std::int64_t planned = optimization_->iterations();
    return planned > 0 ? static_cast<double>(iteration) / static_cast<double>(planned) : of_none;
}

bool Runner::add_row(const Optimization::Row& row) {
    began_ = true;
    iteration_ = row.iteration;
    auto parameters = std::make_shared<const std::vector<double>>(row.parameters);
    auto gradient = std::make_shared<const std::vector<double>>(row.gradient);
    values_ = parameters;
    const SceneRevisionPointer of = scene_revision();
    Lock lock(shared_.mutex);
    // The first row of a branch is the row that it started from.
    const IterationInfo* const from = branched_from_ >= 0 ? row_of(branched_from_) : nullptr;
    const bool repeated = from != nullptr && row.iteration == 0 && from->loss == row.loss &&
                          from->parameters && *from->parameters == row.parameters;
    if (!repeated) {
        IterationInfo info;
        info.iteration = shared_.last_iteration() + 1;
        info.branched_from = branched_from_;
        info.loss = row.loss;
        info.gradient_norm = row.gradient_norm;
        info.seconds = optimised_seconds_ + since(optimising_since_);
        info.terms = term_infos(row.terms);
        info.parameters = parameters;
        info.gradient = gradient;
        info.build = now_.scene->build;
        branched_from_ = -1;
        if (last_ && *last_->parameters == row.parameters) {
            last_->iteration = info.iteration;
            last_->parameters = parameters;
            last_->gradient = gradient;
            shared_.current = last_;
            shared_.trajectories.put(info.iteration, last_);
        }
        info.epoch = epoch_;
        note_best(info);
        shared_.draft.iteration_bytes += bytes_of(parameters) + bytes_of(gradient);
        shared_.rows.push_back(std::move(info));
        shared_.scene_revisions.push_back(of);
        thin_rows();
        bound_rows();
    }
    note_unaccepted();
    shared_.growing = nullptr;
    shared_.rows_changed = true;
    shared_.draft.activity_text = iteration_text(row.iteration);
    shared_.draft.progress = progress_at(row.iteration, 1);
    shared_.mark_changed();
    lock.unlock();
    drop_unused_older();
    if (profiling_) publish_launches();
    if (rows_left_ > 0) --rows_left_;
    if (rows_left_ == 0) return false;
    if (live_.on && at_minimum(row.loss)) return false;
    wait_for_next_row();
    if (interrupt() != Interrupt::none) return false;
    return !looks_elsewhere();
}

// Rows that stay whatever is thinned out: what the user looks at. Under the shared lock.
bool Runner::is_looked_at(std::int64_t iteration) const {
    return iteration == shared_.draft.best_iteration || iteration == shared_.wanted_iteration ||
           iteration == shared_.wanted_ghost ||
           (shared_.shown && shared_.shown->iteration == iteration);
}

// There are at most so many rows: then every second one goes, so that what is long ago is the
// coarser the longer it is. The first and the best of each epoch stay, and the last of all. Under
// the shared lock.
void Runner::thin_rows() {
    std::vector<IterationInfo>& rows = shared_.rows;
    if (static_cast<std::int64_t>(rows.size()) <= options_.most_iterations) return;
    std::map<std::int64_t, std::pair<double, std::int64_t>> best;  // loss, iteration; by epoch
    for (const IterationInfo& row : rows) {
        const auto [at, first] = best.try_emplace(row.epoch, row.loss, row.iteration);
        if (!first && std::isfinite(row.loss) && !(at->second.first <= row.loss))
            at->second = {row.loss, row.iteration};
    }
    std::size_t kept = 0;
    bool goes = false;
    std::int64_t epoch = -1;  // of the row before
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const bool stays =
            rows[k].epoch != std::exchange(epoch, rows[k].epoch) || k + 1 == rows.size() ||
            best.at(rows[k].epoch).second == rows[k].iteration || is_looked_at(rows[k].iteration);
        if (!stays) goes = !goes;
        if (!stays && goes) {
            shared_.draft.iteration_bytes -=
                bytes_of(rows[k].parameters) + bytes_of(rows[k].gradient);
            shared_.trajectories.erase(rows[k].iteration);
            continue;
        }
        if (kept != k) {
            rows[kept] = std::move(rows[k]);
            shared_.scene_revisions[kept] = std::move(shared_.scene_revisions[k]);
        }
        ++kept;
    }
    rows.resize(kept);
    shared_.scene_revisions.resize(kept);
}

// Parameters and gradients of rows may take a part of the memory of frames. What goes first are the
// gradients of the older half, which are computed again for a row that is shown; then the
// parameters of every second row, which then cannot be shown any more. Never of the first, the best
// and the last row, and those that the user looks at. Under the shared lock.
void Runner::bound_rows() {
    const std::int64_t most = options_.frame_memory / share_of_rows;
    std::int64_t& bytes = shared_.draft.iteration_bytes;
    const std::size_t count = shared_.rows.size();
    const auto release = [&](SharedValues& numbers) {
        bytes -= bytes_of(numbers);
        numbers = nullptr;
    };
    for (std::size_t k = 0; bytes > most && k < count / 2; ++k) release(shared_.rows[k].gradient);
    if (bytes <= most) return;
    bool goes = false;
    for (std::size_t k = 1; k + 1 < count; ++k) {
        IterationInfo& row = shared_.rows[k];
        if (!row.parameters || is_looked_at(row.iteration)) continue;
        goes = !goes;
        if (!goes) continue;
        release(row.parameters);
        release(row.gradient);
        row.can_show = false;
        row.frames_kept = false;
        shared_.scene_revisions[k] = nullptr;
        shared_.trajectories.erase(row.iteration);
    }
    shared_.rows_changed = true;
}

// Whether the user wants to see something that must be run first: done between two rows.
bool Runner::looks_elsewhere() {
    const Lock lock(shared_.mutex);
    const auto missing = [&](const std::optional<std::int64_t>& iteration) {
        if (!iteration) return false;
        const TrajectoryPointer t = shared_.trajectories.peek(*iteration);
        return !t || (!t->complete && !t->failed);
    };
    return missing(shared_.wanted_iteration) ||
           (shared_.draft.ghost_problem.empty() && missing(shared_.wanted_ghost));
}

void Runner::optimise() {
    plan_gradients(now_);
    while (looks_elsewhere()) {
        optimising_ = false;  // so that commands act at once
        const bool busy = do_missing();
        optimising_ = true;
        if (!busy || interrupt() != Interrupt::none) break;
    }
    if (interrupt() != Interrupt::none) return;
    load(now_, *base_, values_);
    const std::int64_t begin = began_ ? iteration_ : 0;
    set_activity(Activity::optimising, iteration_text(begin), progress_at(begin, -1));
    optimization_->set_evaluator([this](const std::vector<double>& values, bool gradient) {
        return evaluate(values, gradient);
    });
    optimization_->set_interrupt([this] { return interrupted(); });
    const Clock::time_point begun = Clock::now();
    optimising_since_ = begun;
    const Optimization::Outcome outcome =
        optimization_->run([this](const Optimization::Row& row) { return add_row(row); });
    optimised_seconds_ += since(begun);
    values_ = std::make_shared<const std::vector<double>>(optimization_->values());
    now_.simulation->parameters().set_values(*values_);
    using Stop = Optimization::Stop;
    const bool minimum = live_.on && !live_progress_.end.empty();
    if (outcome.stop == Stop::stopped && !minimum) {
        if (rows_left_ == 0) optimising_ = false;
        return;
    }
    if (live_.on && outcome.stop == Stop::iterations) {
        lengthen();
        const Lock lock(shared_.mutex);
        shared_.draft.iterations_planned = optimization_->iterations();
        shared_.mark_changed();
        return;
    }
    const bool waits = live_.on && outcome.stop != Stop::not_finite;
    if (waits)
        rest(true);
    else
        optimising_ = false;
    std::string reason = minimum ? live_progress_.end : outcome.reason;
    if (outcome.stop == Stop::not_finite && last_) {
        now_.simulation->parameters().set_values(*last_->parameters);
        reason = std::isfinite(last_->loss)
                     ? explain_gradient(*now_.simulation, outcome.last.gradient)
                     : explain_loss(*now_.simulation);
        const Lock lock(shared_.mutex);
        if (!shared_.rows.empty()) values_ = shared_.rows.back().parameters;
        shared_.fail(
            Error(reason).remedy(began_ ? "use a smaller rate, or bounds"
                                        : "make the time step smaller, or the forces softer"));
    }
    const Lock lock(shared_.mutex);
    note_unaccepted();
    shared_.growing = nullptr;
    shared_.draft.stop_reason = reason;
    shared_.draft.stopped_well =
        minimum || outcome.stop == Stop::converged || outcome.stop == Stop::iterations;
    if (!waits) shared_.log(LogLine::Level::information, "the optimisation has ended: " + reason);
}

void Runner::branch(const Branch& command) {
    const std::int64_t iteration = command.iteration;
    {
        const Lock lock(shared_.mutex);
        const IterationInfo* const row = row_of(iteration);
        if (row == nullptr)
            throw Error("there is no iteration " + std::to_string(iteration) + " to branch from");
        const SceneRevisionPointer scene_revision = shared_.scene_revision_of(iteration);
        if (!scene_revision)
            throw Error("the scene of iteration " + std::to_string(iteration) +
                        " is not in memory any more: there is nothing to go back to")
                .remedy("undo the edits since, or give the view more memory for frames");
        if (scene_revision->scene != now_.scene) {
            if (command.number == 0)
                throw Error("iteration " + std::to_string(iteration) +
                            " belongs to the scene before an edit, which is not what runs")
                    .remedy("take back the edits since, and branch then");
            shared_.draft.answer = scene_revision->document;
            shared_.draft.answer_to = command.number;
            shared_.draft.answer_name = "Branch from iteration " + std::to_string(iteration);
            shared_.mark_changed();
            return;
        }
        values_ = row->parameters;
        shared_.wanted_iteration.reset();
        // Seen at once, if its frames are there and it is of the scene as it is now.
        const TrajectoryPointer kept = shared_.trajectories.find(iteration);
        if (kept && kept->base == base_) shared_.current = kept;
    }
    bool shown = false;
    {
        const Lock lock(shared_.mutex);
        shown = shared_.current && shared_.current->iteration == iteration;
    }
    branched_from_ = iteration;
    make_optimisation();
    if (!shown) show_current();
}

void Runner::revert() {
    optimising_ = false;
    rest(false);
    values_ = written_;
    began_ = false;
    optimization_.reset();
    branched_from_ = -1;
    {
        const Lock lock(shared_.mutex);
        shared_.draft.stop_reason.clear();
        shared_.mark_changed();
    }
    show_current();
}

void Runner::note_unaccepted() {
    const bool unaccepted = values_ && written_ && *values_ != *written_;
    if (shared_.draft.unaccepted == unaccepted) return;
    shared_.draft.unaccepted = unaccepted;
    shared_.mark_changed();
}

// The document with the parameters of what is shown. Only what they change is written anew.
void Runner::accept(const Accept& command) {
    SharedValues parameters;
    std::int64_t iteration = -1;
    {
        const Lock lock(shared_.mutex);
        const IterationInfo* const asked = command.iteration ? row_of(*command.iteration) : nullptr;
        if (command.iteration && (asked == nullptr || !asked->parameters))
            throw Error("the parameters of iteration " +
                        std::to_string(command.iteration.value_or(-1)) +
                        " are not in memory any more");
        if (asked != nullptr && asked->epoch != epoch_)
            throw Error("iteration " + std::to_string(asked->iteration) +
                        " belongs to the scene before an edit")
                .remedy("branch from it (B), which goes back to that scene, and accept then");
        const TrajectoryPointer& shown = shared_.shown ? shared_.shown : shared_.current;
        const TrajectoryPointer& t = command.newest ? shared_.current : shown;
        if (asked != nullptr) {
            parameters = asked->parameters;
            iteration = asked->iteration;
        } else {
            if (t && !command.newest && t->scene != now_.scene)
                throw Error("what is shown belongs to the scene before an edit")
                    .remedy("branch from it (B), which goes back to that scene, and accept then");
            parameters = t && t->parameters && !command.newest ? t->parameters : values_;
            iteration = t && t->parameters && *t->parameters == *parameters ? t->iteration : -1;
        }
    }
    std::map<std::size_t, std::vector<double>> values;
    for (const ParameterPlace& place : now_.scene->places)
        values.try_emplace(place.quantity,
                           now_.scene->values_of(place.quantity, *base_, parameters));
    auto answer = document_with(values);
    const Lock lock(shared_.mutex);
    shared_.draft.answer = std::move(answer);
    shared_.draft.answer_to = command.number;
    shared_.draft.answer_name = iteration >= 0   ? "Accept iteration " + std::to_string(iteration)
                                : command.newest ? "Accept the newest parameters"
                                                 : "Accept the parameters shown";
    shared_.mark_changed();
}

}  // namespace hindcast::session
