#include "app/session/threads/shared/shared_state.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace hindcast::session {

void SharedState::log(LogLine::Level level, const std::string& text) {
    constexpr std::size_t most_lines = 2000;
    std::vector<LogLine>& lines = log_lines.lines;
    if (lines.size() >= most_lines) lines.erase(lines.begin(), lines.begin() + most_lines / 4);
    const std::chrono::duration<double> since = Clock::now() - log_lines.begun;
    lines.push_back({level, text, since.count()});
    log_lines.changed = true;
    mark_changed();
}

void SharedState::fail(const Error& error) {
    draft.reports.error = std::make_shared<const Error>(error);
    log(LogLine::Level::error, error.what());
}

void SharedState::answer(std::shared_ptr<const document::Document> document, std::uint64_t number,
                         const std::string& name) {
    draft.handover.answer = std::move(document);
    draft.handover.answer_to = number;
    draft.handover.answer_name = name;
    mark_changed();
}

void SharedState::note_stop(const std::string& reason, bool well) {
    draft.optimization.stop_reason = reason;
    if (!reason.empty()) draft.optimization.stopped_well = well;
    mark_changed();
}

void SharedState::fail_frame(const Error& error) {
    fail(error);
    draft.view.frame_error = draft.reports.error;
}

std::int64_t SharedState::frame_bytes() const {
    std::set<TrajectoryPointer> all{current, shown, ghost, growing};
    for (const TrajectoryPointer& t : trajectories.all()) all.insert(t);
    std::int64_t sum = kept_besides();
    for (const TrajectoryPointer& t : all)
        if (t) sum += t->bytes();
    return sum;
}

SceneInfoPointer SharedState::wanted_scene() const {
    if (wanted.iteration)
        if (const SceneRevisionPointer revision = history.revision_of(*wanted.iteration))
            return revision->scene;
    return current ? current->scene : scene;
}

}  // namespace hindcast::session
