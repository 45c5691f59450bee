// history.csv: written row by row, read back bit for bit.
//
// A row that goes on from an earlier run takes away the rows from its iteration on, so a file that
// is ahead of resume.json (the program was killed between the two) comes right by itself.
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

#include "engine/base/files.hpp"
#include "engine/base/hash.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast {

// Quotes where a name holds a comma, a quote or a line's end.
namespace {

std::vector<std::string> split_line(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        if (quoted && line[k] == '"' && k + 1 < line.size() && line[k + 1] == '"') {
            fields.back() += line[++k];
        } else if (line[k] == '"') {
            quoted = !quoted;
        } else if (line[k] == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += line[k];
        }
    }
    return fields;
}

double number_of(const std::string& text, const std::filesystem::path& file) {
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw Error(file.string() + ": '" + text + "' is no number");
    return value;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) break;  // a line that was cut off
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    return lines;
}

Error not_written(const std::filesystem::path& file) {
    Error error(file.string() + " cannot be written: " + std::strerror(errno));
    if (errno == ENOSPC || errno == EDQUOT) error.remedy("free some space, and resume");
    return error;
}

}  // namespace

HistoryWriter::HistoryWriter(const std::filesystem::path& file, Simulation& simulation, bool resume)
    : path_(file), flushed_(std::chrono::steady_clock::now()) {
    header_ = "iteration,loss,gradient_norm";
    for (const Simulation::TermValue& term : simulation.terms())
        header_ += "," + csv_field(term.name);
    const Parameters& parameters = simulation.parameters();
    std::size_t first = 0;
    for (const Parameter& p : parameters.list()) {
        for (std::size_t k = 0; k < p.entries.size(); ++k)
            if (parameters.size() <= most_entries || p.entries.size() == 1) {
                columns_.push_back(first + k);
                header_ += "," + csv_field(p.names[k]);
            }
        first += p.entries.size();
    }
    if (resume) {
        const std::string text = read_file(path_, longest_history);
        const std::vector<std::string_view> lines = lines_of(text);
        if (lines.empty() || lines.front() != header_)
            throw Error(path_.string() + " has other columns than this optimization")
                .remedy("give another folder with --output");
    } else {
        write_file_atomically(path_, header_ + "\n");
    }
}

HistoryWriter::~HistoryWriter() {
    if (file_ != nullptr) std::fclose(file_);
}

void HistoryWriter::go_on_from(std::int64_t iteration) {
    const std::string text = read_file(path_, longest_history);
    const std::vector<std::string_view> lines = lines_of(text);
    std::string kept = header_ + "\n";
    for (std::size_t k = 1; k < lines.size(); ++k) {
        std::int64_t found = 0;
        const char* end = lines[k].data() + lines[k].size();
        if (std::from_chars(lines[k].data(), end, found).ec != std::errc() || found >= iteration)
            break;
        kept.append(lines[k]).append("\n");
    }
    if (kept != text) write_file_atomically(path_, kept);
    file_ = std::fopen(path_.c_str(), "ae");
    if (file_ == nullptr) throw not_written(path_);
}

void HistoryWriter::add(const Optimization::Row& row) {
    if (fresh_) go_on_from(row.iteration);
    fresh_ = false;
    std::string line = fmt::format("{},{},{}", row.iteration, number_text(row.loss),
                                   number_text(row.gradient_norm));
    for (const Simulation::TermValue& term : row.terms) line += "," + number_text(term.value);
    for (const std::size_t k : columns_) line += "," + number_text(row.parameters[k]);
    line += '\n';
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) throw not_written(path_);
    const auto now = std::chrono::steady_clock::now();
    if (now - flushed_ > std::chrono::milliseconds(200)) flush();
}

void HistoryWriter::flush() {
    if (file_ != nullptr && std::fflush(file_) != 0) throw not_written(path_);
    flushed_ = std::chrono::steady_clock::now();
}

std::string history_hash(const std::filesystem::path& file, std::int64_t rows) {
    const std::string text = read_file(file, longest_history);
    const std::vector<std::string_view> lines = lines_of(text);
    const auto damaged = [&](const std::string& what) {
        return Error(file.string() + " is damaged: " + what)
            .remedy("optimize from the start, or resume an undamaged copy");
    };
    if (lines.empty()) throw damaged("it has no header line");
    std::size_t bytes = lines[0].size() + 1;
    for (std::int64_t k = 0; k < rows; ++k) {
        const auto at = static_cast<std::size_t>(k) + 1;
        std::int64_t found = -1;
        if (at < lines.size())
            std::from_chars(lines[at].data(), lines[at].data() + lines[at].size(), found);
        if (found != k) throw damaged(fmt::format("iteration {} is not in line {}", k, at + 1));
        bytes += lines[at].size() + 1;
    }
    return to_string(hash_text(std::string_view(text).substr(0, bytes)));
}

HistoryTable read_history(const std::filesystem::path& file) {
    const std::string text = read_file(file, longest_history);
    const std::vector<std::string_view> lines = lines_of(text);
    HistoryTable table;
    if (lines.empty()) throw Error(file.string() + " has no header line");
    table.columns = split_line(lines.front());
    for (std::size_t k = 1; k < lines.size(); ++k) {
        const std::vector<std::string> fields = split_line(lines[k]);
        if (fields.size() != table.columns.size())
            throw Error(fmt::format("{}:{}: {} fields in a table of {} columns", file.string(),
                                    k + 1, fields.size(), table.columns.size()));
        std::vector<double>& row = table.rows.emplace_back();
        for (const std::string& field : fields) row.push_back(number_of(field, file));
    }
    return table;
}

}  // namespace hindcast
