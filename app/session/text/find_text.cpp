#include "app/session/text/find_text.hpp"

#include <algorithm>

namespace hindcast::session {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return result;
}

}  // namespace

std::vector<std::size_t> occurrences(std::string_view text, std::string_view word,
                                     bool match_case) {
    std::vector<std::size_t> found;
    if (word.empty()) return found;
    const std::string in = match_case ? std::string(text) : lower(text),
                      wanted = match_case ? std::string(word) : lower(word);
    for (std::size_t at = in.find(wanted); at != std::string::npos;
         at = in.find(wanted, at + wanted.size()))
        found.push_back(at);
    return found;
}

std::string replaced(std::string_view text, std::string_view word, std::string_view by,
                     bool match_case) {
    std::string result;
    std::size_t done = 0;
    for (const std::size_t at : occurrences(text, word, match_case)) {
        result.append(text.substr(done, at - done)).append(by);
        done = at + word.size();
    }
    return result.append(text.substr(done));
}

}  // namespace hindcast::session
