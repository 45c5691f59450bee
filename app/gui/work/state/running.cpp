#include "app/gui/work/state/running.hpp"

#include <algorithm>
#include <utility>

namespace hindcast::gui {

Running::Running(SessionLink link) : link_(std::move(link)), snapshot_(link_.snapshot()) {}

void Running::update() {
    snapshot_ = link_.snapshot();
    if (speed_ == now().run.speed_asked) speed_.reset();
}

const session::IterationInfo* Running::best_row() const {
    if (!now().optimization.history) return nullptr;
    const auto row =
        std::ranges::find(*now().optimization.history, now().optimization.best_iteration,
                          &session::IterationInfo::iteration);
    return row == now().optimization.history->end() ? nullptr : &*row;
}

bool Running::has_measured() const {
    return now().scene.stage != nullptr &&
           std::ranges::any_of(now().scene.stage->drawables, &render::Drawable::measured);
}

void Running::play(bool on) { send(session::Play{on}); }

void Running::set_speed(double seconds_per_second) {
    speed_ = seconds_per_second;
    send(session::SetSpeed{seconds_per_second});
}

void Running::optimize(session::Optimize::What what) { send(session::Optimize{what}); }

}  // namespace hindcast::gui
