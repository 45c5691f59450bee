// Tables of numbers in CSV files: one line of column names, then one line per row.
//
// Cells are separated by commas, semicolons or tabs, by whichever stands first in the line of names.
// A cell may be quoted ("..." with "" for a quote); it ends on its line. Numbers have a decimal point
// and may have an exponent. Lines that are blank or begin with '#' are left out. Cells are read as
// numbers when they are asked for, so that a table may have columns of text.
//
// Whatever is wrong throws Error with file, line and column (in bytes, from 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.hpp"

namespace hindcast::document {

// JSON schemas of what names such a file, and one of its columns.
inline constexpr const char* csv_file_schema =
    R"({"type":"string","means":"file","files":[".csv"]})";
inline constexpr const char* csv_column_schema = R"({"type":"string","means":"column"})";

class CsvTable {
public:
    // The table of a file's content; `name` is the file's name in messages.
    CsvTable(std::string_view content, std::string name);

    const std::string& name() const { return name_; }
    const std::vector<std::string>& columns() const { return columns_; }
    std::size_t rows() const { return columns_.empty() ? 0 : cells_.size() / columns_.size(); }

    // The number of the column of that name. Throws Error, with "did you mean", if there is none.
    std::size_t column(std::string_view name) const;
    bool has_column(std::string_view name) const;

    // A cell's text without quotes and blanks around it.
    const std::string& text(std::size_t row, std::size_t column) const;
    bool is_empty(std::size_t row, std::size_t column) const { return text(row, column).empty(); }
    // A cell as a finite number. Throws Error at the cell if it is none.
    double number(std::size_t row, std::size_t column) const;
    // All rows of a column.
    std::vector<double> numbers(std::string_view column) const;

    // The place of a cell in the file.
    SourcePlace place(std::size_t row, std::size_t column) const;

private:
    struct Cell {
        std::string text;
        int line = 0, column = 0;
    };
    const Cell& cell(std::size_t row, std::size_t column) const;

    std::string name_;
    std::vector<std::string> columns_;
    std::vector<Cell> cells_;  // row by row
};

// Throws Error if the file has more than `limit` bytes.
CsvTable read_csv(const std::filesystem::path& path, std::uint64_t limit = 1ull << 28);

// A column of times. Throws Error at a cell that does not come after the one before.
std::vector<double> increasing(const CsvTable& table, std::string_view column);

}  // namespace hindcast::document
