#include "app/session/threads/runner.hpp"

#include <cmath>

#include "engine/sim/gradients/gradient_check.hpp"

namespace hindcast::session {

Runner::Runner(Desk& desk, const Registry& registry, SessionOptions options)
    : desk_(desk),
      registry_(registry),
      options_(std::move(options)),
      loss_scan_(desk),
      gradient_probe_(desk),
      dropped_frames_(options_.simulation.device->cuda() ? std::make_shared<DroppedFrames>()
                                                         : nullptr),
      frame_kernels_(options_.simulation.device),
      keeper_(frame_kernels_, dropped_frames_),
      frame_writer_(options_.simulation.device) {}

Runner::~Runner() = default;

// ---------------------------------------------------------------- the loop

void Runner::run() {
    while (!desk_.ends) {
        bool busy = false;
        guarded([&] { write_frame(); });
        guarded([&] { busy = take_commands(); });
        if (desk_.ends) break;
        if (!busy && optimising_) {
            busy = true;
            guarded([&] { optimise(); });
        }
        if (!busy) guarded([&] { busy = do_missing(); });
        if (busy) {
            guarded([&] { publish_launches(); });
            continue;
        }
        Lock lock(desk_.mutex);
        const Activity rest = now_.simulation ? Activity::idle : Activity::empty;
        if (desk_.draft.activity != rest) {
            desk_.draft.activity = rest;
            desk_.draft.activity_text.clear();
            desk_.draft.progress = -1;
            desk_.mark();
        }
        desk_.runner_wakes.wait(lock, [&] {
            return desk_.ends || desk_.asked != seen_ || !desk_.work.empty() || desk_.job;
        });
        seen_ = desk_.asked;
    }
    loss_scan_.cancel();
    gradient_probe_.cancel();
}

// Whatever goes wrong is told, and the loop goes on.
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
    const Lock lock(desk_.mutex);
    if (desk_.growing && !desk_.growing->complete) desk_.growing->failed = true;
    desk_.growing = nullptr;
    desk_.fail(*failure);
}

// A frame that lies on a CUDA device, if the front wants one: the device is this thread's alone.
void Runner::write_frame() {
    if (!dropped_frames_) return;
    dropped_frames_->clear();
    std::optional<FrameJob> job;
    bool let_go = false;
    {
        const Lock lock(desk_.mutex);
        job.swap(desk_.job);
        desk_.writes_job = job.has_value();
        std::swap(let_go, desk_.let_go);
    }
    if (let_go) frame_writer_.let_go();
    if (!job) return;
    try {
        frame_writer_.write(*job);
    } catch (const Error& error) {
        const Lock lock(desk_.mutex);
        desk_.fail_frame(error);
    }
    const Lock lock(desk_.mutex);
    desk_.job_done = true;
    desk_.writes_job = false;
    desk_.mark();
}

void Runner::set_activity(Activity activity, const std::string& text, double progress) {
    const Lock lock(desk_.mutex);
    desk_.draft.activity = activity;
    desk_.draft.activity_text = text;
    desk_.draft.progress = progress;
    desk_.mark();
}

// ---------------------------------------------------------------- commands

bool Runner::take_commands() {
    std::deque<Command> commands;
    {
        const Lock lock(desk_.mutex);
        commands.swap(desk_.work);
        leave_ = Leave::stay;
    }
    for (std::size_t k = 0; k < commands.size() && !desk_.ends; ++k) {
        // Of several documents in a row only the last one is built.
        if (auto* apply = std::get_if<Apply>(&commands[k]);
            apply != nullptr && k + 1 < commands.size())
            if (auto* next = std::get_if<Apply>(&commands[k + 1])) {
                next->fresh |= apply->fresh;
                continue;
            }
        guarded([&] { take(commands[k]); });
    }
    const Lock lock(desk_.mutex);
    note_unaccepted();
    return !commands.empty();
}

void Runner::take(Command& command) {
    if (auto* c = std::get_if<Apply>(&command)) {
        try {
            return apply(*c);
        } catch (...) {  // told by who called
            const Lock lock(desk_.mutex);
            desk_.draft.applied_revision = c->revision;
            throw;
        }
    }
    if (!now_.simulation) throw Error("there is no scene").remedy("open one first");
    if (std::holds_alternative<Reset>(command)) reset();
    if (auto* c = std::get_if<Optimise>(&command)) steer(c->what);
    if (auto* c = std::get_if<Branch>(&command)) branch(*c);
    if (auto* c = std::get_if<Accept>(&command)) accept(*c);
    if (std::holds_alternative<Revert>(command)) revert();
    if (auto* c = std::get_if<Grab>(&command)) pull(*c);
    if (std::holds_alternative<CheckGradient>(command)) check_gradient();
    if (std::holds_alternative<CancelScan>(command)) loss_scan_.cancel();
    if (auto* c = std::get_if<Profile>(&command)) set_profiling(c->on);
    if (auto* c = std::get_if<LaunchText>(&command)) answer(*c);
    if (auto* c = std::get_if<Scan>(&command)) {
        const Subject of = subject();
        loss_scan_.start(*c, Scene::of(*of.document, file_), registry_, options_.simulation,
                         *of.parameters);
    }
}

Runner::Leave Runner::leave() {
    if (desk_.ends) return Leave::now;
    if (desk_.asked == seen_) return leave_;
    write_frame();
    answer_texts();
    const Lock lock(desk_.mutex);
    seen_ = desk_.asked;
    leave_ = Leave::stay;
    const auto at_least = [this](Leave wanted) { leave_ = std::max(leave_, wanted); };
    for (const Command& command : desk_.work) {
        const auto* const apply = std::get_if<Apply>(&command);
        const auto* const steer = std::get_if<Optimise>(&command);
        const bool at_once = !optimising_ || (apply != nullptr && apply->fresh) ||
                             (steer != nullptr && steer->what == Optimise::What::stop) ||
                             std::holds_alternative<Reset>(command) ||
                             std::holds_alternative<Revert>(command) ||
                             std::holds_alternative<Branch>(command);
        at_least(at_once ? Leave::now : Leave::at_row);
    }
    // What the user looks at goes before what runs.
    if (!optimising_) {
        const TrajectoryPointer wanted = desk_.wanted();
        if (wanted != desk_.growing &&
            (!wanted || (!wanted->complete && !wanted->failed && !wanted->by_hand)))
            at_least(Leave::now);
        if (between_range_ && !wants_between_range()) at_least(Leave::now);
    }
    return leave_;
}

bool Runner::do_missing() {
    if (!now_.simulation) return false;
    TrajectoryPointer wanted, ghost;
    std::optional<std::int64_t> wanted_iteration, wanted_ghost;
    bool ghost_fits = true;
    {
        const Lock lock(desk_.mutex);
        seen_ = desk_.asked;
        wanted = desk_.wanted();
        wanted_iteration = desk_.wanted_iteration;
        wanted_ghost = desk_.wanted_ghost;
        if (wanted_ghost) ghost = desk_.library.find(*wanted_ghost);
        ghost_fits = desk_.draft.ghost_problem.empty();
    }
    leave_ = Leave::stay;
    const auto missing = [this](const TrajectoryPointer& t) {
        return !t || (!t->failed && !t->by_hand && (!t->complete || needs_more(*t)));
    };
    if (missing(wanted)) {
        if (wanted_iteration) return run_iteration(*wanted_iteration);
        if (wanted && wanted->complete && wanted->iteration >= 0)
            return run_iteration(wanted->iteration);
        if (wanted && wanted->complete) show_current();  // of other arrays: as a new one
        const Lock lock(desk_.mutex);
        wanted = desk_.current;
    }
    if (wanted && !wanted->complete && !wanted->failed && !wanted->by_hand)
        return run_trajectory(wanted, true);
    if (wanted_ghost && ghost_fits && (!ghost || (!ghost->complete && !ghost->failed)))
        return run_iteration(*wanted_ghost);
    if (run_between()) return true;
    if (wanted && wants_gradient(*wanted)) return run_gradient(wanted);
    if (wanted) probe_gradients(wanted);
    drop_unused_older();
    return false;
}

// ---------------------------------------------------------------- tools

void Runner::check_gradient() {
    set_activity(Activity::simulating, "checking the gradient");
    const Subject of = subject();
    GradientCheckOptions wanted;
    wanted.at = *of.parameters;
    wanted.go_on = [&](std::int64_t done, std::int64_t total) {
        set_activity(Activity::simulating, "checking the gradient",
                     total > 0 ? static_cast<double>(done) / static_cast<double>(total) : -1);
        return !leaves_now();
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
    const Lock lock(desk_.mutex);
    desk_.draft.check = std::move(rows);
    desk_.draft.check_at = of.parameters;
    if (report.stopped)
        desk_.say(LogLine::Level::warning, "the gradient check was stopped");
    else if (report.passed())
        desk_.say(LogLine::Level::information, "the gradient check has passed");
    for (const std::string& failure : report.failures())
        desk_.say(LogLine::Level::warning, "gradient check: " + failure);
    for (const std::string& note : report.notes())
        desk_.say(LogLine::Level::information, "gradient check: " + note);
    desk_.mark();
}

// Of the scene as it is now, in the background.
void Runner::probe_gradients(const TrajectoryPointer& at) {
    {
        const Lock lock(desk_.mutex);
        if (!desk_.wants_probe || !at->complete || at->world != now_.world || at->base != base_ ||
            !at->world->has_objective || !std::isfinite(at->loss) ||
            (desk_.probe && desk_.probe->is_of(*at)))
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
        const Lock lock(desk_.mutex);
        t = desk_.current;
    }
    const bool of_iteration = t && t->iteration >= 0 && t->world == now_.world && t->base == base_;
    if (!of_iteration) return show_current();
    t = new_trajectory(t->world, t->iteration, t->base, t->parameters);
    const Lock lock(desk_.mutex);
    desk_.current = t;
    desk_.library.put(t->iteration, t);
    desk_.rows_changed = true;
    desk_.mark();
}

void Runner::publish_launches() {
    if (!profiling_ || !now_.simulation) return;
    std::vector<LaunchInfo> launches;
    for (const Rollout::Profile& p : now_.simulation->rollout().profiles())
        launches.push_back({p.launch, p.direction, p.runs, p.seconds, p.replay.bytes()});
    const Lock lock(desk_.mutex);
    desk_.draft.launches = std::move(launches);
    desk_.mark();
}

}  // namespace hindcast::session
