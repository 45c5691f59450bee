#include "app/session/threads/running/interrupts.hpp"

#include <algorithm>
#include <utility>

namespace hindcast::session {

Interrupts::Interrupts(RunnerState& state, std::function<void()> serve)
    : state_(state), shared_(state.shared), serve_(std::move(serve)) {}

Interrupts::OnlyWhile::OnlyWhile(Interrupts& interrupts, std::function<bool()> is_wanted)
    : interrupts_(interrupts) {
    interrupts_.is_wanted_ = std::move(is_wanted);
}

std::deque<Command> Interrupts::take_commands() {
    std::deque<Command> commands;
    Lock lock(shared_.mutex);
    wait_for_shown_edit(lock);
    commands.swap(shared_.runner_commands);
    interrupt_ = Interrupt::none;
    edit_waits_ = false;
    return commands;
}

void Interrupts::begin_work() {
    see_requests();
    interrupt_ = Interrupt::none;
}

void Interrupts::note_edit() {
    edited_ = shared_.current;
    edited_at_ = Clock::now();
}

Interrupt Interrupts::check() {
    if (shared_.ends) return Interrupt::now;
    if (!has_requests() && !edit_waits_) return interrupt_;
    serve_();
    const Lock lock(shared_.mutex);
    begin_work();
    edit_waits_ = false;
    const auto at_least = [this](Interrupt wanted) { interrupt_ = std::max(interrupt_, wanted); };
    const bool computes_rows = state_.computes_rows();
    for (const Command& command : shared_.runner_commands) {
        const auto* const apply = std::get_if<Apply>(&command);
        const auto* const steer = std::get_if<Optimize>(&command);
        if (apply != nullptr && !apply->fresh && shared_.growing == edited_.lock() &&
            edit_is_coming()) {
            edit_waits_ = true;
            continue;
        }
        const bool at_once = !computes_rows || (apply != nullptr && apply->fresh) ||
                             (steer != nullptr && steer->what == Optimize::What::stop) ||
                             std::holds_alternative<Reset>(command) ||
                             std::holds_alternative<Revert>(command) ||
                             std::holds_alternative<Branch>(command);
        at_least(at_once ? Interrupt::now : Interrupt::at_row);
    }
    // The trajectory that the user looks at goes before the one that runs.
    if (!computes_rows) {
        const TrajectoryPointer wanted = shared_.wanted_trajectory();
        if (wanted != shared_.growing &&
            (!wanted || (!wanted->complete && !wanted->failed && !wanted->of_mouse_pull)))
            at_least(Interrupt::now);
        if (is_wanted_ && !is_wanted_()) at_least(Interrupt::now);
    }
    return interrupt_;
}

// True if the run of the last edited number is wanted and not shown yet.
bool Interrupts::edit_is_coming() const {
    constexpr auto longest = std::chrono::milliseconds(500);
    const TrajectoryPointer t = edited_.lock();
    return t && t == shared_.current && t != shared_.shown && !shared_.wanted.iteration &&
           !t->failed && Clock::now() - edited_at_ < longest;
}

// Once that run has come to the time shown, Playback shows it before another edit replaces it.
void Interrupts::wait_for_shown_edit(Lock& lock) {
    constexpr auto longest = std::chrono::milliseconds(100);
    const auto due = Clock::now() + longest;
    const auto waits = [&] {
        const TrajectoryPointer t = edited_.lock();
        const auto is_edit = [](const Command& command) {
            const auto* const apply = std::get_if<Apply>(&command);
            return apply != nullptr && !apply->fresh;
        };
        return t && edit_is_coming() && t->reaches(shared_.time.step_in(*t->scene)) &&
               !shared_.runner_commands.empty() &&
               std::ranges::all_of(shared_.runner_commands, is_edit);
    };
    while (!shared_.ends && waits() && Clock::now() < due)
        shared_.runner_wakes.wait_until(lock, due);
}

}  // namespace hindcast::session
