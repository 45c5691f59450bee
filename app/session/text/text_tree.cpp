// One pass over the text. In an array a string with a colon behind it is a key: then the array was
// not closed. Behind a colon the same is the next member: then the value is missing.
#include "app/session/text/text_tree.hpp"

#include <algorithm>
#include <map>

#include "engine/document/text.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

namespace {

using Kind = TextTree::Kind;

constexpr int most_levels = 200;  // beyond it brackets are passed over

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool ends_word(char c) {
    return is_space(c) || c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']' ||
           c == '"' || c == '/';
}

bool in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void append_utf8(std::string& to, unsigned code) {
    if (code < 0x80) {
        to += static_cast<char>(code);
    } else if (code < 0x800) {
        to += static_cast<char>(0xC0 | (code >> 6));
        to += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        to += static_cast<char>(0xE0 | (code >> 12));
        to += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        to += static_cast<char>(0x80 | (code & 0x3F));
    }
}

// The content between the quotes. Names and keys are compared with it; what is no JSON stays as it
// is.
std::string unescaped(std::string_view raw) {
    std::string content;
    for (std::size_t k = 0; k < raw.size(); ++k) {
        if (raw[k] != '\\' || k + 1 == raw.size()) {
            content += raw[k];
            continue;
        }
        const char c = raw[++k];
        const std::string_view from = "nrtbf", to = "\n\r\t\b\f";
        if (const std::size_t at = from.find(c); at != std::string_view::npos) {
            content += to[at];
        } else if (c == 'u' && k + 4 < raw.size()) {
            unsigned code = 0;
            for (std::size_t d = 1; d <= 4; ++d) {
                const std::size_t digit =
                    std::string_view("0123456789abcdefABCDEF").find(raw[k + d]);
                code = code * 16 + static_cast<unsigned>(digit < 16 ? digit : digit - 6);
            }
            append_utf8(content, code & 0xFFFFU);
            k += 4;
        } else {
            content += c;
        }
    }
    return content;
}

}  // namespace

class TextTreeBuilder {
public:
    TextTreeBuilder(TextTree& tree, std::optional<std::size_t> cursor)
        : tree_(tree), text_(tree.text_), cursor_(cursor) {}

    void build() {
        at_ = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
        blank();
        tree_.entries_.emplace_back();
        tree_.entries_[0].begin = tree_.entries_[0].end = at_;
        value(0);
        while (at_ < text_.size()) {  // comments behind the scene
            blank();
            if (at_ < text_.size()) ++at_;
        }
    }

private:
    TextTree::Entry& entry(int k) { return tree_.entries_[static_cast<std::size_t>(k)]; }

    int add(int parent) {
        const int k = static_cast<int>(tree_.entries_.size());
        tree_.entries_.emplace_back();
        entry(k).parent = parent;
        entry(parent).parts.push_back(k);
        entry(k).begin = entry(k).end = at_;
        return k;
    }

    void blank() {
        while (at_ < text_.size()) {
            if (is_space(text_[at_])) {
                ++at_;
            } else if (text_.substr(at_, 2) == "//" || text_.substr(at_, 2) == "/*") {
                const bool line = text_[at_ + 1] == '/';
                const std::size_t end = text_.find(line ? "\n" : "*/", at_ + 2);
                const std::size_t begin = at_;
                at_ = end == std::string_view::npos ? text_.size() : end + (line ? 0 : 2);
                if (!looking_ahead_) tree_.comments_.emplace_back(begin, at_);
            } else {
                return;
            }
        }
    }

    // A string from its quote on. Returns whether it is closed.
    bool string(std::string& content) {
        const std::size_t begin = ++at_;
        const bool around = cursor_ && *cursor_ >= begin;
        bool closed = false;
        while (at_ < text_.size() && text_[at_] != '\n') {
            if (text_[at_] == '"') {
                closed = true;
                break;
            }
            at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
        }
        at_ = std::min(at_, text_.size());
        // A name being typed: up to the cursor it is a word, and what follows is something else.
        if (around && *cursor_ <= at_) {
            const std::string_view typed = text_.substr(begin, *cursor_ - begin),
                                   rest = text_.substr(*cursor_, at_ - *cursor_);
            const std::size_t thing = rest.find_first_not_of(" \t");
            // A closing quote with a letter behind it opens the next string.
            const bool opens = closed && at_ + 1 < text_.size() && in_name(text_[at_ + 1]);
            if (std::ranges::all_of(typed, in_name) && (!closed || opens) &&
                thing != std::string_view::npos &&
                std::string_view(",:}]").find(rest[thing]) != std::string_view::npos) {
                at_ = *cursor_;
                content = std::string(typed);
                return false;
            }
        }
        std::string_view raw = text_.substr(begin, at_ - begin);
        if (!closed)
            while (!raw.empty() && is_space(raw.back())) raw.remove_suffix(1), --at_;
        content = unescaped(raw);
        if (closed) ++at_;
        return closed;
    }

    // True if a string with a colon behind it begins here.
    bool key_begins() {
        if (at_ >= text_.size() || text_[at_] != '"') return false;
        const std::size_t before = at_;
        looking_ahead_ = true;
        std::string unused;
        string(unused);
        blank();
        const bool found = at_ < text_.size() && text_[at_] == ':';
        looking_ahead_ = false;
        at_ = before;
        return found;
    }

    bool inside_object(int k) {
        for (; k >= 0; k = entry(k).parent)
            if (entry(k).kind == Kind::object) return true;
        return false;
    }

    // Reads the text here as the value of entry k.
    void value(int k) {
        if (at_ >= text_.size()) return;
        entry(k).begin = at_;
        const char c = text_[at_];
        if (c == '{' || c == '[') {
            entry(k).kind = c == '{' ? Kind::object : Kind::array;
            ++at_;
            ++level_;
            if (level_ <= most_levels) c == '{' ? members(k) : items(k);
            --level_;
        } else if (c == '"') {
            entry(k).kind = Kind::string;
            std::string content;
            const bool closed = string(content);
            entry(k).closed = closed;
            entry(k).text = std::move(content);
        } else if (!ends_word(c) || c == '/') {
            entry(k).kind = Kind::word;
            const std::size_t begin = at_++;
            while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
            entry(k).text = std::string(text_.substr(begin, at_ - begin));
        }
        entry(k).end = at_;
    }

    void members(int object) {
        entry(object).closed = false;
        for (;;) {
            blank();
            if (at_ >= text_.size()) return;
            const char c = text_[at_];
            if (c == '}') {
                ++at_;
                entry(object).closed = true;
                return;
            }
            if (c == ']' && open_arrays_ > 0) return;  // that of an array around it
            if (c == ',' || c == ':' || c == ']') {
                ++at_;
                continue;
            }
            const int k = add(object);
            if (c == '{' || c == '[') {  // a value without a key
                value(k);
                continue;
            }
            entry(k).key_begin = at_;
            std::string key;
            if (c == '"') {
                string(key);
            } else {
                do ++at_;
                while (at_ < text_.size() && !ends_word(text_[at_]));
                key = std::string(text_.substr(entry(k).key_begin, at_ - entry(k).key_begin));
            }
            entry(k).key = std::move(key);
            entry(k).key_end = entry(k).begin = entry(k).end = at_;
            blank();
            if (at_ >= text_.size() || text_[at_] != ':') {
                continue;
            }
            entry(k).has_colon = true;
            entry(k).begin = entry(k).end = ++at_;
            blank();
            if (at_ >= text_.size()) return;
            const char v = text_[at_];
            if (v == ',' || v == '}' || v == ']' || v == ':' || key_begins()) continue;
            value(k);
        }
    }

    void items(int array) {
        entry(array).closed = false;
        ++open_arrays_;
        for (;;) {
            blank();
            if (at_ >= text_.size()) break;
            const char c = text_[at_];
            if (c == ']') {
                ++at_;
                entry(array).closed = true;
                break;
            }
            if (inside_object(array) && (c == '}' || key_begins())) break;
            if (c == ',' || c == ':' || c == '}') {
                ++at_;
                continue;
            }
            value(add(array));
        }
        --open_arrays_;
    }

    TextTree& tree_;
    const std::string_view text_;
    const std::optional<std::size_t> cursor_;
    std::size_t at_ = 0;
    int level_ = 0, open_arrays_ = 0;
    bool looking_ahead_ = false;
};

TextTree::TextTree(std::string text, std::optional<std::size_t> cursor) : text_(std::move(text)) {
    lines_.push_back(0);
    for (std::size_t k = 0; k < text_.size(); ++k)
        if (text_[k] == '\n') lines_.push_back(k + 1);
    TextTreeBuilder(*this, cursor).build();
}

int TextTree::member(int object, std::string_view key) const {
    if (object < 0) return none;
    for (const int k : (*this)[object].parts)
        if ((*this)[k].has_key() && (*this)[k].key == key) return k;
    return none;
}

int TextTree::find(std::string_view pointer) const {
    int at = root;
    for (const std::string& token : document::split_pointer(pointer)) {
        const Entry& e = (*this)[at];
        int next = none;
        if (e.kind == Kind::object) {
            next = member(at, token);
        } else if (const auto index = document::pointer_index(token);
                   e.kind == Kind::array && index && *index < e.parts.size()) {
            next = e.parts[*index];
        }
        if (next == none) return none;
        at = next;
    }
    return at;
}

std::string TextTree::pointer(int entry) const {
    std::string pointer;
    for (int k = entry; k > root; k = (*this)[k].parent) {
        const Entry& parent = (*this)[(*this)[k].parent];
        std::string token;
        if (parent.kind == Kind::array)
            token = std::to_string(std::ranges::find(parent.parts, k) - parent.parts.begin());
        else
            token = document::pointer_token((*this)[k].key);
        pointer.insert(0, "/" + token);
    }
    return pointer;
}

std::string TextTree::string_at(int object, std::string_view key) const {
    const int k = member(object, key);
    return k != none && (*this)[k].kind == Kind::string ? (*this)[k].text : std::string();
}

std::vector<std::pair<std::string, int>> TextTree::objects() const {
    std::vector<std::pair<std::string, int>> all;
    for (const model::Section section : model::all_sections) {
        const int list = member(root, model::name_of(section));
        if (list == none) continue;
        for (const int k : (*this)[list].parts)
            if ((*this)[k].kind == Kind::object) all.emplace_back(model::name_of(section), k);
    }
    return all;
}

std::string TextTree::object_name(int object) const {
    if (member(object, "name") != none) return string_at(object, "name");
    const std::string type = string_at(object, "type");
    int number = 0;
    for (const auto& [section, k] : objects()) {
        if (member(k, "name") == none && string_at(k, "type") == type) ++number;
        if (k == object) return type + "_" + std::to_string(number);
    }
    return "";
}

bool TextTree::in_comment(std::size_t offset) const {
    const auto next = std::ranges::upper_bound(comments_, offset, {},
                                               &std::pair<std::size_t, std::size_t>::first);
    if (next == comments_.begin()) return false;
    const auto& [begin, end] = *std::prev(next);
    // At the end of a line's comment one types on in it.
    const bool line = text_[begin + 1] == '/';
    return offset > begin && (line ? offset <= end : offset < end);
}

TextTree::Spot TextTree::spot(std::size_t cursor) const {
    Spot spot;
    spot.begin = spot.end = cursor;
    if (in_comment(cursor)) {
        spot.in = In::comment;
        return spot;
    }
    // Strings reach to before their closing quote, words to behind their last letter.
    const auto holds = [&](const Entry& e) {
        if (e.kind == Kind::string)
            return e.begin < cursor && (e.closed ? cursor < e.end : cursor <= e.end);
        if (e.kind == Kind::word) return e.begin <= cursor && cursor <= e.end;
        if (e.kind == Kind::missing) return false;
        return e.begin < cursor && (e.closed ? cursor < e.end : true);
    };
    if (entries_[root].kind == Kind::missing) {
        spot.in = In::value;
        spot.entry = root;
        return spot;
    }
    if (!holds(entries_[root])) return spot;
    int at = root;
    for (;;) {
        const Entry& e = (*this)[at];
        if (e.kind != Kind::object && e.kind != Kind::array) {
            spot.in = In::value;
            spot.container = e.parent;
            spot.entry = at;
            spot.begin = e.begin;
            spot.end = e.end;
            return spot;
        }
        int next = none;
        for (const int k : e.parts) {
            const Entry& part = (*this)[k];
            if (part.has_key() && part.key_begin <= cursor && cursor <= part.key_end) {
                const bool quoted = text_[part.key_begin] == '"';
                const bool closed =
                    part.key_end > part.key_begin + 1 && text_[part.key_end - 1] == '"';
                if (!quoted || (cursor > part.key_begin && !(closed && cursor == part.key_end))) {
                    spot = {In::key, at, k, part.key_begin, part.key_end};
                    return spot;
                }
            }
            if (holds(part)) next = k;
            // Between the colon and what follows.
            if (part.has_colon && part.kind == Kind::missing && cursor >= part.begin) {
                std::size_t next_thing = text_.size();
                behind(part.begin, &next_thing);
                if (cursor <= next_thing) {
                    spot = {In::value, at, k, cursor, cursor};
                    return spot;
                }
            }
            if (part.has_colon && part.kind != Kind::missing && cursor > part.key_end &&
                cursor <= part.begin && before(cursor) == ':') {
                spot = {In::value, at, k, part.begin, part.end};
                return spot;
            }
        }
        if (next == none) {
            spot.in = e.kind == Kind::object ? In::key : In::value;
            spot.container = at;
            return spot;
        }
        at = next;
    }
}

int TextTree::entry_at(std::size_t cursor) const {
    int found = none;
    const std::size_t line = lines_[position(cursor).line];
    for (int at = root;;) {
        int next = none;
        for (const int k : (*this)[at].parts)
            if ((*this)[k].from() <= cursor) next = k;
        if (next == none) return found;
        const Entry& e = (*this)[next];
        const std::size_t end = std::max(e.end, e.key_end);
        const bool inside = cursor <= end || !e.closed;
        if (!inside && end < line) return found;  // it has ended on a line before
        found = next;
        if (e.parts.empty() || cursor <= e.begin || (e.closed && cursor >= e.end)) return found;
        at = next;
    }
}

TextPosition TextTree::position(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto next = std::ranges::upper_bound(lines_, offset);
    TextPosition p;
    p.line = static_cast<std::size_t>(next - lines_.begin()) - 1;
    for (std::size_t k = lines_[p.line]; k < offset; ++k)
        if ((static_cast<unsigned char>(text_[k]) & 0xC0U) != 0x80U) ++p.column;
    return p;
}

std::size_t TextTree::offset(TextPosition position) const {
    if (position.line >= lines_.size()) return text_.size();
    std::size_t at = lines_[position.line];
    while (at < text_.size() && text_[at] != '\n') {
        if ((static_cast<unsigned char>(text_[at]) & 0xC0U) != 0x80U && position.column-- == 0)
            return at;
        ++at;
    }
    return at;
}

char TextTree::before(std::size_t offset, std::size_t* at) const {
    while (offset > 0) {
        --offset;
        const auto next = std::ranges::upper_bound(comments_, offset, {},
                                                   &std::pair<std::size_t, std::size_t>::first);
        if (next != comments_.begin() && offset < std::prev(next)->second) {
            offset = std::prev(next)->first;
            continue;
        }
        if (is_space(text_[offset])) continue;
        if (at != nullptr) *at = offset;
        return text_[offset];
    }
    return 0;
}

char TextTree::behind(std::size_t offset, std::size_t* at) const {
    while (offset < text_.size()) {
        const auto next = std::ranges::upper_bound(comments_, offset, {},
                                                   &std::pair<std::size_t, std::size_t>::first);
        if (next != comments_.begin() && offset < std::prev(next)->second) {
            offset = std::prev(next)->second;
            continue;
        }
        if (!is_space(text_[offset])) {
            if (at != nullptr) *at = offset;
            return text_[offset];
        }
        ++offset;
    }
    return 0;
}

}  // namespace hindcast::session
