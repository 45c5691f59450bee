// Reading a document: nlohmann's SAX parser does the grammar, an iterator that counts gives the
// places.
//
// Between two SAX events stand only white space, comments, ',' and ':'. So the token of an event
// begins where these end after the previous event (`next_token`), which gives exact places and the
// exact text of numbers. Numbers are converted here, from that text.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "engine/document/document.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

// Passes the text to the parser and tells how much of it was taken.
class CountingIterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator() = default;
    CountingIterator(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}

    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        ++at_;
        ++*taken_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
        return a.at_ == b.at_;
    }

private:
    const char* at_ = nullptr;
    std::size_t* taken_ = nullptr;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool in_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '$';
}

// The end of white space and comments after `offset`; an unclosed comment is not skipped.
std::size_t skip_blank(std::string_view text, std::size_t offset) {
    while (offset < text.size()) {
        if (is_space(text[offset])) {
            ++offset;
        } else if (text.substr(offset, 2) == "//") {
            offset = std::min(text.find('\n', offset), text.size());
        } else if (text.substr(offset, 2) == "/*") {
            const auto end = text.find("*/", offset + 2);
            if (end == std::string_view::npos) return offset;
            offset = end + 2;
        } else {
            break;
        }
    }
    return offset;
}

std::size_t next_token(std::string_view text, std::size_t offset) {
    for (;;) {
        offset = skip_blank(text, offset);
        if (offset >= text.size() || (text[offset] != ',' && text[offset] != ':')) return offset;
        ++offset;
    }
}

// Line and column of offsets that are asked for in rising order.
class Cursor {
public:
    Cursor(std::string_view text, std::size_t begin) : text_(text), offset_(begin) {}

    void advance_to(std::size_t offset) {
        for (; offset_ < offset; ++offset_) {
            const auto c = static_cast<unsigned char>(text_[offset_]);
            if (c == '\n') {
                ++line;
                column = 1;
            } else if ((c & 0xC0) != 0x80) {  // not the continuation of a character
                ++column;
            }
        }
    }

    int line = 1, column = 1;

private:
    std::string_view text_;
    std::size_t offset_;
};

struct Advice {
    std::string happened, remedy;
};

// Advice on the text at `token`, on which the parser stumbled with `complaint`.
Advice advise(std::string_view text, std::size_t token, std::string complaint) {
    const std::string_view rest = text.substr(token);
    std::string_view word =
        rest.substr(0, static_cast<std::size_t>(
                           std::find_if_not(rest.begin(), rest.end(), in_word) - rest.begin()));
    const char first = rest.empty() ? '\0' : rest.front();
    std::size_t before = token;
    while (before > 0 && is_space(text[before - 1])) --before;
    const char previous = before > 0 ? text[before - 1] : '\0';

    const auto contains = [&](std::string_view part) {
        return complaint.find(part) != std::string::npos;
    };
    std::string bare(word.substr(word.starts_with('-') ? 1 : 0));
    std::ranges::transform(bare, bare.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (bare == "nan" || bare == "inf" || bare == "infinity") {
        return {fmt::format("{} is not a number that can be used", word), "write a finite number"};
    }
    if (contains("UTF-8")) return {"the text is not UTF-8", "save the file as UTF-8"};
    if (contains("invalid comment")) return {"a comment is not closed", "write */ at its end"};
    if (contains("control character")) {
        return {"a control character or the end of the line within a string",
                "close the string with \", or write \\n or \\t"};
    }
    if (contains("missing closing quote")) return {"a string is not closed", "write \" at its end"};
    if (contains("escap") || contains("backslash") || contains("surrogate") || contains("\\u")) {
        return {"a wrong escape within a string",
                "write \\\\ for a backslash, \\u with four digits"};
    }
    if (rest.empty()) return {"the text ends too early", ""};
    if (first == '\'') return {"strings stand in double quotes", "write \" instead of '"};
    if ((first == ']' || first == '}') && previous == ',') {
        return {fmt::format("a comma before '{}'", first), "remove the comma"};
    }
    if (contains("expected end of input")) {
        return {"there is text after the end of the document", "remove it, or check the brackets"};
    }
    if (first == '=' || (contains("expected ':'") && first != ',' && first != '}')) {
        return {"':' is missing after a key", "write \"key\": value"};
    }
    if (first == '+' || first == '.' || (in_number(first) && contains("invalid number"))) {
        return {"a number is written wrongly", "write for instance 0.5, -2 or 1e-3"};
    }
    const bool value_here = first == '"' || first == '{' || first == '[' || in_word(first);
    if (value_here && (contains("expected '}'") || contains("expected ']'"))) {
        return {
            "',' is missing before " + (word.empty() ? fmt::format("'{}'", first) : shown(word)),
            "write a comma between two items"};
    }
    if (!word.empty()) {
        return {fmt::format("{} is no JSON value", shown(word)),
                "put names and text in double quotes"};
    }
    return {fmt::format("{} was not expected here", shown(rest.substr(0, 1))),
            "check commas and brackets"};
}

}  // namespace

class TreeBuilder {
public:
    using Json = nlohmann::json;

    TreeBuilder(std::string_view text, std::string file, const Limits& limits)
        : text_(text),
          limits_(limits),
          begin_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0),
          previous_end_(begin_),
          cursor_(text, begin_) {
        root_ = std::make_unique<Node>();
        root_->origin_ = std::make_shared<const Node::Origin>(Node::Origin{std::move(file), {}});
    }

    std::unique_ptr<Node> build() {
        const CountingIterator first(text_.data(), &taken_);
        const CountingIterator last(text_.data() + text_.size(), &taken_);
        // Errors are thrown by parse_error below, so the result is always true here.
        Json::sax_parse(first, last, this, Json::input_format_t::json, true, true);
        return std::move(root_);
    }

    // ---- the events ----

    bool null() {
        begin_value(Kind::Null, taken_);
        return true;
    }

    bool boolean(bool value) {
        begin_value(Kind::Boolean, taken_).integer_ = value ? 1 : 0;
        return true;
    }

    bool number_integer(std::int64_t) { return number(); }
    bool number_unsigned(std::uint64_t) { return number(); }
    bool number_float(double, const std::string&) { return number(); }

    bool string(std::string& value) {
        begin_value(Kind::String, taken_).text_ = std::move(value);
        return true;
    }

    bool binary(Json::binary_t&) { return false; }

    bool start_object(std::size_t) { return open(Kind::Object); }
    bool start_array(std::size_t) { return open(Kind::Array); }

    bool key(std::string& name) {
        find_token();
        previous_end_ = taken_;
        open_.back()->children_->keys.push_back({std::move(name), cursor_.line, cursor_.column});
        return true;
    }

    bool end_object() {
        refuse_duplicates(*open_.back());
        return end_array();
    }

    bool end_array() {
        open_.pop_back();
        previous_end_ = taken_;
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const Json::exception& exception) {
        const std::string complaint = exception.what();
        std::size_t token = stumbled_at(complaint);
        // A number that overflows f64 is reported by the parser as an exception of its own.
        if (complaint.find("number overflow") != std::string::npos) {
            token = next_token(text_, previous_end_);
            refuse_number(token, "is too large for f64");
        }
        const Advice advice = advise(text_, token, complaint);
        // Within a string the place is the character, not the string's beginning.
        const bool unclosed = complaint.find("missing closing quote") != std::string::npos;
        if (token < text_.size() && text_[token] == '"' && taken_ > token + 1 && !unclosed &&
            complaint.find("invalid string") != std::string::npos) {
            token = taken_ - 1;
        }
        Error error = error_at(token, advice.happened);
        if (!advice.remedy.empty()) {
            error.remedy(advice.remedy);
        } else if (!open_.empty()) {
            const Node& innermost = *open_.back();
            error.remedy(fmt::format("close the '{}' that was opened in line {}, column {}",
                                     innermost.is_object() ? '{' : '[', innermost.line_,
                                     innermost.column_));
        } else {
            error.remedy("write a value, for instance {}");
        }
        throw error;
    }

private:
    // Moves the cursor to the token of this event.
    std::size_t find_token() {
        const std::size_t token = next_token(text_, previous_end_);
        cursor_.advance_to(token);
        return token;
    }

    Node& begin_value(Kind kind, std::size_t end) {
        const std::size_t token = find_token();
        previous_end_ = end;
        if (++values_ > limits_.values) {
            throw error_at(token,
                           fmt::format("the document has more than {} values", limits_.values))
                .remedy("keep large arrays in .npy files: {\"file\": \"x.npy\"}");
        }
        Node* node = root_.get();
        if (!open_.empty()) {
            Node& parent = *open_.back();
            parent.children_->items.push_back(std::make_unique<Node>());
            node = parent.children_->items.back().get();
            node->parent_ = &parent;
        }
        node->kind_ = kind;
        node->line_ = cursor_.line;
        node->column_ = cursor_.column;
        return *node;
    }

    bool open(Kind kind) {
        if (open_.size() >= static_cast<std::size_t>(max_depth)) {
            throw error_at(next_token(text_, previous_end_),
                           fmt::format("more than {} levels of nesting", max_depth))
                .remedy("write the document flatter");
        }
        Node& node = begin_value(kind, taken_);
        node.children_ = std::make_unique<Node::Children>();
        open_.push_back(&node);
        return true;
    }

    bool number() {
        const std::size_t token = next_token(text_, previous_end_);
        std::size_t end = token;
        while (end < text_.size() && in_number(text_[end])) ++end;
        const std::string_view written = text_.substr(token, end - token);
        const char* const last = written.data() + written.size();

        std::int64_t integer = 0;
        const auto whole = std::from_chars(written.data(), last, integer);
        if (whole.ec == std::errc() && whole.ptr == last && written != "-0") {
            Node& node = begin_value(Kind::Integer, end);
            node.integer_ = integer;
            node.text_ = written;
            return true;
        }
        double real = 0;
        const auto result = std::from_chars(written.data(), last, real);
        if (result.ec != std::errc() || result.ptr != last || !std::isfinite(real)) {
            const bool small = result.ec == std::errc::result_out_of_range && is_small(written);
            refuse_number(token, small ? "is too small for f64" : "is too large for f64");
        }
        Node& node = begin_value(Kind::Real, end);
        node.real_ = real;
        node.text_ = written;
        return true;
    }

    // For a number out of range: true if it is too small rather than too large.
    static bool is_small(std::string_view written) {
        const auto e = written.find_first_of("eE");
        if (e != std::string_view::npos) return written[e + 1] == '-';
        return written.starts_with("0.") || written.starts_with("-0.");
    }

    [[noreturn]] void refuse_number(std::size_t token, const char* why) {
        std::size_t end = token;
        while (end < text_.size() && in_number(text_[end])) ++end;
        std::string written(text_.substr(token, std::min<std::size_t>(end - token, 40)));
        if (end - token > 40) written += "...";
        throw error_at(token, fmt::format("the number {} {}", written, why))
            .remedy("f64 reaches from 4.9e-324 to 1.8e308");
    }

    // The token that the parser read last.
    std::size_t stumbled_at(const std::string& complaint) const {
        if (complaint.find("unexpected end of input") != std::string::npos) return text_.size();
        std::size_t token = skip_blank(text_, previous_end_);
        while (token < text_.size() && (text_[token] == ',' || text_[token] == ':')) {
            const std::size_t next = skip_blank(text_, token + 1);
            if (next >= taken_) break;
            token = next;
        }
        return token;
    }

    // All keys are compared at the object's end: sorting keeps this quick for any number of them.
    void refuse_duplicates(const Node& object) {
        const auto& keys = object.children_->keys;
        std::vector<std::size_t> order(keys.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            const int c = keys[a].name.compare(keys[b].name);
            return c != 0 ? c < 0 : a < b;
        });
        struct Twice {
            std::size_t first, second;
        };
        std::optional<Twice> twice;
        for (std::size_t k = 1; k < order.size(); ++k) {
            if (keys[order[k]].name == keys[order[k - 1]].name &&
                (!twice || order[k] < twice->second))
                twice = Twice{order[k - 1], order[k]};
        }
        if (!twice) return;
        throw fault_at_key(
            object, twice->second,
            fmt::format("the key {} is written twice", shown(keys[twice->second].name)))
            .remedy(fmt::format("remove one; the first stands in line {}, column {}",
                                keys[twice->first].line, keys[twice->first].column));
    }

    Error error_at(std::size_t offset, std::string happened) {
        cursor_.advance_to(offset);
        SourcePlace place = root_->place();
        place.line = cursor_.line;
        place.column = cursor_.column;
        Error error(std::move(happened));
        error.at(std::move(place));
        if (!open_.empty()) {
            // The pointer of the value under way, else that of the node around it.
            const Node& parent = *open_.back();
            std::string pointer = parent.pointer();
            if (parent.is_object() && parent.children_->keys.size() > parent.size()) {
                pointer += "/" + pointer_token(parent.children_->keys.back().name);
            }
            error.at_pointer(std::move(pointer));
        }
        return error;
    }

    std::string_view text_;
    const Limits& limits_;
    std::size_t begin_, taken_ = 0, previous_end_, values_ = 0;
    Cursor cursor_;
    std::unique_ptr<Node> root_;
    std::vector<Node*> open_;  // the arrays and objects under way, outermost first
};

Document Document::parse(std::string_view text, std::string file, const Limits& limits) {
    const auto refuse = [&](std::string happened, int line, int column) {
        Error error(std::move(happened));
        error.at({file, line, column});
        return error;
    };
    if (text.size() > limits.bytes) {
        throw refuse(
            fmt::format("the document has {} bytes, more than {}", text.size(), limits.bytes), 0, 0)
            .remedy("keep large arrays in .npy files: {\"file\": \"x.npy\"}");
    }
    // The parser would take a NUL for the end of the text.
    if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
        Cursor cursor(text, 0);
        cursor.advance_to(nul);
        throw refuse("a NUL byte in the text", cursor.line, cursor.column)
            .remedy("check that this is a JSON file in UTF-8");
    }
    Document document;
    document.file_ = file;
    document.root_ = TreeBuilder(text, std::move(file), limits).build();
    return document;
}

}  // namespace hindcast::document
