#include "app/session/threads/work/between_frames.hpp"

#include <algorithm>

namespace hindcast::session {

namespace {

constexpr std::int64_t most_between = 64;           // frames
constexpr std::int64_t states_on_the_way = 16;      // from the start to the cursor, at most
constexpr std::int64_t share_of_frame_memory = 16;  // frames may take that part, states as well

}  // namespace

std::optional<std::int64_t> BetweenFrames::missing_step(const TrajectoryPointer& t) const {
    if (!shared_.time.stands_still || !t || !t->complete || t->failed || t->of_mouse_pull)
        return std::nullopt;
    // A trajectory that an edit has made obsolete is shown only until the new scene runs.
    if (t->scene != state_.now.scene && t != shared_.ghost &&
        shared_.wanted.iteration != t->iteration)
        return std::nullopt;
    const std::int64_t step = shared_.time.step_in(*t->scene);
    const FramePointer frame = t->frame_at(step);
    if (!frame || frame->step == step || step > t->steps_done()) return std::nullopt;
    const StepStates* const known = scenes_.find_states(t);
    if (known != nullptr && known->failed) return std::nullopt;
    return step;
}

// True if the cursor stands still in the range.
bool BetweenFrames::is_wanted(const Range& range) const {
    if (!shared_.time.stands_still) return false;
    const std::int64_t step = shared_.time.step_in(*range.scene);
    return step >= range.first && step <= range.last;
}

bool BetweenFrames::run_missing() {
    TrajectoryPointer t;
    std::optional<std::int64_t> wanted;
    {
        const Lock lock(shared_.mutex);
        for (const TrajectoryPointer& candidate : {shared_.shown, shared_.ghost})
            if (!wanted) {
                wanted = missing_step(candidate);
                if (wanted) t = candidate;
            }
    }
    if (!wanted) return false;
    run(t, *wanted);
    return true;
}

void BetweenFrames::run(const TrajectoryPointer& t, std::int64_t step) {
    const SceneInfo& scene = *t->scene;
    std::int64_t frame_bytes = 1;
    for (const std::string& name : *t->arrays) frame_bytes += scene.array_bytes.at(name);
    const std::int64_t room = state_.options.frame_memory / share_of_frame_memory;
    const std::int64_t count = std::clamp<std::int64_t>(room / frame_bytes, 1, most_between);
    const std::int64_t first = std::max<std::int64_t>(step - count / 4, 0);
    const std::int64_t last = std::min(first + count - 1, t->steps_done());
    {
        const Lock lock(shared_.mutex);
        t->keep_between(first, last);
        shared_.growing = t;
    }
    state_.activity.set(Activity::simulating, "computing step " + std::to_string(step));

    BuiltScene* built = nullptr;
    try {
        built = &scenes_.built_for(t->scene);
    } catch (const Error&) {
        scenes_.fail_states(t);
        throw;
    }
    StepStates& known = scenes_.states_of(t);
    const Range range{t->scene, first, last};
    const Interrupts::OnlyWhile looked_at(interrupts_, [&] { return is_wanted(range); });
    known.failed = true;  // unless all goes well
    Simulation& simulation = *built->simulation;
    std::vector<Rollout::State>& states = known.states;
    const Rollout::State* from = nullptr;
    for (const Rollout::State& state : states)
        if (state.step <= first * scene.substeps && (!from || state.step > from->step))
            from = &state;
    const std::int64_t begin = from != nullptr ? from->step / scene.substeps : 0;
    const std::int64_t spacing = std::max<std::int64_t>(last / states_on_the_way, 1);
    frames_.recorder().watch(simulation.model(), scene.plan.points, t->arrays);
    std::vector<Rollout::State> fresh;
    const auto watch = [&](std::int64_t done) {
        if (interrupts_.stops_run()) return false;
        if (done % scene.substeps != 0) return true;
        const std::int64_t now = done / scene.substeps;
        if (now > begin && (now % spacing == 0 || now == first || now == last) &&
            std::ranges::find(states, done, &Rollout::State::step) == states.end())
            fresh.push_back(simulation.rollout().copy_state(done));
        if (now >= first) {
            FramePointer frame = frames_.recorder().record(now);
            const Lock lock(shared_.mutex);
            t->add_between(std::move(frame));
            shared_.mark_changed();
        }
        return now < last;
    };
    built->load(*t->base, t->parameters);
    if (from != nullptr)
        simulation.rollout().forward_from(*from, watch);
    else
        simulation.rollout().forward(false, watch);
    known.failed = false;
    for (Rollout::State& state : fresh) states.push_back(std::move(state));
    bound(states, room);
    const Lock lock(shared_.mutex);
    shared_.growing = nullptr;
    shared_.mark_changed();
}

// The last states are nearest to the cursor.
void BetweenFrames::bound(std::vector<Rollout::State>& states, std::int64_t most_bytes) {
    std::int64_t bytes = 0;
    std::size_t kept = 0;
    while (kept < states.size()) {
        bytes += states[states.size() - 1 - kept].bytes();
        if (kept > 0 && bytes > most_bytes) break;
        ++kept;
    }
    states.erase(states.begin(), states.end() - static_cast<std::ptrdiff_t>(kept));
}

}  // namespace hindcast::session
