#include "engine/base/text/shorten.hpp"

#include <cstddef>

namespace hindcast {

namespace {

struct Measure {
    std::size_t most, head, tail;  // bytes: of a piece that stays whole, of what is kept of others
};
constexpr Measure word{240, 140, 60}, line{2000, 1400, 400};

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void append_cut(std::string& to, std::string_view piece, const Measure& measure) {
    if (piece.size() <= measure.most) {
        to += piece;
        return;
    }
    std::size_t head = measure.head, tail = piece.size() - measure.tail;
    while (head > 0 && continues_character(piece[head])) --head;
    while (tail < piece.size() && continues_character(piece[tail])) ++tail;
    to += piece.substr(0, head);
    to += " [... " + std::to_string(piece.size()) + " bytes in all ...] ";
    to += piece.substr(tail);
}

// Each piece between separators is cut to its measure.
std::string cut(std::string_view text, std::string_view separators, const Measure& measure) {
    std::string result;
    while (true) {
        const std::size_t end = text.find_first_of(separators);
        append_cut(result, text.substr(0, end), measure);
        if (end == std::string_view::npos) return result;
        result += text[end];
        text.remove_prefix(end + 1);
    }
}

}  // namespace

std::string shortened(std::string_view text) {
    if (text.size() <= word.most) return std::string(text);
    return cut(cut(text, " \t\n", word), "\n", line);
}

}  // namespace hindcast
