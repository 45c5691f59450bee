// Small text helpers of the document layer: numbers as text, JSON quoting, JSON pointers, UTF-8,
// and the search for the name that was probably meant.
//
// Numbers: `shortest` writes the fewest digits that read back to the same bits; `parse_fraction`
// reads "integer/integer" and divides exactly, rounding once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hindcast::document {

// Shortest text that reads back as the same f64, always with '.' or 'e' so that it stays a real.
// Precondition: finite.
std::string shortest(double value);

// The same, or "nan", "inf", "-inf".
std::string number_text(double value);

// True if the text has the form of a fraction: an optional '-', digits, '/', digits.
bool is_fraction(std::string_view text);

// The nearest f64 to numerator/denominator (both within 64 bits; ties to even). Empty if the text
// is not a fraction, a number does not fit 64 bits, or the denominator is zero; `why` then says
// which.
std::optional<double> parse_fraction(std::string_view text, std::string* why = nullptr);

// The same for integers: the exact quotient if it is an integer.
std::optional<std::int64_t> parse_whole_fraction(std::string_view text);

bool is_utf8(std::string_view text);

// The text as a JSON string with its quotes; non-ASCII characters stay as they are.
std::string json_quoted(std::string_view text);

// The text in single quotes for a message: control characters escaped, cut after `limit` bytes.
std::string shown(std::string_view text, std::size_t limit = 40);

// RFC 6901: "/a~1b/0" <-> {"a/b", "0"}. `split_pointer` throws Error for a malformed pointer.
std::string pointer_token(std::string_view key);
std::vector<std::string> split_pointer(std::string_view pointer);

// The array index that a pointer token stands for (digits without leading zeros).
std::optional<std::size_t> pointer_index(std::string_view token);

// Number of edits (insertion, deletion, replacement, exchange of neighbors) between two names,
// case ignored; stops counting above `limit` and then returns limit + 1.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

// The candidate nearest to `name`, if near enough to be a slip of the keyboard; else empty.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

// "a, b, c"; of many names the first ones and the number of the others, of long names the beginning.
std::string listed(std::span<const std::string_view> names);

// "did you mean 'x'?" if one is near, else "write one of: a, b, c" (or "" without candidates).
std::string suggestion(std::string_view name, std::span<const std::string_view> candidates,
                       std::string_view otherwise = "write one of");

// A text as a field of a table in CSV (RFC 4180).
std::string csv_field(const std::string& text);

}  // namespace hindcast::document
