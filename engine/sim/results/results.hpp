// The results of a command, in one folder:
//
//   summary.json           what ran, on what, what came out, how long it took
//   states/NAME.npy        one array per state array, shape (frames, elements, components);
//                          frame k shows step min(k * every, steps done)
//   history.csv            one row per iteration: loss, gradient norm, terms, parameters
//   gradient.csv           the gradient in the best and the last iteration (gradient_files.hpp)
//   optimized_scene.json   the scene with the best parameters: a scene file like any other
//   starts.csv             with several starts: the values and result of each; the rows of each
//                          in starts_history.csv, the best parameters of each in starts_found.csv
//   resume.json            the state from which `optimize --resume` goes on, bit for bit
//
//     frames = numpy.load("out/spring_cage/states/position.npy")
//
// The scene may choose the recorded arrays: "outputs": {"every": 10, "arrays": ["position"]}.
// `every` counts whole steps (default: a hundredth of all steps, at least 1), arrays are the
// model's (default: its state). JSON files are written beside and renamed; states and history grow
// in place and are readable at any time, also after the program was killed. A folder has one writer
// at a time (results_folder.hpp).
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/document/npy.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "engine/sim/results_folder.hpp"

namespace hindcast {

using document::csv_field;
using document::number_node;
using document::number_text;

// The files that an optimization and a saved scene consist of, for ResultsFolder.
std::vector<std::string> optimization_files(const Simulation& simulation);
std::vector<std::string> saved_scene_files(const Simulation& simulation, const std::string& name);

// Makes the folder ready for an optimization: takes away what an earlier one left there. With
// `resume` only the states go, and the history is fetched from that folder.
void prepare_results(const ResultsFolder& folder, const std::filesystem::path& resume = {});

// ---- states -----------------------------------------------------------------------------------

struct OutputPlan {
    std::int64_t every = 1;  // whole steps
    std::vector<std::string> arrays;

    // Reads and checks the scene's "outputs"; throws Error at the wrong place.
    static OutputPlan read(Simulation& simulation);
    // Bytes of all frames together.
    double bytes(Simulation& simulation) const;
    // Throws Error if the folder's file system has no room for them.
    void require_space(const std::filesystem::path& folder, Simulation& simulation) const;
};

class StateRecorder {
public:
    // Makes empty arrays; states of an earlier run are removed.
    StateRecorder(const ResultsFolder& folder, Simulation& simulation);

    // After `substeps_done` substeps: what a Rollout::Watch is told. Writes a frame where due.
    // False if the state of that frame is not finite: the run has a divergence() then.
    bool watch(std::int64_t substeps_done);
    // The last frame, if it was not due anyway.
    void finish();
    std::int64_t frames() const { return frames_; }
    document::Node describe() const;  // for the summary

private:
    bool write();

    const ResultsFolder& folder_;
    Simulation& simulation_;
    OutputPlan plan_;
    std::vector<Array> arrays_;
    std::vector<document::NpyWriter> writers_;
    std::int64_t frames_ = 0, done_ = 0, last_written_ = -1;
};

// ---- history ----------------------------------------------------------------------------------

class HistoryWriter {
public:
    // Columns for more entries than this are written only for parameters of one number.
    static constexpr std::size_t most_entries = most_table_entries;

    // `resume` keeps the rows of an earlier run up to where this one goes on: a row replaces those
    // with the same or a higher iteration. Throws Error if the earlier columns differ.
    HistoryWriter(const std::filesystem::path& file, Simulation& simulation, bool resume);
    ~HistoryWriter();
    HistoryWriter(const HistoryWriter&) = delete;
    HistoryWriter& operator=(const HistoryWriter&) = delete;

    // The row has its parameters where wants_parameters().
    void add(const Optimization::Row& row);
    bool wants_parameters() const { return !columns_.empty(); }
    void flush();

private:
    void go_on_from(std::int64_t iteration);

    std::filesystem::path path_;
    std::FILE* file_ = nullptr;
    std::vector<std::size_t> columns_;  // entries of the parameter vector
    std::string header_;
    bool fresh_ = true;  // no row written yet
    std::chrono::steady_clock::time_point flushed_;
};

// A history as it was written: the columns' names, and one row of numbers per iteration.
constexpr std::uint64_t longest_history = 1ull << 34;  // bytes
struct HistoryTable {
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;
};
HistoryTable read_history(const std::filesystem::path& file);
// The hash of the header and the rows of the first so many iterations, as they stand in the file.
// Throws Error if one of them is missing or not in its place.
std::string history_hash(const std::filesystem::path& file, std::int64_t rows);

// ---- scene, resume, summary -------------------------------------------------------------------

// The scene with the parameters as they stand, as folder/name: it can be loaded from there. The
// files of its {"file": ...} values are copied below folder/files.
void save_scene(const Simulation& simulation, const std::filesystem::path& folder,
                const std::string& name);
// The same with these quantities as they stand, whether or not they are parameters.
void save_scene(Simulation& simulation, const std::vector<std::string>& quantities,
                const std::filesystem::path& folder, const std::string& name);

// resume.json: the optimization's state with what the bits depend on, the hash of the history up to
// there, and a checksum of it all.
void save_resume(const ResultsFolder& folder, const Simulation& simulation,
                 const Optimization& optimization);
// Throws Error if the file or the history beside it is damaged, was made with another precision,
// seed, number of steps or scene format, or does not fit the optimization; warns if the scene is
// not the same.
void load_resume(const std::filesystem::path& folder, const Simulation& simulation,
                 Optimization& optimization);

// The part of summary.json that every command has: program, command, scene, device, precision, ...,
// the warnings up to now and the pairs that can touch.
document::Node summary_of(const std::string& command, Simulation& simulation);
// Loss, terms and state hash as they stand. `finished`: all steps were made; a run that did not has no
// loss, and one whose loss is not finite counts as unfinished, too.
void add_outcome(document::Node& summary, const Simulation& simulation, bool finished);
void add_row(document::Node& summary, const std::string& key, const Optimization::Row& row,
             Simulation& simulation);
// Adds the list of files, and ends the folder's own list.
void save_summary(const ResultsFolder& folder, document::Node summary);

}  // namespace hindcast
