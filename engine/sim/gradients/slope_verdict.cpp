#include "engine/sim/gradients/slope_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hindcast {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
constexpr double near = 0.05;     // of the scale: secants that agree with the adjoint
constexpr double noticed = 1e-4;  // of the terms: one-sided derivatives that differ
constexpr double coarse = 1e-3;   // of the scale: differences that do not agree with each other
constexpr double certain = 10;    // so many times the uncertainty is not chance
constexpr double part_of_terms = 1e-3;
constexpr double nearer = 1.75;       // for each halving of the width
constexpr double fastest = 3;         // power of the width
constexpr int fewest = 4, most = 24;  // wide secants

double secant(const SlopeSample& s) { return (s.above - s.below) / (2 * s.step); }

// Among values at falling steps, the pair of neighbors that differ least. Rounding of the loss
// counts as a difference: two values may agree by chance if they are rounding alone.
struct Settled {
    double value = no_value, step = no_value, uncertainty = infinity;
};

template <class F>
Settled settled(const std::vector<SlopeSample>& samples, double loss, F value_at) {
    Settled best;
    const double rounding = std::numeric_limits<double>::epsilon() * std::fabs(loss);
    for (std::size_t k = 1; k < samples.size(); ++k) {
        const double value = value_at(k),
                     change = std::fabs(value - value_at(k - 1)) + rounding / samples[k].step;
        if (change <= best.uncertainty && std::isfinite(change))
            best = {value, samples[k].step, change};
    }
    return best;
}

// One-sided derivative toward `side`, the error of first order removed.
Settled one_sided(const std::vector<SlopeSample>& samples, double loss, double side) {
    const auto slope = [&](std::size_t k) {
        return side * ((side > 0 ? samples[k].above : samples[k].below) - loss) / samples[k].step;
    };
    return settled(samples, loss, [&](std::size_t k) {
        if (k == 0) return no_value;
        const double ratio = samples[k - 1].step / samples[k].step;
        return (ratio * slope(k) - slope(k - 1)) / (ratio - 1);
    });
}

double one_sided_terms(const SlopeSample& s, double loss) {
    return (std::fabs(s.above - loss) + std::fabs(s.below - loss)) / (2 * s.step);
}

double terms_that_cancel(const std::vector<SlopeSample>& samples, double loss) {
    if (samples.empty()) return 0;
    const SlopeSample& s = samples.front();
    const double bend = std::fabs(s.above - 2 * loss + s.below);
    return std::max(one_sided_terms(s, loss), std::sqrt(2 * std::fabs(loss) * bend) / s.step);
}

bool finite(const SlopeSample& s) { return std::isfinite(s.above) && std::isfinite(s.below); }

// Secants of falling width, down to the plateau.
class Secants {
public:
    Secants(double adjoint, double loss, double floor)
        : adjoint_(adjoint), loss_(loss), floor_(floor) {}

    void add(const SlopeSample& s) {
        const double slope = secant(s), error = std::fabs(slope - adjoint_);
        const double scale =
            std::max({std::fabs(adjoint_), std::fabs(slope), floor_, one_sided_terms(s, loss_)});
        all_.push_back({s.step, error, error <= near * scale});
    }
    bool two_agree() const {
        return all_.size() > 1 && all_.back().agrees && all_[all_.size() - 2].agrees;
    }
    // The widest step from which on all agree; 0 if the narrowest does not.
    double usable() const {
        const std::size_t k = count_to_narrowest();
        return k < all_.size() ? all_[k].step : 0;
    }
    // The number of secants down to the narrowest that does not agree, that one included; 0: all
    // agree.
    std::size_t count_to_narrowest() const {
        std::size_t k = all_.size();
        while (k > 0 && all_[k - 1].agrees) --k;
        return k;
    }
    double error(std::size_t k) const { return all_[k].error; }
    double step(std::size_t k) const { return all_[k].step; }
    std::size_t size() const { return all_.size(); }

private:
    struct One {
        double step, error;
        bool agrees;
    };
    double adjoint_, loss_, floor_;
    std::vector<One> all_;
};

// Do the secants lead to the adjoint as they narrow?
bool leads(Secants& secants, const std::vector<SlopeSample>& samples, double plateau_step,
           const std::function<SlopeSample(double)>& wide, double span, double& widest) {
    bool first = true;
    double step = span;
    for (int k = 0; k < most && step > plateau_step && (k < fewest || !secants.two_agree());
         ++k, step /= 2) {
        const SlopeSample s = wide(step);
        if (!finite(s)) continue;
        if (first) widest = secant(s);
        first = false;
        secants.add(s);
    }
    const std::size_t wide_ones = secants.size();
    for (const SlopeSample& s : samples)
        if (s.step >= plateau_step && s.step <= 2 * step) secants.add(s);
    const std::size_t count = secants.count_to_narrowest();
    if (count == 0) return true;
    if (count > wide_ones || count == secants.size()) return false;
    if (count == 1) return true;  // only the widest does not agree
    const std::size_t k = count - 1;
    if (secants.step(k - 1) > 3 * secants.step(k)) return true;  // there is no loss in between
    if (secants.error(k - 1) >= nearer * secants.error(k)) return true;
    return secants.error(k) <=
           secants.error(k + 1) * std::pow(secants.step(k) / secants.step(k + 1), fastest);
}

}  // namespace

std::string to_string(SlopeVerdict verdict) {
    switch (verdict) {
        case SlopeVerdict::ok: return "ok";
        case SlopeVerdict::kink: return "a kink";
        case SlopeVerdict::not_smooth: return "not smooth";
        case SlopeVerdict::unclear: return "unclear";
        case SlopeVerdict::wrong: return "WRONG";
        case SlopeVerdict::unknown: break;
    }
    return "unknown";
}

SlopeJudgment judge_slope(double adjoint, double loss, std::vector<SlopeSample> samples,
                          const std::function<SlopeSample(double step)>& wide, double span,
                          double floor, double tolerance) {
    std::erase_if(samples, [](const SlopeSample& s) { return !finite(s); });
    std::ranges::sort(samples, std::greater{}, &SlopeSample::step);

    SlopeJudgment j;
    j.terms = terms_that_cancel(samples, loss);
    const Settled central =
        settled(samples, loss, [&](std::size_t k) { return secant(samples[k]); });
    j.difference = central.value;
    j.step = central.step;
    if (!samples.empty()) j.widest = secant(samples.front());
    if (!std::isfinite(central.value) || !std::isfinite(adjoint)) {
        j.error = infinity;
        if (std::isfinite(central.value)) j.verdict = SlopeVerdict::wrong;
        return j;
    }
    const double scale =
        std::max({std::fabs(adjoint), std::fabs(central.value), part_of_terms * j.terms, floor});
    const double distance = std::fabs(adjoint - central.value);
    j.error = distance == 0 ? 0 : distance / scale;

    const Settled right = one_sided(samples, loss, 1), left = one_sided(samples, loss, -1);
    j.right = right.value;
    j.left = left.value;
    const double uncertainty = right.uncertainty + left.uncertainty;
    if (std::fabs(right.value - left.value) >
        noticed * std::max({scale, j.terms, std::fabs(right.value), std::fabs(left.value)}) +
            certain * uncertainty) {
        const double margin = tolerance * scale + certain * uncertainty;
        const bool between = adjoint >= std::min(left.value, right.value) - margin &&
                             adjoint <= std::max(left.value, right.value) + margin;
        j.verdict = between ? SlopeVerdict::kink : SlopeVerdict::not_smooth;
        return j;
    }
    if (j.error > tolerance) {
        const double to_one =
            std::min(std::fabs(adjoint - right.value), std::fabs(adjoint - left.value));
        const bool bends = std::fabs(right.value - left.value) > certain * uncertainty &&
                           to_one <= tolerance * scale + uncertainty;
        j.verdict = bends                                      ? SlopeVerdict::kink
                    : distance > certain * central.uncertainty ? SlopeVerdict::wrong
                    : central.uncertainty <= coarse * scale    ? SlopeVerdict::unclear
                                                               : SlopeVerdict::not_smooth;
        return j;
    }

    Secants secants(adjoint, loss, std::max(floor, part_of_terms * j.terms));
    const bool smooth = leads(secants, samples, central.step, wide, span, j.widest);
    j.usable = secants.usable();
    j.verdict = smooth ? SlopeVerdict::ok : SlopeVerdict::not_smooth;
    return j;
}

}  // namespace hindcast
