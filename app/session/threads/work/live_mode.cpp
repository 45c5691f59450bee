#include "app/session/threads/work/live_mode.hpp"

#include <algorithm>
#include <cmath>

namespace hindcast::session {

namespace {

// A rule that would go on for ever rests after so many rows that have not lowered the loss by this
// part, or when the loss is this part of what it was: less cannot be seen in the picture.
constexpr std::int64_t rows_without_progress = 50;
constexpr double least_progress = 1e-6, least_loss = 1e-12;

}  // namespace

void LiveMode::set(const Live& live) {
    live_ = live;
    live_.rate = std::isfinite(live.rate) ? std::max(live.rate, 0.0) : 0;
    if (!live_.on && state_.rests) {
        rest(false);
        state_.optimizing = false;
    }
    const Lock lock(shared_.mutex);
    shared_.draft.optimization.live = live_;
    shared_.mark_changed();
}

void LiveMode::turn_off() { shared_.draft.optimization.live = live_ = {.on = false}; }

void LiveMode::rest(bool on) {
    state_.rests = on;
    if (!on) progress_ = {};
    const Lock lock(shared_.mutex);
    if (shared_.draft.optimization.live_waits == on) return;
    shared_.draft.optimization.live_waits = on;
    if (!on) shared_.note_stop("");
    shared_.mark_changed();
}

bool LiveMode::at_minimum(double loss) {
    Progress& p = progress_;
    p.greatest = std::max(p.greatest, std::fabs(loss));
    if (p.rows == 0 || loss < p.mark - least_progress * std::fabs(p.mark)) {
        p.mark = loss;
        p.rows = 1;
    } else if (p.rows++ == rows_without_progress) {
        p.end = "at a minimum: " + std::to_string(rows_without_progress) +
                " iterations have not lowered the loss";
    }
    if (std::fabs(loss) <= least_loss * p.greatest)
        p.end = "at a minimum: almost nothing is left of the loss";
    return !p.end.empty();
}

Clock::time_point LiveMode::next_row() const {
    return last_row_ + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(1 / live_.rate));
}

}  // namespace hindcast::session
