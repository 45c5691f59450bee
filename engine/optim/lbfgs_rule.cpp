// L-BFGS with bounds: the minimum of a quadratic model within the bounds (limited_memory.hpp), then
// a line search toward it (line_search.hpp). One iteration is one accepted point.
//
// Everything happens in the coordinates u of a SearchSpace: x = s u, or x = o exp(s u) on a log
// scale. If no rate is written, s brings the entries of a parameter that are large where the search
// begins to a mean square of 1, so that moduli of 1e5 and speeds of 1 can be searched together. The
// first step goes along the gradient, 0.08 |u| far (or by the rate).
//
// The saved state is the memory and the values of the stopping tests; a line search begins and ends
// within an iteration. Pairs of another loss would mislead: if point, loss or gradient differs from
// the one left behind, the memory starts empty.
//
// The loss is only as exact as the numbers of the simulation. A line search that fails is examined.
// If the losses of its shortest steps scatter as much as the model wants to gain, there is nothing
// left to find: the search has converged, if rounding explains that, or the loss is rough.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/hash.hpp"
#include "engine/base/log.hpp"
#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/optim/limited_memory.hpp"
#include "engine/optim/line_search.hpp"
#include "engine/optim/search_space.hpp"

namespace hindcast::optim {

namespace {

constexpr double first_step = 0.08;  // relative to |u|
// Along the gradient the search is exact: its pair is all that is known of the curvature.
constexpr double flat_first = 0.05, flat_later = 0.8;
constexpr double longest_step = 1e10;
constexpr double roundings = 16;          // of the loss, that it may be off by
constexpr double hidden = 0.1;            // a gain is hidden by ten times as much scatter
constexpr std::int64_t most_in_vain = 5;  // iterations with neither a lower loss nor gradient

struct AllUsed {};  // thrown by a trial beyond the evaluations that are allowed

class LbfgsRule final : public UpdateRule {
public:
    LbfgsRule(const Settings& settings, const Variables& variables,
              const std::shared_ptr<Device>& device)
        : settings_(settings),
          variables_(variables),
          space_(variables, settings.rate ? Scaling::rates : Scaling::sizes, device),
          memory_(static_cast<std::size_t>(settings.memory_for(variables.size()))) {}

    Step step(const Evaluation& here, const Evaluate& evaluate) override {
        begin(here);
        if (norm(projected(u_, gradient_)) == 0)
            return {false, {}, "the gradient is zero, or points out of the bounds"};
        if (in_vain_ >= most_in_vain) return no_decrease();
        try {
            return search(here, evaluate);
        } catch (const AllUsed&) {
            return {false,
                    {},
                    "all " + std::to_string(settings_.most_evaluations()) + " evaluations are used",
                    Step::End::limit};
        }
    }

    document::Node state() const override {
        const double lowest[] = {lowest_loss_, lowest_gradient_};
        return document::Node::object({{"origin", exact_numbers(origin_)},
                                       {"point", point_},
                                       {"lowest", exact_numbers(lowest)},
                                       {"in_vain", in_vain_},
                                       {"evaluations", evaluations_},
                                       {"memory", memory_.state()}});
    }

    void restore(const document::Node& state) override {
        document::Reader reader(state, "the state of lbfgs");
        const document::Node& origin = reader.require("origin");
        Vector values;
        if (!(origin.is_array() && origin.size() == 0))
            values = exact_numbers_of(origin, variables_.size());
        const std::string point = reader.string("point");
        const Vector lowest = exact_numbers_of(reader.require("lowest"), 2);
        const std::int64_t in_vain = reader.integer("in_vain", 0);
        const std::int64_t evaluations = reader.integer("evaluations", 0);
        LimitedMemory memory = memory_;
        memory.restore(reader.require("memory"), variables_.size());
        reader.finish();
        memory_ = std::move(memory);
        origin_ = std::move(values);
        point_ = point;
        lowest_loss_ = lowest[0];
        lowest_gradient_ = lowest[1];
        in_vain_ = in_vain;
        evaluations_ = evaluations;
        begun_ = false;
    }

private:
    struct Trial {
        Evaluation at;
        Vector gradient;  // in u
    };

    static Step no_decrease() {
        return {false, {}, "no further decrease within rounding of the loss"};
    }

    // The point that stands, in u.
    void begin(const Evaluation& here) {
        const std::string point = fingerprint(here);
        if (point != point_) {
            if (!point_.empty())
                log_info("lbfgs: the point has changed; the search starts again from this one");
            origin_ = here.values;
            memory_.clear(0);
            lowest_loss_ = here.loss;
            lowest_gradient_ = unlimited;
            in_vain_ = 0;
            point_ = point;
            begun_ = false;
        }
        if (!begun_) {
            space_.start_at(origin_);
            low_ = space_.low();
            high_ = space_.high();
            begun_ = true;
        }
        u_ = coordinates(here.values);
        gradient_ = space_.gradient(here.values, here.gradient);
        made_ = 0;
    }

    static std::string fingerprint(const Evaluation& e) {
        Hasher hasher;
        hasher.reals(e.values).reals(std::span(&e.loss, 1)).reals(e.gradient);
        return to_string(hasher.digest());
    }

    Vector coordinates(std::span<const double> values) const {
        Vector u = space_.coordinates(values);
        for (std::size_t k = 0; k < u.size(); ++k) u[k] = std::clamp(u[k], low_[k], high_[k]);
        return u;
    }

    // Without what points out of the bounds.
    Vector projected(const Vector& u, Vector g) const {
        for (std::size_t k = 0; k < g.size(); ++k)
            if ((u[k] <= low_[k] && g[k] > 0) || (u[k] >= high_[k] && g[k] < 0)) g[k] = 0;
        return g;
    }

    // Before any pair.
    double first_curvature() const {
        if (settings_.rate) return 1 / *settings_.rate;
        const double length = first_step * std::max(1.0, norm(u_));
        return norm(projected(u_, gradient_)) / length;
    }

    // One iteration. A direction that leads nowhere may be the fault of the pairs: once more along
    // the gradient. Nothing that is saved changes before a point is taken.
    Step search(const Evaluation& here, const Evaluate& evaluate) {
        double scattered = roundings * variables_.loss_rounding * terms(here);  // hides a gain
        LimitedMemory bare(0);                                                  // without pairs
        bare.clear(memory_.theta() > 0 ? memory_.theta() : first_curvature());
        for (bool steepest = memory_.empty();; steepest = true) {
            target_ = (steepest ? bare : memory_).minimum(u_, gradient_, low_, high_);
            direction_ = difference(target_, u_);
            const Line line{here.loss, dot(direction_, gradient_), longest(),
                            roundings * variables_.loss_rounding * std::fabs(here.loss),
                            steepest ? flat_first : flat_later};
            if (line.slope < 0 && std::isfinite(line.slope)) {
                trials_.clear();
                const LineResult result =
                    search_line(line, [&](double t) { return look(t, line.longest, evaluate); });
                if (result.taken) {
                    if (steepest) memory_.clear(bare.theta());
                    return take(trials_[*result.taken]);
                }
                const double wanted = -0.5 * line.slope;  // the gain, as the model has it
                scattered = std::max(scattered, scatter(line, result.tried));
                if (hidden * wanted <= scattered || unchanged(here))
                    return scattered <= std::sqrt(variables_.loss_rounding) * terms(here)
                               ? no_decrease()
                               : rough(scattered);
            }
            if (steepest) return target_ == u_ ? no_decrease() : failure();
        }
    }

    // The step along the direction at which the first entry meets a bound.
    double longest() const {
        double t = longest_step;
        for (std::size_t k = 0; k < u_.size(); ++k)
            if (direction_[k] != 0) t = std::min(t, reach(k));
        return std::max(t, 1.0);
    }
    double reach(std::size_t k) const {
        return ((direction_[k] > 0 ? high_[k] : low_[k]) - u_[k]) / direction_[k];
    }

    Vector physical(double step, double longest) const {
        Vector u = target_;
        if (step != 1) {
            u = u_;
            add(u, step, direction_);
        }
        for (std::size_t k = 0; k < u.size(); ++k) {
            if (step >= longest && direction_[k] != 0 && reach(k) <= step)
                u[k] = direction_[k] > 0 ? high_[k] : low_[k];
        }
        Vector x = space_.values(u);
        // exp() of a bound in u may miss that in x.
        for (std::size_t k = 0; k < u.size(); ++k) {
            if (u[k] <= low_[k]) x[k] = variables_.low[k];
            if (u[k] >= high_[k]) x[k] = variables_.high[k];
        }
        return x;
    }

    LinePoint look(double step, double longest, const Evaluate& evaluate) {
        if (evaluations_ + made_ >= settings_.most_evaluations()) throw AllUsed();
        ++made_;
        Trial trial{evaluate(physical(step, longest), true), {}};
        LinePoint point{step, trial.at.loss, 0, trial.at.finite()};
        if (point.finite) {
            trial.gradient = space_.gradient(trial.at.values, trial.at.gradient);
            point.slope = dot(trial.gradient, direction_);
            point.finite = std::isfinite(point.slope);
        }
        trials_.push_back(std::move(trial));
        return point;
    }

    Step take(Trial& trial) {
        const Vector u = coordinates(trial.at.values);
        memory_.add_pair(difference(u, u_), difference(trial.gradient, gradient_));
        const double length = norm(projected(u, trial.gradient));
        const bool gains = trial.at.loss < lowest_loss_ || length < lowest_gradient_;
        lowest_loss_ = std::min(lowest_loss_, trial.at.loss);
        lowest_gradient_ = std::min(lowest_gradient_, length);
        in_vain_ = gains ? 0 : in_vain_ + 1;
        evaluations_ += made_;
        point_ = fingerprint(trial.at);
        return {true, std::move(trial.at.values), ""};
    }

    // The simulation sees no difference between this point and those that were tried.
    bool unchanged(const Evaluation& here) const {
        return std::all_of(trials_.begin(), trials_.end(), [&](const Trial& t) {
            return t.at.loss == here.loss && t.at.gradient == here.gradient;
        });
    }

    // The size of what the loss is the difference of, as far as loss and gradient tell. Rounding of
    // that is always there; a simulation may amplify it, by less than the root of what its numbers
    // hold, or there is nothing left to simulate.
    static double terms(const Evaluation& here) {
        double sum = std::fabs(here.loss);
        for (std::size_t k = 0; k < here.values.size(); ++k)
            sum += std::fabs(here.gradient[k] * here.values[k]);
        return sum;
    }

    static Step rough(double scattered) {
        return {false,
                {},
                "the loss is rough here: between points close to each other it jumps by " +
                    document::shortest(scattered) +
                    ", which hides what is left to gain (contacts that begin or end in another "
                    "step do that; more substeps make it less)",
                Step::End::stuck};
    }

    Step failure() const {
        std::string text =
            "no lower loss was found along the gradient; the loss may have a kink or a jump here";
        const auto bad = std::count_if(trials_.begin(), trials_.end(),
                                       [](const Trial& t) { return !t.at.finite(); });
        if (bad > 0)
            text += " (" + std::to_string(bad) + " of the " + std::to_string(trials_.size()) +
                    " points tried gave a loss or gradient that is not finite)";
        return {false, {}, text, Step::End::stuck};
    }

    Settings settings_;
    Variables variables_;
    SearchSpace space_;
    // Saved.
    LimitedMemory memory_;
    Vector origin_;      // where the search began: of the sizes and the log scales
    std::string point_;  // the fingerprint of what was left; "": nothing yet
    double lowest_loss_ = unlimited, lowest_gradient_ = unlimited;
    std::int64_t in_vain_ = 0, evaluations_ = 0;
    // State of one iteration.
    bool begun_ = false;
    std::int64_t made_ = 0;
    Vector low_, high_, u_, gradient_, target_, direction_;
    std::vector<Trial> trials_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_lbfgs_rule(const Settings& settings, const Variables& variables,
                                            const std::shared_ptr<Device>& device) {
    return std::make_unique<LbfgsRule>(settings, variables, device);
}

}  // namespace hindcast::optim
