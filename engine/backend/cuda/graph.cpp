// Work that is noted instead of done, and done again by one call.
#include <fmt/format.h>

#include <utility>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

Graph::~Graph() {
    if (handle_ != nullptr) context_->here().GraphExecDestroy(handle_);
}

Graph& Graph::operator=(Graph&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    std::swap(nodes_, other.nodes_);
    std::swap(kept_, other.kept_);
    std::swap(watches_, other.watches_);
    std::swap(work_, other.work_);
    return *this;
}

// Other threads wait until it ends.
void Context::begin_capture() {
    Lock held = lock();
    join_others();
    check(here().StreamBeginCapture(stream_, relaxed_capture), "noting work");
    held.keep();
    capturing_ = true;
    faults_.take_captured();
    log_.take_captured();
    noted_ = 0;
}

void Context::drop_capture() noexcept {
    {
        const Lock held = lock();
        if (!capturing_) return;
    }
    const Lock held(*this, std::adopt_lock);
    capturing_ = false;
    kept_.clear();
    GraphHandle noted = nullptr;
    const Driver& d = here();
    if (d.StreamEndCapture(stream_, &noted) == success) d.GraphDestroy(noted);
}

void Context::end_capture(Graph& graph) {
    const Lock held(*this, std::adopt_lock);
    const Driver& d = here();
    capturing_ = false;
    const auto kept = std::exchange(kept_, {});
    GraphHandle noted = nullptr;
    const int result = d.StreamEndCapture(stream_, &noted);
    if (result != success && noted != nullptr) d.GraphDestroy(noted);
    check(result, "a graph");
    std::size_t nodes = 0;
    GraphExecHandle made = graph.handle_;
    int status = d.GraphGetNodes(noted, nullptr, &nodes);
    GraphUpdate update;
    const bool same = status == success && nodes == graph.nodes_ && made != nullptr &&
                      d.GraphExecUpdate(made, noted, &update) == success;
    if (status == success && !same) {
        made = nullptr;
        status = d.GraphInstantiate(&made, noted, 0);
    }
    d.GraphDestroy(noted);
    check(status, "a graph that can run");
    Graph fresh;
    fresh.kept_ = kept;
    fresh.watches_ = faults_.take_captured();
    fresh.work_ = std::make_shared<const std::vector<Work>>(log_.take_captured());
    fresh.context_ = shared_from_this();
    fresh.handle_ = made;
    fresh.nodes_ = nodes;
    if (same) graph.handle_ = nullptr;  // the same one, with other work
    graph = std::move(fresh);
}

void Context::launch(const Graph& graph) {
    const Lock held = lock();
    join_others();
    note_measured();
    check(here().GraphLaunch(graph.handle_, stream_),
          fmt::format("running a graph of {} nodes", graph.nodes_));
    hold_others();
    ++calls_.graphs;
    calls_.nodes += static_cast<std::int64_t>(graph.nodes_);
    note_work({.graph = graph.work_});
    for (const int watch : graph.watches_) faults_.may_come(watch);
}

}  // namespace hindcast::backend::cuda
