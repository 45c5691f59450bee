// The search for a step along a direction: phi(t) = L(u + t d), with phi'(0) < 0.
//
// A step is taken if its slope is flat enough, |phi'(t)| <= flat |phi'(0)|, and its loss is small
// enough: phi(t) <= phi(0) + 1e-4 t phi'(0) (the strong Wolfe conditions; J. Nocedal and S. Wright,
// Numerical Optimization, 2nd ed., (3.7)), or |phi(t) - phi(0)| <= noise. The latter are the
// approximate Wolfe conditions (W. Hager and H. Zhang, SIAM J. Optim. 16, 2005, (4.1), with
// delta = (1 - flat) / 2): if rounding hides the decrease, the slopes still tell where the minimum
// is. Across a kink no slope is flat. After a few tries phi'(t) >= flat phi'(0) is enough, the weak
// condition, by which BFGS learns of kinks (A. Lewis and M. Overton, Math. Program. 141, 2013).
//
// The search keeps an interval [a, b]: at `a` the loss is small enough and the slope negative; at b
// (none yet, at first) the slope is not negative, the loss is too large, or a value is not finite.
// A minimum lies between them. The next step is where a line through the two slopes vanishes, or
// the minimum of a parabola, never too close to the ends; the interval is halved if that shrinks it
// too little.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace hindcast::optim {

struct LinePoint {
    double step = 0, loss = 0, slope = 0;
    bool finite = true;  // the loss and the gradient
};

struct Line {
    double loss = 0, slope = 0;  // at step 0; the slope is negative
    double longest = 1;          // step; the first one that is tried is 1
    double noise = 0;            // rounding of the loss, absolute
    double flat = 0.8;           // slope that is flat enough, relative
};

struct LineResult {
    // The index in `tried` of the step to take. A step that satisfies the conditions is the last
    // one tried; without one it is the step with the lowest loss, if that is below the loss at step
    // 0.
    std::optional<std::size_t> taken;
    std::vector<LinePoint> tried;
};

// `at` evaluates the line at a step; an exception that it throws passes through.
LineResult search_line(const Line& line, const std::function<LinePoint(double step)>& at);

// The deviation of the losses of the shortest steps tried from the values their slopes predict:
// rounding stays as steps become shorter, whereas a kink, or a wrong slope, shrinks with them.
double scatter(const Line& line, const std::vector<LinePoint>& tried);

}  // namespace hindcast::optim
