#include "engine/runtime/compiled/graph_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast {

using backend::cuda::Graph;

namespace {
constexpr std::int64_t long_graph = 4000;     // nodes
constexpr std::int64_t most_nodes = 200'000;  // of a run: the driver keeps about a kilobyte each
}  // namespace

struct GraphRuns::Way {
    int runs = 0;  // launch by launch
    std::vector<Graph> graphs;
    std::size_t count = 0;  // of them in use
    std::int64_t nodes = 0;
    Seeds seeds;
    Premises premises;
    bool keeps = false;              // works with what a run keeps
    Recording::State before, after;  // of the run that was noted
    std::string refusal;
};

GraphRuns::GraphRuns(Schedule& schedule, Recording& recording, Array counter, const Device& device,
                     const Sequence* follower)
    : schedule_(schedule),
      recording_(recording),
      counter_(std::move(counter)),
      device_(device),
      follower_(follower) {
    for (auto& way : ways_) way = std::make_unique<Way>();
    ways_[WholeProgram::forward_keeping]->keeps = ways_[WholeProgram::backward]->keeps = true;
    std::set<const void*> seen;
    const auto add = [&](const Array& array) {
        if (array && array.bytes() > 0 && seen.insert(array.version_counter()).second)
            arrays_.push_back(array);
    };
    schedule.each_array(add);
    if (follower != nullptr) follower->each_array(add);
    places_.resize(arrays_.size());
}

GraphRuns::~GraphRuns() = default;

// Whether all of it is where it was before.
bool GraphRuns::send_inputs() {
    bool same = true;
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
        const void* const place = arrays_[k].memory().on(device_.cuda());
        same &= std::exchange(places_[k], place) == place;
    }
    return same;
}

// What the graphs have changed, as the launches would have said.
void GraphRuns::mark_written(Kind kind) const {
    schedule_.each_call([&](const Call& call) {
        if (kind == WholeProgram::backward)
            call.each_back([](const Launch::Replay& replay) { replay.ran_on_device(); });
        else
            call.forward.ran_on_device();
    });
    for (const Array& a : kind == WholeProgram::backward ? schedule_.gradients : schedule_.reduced)
        a.wrote_on_device();
    if (kind == WholeProgram::backward && schedule_.plan.segments > 1)
        for (const Array& a : schedule_.recomputed) a.wrote_on_device();
    if (kind == WholeProgram::backward && follower_ != nullptr) follower_->ran_on_device();
    if (counter_)
        counter_.store(kind == WholeProgram::backward ? 0
                                                      : static_cast<std::int32_t>(schedule_.steps));
}

bool GraphRuns::fits(const Way& way, const Seeds& seeds) const {
    if (way.count == 0 || way.seeds.size() != seeds.size()) return false;
    for (std::size_t k = 0; k < seeds.size(); ++k)
        if (!seeds[k].of.same_memory(way.seeds[k].of) || seeds[k].value != way.seeds[k].value ||
            !seeds[k].from.same_memory(way.seeds[k].from))
            return false;
    return (!way.keeps || way.before == recording_.state()) && way.premises.hold(schedule_);
}

void GraphRuns::end_graph() {
    Way& way = *noting_;
    if (way.graphs.size() == way.count) way.graphs.emplace_back();
    Graph& graph = way.graphs[way.count];
    device_.cuda()->end_capture(graph);
    way.nodes += static_cast<std::int64_t>(graph.nodes());
    ++way.count;
    if (way.nodes > most_nodes)
        throw Error(fmt::format("it takes more than {} launches and copies", most_nodes));
}

void GraphRuns::split_long_graph() {
    if (noting_ == nullptr || device_.cuda()->noted() < long_graph) return;
    end_graph();
    device_.cuda()->begin_capture();
}

void GraphRuns::note(Way& way, const Seeds& seeds, const std::function<void()>& work) {
    way.count = 0;
    way.nodes = 0;
    way.seeds = seeds;
    way.premises.note(schedule_, counter_);
    way.before = recording_.state();
    for (const Rollout::Seed& seed : seeds)
        if (seed.from) seed.from.memory().on(device_.cuda());
    noting_ = &way;
    struct Leave {
        GraphRuns& runs;
        ~Leave() {
            runs.noting_ = nullptr;
            runs.device_.cuda()->drop_capture();
        }
    } const leave{*this};
    device_.cuda()->begin_capture();
    work();
    end_graph();
    way.graphs.resize(way.count);
    way.after = recording_.state();
}

bool GraphRuns::run(Kind kind, const Seeds& seeds, const std::function<void()>& work) {
    Way& way = *ways_[kind];
    if (device_.cuda()->follows_capture()) return false;
    const WholeProgramUse use = device_.options().whole_program;
    if (use == WholeProgramUse::never || !way.refusal.empty()) return false;
    if (way.runs == 0) {
        ++way.runs;
        return false;
    }
    if (!send_inputs())
        for (const auto& each : ways_) each->count = 0;
    if (!fits(way, seeds)) {
        try {
            note(way, seeds, work);
        } catch (const Error& e) {
            way.graphs.clear();
            way.count = 0;
            if (way.keeps) recording_.go_to(way.before);
            way.refusal = e.happened();
            if (use == WholeProgramUse::always) throw;
            return false;
        }
        send_inputs();
    }
    for (const Graph& graph : way.graphs)
        device_.cuda()->launch(graph, device_.options().single_block);
    mark_written(kind);
    if (way.keeps) recording_.go_to(way.after);
    return true;
}

std::string GraphRuns::report(Kind kind) const {
    const Way& way = *ways_[kind];
    if (!way.refusal.empty()) return "launch by launch: " + way.refusal;
    if (way.count == 0) return "launch by launch: run a few times only";
    if (way.count == 1) return way.graphs.front().report();
    const auto blocks = std::count_if(way.graphs.begin(), way.graphs.end(),
                                      [](const Graph& graph) { return graph.runs_as_block(); });
    return fmt::format("{} graphs, {} nodes{}", way.count, way.nodes,
                       blocks > 0 ? fmt::format(", {} of them as one block", blocks) : "");
}

}  // namespace hindcast
