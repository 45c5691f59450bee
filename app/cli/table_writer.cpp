#include "app/cli/table_writer.hpp"

#include <cerrno>
#include <system_error>

#include "engine/base/error.hpp"

namespace hindcast::cli {

namespace {

Error not_written(const std::filesystem::path& path) {
    const int why = errno;
    const char* const elsewhere = "choose another folder with --output";
    return Error(path.string() + " cannot be written: " + std::generic_category().message(why))
        .remedy((why == ENOSPC || why == EDQUOT ? "free some space, or " : "") +
                std::string(elsewhere));
}

}  // namespace

TableWriter::TableWriter(const std::filesystem::path& path)
    : path_(path), file_(std::fopen(path.c_str(), "we")) {
    if (file_ == nullptr) throw not_written(path_);
}

TableWriter::~TableWriter() {
    if (file_ != nullptr) std::fclose(file_);
}

void TableWriter::add(const std::vector<std::string>& fields) {
    std::string line;
    for (const std::string& field : fields) line += (line.empty() ? "" : ",") + field;
    line += '\n';
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) throw not_written(path_);
}

void TableWriter::flush() {
    if (std::fflush(file_) != 0) throw not_written(path_);
}

}  // namespace hindcast::cli
