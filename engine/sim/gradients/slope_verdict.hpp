// Is a slope right, and of any use? A derivative of a loss against differences of that loss along one
// direction: a rule of its own, that sees numbers only.
//
// Written with L(h) for the loss at a distance h along the direction, a for the derivative that is
// judged (the adjoint's), S(h) = (L(h) - L(-h)) / 2h for the central secant:
//
//   terms        the size of the terms that cancel in S: the larger of
//                  (|L(h) - L(0)| + |L(-h) - L(0)|) / 2h       for h = 1e-2, and
//                  sqrt(2 |L(0)| |L(h) - 2 L(0) + L(-h)|) / h  there: for a sum of squares r^2 the
//                  derivative is the sum of 2 r r', and this bounds |r| |r'| (Cauchy and Schwarz).
//                Near an optimum they stay while a and S vanish: all that is left of those is rounding
//                and curvature.
//   scale        what errors refer to: the largest of |a|, |D|, the caller's floor, and a thousandth of
//                the terms.
//   plateau      of all steps up to 1e-2, the two neighbors whose secants differ least, plus the
//                rounding eps |L(0)| / h of the narrower: D is that one, u the sum. The adjoint has no
//                part in it.
//   one-sided    (10 F(h) - F(10 h)) / 9 with F(h) = (L(h) - L(0)) / h, likewise from its plateau: R;
//                to the other side: Q.
//   agreement    a secant agrees if |S - a| is at most 5 % of the largest of the scale, |S| and
//                the first kind of terms at its width.
//   wide         secants at w, w/2, w/4, ...: at least four, until two in a row agree or the plateau's
//                step is reached. Those narrower down to the plateau must agree too.
//   usable       the widest step from which on all secants down to the plateau agree
//
// The verdict is the first of these that applies:
//   unknown      no two neighboring steps have finite losses
//   a kink       R and Q differ by more than 1e-4 of the terms and ten times their own uncertainty, and
//                a is one of them or lies between them; not smooth if it does not
//   a kink       |a - D| is more than the tolerance, R and Q differ by more than ten times their own
//                uncertainty, and a is one of them, to the tolerance and that uncertainty
//   WRONG        |a - D| is more than the tolerance, and more than 10 u: the differences agree with each
//                other, and not with a
//   unclear      |a - D| is more than the tolerance, u less than 1e-3 of the scale: the differences are
//                too coarse for this tolerance
//   not smooth   the differences do not agree with each other; or the secants do not lead to a as they
//                narrow. They do if all agree, or all but the widest; or if the narrowest that does not
//                agree is 1.75 times nearer to a than the one of twice its width, or the next one, which
//                agrees, is not more than 8 times nearer still. The error of a smooth loss falls to a
//                quarter, that beside a bend faster. Secants across jumps that are closer together than
//                the width keep away from a (with n jumps within, at most (2n + 1) / 2n times nearer),
//                and meet it at once when the last jump is outside; a is then the slope of a piece, not
//                of the loss.
//   ok           otherwise
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hindcast {

// From good to bad.
enum class SlopeVerdict : std::uint8_t { ok, kink, not_smooth, unclear, unknown, wrong };

std::string to_string(
    SlopeVerdict verdict);  // "ok", "a kink", "not smooth", "unclear", "WRONG", "unknown"
// Does it speak for the derivative? A kink does: the derivative is one of several that are right.
inline bool passes(SlopeVerdict v) { return v == SlopeVerdict::ok || v == SlopeVerdict::kink; }

struct SlopeSample {
    double step = 0, above = 0, below = 0;  // L(step), L(-step); not finite: there is no loss
};

struct SlopeJudgment {
    SlopeVerdict verdict = SlopeVerdict::unknown;
    double difference = 0, step = 0;  // D and its step
    double error = 0;                 // |a - D| / scale
    double terms = 0;                 // the size of the terms that cancel
    double usable = 0;                // 0 if not even the plateau agrees
    double widest = 0;                // secant S of the widest step
    double left = 0, right = 0;       // Q and R
};

// Samples at steps up to 1e-2, in any order; `wide` gives one at a wider step, from `span` down. span
// 0: none are asked for, and only the plateau tells whether the loss is smooth.
SlopeJudgment judge_slope(double adjoint, double loss, std::vector<SlopeSample> samples,
                          const std::function<SlopeSample(double step)>& wide, double span,
                          double floor, double tolerance);

}  // namespace hindcast
