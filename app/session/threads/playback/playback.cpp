#include "app/session/threads/playback/playback.hpp"

#include <utility>

namespace hindcast::session {

namespace {

using namespace std::chrono_literals;
constexpr auto tick = 8ms;               // between frames while playing
constexpr auto snapshot_interval = 8ms;  // at least, between snapshots

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

Playback::Playback(SharedState& shared, const Device& solver, Publish publish,
                   std::function<void()> wake)
    : shared_(shared),
      publish_(std::move(publish)),
      wake_(std::move(wake)),
      cursor_(shared),
      choice_(shared, cursor_),
      output_(shared, cursor_, solver),
      colors_(shared, output_.writer()),
      filler_(shared, cursor_, output_, colors_) {}

void Playback::forward_to_runner(Command command) {
    shared_.runner_commands.push_back(std::move(command));
    shared_.wake_runner();
}

void Playback::take(Command& command) {
    shared_.changed = true;
    std::visit(Overloaded{
                   [&](ShowOn& c) { output_.show_on(std::move(c.exchange)); },
                   [&](Play& c) { cursor_.play(c.on); },
                   [&](Seek& c) { cursor_.seek(c.step); },
                   [&](StepBy& c) { cursor_.step_by(c.steps); },
                   [&](SetSpeed& c) { cursor_.set_speed(c.seconds_per_second); },
                   [&](Repeat& c) { cursor_.set_repeat(c.on); },
                   [&](ShowIteration& c) { choice_.want_iteration(c.iteration); },
                   [&](Ghost& c) { choice_.want_ghost(c.iteration); },
                   [&](FrameContents& c) {
                       shared_.wanted.contents = std::move(c);
                       shared_.wake_runner();
                   },
                   [&](WatchGradients& c) {
                       shared_.wanted.probed_gradients = c.on;
                       shared_.wake_runner();
                   },
                   [&](Grab& c) { grab(c); },
                   [&](PullTo& c) {
                       if (shared_.mouse_pull && shared_.mouse_pull->number == c.number)
                           shared_.mouse_pull->by = c.by;
                   },
                   [&](Release& c) {
                       if (!shared_.mouse_pull || shared_.mouse_pull->number != c.number) return;
                       shared_.mouse_pull->held = false;
                       shared_.mouse_pull->kept = c.keep;
                       shared_.wake_runner();
                   },
                   // Here, so that a command to show an iteration that follows keeps its effect.
                   [&](Reset& c) {
                       cursor_.rewind();
                       shared_.wanted.iteration.reset();
                       shared_.wanted.ghost.reset();
                       forward_to_runner(c);
                   },
                   [&](Revert& c) {
                       shared_.wanted.iteration.reset();
                       forward_to_runner(c);
                   },
                   [&](auto& c) { forward_to_runner(std::move(c)); },
               },
               command);
}

void Playback::grab(Grab& command) {
    if (shared_.mouse_pull || !shared_.shown) return;
    const FramePointer here = shared_.shown->frame_at(cursor_.step_in(*shared_.shown->scene));
    if (!here) return;
    MousePull& mouse_pull = shared_.mouse_pull.emplace();
    mouse_pull.number = command.number;
    mouse_pull.speed = cursor_.speed();
    mouse_pull.start_step = here->step;
    forward_to_runner(std::move(command));
}

void Playback::publish_snapshot(Lock& lock, Clock::time_point now) {
    const TrajectoryPointer before = shared_.shown;
    choice_.choose(now);  // so that all parts of the snapshot belong together
    filler_.fill(now);
    const bool writes = output_.writer() != nullptr && filler_.frame_lags();
    shared_.changed = shared_.history.changed || writes || shared_.shown != before;
    shared_.draft.serial = ++serial_;
    auto snapshot = std::make_shared<const Snapshot>(shared_.draft);
    published_ = now;
    lock.unlock();
    publish_(std::move(snapshot));
    lock.lock();
}

bool Playback::round(Lock& lock) {
    while (!shared_.playback_commands.empty()) {
        Command command = std::move(shared_.playback_commands.front());
        shared_.playback_commands.pop_front();
        take(command);
    }
    const Clock::time_point now = Clock::now();
    cursor_.move(now);
    choice_.choose(now);
    cursor_.publish();
    const bool by_runner = shared_.frame_requests.is_written;
    shared_.frame_requests.is_written = false;
    const bool wrote = output_.write(lock);
    colors_.measure(lock);
    return wrote || by_runner;
}

void Playback::run() {
    Lock lock(shared_.mutex);
    while (!shared_.ends) {
        if (round(lock)) {
            lock.unlock();
            wake_();
            lock.lock();
        }
        const Clock::time_point now = Clock::now();
        if (shared_.changed && now - published_ >= snapshot_interval) publish_snapshot(lock, now);
        if (!shared_.playback_commands.empty() || shared_.ends) continue;
        if (shared_.changed)  // soon
            shared_.playback_wakes.wait_until(lock, published_ + snapshot_interval);
        else if (cursor_.is_playing() || colors_.has_more())
            shared_.playback_wakes.wait_until(lock, now + tick);
        else if (choice_.waits())
            shared_.playback_wakes.wait_until(lock, now + ShownChoice::longest_wait);
        else
            shared_.playback_wakes.wait(lock, [&] {
                return shared_.ends || shared_.changed || !shared_.playback_commands.empty();
            });
    }
}

}  // namespace hindcast::session
