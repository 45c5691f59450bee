#include "app/session/threads/runner.hpp"

#include <algorithm>
#include <cmath>

#include "engine/backend/jit/machine_code.hpp"
#include "engine/sim/gradients/gradient_check.hpp"

namespace hindcast::session {

Runner::Runner(SharedState& shared, const Registry& registry, SessionOptions options)
    : shared_(shared),
      registry_(registry),
      options_(std::move(options)),
      loss_scan_(shared),
      gradient_probe_(shared),
      dropped_frames_(options_.simulation.device->cuda() ? std::make_shared<DroppedFrames>()
                                                         : nullptr),
      frame_kernels_(options_.simulation.device),
      frame_recorder_(frame_kernels_, dropped_frames_),
      frame_writer_(options_.simulation.device) {}

Runner::~Runner() = default;

// ---------------------------------------------------------------- the loop

void Runner::run() {
    const backend::CodeListener compiling([this](const std::string& text) { say(text); });
    while (!shared_.ends) {
        bool busy = false;
        guarded([&] { write_frame(); });
        guarded([&] { busy = take_commands(); });
        if (shared_.ends) break;
        if (!busy && computes_rows()) {
            busy = true;
            guarded([&] { optimise(); });
        }
        if (!busy) guarded([&] { busy = do_missing(); });
        if (busy) {
            guarded([&] { publish_launches(); });
            continue;
        }
        Lock lock(shared_.mutex);
        const Activity rest = now_.simulation ? Activity::idle : Activity::empty;
        if (shared_.draft.activity != rest) {
            shared_.draft.activity = rest;
            shared_.draft.activity_text.clear();
            shared_.draft.progress = -1;
            shared_.mark_changed();
        }
        shared_.runner_wakes.wait(lock, [&] {
            return shared_.ends || shared_.runner_wakeups != seen_ ||
                   !shared_.runner_commands.empty() || shared_.job || shared_.colour_job;
        });
        seen_ = shared_.runner_wakeups;
    }
    loss_scan_.cancel();
    gradient_probe_.cancel();
    warning_check_.cancel();
}

// Reports any error; the loop goes on.
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
    optimising_ = false;
    rest(false);
    const Lock lock(shared_.mutex);
    if (shared_.growing && !shared_.growing->complete) shared_.growing->failed = true;
    shared_.growing = nullptr;
    shared_.fail(*failure);
}

// A frame that lies on a CUDA device, if playback wants one: the device is this thread's alone.
void Runner::write_frame() {
    if (!dropped_frames_) return;
    dropped_frames_->clear();
    measure_colours();
    std::optional<FrameJob> job;
    bool release_exchange = false;
    {
        const Lock lock(shared_.mutex);
        job.swap(shared_.job);
        shared_.writes_job = job.has_value();
        std::swap(release_exchange, shared_.release_exchange);
    }
    if (release_exchange) frame_writer_.release();
    if (!job) return;
    try {
        frame_writer_.write(*job);
    } catch (const Error& error) {
        const Lock lock(shared_.mutex);
        shared_.fail_frame(error);
    }
    const Lock lock(shared_.mutex);
    shared_.job_done = true;
    shared_.writes_job = false;
    shared_.mark_changed();
}

// Likewise the range of colours in some frames.
void Runner::measure_colours() {
    using namespace std::chrono_literals;
    std::optional<ColourJob> job;
    {
        const Lock lock(shared_.mutex);
        job.swap(shared_.colour_job);
    }
    if (!job) return;
    const ColourJob::Found found = job->measure(frame_writer_, Clock::now() + 2ms);
    const Lock lock(shared_.mutex);
    if (found.failure) shared_.fail_frame(*found.failure);
    shared_.colour_found = found;
    shared_.mark_changed();
}

void Runner::set_activity(Activity activity, const std::string& text, double progress) {
    const Lock lock(shared_.mutex);
    shared_.draft.activity = activity;
    shared_.draft.activity_text = text;
    shared_.draft.progress = progress;
    shared_.mark_changed();
}

// What the present activity waits for; "": for nothing any more.
void Runner::say(const std::string& text) {
    const Lock lock(shared_.mutex);
    if (said_.empty()) before_said_ = shared_.draft.activity_text;
    shared_.draft.activity_text = text.empty() ? before_said_ : text;
    said_ = text;
    shared_.mark_changed();
}

// ---------------------------------------------------------------- commands

bool Runner::take_commands() {
    std::deque<Command> commands;
    {
        Lock lock(shared_.mutex);
        wait_for_shown_edit(lock);
        commands.swap(shared_.runner_commands);
        interrupt_ = Interrupt::none;
        edit_waits_ = false;
    }
    for (std::size_t k = 0; k < commands.size() && !shared_.ends; ++k) {
        // Of several documents in a row only the last one is built.
        if (auto* apply = std::get_if<Apply>(&commands[k]);
            apply != nullptr && k + 1 < commands.size())
            if (auto* next = std::get_if<Apply>(&commands[k + 1])) {
                next->fresh |= apply->fresh;
                continue;
            }
        guarded([&] { take(commands[k]); });
    }
    const Lock lock(shared_.mutex);
    note_unaccepted();
    return !commands.empty();
}

void Runner::take(Command& command) {
    if (auto* c = std::get_if<Apply>(&command)) {
        try {
            return apply(*c);
        } catch (...) {  // guarded() reports it
            const Lock lock(shared_.mutex);
            shared_.draft.applied_revision = c->revision;
            throw;
        }
    }
    if (auto* c = std::get_if<Live>(&command)) return set_live(*c);
    if (!now_.simulation) throw Error("there is no scene").remedy("open one first");
    if (std::holds_alternative<Reset>(command)) reset();
    if (auto* c = std::get_if<Optimise>(&command)) steer(c->what);
    if (auto* c = std::get_if<Branch>(&command)) branch(*c);
    if (auto* c = std::get_if<Accept>(&command)) accept(*c);
    if (auto* c = std::get_if<KeepValues>(&command)) answer_values([&] { keep(*c); });
    if (auto* c = std::get_if<UseValues>(&command)) answer_values([&] { use(*c); });
    if (std::holds_alternative<Revert>(command)) revert();
    if (auto* c = std::get_if<Grab>(&command)) pull(*c);
    if (std::holds_alternative<CheckGradient>(command)) check_gradient();
    if (std::holds_alternative<CancelScan>(command)) loss_scan_.cancel();
    if (auto* c = std::get_if<Profile>(&command)) set_profiling(c->on);
    if (auto* c = std::get_if<LaunchText>(&command)) answer(*c);
    if (auto* c = std::get_if<Scan>(&command)) {
        const ToolInput of = tool_input();
        loss_scan_.start(*c, Scene::of(*of.document, file_), registry_, options_.simulation,
                         *of.parameters);
    }
}

Runner::Interrupt Runner::interrupt() {
    if (shared_.ends) return Interrupt::now;
    if (shared_.runner_wakeups == seen_ && !edit_waits_) return interrupt_;
    write_frame();
    answer_texts();
    const Lock lock(shared_.mutex);
    seen_ = shared_.runner_wakeups;
    interrupt_ = Interrupt::none;
    edit_waits_ = false;
    const auto at_least = [this](Interrupt wanted) { interrupt_ = std::max(interrupt_, wanted); };
    for (const Command& command : shared_.runner_commands) {
        const auto* const apply = std::get_if<Apply>(&command);
        const auto* const steer = std::get_if<Optimise>(&command);
        if (apply != nullptr && !apply->fresh && shared_.growing == edited_.lock() &&
            edit_is_coming()) {
            edit_waits_ = true;
            continue;
        }
        const bool at_once = !computes_rows() || (apply != nullptr && apply->fresh) ||
                             (steer != nullptr && steer->what == Optimise::What::stop) ||
                             std::holds_alternative<Reset>(command) ||
                             std::holds_alternative<Revert>(command) ||
                             std::holds_alternative<Branch>(command);
        at_least(at_once ? Interrupt::now : Interrupt::at_row);
    }
    // What the user looks at goes before what runs.
    if (!computes_rows()) {
        const TrajectoryPointer wanted = shared_.wanted();
        if (wanted != shared_.growing &&
            (!wanted || (!wanted->complete && !wanted->failed && !wanted->of_mouse_pull)))
            at_least(Interrupt::now);
        if (between_range_ && !wants_between_range()) at_least(Interrupt::now);
    }
    return interrupt_;
}

// Whether the run with the last edited number is wanted and not shown yet. The next edit waits for
// it, so that the picture follows a number while it is dragged. Under the shared lock.
bool Runner::edit_is_coming() const {
    constexpr auto longest = std::chrono::milliseconds(500);
    const TrajectoryPointer t = edited_.lock();
    return t && t == shared_.current && t != shared_.shown && !shared_.wanted_iteration &&
           !t->failed && Clock::now() - edited_at_ < longest;
}

// That run has come to the time shown: before another edit replaces it, Playback shows it.
void Runner::wait_for_shown_edit(Lock& lock) {
    constexpr auto longest = std::chrono::milliseconds(100);
    const auto due = Clock::now() + longest;
    const auto waits = [&] {
        const TrajectoryPointer t = edited_.lock();
        const auto is_edit = [](const Command& command) {
            const auto* const apply = std::get_if<Apply>(&command);
            return apply != nullptr && !apply->fresh;
        };
        return t && edit_is_coming() &&
               t->reaches(same_moment(shared_.cursor, shared_.cursor_seconds, *t->scene)) &&
               !shared_.runner_commands.empty() &&
               std::ranges::all_of(shared_.runner_commands, is_edit);
    };
    while (!shared_.ends && waits() && Clock::now() < due)
        shared_.runner_wakes.wait_until(lock, due);
}

bool Runner::do_missing() {
    if (!now_.simulation) return false;
    TrajectoryPointer wanted, ghost;
    std::optional<std::int64_t> wanted_iteration, wanted_ghost;
    bool ghost_fits = true;
    {
        const Lock lock(shared_.mutex);
        seen_ = shared_.runner_wakeups;
        wanted = shared_.wanted();
        wanted_iteration = shared_.wanted_iteration;
        wanted_ghost = shared_.wanted_ghost;
        if (wanted_ghost) ghost = shared_.trajectories.find(*wanted_ghost);
        ghost_fits = shared_.draft.ghost_problem.empty();
    }
    interrupt_ = Interrupt::none;
    const auto missing = [this](const TrajectoryPointer& t) {
        return !t || (!t->failed && !t->of_mouse_pull && (!t->complete || needs_more(*t)));
    };
    if (missing(wanted)) {
        if (wanted_iteration) return run_iteration(*wanted_iteration);
        if (wanted && wanted->complete && wanted->iteration >= 0)
            return run_iteration(wanted->iteration);
        if (wanted && wanted->complete) show_current();  // of other arrays: as a new one
        const Lock lock(shared_.mutex);
        wanted = shared_.current;
    }
    if (wanted && !wanted->complete && !wanted->failed && !wanted->of_mouse_pull)
        return run_trajectory(wanted, true);
    if (wanted_ghost && ghost_fits && (!ghost || (!ghost->complete && !ghost->failed)))
        return run_iteration(*wanted_ghost);
    if (run_between()) return true;
    if (wanted && wants_gradient(*wanted)) return run_gradient(wanted);
    if (wanted) probe_gradients(wanted);
    drop_unused_older();
    return check_warnings();
}

// ---------------------------------------------------------------- tools

void Runner::check_gradient() {
    set_activity(Activity::simulating, "checking the gradient");
    const ToolInput of = tool_input();
    GradientCheckOptions wanted;
    wanted.at = *of.parameters;
    wanted.go_on = [&](std::int64_t done, std::int64_t total) {
        set_activity(Activity::simulating, "checking the gradient",
                     total > 0 ? static_cast<double>(done) / static_cast<double>(total) : -1);
        return !interrupted();
    };
    const GradientReport report =
        check_gradients(Scene::of(*of.document, file_), registry_, options_.simulation, wanted);
    auto rows = std::make_shared<std::vector<CheckRow>>();
    for (const GradientReport::Entry& e : report.entries)
        rows->push_back(
            {e.name, e.adjoint, e.difference, e.error, e.passed(), to_string(e.verdict)});
    std::size_t number = 0;
    for (const GradientReport::Direction& d : report.directions)
        rows->push_back({"direction " + std::to_string(++number), d.adjoint, d.difference, d.error,
                         d.passed() && d.forward_passed,
                         d.forward_passed ? to_string(d.verdict) : "modes differ"});
    const Lock lock(shared_.mutex);
    shared_.draft.check = std::move(rows);
    shared_.draft.check_at = of.parameters;
    if (report.stopped)
        shared_.log(LogLine::Level::warning, "the gradient check was stopped");
    else if (report.passed())
        shared_.log(LogLine::Level::information, "the gradient check has passed");
    for (const std::string& failure : report.failures())
        shared_.log(LogLine::Level::warning, "gradient check: " + failure);
    for (const std::string& note : report.notes())
        shared_.log(LogLine::Level::information, "gradient check: " + note);
    shared_.mark_changed();
}

// Of the scene as it is now, in the background.
void Runner::probe_gradients(const TrajectoryPointer& at) {
    {
        const Lock lock(shared_.mutex);
        if (!shared_.wants_probed_gradients || !at->complete || at->scene != now_.scene ||
            at->base != base_ || !at->scene->has_objective || !std::isfinite(at->loss) ||
            (shared_.probed_gradients && shared_.probed_gradients->is_of(*at)))
            return;
    }
    gradient_probe_.start(*at, *document_, file_, registry_, options_.simulation);
}

void Runner::set_profiling(bool on) {
    profiling_ = on;
    now_.simulation->rollout().profile(on);
    if (!on) return;
    // What is shown runs once more, with its gradient, as what it is.
    TrajectoryPointer t;
    {
        const Lock lock(shared_.mutex);
        t = shared_.current;
    }
    const bool of_iteration = t && t->iteration >= 0 && t->scene == now_.scene && t->base == base_;
    if (!of_iteration) return show_current();
    t = new_trajectory(t->scene, t->iteration, t->base, t->parameters);
    const Lock lock(shared_.mutex);
    shared_.current = t;
    shared_.trajectories.put(t->iteration, t);
    shared_.rows_changed = true;
    shared_.mark_changed();
}

void Runner::publish_launches() {
    if (!profiling_ || !now_.simulation) return;
    std::vector<LaunchInfo> launches;
    for (const Rollout::Profile& p : now_.simulation->rollout().profiles())
        launches.push_back({p.launch, p.direction, p.runs, p.seconds, p.replay.bytes()});
    const Lock lock(shared_.mutex);
    shared_.draft.launches = std::move(launches);
    shared_.mark_changed();
}

}  // namespace hindcast::session
