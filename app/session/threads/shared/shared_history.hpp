// The rows of the optimization's history, and the scene that each row was run with. Part of the
// shared state: use it under its lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/session/frames/scene_info.hpp"
#include "app/session/link/optimization.hpp"

namespace hindcast::session {

// The scene that rows of the history were run with. All rows between two edits share one.
struct SceneRevision {
    std::int64_t epoch = 0;  // losses are compared within one
    SceneInfoPointer scene;
    std::shared_ptr<const document::Document> document;
    std::int64_t document_bytes = 0;  // approximate
    std::shared_ptr<const std::vector<SharedValues>> base;
};
using SceneRevisionPointer = std::shared_ptr<const SceneRevision>;

struct SharedHistory {
    std::vector<IterationInfo> rows;  // sorted by iteration; rows that were thinned out leave gaps
    std::vector<SceneRevisionPointer> revisions;  // of each row; null: only its numbers are kept
    bool changed = false;

    const IterationInfo* row_of(std::int64_t iteration) const;  // null: there is none
    // Null if there is no such row, or if only its numbers are kept.
    SceneRevisionPointer revision_of(std::int64_t iteration) const;
    std::int64_t last_iteration() const { return rows.empty() ? -1 : rows.back().iteration; }
};

}  // namespace hindcast::session
