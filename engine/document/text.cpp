// Fractions are divided in integers, names compared by the restricted Damerau-Levenshtein distance;
// see the header for what each function promises. Nothing here depends on the locale or the
// rounding mode.
#include "engine/document/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/base/error.hpp"

namespace hindcast::document {

namespace {

__extension__ using Wide = unsigned __int128;

struct Fraction {
    bool negative = false;
    std::uint64_t numerator = 0, denominator = 1;
};

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool read_digits(std::string_view text, std::uint64_t& value) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

std::optional<Fraction> split_fraction(std::string_view text, std::string* why) {
    const auto refuse = [&](const char* reason) -> std::optional<Fraction> {
        if (why) *why = reason;
        return std::nullopt;
    };
    if (!is_fraction(text)) return refuse("it is not of the form integer/integer");
    Fraction fraction;
    fraction.negative = text.front() == '-';
    if (fraction.negative) text.remove_prefix(1);
    const auto slash = text.find('/');
    if (!read_digits(text.substr(0, slash), fraction.numerator) ||
        !read_digits(text.substr(slash + 1), fraction.denominator)) {
        return refuse("a number in it does not fit 64 bits");
    }
    if (fraction.denominator == 0) return refuse("its denominator is zero");
    return fraction;
}

// The length of the well-formed UTF-8 sequence at the front of the text, 0 if it is ill-formed
// (overlong forms, surrogates and code points above 10FFFF included).
std::size_t utf8_sequence(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned low = lead == 0xE0 ? 0xA0 : 0x80, high = lead == 0xED ? 0x9F : 0xBF;
        return continues(1, low, high) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned low = lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xF4 ? 0x8F : 0xBF;
        return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string shortest(double value) {
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    std::string text(buffer, result.ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

std::string number_text(double value) {
    if (std::isfinite(value)) return shortest(value);
    if (std::isnan(value)) return "nan";
    return value > 0 ? "inf" : "-inf";
}

bool is_fraction(std::string_view text) {
    if (!text.empty() && text.front() == '-') text.remove_prefix(1);
    const auto slash = text.find('/');
    return slash != std::string_view::npos && all_digits(text.substr(0, slash)) &&
           all_digits(text.substr(slash + 1));
}

std::optional<double> parse_fraction(std::string_view text, std::string* why) {
    const auto fraction = split_fraction(text, why);
    if (!fraction) return std::nullopt;
    const std::uint64_t n = fraction->numerator, d = fraction->denominator;
    double value = 0;
    if (n != 0) {
        // An integer quotient of at least 55 bits whose last bit is set if anything remains:
        // rounding it to 53 bits rounds the exact quotient. The scaling by a power of two is exact.
        const int shift = std::max(
            0, 55 + static_cast<int>(std::bit_width(d)) - static_cast<int>(std::bit_width(n)));
        const Wide scaled = static_cast<Wide>(n) << shift;
        const auto quotient = static_cast<std::uint64_t>(scaled / d);
        const std::uint64_t rest = scaled % d != 0 ? 1 : 0;
        value = std::ldexp(static_cast<double>(quotient | rest), -shift);
    }
    return fraction->negative ? -value : value;
}

std::optional<std::int64_t> parse_whole_fraction(std::string_view text) {
    const auto fraction = split_fraction(text, nullptr);
    if (!fraction || fraction->numerator % fraction->denominator != 0) return std::nullopt;
    const std::uint64_t quotient = fraction->numerator / fraction->denominator;
    if (quotient > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::nullopt;
    }
    const auto value = static_cast<std::int64_t>(quotient);
    return fraction->negative ? -value : value;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_sequence(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string json_quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        switch (c) {
            case '"': result += "\\\""; break;
            case '\\': result += "\\\\"; break;
            case '\n': result += "\\n"; break;
            case '\t': result += "\\t"; break;
            case '\r': result += "\\r"; break;
            case '\b': result += "\\b"; break;
            case '\f': result += "\\f"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    result += c;
                }
        }
    }
    return result + '"';
}

std::string shown(std::string_view text, std::size_t limit) {
    std::string result = "'";
    std::size_t taken = 0;
    while (taken < text.size() && taken < limit) {
        const std::size_t length = utf8_sequence(text.substr(taken));
        const auto c = static_cast<unsigned char>(text[taken]);
        if (length == 0 || c < 0x20 || c == 0x7F) {
            result += fmt::format("\\x{:02x}", c);
            ++taken;
        } else {
            result += text.substr(taken, length);
            taken += length;
        }
    }
    if (taken < text.size()) result += "...";
    return result + "'";
}

std::string pointer_token(std::string_view key) {
    std::string result;
    for (const char c : key) {
        if (c == '~') {
            result += "~0";
        } else if (c == '/') {
            result += "~1";
        } else {
            result += c;
        }
    }
    return result;
}

std::vector<std::string> split_pointer(std::string_view pointer) {
    std::vector<std::string> tokens;
    if (pointer.empty()) return tokens;
    if (pointer.front() != '/') {
        throw Error("the JSON pointer " + shown(pointer) + " does not begin with '/'")
            .remedy("write for instance /bodies/0/mass");
    }
    for (std::size_t i = 0; i < pointer.size(); ++i) {
        const char c = pointer[i];
        if (c == '/') {
            tokens.emplace_back();
        } else if (c == '~') {
            const char next = i + 1 < pointer.size() ? pointer[i + 1] : '\0';
            if (next != '0' && next != '1') {
                throw Error("the JSON pointer " + shown(pointer) + " has a '~' without 0 or 1")
                    .remedy("write '~' as ~0 and '/' within a key as ~1");
            }
            tokens.back() += next == '0' ? '~' : '/';
            ++i;
        } else {
            tokens.back() += c;
        }
    }
    return tokens;
}

std::optional<std::size_t> pointer_index(std::string_view token) {
    if (!all_digits(token) || (token.size() > 1 && token.front() == '0')) return std::nullopt;
    std::uint64_t value = 0;
    if (!read_digits(token, value)) return std::nullopt;
    return static_cast<std::size_t>(value);
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    if (gap > limit) return limit + 1;
    // Restricted Damerau-Levenshtein distance, three rows at a time.
    std::vector<std::size_t> two_up, up(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) up[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        std::size_t least = row[0];
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const char p = lower(a[i - 1]), q = lower(b[j - 1]);
            row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (p == q ? 0 : 1)});
            if (i > 1 && j > 1 && p == lower(b[j - 2]) && q == lower(a[i - 2])) {
                row[j] = std::min(row[j], two_up[j - 2] + 1);
            }
            least = std::min(least, row[j]);
        }
        if (least > limit) return limit + 1;
        two_up = up;
        std::swap(up, row);
    }
    return std::min(up[b.size()], limit + 1);
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
    // One slip for short names, up to three for long ones; names beyond any plausible key are not
    // compared (a hostile file may hold megabytes in one key).
    if (name.size() > 64) return {};
    const std::size_t limit = std::clamp<std::size_t>(name.size() / 3, 1, 3);
    std::string_view best;
    std::size_t best_distance = limit + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate, limit);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    // A name without a letter in common with a candidate as short is not a misspelling.
    return best_distance < std::max(name.size(), best.size()) ? best : std::string_view{};
}

std::string listed(std::span<const std::string_view> names) {
    constexpr std::size_t most_names = 40, most_bytes = 60;
    std::string text;
    for (const std::string_view name : names.first(std::min(names.size(), most_names))) {
        if (!text.empty()) text += ", ";
        // Quotes show where a name ends that does not read as one.
        text += name.size() <= most_bytes ? std::string(name) : shown(name, most_bytes);
    }
    if (names.size() > most_names) text += fmt::format(" and {} more", names.size() - most_names);
    return text;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates,
                       std::string_view otherwise) {
    const std::string_view best = nearest(name, candidates);
    if (!best.empty()) return fmt::format("did you mean '{}'?", best);
    if (candidates.empty()) return {};
    return fmt::format("{} {}", otherwise, listed(candidates));
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

}  // namespace hindcast::document
