#include "app/session/document/fields/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/session/document/editor.hpp"
#include "engine/document/text.hpp"

namespace hindcast::session {

namespace {

using document::Node;

std::string trimmed(std::string_view text) {
    constexpr std::string_view spaces = " \t\r\"";
    const std::size_t first = text.find_first_not_of(spaces);
    if (first == std::string_view::npos) return "";
    return std::string(text.substr(first, text.find_last_not_of(spaces) - first + 1));
}

std::vector<std::string> cells_of(std::string line) {
    std::erase_if(line, [](char c) { return c == '[' || c == ']'; });
    char separator = ' ';
    for (const char c : {',', ';', '\t'})
        if (line.find(c) != std::string::npos) separator = c;
    std::vector<std::string> cells;
    std::size_t begin = 0;
    while (begin <= line.size()) {
        const std::size_t end = std::min(line.find(separator, begin), line.size());
        std::string cell = trimmed(std::string_view(line).substr(begin, end - begin));
        if (!cell.empty() || separator != ' ') cells.push_back(std::move(cell));
        begin = end + 1;
    }
    // A comma at the end, as in a scene file.
    if (separator != '\t' && !cells.empty() && cells.back().empty()) cells.pop_back();
    return cells;
}

double number_of(const std::string& cell, const std::string& unit) {
    double value = 0;
    const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (fault == std::errc() && end == cell.data() + cell.size() && std::isfinite(value))
        return value;
    return number_of_input(cell, unit);
}

Node value_of(const std::string& cell, const Form& form) {
    const auto whole = [&]() -> std::optional<std::int64_t> {
        std::int64_t number = 0;
        const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
        if (fault != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
        return number;
    };
    switch (form.kind) {
        case FormKind::number: {
            if (document::is_fraction(cell)) return Node(cell);
            return Node(number_of(cell, form.unit));
        }
        case FormKind::integer:
            if (const auto number = whole()) return Node(*number);
            throw Error("'" + cell + "' is no whole number").remedy("write a number such as 3");
        case FormKind::element:
            if (const auto number = whole()) return Node(*number);
            return Node(cell);
        case FormKind::boolean: return Node(cell == "true" || cell == "1" || cell == "yes");
        case FormKind::choice:
            for (const Node& value : form.values)
                if (value.is_string() && value.string() == cell) return value;
            throw Error("'" + cell + "' is none of the words that may stand here");
        default: return Node(cell);
    }
}

}  // namespace

Node rows_of_text(const std::string& text, const Form& list) {
    if (!list.is_sheet()) throw Error("internal: this is no list of rows");
    const Form& item = list.parts[0];
    const bool tuple = item.kind == FormKind::tuple;
    const Form& cell_form = item.is_scalar() || tuple ? item : item.parts[0];
    Node rows = Node::array();
    std::size_t begin = 0;
    for (int number = 1; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::vector<std::string> cells = cells_of(text.substr(begin, end - begin));
        begin = end + 1;
        if (cells.empty()) continue;
        try {
            if (item.is_scalar()) {
                for (const std::string& cell : cells) rows.push_back(value_of(cell, item));
                continue;
            }
            if (cells.size() < std::max<std::size_t>(item.least, 1) || cells.size() > item.most ||
                (tuple && cells.size() != item.parts.size()))
                throw Error(fmt::format("it has {} columns", cells.size()))
                    .remedy(tuple ? fmt::format("give {} in each row", item.parts.size())
                            : item.least == item.most
                                ? fmt::format("give {} in each row", item.least)
                                : fmt::format("give {} to {} in each row", item.least, item.most));
            Node row = Node::array();
            for (std::size_t k = 0; k < cells.size(); ++k)
                row.push_back(value_of(cells[k], tuple ? item.parts[k] : cell_form));
            rows.push_back(std::move(row));
        } catch (const Error& error) {
            const bool names = rows.size() == 0 && number == 1 &&
                               text.find('\n') < text.size() - 1 &&
                               std::ranges::none_of(cells, [](const std::string& cell) {
                                   return cell.find_first_of("0123456789") != std::string::npos;
                               });
            if (names) continue;
            throw Error(fmt::format("line {} of the clipboard: {}", number, error.happened()))
                .remedy(error.what_to_do());
        }
    }
    if (rows.size() == 0)
        throw Error("the clipboard has no rows")
            .remedy("copy rows of a table, a CSV file or a list of a scene file");
    return rows;
}

std::string text_of_rows(const Node& list) {
    std::string text;
    const auto cell = [](const Node& node) {
        return node.is_string() ? node.string() : document::to_line(node);
    };
    for (std::size_t r = 0; r < list.size(); ++r) {
        const Node& row = list.item(r);
        if (!row.is_array()) text += cell(row);
        for (std::size_t c = 0; row.is_array() && c < row.size(); ++c)
            text += (c > 0 ? "\t" : "") + cell(row.item(c));
        text += '\n';
    }
    return text;
}

}  // namespace hindcast::session
