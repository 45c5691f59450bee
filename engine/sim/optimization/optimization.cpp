// The optimization loop. One pass: evaluate the point, report the row, ask the update rule for the
// next point. The state that is saved is that between two passes: the point, the rule's memory,
// what the stopping rules and the best row have seen, and whether the point's row was reported.
#include "engine/sim/optimization/optimization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "engine/base/hash.hpp"
#include "engine/base/stopped.hpp"
#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/optim/update_rule.hpp"
#include "engine/sim/non_finite.hpp"
#include "engine/sim/optimization/descent.hpp"

namespace hindcast {

namespace {

using document::Node;
using document::Reader;
using optim::Evaluation;

using Interrupted = Stopped;  // also thrown by an evaluation that must not begin

optim::Settings settings_of(const Simulation& simulation, const Parameters& parameters) {
    std::set<std::string> groups;
    for (const Parameter& p : parameters.list()) groups.insert(p.group);
    const std::vector<std::string> known(groups.begin(), groups.end());
    return optim::Settings::read(simulation.scene().document().root().find("optimizer"), known);
}

optim::Variables variables_of(const Parameters& parameters, const optim::Settings& settings,
                              ir::Precision precision) {
    optim::Variables v;
    v.loss_rounding = precision == ir::Precision::f32 ? 0x1p-24 : 0x1p-53;
    for (std::size_t k = 0; k < parameters.list().size(); ++k) {
        const Parameter& p = parameters.list()[k];
        const auto group = settings.groups.find(p.group);
        const double rate = p.rate * (group != settings.groups.end() ? group->second : 1.0);
        // A value that reached zero could never leave it on a log scale.
        const double low =
            p.log_scale ? std::max(p.low, std::numeric_limits<double>::min()) : p.low;
        v.low.insert(v.low.end(), p.entries.size(), low);
        v.high.insert(v.high.end(), p.entries.size(), p.high);
        v.rate.insert(v.rate.end(), p.entries.size(), rate);
        v.logarithmic.insert(v.logarithmic.end(), p.entries.size(), p.log_scale);
        v.parameter.insert(v.parameter.end(), p.entries.size(), k);
    }
    return v;
}

std::string digest_of(const std::vector<std::string>& names) {
    Hasher hasher;
    for (const std::string& name : names) hasher.text(name);
    return to_string(hasher.digest());
}

Node node_of(const Optimization::Row& row) {
    Node terms = Node::array();
    for (const Simulation::TermValue& term : row.terms) {
        const double numbers[] = {term.weight, term.value};
        terms.push_back(Node::object(
            {{"name", term.name}, {"weight_and_value", optim::exact_numbers(numbers)}}));
    }
    return Node::object({{"iteration", row.iteration},
                         {"evaluations", row.evaluations},
                         {"loss", row.loss},
                         {"gradient_norm", row.gradient_norm},
                         {"terms", std::move(terms)},
                         {"parameters", optim::exact_numbers(row.parameters)},
                         {"gradient", optim::exact_numbers(row.gradient)}});
}

Optimization::Row row_of(const Node& node, std::size_t count) {
    Reader reader(node, "a saved row");
    Optimization::Row row;
    row.iteration = reader.integer("iteration", 0);
    row.evaluations = reader.integer("evaluations", 0);
    row.loss = reader.number("loss");
    row.gradient_norm = reader.number("gradient_norm");
    const Node& terms = reader.array("terms");
    for (std::size_t k = 0; k < terms.size(); ++k) {
        Reader term(terms.item(k), "a saved term");
        const std::string name = term.string("name");
        const std::vector<double> numbers =
            optim::exact_numbers_of(term.require("weight_and_value"), 2);
        term.finish();
        row.terms.push_back({name, numbers[0], numbers[1]});
    }
    row.parameters = optim::exact_numbers_of(reader.require("parameters"), count);
    row.gradient = optim::exact_numbers_of(reader.require("gradient"), count);
    reader.finish();
    return row;
}

}  // namespace

struct Optimization::State {
    Simulation& simulation;
    optim::Settings settings;
    std::unique_ptr<optim::UpdateRule> rule;
    std::unique_ptr<Descent> descent;  // a rule with a formula, without an evaluator
    std::size_t row_limit = std::numeric_limits<std::size_t>::max();
    std::function<bool()> interrupt;
    Evaluator evaluator;

    // Saved state.
    std::int64_t iteration = 0;  // of the point that stands
    bool reported = false;       // its row was given to the watch
    std::vector<double> values;  // of that point, if they are on the host
    bool values_on_device = false;
    std::int64_t settled = 0;  // evaluations up to this point: those that a break undoes left out
    std::optional<Row> best;
    std::optional<double> progress_loss;  // at the last row that made progress
    std::int64_t rows_without_progress = 0;

    std::int64_t evaluations = 0;
    Row row;  // of the point that stands; the last finite one
    bool has_row = false;
    bool best_on_device = false;  // the descent keeps its parameters and gradient
    Evaluation last;              // of the point evaluated last
    std::vector<Simulation::TermValue> last_terms;
    bool last_is_full = false;  // with its gradient, and nothing has changed since
    bool row_is_torn = false;   // the row's arrays on the device have been overwritten

    explicit State(Simulation& s) : simulation(s) {}

    std::size_t count() const { return simulation.parameters().size(); }
    Evaluation evaluate(std::span<const double> at, bool gradient);
    std::vector<double> hessian_product(std::span<const double> at,
                                        std::span<const double> direction);
    std::string explain();
    const std::vector<double>& point();
    Row complete(Row of);
    Row complete_best();
    void look_on_device(Row& next);
    bool look(Outcome& outcome);
    bool not_finite(Outcome& outcome, Row next);
    void report();
    std::optional<std::string> stopping_rule() const;
    bool advance(Outcome& outcome);
    Outcome run(const Watch& watch);
};

// ---------------------------------------------------------------- one point

Evaluation Optimization::State::evaluate(std::span<const double> at, bool gradient) {
    if (interrupt && interrupt()) throw Interrupted();
    last_is_full = false;
    last.values.assign(at.begin(), at.end());
    last.gradient.clear();
    ++evaluations;
    if (evaluator) {
        std::optional<Ensemble::Result> result = evaluator(last.values, gradient);
        if (!result) throw Interrupted();
        last.loss = result->loss;
        last.gradient = std::move(result->gradient);
        last_terms = std::move(result->terms);
    } else {
        simulation.parameters().set_values(at);
        last.loss = simulation.run(gradient);
        last_terms = simulation.terms();
        if (gradient && std::isfinite(last.loss)) last.gradient = simulation.gradient();
    }
    last_is_full = gradient && std::isfinite(last.loss);
    return last;
}

std::vector<double> Optimization::State::hessian_product(std::span<const double> at,
                                                         std::span<const double> direction) {
    if (interrupt && interrupt()) throw Interrupted();
    last_is_full = false;
    simulation.parameters().set_values(at);
    ++evaluations;
    return simulation.hessian_product(direction);
}

// Why the point that was evaluated last has no row.
std::string Optimization::State::explain() {
    const bool loss = !std::isfinite(last.loss);
    if (evaluator) return loss ? "the loss is not finite" : "the gradient is not finite";
    return loss ? explain_loss(simulation) : explain_gradient(simulation, last.gradient);
}

// The values of the point that stands, on the host.
const std::vector<double>& Optimization::State::point() {
    if (values_on_device) values = descent->values();
    values_on_device = false;
    return values;
}

// The last row, whose gradient is still that on the device.
Optimization::Row Optimization::State::complete(Row of) {
    if (!has_row || !of.parameters.empty()) return of;
    of.parameters = of.iteration == iteration ? point() : descent->values_before();
    of.gradient = descent->gradient();
    return of;
}

Optimization::Row Optimization::State::complete_best() {
    if (!best) return {};
    Row of = *best;
    if (!best_on_device) return of;
    of.parameters = descent->kept_values();
    of.gradient = descent->kept_gradient();
    return of;
}

void Optimization::State::look_on_device(Row& next) {
    if (interrupt && interrupt()) throw Interrupted();
    ++evaluations;
    row_is_torn = true;
    descent->evaluate();
    Descent::Look look = descent->look();
    row_is_torn = false;
    last.loss = look.loss;
    last_is_full = look.finite;
    last_terms = std::move(look.terms);
    next.gradient_norm = look.gradient_norm;
    next.parameters = std::move(look.values);
    next.gradient = std::move(look.gradient);
}

bool Optimization::State::not_finite(Outcome& outcome, Row next) {
    last_is_full = false;
    if (descent) last.gradient = descent->gradient();
    outcome.stop = Stop::not_finite;
    outcome.reason = "at iteration " + std::to_string(iteration) + " " + explain();
    if (!evaluator) simulation.parameters().set_values(point());
    if (!has_row) {  // there never was a finite one
        row = std::move(next);
        row.parameters = values;
    } else if (row.parameters.empty()) {
        row.parameters = descent->values_before();
    }
    return false;
}

// Fills the row of the point that stands; false, with the outcome, if it is not finite.
bool Optimization::State::look(Outcome& outcome) {
    Row next;
    if (descent) {
        look_on_device(next);
    } else {
        if (!last_is_full || last.values != values) evaluate(values, true);
        last_is_full &= last.finite();
        next.gradient_norm = optim::norm_as_reduced(last.gradient);
        next.parameters = values;
        next.gradient = last.gradient;
    }
    next.iteration = iteration;
    next.loss = last.loss;
    next.terms = last_terms;
    next.evaluations = evaluations;
    if (!last_is_full) return not_finite(outcome, std::move(next));
    row = std::move(next);
    return has_row = true;
}

// Takes the row into account: best, and progress for the stopping rules.
void Optimization::State::report() {
    reported = true;
    settled = evaluations;
    if (!best || row.loss < best->loss) {
        best = row;
        best_on_device = row.parameters.empty();
        if (best_on_device) descent->keep();
    }
    const bool progress =
        !progress_loss ||
        row.loss < *progress_loss - settings.relative_change * std::fabs(*progress_loss);
    rows_without_progress = progress ? 0 : rows_without_progress + 1;
    if (progress) progress_loss = row.loss;
}

std::optional<std::string> Optimization::State::stopping_rule() const {
    using document::shortest;
    if (settings.loss_below && row.loss < *settings.loss_below)
        return "the loss is below " + shortest(*settings.loss_below);
    if (settings.gradient_below && row.gradient_norm < *settings.gradient_below)
        return "the norm of the gradient is below " + shortest(*settings.gradient_below);
    if (settings.patience && rows_without_progress >= *settings.patience)
        return "no progress in " + std::to_string(rows_without_progress) + " iterations";
    return std::nullopt;
}

// ---------------------------------------------------------------- the loop

// One update; false, with the outcome, if there is none.
bool Optimization::State::advance(Outcome& outcome) {
    if (descent) {
        descent->update();
        values_on_device = true;
        settled = evaluations;
        ++iteration;
        reported = false;
        return true;
    }
    const Evaluation here{values, row.loss, row.gradient};
    optim::UpdateRule::Step step = rule->step(
        here, [this](std::span<const double> at, bool gradient) { return evaluate(at, gradient); });
    if (!step.moved) {
        using End = optim::UpdateRule::Step::End;
        outcome.stop = step.end == End::converged ? Stop::converged
                       : step.end == End::limit   ? Stop::iterations
                                                  : Stop::stuck;
        outcome.reason = (step.end == End::converged ? "converged: "
                          : step.end == End::limit   ? "limit: "
                                                     : "search failed: ") +
                         step.reason;
        return false;
    }
    values = std::move(step.values);
    settled = evaluations;
    ++iteration;
    reported = false;
    return true;
}

Optimization::Outcome Optimization::State::run(const Watch& watch) {
    Outcome outcome;
    const auto go = [&]() -> bool {  // one row; false at the end
        if (!look(outcome)) return false;
        if (!reported) {
            report();
            if (watch && !watch(row)) {
                outcome.stop = Stop::stopped;
                outcome.reason = "stopped on request";
                return false;
            }
        }
        if (const auto rule_text = stopping_rule()) {
            outcome.stop = Stop::converged;
            outcome.reason = "converged: " + *rule_text;
            return false;
        }
        if (iteration >= settings.iterations) {
            outcome.stop = Stop::iterations;
            outcome.reason =
                "limit: all " + std::to_string(settings.iterations) + " iterations are done";
            return false;
        }
        return advance(outcome);
    };
    last_is_full = row_is_torn = false;  // the scene may have been edited meanwhile
    // The point is evaluated again, which counts if it has changed.
    std::vector<double> now = simulation.parameters().values();
    evaluations = reported && now == point() ? settled - 1 : settled;
    values = std::move(now);
    values_on_device = false;
    if (auto* const formula = dynamic_cast<optim::GradientRule*>(rule.get());
        formula != nullptr && !evaluator) {
        if (!descent) descent = std::make_unique<Descent>(simulation, *formula, row_limit);
        descent->start_at(values);
    }
    try {
        while (go()) {
        }
    } catch (const Interrupted&) {
        outcome.stop = Stop::stopped;
        outcome.reason = "stopped on request";
    }
    // A search may have tried other points since.
    if (!evaluator && simulation.parameters().values() != point())
        simulation.parameters().set_values(values);
    // In the middle of an evaluation only the best row was kept whole.
    const bool torn = std::exchange(row_is_torn, false) && best && row.parameters.empty();
    outcome.last = torn ? complete_best() : outcome.stop == Stop::not_finite ? row : complete(row);
    outcome.best = best ? complete_best() : outcome.last;
    return outcome;
}

Optimization::Optimization(Simulation& simulation, std::int64_t iterations)
    : state_(std::make_unique<State>(simulation)) {
    State& s = *state_;
    if (s.count() == 0)
        throw Error("the scene has no parameters to optimize")
            .remedy("list them: \"parameters\": [{\"path\": \"NAME.FIELD\"}]");
    if (simulation.model().terms().empty())
        throw Error("the scene has no objective")
            .remedy("say what is wanted: \"objective\": [{\"type\": \"point_target\", ...}]");
    s.settings = settings_of(simulation, simulation.parameters());
    if (iterations >= 0) s.settings.iterations = iterations;
    s.rule = optim::make_rule(
        s.settings,
        variables_of(simulation.parameters(), s.settings, simulation.options().precision),
        simulation.options().device,
        [&s](std::span<const double> at, std::span<const double> direction) {
            return s.hessian_product(at, direction);
        });
    s.values = simulation.parameters().values();
}

Optimization::~Optimization() = default;

std::int64_t Optimization::iterations() const { return state_->settings.iterations; }
bool Optimization::uses_hessian() const { return optim::uses_hessian(state_->settings.type); }
const std::vector<double>& Optimization::values() const { return state_->values; }
std::string Optimization::describe() const { return state_->settings.describe(); }
Optimization::Outcome Optimization::run(const Watch& watch) { return state_->run(watch); }
void Optimization::set_interrupt(std::function<bool()> interrupt) {
    state_->interrupt = std::move(interrupt);
}

void Optimization::set_row_limit(std::size_t parameters) { state_->row_limit = parameters; }

Optimization::Row Optimization::complete(Row row) const { return state_->complete(std::move(row)); }

std::optional<Optimization::Row> Optimization::best() const {
    if (!state_->best) return std::nullopt;
    return state_->complete_best();
}

void Optimization::set_evaluator(Evaluator evaluator) { state_->evaluator = std::move(evaluator); }

// ---------------------------------------------------------------- saving

Node Optimization::state() const {
    State& s = *state_;
    return Node::object({{"optimizer", optim::name_of(s.settings.type)},
                         {"names", digest_of(s.simulation.parameters().names())},
                         {"iteration", s.iteration},
                         {"reported", s.reported},
                         {"evaluations", s.settled},
                         {"parameters", optim::exact_numbers(s.point())},
                         {"rule", s.rule->state()},
                         {"progress_loss", s.progress_loss ? Node(*s.progress_loss) : Node()},
                         {"rows_without_progress", s.rows_without_progress},
                         {"best", s.best ? node_of(s.complete_best()) : Node()}});
}

void Optimization::restore(const Node& node) {
    State& s = *state_;
    Reader reader(node, "the state of an optimization");
    const std::string type = reader.string("optimizer"), names = reader.string("names");
    if (type != optim::name_of(s.settings.type))
        throw document::fault(*node.find("optimizer"), "this state is that of " + type +
                                                           ", but the scene's optimizer is " +
                                                           optim::name_of(s.settings.type))
            .remedy("continue with the scene that the state was saved for");
    if (names != digest_of(s.simulation.parameters().names()))
        throw document::fault(*node.find("names"),
                              "this state is that of other parameters than the scene's")
            .remedy("continue with the scene that the state was saved for");
    const std::int64_t iteration = reader.integer("iteration", 0);
    const bool reported = reader.boolean("reported");
    const std::int64_t evaluations = reader.integer("evaluations", 0);
    std::vector<double> values = optim::exact_numbers_of(reader.require("parameters"), s.count());
    const Node& rule = reader.require("rule");
    // Older programs saved nothing of such a search, which would begin anew.
    if (iteration > 0 && optim::derivative_free(s.settings.type) && rule.size() == 0)
        throw document::fault(rule, "what the search has seen up to iteration " +
                                        std::to_string(iteration) + " was not saved")
            .remedy("resume with the program that saved it, or optimize from the start");
    const Node& progress = reader.require("progress_loss");
    const std::optional<double> progress_loss =
        progress.is_null() ? std::nullopt : std::optional(document::number_of(progress));
    const std::int64_t rows = reader.integer("rows_without_progress", 0);
    const Node& best_node = reader.require("best");
    std::optional<Row> best;
    if (!best_node.is_null()) best = row_of(best_node, s.count());
    reader.finish();

    s.rule->restore(rule);  // the last thing that can fail; it changes nothing if it does
    s.iteration = iteration;
    s.reported = reported;
    s.settled = evaluations;
    s.values = std::move(values);
    s.progress_loss = progress_loss;
    s.rows_without_progress = rows;
    s.best = std::move(best);
    s.best_on_device = false;
    s.values_on_device = false;
    s.row = Row();
    s.has_row = false;
    s.last_is_full = false;
    s.simulation.parameters().set_values(s.values);
}

}  // namespace hindcast
