// The rule by which differences judge a derivative, on functions whose derivatives are known.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "engine/sim/gradients/slope_verdict.hpp"

using namespace hindcast;

namespace {

SlopeJudgment judge(double adjoint, const std::function<double(double)>& loss, double span = 0.1,
                    double tolerance = 1e-6, double floor = 0) {
    const auto at = [&](double h) { return SlopeSample{h, loss(h), loss(-h)}; };
    std::vector<SlopeSample> samples;
    for (int k = 2; k <= 9; ++k) samples.push_back(at(std::pow(10.0, -k)));
    return judge_slope(adjoint, loss(0), samples, at, span, floor, tolerance);
}

}  // namespace

TEST_CASE("slope verdict: however little a loss bends, its derivatives to both sides are right") {
    // 1 to the right, 1 - bend to the left.
    for (const double bend : {1e-5, 1e-4, 1e-3, 0.5, 3.0}) {
        CAPTURE(bend);
        const auto loss = [bend](double x) { return std::exp(x) - (x < 0 ? bend * x : 0); };
        CHECK(judge(1, loss).verdict == SlopeVerdict::kink);
        CHECK(judge(1 - bend, loss).verdict == SlopeVerdict::kink);
        CHECK(!passes(judge(1 + 1e-4, loss).verdict));
        CHECK(!passes(judge(1 - bend - 1e-4, loss).verdict));
    }
    // Between them it would be neither.
    CHECK(judge(1 - 0.3e-5, [](double x) {
              return std::exp(x) - (x < 0 ? 1e-5 * x : 0);
          }).verdict == SlopeVerdict::wrong);
}

TEST_CASE("slope verdict: smooth losses are ok, and how far their slope holds is said") {
    CHECK(judge(1, [](double x) { return x; }).verdict == SlopeVerdict::ok);
    CHECK(judge(1, [](double x) { return x; }).usable == 0.1);
    CHECK(judge(1, [](double x) { return 7 + std::exp(x); }).verdict == SlopeVerdict::ok);
    CHECK(judge(-2, [](double x) { return (x - 1) * (x - 1); }).verdict == SlopeVerdict::ok);
    CHECK(judge(0, [](double) { return 3.0; }).verdict == SlopeVerdict::ok);
    // Curved more than the widest step: sin(100 x)/100 has the secant sin(100 w) / 100 w, which
    // is within 5 % of 1 for 100 w < 0.55: of the halves of 0.1, from 0.1 / 32 on.
    const SlopeJudgment bent = judge(1, [](double x) { return std::sin(100 * x) / 100; });
    CHECK(bent.verdict == SlopeVerdict::ok);
    CHECK(bent.usable == 0.1 / 32);
    CHECK(judge(1, [](double x) { return std::tanh(20 * x) / 20; }).verdict == SlopeVerdict::ok);
    for (const double phase : {0.1, 0.4, 0.7, 1.0, 1.3})
        for (const double rate : {30.0, 300.0, 3000.0})
            CHECK(judge(std::cos(phase), [phase, rate](double x) {
                      return 2 + std::sin(rate * x + phase) / rate;
                  }).verdict == SlopeVerdict::ok);
}

TEST_CASE("slope verdict: a wrong derivative is WRONG, by a little and by its sign") {
    const auto loss = [](double x) { return std::exp(x); };
    for (const double wrong : {0.0, -1.0, 2.0, 1.00001})
        CHECK(judge(wrong, loss).verdict == SlopeVerdict::wrong);
    CHECK(judge(1.00001, loss, 0.1, 1e-4).verdict == SlopeVerdict::ok);
    // Near an optimum too: half the curvature is not a rounding error.
    const auto bowl = [](double x) { return 2 + (x - 1e-3) * (x - 1e-3); };
    CHECK(judge(-2e-3, bowl).verdict == SlopeVerdict::ok);
    CHECK(judge(-1e-3, bowl).verdict == SlopeVerdict::wrong);
    CHECK(judge(2e-3, bowl).verdict == SlopeVerdict::wrong);
}

TEST_CASE("slope verdict: at an optimum rounding is no fault of the derivative") {
    for (const double a : {0.0, 1e-17, -3e-16, 1e-12}) {
        CAPTURE(a);
        CHECK(judge(a, [](double x) { return 0.5 + x * x; }).verdict == SlopeVerdict::ok);
        CHECK(judge(a, [](double x) { return (1 + x) * (1 + x) + (1 - x) * (1 - x); }).verdict ==
              SlopeVerdict::ok);
        CHECK(judge(a, [](double x) { return std::cos(x); }).verdict == SlopeVerdict::ok);
    }
    CHECK(judge(1e-3, [](double x) { return 0.5 + x * x; }).verdict == SlopeVerdict::wrong);
}

TEST_CASE("slope verdict: jumps that are closer than the width make a loss that is not smooth") {
    // The slope of each piece is 1, that of the loss is -2, at every resolution of the jumps.
    for (const double piece : {0.03, 3e-3, 3e-4, 3e-5}) {
        CAPTURE(piece);
        const auto saw = [piece](double x) { return x - 3 * piece * std::floor(x / piece + 0.37); };
        const SlopeJudgment j = judge(1, saw);
        CHECK(j.verdict == SlopeVerdict::not_smooth);
        CHECK(j.difference == doctest::Approx(1));
        CHECK(j.widest < 0);
        // Without wide differences nothing is said of pieces that are wider than the others.
        if (piece > 0.02) CHECK(judge(1, saw, 0).verdict == SlopeVerdict::ok);
        // The loss's own slope is not what the program's differences have: wrong, not rough.
        if (piece > 1e-3) CHECK(judge(-2, saw).verdict == SlopeVerdict::wrong);
    }
    // One jump nearby.
    CHECK(judge(1, [](double x) { return x + (x > 0.03 ? 0.5 : 0); }).verdict ==
          SlopeVerdict::not_smooth);
    // A jump at the point itself: differences do not agree with each other.
    CHECK(judge(1, [](double x) { return x + (x > 0 ? 0.5 : 0); }).verdict ==
          SlopeVerdict::not_smooth);
}

TEST_CASE("slope verdict: one-sided derivatives that differ are a kink") {
    const auto rope = [](double x) { return 1 + (x > 0 ? 0.4 * x + x * x : 0.39 * x); };
    for (const double side : {0.4, 0.39, 0.395}) {
        const SlopeJudgment j = judge(side, rope);
        CHECK(j.verdict == SlopeVerdict::kink);
        CHECK(j.right == doctest::Approx(0.4).epsilon(1e-7));
        CHECK(j.left == doctest::Approx(0.39).epsilon(1e-7));
    }
    for (const double neither : {0.41, 0.38, 0.0, -0.4})
        CHECK(judge(neither, rope).verdict == SlopeVerdict::not_smooth);
    CHECK(judge(0, [](double x) { return std::fabs(x); }).verdict == SlopeVerdict::kink);
    // A bend that is 2 % away is no kink here, and a slight one does not mislead.
    for (const double bend : {0.1, 1.0, 10.0})
        CHECK(judge(1, [bend](double x) {
                  return x + (x > 0.02 ? bend * (x - 0.02) : 0);
              }).verdict == SlopeVerdict::ok);
}

TEST_CASE("slope verdict: losses that are not finite are left out") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(judge(1, [nan](double x) { return std::fabs(x) > 0.03 ? nan : std::exp(x); }).verdict ==
          SlopeVerdict::ok);
    CHECK(judge(1, [nan](double x) { return x == 0 ? 1.0 : nan; }).verdict ==
          SlopeVerdict::unknown);
    CHECK(judge(nan, [](double x) { return x; }).verdict == SlopeVerdict::wrong);
    // Finer than differences can be: neither right nor wrong.
    CHECK(judge(
              1 + 1e-11, [](double x) { return std::exp(x); }, 0.1, 1e-13)
              .verdict == SlopeVerdict::unclear);
}
