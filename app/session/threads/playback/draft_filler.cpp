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
    // A new scene is reported before its first frame too.
    const bool begins =
        !shared_.shown && shared_.current && shared_.current->scene == shared_.scene;
    const TrajectoryPointer& t = begins ? shared_.current : shared_.shown;
    const FramePointer frame = t ? t->frame_at(cursor_.step_in(*t->scene)) : nullptr;
    const SceneInfoPointer scene = scene_shown();
    const Changed changed = note_sources(scene, t.get());
    fill_reports();
    fill_scene(scene, changed);
    fill_run(scene, t.get(), frame.get(), changed);
    fill_optimization(t.get(), now);
    fill_values(scene, t.get(), changed);
    fill_view(scene, t.get(), frame, changed);
    fill_pulls(t.get(), frame.get());
    fill_memory(changed);
}

// The scene of the picture. A trajectory that an edit has made obsolete stays in the picture until
// the new scene runs, but the snapshot is already about the new scene.
SceneInfoPointer DraftFiller::scene_shown() const {
    const TrajectoryPointer& t = shared_.shown;
    return t && shared_.wanted.iteration == t->iteration ? t->scene : shared_.scene;
}

DraftFiller::Changed DraftFiller::note_sources(const SceneInfoPointer& scene, const Trajectory* t) {
    Changed changed;
    if (scene) {
        const auto found = shared_.gradient_memory.find(scene);
        FilledScene from{scene, shared_.scene,
                         found == shared_.gradient_memory.end() ? nullptr : found->second};
        changed.facts = from != filled_scene_;
        changed.scene = scene != filled_scene_.scene;
        filled_scene_ = std::move(from);
    }
    const ProbedGradients* const probe = probe_of(t);
    Filled from;
    if (t != nullptr) from = {t, t->frames.size(), t->complete, t->gradient.get(), probe};
    changed.run = t == nullptr || from != filled_;
    changed.values = t == nullptr || from.trajectory != filled_.trajectory ||
                     from.gradient != filled_.gradient || from.probe != filled_.probe;
    filled_ = from;
    return changed;
}

// The gradients of a probe of this trajectory; null: none.
const ProbedGradients* DraftFiller::probe_of(const Trajectory* t) const {
    const auto& probe = shared_.probed_gradients;
    return t != nullptr && probe && probe->done && probe->is_of(*t) ? probe.get() : nullptr;
}

void DraftFiller::fill_reports() {
    if (!shared_.log_lines.changed) return;
    shared_.log_lines.changed = false;
    shared_.draft.reports.log =
        std::make_shared<const std::vector<LogLine>>(shared_.log_lines.lines);
}

void DraftFiller::fill_scene(const SceneInfoPointer& scene, const Changed& changed) {
    if (!changed.facts) return;
    SceneSnapshot& s = shared_.draft.scene;
    s.shown_build = scene->build;
    s.build = shared_.scene->build;
    s.pairs = shared_.scene->pairs;
    if (!changed.scene) return;
    s.name = scene->name;
    s.device = scene->device;
    s.cuda_uuid = scene->cuda_uuid;
    s.precision = scene->precision;
    s.stage = scene->plan.stage;
}

void DraftFiller::fill_run(const SceneInfoPointer& scene, const Trajectory* t,
                           const KeptFrame* frame, const Changed& changed) {
    RunSnapshot& s = shared_.draft.run;
    s.playing = cursor_.is_playing();
    s.speed_asked = cursor_.speed();
    s.step = frame != nullptr ? frame->step : 0;
    if (changed.scene) {
        s.step_seconds = scene->step_seconds;
        s.steps = scene->steps;
    }
    if (t == nullptr) {
        s.steps_computed = 0;
        s.loss = std::numeric_limits<double>::quiet_NaN();
        s.terms.clear();
        s.series.clear();
        return;
    }
    s.step_asked = cursor_.step_in(*t->scene);
    if (!changed.run) return;
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
}

void DraftFiller::fill_optimization(const Trajectory* t, Clock::time_point now) {
    OptimizationSnapshot& s = shared_.draft.optimization;
    s.ghost_iteration = shared_.wanted.ghost.value_or(-1);
    s.shown_iteration = t != nullptr ? t->iteration : -1;
    if (!shared_.history.changed || now < history_due_) return;
    shared_.history.changed = false;
    auto rows = std::make_shared<std::vector<IterationInfo>>(shared_.history.rows);
    for (IterationInfo& row : *rows) {
        const TrajectoryPointer kept = shared_.trajectories.peek(row.iteration);
        row.frames_kept = kept && kept->complete;
        if (kept) row.adjoint_norms = kept->adjoint_norms;
    }
    history_due_ = now + rows->size() * 20us;
    s.history = std::move(rows);
}

void DraftFiller::fill_values(const SceneInfoPointer& scene, const Trajectory* t,
                              const Changed& changed) {
    ValuesSnapshot& s = shared_.draft.values;
    if (changed.scene) s.parameters = scene->parameters;
    if (t == nullptr) {
        s.flat = s.gradient = nullptr;
    } else if (changed.values) {
        s.flat = t->parameters;
        s.gradient = t->gradient;
        s.quantities = t->scene->quantity_infos(*t, probe_of(t));
    }
    fill_present();
}

// The scene as it is now, if another one is shown.
void DraftFiller::fill_present() {
    ValuesSnapshot& s = shared_.draft.values;
    const TrajectoryPointer& t = shared_.current;
    if (!shared_.shown || shared_.shown->scene == shared_.scene || !t ||
        t->scene != shared_.scene) {
        s.present = nullptr;
        filled_present_ = nullptr;
        return;
    }
    if (s.present && filled_present_ == t) return;
    filled_present_ = t;
    auto present = std::make_shared<EditableQuantities>();
    present->parameters = t->scene->parameters;
    present->quantities = t->scene->quantity_infos(*t, nullptr);
    s.present = std::move(present);
}

void DraftFiller::fill_view(const SceneInfoPointer& scene, const Trajectory* t,
                            const FramePointer& frame, const Changed& changed) {
    ViewSnapshot& s = shared_.draft.view;
    s.contents = shared_.wanted.contents;
    s.color_range = colors_.range();
    if (changed.scene) {
        s.colors = scene->colors;
        s.arrows = scene->arrows;
    }
    if (t == nullptr) {
        s.frame_waits = frame_lags_ = false;
        return;
    }
    // The shared state may have moved on while the last frame was written.
    frame_lags_ = output_.lags(frame);
    // Another run brings the arrays that this one did not keep.
    const bool another = output_.can_show() && frame && !t->failed && !t->of_mouse_pull &&
                         lacks(*t, shared_.wanted.contents);
    s.frame_waits = frame_lags_ || another;
    if (!shared_.wanted.contents.trails)
        s.trails = nullptr;
    else if (frame && (frame != trails_until_ || !s.trails))
        s.trails = trails_of(*t, frame->step);
    trails_until_ = frame;
}

void DraftFiller::fill_pulls(const Trajectory* t, const KeptFrame* frame) {
    PullsSnapshot& s = shared_.draft.pulls;
    s.current.reset();
    if (shared_.mouse_pull && t != nullptr)
        s.current = mouse_pull_info(*shared_.mouse_pull, *t, frame);
}

void DraftFiller::fill_memory(const Changed& changed) {
    MemorySnapshot& s = shared_.draft.memory;
    s.frame_bytes = shared_.frame_bytes();
    if (!changed.facts) return;
    const auto& memory = filled_scene_.memory;
    s.checkpoint_plan = memory ? memory->plan : "";
    s.checkpoints = memory ? memory->checkpoints : std::vector<std::int64_t>();
    s.gradient_bytes = memory ? memory->bytes : 0;
}

}  // namespace hindcast::session
