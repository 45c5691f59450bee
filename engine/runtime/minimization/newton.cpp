#include "engine/runtime/minimization/newton.hpp"

#include "engine/backend/jit/interruption.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/vectors.hpp"
#include "engine/document/text.hpp"
#include "engine/runtime/minimization/rules/add_seconds.hpp"
#include "engine/runtime/minimization/rules/search_rules.hpp"

namespace hindcast {

namespace {

using document::shortest;

// The index of the largest magnitude, or of a value that is not finite.
int worst_of(std::span<const double> v) {
    const auto less = [](double a, double b) {
        return std::isfinite(a) && (!std::isfinite(b) || std::abs(a) < std::abs(b));
    };
    return static_cast<int>(std::ranges::max_element(v, less) - v.begin());
}

}  // namespace

Newton::Newton(Potential& potential, const MinimizationOptions& options, MinimizationTimes& times)
    : potential_(potential), hessian_(potential), options_(options), times_(times) {
    const auto n = static_cast<std::size_t>(potential.unknowns());
    for (auto* v : {&x_, &trial_, &gradient_, &step_, &work_}) v->resize(n);
}

// Adds the point, or the carrier's coordinate, of an unknown.
void Newton::name_place(Error& error, int unknown) const {
    const Potential::Owner owner = potential_.owner_of(unknown);
    if (owner.carrier != nullptr) {
        error.note("at coordinate " + std::to_string(owner.number) + " of '" +
                   owner.carrier->name() + "'");
        return;
    }
    error.at_item(owner.number);
    error.note("at point " + std::to_string(owner.number));
}

Error Newton::at_point(const search::Words& words, int unknown) const {
    Error error(words.happened);
    name_place(error, unknown);
    return error.remedy(words.remedy);
}

Error Newton::no_minimum(Finding finding) {
    const bool singular = finding.definiteness == Definiteness::nearly_singular;
    const search::Words& words = singular ? search::singular : search::indefinite;
    Error error(words.happened);
    if (finding.unknown >= 0) {
        const Potential::Owner owner = potential_.owner_of(finding.unknown);
        if (owner.carrier != nullptr) {
            name_place(error, finding.unknown);
        } else {
            error.at_item(owner.number);
            error.note("at point " + std::to_string(owner.number) +
                       "; the least stable there: " + hessian_.least_stable_item(owner.number));
        }
    }
    return error.remedy(words.remedy);
}

Newton::Finding Newton::factorize(const SymmetricMatrix& matrix) {
    const AddSeconds timed(times_.factorize_s);
    if (!solver_) solver_ = make_solver(options_.solver, matrix);
    return solver_->factorize(matrix);
}

Newton::Finding Newton::solve_factorized(std::span<const double> b, std::span<double> x) {
    const AddSeconds timed(times_.solve_s);
    return solver_->solve(b, x);
}

void Newton::factorize_at_minimum() {
    as_it_is_ = factorize(hessian_.as_it_is());
    if (as_it_is_.definiteness != Definiteness::positive) throw no_minimum(as_it_is_);
}

void Newton::solve(std::span<const double> b, std::span<double> x) {
    const Finding found = solve_factorized(b, x);
    if (found.definiteness != Definiteness::positive) throw no_minimum(found);
}

bool Newton::direction() {
    for (std::size_t i = 0; i < work_.size(); ++i) work_[i] = -gradient_[i];
    const auto try_with = [&](const SymmetricMatrix& hessian) {
        Finding found = factorize(hessian);
        if (found.definiteness == Definiteness::positive) found = solve_factorized(work_, step_);
        return found;
    };
    as_it_is_ = try_with(hessian_.as_it_is());
    if (as_it_is_.definiteness == Definiteness::positive) return true;
    Finding found = try_with(hessian_.projected());
    // If that is not positive definite either, a growing part of the mean diagonal is added.
    const SymmetricMatrix& matrix = hessian_.last();
    double mean = std::numeric_limits<double>::min();
    for (int i = 0; i < matrix.size(); ++i) mean += std::abs(matrix.diagonal(i)) / matrix.size();
    for (double part = 1e-8; found.definiteness != Definiteness::positive; part *= 10) {
        if (!(part < 1e4)) throw no_minimum(as_it_is_);
        found = try_with(hessian_.shifted(part * mean));
    }
    return false;
}

// True if the slope at the trial point shows that the energy has not risen.
bool Newton::goes_down(double slope) {
    potential_.gradient(work_);
    return dot(work_, step_) <= search::steepest_at_end * slope;
}

// Moves x_ and the potential along step_ until the energy has fallen enough. The energy there, J.
double Newton::move(double energy, MinimizationOutcome& outcome) {
    const double slope = dot(gradient_, step_);
    if (!(slope < 0)) throw at_point(search::not_down, worst_of(gradient_));
    const double magnitude = potential_.magnitude();
    double fraction = potential_.step_limit(x_, step_);
    if (fraction < 1) ++outcome.refused;
    for (int k = 0; k < search::most_halvings; ++k, fraction /= 2, ++outcome.refused) {
        if (k > 0 && potential_.has_arcs()) fraction = potential_.step_limit(x_, step_, fraction);
        for (std::size_t i = 0; i < x_.size(); ++i) trial_[i] = x_[i] + fraction * step_[i];
        potential_.set(trial_);
        const double there = potential_.value();
        if (!std::isfinite(there)) continue;
        const bool falls = there <= energy + search::sufficient * fraction * slope;
        const double noise = search::rounding * std::max(magnitude, potential_.magnitude());
        if (falls || (std::abs(there - energy) <= noise && goes_down(slope))) {
            x_.swap(trial_);
            return there;
        }
    }
    potential_.set(x_);
    throw at_point(search::no_part, worst_of(step_))
        .note("after " + std::to_string(outcome.iterations) + " iterations, at the energy " +
              shortest(energy) + " J; the slope along the step is " + shortest(slope) + " J");
}

void Newton::check_start(double energy) {
    if (std::isfinite(energy)) return;
    std::string names;
    for (Potential::Term& term : potential_.terms())
        if (!std::isfinite(term.value_at.value(0)))
            names += (names.empty() ? "'" : ", '") + term.name + "'";
    potential_.gradient(work_);
    const auto worst = std::ranges::find_if(work_, [](double g) { return !std::isfinite(g); });
    throw at_point(search::bad_start,
                   worst == work_.end() ? 0 : static_cast<int>(worst - work_.begin()))
        .note("what is not finite: " + (names.empty() ? std::string("the sum") : names));
}

MinimizationOutcome Newton::minimize() {
    MinimizationOutcome outcome;
    potential_.gather(potential_.state(), x_);
    potential_.place();
    double energy = potential_.value();
    check_start(energy);
    if (potential_.unknowns() == 0) return outcome;
    for (;;) {
        backend::interruption_point();
        outcome.scale = std::max(outcome.scale, potential_.magnitude());
        outcome.energy = energy;
        potential_.gradient(gradient_);
        if (largest(gradient_) == 0 && outcome.iterations > 0) break;
        const bool exact = direction();
        const double gain = -0.5 * dot(gradient_, step_);
        const double farthest = largest(step_);
        const bool at_rounding =
            farthest <= 4 * std::numeric_limits<double>::epsilon() * largest(x_);
        const bool converged = gain <= options_.tolerance * outcome.scale || at_rounding;
        if (converged && !exact) throw no_minimum(as_it_is_);
        ++outcome.iterations;
        outcome.gain = std::max(gain, 0.0);
        outcome.step = farthest;
        if (converged && potential_.step_limit(x_, step_) >= 1) {
            for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += step_[i];
            potential_.set(x_);
            break;
        }
        outcome.projected += exact ? 0 : 1;
        if (outcome.iterations > options_.most_iterations)
            throw at_point(search::too_many(options_.most_iterations), worst_of(step_))
                .note("another step would gain " + shortest(gain) + " J, of a scale of " +
                      shortest(outcome.scale) + " J");
        energy = move(energy, outcome);
    }
    potential_.gradient(gradient_);
    outcome.residual = largest(gradient_);
    if (!std::isfinite(outcome.residual)) throw at_point(search::bad_end, worst_of(step_));
    return outcome;
}

}  // namespace hindcast
