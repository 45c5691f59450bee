#include "engine/runtime/program/noted_graphs.hpp"

#include <fmt/format.h>

#include "engine/base/error.hpp"

namespace hindcast {

namespace {
constexpr std::int64_t long_graph = 4000;     // nodes
constexpr std::int64_t most_nodes = 200'000;  // of a run: the driver keeps about a kilobyte each
}  // namespace

void NotedGraphs::note(const Device& device, const std::function<void()>& work) {
    count_ = 0;
    nodes_ = 0;
    struct Leave {
        const Device& device;
        ~Leave() { device.cuda()->drop_capture(); }
    } const leave{device};
    try {
        device.cuda()->begin_capture();
        work();
        end_graph(device);
    } catch (const Error& e) {
        graphs_.clear();
        count_ = 0;
        refusal_ = e.happened();
        throw;
    }
    graphs_.resize(count_);
}

void NotedGraphs::split_long_graph(const Device& device) {
    if (device.cuda()->noted() < long_graph) return;
    end_graph(device);
    device.cuda()->begin_capture();
}

void NotedGraphs::end_graph(const Device& device) {
    if (graphs_.size() == count_) graphs_.emplace_back();
    backend::cuda::Graph& graph = graphs_[count_];
    device.cuda()->end_capture(graph);
    nodes_ += static_cast<std::int64_t>(graph.nodes());
    ++count_;
    if (nodes_ > most_nodes)
        throw Error(fmt::format("it takes more than {} launches and copies", most_nodes));
}

void NotedGraphs::launch(const Device& device) const {
    for (const backend::cuda::Graph& graph : graphs_) device.cuda()->launch(graph);
}

std::string NotedGraphs::report() const {
    if (!refusal_.empty()) return "launch by launch: " + refusal_;
    if (count_ == 0) return "launch by launch: run a few times only";
    if (count_ == 1) return fmt::format("one graph of {} nodes", nodes_);
    return fmt::format("{} graphs, {} nodes", count_, nodes_);
}

}  // namespace hindcast
