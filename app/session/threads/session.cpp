#include "app/session/session.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/session/threads/playback/playback.hpp"
#include "app/session/threads/runner.hpp"
#include "engine/backend/cuda/context.hpp"

namespace hindcast::session {

struct Session::State {
    std::shared_ptr<Device> device;
    SharedState shared;
    Runner runner;
    Playback playback;

    mutable std::mutex mutex;  // of the members below: held for a few instructions only
    mutable std::condition_variable published;
    std::shared_ptr<const Snapshot> newest = std::make_shared<const Snapshot>();
    std::function<void()> wake;

    std::thread playback_thread, runner_thread;

    State(const Registry& registry, SessionOptions options)
        : device(options.simulation.device),
          runner(shared, registry, std::move(options)),
          playback(
              shared, *device, [this](std::shared_ptr<const Snapshot> s) { publish(std::move(s)); },
              [this] { notify(); }) {}

    void publish(std::shared_ptr<const Snapshot> snapshot) {
        {
            const std::lock_guard lock(mutex);
            newest = std::move(snapshot);
        }
        published.notify_all();
        notify();
    }

    void notify() {
        std::function<void()> call;
        {
            const std::lock_guard lock(mutex);
            call = wake;
        }
        if (call) call();
    }
};

std::optional<std::array<std::uint8_t, 16>> cuda_uuid(const Device& device) {
    if (!device.cuda()) return std::nullopt;
    return device.cuda()->info().uuid;
}

Session::Session(const Registry& registry, SessionOptions options) {
    if (!options.simulation.device)
        options.simulation.device = std::make_shared<Device>(DeviceOptions{});
    state_ = std::make_unique<State>(registry, std::move(options));
    State& s = *state_;
    s.playback_thread = std::thread([&s] { s.playback.run(); });
    s.runner_thread = std::thread([&s] { s.runner.run(); });
}

Session::~Session() {
    State& s = *state_;
    {
        const std::lock_guard lock(s.shared.mutex);
        s.shared.ends = true;
    }
    s.shared.playback_wakes.notify_all();
    s.shared.runner_wakes.notify_all();
    s.playback_thread.join();
    s.runner_thread.join();
}

void Session::send(Command command) {
    const std::lock_guard lock(state_->shared.mutex);
    state_->shared.playback_commands.push_back(std::move(command));
    state_->shared.playback_wakes.notify_all();
}

std::shared_ptr<const Snapshot> Session::snapshot() const {
    const std::lock_guard lock(state_->mutex);
    return state_->newest;
}

void Session::on_change(std::function<void()> wake) {
    const std::lock_guard lock(state_->mutex);
    state_->wake = std::move(wake);
}

std::shared_ptr<const Snapshot> Session::wait(const std::function<bool(const Snapshot&)>& condition,
                                              double seconds) const {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(seconds));
    std::unique_lock lock(state_->mutex);
    for (;;) {
        const std::shared_ptr<const Snapshot> snapshot = state_->newest;
        lock.unlock();
        if (condition(*snapshot)) return snapshot;
        lock.lock();
        if (snapshot != state_->newest) continue;
        if (state_->published.wait_until(lock, until) == std::cv_status::timeout &&
            snapshot == state_->newest) {
            Error error("what was waited for did not happen in " + std::to_string(seconds) + " s");
            error.note(fmt::format(
                "revision {} of {}, activity {} \"{}\", {} of {} steps, loss {}, stopped: \"{}\"",
                snapshot->handover.revision, snapshot->handover.applied_revision,
                static_cast<int>(snapshot->reports.activity), snapshot->reports.activity_text,
                snapshot->run.steps_computed, snapshot->run.steps, snapshot->run.loss,
                snapshot->optimization.stop_reason));
            if (snapshot->reports.error) error.note(snapshot->reports.error->what());
            throw error;
        }
    }
}

}  // namespace hindcast::session
