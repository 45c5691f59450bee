// Tables of results that commands have left: the variants of `hindcast batch`, the starts of
// `hindcast optimize --starts`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/document/node.hpp"

namespace hindcast::session {

struct ResultsTable {
    static constexpr std::size_t most_numbers = 1'000'000;   // in all columns
    static constexpr std::uint64_t most_bytes = 1ull << 26;  // of the file

    enum class Kind : std::uint8_t { variants, starts } kind = Kind::variants;
    std::filesystem::path folder;
    std::string scene;                 // its title
    std::filesystem::path scene_file;  // empty: it was not found
    std::string scene_named;           // as the results name it
    // Changes made to it before: the checkpoint whose values it took, or "", and "path=value".
    std::string checkpoint;
    std::vector<std::string> changes;
    std::string made;  // "12 of 16 variants"; "": all were made

    enum class Role : std::uint8_t { number, parameter, loss, other };
    struct Column {
        std::string name;  // of a parameter its path
        Role role = Role::other;
        std::vector<double> values;  // one per row; NaN: none
    };
    std::vector<Column> columns;
    std::size_t rows() const { return columns.empty() ? 0 : columns.front().values.size(); }
    std::size_t loss() const;  // the column that rows are compared by; columns.size(): none

    // The parameters of a row as UseValues takes them. Null: they are not in the table.
    std::shared_ptr<const document::Node> values(std::size_t row) const;
};

// The tables and curves in a folder of results, by its summary.json.
struct ResultsFound {
    std::filesystem::path folder;
    bool variants = false, starts = false;  // batch.csv, starts.csv
    bool curves = false;                    // history.csv
};
// `chosen`: the folder, or a file in it. Throws Error, with what to do, if it has no summary.json of
// `hindcast batch` or `hindcast optimize`.
ResultsFound find_results(const std::filesystem::path& chosen);

// The table of variants or starts in that folder. Throws Error with file, place and remedy if there
// is none, or for what is wrong in it.
ResultsTable read_results(const std::filesystem::path& chosen);
// The rows in the order of a column: numbers first, then what is none; equal ones as they stand.
std::vector<std::size_t> sorted_rows(const ResultsTable& table, std::size_t column,
                                     bool descending);

}  // namespace hindcast::session
