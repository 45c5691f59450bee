// Frames between those that are kept. If memory holds only every so many steps, the step at which
// time stands still is run again, with some of its neighbors, by the same launches: so it has the
// same bits. States are copied on the way there, from which the next such run begins.
#pragma once

#include <cstdint>
#include <optional>

#include "app/session/threads/running/run_work.hpp"

namespace hindcast::session {

class BetweenFrames : RunWork {
public:
    using RunWork::RunWork;

    // Runs the steps that the trajectory shown or the ghost lacks. False: they lack nothing.
    bool run_missing();

private:
    // Whole steps of a scene.
    struct Range {
        SceneInfoPointer scene;
        std::int64_t first = 0, last = 0;
    };

    // These two: under the shared lock. The step at which time stands still, if it is between the
    // trajectory's frames.
    std::optional<std::int64_t> missing_step(const TrajectoryPointer& trajectory) const;
    bool is_wanted(const Range& range) const;

    void run(const TrajectoryPointer& trajectory, std::int64_t step);
    // Keeps the states nearest to the cursor, within some bytes; one in any case.
    static void bound(std::vector<Rollout::State>& states, std::int64_t most_bytes);
};

}  // namespace hindcast::session
