// The searches of NLopt: L-BFGS with bounds (Luksan's code), and derivative-free ones to compare it
// with. One iteration is one accepted point:
//
//   lbfgs            a point that ends a line search. With d the way from the last accepted point,
//                    L_0, g_0 there and L, g here: L <= L_0 + 1e-4 g_0.d (decrease enough), and one
//                    of g.d >= 0.8 g_0.d (flat enough), the search has already had to step back, or
//                    d ends on a bound. These are the tests of Luksan's line search.
//   derivative-free  a point that is better than all before
//
// NLopt cannot save its state: after a restore, or when the point, the loss or the gradient is not
// what the search left, it starts again from the current point.
#include <algorithm>
#include <cmath>
#include <nlopt.hpp>

#include "engine/base/log.hpp"
#include "engine/document/read.hpp"
#include "engine/optim/paused_search.hpp"
#include "engine/optim/search_space.hpp"

namespace hindcast::optim {

namespace {

constexpr double enough_decrease = 1e-4, flat_enough = 0.8;
constexpr int remembered_updates = 10;  // of the L-BFGS approximation

nlopt::algorithm algorithm_of(RuleType type) {
    switch (type) {
        case RuleType::nelder_mead: return nlopt::LN_NELDERMEAD;
        case RuleType::subplex: return nlopt::LN_SBPLX;
        case RuleType::cobyla: return nlopt::LN_COBYLA;
        case RuleType::bobyqa: return nlopt::LN_BOBYQA;
        case RuleType::direct: return nlopt::GN_DIRECT_L;
        default: return nlopt::LD_LBFGS;
    }
}

// What a search is started with; used on its thread only.
struct Plan {
    RuleType type = RuleType::lbfgs;
    std::vector<double> start, low, high;
    std::vector<double> rate;    // of each entry
    std::optional<double> step;  // derivative-free: the first steps, times the rate
};

std::string ending_of(nlopt::result result) {
    switch (result) {
        case nlopt::FTOL_REACHED: return "the loss does not change any more";
        case nlopt::XTOL_REACHED: return "the parameters do not change any more";
        case nlopt::SUCCESS: return "the gradient has vanished";
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
    if (plan.type == RuleType::lbfgs) {
        search.set_vector_storage(remembered_updates);
    } else {
        search.set_xtol_rel(1e-8);
        search.set_ftol_rel(1e-12);
        std::vector<double> steps(n, plan.step.value_or(1));
        if (!plan.step) {
            search.set_default_initial_step(x);
            search.get_initial_step(x, steps);
        }
        for (unsigned k = 0; k < n; ++k) steps[k] *= plan.rate[k];
        search.set_initial_step(steps);
    }
    double loss = 0;
    try {
        return ending_of(search.optimize(x, loss));
    } catch (const nlopt::roundoff_limited&) {
        return "rounding errors stop the search";
    } catch (const nlopt::forced_stop&) {
        return "the search was abandoned";
    } catch (const std::runtime_error&) {
        return "no lower loss was found along the direction of search";
    }
}

class SearchRule final : public UpdateRule {
public:
    SearchRule(const Settings& settings, const Variables& variables,
               const std::shared_ptr<Device>& device)
        : settings_(settings),
          variables_(variables),
          space_(variables, settings.type == RuleType::lbfgs, device),
          budget_(
              settings.evaluations.value_or(100 * std::max<std::int64_t>(1, settings.iterations))) {
        if (settings.type == RuleType::bobyqa && variables.size() < 2)
            throw Error("bobyqa needs two parameters or more").remedy("use nelder_mead");
        if (settings.type != RuleType::direct) return;
        for (std::size_t k = 0; k < variables.size(); ++k)
            if (!std::isfinite(variables.low[k]) || !std::isfinite(variables.high[k]))
                throw Error("direct searches a box, but a parameter has no bounds")
                    .remedy("give every parameter \"bounds\": [low, high]");
    }

    Step step(const Evaluation& here, const Evaluate& evaluate) override {
        if (!search_ || !same(here)) start(here);
        const bool needs_gradient = uses_gradient(settings_.type);
        for (;;) {
            const std::vector<double>* next = search_->next();
            if (next == nullptr) return {false, {}, ending()};
            std::vector<double> at = *next;
            for (double& x : at) x *= unit_;
            const bool at_start = at == start_;
            if (!at_start && evaluations_ >= budget_)
                return {false, {}, "all " + std::to_string(budget_) + " evaluations are used"};
            Evaluation trial = at_start ? here : evaluate(space_.values(at), needs_gradient);
            if (!at_start) ++evaluations_;
            const bool finite = trial.finite();
            const std::vector<double> own = finite && needs_gradient
                                                ? space_.gradient(trial.values, trial.gradient)
                                                : std::vector<double>(at.size(), 0.0);
            if (!finite) {
                ++not_finite_;
                stepped_back_ = true;
            }
            const bool accepted = finite && !at_start && accepts(at, trial, own);
            answer(trial.loss, own, finite);
            if (!accepted) continue;
            at_ = at;
            own_ = own;
            stepped_back_ = false;
            base_ = std::move(trial);
            return {true, base_.values, ""};
        }
    }

    document::Node state() const override { return document::Node::object(); }
    void restore(const document::Node& state) override {
        document::Reader(state, "the state of " + settings_.describe()).finish();
        search_.reset();
        restored_ = true;
    }

private:
    bool same(const Evaluation& here) const {
        return here.values == base_.values && here.loss == base_.loss &&
               (base_.gradient.empty() || here.gradient == base_.gradient);
    }

    void start(const Evaluation& here) {
        if (search_)
            log_info("{}: the point has changed; the search starts again from the current one",
                     name_of(settings_.type));
        else if (restored_)
            log_info(
                "{}: its inner state cannot be saved; the search starts again from the "
                "current point",
                name_of(settings_.type));
        search_.reset();
        base_ = here;
        space_.start_at(here.values);
        Plan plan{settings_.type,  space_.coordinates(here.values),
                  space_.low(),    space_.high(),
                  variables_.rate, settings_.rate};
        start_ = at_ = plan.start;
        own_ = space_.gradient(here.values, here.gradient);
        largest_ = here.loss;
        stepped_back_ = false;
        unit_ = loss_scale_ = 1;
        if (settings_.type == RuleType::lbfgs) set_scales(plan);
        search_ = std::make_unique<PausedSearch>(
            [plan](const PausedSearch::Objective& f) { return minimize(plan, f); });
    }

    // The first point that L-BFGS tries is w - dL/dw in what it is given as coordinates w and loss
    // L. With w = u / unit and L scaled, that is u - rate g; and the gradient starts at a length of
    // 2^20, so that the library's absolute tolerance of 1e-8 for it ends no search too early.
    void set_scales(Plan& plan) {
        const double length = norm(own_);
        if (length == 0) return;
        const double rate =
            settings_.rate.value_or(std::min(0.1 * std::max(1.0, norm(at_)) / length, 1e100));
        unit_ = std::ldexp(1.0, std::clamp(std::ilogb(rate * length), -500, 500) - 20);
        loss_scale_ = rate / unit_ / unit_;
        for (auto* list : {&plan.start, &plan.low, &plan.high})
            for (double& x : *list) x /= unit_;
    }

    void answer(double loss, std::vector<double> own, bool finite) {
        if (finite) largest_ = std::max(largest_, loss);
        if (!finite) {
            // A line search steps back from infinity; models and simplices need a number.
            loss =
                settings_.type == RuleType::lbfgs ? unlimited : largest_ + std::fabs(largest_) + 1;
        }
        for (double& g : own) g *= loss_scale_ * unit_;
        search_->answer(loss * loss_scale_, own);
    }

    bool accepts(const std::vector<double>& at, const Evaluation& trial,
                 const std::vector<double>& own) {
        if (settings_.type != RuleType::lbfgs) return trial.loss < base_.loss;
        double slope0 = 0, slope = 0;
        bool on_bound = false;
        for (std::size_t k = 0; k < at.size(); ++k) {
            const double d = at[k] - at_[k];
            slope0 += own_[k] * d;
            slope += own[k] * d;
            on_bound |= d != 0 && (trial.values[k] == variables_.low[k] ||
                                   trial.values[k] == variables_.high[k]);
        }
        if (trial.loss > base_.loss + enough_decrease * slope0) {
            stepped_back_ = true;
            return false;
        }
        return slope >= flat_enough * slope0 || stepped_back_ || on_bound;
    }

    std::string ending() const {
        std::string text = search_->ending();
        if (not_finite_ > 0)
            text += " (" + std::to_string(not_finite_) +
                    " of the points tried gave a loss or gradient that is not finite)";
        return text;
    }

    Settings settings_;
    Variables variables_;
    SearchSpace space_;
    std::int64_t budget_, evaluations_ = 0, not_finite_ = 0;
    Evaluation base_;               // the last accepted point
    std::vector<double> at_, own_;  // its coordinates, and its gradient in them
    std::vector<double> start_;     // where the search began
    double unit_ = 1, loss_scale_ = 1, largest_ = 0;
    bool stepped_back_ = false, restored_ = false;
    std::unique_ptr<PausedSearch> search_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_search_rule(const Settings& settings, const Variables& variables,
                                             const std::shared_ptr<Device>& device) {
    return std::make_unique<SearchRule>(settings, variables, device);
}

}  // namespace hindcast::optim
