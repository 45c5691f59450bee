// Gradients through a window of steps that begins wherever a member of a batch is.
//
// The window is a roll-out of its own over the scene's programs: its prologue ends with copies of
// the member's state, so that adjoints come out there as they do at values, and the objective's
// events are those that lie within it.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/sim/runs/scene_batch.hpp"

namespace hindcast::runs {

class BatchWindows {
public:
    explicit BatchWindows(SceneBatch& batch) : batch_(batch) {}
    SceneBatch::Gradients pull_back(const SceneBatch::Pull& wanted);

private:
    static constexpr std::size_t most_sets = 4, most_windows = 64;

    struct Window {
        std::int64_t steps = 0, begin = 0;  // begin: -1 where no event lies within
        std::unique_ptr<Rollout> rollout;
        double took = -1;
    };
    struct Worker {
        std::unique_ptr<Simulation> simulation;
        std::vector<Array> states, inputs;  // written by steps; at a window's start
        Array begin;                        // i32: the steps before it
        bool counts = false;                // a launch reads the step
        Program load;                       // states from inputs
        std::list<Window> windows;          // the newest first
    };
    struct Set {
        std::vector<std::string> paths;
        std::vector<Worker> workers;
    };
    Set& set_of(const std::vector<std::string>& paths, const SceneRuns::Set& of);
    void make(Worker& worker, const SceneRuns::Set& of) const;
    Window& window_of(Worker& worker, std::int64_t begin, std::int64_t steps) const;
    void run(Worker& worker, std::size_t member, const SceneBatch::Pull& wanted,
             const SceneRuns::Set& set, SceneBatch::Gradients& result) const;

    SceneBatch& batch_;
    std::list<Set> sets_;  // the newest first
};

}  // namespace hindcast::runs
