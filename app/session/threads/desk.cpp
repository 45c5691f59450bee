#include "app/session/threads/desk.hpp"

#include <algorithm>
#include <set>

namespace hindcast::session {

void Desk::say(LogLine::Level level, const std::string& text) {
    constexpr std::size_t most_lines = 2000;
    if (lines.size() >= most_lines) lines.erase(lines.begin(), lines.begin() + most_lines / 4);
    lines.push_back({level, text, std::chrono::duration<double>(Clock::now() - begun).count()});
    lines_changed = true;
    mark();
}

void Desk::fail(const Error& error) {
    draft.error = std::make_shared<const Error>(error);
    say(LogLine::Level::error, error.what());
}

void Desk::fail_frame(const Error& error) {
    fail(error);
    draft.frame_error = draft.error;
}

std::int64_t Desk::frame_bytes() const {
    std::set<TrajectoryPointer> all{current, shown, ghost, growing};
    for (const TrajectoryPointer& t : library.all()) all.insert(t);
    std::int64_t sum = kept_besides();
    for (const TrajectoryPointer& t : all)
        if (t) sum += t->bytes();
    return sum;
}

std::optional<std::size_t> Desk::index_of(std::int64_t iteration) const {
    const auto row = std::ranges::lower_bound(rows, iteration, {}, &IterationInfo::iteration);
    if (row == rows.end() || row->iteration != iteration) return std::nullopt;
    return static_cast<std::size_t>(row - rows.begin());
}

EditionPointer Desk::edition_of(std::int64_t iteration) const {
    const std::optional<std::size_t> index = index_of(iteration);
    return index && *index < editions.size() ? editions[*index] : nullptr;
}

WorldPointer Desk::wanted_world() const {
    if (wanted_iteration)
        if (const EditionPointer edition = edition_of(*wanted_iteration)) return edition->world;
    return current ? current->world : world;
}

}  // namespace hindcast::session
