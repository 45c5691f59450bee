#include "app/session/runs/kept_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.hpp"

namespace hindcast::session {

using document::Node;

std::shared_ptr<const Node> KeptRun::values() const {
    if (!found || !found_names || found->size() != found_names->size() || found->empty())
        return nullptr;
    Node values = Node::object();
    for (std::size_t k = 0; k < found->size(); ++k)
        values.set((*found_names)[k], Node((*found)[k]));
    return std::make_shared<const Node>(std::move(values));
}

std::int64_t KeptRun::bytes() const {
    std::size_t numbers = iterations.size() + losses.size() + gradient_norms.size();
    for (const std::vector<double>& entry : entries) numbers += entry.size();
    if (found) numbers += found->size();
    std::size_t text = name.size() + scene.size() + ended.size();
    for (const std::string& entry : names) text += entry.size();
    return static_cast<std::int64_t>(sizeof(KeptRun) + numbers * sizeof(double) + text);
}

// ---- of the session -----------------------------------------------------------------------------

namespace {

using Rows = std::vector<IterationInfo>;

// True if a row begins an optimization: the first of all, of a branch, after an edit or a restart.
bool begins(const Rows& rows, std::size_t k) {
    return k == 0 || rows[k].branched_from >= 0 || rows[k].epoch != rows[k - 1].epoch;
}

// From where the row's optimization begins to behind its last row.
std::pair<std::size_t, std::size_t> range_of(const Rows& rows, std::size_t row) {
    std::size_t first = row, end = row + 1;
    while (!begins(rows, first)) --first;
    while (end < rows.size() && !begins(rows, end)) ++end;
    return {first, end};
}

std::optional<std::size_t> row_of(const OptimizationSnapshot& optimization,
                                  std::int64_t iteration) {
    if (!optimization.history) return std::nullopt;
    const Rows& rows = *optimization.history;
    const auto row = std::ranges::find(rows, iteration, &IterationInfo::iteration);
    if (row == rows.end()) return std::nullopt;
    return static_cast<std::size_t>(row - rows.begin());
}

}  // namespace

std::int64_t begin_of_run(const OptimizationSnapshot& optimization, std::int64_t iteration) {
    const std::optional<std::size_t> row = row_of(optimization, iteration);
    if (!row) return -1;
    const Rows& rows = *optimization.history;
    return rows[range_of(rows, *row).first].iteration;
}

KeptRun run_of(const Snapshot& snapshot, std::int64_t iteration, const std::string& name) {
    const std::optional<std::size_t> row = row_of(snapshot.optimization, iteration);
    if (!row)
        throw Error("there is no iteration " + std::to_string(iteration) + " to keep the run of")
            .remedy("optimize first");
    const Rows& rows = *snapshot.optimization.history;
    const auto [first, end] = range_of(rows, *row);
    KeptRun run;
    run.name = name;
    run.scene = snapshot.scene.name;
    const bool of_shown = rows[*row].build == snapshot.scene.shown_build;
    auto names = std::make_shared<std::vector<std::string>>();
    for (const ParameterInfo& p : snapshot.values.parameters)
        for (std::size_t k = 0; k < p.count; ++k)
            names->push_back(k < p.names.size() ? p.names[k] : p.path);
    if (of_shown) {
        run.names.assign(names->begin(),
                         names->begin() + static_cast<std::ptrdiff_t>(
                                              std::min(names->size(), KeptRuns::most_entries)));
        run.entries.resize(run.names.size());
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    run.best_loss = nan;
    for (std::size_t k = first; k < end; ++k) {
        const IterationInfo& info = rows[k];
        run.iterations.push_back(static_cast<double>(info.iteration - rows[first].iteration));
        run.losses.push_back(info.loss);
        run.gradient_norms.push_back(info.gradient_norm);
        for (std::size_t e = 0; e < run.entries.size(); ++e)
            run.entries[e].push_back(info.parameters && info.build == rows[*row].build &&
                                             e < info.parameters->size()
                                         ? (*info.parameters)[e]
                                         : nan);
        if (!std::isfinite(info.loss) || info.loss >= run.best_loss) continue;
        run.best_loss = info.loss;
        run.best_iteration = info.iteration - rows[first].iteration;
        run.found = of_shown && info.parameters && info.parameters->size() == names->size()
                        ? info.parameters
                        : nullptr;
    }
    if (run.found) run.found_names = std::move(names);
    if (end == rows.size()) run.ended = snapshot.optimization.stop_reason;
    return run;
}

// ---- the list -----------------------------------------------------------------------------------

namespace {

// Every second, third, ... point, so that there are not too many; first, best and last stay.
void thin(KeptRun& run) {
    const std::size_t count = run.iterations.size();
    if (count <= KeptRuns::most_points) return;
    const std::size_t stride = (count + KeptRuns::most_points - 4) / (KeptRuns::most_points - 3);
    const auto stays = [&](std::size_t k) {
        return k % stride == 0 || k + 1 == count ||
               run.iterations[k] == static_cast<double>(run.best_iteration);
    };
    const auto keep = [&](std::vector<double>& numbers) {
        std::size_t kept = 0;
        for (std::size_t k = 0; k < numbers.size(); ++k)
            if (stays(k)) numbers[kept++] = numbers[k];
        numbers.resize(kept);
        numbers.shrink_to_fit();
    };
    for (std::vector<double>& entry : run.entries) keep(entry);
    keep(run.losses);
    keep(run.gradient_norms);
    const std::vector<double> iterations = run.iterations;
    std::vector<double> kept;
    for (std::size_t k = 0; k < count; ++k)
        if (stays(k)) kept.push_back(iterations[k]);
    run.iterations = std::move(kept);
}

}  // namespace

const KeptRun* KeptRuns::find(std::uint64_t number) const {
    const auto found = std::ranges::find(list_, number, &KeptRun::number);
    return found == list_.end() ? nullptr : &*found;
}

KeptRun* KeptRuns::at(std::uint64_t number) { return const_cast<KeptRun*>(find(number)); }

std::string KeptRuns::unused(const std::string& name) const {
    std::string free = name;
    for (int number = 2; std::ranges::find(list_, free, &KeptRun::name) != list_.end(); ++number)
        free = name + " " + std::to_string(number);
    return free;
}

void KeptRuns::add(KeptRun run) {
    std::vector<KeptRun> one;
    one.push_back(std::move(run));
    add(std::move(one));
}

void KeptRuns::add(std::vector<KeptRun> runs) {
    std::int64_t more = bytes();
    for (KeptRun& run : runs) {
        if (run.entries.size() > most_entries) {
            run.names.resize(most_entries);
            run.entries.resize(most_entries);
        }
        thin(run);
        more += run.bytes();
    }
    if (list_.size() + runs.size() > most_runs || more > most_bytes)
        throw Error("there is no room for so many runs to be compared")
            .remedy("remove some of those that are kept");
    const std::size_t group = runs.size() > 1 ? ++groups_ : 0;
    for (KeptRun& run : runs) {
        run.number = ++numbers_;
        run.group = group;
        // In a group only the best run gets a color of its own.
        if (group == 0 || run.best_of_group) run.color = colors_++;
        run.name = unused(run.name.empty() ? "run" : run.name);
        list_.push_back(std::move(run));
    }
}

void KeptRuns::rename(std::uint64_t number, const std::string& name) {
    KeptRun* const run = at(number);
    if (run == nullptr || run->name == name) return;
    if (name.empty()) throw Error("a run needs a name");
    run->name.clear();  // its own is free
    run->name = unused(name);
}

void KeptRuns::show(std::uint64_t number, bool on) {
    if (KeptRun* const run = at(number)) run->shown = on;
}

void KeptRuns::remove(std::uint64_t number) {
    std::erase_if(list_, [number](const KeptRun& run) { return run.number == number; });
}

void KeptRuns::remove_group(std::size_t group) {
    std::erase_if(list_, [group](const KeptRun& run) { return run.group == group; });
}

std::int64_t KeptRuns::bytes() const {
    std::int64_t sum = 0;
    for (const KeptRun& run : list_) sum += run.bytes();
    return sum;
}

}  // namespace hindcast::session
