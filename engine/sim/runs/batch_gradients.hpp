// Gradients of all members of a batch from the start to the end: short runs through an ensemble
// (ensemble.hpp), long ones one after the other on all threads.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/sim/ensembles/ensemble.hpp"
#include "engine/sim/runs/member_values.hpp"
#include "engine/sim/runs/scene_batch.hpp"

namespace hindcast::runs {

class BatchGradients {
public:
    BatchGradients(SceneRuns& runs, const MemberValues& values) : runs_(runs), values_(values) {}

    // As SceneBatch::gradients() says.
    SceneBatch::Gradients of(const std::vector<std::string>& paths);

private:
    static constexpr std::size_t most_ensembles = 4;
    struct Evaluated {
        std::shared_ptr<SceneRuns::Made> made;
        std::unique_ptr<Ensemble> ensemble;
    };
    Ensemble& ensemble_of(const std::shared_ptr<SceneRuns::Made>& made);

    SceneRuns& runs_;
    const MemberValues& values_;
    std::list<Evaluated> evaluated_;  // the newest first
};

}  // namespace hindcast::runs
