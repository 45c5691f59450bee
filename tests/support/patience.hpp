// How much longer tests wait where a sanitizer slows everything down, and how much they do.
#pragma once

#include <cstdlib>

namespace hindcast::test {

// Whether this is tests/run --full, which does all of what tests/run does a part of.
inline bool full() { return std::getenv("HINDCAST_FULL") != nullptr; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double patience = 10;
#else
inline constexpr double patience = 1;
#endif

}  // namespace hindcast::test
