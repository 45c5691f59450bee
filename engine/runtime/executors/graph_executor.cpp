#include "engine/runtime/executors/graph_executor.hpp"

#include <algorithm>
#include <utility>

#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/launch/launch_state.hpp"

namespace hindcast {

namespace {
// Works with what a run keeps.
bool keeps(RunKind kind) { return kind == RunKind::recording || kind == RunKind::back; }
}  // namespace

GraphExecutor::GraphExecutor(Schedule& schedule, Recording& recording, Array counter,
                             const Device& device, const Sequence* follower)
    : schedule_(schedule),
      recording_(recording),
      counter_(std::move(counter)),
      device_(device),
      follower_(follower) {
    ArraySet seen;
    const auto add = [&](const Array& array) {
        if (array && seen.insert(array)) arrays_.push_back(array);
    };
    schedule.each_array(add);
    schedule.each_call(
        [&](const Call& call) { has_host_function_ |= call.forward.kernel().is_host_function; });
    if (follower != nullptr) follower->each_array(add);
}

// Marks the arrays that the graphs have changed, as the launches would have done.
void GraphExecutor::mark_written(RunKind kind) const {
    const bool back = kind == RunKind::back;
    schedule_.each_call([&](const Call& call) {
        if (back)
            call.each_back([](const Launch::Replay& replay) { replay.bound().ran_on_device(); });
        else
            call.forward.bound().ran_on_device();
    });
    for (const Array& a : back ? schedule_.gradients : schedule_.reduced) a.wrote_on_device();
    if (back && schedule_.plan.segments > 1)
        for (const Array& a : schedule_.recomputed) a.wrote_on_device();
    if (back && follower_ != nullptr) follower_->ran_on_device();
    if (counter_) counter_.store(back ? 0 : static_cast<std::int32_t>(schedule_.steps));
}

bool GraphExecutor::fits(RunKind kind, const Seeds& seeds) const {
    const Way& noted = way(kind);
    if (noted.graphs.empty() || noted.seeds.size() != seeds.size()) return false;
    for (std::size_t k = 0; k < seeds.size(); ++k)
        if (!seeds[k].of.same_memory(noted.seeds[k].of) || seeds[k].value != noted.seeds[k].value ||
            !seeds[k].from.same_memory(noted.seeds[k].from))
            return false;
    return (!keeps(kind) || noted.before == recording_.state()) && noted.premises.hold(schedule_);
}

bool GraphExecutor::note(RunKind kind, const Seeds& seeds, const std::function<void()>& launches) {
    Way& fresh = way(kind);
    fresh.seeds = seeds;
    fresh.premises.note(schedule_, counter_);
    fresh.before = recording_.state();
    for (const RolloutSeed& seed : seeds)
        if (seed.from) seed.from.memory().on(device_.cuda());
    noting_ = &fresh.graphs;
    struct Leave {
        GraphExecutor& executor;
        ~Leave() { executor.noting_ = nullptr; }
    } const leave{*this};
    try {
        fresh.graphs.note(device_, launches);
    } catch (const Error&) {
        if (keeps(kind)) recording_.go_to(fresh.before);
        if (device_.options().whole_program == WholeProgramUse::always) throw;
        return false;
    }
    fresh.after = recording_.state();
    return true;
}

void GraphExecutor::split_long_graph() {
    if (noting_ != nullptr) noting_->split_long_graph(device_);
}

bool GraphExecutor::run_graphs(const Stretch& stretch, const std::function<void()>& launches) {
    Way& noted = way(stretch.kind);
    if (device_.cuda()->follows_capture() || has_host_function_ ||
        !noted.graphs.refusal().empty() ||
        device_.options().whole_program == WholeProgramUse::never)
        return false;
    if (noted.runs == 0) {
        ++noted.runs;
        return false;
    }
    const auto each = [this](const auto& visit) { std::ranges::for_each(arrays_, visit); };
    if (!places_.send(device_, each))
        for (Way& other : ways_) other.graphs.forget();
    static const Seeds none;
    const Seeds& seeds = stretch.seeds != nullptr ? *stretch.seeds : none;
    if (!fits(stretch.kind, seeds)) {
        if (!note(stretch.kind, seeds, launches)) return false;
        places_.send(device_, each);
    }
    noted.graphs.launch(device_);
    mark_written(stretch.kind);
    if (keeps(stretch.kind)) recording_.go_to(noted.after);
    return true;
}

bool GraphExecutor::run(const Stretch& stretch, const std::function<void()>& launches) {
    if (run_graphs(stretch, launches)) return true;
    launches();
    return false;
}

}  // namespace hindcast
