// GraphRuns: runs of a roll-out on a CUDA device as graphs: what a run puts on the stream is noted
// once, and done again by a few calls. The same launches, the same bits.
//
// The first run of a kind goes launch by launch and makes all that launches need; the second is
// noted. What changes between runs lies in memory of the device and is sent there before a graph
// runs: parameters, numbers passed by value. Work is noted again where a graph would do other
// work: other seeds, histories or arrays at another place, indices that were changed, checkpoints
// that are held elsewhere. With a plan of several segments the graphs hold all of it: what is
// stored and restored on the way, the steps that are made again, and the adjoints. Graphs over few
// items may run as one kernel of a single block each (backend/cuda/block.hpp).
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "engine/runtime/compiled/whole_program.hpp"
#include "engine/runtime/program/sequence.hpp"
#include "engine/runtime/rollout/recording.hpp"
#include "engine/runtime/rollout/rollout.hpp"

namespace hindcast {

class GraphRuns {
public:
    using Kind = WholeProgram::Kind;
    using Seeds = std::vector<Rollout::Seed>;

    // `follower`: put on the stream after the adjoints (Rollout::follow_backward), or nullptr.
    GraphRuns(Schedule& schedule, Recording& recording, Array counter, const Device& device,
              const Sequence* follower = nullptr);
    ~GraphRuns();

    // Does the work by graphs, or returns false: launch by launch, please. `work` puts all of it on
    // the stream and calls split_long_graph() now and then.
    bool run(Kind kind, const Seeds& seeds, const std::function<void()>& work);
    // Between two steps: a graph that has become long ends here and another one begins.
    void split_long_graph();
    // "one graph of 12 nodes", "one block of 32 threads, ..." (block.hpp), or why neither.
    std::string report(Kind kind) const;

private:
    struct Way;
    bool fits(const Way& way, const Seeds& seeds) const;
    void note(Way& way, const Seeds& seeds, const std::function<void()>& work);
    void end_graph();
    bool send_inputs();
    void mark_written(Kind kind) const;

    Schedule& schedule_;
    Recording& recording_;
    Array counter_;
    const Device& device_;
    const Sequence* follower_;
    std::vector<Array> arrays_;        // that launches work with
    std::vector<const void*> places_;  // where they are on the device
    std::array<std::unique_ptr<Way>, 3> ways_;
    Way* noting_ = nullptr;
};

}  // namespace hindcast
