// A table in CSV that is written row by row, as results come.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace hindcast::cli {

class TableWriter {
public:
    // Throws Error if the file cannot be written; so do the others.
    explicit TableWriter(const std::filesystem::path& path);
    ~TableWriter();
    TableWriter(const TableWriter&) = delete;
    TableWriter& operator=(const TableWriter&) = delete;

    void add(const std::vector<std::string>& fields);
    void flush();

private:
    std::filesystem::path path_;
    std::FILE* file_;
};

}  // namespace hindcast::cli
