// GraphExecutor: runs of a roll-out on a CUDA device as graphs: what a run puts on the stream is
// noted once, and done again by a few calls (program/noted_graphs.hpp). The same launches, the
// same bits.
//
// The first run of a kind goes launch by launch and makes all that launches need; the second is
// noted. Work is noted again where a graph would do other work: other seeds, histories or arrays at
// another place, indices that were changed, checkpoints that are held elsewhere. With a plan of
// several segments the graphs hold all of it: what is stored and restored on the way, the steps
// that are made again, and the adjoints.
#pragma once

#include <array>
#include <vector>

#include "engine/runtime/executors/executor.hpp"
#include "engine/runtime/program/noted_graphs.hpp"
#include "engine/runtime/program/sequence.hpp"
#include "engine/runtime/schedule/recording.hpp"

namespace hindcast {

class GraphExecutor final : public Executor {
public:
    // `follower`: put on the stream after the adjoints (Rollout::follow_backward), or nullptr.
    GraphExecutor(Schedule& schedule, Recording& recording, Array counter, const Device& device,
                  const Sequence* follower = nullptr);

    // `launches` calls split_long_graph() now and then.
    bool run(const Stretch& stretch, const std::function<void()>& launches) override;
    std::string report(RunKind kind) const override {
        return has_host_function_ ? "launch by launch: a launch is a function of the host"
                                  : way(kind).graphs.report();
    }
    // Between two steps.
    void split_long_graph();

private:
    using Seeds = std::vector<RolloutSeed>;
    struct Way {
        int runs = 0;  // launch by launch
        NotedGraphs graphs;
        Seeds seeds;
        Premises premises;
        Recording::State before, after;  // of the run that was noted
    };
    Way& way(RunKind kind) { return ways_[static_cast<std::size_t>(kind)]; }
    const Way& way(RunKind kind) const { return ways_[static_cast<std::size_t>(kind)]; }
    bool fits(RunKind kind, const Seeds& seeds) const;
    bool note(RunKind kind, const Seeds& seeds, const std::function<void()>& launches);
    bool run_graphs(const Stretch& stretch, const std::function<void()>& launches);
    void mark_written(RunKind kind) const;

    Schedule& schedule_;
    Recording& recording_;
    Array counter_;
    const Device& device_;
    const Sequence* follower_;
    std::vector<Array> arrays_;  // that launches work with
    DevicePlaces places_;
    std::array<Way, run_kinds> ways_;
    NotedGraphs* noting_ = nullptr;
    bool has_host_function_ = false;
};

}  // namespace hindcast
