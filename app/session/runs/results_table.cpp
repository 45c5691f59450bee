// Tables and curves of results folders. summary.json tells which files belong together, since
// several commands may have written into one folder.
#include "app/session/runs/results_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "app/session/runs/kept_runs.hpp"
#include "engine/document/csv.hpp"
#include "engine/document/read.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::session {

namespace {

namespace fs = std::filesystem;
using document::CsvTable;
using document::Document;
using document::Node;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* again = "run the command once more, into a folder of its own";

std::string text_of(const Document& summary, const char* pointer) {
    const Node* const node = summary.find(pointer);
    return node != nullptr && node->is_string() ? node->string() : "";
}

std::int64_t integer_at(const Document& summary, const char* pointer, std::int64_t otherwise) {
    const Node* const node = summary.find(pointer);
    return node != nullptr && node->is_integer() ? node->integer() : otherwise;
}

// A number as results write it: also nan and inf.
double number_in(const CsvTable& table, std::size_t row, std::size_t column) {
    const std::string& text = table.text(row, column);
    if (text == "nan") return nan;
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    return table.number(row, column);
}

// The scene that the summary names: from where the command was started, which may be above the
// folder of the results.
fs::path scene_of(const std::string& named, const fs::path& folder) {
    if (named.empty()) return {};
    std::error_code error;
    if (fs::path(named).is_absolute())
        return fs::is_regular_file(named, error) ? fs::path(named) : fs::path();
    if (fs::is_regular_file(named, error)) return fs::absolute(named).lexically_normal();
    fs::path from = fs::weakly_canonical(fs::absolute(folder), error);
    for (int levels = 0; levels < 6; ++levels) {
        if (fs::is_regular_file(from / named, error)) return (from / named).lexically_normal();
        if (!from.has_parent_path() || from == from.parent_path()) break;
        from = from.parent_path();
    }
    return {};
}

Document summary_in(const fs::path& folder) { return Document::load(folder / "summary.json"); }

CsvTable table_in(const fs::path& file) {
    CsvTable table = document::read_csv(file, ResultsTable::most_bytes);
    if (table.rows() * table.columns().size() > ResultsTable::most_numbers)
        throw Error(fmt::format("{} has {} rows of {} columns, more than the window shows",
                                file.string(), table.rows(), table.columns().size()))
            .remedy("read it with a program for tables, or vary fewer values");
    return table;
}

Error does_not_fit(const fs::path& file) {
    return Error(file.string() + " does not fit the summary.json beside it").remedy(again);
}

ResultsTable::Column column_of(const CsvTable& table, std::size_t k, ResultsTable::Role role) {
    ResultsTable::Column column{table.columns()[k], role, {}};
    for (std::size_t row = 0; row < table.rows(); ++row)
        column.values.push_back(number_in(table, row, k));
    return column;
}

void read_variants(ResultsTable& result, const Document& summary) {
    const fs::path file = result.folder / "batch.csv";
    const CsvTable table = table_in(file);
    const Node* const axes = summary.find("/axes");
    const std::size_t count = axes != nullptr && axes->is_array() ? axes->size() : 0;
    if (count == 0 || table.columns().size() <= count || table.columns()[count] != "loss")
        throw does_not_fit(file);
    for (std::size_t k = 0; k < table.columns().size(); ++k) {
        using Role = ResultsTable::Role;
        if (k < count) {
            const Node* const path = axes->item(k).find("path");
            if (path == nullptr || !path->is_string() || path->string() != table.columns()[k])
                throw does_not_fit(file);
        }
        result.columns.push_back(column_of(table, k,
                                           k < count    ? Role::parameter
                                           : k == count ? Role::loss
                                                        : Role::other));
    }
    const std::int64_t all = integer_at(summary, "/variants", 0),
                       done = integer_at(summary, "/variants_done", all);
    if (done != static_cast<std::int64_t>(table.rows())) throw does_not_fit(file);
    if (done < all) result.made = fmt::format("{} of {} variants", done, all);
}

void read_starts(ResultsTable& result, const Document& summary) {
    using Role = ResultsTable::Role;
    const fs::path file = result.folder / "starts.csv";
    const CsvTable table = table_in(file);
    if (static_cast<std::int64_t>(table.rows()) != integer_at(summary, "/starts", -1))
        throw does_not_fit(file);
    for (const auto& [name, role] :
         std::initializer_list<std::pair<const char*, Role>>{{"start", Role::number},
                                                             {"iterations", Role::other},
                                                             {"initial_loss", Role::other},
                                                             {"best_loss", Role::loss}})
        result.columns.push_back(column_of(table, table.column(name), role));
    std::error_code error;
    const fs::path found = result.folder / "starts_found.csv";
    if (!fs::exists(found, error)) return;  // there are too many parameters for it
    const CsvTable best = table_in(found);
    const std::size_t start = best.column("start"), first = best.column("loss") + 1;
    for (std::size_t k = first; k < best.columns().size(); ++k)
        result.columns.push_back(
            {best.columns()[k], Role::parameter, std::vector<double>(table.rows(), nan)});
    for (std::size_t row = 0; row < best.rows(); ++row) {
        const double number = best.number(row, start);
        if (number < 0 || number >= static_cast<double>(table.rows())) throw does_not_fit(found);
        for (std::size_t k = first; k < best.columns().size(); ++k)
            result.columns[4 + k - first].values[static_cast<std::size_t>(number)] =
                number_in(best, row, k);
    }
}

}  // namespace

std::size_t ResultsTable::loss() const {
    return static_cast<std::size_t>(std::ranges::find(columns, Role::loss, &Column::role) -
                                    columns.begin());
}

std::shared_ptr<const Node> ResultsTable::values(std::size_t row) const {
    Node values = Node::object();
    for (const Column& column : columns) {
        if (column.role != Role::parameter) continue;
        if (!std::isfinite(column.values.at(row))) return nullptr;
        values.set(column.name, Node(column.values[row]));
    }
    if (values.size() == 0) return nullptr;
    return std::make_shared<const Node>(std::move(values));
}

ResultsFound find_results(const fs::path& chosen) {
    std::error_code error;
    ResultsFound found;
    if (!fs::exists(chosen, error))
        throw Error("there is no " + chosen.string()).remedy("choose a folder of results");
    found.folder = fs::is_directory(chosen, error) ? chosen : chosen.parent_path();
    const fs::path summary = found.folder / "summary.json";
    if (!fs::exists(summary, error))
        throw Error(found.folder.string() + " has no summary.json, so it holds no finished results")
            .remedy("choose the folder that hindcast batch or hindcast optimize has written");
    const Document read = Document::load(summary);
    const std::string command = text_of(read, "/command");
    found.variants = command == "batch";
    found.starts = command == "optimize" && read.find("/starts") != nullptr;
    found.curves = command == "optimize";
    if (!found.variants && !found.curves)
        throw Error(summary.string() + " is of hindcast " + (command.empty() ? "?" : command) +
                    ", whose results have no table of runs")
            .remedy("choose a folder that hindcast batch or hindcast optimize has written");
    return found;
}

ResultsTable read_results(const fs::path& chosen) {
    const ResultsFound found = find_results(chosen);
    const Document summary = summary_in(found.folder);
    ResultsTable result;
    result.folder = found.folder;
    result.scene = text_of(summary, "/scene");
    result.scene_named = text_of(summary, "/file");
    result.scene_file = scene_of(result.scene_named, found.folder);
    if (const Node* const set = summary.find("/set"); set != nullptr && set->is_array())
        for (std::size_t k = 0; k < set->size(); ++k)
            if (set->item(k).is_string()) result.changes.push_back(set->item(k).string());
    result.checkpoint = text_of(summary, "/checkpoint");
    result.kind = found.variants ? ResultsTable::Kind::variants : ResultsTable::Kind::starts;
    if (found.variants)
        read_variants(result, summary);
    else if (found.starts)
        read_starts(result, summary);
    else
        throw Error(found.folder.string() + " has one optimization, and no table of several")
            .remedy("optimize with --starts, or look at its curve in the plots");
    return result;
}

std::vector<std::size_t> sorted_rows(const ResultsTable& table, std::size_t column,
                                     bool descending) {
    std::vector<std::size_t> rows(table.rows());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (column >= table.columns.size()) return rows;
    const std::vector<double>& values = table.columns[column].values;
    std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
        if (std::isnan(values[a]) || std::isnan(values[b]))
            return !std::isnan(values[a]) && std::isnan(values[b]);
        return descending ? values[a] > values[b] : values[a] < values[b];
    });
    return rows;
}

// ---- curves -------------------------------------------------------------------------------------

namespace {

void note_best(KeptRun& run) {
    run.best_loss = nan;
    for (std::size_t k = 0; k < run.losses.size(); ++k)
        if (std::isfinite(run.losses[k]) && !(run.losses[k] >= run.best_loss)) {
            run.best_loss = run.losses[k];
            run.best_iteration = static_cast<std::int64_t>(run.iterations[k]);
        }
}

// history.csv: iteration, loss, gradient_norm, a column per term, a column per parameter.
KeptRun one_run(const fs::path& folder, const Document& summary) {
    const fs::path file = folder / "history.csv";
    const CsvTable table = table_in(file);
    const std::size_t columns = table.columns().size();
    const Node* const terms = summary.find("/terms");
    const std::size_t first = 3 + (terms != nullptr ? terms->size() : 0);
    KeptRun run;
    run.name = folder.filename().empty() ? folder.parent_path().filename().string()
                                         : folder.filename().string();
    run.scene = text_of(summary, "/scene");
    run.ended = text_of(summary, "/stop_reason");
    const std::size_t entries =
        terms == nullptr || columns < first ? 0 : std::min(columns - first, KeptRuns::most_entries);
    for (std::size_t e = 0; e < entries; ++e) run.names.push_back(table.columns()[first + e]);
    run.entries.resize(entries);
    const std::size_t iteration = table.column("iteration"), loss = table.column("loss"),
                      norm = table.column("gradient_norm");
    for (std::size_t row = 0; row < table.rows(); ++row) {
        run.iterations.push_back(number_in(table, row, iteration));
        run.losses.push_back(number_in(table, row, loss));
        run.gradient_norms.push_back(number_in(table, row, norm));
        for (std::size_t e = 0; e < entries; ++e)
            run.entries[e].push_back(number_in(table, row, first + e));
    }
    note_best(run);
    // summary.json has the best parameters by name, unless they are many.
    const Node* const best = summary.find("/best/parameters");
    if (best == nullptr || !best->is_object()) return run;
    auto names = std::make_shared<std::vector<std::string>>();
    auto values = std::make_shared<std::vector<double>>();
    for (std::size_t k = 0; k < best->size(); ++k) {
        if (!document::is_number(best->item(k))) return run;
        names->push_back(best->key(k));
        values->push_back(document::number_of(best->item(k)));
    }
    run.found_names = std::move(names);
    run.found = std::move(values);
    return run;
}

std::vector<KeptRun> all_starts(const fs::path& folder, const Document& summary) {
    const ResultsTable starts = read_results(folder);
    const fs::path file = folder / "starts_history.csv";
    const CsvTable table = table_in(file);
    const std::int64_t best = integer_at(summary, "/best_start", -1);
    auto names = std::make_shared<std::vector<std::string>>();
    for (const ResultsTable::Column& column : starts.columns)
        if (column.role == ResultsTable::Role::parameter) names->push_back(column.name);
    std::vector<KeptRun> runs(starts.rows());
    const std::string stem = folder.filename().empty() ? folder.parent_path().filename().string()
                                                       : folder.filename().string();
    for (std::size_t s = 0; s < runs.size(); ++s) {
        runs[s].name = fmt::format("{} start {}", stem, s);
        runs[s].scene = starts.scene;
        runs[s].best_of_group = static_cast<std::int64_t>(s) == best;
        auto values = std::make_shared<std::vector<double>>();
        for (const ResultsTable::Column& column : starts.columns)
            if (column.role == ResultsTable::Role::parameter && std::isfinite(column.values[s]))
                values->push_back(column.values[s]);
        if (values->empty() || values->size() != names->size()) continue;
        runs[s].found_names = names;
        runs[s].found = std::move(values);
    }
    const std::size_t start = table.column("start"), iteration = table.column("iteration"),
                      loss = table.column("loss"), norm = table.column("gradient_norm");
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const double number = table.number(row, start);
        if (!(number >= 0 && number < static_cast<double>(runs.size()))) throw does_not_fit(file);
        KeptRun& run = runs[static_cast<std::size_t>(number)];
        run.iterations.push_back(number_in(table, row, iteration));
        run.losses.push_back(number_in(table, row, loss));
        run.gradient_norms.push_back(number_in(table, row, norm));
    }
    for (KeptRun& run : runs) note_best(run);
    return runs;
}

}  // namespace

std::vector<KeptRun> read_runs(const fs::path& chosen) {
    const ResultsFound found = find_results(chosen);
    if (!found.curves)
        throw Error(found.folder.string() + " has no optimization, so there is no curve of one")
            .remedy("choose a folder that hindcast optimize has written");
    const Document summary = summary_in(found.folder);
    std::error_code error;
    if (found.starts && fs::exists(found.folder / "starts_history.csv", error))
        return all_starts(found.folder, summary);
    std::vector<KeptRun> one;
    one.push_back(one_run(found.folder, summary));
    return one;
}

}  // namespace hindcast::session
