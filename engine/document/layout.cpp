// A text is cut into pieces: what each value spans. Between two items of a list stands a gap of
// white space, comments and a comma; it is cut at its first line break into what goes with the item
// before and what leads to the item after.
#include "engine/document/layout.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/files.hpp"
#include "engine/base/log.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

struct Layout::Piece {
    std::size_t key = 0, begin = 0, end = 0;  // key: where a member's key begins, else `begin`
    std::vector<Piece> parts;
};

namespace {

using Piece = Layout::Piece;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The end of a comment that begins at `at`; `at` if none begins there.
std::size_t after_comment(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
    if (text.substr(at, 2) == "/*") return text.find("*/", at + 2) + 2;
    return at;
}

// Cuts a text that was read without error: every bracket is closed.
class Cutter {
public:
    explicit Cutter(std::string_view text)
        : text_(text), at_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

    Piece value() {
        skip();
        Piece piece;
        piece.key = piece.begin = at_;
        const char first = text_[at_];
        if (first == '"') {
            string();
        } else if (first == '{' || first == '[') {
            ++at_;
            for (;;) {
                skip();
                if (text_[at_] == ',') {
                    ++at_;
                    continue;
                }
                if (text_[at_] == '}' || text_[at_] == ']') break;
                const std::size_t key = at_;
                if (first == '{') {
                    string();
                    skip();
                    ++at_;  // ':'
                }
                piece.parts.push_back(value());
                if (first == '{') piece.parts.back().key = key;
            }
            ++at_;
        } else {
            while (at_ < text_.size() && !is_space(text_[at_]) &&
                   std::string_view(",]}/").find(text_[at_]) == std::string_view::npos)
                ++at_;
        }
        piece.end = at_;
        return piece;
    }

private:
    void skip() {
        for (;;) {
            while (at_ < text_.size() && is_space(text_[at_])) ++at_;
            const std::size_t next = after_comment(text_, at_);
            if (next == at_) return;
            at_ = next;
        }
    }

    void string() {
        for (++at_; text_[at_] != '"'; ++at_)
            if (text_[at_] == '\\') ++at_;
        ++at_;
    }

    std::string_view text_;
    std::size_t at_;
};

// Written the same, and so is everything in it.
bool same(const Node& a, const Node& b) {
    if (a.kind() != b.kind() || a.size() != b.size()) return false;
    if (a.size() == 0) return to_line(a) == to_line(b);
    for (std::size_t k = 0; k < a.size(); ++k)
        if ((a.is_object() && a.key(k) != b.key(k)) || !same(a.item(k), b.item(k))) return false;
    return true;
}

// The text between two items, or before the first or after the last one.
struct Gap {
    std::string before, after;  // the comma is in neither
};

// Cut at the first line break that is in no block comment; without one at the comma.
Gap cut(std::string_view text) {
    std::optional<std::size_t> line, comma;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = after_comment(text, at);
        if (next != at) {
            at = next;
            continue;
        }
        if (text[at] == '\n' && !line) line = at > 0 && text[at - 1] == '\r' ? at - 1 : at;
        if (text[at] == ',' && !comma) comma = at;
        ++at;
    }
    const std::size_t where = line ? *line : comma.value_or(0);
    Gap gap{std::string(text.substr(0, where)), std::string(text.substr(where))};
    if (comma && *comma < where) gap.before.erase(*comma, 1);
    if (comma && *comma >= where) gap.after.erase(*comma - where, 1);
    return gap;
}

bool breaks(std::string_view text) { return text.starts_with('\n') || text.starts_with("\r\n"); }
bool is_blank(std::string_view text) { return std::ranges::all_of(text, is_space); }

// True if its last line is a comment to the end of the line.
bool ends_in_comment(std::string_view text) {
    bool comment = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = after_comment(text, at);
        comment = next != at ? text[at + 1] == '/' : comment && text[at] != '\n';
        at = std::max(next, at + 1);
    }
    return comment;
}

// The white space that the last line of a text begins with.
std::string indentation(std::string_view text) {
    const std::size_t line = text.find_last_of('\n');
    const std::string_view last = line == std::string_view::npos ? text : text.substr(line + 1);
    const std::size_t end = last.find_first_not_of(" \t");
    return std::string(last.substr(0, end));
}

int columns(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

// The identity of an object: its name, else its path or its type.
std::string identity(const Node& node) {
    for (const char* key : {"name", "path", "type"})
        if (const Node* n = node.find(key); n != nullptr && n->is_string())
            return key + (":" + n->string());
    return "";
}

constexpr std::size_t none = static_cast<std::size_t>(-1);

// For each item of the new list its partner in the old one, in order, or `none`.
using Partners = std::vector<std::size_t>;

std::optional<Partners> partners_of_members(const Node& old, const Node& now) {
    Partners partners;
    std::size_t last = 0;
    bool any = false;
    for (std::size_t k = 0; k < now.size(); ++k) {
        const std::size_t found = old.find_index(now.key(k));
        partners.push_back(found < old.size() ? found : none);
        if (partners.back() == none) continue;
        if (any && found < last) return std::nullopt;  // another order
        any = true;
        last = found;
    }
    return any ? std::optional(partners) : std::nullopt;
}

int likeness(const Node& old, const Node& now) {
    if (same(old, now)) return 5;
    if (old.is_object() && now.is_object()) return identity(old) == identity(now) ? 4 : 1;
    const bool list = old.is_array() || old.is_object() || now.is_array() || now.is_object();
    return old.kind() == now.kind() || !list ? 1 : 0;
}

// The pairing in order with the largest sum of likenesses.
std::optional<Partners> partners_of_items(const Node& old, const Node& now) {
    // Skips unchanged items at both ends, so that few pairs are left to compare.
    std::size_t head = 0, tail = 0;
    const std::size_t shorter = std::min(old.size(), now.size());
    while (head < shorter && same(old.item(head), now.item(head))) ++head;
    while (tail < shorter - head &&
           same(old.item(old.size() - 1 - tail), now.item(now.size() - 1 - tail)))
        ++tail;
    Partners partners(now.size(), none);
    for (std::size_t k = 0; k < head; ++k) partners[k] = k;
    for (std::size_t k = 1; k <= tail; ++k) partners[now.size() - k] = old.size() - k;

    const std::size_t n = old.size() - head - tail, m = now.size() - head - tail;
    constexpr std::size_t most = 1 << 18;
    if (n * m > most) {
        if (n != m) return std::nullopt;
        for (std::size_t k = 0; k < m; ++k) partners[head + k] = head + k;
        return partners;
    }
    std::vector<int> best((n + 1) * (m + 1), 0), alike(n * m);
    const auto at = [&](std::size_t i, std::size_t j) -> int& { return best[i * (m + 1) + j]; };
    for (std::size_t i = n; i-- > 0;)
        for (std::size_t j = m; j-- > 0;) {
            const int like = alike[i * m + j] = likeness(old.item(head + i), now.item(head + j));
            at(i, j) =
                std::max({at(i + 1, j), at(i, j + 1), like > 0 ? like + at(i + 1, j + 1) : 0});
        }
    bool any = head + tail > 0;
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
        const int like = alike[i * m + j];
        if (like > 0 && at(i, j) == like + at(i + 1, j + 1)) {
            partners[head + j++] = head + i++;
            any = true;
        } else if (at(i, j) == at(i, j + 1)) {
            ++j;
        } else {
            ++i;
        }
    }
    return any ? std::optional(partners) : std::nullopt;
}

class Rewriter {
public:
    Rewriter(std::string_view text, std::string unit) : text_(text), unit_(std::move(unit)) {
        const std::size_t line = text.find('\n');
        if (line != std::string_view::npos && line > 0 && text[line - 1] == '\r') end_ = "\r\n";
    }

    void value(const Piece& piece, const Node& old, const Node& now) {
        if (same(old, now)) {
            out += slice(piece.begin, piece.end);
            return;
        }
        if (old.kind() == now.kind() && old.size() > 0 && now.size() > 0) {
            const auto partners =
                now.is_object() ? partners_of_members(old, now) : partners_of_items(old, now);
            if (partners) {
                list(piece, old, now, *partners);
                return;
            }
        }
        fresh(now);
    }

    std::string out;

private:
    std::string slice(std::size_t begin, std::size_t end) const {
        return std::string(text_.substr(begin, end - begin));
    }

    // The house form, indented like the line that it begins on.
    void fresh(const Node& node) {
        constexpr int width = 100;
        const std::string indent = indentation(out);
        const std::size_t line = out.find_last_of('\n');
        const int used =
            columns(std::string_view(out).substr(line == std::string::npos ? 0 : line + 1));
        // One column for the comma that may follow.
        const std::string text = to_text(node, std::max(width - used - 1, 1), 0);
        for (std::size_t k = 0; k < text.size(); ++k) {
            out += text[k] == '\n' ? end_ : std::string(1, text[k]);
            if (text[k] != '\n') continue;
            out += indent;
            // The house form indents by two.
            for (; k + 2 < text.size() && text[k + 1] == ' ' && text[k + 2] == ' '; k += 2)
                out += unit_;
        }
    }

    void list(const Piece& piece, const Node& old, const Node& now, const Partners& partners) {
        const std::vector<Piece>& parts = piece.parts;
        const std::size_t n = parts.size(), m = now.size();
        // gaps[i] stands before item i, gaps[n] after the last one.
        std::vector<Gap> gaps;
        gaps.push_back(cut(slice(piece.begin + 1, parts.front().key)));
        for (std::size_t i = 0; i + 1 < n; ++i)
            gaps.push_back(cut(slice(parts[i].end, parts[i + 1].key)));
        gaps.push_back(cut(slice(parts.back().end, piece.end)));
        const std::string base = indentation(out);
        std::size_t broken = 0;
        std::string lead = " ";
        for (std::size_t i = 0; i < n; ++i) {
            if (!breaks(gaps[i].after)) continue;
            if (++broken == 1) lead = end_ + indentation(gaps[i].after);
        }
        if (2 * broken < n) lead = " ";

        out += text_[piece.begin];
        std::string behind = gaps[0].before;
        bool done = false;  // the text before the item is written
        for (std::size_t j = 0; j < m; ++j) {
            const std::size_t i = partners[j];
            if (!done) {
                std::string before = i == none ? lead : gaps[i].after;
                if (j == 0 && !breaks(before)) {
                    const std::string& opening = gaps[0].after;
                    if (i != 0) before = (is_blank(opening) ? opening : "") + trimmed(before);
                } else if (j > 0 && i == 0 && !breaks(before)) {
                    before = " " + trimmed(before);
                }
                out += append_behind(behind, before, base + unit_) ? trimmed(before) : before;
            }
            done = false;
            if (now.is_object())
                out += i == none ? json_quoted(now.key(j)) + ": "
                                 : slice(parts[i].key, parts[i].begin);
            if (i == none)
                fresh(now.item(j));
            else
                value(parts[i], old.item(i), now.item(j));
            behind.clear();
            if (i != none && i + 1 < n && j + 1 < m && partners[j + 1] == i + 1) {
                out += slice(parts[i].end, parts[i + 1].key);  // as it was, comma and all
                done = true;
                continue;
            }
            if (j + 1 < m) out += ',';
            if (i != none) behind = gaps[i + 1].before;
        }
        append_behind(behind, gaps[n].after, base);
        out += gaps[n].after;
    }

    // Appends the text on the line of the item before. Nothing may follow a comment there: true if
    // the line was ended for that.
    bool append_behind(const std::string& behind, const std::string& next,
                       const std::string& indent) {
        out += behind;
        const bool ended = ends_in_comment(behind) && !breaks(next);
        if (ended) out += end_ + indent;
        return ended;
    }

    static std::string trimmed(const std::string& text) {
        const std::size_t begin = text.find_first_not_of(" \t");
        return begin == std::string::npos ? "" : text.substr(begin);
    }

    std::string_view text_;
    std::string unit_, end_ = "\n";
};

}  // namespace

Layout::Layout(std::string text)
    : text_(std::move(text)),
      read_(Document::parse(text_)),
      root_(std::make_unique<const Piece>(Cutter(text_).value())) {}

Layout::~Layout() = default;

std::string Layout::with(const Document& wanted) const {
    if (same(read_.root(), wanted.root())) return text_;
    std::string unit = "  ";
    if (!root_->parts.empty()) {
        const std::string before = text_.substr(0, root_->parts.front().key);
        const std::string indent = indentation(before);
        if (before.find('\n') != std::string::npos && !indent.empty()) unit = indent;
    }
    Rewriter rewriter(text_, unit);
    rewriter.out = text_.substr(0, root_->begin);
    rewriter.value(*root_, read_.root(), wanted.root());
    rewriter.out += text_.substr(root_->end);
    // The content goes before the layout.
    std::string house = wanted.to_text();
    try {
        if (Document::parse(rewriter.out).to_text() == house) return std::move(rewriter.out);
    } catch (const Error& error) {
        log_debug("a document's layout could not be kept: {}", error.what());
    }
    log_warning("the layout and the comments of a document could not be kept");
    return house;
}

void save_like(const Document& document, const std::filesystem::path& path,
               const std::filesystem::path& like) {
    document.require_readable();
    std::optional<std::string> text;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(like, ignored)) try {
            text = Layout(read_file(like, Limits{}.bytes)).with(document);
        } catch (const Error& error) {
            log_debug("{} is no example for a layout: {}", like.string(), error.what());
        }
    write_file_atomically(path, text ? *text : document.to_text());
}

}  // namespace hindcast::document
