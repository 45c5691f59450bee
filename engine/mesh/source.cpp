#include "engine/mesh/source.hpp"

#include <algorithm>
#include <charconv>

#include "engine/document/text.hpp"

namespace hindcast::mesh {

namespace {
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
}  // namespace

Error Source::error(const std::string& happened, const std::string& remedy) const {
    const std::size_t begin = std::min(begin_, content_.size());
    const std::string place =
        binary ? fmt::format("byte {}", begin)
               : fmt::format(
                     "line {}",
                     first_line_ + std::count(content_.begin(),
                                              content_.begin() + static_cast<std::ptrdiff_t>(begin),
                                              '\n'));
    Error error(place + ": " + happened);
    error.remedy(remedy);
    return error;
}

Error Source::ended(const char* what) const {
    return error(fmt::format("the file ends before {}", what));
}

Error Source::no_number(const char* what) const {
    return error(fmt::format("expected {}, found {}", what,
                             document::shown(content_.substr(begin_, at_ - begin_))),
                 damaged);
}

void Source::skip_space() {
    while (at_ < content_.size() && is_space(content_[at_])) ++at_;
}

std::string_view Source::word() {
    skip_space();
    begin_ = at_;
    while (at_ < content_.size() && !is_space(content_[at_])) ++at_;
    return content_.substr(begin_, at_ - begin_);
}

std::string_view Source::peek() {
    const std::size_t at = at_;
    const std::string_view found = word();
    at_ = at;
    return found;
}

void Source::expect(std::string_view wanted) {
    const std::string_view found = word();
    if (found == wanted) return;
    binary = false;
    if (found.empty()) throw ended(std::string(wanted).c_str());
    throw error(fmt::format("{} is expected, found {}", wanted, document::shown(found)));
}

std::string_view Source::line() {
    begin_ = at_;
    const std::size_t end = std::min(content_.find('\n', at_), content_.size());
    std::string_view found = content_.substr(at_, end - at_);
    at_ = std::min(end + 1, content_.size());
    while (!found.empty() && is_space(found.back())) found.remove_suffix(1);
    return found;
}

double Source::real(const char* what) {
    const std::string_view text = word();
    if (text.empty()) throw ended(what);
    double value = 0;
    const char* const first = text.data() + (text.front() == '+' ? 1 : 0);
    const auto [end, fault] = std::from_chars(first, text.data() + text.size(), value);
    if (end != text.data() + text.size() || fault != std::errc()) throw no_number(what);
    return value;
}

std::int64_t Source::integer(const char* what) {
    const std::string_view text = word();
    if (text.empty()) throw ended(what);
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || fault != std::errc()) throw no_number(what);
    return value;
}

}  // namespace hindcast::mesh
