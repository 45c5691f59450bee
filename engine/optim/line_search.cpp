#include "engine/optim/line_search.hpp"

#include <algorithm>
#include <cmath>

namespace hindcast::optim {

namespace {

constexpr double enough_decrease = 1e-4;
constexpr double least_growth = 2, most_growth = 10;  // of the step, while there is no upper end
constexpr double margin = 0.1;                        // of the interval, at both ends
constexpr double back_from_infinity = 0.1;
constexpr std::size_t most_tries = 30, patience = 4;  // until the weak conditions are enough
constexpr double smallest_interval = 0x1p-40;         // relative
constexpr std::size_t shortest_steps = 3;             // that tell the scatter

class LineSearch {
public:
    LineSearch(const Line& line, const std::function<LinePoint(double)>& at)
        : line_(line), at_(at), a_{0, line.loss, line.slope, true} {}

    LineResult run() {
        double step = std::min(1.0, line_.longest);
        while (!look(step) && result_.tried.size() < most_tries) {
            if (weak_ && result_.tried.size() >= patience) break;
            // Differences of the loss say nothing there.
            if (a_.step == 0 && b_ && b_->finite && -b_->step * line_.slope <= line_.noise) break;
            if (b_ && b_->step - a_.step <= smallest_interval * b_->step) break;
            // Shorter steps than b are lost in rounding.
            if (b_ && a_.step > 0 && a_.loss == line_.loss && a_.slope == line_.slope) break;
            const double next = b_ ? between(*b_) : beyond();
            if (next == step) break;
            step = next;
        }
        if (!result_.taken) result_.taken = weak_ ? weak_ : lowest_;
        return std::move(result_);
    }

private:
    // Tries a step; true if it is the one.
    bool look(double step) {
        const LinePoint p = at_(step);
        result_.tried.push_back(p);
        const std::size_t index = result_.tried.size() - 1;
        if (p.finite && p.loss < line_.loss) note(lowest_, index);
        const bool small = p.loss <= line_.loss + enough_decrease * step * line_.slope ||
                           std::fabs(p.loss - line_.loss) <= line_.noise;
        if (!p.finite || !small) {
            set_upper(p);
            return false;
        }
        const bool at_the_end = p.slope < 0 && step >= line_.longest;
        if (std::fabs(p.slope) <= -line_.flat * line_.slope || at_the_end) {
            result_.taken = index;
            return true;
        }
        if (p.slope >= 0) {
            note(weak_, index);
            set_upper(p);
            return false;
        }
        if (b_) slow_ = p.step - a_.step < 0.5 * (b_->step - a_.step);
        before_ = a_;
        a_ = p;
        return false;
    }

    void note(std::optional<std::size_t>& best, std::size_t index) const {
        if (!best || result_.tried[index].loss < result_.tried[*best].loss) best = index;
    }

    void set_upper(const LinePoint& p) {
        if (b_) slow_ = b_->step - p.step < 0.5 * (b_->step - a_.step);
        b_ = p;
    }

    double between(const LinePoint& b) const {
        const double width = b.step - a_.step;
        if (!b.finite) return a_.step + back_from_infinity * width;
        double part = 0.5;
        if (!slow_) {
            if (b.slope > 0)
                part = a_.slope / (a_.slope - b.slope);
            else if (const double rise = b.loss - a_.loss - a_.slope * width; rise > 0)
                part = -0.5 * a_.slope * width / rise;
        }
        return a_.step + std::clamp(part, margin, 1 - margin) * width;
    }

    double beyond() const {
        double next = most_growth * a_.step;
        if (before_ && a_.slope > before_->slope)
            next = a_.step - a_.slope * (a_.step - before_->step) / (a_.slope - before_->slope);
        next = std::clamp(next, least_growth * a_.step, most_growth * a_.step);
        return std::min(next, line_.longest);
    }

    const Line& line_;
    const std::function<LinePoint(double)>& at_;
    LinePoint a_;
    std::optional<LinePoint> b_, before_;
    std::optional<std::size_t> weak_;    // the lowest that meets the weak conditions
    std::optional<std::size_t> lowest_;  // of the losses below that at step 0
    bool slow_ = false;                  // the last step took less than half of the interval
    LineResult result_;
};

}  // namespace

LineResult search_line(const Line& line, const std::function<LinePoint(double)>& at) {
    return LineSearch(line, at).run();
}

double scatter(const Line& line, const std::vector<LinePoint>& tried) {
    std::vector<LinePoint> finite;
    for (const LinePoint& p : tried)  // of equal bits: a step that is lost in rounding
        if (p.finite && (p.loss != line.loss || p.slope != line.slope)) finite.push_back(p);
    std::sort(finite.begin(), finite.end(),
              [](const LinePoint& a, const LinePoint& b) { return a.step < b.step; });
    if (finite.size() > shortest_steps) finite.resize(shortest_steps);
    double largest = 0;
    for (const LinePoint& p : finite) {
        const double expected = 0.5 * p.step * (line.slope + p.slope);
        largest = std::max(largest, std::fabs(p.loss - line.loss - expected));
    }
    return largest;
}

}  // namespace hindcast::optim
