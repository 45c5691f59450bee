// A Checker holds the f64 program in scaled variables; each kind of comparison is one function of
// it. Start reading at check_gradients(), at the end.
#include "engine/sim/gradients/gradient_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "engine/base/random.hpp"
#include "engine/base/stopped.hpp"
#include "engine/base/vectors.hpp"
#include "engine/runtime/minimization/minimization.hpp"
#include "engine/sim/ensembles/ensemble.hpp"
#include "engine/sim/gradients/adjoint_norms.hpp"
#include "engine/sim/non_finite.hpp"

namespace hindcast {

namespace {

using Vector = std::vector<double>;

constexpr std::array<double, 8> step_sizes = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
constexpr double negligible = 1e-3;  // of the largest: smaller numbers are compared with that
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

double relative(double difference, double scale) {
    if (difference == 0) return 0;
    return scale > 0 ? std::fabs(difference) / scale : std::numeric_limits<double>::infinity();
}

double distance(const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
}

struct Plateau {
    Vector value;
    double step = nan;  // none was finite
};

// The difference that agrees best with the one for the next larger step.
Plateau plateau(const std::vector<Vector>& differences) {
    Plateau best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 1; k < differences.size(); ++k) {
        const double change = distance(differences[k], differences[k - 1]);
        if (change <= least && std::isfinite(change)) {
            least = change;
            best = {differences[k], step_sizes[k]};
        }
    }
    return best;
}

// The scale of an entry's steps: the largest magnitude in its parameter, or its own if that is far
// smaller, as in a list of numbers of several units.
double scale_of(double size, double largest) {
    constexpr double far = 1e-3, least = 1e-6;
    if (largest == 0) return 1;
    return size == 0 || size >= far * largest ? largest : std::max(size, least * largest);
}

class Checker {
public:
    Checker(Simulation& simulation, const GradientCheckOptions& wanted)
        : simulation_(simulation), wanted_(wanted), ensemble_(simulation) {
        Parameters& parameters = simulation_.parameters();
        if (parameters.size() == 0)
            throw Error("the scene has no parameters, so there is no gradient to check")
                .remedy("name what may change under \"parameters\"");
        if (simulation_.model().terms().empty())
            throw Error("the scene has no objective, so there is no gradient to check")
                .remedy("say what is wanted under \"objective\"");
        if (!wanted_.at.empty()) parameters.set_values(wanted_.at);
        start_ = parameters.values();
        kinks_ = parameters.kinks(simulation_.model());
        std::size_t first = 0;
        for (const Parameter& p : parameters.list()) {
            double most = 0;
            for (std::size_t k = 0; k < p.entries.size(); ++k)
                most = std::max(most, std::fabs(start_[first + k]));
            for (std::size_t k = 0; k < p.entries.size(); ++k)
                scale_.push_back(scale_of(std::fabs(start_[first + k]), most));
            for (std::size_t k = 0; k < p.entries.size(); ++k) {
                const double at = start_[first + k];
                inward_.push_back(at <= p.low ? 1 : at >= p.high ? -1 : 0);
            }
            first += p.entries.size();
        }
    }

    const Vector& scale() const { return scale_; }

    Vector scaled(Vector gradient) const {
        for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] *= scale_[k];
        return gradient;
    }

    void start(GradientReport& report) {
        ask();
        report.parameters = start_.size();
        report.plan = simulation_.plan_gradients();
        if (wanted_.before_gradient) wanted_.before_gradient(simulation_);
        simulation_.rollout().record_adjoint_norms(true);
        report.loss = loss_ = simulation_.run(true);
        if (simulation_.rollout().divergence() || !std::isfinite(report.loss))
            throw Error(explain_loss(simulation_));
        const Vector physical = simulation_.gradient();
        if (!std::ranges::all_of(physical, [](double x) { return std::isfinite(x); }))
            throw Error(explain_gradient(simulation_, physical));
        if (wanted_.after_gradient) wanted_.after_gradient(simulation_);
        simulation_.rollout().record_adjoint_norms(false);
        report.adjoint_norms = simulation_.rollout().adjoint_norms();
        report.adjoint_culprit = name_of(simulation_.model(), report.adjoint_norms.culprit);
        report.gradient_norm = norm(physical);
        const std::int64_t substeps = simulation_.scene().substeps(),
                           horizon = simulation_.rollout().horizon();
        report.steps = simulation_.steps() / substeps;
        if (horizon > 0 && horizon < simulation_.steps()) {
            report.horizon = horizon / substeps;
            simulation_.rollout().start_at_horizon();
        }
        gradient_ = scaled(physical);
        if (!std::isfinite(report.gradient_norm)) throw Error("the gradient's norm overflows");
    }

    GradientReport::Entry entry(std::size_t index) {
        Vector direction(start_.size(), 0.0);
        direction[index] = inward_[index] < 0 ? -1 : 1;
        GradientReport::Entry result{
            judge(direction, direction[index] * gradient_[index], negligible * largest(gradient_)),
            index,
            {},
            kinks_[index]};
        for (double* value :
             {&result.adjoint, &result.difference, &result.left, &result.right, &result.widest})
            *value *= direction[index] / scale_[index];
        result.terms /= scale_[index];
        if (direction[index] < 0) std::swap(result.left, result.right);
        result.name = simulation_.parameters().names()[index];
        return result;
    }

    // The same direction, but inwards for parameters at an edge of what they may be.
    Vector inwards(Vector direction) const {
        for (std::size_t k = 0; k < direction.size(); ++k)
            if (inward_[k] != 0) direction[k] = inward_[k] * std::fabs(direction[k]);
        return direction;
    }

    GradientReport::Direction along(const Vector& direction) {
        GradientReport::Direction result{
            judge(direction, dot(gradient_, direction),
                  negligible * norm(gradient_) * norm(direction) /
                      std::sqrt(static_cast<double>(direction.size())))};

        ask();
        move(direction, 0);
        result.forward = simulation_.directional_derivative(physical(direction));
        double magnitude = 0;  // of the terms of the sum g.u
        for (std::size_t k = 0; k < direction.size(); ++k)
            magnitude += std::fabs(gradient_[k] * direction[k]);
        result.forward_error =
            relative(result.adjoint - result.forward,
                     std::max({magnitude, std::fabs(result.forward), result.terms}));
        result.forward_passed = result.forward_error <= wanted_.forward_tolerance;
        return result;
    }

    Vector hessian_product(const Vector& direction) {
        ask();
        move(direction, 0);
        return scaled(simulation_.hessian_product(physical(direction)));
    }

    GradientReport::Hessian second(const Vector& direction, const Vector& product) {
        GradientReport::Hessian result;
        std::vector<Vector> slopes;
        const auto runs = around(direction, true);
        for (std::size_t k = 0; k < step_sizes.size(); ++k) {
            const Vector &above = runs[2 * k].gradient, &below = runs[2 * k + 1].gradient;
            Vector slope(start_.size(), nan);  // stays so where a loss is not finite
            for (std::size_t e = 0; e < above.size() && e < below.size(); ++e)
                slope[e] = (scale_[e] * above[e] - scale_[e] * below[e]) / (2 * step_sizes[k]);
            slopes.push_back(std::move(slope));
        }
        const Plateau best = plateau(slopes);
        result.norm = norm(product);
        result.step = best.step;
        if (best.value.empty()) return result;
        result.error = relative(distance(product, best.value),
                                std::max({norm(product), norm(best.value), floor_of_second()}));
        result.passed = result.error <= wanted_.hessian_tolerance;
        return result;
    }

    GradientReport::Minima minima(double terms) {
        ask();
        Minimization& minimization = *simulation_.model().minimization();
        const Vector none(start_.size(), 0.0);
        move(none, 0);
        minimization.remove_residuals(true);
        GradientReport::Minima result{.gradient = simulation_.hessian_product(none)};
        minimization.remove_residuals(false);
        result.solves = minimization.removed_residuals().solves;
        result.distance = minimization.removed_residuals().distance;
        for (const model::Term& term : simulation_.model().terms())
            result.loss += term.weight * term.value.tangent().value(0);
        result.error = relative(norm(scaled(result.gradient)), std::max(norm(gradient_), terms));
        result.passed = result.error <= wanted_.tolerance;
        return result;
    }

    // A Hessian that vanishes is compared with the gradient.
    double floor_of_second() const { return negligible * norm(gradient_); }

    Vector gradient() const { return gradient_; }

    void ask() {
        if (wanted_.go_on && !wanted_.go_on(asked_++, total())) throw Stopped();
    }

private:
    // The number of calls of ask() in all.
    std::int64_t total() const {
        // Wide differences, however many, count as one.
        const std::int64_t wide = wanted_.span > 0 ? 1 : 0;
        const auto sweeps = static_cast<std::int64_t>(step_sizes.size());
        const auto entries = static_cast<std::int64_t>(std::min(wanted_.entries, start_.size()));
        const std::int64_t directions = wanted_.directions;
        return 2 + (simulation_.model().minimization() ? 1 : 0) + entries * (sweeps + wide) +
               directions * ((sweeps + 1) * (wanted_.hessian ? 2 : 1) + wide);
    }

    // Runs at +h and -h along a direction, for each step in turn: an ensemble.
    std::vector<Ensemble::Result> around(const Vector& direction, bool gradient) {
        std::vector<Vector> points;
        for (const double h : step_sizes)
            for (const double signed_step : {h, -h})
                points.push_back(moved(direction, signed_step));
        try {
            return ensemble_.evaluate(points, gradient, [this](std::size_t point) {
                if (point % 2 == 0) ask();
            });
        } catch (const Error&) {
            return around_one_by_one(points, gradient);
        }
    }

    // A point that a module refuses has no loss. Throws Error if all are refused.
    std::vector<Ensemble::Result> around_one_by_one(const std::vector<Vector>& points,
                                                    bool gradient) {
        std::vector<Ensemble::Result> results;
        std::size_t refused = 0;
        for (const Vector& point : points) {
            try {
                results.push_back(ensemble_.evaluate({&point, 1}, gradient).at(0));
            } catch (const Error&) {
                if (++refused == points.size()) throw;
                results.emplace_back().loss = nan;
            }
        }
        return results;
    }

    GradientReport::Slope judge(const Vector& direction, double adjoint, double floor) {
        std::vector<SlopeSample> samples;
        const auto runs = around(direction, false);
        for (std::size_t k = 0; 2 * k + 1 < runs.size(); ++k)
            samples.push_back({step_sizes[k], runs[2 * k].loss, runs[2 * k + 1].loss});
        if (wanted_.span > 0) ask();
        const auto wide = [&](double step) { return wide_sample(direction, step); };
        return {judge_slope(adjoint, loss_, std::move(samples), wide,
                            wanted_.span / largest(direction), floor, wanted_.tolerance),
                adjoint};
    }

    SlopeSample wide_sample(const Vector& direction, double step) {
        SlopeSample sample{step, nan, nan};
        const Vector above = moved(direction, step), below = moved(direction, -step);
        if (!within_bounds(above) || !within_bounds(below)) return sample;
        try {
            const std::vector<Vector> points{above, below};
            const auto runs = ensemble_.evaluate(points, false);
            sample.above = runs.at(0).loss;
            sample.below = runs.at(1).loss;
        } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
            // A module refuses a value: the sample has no loss, as if it were not finite.
        }
        return sample;
    }

    bool within_bounds(const Vector& values) const {
        std::size_t k = 0;
        for (const Parameter& p : simulation_.parameters().list())
            for (std::size_t e = 0; e < p.entries.size(); ++e, ++k)
                if (values[k] < p.low || values[k] > p.high) return false;
        return true;
    }

    Vector moved(const Vector& direction, double h) const {
        Vector values = start_;
        for (std::size_t k = 0; k < values.size(); ++k) values[k] += h * scale_[k] * direction[k];
        return values;
    }
    void move(const Vector& direction, double h) {
        simulation_.parameters().set_values(moved(direction, h));
    }

    Vector physical(Vector direction) const {
        for (std::size_t k = 0; k < direction.size(); ++k) direction[k] *= scale_[k];
        return direction;
    }

    Simulation& simulation_;
    const GradientCheckOptions& wanted_;
    Ensemble ensemble_;
    Vector start_, scale_, gradient_;
    std::vector<std::string> kinks_;
    Vector inward_;    // 1 where a parameter is the least it may be, -1 where the most, else 0
    double loss_ = 0;  // at the start
    std::int64_t asked_ = 0;
};

std::vector<Vector> random_directions(std::size_t size, int count, std::uint64_t seed) {
    const document::ElementaryTable functions = own_elementary_functions();
    std::vector<Vector> all;
    for (int d = 0; d < count; ++d) {
        const Random random(seed, static_cast<std::uint64_t>(d));
        Vector direction(size);
        for (std::size_t k = 0; k < size; ++k) direction[k] = random.normal(k, functions);
        all.push_back(std::move(direction));
    }
    return all;
}

void check_hessian(Checker& checker, const std::vector<Vector>& directions,
                   const GradientCheckOptions& wanted, GradientReport& report) {
    std::vector<Vector> products;
    for (const Vector& u : directions) products.push_back(checker.hessian_product(u));
    for (std::size_t d = 0; d < directions.size(); ++d) {
        GradientReport::Hessian h = checker.second(directions[d], products[d]);
        const std::size_t next = (d + 1) % directions.size();
        const double one = dot(directions[next], products[d]);
        const double other = dot(directions[d], products[next]);
        // Relative to the products' size: u.Hv itself may be near zero.
        const double size = std::max(norm(directions[next]) * norm(products[d]),
                                     norm(directions[d]) * norm(products[next]));
        h.symmetry_error = relative(one - other, std::max(size, checker.floor_of_second()));
        h.symmetric = h.symmetry_error <= wanted.symmetry_tolerance;
        report.hessian.push_back(h);
    }
}

// The root mean square of the terms that cancel along the directions. That along u with independent
// entries is that of the gradient.
double size_of_terms(std::span<const GradientReport::Direction> directions) {
    double terms = 0;
    for (const auto& u : directions)
        terms += u.terms * u.terms / static_cast<double>(directions.size());
    return std::sqrt(terms);
}

GradientReport::Single compare_f32(const Scene& scene, const Registry& registry,
                                   SimulationOptions options, const GradientCheckOptions& wanted,
                                   const Checker& checker, double terms) {
    options.precision = ir::Precision::f32;
    options.strict = false;  // the f64 simulation has said it
    options.on_warning = {};
    Simulation simulation(scene, registry, options);
    if (!wanted.at.empty()) simulation.parameters().set_values(wanted.at);
    simulation.run(true);
    const Vector g32 = checker.scaled(simulation.gradient()), g64 = checker.gradient();
    GradientReport::Single result;
    result.error = relative(distance(g32, g64), std::max(norm(g64), terms));
    const double product = norm(g32) * norm(g64);
    result.cosine = product > 0 ? dot(g32, g64) / product : 1;
    // The remainder of terms that cancel has no direction that f32 could resolve.
    const bool vanishes = norm(g64) < 0.1 * terms;
    result.passed =
        result.error <= wanted.f32_tolerance && (vanishes || result.cosine >= wanted.f32_cosine);
    return result;
}

}  // namespace

GradientReport check_gradients(const Scene& scene, const Registry& registry,
                               const SimulationOptions& options,
                               const GradientCheckOptions& wanted) {
    SimulationOptions in_f64 = options;
    in_f64.precision = ir::Precision::f64;
    Simulation simulation(scene, registry, in_f64);
    GradientReport report;
    Checker checker(simulation, wanted);
    try {
        checker.start(report);
        const std::size_t size = report.parameters, shown = std::min(wanted.entries, size);
        for (std::size_t k = 0; k < shown; ++k)
            report.entries.push_back(checker.entry(k * size / shown));
        std::vector<Vector> directions = random_directions(size, wanted.directions, wanted.seed);
        for (Vector& u : directions) u = checker.inwards(std::move(u));
        for (const Vector& u : directions) report.directions.push_back(checker.along(u));
        const double terms = size_of_terms(report.directions);
        if (wanted.hessian) check_hessian(checker, directions, wanted, report);
        if (simulation.model().minimization()) report.minima = checker.minima(terms);
        if (options.precision == ir::Precision::f32) {
            checker.ask();
            report.f32 = compare_f32(scene, registry, options, wanted, checker, terms);
        }
    } catch (const Stopped&) {
        report.stopped = true;
    }
    return report;
}

}  // namespace hindcast
