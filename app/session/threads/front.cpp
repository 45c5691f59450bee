#include "app/session/threads/front.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hindcast::session {

namespace {

using namespace std::chrono_literals;
constexpr auto tick = 8ms;                // between frames while playing
constexpr auto snapshot_interval = 8ms;   // at least, between snapshots
constexpr auto patience = 250ms;          // then a trajectory is shown that is behind the cursor
constexpr auto measure_interval = 500ms;  // of the speed
constexpr double longest_stall = 0.25;    // s; of what takes longer, no more is caught up
constexpr double longest_replay = 1;      // s, of a complete run as fast as possible

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

HandInfo hand_info(const Hand& hand, const Trajectory& t, const KeptFrame* frame) {
    HandInfo info;
    info.number = hand.number;
    info.live = hand.live;
    info.start_step = hand.start_step;
    info.anchor = info.point = hand.anchor;
    for (std::size_t k = 0; k < 3; ++k) info.place[k] = hand.anchor[k] + hand.by[k];
    const auto dimension = static_cast<std::size_t>(t.world->plan.stage->dimension);
    if (dimension == 2) info.place[2] = 0;
    if (hand.live && frame != nullptr) info.point = frame->held;
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

Front::Front(Desk& desk, const Device& solver, Publish publish, std::function<void()> wake)
    : desk_(desk), publish_(std::move(publish)), wake_(std::move(wake)) {
    if (solver.cuda()) return;
    DeviceOptions options = solver.options();
    options.threads = 1;
    writer_.emplace(std::make_shared<Device>(options));
}

// ---------------------------------------------------------------- commands

void Front::hand_on(Command command) {
    desk_.work.push_back(std::move(command));
    desk_.wake_runner();
}

void Front::take(Command& command) {
    desk_.changed = true;
    std::visit(Overloaded{
                   [&](ShowOn& c) {
                       exchange_ = std::move(c.exchange);
                       checked_stage_ = nullptr;
                       desk_.draft.frame_error = nullptr;
                       if (writer_)
                           writer_->let_go();
                       else
                           desk_.let_go = true;
                       desk_.job.reset();
                       desk_.wake_runner();
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
                   [&](Look& c) {
                       desk_.look = std::move(c);
                       desk_.wake_runner();
                   },
                   [&](WatchGradients& c) {
                       desk_.wants_probe = c.on;
                       desk_.wake_runner();
                   },
                   [&](Grab& c) { grab(c); },
                   [&](PullTo& c) {
                       if (desk_.hand && desk_.hand->number == c.number) desk_.hand->by = c.by;
                   },
                   [&](Release& c) {
                       if (!desk_.hand || desk_.hand->number != c.number) return;
                       desk_.hand->held = false;
                       desk_.hand->kept = c.keep;
                       desk_.wake_runner();
                   },
                   // Here, so that what is asked for next to be shown stays asked for.
                   [&](Reset& c) {
                       cursor_ = 0;
                       desk_.wanted_iteration.reset();
                       desk_.wanted_ghost.reset();
                       hand_on(c);
                   },
                   [&](Revert& c) {
                       desk_.wanted_iteration.reset();
                       hand_on(c);
                   },
                   [&](auto& c) { hand_on(std::move(c)); },
               },
               command);
}

void Front::play(bool on) {
    if (on && !playing_ && desk_.shown && desk_.shown->complete &&
        cursor_ >= static_cast<double>(desk_.shown->steps_done()))
        cursor_ = 0;
    playing_ = on;
    ticked_ = measured_since_ = Clock::now();
    measured_steps_ = 0;
    desk_.draft.speed_measured = 0;
}

void Front::seek(std::int64_t step) {
    follow_world();
    const WorldPointer world = desk_.wanted_world();
    const std::int64_t most = world ? world->steps : 0;
    cursor_ = static_cast<double>(std::clamp<std::int64_t>(step, 0, most));
}

// The cursor counts steps of the world that is wanted. In one of another step the time stays.
void Front::follow_world() {
    const WorldPointer world = desk_.wanted_world();
    if (!world || world->step_seconds == cursor_seconds_) return;
    if (cursor_seconds_ > 0) cursor_ = static_cast<double>(step_in(*world));
    cursor_seconds_ = world->step_seconds;
}

std::int64_t Front::step_in(const World& world) const {
    return same_moment(static_cast<std::int64_t>(cursor_), cursor_seconds_, world);
}

void Front::grab(Grab& command) {
    if (desk_.hand || !desk_.shown) return;
    const FramePointer here = desk_.shown->frame_at(step_in(*desk_.shown->world));
    if (!here) return;
    Hand& hand = desk_.hand.emplace();
    hand.number = command.number;
    hand.speed = speed_;
    hand.start_step = here->step;
    hand_on(std::move(command));
}

// What is pulled on is shown as it is computed.
void Front::follow_hand() {
    if (!desk_.hand || !desk_.hand->live) return;
    const Hand& hand = *desk_.hand;
    desk_.shown = target_ = hand.trajectory;
    cursor_seconds_ = hand.trajectory->world->step_seconds;
    cursor_ = static_cast<double>(hand.trajectory->steps_done());
}

void Front::step_by(std::int64_t steps) {
    playing_ = false;
    if (!desk_.shown) return;
    const FramePointer here = desk_.shown->frame_at(step_in(*desk_.shown->world));
    if (!here) return;
    // What is complete can be shown at every step.
    if (desk_.shown->complete) return seek(static_cast<std::int64_t>(cursor_) + steps);
    const std::int64_t wanted = here->step + steps;
    if (steps < 0) return seek(wanted);
    // The first kept frame there or after it.
    const auto& frames = desk_.shown->frames;
    const auto at =
        std::lower_bound(frames.begin(), frames.end(), wanted,
                         [](const FramePointer& f, std::int64_t s) { return f->step < s; });
    seek(at == frames.end() ? wanted : (*at)->step);
}

void Front::choose_iteration(std::optional<std::int64_t> iteration, bool ghost) {
    if (iteration) {
        // Of those that were thinned out, the one before them that was kept.
        auto known =
            std::ranges::upper_bound(desk_.rows, *iteration, {}, &IterationInfo::iteration);
        const bool there = known != desk_.rows.begin() && *iteration <= desk_.last_iteration();
        known = there ? std::prev(known) : desk_.rows.end();
        if (there && known->can_show) iteration = known->iteration;
        if (!there || !known->can_show) {
            desk_.say(LogLine::Level::warning,
                      known == desk_.rows.end()
                          ? "there is no iteration " + std::to_string(*iteration)
                          : "iteration " + std::to_string(*iteration) +
                                " cannot be shown: the memory of frames has no room for its scene "
                                "or its parameters any more");
            return;
        }
    }
    if (ghost) unfit_ghost_said_ = false;
    (ghost ? desk_.wanted_ghost : desk_.wanted_iteration) = iteration;
    desk_.wake_runner();
}

// ---------------------------------------------------------------- what is shown

void Front::choose_shown(Clock::time_point now) {
    if (desk_.rewind) {  // another scene
        desk_.rewind = false;
        cursor_ = 0;
        desk_.shown = nullptr;
    }
    if (desk_.hand) return follow_hand();
    follow_world();
    const TrajectoryPointer target = desk_.wanted();
    if (target != target_) {
        target_ = target;
        target_since_ = now;
    }
    if (target && target != desk_.shown && !target->frames.empty() &&
        (!desk_.shown || target->reaches(static_cast<std::int64_t>(cursor_)) ||
         now - target_since_ >= patience)) {
        desk_.shown = target;
        desk_.wake_runner();  // it may have kept something for what was shown before
    }
    choose_ghost();
}

void Front::choose_ghost() {
    desk_.ghost = nullptr;
    desk_.draft.ghost_problem.clear();
    if (!desk_.wanted_ghost) {
        ghost_check_ = {};
        return;
    }
    const EditionPointer edition = desk_.edition_of(*desk_.wanted_ghost);
    const WorldPointer shown = desk_.shown ? desk_.shown->world : desk_.world;
    if (!edition || !shown) return;
    if (ghost_check_.shown != shown || ghost_check_.ghost != edition->world)
        ghost_check_ = {
            shown, edition->world,
            edition->world == shown || ghost_fits(*shown->plan.stage, *edition->world->plan.stage)};
    if (ghost_check_.fits) {
        desk_.ghost = desk_.library.find(*desk_.wanted_ghost);
        return;
    }
    desk_.draft.ghost_problem = "the scene that is shown has other moving things";
    if (unfit_ghost_said_) return;
    unfit_ghost_said_ = true;
    desk_.say(LogLine::Level::warning, "the ghost of iteration " +
                                           std::to_string(*desk_.wanted_ghost) +
                                           " cannot be drawn: " + desk_.draft.ghost_problem);
}

// As fast as possible is with the solver, at what it has computed last. What is complete passes
// before the eyes: in real time or faster, in a second at most, and with each frame another one.
double Front::fastest(const Trajectory& t, double passed) const {
    const auto reached = static_cast<double>(t.steps_done());
    if (!t.complete) return std::max(cursor_, reached);
    const double steps_per_second = std::max(1 / cursor_seconds_, reached / longest_replay);
    return cursor_ + std::max(std::min(passed, longest_stall) * steps_per_second,
                              static_cast<double>(t.every));
}

void Front::move_cursor(Clock::time_point now) {
    const double passed = seconds(now - ticked_);
    ticked_ = now;
    if (!playing_ || desk_.hand || !desk_.shown || !desk_.world) return;
    const Trajectory& t = *desk_.shown;
    if (t.world->step_seconds != cursor_seconds_) return;  // one of other steps comes
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
        desk_.draft.speed_measured = measured_steps_ * cursor_seconds_ / seconds(span);
        measured_since_ = now;
        measured_steps_ = 0;
    }
    desk_.changed = true;
}

bool Front::fits() {
    if (!exchange_ || !desk_.shown) return false;
    const auto& stage = desk_.shown->world->plan.stage;
    if (checked_stage_ != stage) {
        checked_stage_ = stage;
        fits_ = &exchange_->stage() == stage.get() || same_layout(exchange_->stage(), *stage);
    }
    return fits_;
}

bool Front::write_frame(Lock& lock) {
    if (!fits()) return false;
    const TrajectoryPointer trajectory = desk_.shown;
    const std::int64_t step = step_in(*trajectory->world);
    FrameTime moment;
    moment.frame = trajectory->frame_at(step);
    if (!moment.frame) return false;
    moment.adjoint = trajectory->adjoint_at(step);
    if (moment.adjoint && moment.adjoint->step != moment.frame->step) moment.adjoint = nullptr;
    // Another world's ghost is at the same time, and only there if it fits.
    if (const TrajectoryPointer& ghost = desk_.ghost)
        moment.ghost = ghost->frame_at(
            ghost->world == trajectory->world
                ? step
                : same_moment(step, trajectory->world->step_seconds, *ghost->world));
    moment.gradient = trajectory->gradient;
    moment.look = desk_.look;
    // What was moved is drawn where it is now, also while its new trajectory is not there yet.
    const TrajectoryPointer& newest =
        !desk_.wanted_iteration && desk_.current && desk_.current->world == trajectory->world
            ? desk_.current
            : trajectory;
    const auto base = newest->base;
    const Numbers parameters = newest->parameters;
    Written now{moment.frame,       moment.adjoint,    moment.ghost,          trajectory.get(),
                base.get(),         parameters.get(),  moment.gradient.get(), exchange_.get(),
                moment.look.colour, moment.look.arrows};
    if (now == written_) return false;
    moment.world = trajectory->world.get();
    moment.trajectory = trajectory.get();
    FrameJob job{trajectory->world, trajectory, exchange_, base, parameters, std::move(moment)};
    written_ = std::move(now);
    if (!writer_) {  // the newest is enough
        desk_.job = std::move(job);
        desk_.changed = true;
        desk_.wake_runner();
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
        desk_.fail_frame(*failure);
    }
    return !failure;
}

// ---------------------------------------------------------------- snapshots

void Front::fill_draft(Clock::time_point now) {
    Snapshot& s = desk_.draft;
    s.playing = playing_;
    s.speed_asked = speed_;
    s.frame_bytes = desk_.frame_bytes();
    s.ghost_iteration = desk_.wanted_ghost.value_or(-1);
    if (desk_.rows_changed && now >= history_due_) {
        desk_.rows_changed = false;
        auto rows = std::make_shared<std::vector<IterationInfo>>(desk_.rows);
        for (IterationInfo& row : *rows) {
            const TrajectoryPointer kept = desk_.library.peek(row.iteration);
            row.frames_kept = kept && kept->complete;
            if (kept) row.adjoint_norms = kept->adjoint_norms;
        }
        history_due_ = now + rows->size() * 20us;
        s.history = std::move(rows);
    }
    if (desk_.lines_changed) {
        desk_.lines_changed = false;
        s.log = std::make_shared<const std::vector<LogLine>>(desk_.lines);
    }
    s.hand.reset();
    fill_world();
    fill_present();
    // Before its first frame a new scene is told of as well.
    const bool begins = !desk_.shown && desk_.current && desk_.current->world == desk_.world;
    const TrajectoryPointer& t = begins ? desk_.current : desk_.shown;
    if (!t) {
        s.step = s.steps_computed = 0;
        s.frame_waits = false;
        s.shown_iteration = -1;
        s.loss = std::numeric_limits<double>::quiet_NaN();
        s.terms.clear();
        s.series.clear();
        s.values = s.gradient = nullptr;
        filled_ = {};
        return;
    }
    const std::int64_t step = step_in(*t->world);
    const FramePointer frame = t->frame_at(step);
    s.step = frame ? frame->step : 0;
    // What moved on while the last frame was written.
    const Look& look = desk_.look;
    const bool other_frame =
        written_.frame != frame || written_.colour != look.colour || written_.arrows != look.arrows;
    s.frame_waits = exchange_ && fits_ && frame && (other_frame || desk_.job || desk_.writes_job);
    if (desk_.hand) s.hand = hand_info(*desk_.hand, *t, frame.get());
    if (!desk_.look.trails)
        s.trails = nullptr;
    else if (frame && (frame != trails_until_ || !s.trails))
        s.trails = trails_of(*t, s.step);
    trails_until_ = frame;
    s.step_asked = step;
    const Probe* const probe =
        desk_.probe && desk_.probe->done && desk_.probe->is_of(*t) ? desk_.probe.get() : nullptr;
    const Filled from{t.get(), t->frames.size(), t->complete, t->gradient.get(), probe};
    if (from == filled_) return;
    const bool other = from.trajectory != filled_.trajectory || from.gradient != filled_.gradient ||
                       from.probe != filled_.probe;
    filled_ = from;
    s.shown_iteration = t->iteration;
    s.steps_computed = t->steps_done();
    s.frame_every = t->every;
    s.loss = t->loss;
    s.terms = t->terms.empty() ? t->world->terms : t->terms;
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
        s.quantities = t->world->quantity_infos(*t, probe);
    }
}

// What the shown trajectory's world says. One that an edit has made obsolete stands in the picture
// only until the new scene runs: the new one is told of.
void Front::fill_world() {
    const TrajectoryPointer& t = desk_.shown;
    const bool wanted = t && desk_.wanted_iteration == t->iteration;
    const WorldPointer world = wanted ? t->world : desk_.world;
    if (!world) return;
    const auto found = desk_.gradient_memory.find(world);
    const auto memory = found == desk_.gradient_memory.end() ? nullptr : found->second;
    FilledWorld from{world, desk_.world, memory};
    if (from == filled_world_) return;
    Snapshot& s = desk_.draft;
    s.shown_build = world->build;
    s.build = desk_.world->build;
    s.checkpoint_plan = memory ? memory->plan : "";
    s.checkpoints = memory ? memory->checkpoints : std::vector<std::int64_t>();
    s.gradient_bytes = memory ? memory->bytes : 0;
    if (world != filled_world_.world) {
        s.name = world->name;
        s.device = world->device;
        s.cuda_uuid = world->cuda_uuid;
        s.precision = world->precision;
        s.step_seconds = world->step_seconds;
        s.steps = world->steps;
        s.stage = world->plan.stage;
        s.parameters = world->parameters;
        s.colours = world->colours;
        s.arrows = world->arrows;
    }
    filled_world_ = std::move(from);
}

// The scene as it is now, if another one is shown.
void Front::fill_present() {
    Snapshot& s = desk_.draft;
    const TrajectoryPointer& t = desk_.current;
    if (!desk_.shown || desk_.shown->world == desk_.world || !t || t->world != desk_.world) {
        s.present = nullptr;
        filled_present_ = nullptr;
        return;
    }
    if (s.present && filled_present_ == t) return;
    filled_present_ = t;
    auto scene = std::make_shared<SceneInfo>();
    scene->parameters = t->world->parameters;
    scene->quantities = t->world->quantity_infos(*t, nullptr);
    s.present = std::move(scene);
}

// The ways of some of the points up to the step.
std::shared_ptr<const std::vector<std::vector<render::Vec3>>> Front::trails_of(const Trajectory& t,
                                                                               std::int64_t step) {
    auto trails = std::make_shared<std::vector<std::vector<render::Vec3>>>();
    for (const FramePointer& frame : t.frames) {
        if (frame->step > step) break;
        trails->resize(frame->ways.size());
        for (std::size_t k = 0; k < frame->ways.size(); ++k) (*trails)[k].push_back(frame->ways[k]);
    }
    return trails;
}

void Front::publish_snapshot(Lock& lock, Clock::time_point now) {
    const TrajectoryPointer before = desk_.shown;
    choose_shown(now);  // what is ready by now: all that is told belongs together
    fill_draft(now);
    desk_.changed =
        desk_.rows_changed || (writer_ && desk_.draft.frame_waits) || desk_.shown != before;
    desk_.draft.serial = ++serial_;
    auto snapshot = std::make_shared<const Snapshot>(desk_.draft);
    published_ = now;
    lock.unlock();
    publish_(std::move(snapshot));
    lock.lock();
}

bool Front::round(Lock& lock) {
    while (!desk_.mail.empty()) {
        Command command = std::move(desk_.mail.front());
        desk_.mail.pop_front();
        take(command);
    }
    const Clock::time_point now = Clock::now();
    move_cursor(now);
    choose_shown(now);
    const auto step = static_cast<std::int64_t>(cursor_);
    if (desk_.cursor != step || desk_.cursor_seconds != cursor_seconds_ ||
        desk_.still == playing_) {
        desk_.cursor = step;
        desk_.cursor_seconds = cursor_seconds_;
        desk_.still = !playing_;
        desk_.changed = true;
        if (desk_.still) desk_.wake_runner();
    }
    const bool by_runner = desk_.job_done;
    desk_.job_done = false;
    return write_frame(lock) || by_runner;
}

void Front::run() {
    Lock lock(desk_.mutex);
    ticked_ = Clock::now();
    while (!desk_.ends) {
        if (round(lock)) {
            lock.unlock();
            wake_();
            lock.lock();
        }
        const Clock::time_point now = Clock::now();
        if (desk_.changed && now - published_ >= snapshot_interval) publish_snapshot(lock, now);
        if (!desk_.mail.empty() || desk_.ends) continue;
        const bool waits_for_target = target_ && target_ != desk_.shown;
        if (desk_.changed)  // soon
            desk_.front_wakes.wait_until(lock, published_ + snapshot_interval);
        else if (playing_)
            desk_.front_wakes.wait_until(lock, now + tick);
        else if (waits_for_target)
            desk_.front_wakes.wait_until(lock, now + patience);
        else
            desk_.front_wakes.wait(
                lock, [&] { return desk_.ends || desk_.changed || !desk_.mail.empty(); });
    }
}

}  // namespace hindcast::session
