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

std::int64_t bytes_of(const Numbers& numbers) {
    return numbers ? static_cast<std::int64_t>(numbers->size() * sizeof(double)) : 0;
}

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

const IterationInfo* Runner::row_of(std::int64_t iteration) const {
    const std::optional<std::size_t> index = desk_.index_of(iteration);
    return index ? &desk_.rows[*index] : nullptr;
}

void Runner::make_optimisation() {
    now_.simulation->parameters().set_values(*values_);
    optimization_ = std::make_unique<Optimization>(*now_.simulation);
    began_ = false;
    const Lock lock(desk_.mutex);
    desk_.draft.optimiser = optimization_->describe();
    desk_.draft.iterations_planned = optimization_->iterations();
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
        const Lock lock(desk_.mutex);
        branched_from_ = desk_.last_iteration();
        desk_.draft.stop_reason = "stopped on request";
        desk_.draft.stopped_well = true;
        desk_.mark();
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
    const Lock lock(desk_.mutex);
    desk_.draft.stop_reason.clear();
    desk_.draft.error = nullptr;
    desk_.draft.iterations_planned = optimization_->iterations();
    desk_.wanted_iteration.reset();
    desk_.mark();
}

// One roll-out of the optimisation, whose frames are kept.
std::optional<Ensemble::Result> Runner::evaluate(const std::vector<double>& values, bool gradient) {
    const TrajectoryPointer t =
        new_trajectory(now_.world, -1, base_, std::make_shared<const std::vector<double>>(values));
    {
        const Lock lock(desk_.mutex);
        desk_.growing = t;
    }
    now_.simulation->parameters().set_values(values);
    bool left = false;
    Ensemble::Result result;
    result.loss = now_.simulation->run(gradient, recorder(t, *now_.simulation, [&] {
                                           left = leaves_now();
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
    const EditionPointer of = edition();
    Lock lock(desk_.mutex);
    // The first row of a branch is the row that it started from.
    const IterationInfo* const from = branched_from_ >= 0 ? row_of(branched_from_) : nullptr;
    const bool repeated = from != nullptr && row.iteration == 0 && from->loss == row.loss &&
                          from->parameters && *from->parameters == row.parameters;
    if (!repeated) {
        IterationInfo info;
        info.iteration = desk_.last_iteration() + 1;
        info.branched_from = branched_from_;
        info.loss = row.loss;
        info.gradient_norm = row.gradient_norm;
        info.seconds = optimised_seconds_ + since(optimising_since_);
        info.terms = term_infos(row.terms);
        info.parameters = parameters;
        info.gradient = gradient;
        info.build = now_.world->build;
        branched_from_ = -1;
        if (last_ && *last_->parameters == row.parameters) {
            last_->iteration = info.iteration;
            last_->parameters = parameters;
            last_->gradient = gradient;
            desk_.current = last_;
            desk_.library.put(info.iteration, last_);
        }
        info.epoch = epoch_;
        note_best(info);
        desk_.draft.iteration_bytes += bytes_of(parameters) + bytes_of(gradient);
        desk_.rows.push_back(std::move(info));
        desk_.editions.push_back(of);
        thin_rows();
        bound_rows();
    }
    note_unaccepted();
    desk_.growing = nullptr;
    desk_.rows_changed = true;
    desk_.draft.activity_text = "iteration " + std::to_string(row.iteration) + " of " +
                                std::to_string(optimization_->iterations());
    desk_.draft.progress =
        optimization_->iterations() > 0
            ? static_cast<double>(row.iteration) / static_cast<double>(optimization_->iterations())
            : 1;
    desk_.mark();
    lock.unlock();
    drop_unused_older();
    if (profiling_) publish_launches();
    if (rows_left_ > 0) --rows_left_;
    if (rows_left_ == 0) return false;
    if (leave() != Leave::stay) return false;
    return !looks_elsewhere();
}

// Rows that stay whatever is thinned out: what the user looks at. Under the desk's lock.
bool Runner::is_looked_at(std::int64_t iteration) const {
    return iteration == desk_.draft.best_iteration || iteration == desk_.wanted_iteration ||
           iteration == desk_.wanted_ghost || (desk_.shown && desk_.shown->iteration == iteration);
}

// There are at most so many rows: then every second one goes, so that what is long ago is the
// coarser the longer it is. The first and the best of each epoch stay, and the last of all. Under
// the desk's lock.
void Runner::thin_rows() {
    std::vector<IterationInfo>& rows = desk_.rows;
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
            desk_.draft.iteration_bytes -=
                bytes_of(rows[k].parameters) + bytes_of(rows[k].gradient);
            desk_.library.erase(rows[k].iteration);
            continue;
        }
        if (kept != k) {
            rows[kept] = std::move(rows[k]);
            desk_.editions[kept] = std::move(desk_.editions[k]);
        }
        ++kept;
    }
    rows.resize(kept);
    desk_.editions.resize(kept);
}

// Parameters and gradients of rows may take a part of the memory of frames. What goes first are the
// gradients of the older half, which are computed again for a row that is shown; then the
// parameters of every second row, which then cannot be shown any more. Never of the first, the best
// and the last row, and those that the user looks at. Under the desk's lock.
void Runner::bound_rows() {
    const std::int64_t most = options_.frame_memory / share_of_frame_memory;
    std::int64_t& bytes = desk_.draft.iteration_bytes;
    const std::size_t count = desk_.rows.size();
    const auto let_go = [&](Numbers& numbers) {
        bytes -= bytes_of(numbers);
        numbers = nullptr;
    };
    for (std::size_t k = 0; bytes > most && k < count / 2; ++k) let_go(desk_.rows[k].gradient);
    if (bytes <= most) return;
    bool goes = false;
    for (std::size_t k = 1; k + 1 < count; ++k) {
        IterationInfo& row = desk_.rows[k];
        if (!row.parameters || is_looked_at(row.iteration)) continue;
        goes = !goes;
        if (!goes) continue;
        let_go(row.parameters);
        let_go(row.gradient);
        row.can_show = false;
        row.frames_kept = false;
        desk_.editions[k] = nullptr;
        desk_.library.erase(row.iteration);
    }
    desk_.rows_changed = true;
}

// Whether the user wants to see something that must be run first: done between two rows.
bool Runner::looks_elsewhere() {
    const Lock lock(desk_.mutex);
    const auto missing = [&](const std::optional<std::int64_t>& iteration) {
        if (!iteration) return false;
        const TrajectoryPointer t = desk_.library.peek(*iteration);
        return !t || (!t->complete && !t->failed);
    };
    return missing(desk_.wanted_iteration) ||
           (desk_.draft.ghost_problem.empty() && missing(desk_.wanted_ghost));
}

void Runner::optimise() {
    plan_gradients(now_);
    while (looks_elsewhere()) {
        optimising_ = false;  // so that commands act at once
        const bool busy = do_missing();
        optimising_ = true;
        if (!busy || leave() != Leave::stay) break;
    }
    if (leave() != Leave::stay) return;
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
    optimization_->set_interrupt([this] { return leaves_now(); });
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
        const Lock lock(desk_.mutex);
        if (!desk_.rows.empty()) values_ = desk_.rows.back().parameters;
        desk_.fail(Error(reason).remedy(began_
                                            ? "use a smaller rate, or bounds"
                                            : "make the time step smaller, or the forces softer"));
    }
    const Lock lock(desk_.mutex);
    note_unaccepted();
    desk_.growing = nullptr;
    desk_.draft.stop_reason = reason;
    desk_.draft.stopped_well = outcome.stop == Stop::converged || outcome.stop == Stop::iterations;
    desk_.say(LogLine::Level::information, "the optimisation has ended: " + reason);
}

void Runner::branch(const Branch& command) {
    const std::int64_t iteration = command.iteration;
    {
        const Lock lock(desk_.mutex);
        const IterationInfo* const row = row_of(iteration);
        if (row == nullptr)
            throw Error("there is no iteration " + std::to_string(iteration) + " to branch from");
        const EditionPointer edition = desk_.edition_of(iteration);
        if (!edition)
            throw Error("the scene of iteration " + std::to_string(iteration) +
                        " is not in memory any more: there is nothing to go back to")
                .remedy("undo the edits since, or give the view more memory for frames");
        if (edition->world != now_.world) {
            if (command.number == 0)
                throw Error("iteration " + std::to_string(iteration) +
                            " belongs to the scene before an edit, which is not what runs")
                    .remedy("take back the edits since, and branch then");
            desk_.draft.answer = edition->document;
            desk_.draft.answer_to = command.number;
            desk_.draft.answer_name = "Branch from iteration " + std::to_string(iteration);
            desk_.mark();
            return;
        }
        values_ = row->parameters;
        desk_.wanted_iteration.reset();
        // Seen at once, if its frames are there and it is of the scene as it is now.
        const TrajectoryPointer kept = desk_.library.find(iteration);
        if (kept && kept->base == base_) desk_.current = kept;
    }
    bool shown = false;
    {
        const Lock lock(desk_.mutex);
        shown = desk_.current && desk_.current->iteration == iteration;
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
        const Lock lock(desk_.mutex);
        desk_.draft.stop_reason.clear();
        desk_.mark();
    }
    show_current();
}

void Runner::note_unaccepted() {
    const bool unaccepted = values_ && written_ && *values_ != *written_;
    if (desk_.draft.unaccepted == unaccepted) return;
    desk_.draft.unaccepted = unaccepted;
    desk_.mark();
}

// The document with the parameters of what is shown. Only what they change is written anew.
void Runner::accept(const Accept& command) {
    Numbers parameters;
    std::int64_t iteration = -1;
    {
        const Lock lock(desk_.mutex);
        const TrajectoryPointer& shown = desk_.shown ? desk_.shown : desk_.current;
        const TrajectoryPointer& t = command.newest ? desk_.current : shown;
        if (t && !command.newest && t->world != now_.world)
            throw Error("what is shown belongs to the scene before an edit")
                .remedy("branch from it (B), which goes back to that scene, and accept then");
        parameters = t && t->parameters && !command.newest ? t->parameters : values_;
        iteration = t && t->parameters && *t->parameters == *parameters ? t->iteration : -1;
    }
    document::Document answer = *document_;
    std::vector<std::size_t> quantities;
    for (const ParameterPlace& place : now_.world->places) quantities.push_back(place.quantity);
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
        const QuantityMeta& meta = now_.world->quantities[q];
        const std::vector<double> values = now_.world->values_of(q, *base_, parameters);
        if (values == *(*base_)[q]) continue;
        write(meta.info.scene_pointer, meta.info.path, values, meta.info.components,
              meta.info.shared);
        // What was made from the values at load stays what it is.
        for (const model::Model::MadeFrom& m : now_.simulation->model().made_from())
            if (m.quantity == meta.info.path)
                write(m.scene_pointer, m.quantity + "_at_load", m.values, m.components, m.shared);
    }
    const Lock lock(desk_.mutex);
    desk_.draft.answer = std::make_shared<const document::Document>(std::move(answer));
    desk_.draft.answer_to = command.number;
    desk_.draft.answer_name = iteration >= 0   ? "Accept iteration " + std::to_string(iteration)
                              : command.newest ? "Accept the newest parameters"
                                               : "Accept the parameters shown";
    desk_.mark();
}

}  // namespace hindcast::session
