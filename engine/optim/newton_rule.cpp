// Newton's method with conjugate gradients in a trust region.
//
// One iteration minimizes the model m(d) = g.d + d.H d / 2 over |d| <= radius by conjugate
// gradients on products H v (T. Steihaug, SIAM J. Numer. Anal. 20, 1983): the inner solve ends when
// its residual is small beside g, at a direction of negative curvature or at the radius; in the
// last two cases it goes on along that direction to the radius. The step is taken if the loss goes
// down by more than a ten-thousandth of what the model says; otherwise, and if the model is poor,
// the radius shrinks. It grows if a step that reached it was well predicted. A loss that is not
// finite counts as a failed step.
//
// Bounds: entries that stand at one with the gradient pointing out are held; the step is projected
// on the others' bounds, and the model asked again for the remaining entries (D. Bertsekas, SIAM J.
// Control Optim. 20, 1982).
//
// Everything happens in the coordinates u of a SearchSpace: x = s u, or x = o exp(s u) on a log
// scale, where dx/du = s x and the Hessian gains diag(s s x dL/dx).
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/document/read.hpp"
#include "engine/optim/search_space.hpp"
#include "engine/optim/vectors.hpp"

namespace hindcast::optim {

namespace {

constexpr double enough = 1e-4, poor = 0.25, good = 0.75;  // of actual to predicted decrease
constexpr double shrink = 0.25, grow = 2;
constexpr double negligible = 0x1p-52;  // of the loss: rounding
constexpr int most_tries = 60;

class NewtonRule final : public UpdateRule {
public:
    NewtonRule(const Settings& settings, const Variables& variables,
               const std::shared_ptr<Device>& device, HessianProduct hessian)
        : settings_(settings),
          variables_(variables),
          space_(variables, Scaling::rates, device),
          hessian_(std::move(hessian)),
          radius_(settings.rate.value_or(unlimited)) {
        if (!hessian_)
            throw Error("newton_cg needs products with the Hessian")
                .remedy("choose lbfgs, which needs the gradient only");
    }

    Step step(const Evaluation& here, const Evaluate& evaluate) override {
        start(here);
        if (norm(gradient_) == 0) return {false, {}, "the gradient is zero"};
        for (int tries = 0; tries < most_tries; ++tries) {
            const Vector wanted = solve();
            Vector at = u_;
            add(at, 1, wanted);
            for (std::size_t k = 0; k < at.size(); ++k)
                at[k] = std::clamp(at[k], low_[k], high_[k]);
            Vector moved = at;
            add(moved, -1, u_);
            const double length = norm(moved);
            const double predicted = -(dot(gradient_, moved) + 0.5 * dot(moved, product(moved)));
            const Vector values = space_.values(at);
            if (!(length > 0) || values == here.values)
                return {false, {}, "the parameters do not change any more"};
            const double loss = evaluate(values, false).loss;
            const double ratio = predicted > 0 ? (here.loss - loss) / predicted : -1;
            if (!std::isfinite(loss) || ratio < poor)
                radius_ = shrink * std::min(length, radius_);
            else if (ratio > good && norm(wanted) >= 0.99 * radius_)
                radius_ *= grow;
            if (std::isfinite(loss) && loss < here.loss && ratio > enough)
                return {true, values, ""};
        }
        return {false, {}, "no step makes the loss smaller", Step::End::stuck};
    }

    document::Node state() const override {
        return document::Node::object({{"radius", exact_numbers(std::span(&radius_, 1))},
                                       {"origin", exact_numbers(origin_)}});
    }
    void restore(const document::Node& state) override {
        document::Reader reader(state, "the state of newton_cg");
        const double radius = exact_numbers_of(reader.require("radius"), 1)[0];
        const document::Node& origin = reader.require("origin");
        Vector values;
        if (!(origin.is_array() && origin.size() == 0))
            values = exact_numbers_of(origin, variables_.size());
        reader.finish();
        radius_ = radius;
        origin_ = std::move(values);
        begun_ = false;
    }

private:
    // The point that stands, in u; which entries may move.
    void start(const Evaluation& here) {
        if (!begun_) {
            if (origin_.empty()) origin_ = here.values;
            space_.start_at(origin_);
            low_ = space_.low();
            high_ = space_.high();
            begun_ = true;
        }
        values_ = here.values;
        u_ = space_.coordinates(here.values);
        const Vector full = space_.gradient(here.values, here.gradient);
        // dx/du: the gradient of the sum of the values.
        slope_ = space_.gradient(here.values, Vector(u_.size(), 1.0));
        curvature_.assign(u_.size(), 0.0);
        free_.assign(u_.size(), true);
        gradient_ = full;
        for (std::size_t k = 0; k < u_.size(); ++k) {
            if (variables_.logarithmic[k])  // d2x/du2 = slope^2 / x
                curvature_[k] = here.gradient[k] * slope_[k] * slope_[k] / here.values[k];
            free_[k] = !((u_[k] <= low_[k] && full[k] > 0) || (u_[k] >= high_[k] && full[k] < 0));
            if (!free_[k]) gradient_[k] = 0;
        }
    }

    // The Hessian in u of the free entries.
    Vector product(const Vector& v) const {
        Vector direction = v;
        for (std::size_t k = 0; k < v.size(); ++k) direction[k] *= slope_[k];
        Vector result = hessian_(values_, direction);
        for (std::size_t k = 0; k < v.size(); ++k)
            result[k] = free_[k] ? result[k] * slope_[k] + curvature_[k] * v[k] : 0.0;
        return result;
    }

    // Along p from d until |d + t p| = radius.
    Vector to_edge(Vector d, const Vector& p, const Vector& hp) {
        const double a = dot(p, p), b = dot(d, p), c = dot(d, d) - radius_ * radius_;
        const double t = (-b + std::sqrt(std::max(b * b - a * c, 0.0))) / a;
        add(d, t, p);
        add(bent_, t, hp);
        return d;
    }

    // The step; bent_ becomes its product with the Hessian.
    Vector solve() {
        const std::size_t n = u_.size();
        bent_.assign(n, 0.0);
        const double wanted = settings_.cg_tolerance * norm(gradient_);
        const std::int64_t most =
            settings_.cg_iterations.value_or(2 * static_cast<std::int64_t>(n));
        Vector d(n, 0.0), r = gradient_, p(n, 0.0);
        add(p, -1, r);
        double rr = dot(r, r);
        for (std::int64_t k = 0; k < most; ++k) {
            const Vector hp = product(p);
            const double bend = dot(p, hp);
            if (!(bend > 0)) {  // the model has no minimum along p
                if (!(radius_ < unlimited)) radius_ = std::max(1.0, norm(u_));
                return to_edge(std::move(d), p, hp);
            }
            const double alpha = rr / bend;
            Vector next = d;
            add(next, alpha, p);
            if (norm(next) >= radius_) return to_edge(std::move(d), p, hp);
            d = std::move(next);
            add(bent_, alpha, hp);
            add(r, alpha, hp);
            const double rr_next = dot(r, r);
            if (std::sqrt(rr_next) <= wanted) return d;
            for (std::size_t i = 0; i < n; ++i) p[i] = rr_next / rr * p[i] - r[i];
            rr = rr_next;
        }
        return d;
    }

    Settings settings_;
    Variables variables_;
    SearchSpace space_;
    HessianProduct hessian_;
    double radius_;
    bool begun_ = false;
    Vector origin_, low_, high_;  // origin: of the log scales, where the search began
    Vector values_, u_, gradient_, slope_, curvature_, bent_;
    std::vector<bool> free_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_newton_rule(const Settings& settings, const Variables& variables,
                                             const std::shared_ptr<Device>& device,
                                             const HessianProduct& hessian) {
    return std::make_unique<NewtonRule>(settings, variables, device, hessian);
}

}  // namespace hindcast::optim
