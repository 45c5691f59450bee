#include "engine/runtime/graph_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/backend/cuda_context.hpp"
#include "engine/base/error.hpp"

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
    std::string refusal;
};

GraphRuns::GraphRuns(Schedule& schedule, Array counter, const Device& device)
    : schedule_(schedule), counter_(std::move(counter)), device_(device) {
    for (auto& way : ways_) way = std::make_unique<Way>();
    std::set<const void*> seen;
    schedule.each_array([&](const Array& array) {
        if (array && array.bytes() > 0 && seen.insert(array.version_counter()).second)
            arrays_.push_back(array);
    });
}

GraphRuns::~GraphRuns() = default;

void GraphRuns::send_inputs() const {
    for (const Array& a : arrays_) a.memory().on(device_.cuda());
}

// What the graphs have changed, as the launches would have said.
void GraphRuns::mark_written(Kind kind) const {
    schedule_.each_call([&](const Call& call) {
        if (kind != WholeProgram::backward)
            call.forward.ran_on_device();
        else if (call.differentiable)
            call.backward.ran_on_device();
    });
    for (const Array& a : kind == WholeProgram::backward ? schedule_.gradients : schedule_.reduced)
        a.wrote_on_device();
    if (counter_)
        counter_.store(kind == WholeProgram::backward ? 0
                                                      : static_cast<std::int32_t>(schedule_.steps));
}

bool GraphRuns::fits(const Way& way, const Seeds& seeds) const {
    if (way.count == 0 || way.seeds.size() != seeds.size()) return false;
    for (std::size_t k = 0; k < seeds.size(); ++k)
        if (!seeds[k].of.same_memory(way.seeds[k].of) || seeds[k].value != way.seeds[k].value)
            return false;
    return way.premises.hold(schedule_);
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

void GraphRuns::breathe() {
    if (noting_ == nullptr || device_.cuda()->noted() < long_graph) return;
    end_graph();
    device_.cuda()->begin_capture();
}

void GraphRuns::note(Way& way, const Seeds& seeds, const std::function<void()>& work) {
    way.count = 0;
    way.nodes = 0;
    way.seeds = seeds;
    way.premises.note(schedule_, counter_);
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
}

bool GraphRuns::run(Kind kind, const Seeds& seeds, const std::function<void()>& work) {
    Way& way = *ways_[kind];
    const WholeProgramUse use = device_.options().whole_program;
    if (use == WholeProgramUse::never || !way.refusal.empty()) return false;
    if (way.runs == 0) {
        ++way.runs;
        return false;
    }
    if (!fits(way, seeds)) {
        send_inputs();
        try {
            note(way, seeds, work);
        } catch (const Error& e) {
            way.graphs.clear();
            way.count = 0;
            way.refusal = e.happened();
            if (use == WholeProgramUse::always) throw;
            return false;
        }
    }
    send_inputs();
    for (const Graph& graph : way.graphs) device_.cuda()->launch(graph);
    mark_written(kind);
    return true;
}

std::string GraphRuns::report(Kind kind) const {
    const Way& way = *ways_[kind];
    if (!way.refusal.empty()) return "launch by launch: " + way.refusal;
    if (way.count == 0) return "launch by launch: run a few times only";
    return way.count == 1 ? fmt::format("one graph of {} nodes", way.nodes)
                          : fmt::format("{} graphs, {} nodes", way.count, way.nodes);
}

}  // namespace hindcast
