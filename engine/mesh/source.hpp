// The content of a file, read from front to back: words and numbers of a text, or numbers as they
// lie in memory.
//
// Errors begin with "line 12: " or, in a binary part, with "byte 480: ". Nothing is allocated for a
// count before it is known that the file is long enough for it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/error.hpp"

namespace hindcast::mesh {

inline constexpr const char* damaged = "the file is damaged or cut off: write it again";

class Source {
public:
    // `first_line`: the number of the content's first line.
    explicit Source(std::string_view content, std::int64_t first_line = 1)
        : content_(content), first_line_(first_line) {}

    bool binary = false;   // numbers are read as they lie in memory
    bool swapped = false;  // with the bytes in the other order

    std::size_t left() const { return content_.size() - at_; }
    std::size_t position() const { return at_; }
    void move_to(std::size_t position) { at_ = begin_ = position; }
    std::string_view rest() const { return content_.substr(at_); }

    // At what was read last.
    Error error(const std::string& happened, const std::string& remedy = damaged) const;

    // The next word of a text, empty at the end.
    std::string_view word();
    // The next word, left where it is.
    std::string_view peek();
    void expect(std::string_view word);
    // The rest of the line, without its end; the whole next line where a line has ended.
    std::string_view line();

    // The next number, as text or as T in memory. `what` names it in messages. Throws Error at the
    // end of the file, and if a text is not such a number.
    template <class T>
    T next(const char* what) {
        if (!binary) {
            if constexpr (std::floating_point<T>) {
                return static_cast<T>(real(what));
            } else {
                const std::int64_t value = integer(what);
                if (!std::in_range<T>(value)) throw no_number(what);
                return static_cast<T>(value);
            }
        }
        begin_ = at_;
        if (left() < sizeof(T)) throw ended(what);
        std::array<char, sizeof(T)> bytes;
        std::memcpy(bytes.data(), content_.data() + at_, sizeof(T));
        if (swapped) std::reverse(bytes.begin(), bytes.end());
        at_ += sizeof(T);
        return std::bit_cast<T>(bytes);
    }
    // A finite coordinate.
    template <class T>
    double coordinate(const char* what) {
        const double value = static_cast<double>(next<T>(what));
        if (!std::isfinite(value))
            throw error(fmt::format("{} is not finite", what), "write finite coordinates");
        return value;
    }
    // A number of things that take at least so many bytes each, in text two (a digit and a space).
    template <class T>
    std::size_t count(const char* what, std::size_t bytes) {
        const T value = next<T>(what);
        if (!std::in_range<std::int64_t>(value) || value < T{0})
            throw error(fmt::format("the number of {} cannot be {}", what, value));
        require_room(static_cast<std::size_t>(value), what, bytes);
        return static_cast<std::size_t>(value);
    }
    void require_room(std::size_t number, const char* what, std::size_t bytes) const {
        if (number > left() / bytes + 1)
            throw error(
                fmt::format("{} {} are announced, and {} bytes follow", number, what, left()));
    }
    // Over so many bytes.
    void skip(std::size_t number, std::size_t bytes_each, const char* what) {
        begin_ = at_;
        if (number > left() / bytes_each) throw ended(what);
        at_ += number * bytes_each;
    }

private:
    double real(const char* what);
    std::int64_t integer(const char* what);
    Error no_number(const char* what) const;
    Error ended(const char* what) const;
    void skip_space();

    std::string_view content_;
    std::int64_t first_line_;
    std::size_t at_ = 0, begin_ = 0;  // of what was read last
};

}  // namespace hindcast::mesh
