// Entry points: capture and graphs.
#include <algorithm>

#include "tests/cuda_driver/api/api.hpp"
#include "tests/cuda_driver/capture.hpp"

namespace software_cuda {

using api::GraphExecHandle;
using api::GraphHandle;
using api::StreamHandle;

namespace {

// Of a graph, or of what was captured; only its address means something.
api::GraphNode handle_of(const GraphNodes::Node& node) {
    return reinterpret_cast<api::GraphNode>(const_cast<GraphNodes::Node*>(&node));
}

}  // namespace

EXPORT int cuStreamBeginCapture_v2(StreamHandle handle, int mode) {
    return call_in_context("cuStreamBeginCapture_v2", [&](System& system, Context& context) -> int {
        if (handle == nullptr) return capture_unsupported;
        const auto stream = system.streams.find(handle, context);
        if (stream == nullptr) return invalid_handle;
        if (mode != api::relaxed_capture) return invalid_value;
        return begin_capture(stream);
    });
}

EXPORT int cuStreamIsCapturing(StreamHandle handle, int* status) {
    return call_in_context("cuStreamIsCapturing", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (status == nullptr) return invalid_value;
        *status = stream->capture == nullptr ? 0 : stream->capture->invalid ? 2 : 1;
        return success;
    });
}

EXPORT int cuStreamEndCapture(StreamHandle handle, GraphHandle* graph) {
    return call_in_context("cuStreamEndCapture", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (graph == nullptr) return invalid_value;
        *graph = nullptr;
        std::shared_ptr<const GraphNodes> nodes;
        if (const int failed = end_capture(*stream, nodes)) return failed;
        *graph = system.graphs.add<GraphHandle>(std::make_shared<Graph>(Graph{context, nodes}));
        return success;
    });
}

EXPORT int cuGraphGetNodes(GraphHandle handle, api::GraphNode* nodes, std::size_t* count) {
    return call("cuGraphGetNodes", [&](System& system) {
        const auto graph = system.graphs.find(handle);
        if (graph == nullptr || count == nullptr) return invalid_value;
        const std::vector<GraphNodes::Node>& all = graph->nodes->nodes;
        if (nodes == nullptr) {
            *count = all.size();
            return success;
        }
        for (std::size_t k = 0; k < *count; ++k)
            nodes[k] = k < all.size() ? handle_of(all[k]) : nullptr;
        *count = std::min(*count, all.size());
        return success;
    });
}

EXPORT int cuGraphInstantiateWithFlags(GraphExecHandle* made, GraphHandle handle,
                                       unsigned long long flags) {
    return call_in_context("cuGraphInstantiateWithFlags", [&](System& system, Context& context) {
        const auto graph = system.graphs.find(handle, context);
        if (graph == nullptr || made == nullptr || flags != 0) return invalid_value;
        *made = system.executables.add<GraphExecHandle>(
            std::make_shared<GraphExec>(GraphExec{context, graph->nodes, {}}));
        return success;
    });
}

// Launches that are under way keep what they were made with.
EXPORT int cuGraphExecUpdate_v2(GraphExecHandle updated, GraphHandle handle,
                                api::GraphUpdate* result) {
    return call_in_context("cuGraphExecUpdate_v2", [&](System& system, Context& context) -> int {
        const auto executable = system.executables.find(updated, context);
        const auto graph = system.graphs.find(handle, context);
        if (executable == nullptr || graph == nullptr || result == nullptr) return invalid_value;
        *result = {};
        std::size_t where = 0;
        result->result = compare_graphs(*executable->nodes, *graph->nodes, where);
        if (result->result == 0) {
            executable->nodes = graph->nodes;
            return success;
        }
        if (where < graph->nodes->nodes.size())
            result->node = handle_of(graph->nodes->nodes[where]);
        return graph_update_failure;
    });
}

EXPORT int cuGraphLaunch(GraphExecHandle handle, StreamHandle stream_handle) {
    return call_in_context("cuGraphLaunch", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, stream_handle);
        const auto executable = system.executables.find(handle, context);
        if (stream == nullptr || executable == nullptr) return invalid_handle;
        if (stream->capture != nullptr) return refuse_in_capture(*stream);
        ++system.counters.graph_launches;
        system.counters.nodes += static_cast<long long>(executable->nodes->nodes.size());
        if (!executable->last.passed()) {
            Work wait;
            wait.kind = Work::Kind::wait;
            wait.point = executable->last;
            if (const int failed = submit(system, *stream, std::move(wait))) return failed;
        }
        Work work;
        work.kind = Work::Kind::graph;
        work.graph = executable->nodes;
        const int result = submit(system, *stream, std::move(work));
        executable->last = {stream, stream->enqueued};
        return result;
    });
}

EXPORT int cuGraphDestroy(GraphHandle graph) {
    return call("cuGraphDestroy", [&](System& system) {
        if (system.graphs.find(graph) == nullptr) return invalid_value;
        system.graphs.remove(graph);
        return success;
    });
}

EXPORT int cuGraphExecDestroy(GraphExecHandle executable) {
    return call("cuGraphExecDestroy", [&](System& system) {
        if (system.executables.find(executable) == nullptr) return invalid_value;
        system.executables.remove(executable);
        return success;
    });
}

}  // namespace software_cuda
