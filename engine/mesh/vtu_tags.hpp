// The tags of a VTU file's XML, one after the other. Entities and nesting are not looked at: VTK's
// files need neither.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/document/text.hpp"
#include "engine/mesh/source.hpp"

namespace hindcast::mesh {

struct Tag {
    std::string_view name;  // "/Points" for the end of an element
    std::map<std::string_view, std::string_view> attributes;
    bool closed = false;  // "<Tag/>"
    std::size_t at = 0;

    std::string_view get(std::string_view key) const {
        const auto found = attributes.find(key);
        return found == attributes.end() ? std::string_view() : found->second;
    }
};

// The tags of a text, one after the other; comments and declarations are passed over.
class Tags {
public:
    explicit Tags(std::string_view text) : text_(text) {}

    Error error(std::size_t at, const std::string& happened,
                const std::string& remedy = damaged) const {
        Source place(text_);
        place.move_to(std::min(at, text_.size()));
        return place.error(happened, remedy);
    }

    // Empty at the end.
    std::optional<Tag> next() {
        while (true) {
            const std::size_t open = text_.find('<', at_);
            if (open == std::string_view::npos) return std::nullopt;
            for (const auto& [begin, end] :
                 {std::pair<std::string_view, std::string_view>{"<!--", "-->"},
                  {"<?", "?>"},
                  {"<!", ">"}})
                if (text_.substr(open).starts_with(begin)) {
                    at_ = text_.find(end, open);
                    if (at_ == std::string_view::npos)
                        throw error(open, "the file ends in a comment");
                    break;
                }
            if (at_ > open) continue;
            at_ = open + 1;
            return read(open);
        }
    }
    // The text between a tag and the next one.
    std::string_view text_here() const {
        return text_.substr(at_, std::min(text_.find('<', at_), text_.size()) - at_);
    }
    std::size_t position() const { return at_; }

private:
    static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

    Tag read(std::size_t open) {
        Tag tag;
        tag.at = open;
        const auto skip_space = [&] {
            while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        };
        const auto name = [&] {
            const std::size_t begin = at_;
            while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '=' &&
                   text_[at_] != '>' && (text_[at_] != '/' || at_ == begin))
                ++at_;
            return text_.substr(begin, at_ - begin);
        };
        tag.name = name();
        while (true) {
            skip_space();
            if (at_ >= text_.size()) throw error(open, "the file ends in a tag");
            if (text_[at_] == '>') {
                ++at_;
                return tag;
            }
            if (text_[at_] == '/') {
                tag.closed = true;
                ++at_;
                continue;
            }
            const std::string_view key = name();
            skip_space();
            if (at_ + 1 >= text_.size() || text_[at_] != '=' || key.empty())
                throw error(open,
                            fmt::format("the tag {} is malformed", document::shown(tag.name)));
            ++at_;
            skip_space();
            const char quote = at_ < text_.size() ? text_[at_] : ' ';
            const std::size_t end = text_.find(quote, at_ + 1);
            if ((quote != '"' && quote != '\'') || end == std::string_view::npos)
                throw error(open,
                            fmt::format("the tag {} is malformed", document::shown(tag.name)));
            tag.attributes[key] = text_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace hindcast::mesh
