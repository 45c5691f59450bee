#include "tests/cuda_driver/capture.hpp"

#include <algorithm>

#include "tests/cuda_driver/results.hpp"

namespace software_cuda {

namespace {

void join(std::vector<int>& frontier, const std::vector<int>& more) {
    frontier.insert(frontier.end(), more.begin(), more.end());
    std::sort(frontier.begin(), frontier.end());
    frontier.erase(std::unique(frontier.begin(), frontier.end()), frontier.end());
}

// Whether every node comes before the frontier, or is in it.
bool reaches_all(const GraphNodes& graph, const std::vector<int>& frontier) {
    std::vector<bool> seen(graph.nodes.size());
    for (const int k : frontier) seen[static_cast<std::size_t>(k)] = true;
    for (std::size_t k = graph.nodes.size(); k-- > 0;) {  // dependencies have lower numbers
        if (!seen[k]) return false;
        for (const int d : graph.nodes[k].dependencies) seen[static_cast<std::size_t>(d)] = true;
    }
    return true;
}

void leave(Capture& capture) {
    capture.ended = true;
    // The last one to let go of the capture may be a member of it.
    const auto members = std::move(capture.members);
    for (const auto& member : members) {
        member->frontier.clear();
        member->capture.reset();
    }
}

}  // namespace

int begin_capture(const std::shared_ptr<Stream>& stream) {
    if (stream->capture != nullptr) return illegal_state;
    auto capture = std::make_shared<Capture>();
    capture->origin = stream.get();
    capture->members.push_back(stream);
    stream->capture = std::move(capture);
    stream->frontier.clear();
    return success;
}

int capture_work(Stream& stream, Work work) {
    if (stream.capture->invalid) return capture_invalidated;
    std::vector<GraphNodes::Node>& nodes = stream.capture->nodes->nodes;
    const int place = static_cast<int>(nodes.size());
    for (const int d : stream.frontier)
        nodes[static_cast<std::size_t>(d)].successors.push_back(place);
    nodes.push_back({std::move(work), std::move(stream.frontier), {}});
    stream.frontier = {place};
    return success;
}

int capture_wait(const std::shared_ptr<Stream>& stream, const Event& event) {
    if (event.capture == nullptr) {  // and the stream is captured
        if (stream->capture->invalid) return capture_invalidated;
        if (event.point.stream == nullptr) return success;
        stream->capture->invalid = true;
        return capture_isolation;
    }
    if (event.capture->ended) {
        if (stream->capture != nullptr) stream->capture->invalid = true;
        return captured_event;
    }
    if (event.capture->invalid || (stream->capture != nullptr && stream->capture->invalid))
        return capture_invalidated;
    if (stream->capture != nullptr && stream->capture != event.capture) {
        stream->capture->invalid = event.capture->invalid = true;
        return capture_merge;
    }
    if (stream->capture == nullptr) {
        stream->capture = event.capture;
        stream->capture->members.push_back(stream);
    }
    join(stream->frontier, event.frontier);
    return success;
}

int end_capture(Stream& stream, std::shared_ptr<const GraphNodes>& nodes) {
    nodes.reset();
    const std::shared_ptr<Capture> capture = stream.capture;
    if (capture == nullptr) return illegal_state;
    if (capture->origin != &stream) {
        capture->invalid = true;
        return capture_unmatched;
    }
    const bool joined = reaches_all(*capture->nodes, stream.frontier);
    leave(*capture);
    if (capture->invalid) return capture_invalidated;
    if (!joined) return capture_unjoined;
    nodes = capture->nodes;
    return success;
}

int refuse_in_capture(Stream& stream) {
    if (stream.capture->invalid) return capture_invalidated;
    stream.capture->invalid = true;
    return capture_unsupported;
}

int refuse_while_capturing(Context& context, bool blocking_only, int result) {
    bool any = false;
    for (const auto& stream : context.streams)
        if (stream->capture != nullptr && (stream->blocking || !blocking_only))
            any = stream->capture->invalid = true;
    return any ? result : static_cast<int>(success);
}

int compare_graphs(const GraphNodes& old, const GraphNodes& changed, std::size_t& where) {
    enum Reason : int { none, topology = 2, kind = 3, function = 4 };
    where = changed.nodes.size();
    if (old.nodes.size() != changed.nodes.size()) return topology;
    for (std::size_t k = 0; k < old.nodes.size(); ++k) {
        where = k;
        const GraphNodes::Node &a = old.nodes[k], &b = changed.nodes[k];
        if (a.dependencies != b.dependencies) return topology;
        if (a.work.kind != b.work.kind) return kind;
        if (a.work.function != b.work.function) return function;
    }
    return none;
}

}  // namespace software_cuda
