// Long runs of tests: HINDCAST_FULL=1, as in the parts of tests/run --full. HINDCAST_SHARE=2/4 leaves
// the second of four shares of such a run to this process: of items that are counted from 0 (seeds,
// functions) every fourth one.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hindcast::test {

inline bool full() { return std::getenv("HINDCAST_FULL") != nullptr; }

// With `share` such as "2/4"; null: all items belong to this process.
inline bool in_share(std::uint64_t item, const char* share = std::getenv("HINDCAST_SHARE")) {
    if (share == nullptr) return true;
    const std::string_view text(share);
    std::uint64_t number = 0, of = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, number);
    const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
    if (!slash || std::from_chars(first.ptr + 1, end, of).ptr != end || number < 1 || number > of)
        throw std::invalid_argument("HINDCAST_SHARE must be such as 2/4, not '" +
                                    std::string(text) + "'");
    return item % of == number - 1;
}

}  // namespace hindcast::test
