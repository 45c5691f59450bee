// Frames between those that are kept. Where memory holds only every so many steps, the step that
// time stands still at is run again, with some of its neighbours, by the same launches: so it has
// the same bits. States are copied on the way there, from which the next such run begins.
#include <algorithm>

#include "app/session/threads/runner.hpp"

namespace hindcast::session {

namespace {

constexpr std::int64_t most_between = 64;           // frames
constexpr std::int64_t states_on_the_way = 16;      // from the start to the cursor, at most
constexpr std::int64_t share_of_frame_memory = 16;  // frames may take that part, states as well

}  // namespace

// Where time stands still, if that is between the trajectory's frames. Under the shared lock.
std::optional<std::int64_t> Runner::step_between(const TrajectoryPointer& t) const {
    if (!shared_.still || !t || !t->complete || t->failed || t->of_mouse_pull) return std::nullopt;
    // What an edit has made obsolete stands in the picture only until the new scene runs.
    if (t->scene != now_.scene && t != shared_.ghost && shared_.wanted_iteration != t->iteration)
        return std::nullopt;
    const std::int64_t step = same_moment(shared_.cursor, shared_.cursor_seconds, *t->scene);
    const FramePointer frame = t->frame_at(step);
    if (!frame || frame->step == step || step > t->steps_done()) return std::nullopt;
    const auto known = std::ranges::find(between_, t, &Between::of);
    if (known != between_.end() && known->failed) return std::nullopt;
    return step;
}

// Whether what is run now is still what is looked at. Under the shared lock.
bool Runner::wants_between_range() const {
    if (!shared_.still || !between_range_) return false;
    const BetweenRange& range = *between_range_;
    const std::int64_t step = same_moment(shared_.cursor, shared_.cursor_seconds, *range.scene);
    return step >= range.first && step <= range.last;
}

// Runs what is missing of the two trajectories that are shown. False: nothing is.
bool Runner::run_between() {
    TrajectoryPointer t;
    std::optional<std::int64_t> wanted;
    {
        const Lock lock(shared_.mutex);
        for (const TrajectoryPointer& candidate : {shared_.shown, shared_.ghost})
            if (!wanted) {
                wanted = step_between(candidate);
                if (wanted) t = candidate;
            }
    }
    if (!wanted) return false;
    const std::int64_t step = *wanted;
    const SceneInfo& scene = *t->scene;
    std::int64_t frame_bytes = 1;
    for (const std::string& name : *t->arrays) frame_bytes += scene.array_bytes.at(name);
    const std::int64_t room = options_.frame_memory / share_of_frame_memory;
    const std::int64_t count = std::clamp<std::int64_t>(room / frame_bytes, 1, most_between);
    const std::int64_t first = std::max<std::int64_t>(step - count / 4, 0);
    const std::int64_t last = std::min(first + count - 1, t->steps_done());
    {
        const Lock lock(shared_.mutex);
        t->keep_between(first, last);
        shared_.growing = t;
    }
    set_activity(Activity::simulating, "computing step " + std::to_string(step));

    BuiltScene* built = nullptr;
    try {
        built = &built_for(t->scene);
    } catch (const Error&) {
        between_.push_back({t, {}, true});
        throw;
    }
    BuiltScene& of = *built;
    // States of two trajectories are kept: of the one that is shown, and of the ghost.
    auto known = std::ranges::find(between_, t, &Between::of);
    if (known == between_.end()) {
        if (between_.size() >= 2) between_.erase(between_.begin());
        known = between_.insert(between_.end(), Between{t, {}});
    }
    struct Range {
        Runner& runner;
        ~Range() { runner.between_range_.reset(); }
    } const range{*this};
    between_range_ = {t->scene, first, last};
    known->failed = true;  // unless all goes well
    Simulation& simulation = *of.simulation;
    std::vector<Rollout::State>& states = known->states;
    const Rollout::State* from = nullptr;
    for (const Rollout::State& state : states)
        if (state.step <= first * scene.substeps && (!from || state.step > from->step))
            from = &state;
    const std::int64_t begin = from != nullptr ? from->step / scene.substeps : 0;
    const std::int64_t spacing = std::max<std::int64_t>(last / states_on_the_way, 1);
    frame_recorder_.watch(simulation.model(), scene.plan.points, t->arrays);
    std::vector<Rollout::State> fresh;
    const auto watch = [&](std::int64_t done) {
        if (interrupted()) return false;
        if (done % scene.substeps != 0) return true;
        const std::int64_t now = done / scene.substeps;
        if (now > begin && (now % spacing == 0 || now == first || now == last) &&
            std::ranges::find(states, done, &Rollout::State::step) == states.end())
            fresh.push_back(simulation.rollout().copy_state(done));
        if (now >= first) {
            FramePointer frame = frame_recorder_.record(now);
            const Lock lock(shared_.mutex);
            t->add_between(std::move(frame));
            shared_.mark_changed();
        }
        return now < last;
    };
    load(of, *t->base, t->parameters);
    if (from != nullptr)
        simulation.rollout().forward_from(*from, watch);
    else
        simulation.rollout().forward(false, watch);
    known->failed = false;
    for (Rollout::State& state : fresh) states.push_back(std::move(state));
    // The last ones are nearest to where the cursor is; one stays in any case.
    std::int64_t bytes = 0;
    std::size_t kept = 0;
    while (kept < states.size()) {
        bytes += states[states.size() - 1 - kept].bytes();
        if (kept > 0 && bytes > room) break;
        ++kept;
    }
    states.erase(states.begin(), states.end() - static_cast<std::ptrdiff_t>(kept));
    const Lock lock(shared_.mutex);
    shared_.growing = nullptr;
    shared_.mark_changed();
    return true;
}

}  // namespace hindcast::session
