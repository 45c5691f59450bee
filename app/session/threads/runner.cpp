#include "app/session/threads/runner.hpp"

#include <utility>

#include "engine/backend/jit/machine_code.hpp"

namespace hindcast::session {

Runner::Runner(SharedState& shared, const Registry& registry, SessionOptions options)
    : shared_(shared),
      state_(shared, registry, std::move(options)),
      frames_(shared, state_.options.simulation.device),
      interrupts_(state_,
                  [this] {
                      frames_.serve_playback();
                      launches_.answer_waiting();
                  }),
      history_(state_),
      scenes_(state_, frames_),
      trajectories_(state_, frames_, interrupts_, scenes_),
      gradients_(state_, frames_, interrupts_, scenes_),
      between_(state_, frames_, interrupts_, scenes_),
      pull_(state_, frames_, interrupts_, trajectories_),
      launches_(state_, trajectories_),
      optimizer_(state_, interrupts_, history_, scenes_, trajectories_, gradients_, launches_),
      values_(state_, history_, trajectories_, optimizer_),
      warnings_(state_),
      documents_(state_, interrupts_, history_, scenes_, trajectories_, optimizer_, launches_,
                 warnings_),
      tools_(state_, interrupts_) {}

void Runner::run() {
    const backend::CodeListener compiling(
        [this](const std::string& text) { state_.activity.wait_for(text); });
    while (!shared_.ends) {
        bool busy = false;
        guarded([&] { frames_.serve_playback(); });
        guarded([&] { busy = take_commands(); });
        if (shared_.ends) break;
        if (!busy && state_.computes_rows()) {
            busy = true;
            guarded([&] { compute_rows(); });
        }
        if (!busy) guarded([&] { busy = do_missing(); });
        if (busy) {
            guarded([&] { launches_.publish_times(); });
            continue;
        }
        wait();
    }
    tools_.cancel();
    warnings_.cancel();
}

void Runner::wait() {
    Lock lock(shared_.mutex);
    state_.activity.end(state_.now.simulation != nullptr);
    shared_.runner_wakes.wait(lock, [&] {
        return shared_.ends || interrupts_.has_requests() || !shared_.runner_commands.empty() ||
               shared_.frame_requests.job || shared_.frame_requests.color_job;
    });
    interrupts_.see_requests();
}

void Runner::guarded(const std::function<void()>& work) {
    std::optional<Error> failure;
    try {
        work();
    } catch (const Error& error) {
        failure = error;
    } catch (const std::bad_alloc&) {
        failure = Error("there is not enough memory")
                      .remedy("make the scene smaller, or give it less memory for frames");
    } catch (const std::exception& error) {
        failure = Error(std::string("internal: ") + error.what());
    }
    if (!failure) return;
    optimizer_.stop();
    const Lock lock(shared_.mutex);
    if (shared_.growing && !shared_.growing->complete) shared_.growing->failed = true;
    shared_.growing = nullptr;
    shared_.fail(*failure);
}

bool Runner::take_commands() {
    std::deque<Command> commands = interrupts_.take_commands();
    for (std::size_t k = 0; k < commands.size() && !shared_.ends; ++k) {
        // Only the last one of several documents in a row is built.
        if (auto* apply = std::get_if<Apply>(&commands[k]);
            apply != nullptr && k + 1 < commands.size())
            if (auto* next = std::get_if<Apply>(&commands[k + 1])) {
                next->fresh |= apply->fresh;
                continue;
            }
        guarded([&] { take(commands[k]); });
    }
    const Lock lock(shared_.mutex);
    state_.note_unaccepted();
    return !commands.empty();
}

void Runner::take(Command& command) {
    if (auto* c = std::get_if<Apply>(&command)) {
        try {
            return documents_.apply(*c);
        } catch (...) {  // guarded() reports it
            const Lock lock(shared_.mutex);
            shared_.draft.handover.applied_revision = c->revision;
            throw;
        }
    }
    if (auto* c = std::get_if<Live>(&command)) return optimizer_.set_live(*c);
    if (!state_.now.simulation) throw Error("there is no scene").remedy("open one first");
    if (std::holds_alternative<Reset>(command)) {
        scenes_.drop_older();
        scenes_.drop_states();
        optimizer_.reset();
    }
    if (auto* c = std::get_if<Optimize>(&command)) optimizer_.steer(c->what);
    if (auto* c = std::get_if<Branch>(&command)) optimizer_.branch(*c);
    if (auto* c = std::get_if<Accept>(&command)) values_.accept(*c);
    if (auto* c = std::get_if<KeepValues>(&command)) values_.keep(*c);
    if (auto* c = std::get_if<UseValues>(&command)) values_.use(*c);
    if (std::holds_alternative<Revert>(command)) optimizer_.revert();
    if (auto* c = std::get_if<Grab>(&command)) pull_.run(*c);
    if (std::holds_alternative<CheckGradient>(command)) tools_.check_gradient();
    if (auto* c = std::get_if<Scan>(&command)) tools_.start_scan(*c);
    if (std::holds_alternative<CancelScan>(command)) tools_.cancel_scan();
    if (auto* c = std::get_if<Profile>(&command)) launches_.set_profiling(c->on);
    if (auto* c = std::get_if<LaunchText>(&command)) launches_.answer(*c);
}

void Runner::compute_rows() {
    gradients_.plan(state_.now);
    while (optimizer_.looks_elsewhere()) {
        state_.optimizing = false;  // so that commands act at once
        const bool busy = do_missing();
        state_.optimizing = true;
        if (!busy || interrupts_.stops_row()) break;
    }
    if (!interrupts_.stops_row()) optimizer_.run();
}

bool Runner::do_missing() {
    if (!state_.now.simulation) return false;
    TrajectoryPointer wanted, ghost;
    std::optional<std::int64_t> wanted_iteration, wanted_ghost;
    bool ghost_fits = true;
    {
        const Lock lock(shared_.mutex);
        interrupts_.begin_work();
        wanted = shared_.wanted_trajectory();
        wanted_iteration = shared_.wanted.iteration;
        wanted_ghost = shared_.wanted.ghost;
        if (wanted_ghost) ghost = shared_.trajectories.find(*wanted_ghost);
        ghost_fits = shared_.draft.optimization.ghost_problem.empty();
    }
    const auto missing = [this](const TrajectoryPointer& t) {
        return !t ||
               (!t->failed && !t->of_mouse_pull && (!t->complete || trajectories_.needs_more(*t)));
    };
    const auto run_iteration = [this](std::int64_t iteration) {
        trajectories_.run_iteration(iteration);
        return true;
    };
    if (missing(wanted)) {
        if (wanted_iteration) return run_iteration(*wanted_iteration);
        if (wanted && wanted->complete && wanted->iteration >= 0)
            return run_iteration(wanted->iteration);
        if (wanted && wanted->complete) trajectories_.show_current();  // with other arrays
        const Lock lock(shared_.mutex);
        wanted = shared_.current;
    }
    if (wanted && !wanted->complete && !wanted->failed && !wanted->of_mouse_pull) {
        trajectories_.run(wanted, true);
        return true;
    }
    if (wanted_ghost && ghost_fits && (!ghost || (!ghost->complete && !ghost->failed)))
        return run_iteration(*wanted_ghost);
    if (between_.run_missing()) return true;
    if (wanted && gradients_.wants(*wanted)) {
        gradients_.run(wanted);
        return true;
    }
    if (wanted) tools_.probe_gradients(wanted);
    scenes_.drop_unused_older();
    if (warnings_.has_found()) {
        documents_.build_again();
        return true;
    }
    warnings_.check();
    return false;
}

}  // namespace hindcast::session
