// The derivative-free searches of NLopt, to compare others with. One iteration is one point that is
// better than all before.
//
// NLopt cannot save its state, but its searches are deterministic: where the search began and the
// losses that it was told are saved, and after a restore it is told them again, which leads to the
// same state without a roll-out. When the point or the loss is not what the search left, it starts
// again from the current point.
#include <algorithm>
#include <cmath>
#include <nlopt.hpp>

#include "engine/base/log.hpp"
#include "engine/document/read.hpp"
#include "engine/optim/paused_search.hpp"
#include "engine/optim/search_space.hpp"

namespace hindcast::optim {

namespace {

nlopt::algorithm algorithm_of(RuleType type) {
    switch (type) {
        case RuleType::nelder_mead: return nlopt::LN_NELDERMEAD;
        case RuleType::subplex: return nlopt::LN_SBPLX;
        case RuleType::cobyla: return nlopt::LN_COBYLA;
        case RuleType::bobyqa: return nlopt::LN_BOBYQA;
        default: return nlopt::GN_DIRECT_L;
    }
}

// The start of a search; used on its thread only.
struct Plan {
    RuleType type = RuleType::nelder_mead;
    std::vector<double> start, low, high;
    std::vector<double> rate;    // of each entry
    std::optional<double> step;  // the first steps, times the rate
};

constexpr const char* failed = "the search failed";

std::string ending_of(nlopt::result result) {
    switch (result) {
        case nlopt::FTOL_REACHED: return "the loss does not change any more";
        case nlopt::XTOL_REACHED: return "the parameters do not change any more";
        default: return "the search is done";
    }
}

std::string minimize(const Plan& plan, const PausedSearch::Objective& objective) {
    const unsigned n = static_cast<unsigned>(plan.start.size());
    nlopt::opt search(algorithm_of(plan.type), n);
    PausedSearch::Objective ask = objective;
    search.set_min_objective(
        [](unsigned count, const double* x, double* gradient, void* data) {
            return (*static_cast<PausedSearch::Objective*>(data))(
                {x, count}, {gradient, gradient != nullptr ? count : 0});
        },
        &ask);
    search.set_lower_bounds(plan.low);
    search.set_upper_bounds(plan.high);
    std::vector<double> x = plan.start;
    for (unsigned k = 0; k < n; ++k) x[k] = std::clamp(x[k], plan.low[k], plan.high[k]);
    search.set_xtol_rel(1e-8);
    search.set_ftol_rel(1e-12);
    std::vector<double> steps(n, plan.step.value_or(1));
    if (!plan.step) {
        search.set_default_initial_step(x);
        search.get_initial_step(x, steps);
    }
    for (unsigned k = 0; k < n; ++k) steps[k] *= plan.rate[k];
    search.set_initial_step(steps);
    double loss = 0;
    try {
        return ending_of(search.optimize(x, loss));
    } catch (const nlopt::roundoff_limited&) {
        return "rounding errors stop the search";
    } catch (const nlopt::forced_stop&) {
        return "the search was abandoned";
    } catch (const std::runtime_error&) {
        return failed;
    }
}

class SearchRule final : public UpdateRule {
public:
    SearchRule(const Settings& settings, const Variables& variables,
               const std::shared_ptr<Device>& device)
        : settings_(settings), variables_(variables), space_(variables, Scaling::none, device) {
        if (settings.type == RuleType::bobyqa && variables.size() < 2)
            throw Error("bobyqa needs two parameters or more").remedy("use nelder_mead");
        if (settings.type != RuleType::direct) return;
        for (std::size_t k = 0; k < variables.size(); ++k)
            if (!std::isfinite(variables.low[k]) || !std::isfinite(variables.high[k]))
                throw Error("direct searches a box, but a parameter has no bounds")
                    .remedy("give every parameter \"bounds\": [low, high]");
    }

    Step step(const Evaluation& here, const Evaluate& evaluate) override {
        if (!search_ || here.values != base_.values || here.loss != base_.loss) {
            if (search_)
                log_info("{}: the point has changed; the search starts again from the current one",
                         name_of(settings_.type));
            start(here.values, here.loss);
        }
        // Points that an interrupted iteration has tried are tried again, as after a restore.
        if (told_.size() > taken_) restore(state());
        for (;;) {
            const std::vector<double>* next = search_->next();
            if (next == nullptr)
                return {false,
                        {},
                        ending(),
                        search_->ending() == failed ? Step::End::stuck : Step::End::converged};
            if (*next == start_) {
                tell(start_loss_);
                continue;
            }
            const std::vector<double> values = space_.values(*next);
            if (told_.size() >= static_cast<std::size_t>(settings_.most_evaluations()))
                return {false,
                        {},
                        "all " + std::to_string(told_.size()) + " evaluations are used",
                        Step::End::limit};
            const double loss = evaluate(values, false).loss;
            told_.push_back(loss);
            if (take(values, loss)) return {true, values, ""};
        }
    }

    document::Node state() const override {
        if (!search_) return document::Node::object();
        return document::Node::object({{"start", exact_numbers(start_values_)},
                                       {"start_loss", exact_numbers(std::span(&start_loss_, 1))},
                                       {"losses", exact_numbers(told_up_to_here())},
                                       {"count", static_cast<std::int64_t>(taken_)}});
    }

    void restore(const document::Node& state) override {
        document::Reader reader(state, "the state of " + settings_.describe());
        if (!reader.has("start")) {
            reader.finish();
            search_.reset();
            return;
        }
        const std::vector<double> values =
            exact_numbers_of(reader.require("start"), variables_.size());
        const double loss = exact_numbers_of(reader.require("start_loss"), 1)[0];
        const std::int64_t count = reader.integer("count", 0);
        const std::vector<double> losses =
            exact_numbers_of(reader.require("losses"), static_cast<std::size_t>(count));
        reader.finish();
        start(values, loss);
        for (std::size_t k = 0; k < losses.size();) {
            const std::vector<double>* next = search_->next();
            if (next == nullptr)
                throw document::fault(*state.find("losses"),
                                      "the search ends before all losses that were saved")
                    .remedy("continue with the program that saved the state");
            if (*next == start_) {
                tell(start_loss_);
                continue;
            }
            told_.push_back(losses[k++]);
            take(space_.values(*next), told_.back());
        }
    }

private:
    void start(std::span<const double> values, double loss) {
        search_.reset();
        start_values_.assign(values.begin(), values.end());
        start_loss_ = loss;
        told_.clear();
        taken_ = 0;
        not_finite_ = 0;
        base_ = {start_values_, loss, {}};
        space_.start_at(values);
        const Plan plan{settings_.type,  space_.coordinates(values),
                        space_.low(),    space_.high(),
                        variables_.rate, settings_.rate};
        start_ = plan.start;
        largest_ = loss;
        search_ = std::make_unique<PausedSearch>(
            [plan](const PausedSearch::Objective& f) { return minimize(plan, f); });
    }

    // Models and simplices need a number where the loss is not finite.
    void tell(double loss) {
        if (std::isfinite(loss)) {
            largest_ = std::max(largest_, loss);
        } else {
            ++not_finite_;
            loss = largest_ + std::fabs(largest_) + 1;
        }
        search_->answer(loss, {});
    }

    // The search is told; true if this is the next point.
    bool take(const std::vector<double>& values, double loss) {
        tell(loss);
        if (!std::isfinite(loss) || !(loss < base_.loss)) return false;
        base_.values = values;
        base_.loss = loss;
        taken_ = told_.size();
        return true;
    }

    // The losses that led to the current point; those of an interrupted iteration are left out.
    std::span<const double> told_up_to_here() const { return std::span(told_).first(taken_); }

    std::string ending() const {
        std::string text = search_->ending();
        if (not_finite_ > 0)
            text += " (" + std::to_string(not_finite_) +
                    " of the points tried gave a loss that is not finite)";
        return text;
    }

    Settings settings_;
    Variables variables_;
    SearchSpace space_;
    std::vector<double> start_values_, start_;  // where the search began; in coordinates
    double start_loss_ = 0;
    std::vector<double> told_;  // the losses of all points after the start, in their order
    std::size_t taken_ = 0;     // of them when the last point was accepted
    Evaluation base_;           // that point
    double largest_ = 0;
    std::int64_t not_finite_ = 0;
    std::unique_ptr<PausedSearch> search_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_search_rule(const Settings& settings, const Variables& variables,
                                             const std::shared_ptr<Device>& device) {
    return std::make_unique<SearchRule>(settings, variables, device);
}

}  // namespace hindcast::optim
