// Finding and replacing words in a text, by bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hindcast::session {

// The offsets of the word, each behind the end of the one before; none for an empty word. Without
// `match_case` ASCII letters are equal to their capitals.
std::vector<std::size_t> occurrences(std::string_view text, std::string_view word, bool match_case);

// The text with every one of them replaced.
std::string replaced(std::string_view text, std::string_view word, std::string_view by,
                     bool match_case);

}  // namespace hindcast::session
