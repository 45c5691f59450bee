// Rows, branches, accepting. The optimisation runs in slices: a row that an edit or a pause ends is
// followed by another Optimization::run(), which goes on from the parameters as they then stand.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/session/threads/runner.hpp"
#include "engine/base/hash.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/non_finite.hpp"

namespace hindcast::session {

namespace {

constexpr std::int64_t share_of_frame_memory = 8;  // what rows hold may take that part

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

void Runner::steer(Optimise::What what) {
    using What = Optimise::What;
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
    const std::int64_t done = began_ ? iteration_ : 0;
    if (began_ && done >= optimization_->iterations()) {
        const std::int64_t more =
            std::max<std::int64_t>(Optimization(*now_.simulation).iterations(), 1);
        auto longer = std::make_unique<Optimization>(*now_.simulation, done + more);
        longer->restore(optimization_->state());
        optimization_ = std::move(longer);
    }
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
    shared_.draft.activity_text = "iteration " + std::to_string(row.iteration) + " of " +
                                  std::to_string(optimization_->iterations());
    shared_.draft.progress =
        optimization_->iterations() > 0
            ? static_cast<double>(row.iteration) / static_cast<double>(optimization_->iterations())
            : 1;
    shared_.mark_changed();
    lock.unlock();
    drop_unused_older();
    if (profiling_) publish_launches();
    if (rows_left_ > 0) --rows_left_;
    if (rows_left_ == 0) return false;
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
    const std::int64_t most = options_.frame_memory / share_of_frame_memory;
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
    set_activity(Activity::optimising,
                 "iteration " + std::to_string(began_ ? iteration_ : 0) + " of " +
                     std::to_string(optimization_->iterations()),
                 optimization_->iterations() > 0
                     ? static_cast<double>(began_ ? iteration_ : 0) /
                           static_cast<double>(optimization_->iterations())
                     : -1);
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
    if (outcome.stop == Stop::stopped) {
        if (rows_left_ == 0) optimising_ = false;
        return;
    }
    optimising_ = false;
    std::string reason = outcome.reason;
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
        outcome.stop == Stop::converged || outcome.stop == Stop::iterations;
    shared_.log(LogLine::Level::information, "the optimisation has ended: " + reason);
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
        const TrajectoryPointer& shown = shared_.shown ? shared_.shown : shared_.current;
        const TrajectoryPointer& t = command.newest ? shared_.current : shown;
        if (t && !command.newest && t->scene != now_.scene)
            throw Error("what is shown belongs to the scene before an edit")
                .remedy("branch from it (B), which goes back to that scene, and accept then");
        parameters = t && t->parameters && !command.newest ? t->parameters : values_;
        iteration = t && t->parameters && *t->parameters == *parameters ? t->iteration : -1;
    }
    document::Document answer = *document_;
    std::vector<std::size_t> quantities;
    for (const ParameterPlace& place : now_.scene->places) quantities.push_back(place.quantity);
    std::sort(quantities.begin(), quantities.end());
    quantities.erase(std::unique(quantities.begin(), quantities.end()), quantities.end());
    constexpr std::size_t most_inline = 1000;
    const auto write = [&](const std::string& pointer, const std::string& path,
                           const std::vector<double>& values, int components, bool shared) {
        document::Node node;
        if (values.size() <= most_inline || file_.empty()) {
            node = document::written_form(values, components, shared);
        } else {  // a file of its own, so that undo finds the older one
            Hasher hasher;
            hasher.bytes(values.data(), values.size() * sizeof(double));
            std::string name =
                file_.stem().string() + "_" + path + "_" + to_string(hasher.digest()).substr(0, 8);
            std::replace(name.begin(), name.end(), '.', '_');
            node = document::saved_form(values, components, shared, file_.parent_path(),
                                        name + ".npy");
        }
        answer.set(pointer, std::move(node));
    };
    for (const std::size_t q : quantities) {
        const QuantityMeta& meta = now_.scene->quantities[q];
        const std::vector<double> values = now_.scene->values_of(q, *base_, parameters);
        if (values == *(*base_)[q]) continue;
        write(meta.info.scene_pointer, meta.info.path, values, meta.info.components,
              meta.info.shared);
        // What was made from the values at load stays what it is.
        for (const model::Model::MadeFrom& m : now_.simulation->model().made_from())
            if (m.quantity == meta.info.path)
                write(m.scene_pointer, m.quantity + "_at_load", m.values, m.components, m.shared);
    }
    const Lock lock(shared_.mutex);
    shared_.draft.answer = std::make_shared<const document::Document>(std::move(answer));
    shared_.draft.answer_to = command.number;
    shared_.draft.answer_name = iteration >= 0   ? "Accept iteration " + std::to_string(iteration)
                                : command.newest ? "Accept the newest parameters"
                                                 : "Accept the parameters shown";
    shared_.mark_changed();
}

}  // namespace hindcast::session
