#include "app/session/threads/shared/shared_history.hpp"

#include <algorithm>

namespace hindcast::session {

const IterationInfo* SharedHistory::row_of(std::int64_t iteration) const {
    const auto row = std::ranges::lower_bound(rows, iteration, {}, &IterationInfo::iteration);
    return row == rows.end() || row->iteration != iteration ? nullptr : &*row;
}

SceneRevisionPointer SharedHistory::revision_of(std::int64_t iteration) const {
    const IterationInfo* const row = row_of(iteration);
    if (row == nullptr) return nullptr;
    const auto index = static_cast<std::size_t>(row - rows.data());
    return index < revisions.size() ? revisions[index] : nullptr;
}

}  // namespace hindcast::session
