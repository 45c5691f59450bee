#include "app/session/threads/shared/shared_state.hpp"

#include <algorithm>
#include <set>

namespace hindcast::session {

void SharedState::log(LogLine::Level level, const std::string& text) {
    constexpr std::size_t most_lines = 2000;
    if (lines.size() >= most_lines) lines.erase(lines.begin(), lines.begin() + most_lines / 4);
    lines.push_back({level, text, std::chrono::duration<double>(Clock::now() - begun).count()});
    lines_changed = true;
    mark_changed();
}

void SharedState::fail(const Error& error) {
    draft.error = std::make_shared<const Error>(error);
    log(LogLine::Level::error, error.what());
}

void SharedState::fail_frame(const Error& error) {
    fail(error);
    draft.frame_error = draft.error;
}

std::int64_t SharedState::frame_bytes() const {
    std::set<TrajectoryPointer> all{current, shown, ghost, growing};
    for (const TrajectoryPointer& t : trajectories.all()) all.insert(t);
    std::int64_t sum = kept_besides();
    for (const TrajectoryPointer& t : all)
        if (t) sum += t->bytes();
    return sum;
}

const IterationInfo* SharedState::row_of(std::int64_t iteration) const {
    const auto row = std::ranges::lower_bound(rows, iteration, {}, &IterationInfo::iteration);
    return row == rows.end() || row->iteration != iteration ? nullptr : &*row;
}

SceneRevisionPointer SharedState::scene_revision_of(std::int64_t iteration) const {
    const IterationInfo* const row = row_of(iteration);
    if (row == nullptr) return nullptr;
    const auto index = static_cast<std::size_t>(row - rows.data());
    return index < scene_revisions.size() ? scene_revisions[index] : nullptr;
}

SceneInfoPointer SharedState::wanted_scene() const {
    if (wanted_iteration)
        if (const SceneRevisionPointer scene_revision = scene_revision_of(*wanted_iteration))
            return scene_revision->scene;
    return current ? current->scene : scene;
}

}  // namespace hindcast::session
