#include "app/session/threads/playback/draft_filler.hpp"

#include <limits>
#include <utility>

namespace hindcast::session {

namespace {

using namespace std::chrono_literals;

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

// The ways of some of the points up to the step.
std::shared_ptr<const std::vector<std::vector<render::Vec3>>> trails_of(const Trajectory& t,
                                                                        std::int64_t step) {
    auto trails = std::make_shared<std::vector<std::vector<render::Vec3>>>();
    for (const FramePointer& frame : t.frames) {
        if (frame->step > step) break;
        trails->resize(frame->trail_points.size());
        for (std::size_t k = 0; k < frame->trail_points.size(); ++k)
            (*trails)[k].push_back(frame->trail_points[k]);
    }
    return trails;
}

}  // namespace

void DraftFiller::fill(Clock::time_point now) {
    Snapshot& s = shared_.draft;
    s.contents = shared_.wanted.contents;
    s.colour_range = colours_.range();
    s.playing = cursor_.is_playing();
    s.speed_asked = cursor_.speed();
    s.frame_bytes = shared_.frame_bytes();
    s.ghost_iteration = shared_.wanted.ghost.value_or(-1);
    fill_history(now);
    fill_log();
    s.mouse_pull.reset();
    fill_scene();
    fill_present();
    // A new scene is reported before its first frame too.
    const bool begins =
        !shared_.shown && shared_.current && shared_.current->scene == shared_.scene;
    const TrajectoryPointer& t = begins ? shared_.current : shared_.shown;
    if (!t) return clear_shown();
    fill_frame(*t);
    fill_trajectory(*t);
}

void DraftFiller::fill_history(Clock::time_point now) {
    if (!shared_.history.changed || now < history_due_) return;
    shared_.history.changed = false;
    auto rows = std::make_shared<std::vector<IterationInfo>>(shared_.history.rows);
    for (IterationInfo& row : *rows) {
        const TrajectoryPointer kept = shared_.trajectories.peek(row.iteration);
        row.frames_kept = kept && kept->complete;
        if (kept) row.adjoint_norms = kept->adjoint_norms;
    }
    history_due_ = now + rows->size() * 20us;
    shared_.draft.history = std::move(rows);
}

void DraftFiller::fill_log() {
    if (!shared_.log_lines.changed) return;
    shared_.log_lines.changed = false;
    shared_.draft.log = std::make_shared<const std::vector<LogLine>>(shared_.log_lines.lines);
}

void DraftFiller::clear_shown() {
    Snapshot& s = shared_.draft;
    s.step = s.steps_computed = 0;
    s.frame_waits = frame_lags_ = false;
    s.shown_iteration = -1;
    s.loss = std::numeric_limits<double>::quiet_NaN();
    s.terms.clear();
    s.series.clear();
    s.values = s.gradient = nullptr;
    filled_ = {};
}

void DraftFiller::fill_frame(const Trajectory& t) {
    Snapshot& s = shared_.draft;
    const std::int64_t step = cursor_.step_in(*t.scene);
    const FramePointer frame = t.frame_at(step);
    s.step = frame ? frame->step : 0;
    // The shared state may have moved on while the last frame was written.
    frame_lags_ = output_.lags(frame);
    // Another run brings the arrays that this one did not keep.
    const bool another = output_.can_show() && frame && !t.failed && !t.of_mouse_pull &&
                         lacks(t, shared_.wanted.contents);
    s.frame_waits = frame_lags_ || another;
    if (shared_.mouse_pull) s.mouse_pull = mouse_pull_info(*shared_.mouse_pull, t, frame.get());
    if (!shared_.wanted.contents.trails)
        s.trails = nullptr;
    else if (frame && (frame != trails_until_ || !s.trails))
        s.trails = trails_of(t, s.step);
    trails_until_ = frame;
    s.step_asked = step;
}

void DraftFiller::fill_trajectory(const Trajectory& t) {
    Snapshot& s = shared_.draft;
    const ProbedGradients* const probe = shared_.probed_gradients &&
                                                 shared_.probed_gradients->done &&
                                                 shared_.probed_gradients->is_of(t)
                                             ? shared_.probed_gradients.get()
                                             : nullptr;
    const Filled from{&t, t.frames.size(), t.complete, t.gradient.get(), probe};
    if (from == filled_) return;
    const bool other = from.trajectory != filled_.trajectory || from.gradient != filled_.gradient ||
                       from.probe != filled_.probe;
    filled_ = from;
    s.shown_iteration = t.iteration;
    s.steps_computed = t.steps_done();
    s.frame_every = t.every;
    s.loss = t.loss;
    s.terms = t.terms.empty() ? t.scene->terms : t.terms;
    s.series = t.energies;
    if (s.series.size() > 1) {
        std::vector<double> sum(s.series.begin()->second.size(), 0.0);
        for (const auto& [name, values] : s.series)
            for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += values[k];
        s.series["sum of energies"] = std::move(sum);
    }
    if (!t.adjoint_norms.empty()) s.series["adjoint norm"] = t.adjoint_norms;
    if (other) {
        s.values = t.parameters;
        s.gradient = t.gradient;
        s.quantities = t.scene->quantity_infos(t, probe);
    }
}

// Fills in the trajectory's scene. A trajectory that an edit has made obsolete stays in the picture
// until the new scene runs, but the snapshot is already about the new scene.
void DraftFiller::fill_scene() {
    const TrajectoryPointer& t = shared_.shown;
    const bool wanted = t && shared_.wanted.iteration == t->iteration;
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
void DraftFiller::fill_present() {
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

}  // namespace hindcast::session
