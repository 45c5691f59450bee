#include "app/session/threads/playback/playback.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hindcast::session {

namespace {

using namespace std::chrono_literals;
constexpr auto tick = 8ms;                   // between frames while playing
constexpr auto snapshot_interval = 8ms;      // at least, between snapshots
constexpr auto max_wait_for_target = 250ms;  // then a trajectory is shown that is behind the cursor
constexpr auto measure_interval = 500ms;     // of the speed
constexpr double longest_stall = 0.25;       // s; of what takes longer, no more is caught up
constexpr double longest_replay = 1;         // s, of a complete run as fast as possible

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

MousePullInfo mouse_pull_info(const MousePull& mouse_pull, const Trajectory& t,
                              const KeptFrame* frame) {
    MousePullInfo info;
    info.number = mouse_pull.number;
    info.live = mouse_pull.live;
    info.start_step = mouse_pull.start_step;
    info.anchor = info.point = mouse_pull.anchor;
    for (std::size_t k = 0; k < 3; ++k) info.place[k] = mouse_pull.anchor[k] + mouse_pull.by[k];
    const auto dimension = static_cast<std::size_t>(t.scene->plan.stage->dimension);
    if (dimension == 2) info.place[2] = 0;
    if (mouse_pull.live && frame != nullptr) info.point = frame->held;
    return info;
}

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

double fitting_speed(double duration) {
    constexpr double wanted = 4;         // s
    constexpr double second = 1 - 1e-9;  // 30 steps of 1/30 s are one
    if (!(duration > 0) || duration >= second) return 1;
    const double exact = duration / wanted, decade = std::pow(10, std::floor(std::log10(exact)));
    double best = decade;
    for (const double digit : {2.0, 5.0, 10.0})  // next in the logarithm
        if (std::abs(std::log(digit * decade / exact)) < std::abs(std::log(best / exact)))
            best = digit * decade;
    return best;
}

Playback::Playback(SharedState& shared, const Device& solver, Publish publish,
                   std::function<void()> wake)
    : shared_(shared), publish_(std::move(publish)), wake_(std::move(wake)) {
    if (solver.cuda()) return;
    DeviceOptions options = solver.options();
    options.threads = 1;
    writer_.emplace(std::make_shared<Device>(options));
}

// ---------------------------------------------------------------- commands

void Playback::forward_to_runner(Command command) {
    shared_.runner_commands.push_back(std::move(command));
    shared_.wake_runner();
}

void Playback::take(Command& command) {
    shared_.changed = true;
    std::visit(Overloaded{
                   [&](ShowOn& c) {
                       exchange_ = std::move(c.exchange);
                       checked_stage_ = nullptr;
                       shared_.draft.frame_error = nullptr;
                       if (writer_)
                           writer_->release();
                       else
                           shared_.release_exchange = true;
                       shared_.job.reset();
                       shared_.wake_runner();
                   },
                   [&](Play& c) { play(c.on); },
                   [&](Seek& c) { seek(c.step); },
                   [&](StepBy& c) { step_by(c.steps); },
                   [&](SetSpeed& c) {
                       speed_ = std::isfinite(c.seconds_per_second)
                                    ? std::max(c.seconds_per_second, 0.0)
                                    : 1.0;
                   },
                   [&](Repeat& c) { repeat_ = c.on; },
                   [&](ShowIteration& c) { choose_iteration(c.iteration, false); },
                   [&](Ghost& c) { choose_iteration(c.iteration, true); },
                   [&](FrameContents& c) {
                       shared_.frame_contents = std::move(c);
                       shared_.wake_runner();
                   },
                   [&](WatchGradients& c) {
                       shared_.wants_probed_gradients = c.on;
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
                   // Here, so that what is asked for next to be shown stays asked for.
                   [&](Reset& c) {
                       cursor_ = 0;
                       shared_.wanted_iteration.reset();
                       shared_.wanted_ghost.reset();
                       forward_to_runner(c);
                   },
                   [&](Revert& c) {
                       shared_.wanted_iteration.reset();
                       forward_to_runner(c);
                   },
                   [&](auto& c) { forward_to_runner(std::move(c)); },
               },
               command);
}

void Playback::play(bool on) {
    if (on && !playing_ && shared_.shown && shared_.shown->complete &&
        cursor_ >= static_cast<double>(shared_.shown->steps_done()))
        cursor_ = 0;
    playing_ = on;
    ticked_ = measured_since_ = Clock::now();
    measured_steps_ = 0;
    shared_.draft.speed_measured = 0;
}

void Playback::seek(std::int64_t step) {
    follow_scene();
    const SceneInfoPointer scene = shared_.wanted_scene();
    const std::int64_t most = scene ? scene->steps : 0;
    cursor_ = static_cast<double>(std::clamp<std::int64_t>(step, 0, most));
}

// The cursor counts steps of the scene that is wanted. In one of another step the time stays.
void Playback::follow_scene() {
    const SceneInfoPointer scene = shared_.wanted_scene();
    if (!scene || scene->step_seconds == cursor_seconds_) return;
    if (cursor_seconds_ > 0) cursor_ = static_cast<double>(step_in(*scene));
    cursor_seconds_ = scene->step_seconds;
}

std::int64_t Playback::step_in(const SceneInfo& scene) const {
    return same_moment(static_cast<std::int64_t>(cursor_), cursor_seconds_, scene);
}

void Playback::grab(Grab& command) {
    if (shared_.mouse_pull || !shared_.shown) return;
    const FramePointer here = shared_.shown->frame_at(step_in(*shared_.shown->scene));
    if (!here) return;
    MousePull& mouse_pull = shared_.mouse_pull.emplace();
    mouse_pull.number = command.number;
    mouse_pull.speed = speed_;
    mouse_pull.start_step = here->step;
    forward_to_runner(std::move(command));
}

// What is pulled on is shown as it is computed.
void Playback::follow_mouse() {
    if (!shared_.mouse_pull || !shared_.mouse_pull->live) return;
    const MousePull& mouse_pull = *shared_.mouse_pull;
    shared_.shown = target_ = mouse_pull.trajectory;
    cursor_seconds_ = mouse_pull.trajectory->scene->step_seconds;
    cursor_ = static_cast<double>(mouse_pull.trajectory->steps_done());
}

void Playback::step_by(std::int64_t steps) {
    playing_ = false;
    if (!shared_.shown) return;
    const FramePointer here = shared_.shown->frame_at(step_in(*shared_.shown->scene));
    if (!here) return;
    // What is complete can be shown at every step.
    if (shared_.shown->complete) return seek(static_cast<std::int64_t>(cursor_) + steps);
    const std::int64_t wanted = here->step + steps;
    if (steps < 0) return seek(wanted);
    // The first kept frame there or after it.
    const auto& frames = shared_.shown->frames;
    const auto at =
        std::lower_bound(frames.begin(), frames.end(), wanted,
                         [](const FramePointer& f, std::int64_t s) { return f->step < s; });
    seek(at == frames.end() ? wanted : (*at)->step);
}

void Playback::choose_iteration(std::optional<std::int64_t> iteration, bool ghost) {
    if (iteration) {
        // Of those that were thinned out, the one before them that was kept.
        auto known =
            std::ranges::upper_bound(shared_.rows, *iteration, {}, &IterationInfo::iteration);
        const bool there = known != shared_.rows.begin() && *iteration <= shared_.last_iteration();
        known = there ? std::prev(known) : shared_.rows.end();
        if (there && known->can_show) iteration = known->iteration;
        if (!there || !known->can_show) {
            shared_.log(
                LogLine::Level::warning,
                known == shared_.rows.end()
                    ? "there is no iteration " + std::to_string(*iteration)
                    : "iteration " + std::to_string(*iteration) +
                          " cannot be shown: the memory of frames has no room for its scene "
                          "or its parameters any more");
            return;
        }
    }
    if (ghost) unfit_ghost_said_ = false;
    (ghost ? shared_.wanted_ghost : shared_.wanted_iteration) = iteration;
    shared_.wake_runner();
}

// ---------------------------------------------------------------- what is shown

void Playback::choose_shown(Clock::time_point now) {
    if (shared_.rewind) {  // another scene
        shared_.rewind = false;
        cursor_ = 0;
        shared_.shown = nullptr;
    }
    if (shared_.mouse_pull) return follow_mouse();
    follow_scene();
    const TrajectoryPointer target = shared_.wanted();
    if (target != target_) {
        target_ = target;
        target_since_ = now;
    }
    if (target && target != shared_.shown && !target->frames.empty() &&
        (!shared_.shown || target->reaches(static_cast<std::int64_t>(cursor_)) ||
         now - target_since_ >= max_wait_for_target)) {
        shared_.shown = target;
        shared_.wake_runner();  // it may have kept something for what was shown before
    }
    choose_ghost();
}

void Playback::choose_ghost() {
    shared_.ghost = nullptr;
    shared_.draft.ghost_problem.clear();
    if (!shared_.wanted_ghost) {
        ghost_check_ = {};
        return;
    }
    const SceneRevisionPointer scene_revision = shared_.scene_revision_of(*shared_.wanted_ghost);
    const SceneInfoPointer shown = shared_.shown ? shared_.shown->scene : shared_.scene;
    if (!scene_revision || !shown) return;
    if (ghost_check_.shown != shown || ghost_check_.ghost != scene_revision->scene)
        ghost_check_ = {shown, scene_revision->scene,
                        scene_revision->scene == shown ||
                            ghost_fits(*shown->plan.stage, *scene_revision->scene->plan.stage)};
    if (ghost_check_.fits) {
        shared_.ghost = shared_.trajectories.find(*shared_.wanted_ghost);
        return;
    }
    shared_.draft.ghost_problem = "the scene that is shown has other moving things";
    if (unfit_ghost_said_) return;
    unfit_ghost_said_ = true;
    shared_.log(LogLine::Level::warning, "the ghost of iteration " +
                                             std::to_string(*shared_.wanted_ghost) +
                                             " cannot be drawn: " + shared_.draft.ghost_problem);
}

// As fast as possible is with the solver, at what it has computed last. What is complete passes
// before the eyes: in real time or faster, in a second at most, and with each frame another one.
double Playback::fastest(const Trajectory& t, double passed) const {
    const auto reached = static_cast<double>(t.steps_done());
    if (!t.complete) return std::max(cursor_, reached);
    const double steps_per_second = std::max(1 / cursor_seconds_, reached / longest_replay);
    return cursor_ + std::max(std::min(passed, longest_stall) * steps_per_second,
                              static_cast<double>(t.every));
}

void Playback::move_cursor(Clock::time_point now) {
    const double passed = seconds(now - ticked_);
    ticked_ = now;
    if (!playing_ || shared_.mouse_pull || !shared_.shown || !shared_.scene) return;
    const Trajectory& t = *shared_.shown;
    if (t.scene->step_seconds != cursor_seconds_) return;  // one of other steps comes
    const double before = cursor_, reached = static_cast<double>(t.steps_done());
    cursor_ = speed_ > 0 ? cursor_ + std::min(passed, longest_stall) * speed_ / cursor_seconds_
                         : fastest(t, passed);
    bool wrapped = false;
    if (cursor_ >= reached) {
        if (t.complete && repeat_ && reached > 0 && before >= reached) {
            cursor_ = 0;
            wrapped = true;
        } else {
            cursor_ = t.complete ? reached : std::max(before, reached);
            if (t.complete && !repeat_) playing_ = false;
        }
    }
    if (!wrapped) measured_steps_ += cursor_ - before;
    if (const auto span = now - measured_since_; span >= measure_interval) {
        shared_.draft.speed_measured = measured_steps_ * cursor_seconds_ / seconds(span);
        measured_since_ = now;
        measured_steps_ = 0;
    }
    shared_.changed = true;
}

bool Playback::fits() {
    if (!exchange_ || !shared_.shown) return false;
    const auto& stage = shared_.shown->scene->plan.stage;
    if (checked_stage_ != stage) {
        checked_stage_ = stage;
        fits_ = &exchange_->stage() == stage.get() || same_layout(exchange_->stage(), *stage);
    }
    return fits_;
}

bool Playback::write_frame(Lock& lock) {
    if (!fits()) return false;
    const TrajectoryPointer trajectory = shared_.shown;
    const std::int64_t step = step_in(*trajectory->scene);
    FrameInput input;
    input.frame = trajectory->frame_at(step);
    if (!input.frame) return false;
    input.adjoint = trajectory->adjoint_at(step);
    if (input.adjoint && input.adjoint->step != input.frame->step) input.adjoint = nullptr;
    // Another scene's ghost is at the same time, and only there if it fits.
    if (const TrajectoryPointer& ghost = shared_.ghost)
        input.ghost = ghost->frame_at(
            ghost->scene == trajectory->scene
                ? step
                : same_moment(step, trajectory->scene->step_seconds, *ghost->scene));
    input.gradient = trajectory->gradient;
    input.contents = shared_.frame_contents;
    // What was moved is drawn where it is now, also while its new trajectory is not there yet.
    const TrajectoryPointer& newest =
        !shared_.wanted_iteration && shared_.current && shared_.current->scene == trajectory->scene
            ? shared_.current
            : trajectory;
    const auto base = newest->base;
    const SharedValues parameters = newest->parameters;
    Written now{input.frame,          input.adjoint,   input.ghost,
                trajectory.get(),     base.get(),      parameters.get(),
                input.gradient.get(), exchange_.get(), input.contents.colour,
                input.contents.arrows};
    if (now == written_) return false;
    input.scene = trajectory->scene.get();
    input.trajectory = trajectory.get();
    FrameJob job{trajectory->scene, trajectory, exchange_, base, parameters, std::move(input)};
    written_ = std::move(now);
    if (!writer_) {  // the newest is enough
        shared_.job = std::move(job);
        shared_.changed = true;
        shared_.wake_runner();
        return false;
    }
    std::optional<Error> failure;
    lock.unlock();
    try {
        writer_->write(job);
    } catch (const Error& error) {
        failure = error;
    }
    lock.lock();
    if (failure) {
        fits_ = false;
        shared_.fail_frame(*failure);
    }
    return !failure;
}

// ---------------------------------------------------------------- snapshots

void Playback::fill_draft(Clock::time_point now) {
    Snapshot& s = shared_.draft;
    s.contents = shared_.frame_contents;
    s.colour_range = colour_range_.range(shared_.shown, shared_.frame_contents);
    s.playing = playing_;
    s.speed_asked = speed_;
    s.frame_bytes = shared_.frame_bytes();
    s.ghost_iteration = shared_.wanted_ghost.value_or(-1);
    if (shared_.rows_changed && now >= history_due_) {
        shared_.rows_changed = false;
        auto rows = std::make_shared<std::vector<IterationInfo>>(shared_.rows);
        for (IterationInfo& row : *rows) {
            const TrajectoryPointer kept = shared_.trajectories.peek(row.iteration);
            row.frames_kept = kept && kept->complete;
            if (kept) row.adjoint_norms = kept->adjoint_norms;
        }
        history_due_ = now + rows->size() * 20us;
        s.history = std::move(rows);
    }
    if (shared_.lines_changed) {
        shared_.lines_changed = false;
        s.log = std::make_shared<const std::vector<LogLine>>(shared_.lines);
    }
    s.mouse_pull.reset();
    fill_scene();
    fill_present();
    // A new scene is reported before its first frame too.
    const bool begins =
        !shared_.shown && shared_.current && shared_.current->scene == shared_.scene;
    const TrajectoryPointer& t = begins ? shared_.current : shared_.shown;
    if (!t) {
        s.step = s.steps_computed = 0;
        s.frame_waits = writes_ = false;
        s.shown_iteration = -1;
        s.loss = std::numeric_limits<double>::quiet_NaN();
        s.terms.clear();
        s.series.clear();
        s.values = s.gradient = nullptr;
        filled_ = {};
        return;
    }
    const std::int64_t step = step_in(*t->scene);
    const FramePointer frame = t->frame_at(step);
    s.step = frame ? frame->step : 0;
    // What moved on while the last frame was written.
    const FrameContents& contents = shared_.frame_contents;
    const bool other_frame = written_.frame != frame || written_.colour != contents.colour ||
                             written_.arrows != contents.arrows;
    writes_ = exchange_ && fits_ && frame && (other_frame || shared_.job || shared_.writes_job);
    // Another run brings what this one did not keep.
    const bool another =
        exchange_ && fits_ && frame && !t->failed && !t->of_mouse_pull && lacks(*t, contents);
    s.frame_waits = writes_ || another;
    if (shared_.mouse_pull) s.mouse_pull = mouse_pull_info(*shared_.mouse_pull, *t, frame.get());
    if (!shared_.frame_contents.trails)
        s.trails = nullptr;
    else if (frame && (frame != trails_until_ || !s.trails))
        s.trails = trails_of(*t, s.step);
    trails_until_ = frame;
    s.step_asked = step;
    const ProbedGradients* const probe = shared_.probed_gradients &&
                                                 shared_.probed_gradients->done &&
                                                 shared_.probed_gradients->is_of(*t)
                                             ? shared_.probed_gradients.get()
                                             : nullptr;
    const Filled from{t.get(), t->frames.size(), t->complete, t->gradient.get(), probe};
    if (from == filled_) return;
    const bool other = from.trajectory != filled_.trajectory || from.gradient != filled_.gradient ||
                       from.probe != filled_.probe;
    filled_ = from;
    s.shown_iteration = t->iteration;
    s.steps_computed = t->steps_done();
    s.frame_every = t->every;
    s.loss = t->loss;
    s.terms = t->terms.empty() ? t->scene->terms : t->terms;
    s.series = t->energies;
    if (s.series.size() > 1) {
        std::vector<double> sum(s.series.begin()->second.size(), 0.0);
        for (const auto& [name, values] : s.series)
            for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += values[k];
        s.series["sum of energies"] = std::move(sum);
    }
    if (!t->adjoint_norms.empty()) s.series["adjoint norm"] = t->adjoint_norms;
    if (other) {
        s.values = t->parameters;
        s.gradient = t->gradient;
        s.quantities = t->scene->quantity_infos(*t, probe);
    }
}

// Fills in what the trajectory shown says about its scene. One that an edit has made obsolete stays in
// the picture until the new scene runs, but the snapshot is already about the new one.
void Playback::fill_scene() {
    const TrajectoryPointer& t = shared_.shown;
    const bool wanted = t && shared_.wanted_iteration == t->iteration;
    const SceneInfoPointer scene = wanted ? t->scene : shared_.scene;
    if (!scene) return;
    const auto found = shared_.gradient_memory.find(scene);
    const auto memory = found == shared_.gradient_memory.end() ? nullptr : found->second;
    FilledScene from{scene, shared_.scene, memory};
    if (from == filled_scene_) return;
    Snapshot& s = shared_.draft;
    s.shown_build = scene->build;
    s.build = shared_.scene->build;
    s.pairs = shared_.scene->pairs;
    s.checkpoint_plan = memory ? memory->plan : "";
    s.checkpoints = memory ? memory->checkpoints : std::vector<std::int64_t>();
    s.gradient_bytes = memory ? memory->bytes : 0;
    if (scene != filled_scene_.scene) {
        s.name = scene->name;
        s.device = scene->device;
        s.cuda_uuid = scene->cuda_uuid;
        s.precision = scene->precision;
        s.step_seconds = scene->step_seconds;
        s.steps = scene->steps;
        s.stage = scene->plan.stage;
        s.parameters = scene->parameters;
        s.colours = scene->colours;
        s.arrows = scene->arrows;
    }
    filled_scene_ = std::move(from);
}

// The scene as it is now, if another one is shown.
void Playback::fill_present() {
    Snapshot& s = shared_.draft;
    const TrajectoryPointer& t = shared_.current;
    if (!shared_.shown || shared_.shown->scene == shared_.scene || !t ||
        t->scene != shared_.scene) {
        s.present = nullptr;
        filled_present_ = nullptr;
        return;
    }
    if (s.present && filled_present_ == t) return;
    filled_present_ = t;
    auto scene = std::make_shared<EditableQuantities>();
    scene->parameters = t->scene->parameters;
    scene->quantities = t->scene->quantity_infos(*t, nullptr);
    s.present = std::move(scene);
}

// The ways of some of the points up to the step.
std::shared_ptr<const std::vector<std::vector<render::Vec3>>> Playback::trails_of(
    const Trajectory& t, std::int64_t step) {
    auto trails = std::make_shared<std::vector<std::vector<render::Vec3>>>();
    for (const FramePointer& frame : t.frames) {
        if (frame->step > step) break;
        trails->resize(frame->trail_points.size());
        for (std::size_t k = 0; k < frame->trail_points.size(); ++k)
            (*trails)[k].push_back(frame->trail_points[k]);
    }
    return trails;
}

void Playback::publish_snapshot(Lock& lock, Clock::time_point now) {
    const TrajectoryPointer before = shared_.shown;
    choose_shown(now);  // so that all parts of the snapshot belong together
    fill_draft(now);
    shared_.changed = shared_.rows_changed || (writer_ && writes_) || shared_.shown != before;
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
    move_cursor(now);
    choose_shown(now);
    const auto step = static_cast<std::int64_t>(cursor_);
    if (shared_.cursor != step || shared_.cursor_seconds != cursor_seconds_ ||
        shared_.still == playing_) {
        shared_.cursor = step;
        shared_.cursor_seconds = cursor_seconds_;
        shared_.still = !playing_;
        shared_.changed = true;
        if (shared_.still) shared_.wake_runner();
    }
    const bool by_runner = shared_.job_done;
    shared_.job_done = false;
    const bool wrote = write_frame(lock);
    measures_ = measure_colours(lock);
    return wrote || by_runner;
}

void Playback::run() {
    Lock lock(shared_.mutex);
    ticked_ = Clock::now();
    while (!shared_.ends) {
        if (round(lock)) {
            lock.unlock();
            wake_();
            lock.lock();
        }
        const Clock::time_point now = Clock::now();
        if (shared_.changed && now - published_ >= snapshot_interval) publish_snapshot(lock, now);
        if (!shared_.playback_commands.empty() || shared_.ends) continue;
        const bool waits_for_target = target_ && target_ != shared_.shown;
        if (shared_.changed)  // soon
            shared_.playback_wakes.wait_until(lock, published_ + snapshot_interval);
        else if (playing_ || measures_)
            shared_.playback_wakes.wait_until(lock, now + tick);
        else if (waits_for_target)
            shared_.playback_wakes.wait_until(lock, now + max_wait_for_target);
        else
            shared_.playback_wakes.wait(lock, [&] {
                return shared_.ends || shared_.changed || !shared_.playback_commands.empty();
            });
    }
}

}  // namespace hindcast::session
