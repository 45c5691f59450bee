// Optimizations that are kept to be compared: their curves over iterations, without their scenes.
// Used only by the window's thread.
//
//     KeptRuns runs;
//     runs.add(run_of(snapshot, "adam"));            // one of this session
//     runs.add(read_runs("out/spring_cage"));         // of a folder of results, with all its starts
//
// Memory is bounded: a curve of more points than `most_points` keeps every second, third, ... of
// them, always its first, its best and its last; of parameters the first `most_entries` are kept
// as curves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/link/snapshot.hpp"
#include "engine/document/node.hpp"

namespace hindcast::session {

struct KeptRun {
    std::uint64_t number = 0;  // of its own, given by KeptRuns
    std::string name;
    std::string scene;      // its title
    std::size_t group = 0;  // starts of one optimization have one; 0: none
    bool best_of_group = false;
    bool shown = true;
    std::size_t color = 0;  // given by KeptRuns

    // One for each row, from 0 on where the run began.
    std::vector<double> iterations, losses, gradient_norms;
    // Entries of the parameter vector, one curve each: as long as the above, or empty.
    std::vector<std::string> names;
    std::vector<std::vector<double>> entries;
    // The row with the lowest finite loss; its parameters by name, if they are known.
    double best_loss = 0;  // NaN: none is finite
    std::int64_t best_iteration = -1;
    std::shared_ptr<const std::vector<std::string>> found_names;
    std::shared_ptr<const std::vector<double>> found;
    std::string ended;  // why, in words; may be empty

    // The parameters of the best row as UseValues takes them. Null: not known.
    std::shared_ptr<const document::Node> values() const;
    std::int64_t bytes() const;  // approximate
};

// The optimization of the session that the row of this iteration belongs to: from where it began,
// was branched or edited, to its last row. Throws Error if there is no such row.
KeptRun run_of(const Snapshot& snapshot, std::int64_t iteration, const std::string& name);
// The first iteration of that optimization; -1: there is no such row.
std::int64_t begin_of_run(const OptimizationSnapshot& optimization, std::int64_t iteration);

// The runs that `hindcast optimize` has written to a folder: one, or with --starts one for each
// start, in their order. Throws Error with file, place and remedy if the folder has no such
// results, or for a fault in them.
std::vector<KeptRun> read_runs(const std::filesystem::path& folder);

class KeptRuns {
public:
    static constexpr std::size_t most_runs = 2048;
    static constexpr std::size_t most_points = 2048, most_entries = 24;  // of a run
    static constexpr std::int64_t most_bytes = std::int64_t{128} << 20;

    const std::vector<KeptRun>& list() const { return list_; }
    bool empty() const { return list_.empty(); }
    const KeptRun* find(std::uint64_t number) const;  // null: there is none

    // Those that are added together are of one group. A name that is taken gets a number. Throws
    // Error, and changes nothing, if there would be too many.
    void add(std::vector<KeptRun> runs);
    void add(KeptRun run);
    void rename(std::uint64_t number, const std::string& name);  // throws Error for an empty name
    void show(std::uint64_t number, bool on);
    void remove(std::uint64_t number);
    void remove_group(std::size_t group);
    void clear() { list_.clear(); }
    std::int64_t bytes() const;

private:
    KeptRun* at(std::uint64_t number);
    std::string unused(const std::string& name) const;

    std::vector<KeptRun> list_;
    std::uint64_t numbers_ = 0;
    std::size_t groups_ = 0, colors_ = 0;
};

}  // namespace hindcast::session
