// A line is split by one pass over its characters; start with CsvTable::CsvTable().
#include "engine/document/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/files.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t most_columns = 10'000;
constexpr std::size_t most_cells = 1 << 26;

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

// The first separator outside of quotes; a comma if there is none.
char separator_of(std::string_view line) {
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == ',' || c == ';' || c == '\t')) return c;
    }
    return ',';
}

struct Split {
    std::string text;
    std::size_t at = 0;  // of its first character in the line
};

class Line {
public:
    Line(std::string_view text, char separator, const std::string& file, int number)
        : text_(text), separator_(separator), file_(file), number_(number) {}

    std::vector<Split> split() {
        std::vector<Split> cells;
        while (true) {
            cells.push_back(cell());
            if (cells.size() > most_columns)
                refuse(0, fmt::format("this line has more than {} cells", most_columns),
                       "write fewer columns");
            if (at_ == text_.size()) return cells;
            ++at_;  // the separator
        }
    }

private:
    [[noreturn]] void refuse(std::size_t at, const std::string& what, const char* remedy) const {
        throw Error(what).at({file_, number_, static_cast<int>(at) + 1}).remedy(remedy);
    }

    void blanks() {
        while (at_ < text_.size() && text_[at_] != separator_ && is_space_or_tab(text_[at_])) ++at_;
    }

    Split cell() {
        blanks();
        Split found{{}, at_};
        if (at_ < text_.size() && text_[at_] == '"') {
            quoted(found);
            return found;
        }
        while (at_ < text_.size() && text_[at_] != separator_) found.text += text_[at_++];
        while (!found.text.empty() && is_space_or_tab(found.text.back())) found.text.pop_back();
        return found;
    }

    void quoted(Split& found) {
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] != '"') {
                found.text += text_[at_];
                continue;
            }
            ++at_;
            if (at_ < text_.size() && text_[at_] == '"') {
                found.text += '"';
                continue;
            }
            blanks();
            if (at_ < text_.size() && text_[at_] != separator_)
                refuse(at_, "there is text behind the closing quote of this cell",
                       "write a quote within quotes twice");
            return;
        }
        refuse(found.at, "this quote is not closed on its line", "close it");
    }

    std::string_view text_;
    char separator_;
    const std::string& file_;
    int number_;
    std::size_t at_ = 0;
};

// Lines with what is in them; blank ones and comments are left out.
class Lines {
public:
    explicit Lines(std::string_view content) : rest_(content) {}

    std::optional<std::string_view> next() {
        while (!rest_.empty()) {
            const std::size_t end = rest_.find('\n');
            std::string_view line = rest_.substr(0, end);
            rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
            ++number_;
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            const auto first = std::ranges::find_if_not(line, is_space_or_tab);
            if (first != line.end() && *first != '#') return line;
        }
        return std::nullopt;
    }
    int number() const { return number_; }

private:
    std::string_view rest_;
    int number_ = 0;
};

}  // namespace

CsvTable::CsvTable(std::string_view content, std::string name) : name_(std::move(name)) {
    if (content.starts_with(byte_order_mark)) content.remove_prefix(byte_order_mark.size());
    if (!is_utf8(content) || content.find('\0') != std::string_view::npos)
        throw Error(fmt::format("cannot read {}: it is no text in UTF-8", shown(name_, 200)))
            .remedy("save the table as CSV in UTF-8");
    Lines lines(content);
    const auto names = lines.next();
    if (!names)
        throw Error(
            fmt::format("cannot read {}: it has no line of column names", shown(name_, 200)))
            .remedy("write the names of the columns as its first line, like time,position");
    const char separator = separator_of(*names);
    for (Split& cell : Line(*names, separator, name_, lines.number()).split()) {
        const SourcePlace place{name_, lines.number(), static_cast<int>(cell.at) + 1};
        if (!cell.text.empty() && std::ranges::find(columns_, cell.text) != columns_.end())
            throw Error(fmt::format("there are two columns {}", shown(cell.text)))
                .at(place)
                .remedy("give each column a name of its own");
        columns_.push_back(std::move(cell.text));
    }
    while (const auto line = lines.next()) {
        std::vector<Split> row = Line(*line, separator, name_, lines.number()).split();
        if (row.size() != columns_.size())
            throw Error(fmt::format("this line has {} cell{}, the line of names has {}", row.size(),
                                    row.size() == 1 ? "" : "s", columns_.size()))
                .at({name_, lines.number(), 1})
                .remedy("write as many cells in each line as there are columns");
        if (cells_.size() + row.size() > most_cells)
            throw Error(fmt::format("there are more than {} cells", most_cells))
                .at({name_, lines.number(), 1})
                .remedy("write fewer rows or columns");
        for (Split& cell : row)
            cells_.push_back({std::move(cell.text), lines.number(), static_cast<int>(cell.at) + 1});
    }
}

std::size_t CsvTable::column(std::string_view name) const {
    const auto found = std::ranges::find(columns_, name);
    if (name.empty() || found == columns_.end()) {
        const std::vector<std::string_view> names(columns_.begin(), columns_.end());
        throw Error(fmt::format("{} has no column {}", shown(name_, 200), shown(name)))
            .remedy(suggestion(name, names));
    }
    return static_cast<std::size_t>(found - columns_.begin());
}

bool CsvTable::has_column(std::string_view name) const {
    return !name.empty() && std::ranges::find(columns_, name) != columns_.end();
}

const CsvTable::Cell& CsvTable::cell(std::size_t row, std::size_t column) const {
    assert(row < rows() && column < columns_.size());
    return cells_[row * columns_.size() + column];
}

const std::string& CsvTable::text(std::size_t row, std::size_t column) const {
    return cell(row, column).text;
}

double CsvTable::number(std::size_t row, std::size_t column) const {
    const std::string& text = cell(row, column).text;
    const char* first = text.data();
    const char* const last = first + text.size();
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') ++first;
    double value = 0;
    const auto [end, failure] = std::from_chars(first, last, value);
    if (failure != std::errc() || end != last || !std::isfinite(value)) {
        const char* remedy = "write a finite number with a decimal point, like -1.5 or 2e-3";
        std::string what =
            fmt::format("{} is no number (column {})", shown(text), shown(columns_[column]));
        if (text.empty())
            what = fmt::format("this cell of column {} is empty", shown(columns_[column]));
        if (failure == std::errc::result_out_of_range)
            what = fmt::format("{} is too large or too small for f64 (column {})", shown(text),
                               shown(columns_[column]));
        throw Error(what).at(place(row, column)).remedy(remedy);
    }
    return value;
}

std::vector<double> CsvTable::numbers(std::string_view name) const {
    const std::size_t c = column(name);
    std::vector<double> values(rows());
    for (std::size_t r = 0; r < values.size(); ++r) values[r] = number(r, c);
    return values;
}

SourcePlace CsvTable::place(std::size_t row, std::size_t column) const {
    const Cell& one = cell(row, column);
    return {name_, one.line, one.column};
}

std::vector<double> increasing(const CsvTable& table, std::string_view name) {
    const std::size_t column = table.column(name);
    std::vector<double> times = table.numbers(name);
    for (std::size_t r = 1; r < times.size(); ++r)
        if (!(times[r] > times[r - 1]))
            throw Error(fmt::format("the time {} does not come after {}", times[r], times[r - 1]))
                .at(table.place(r, column))
                .remedy("sort the rows by time, and leave out those of equal time");
    return times;
}

CsvTable read_csv(const std::filesystem::path& path, std::uint64_t limit) {
    return CsvTable(read_file(path, limit), path.string());
}

}  // namespace hindcast::document
