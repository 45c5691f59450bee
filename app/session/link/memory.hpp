// Memory of the session: checkpoints of the gradient and frames that are kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hindcast::session {

struct MemorySnapshot {
    std::string checkpoint_plan;            // in words
    std::vector<std::int64_t> checkpoints;  // the steps kept as checkpoints
    // frame_bytes: all kept frames, the older scenes that iterations belong to, and the parameters
    // and gradients of all iterations.
    std::int64_t gradient_bytes = 0, frame_bytes = 0, frame_limit = 0;
    std::int64_t older_scene_bytes = 0, iteration_bytes = 0;  // parts of frame_bytes
    // Bytes of the second simulation, which shows iterations of an older scene; 0: there is none.
    std::int64_t older_simulation_bytes = 0;
};

}  // namespace hindcast::session
