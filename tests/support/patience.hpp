// Longer waits where a sanitizer slows everything down, and whole sweeps for --full.
#pragma once

#include <cstdlib>

namespace hindcast::test {

// True under tests/run --full, which runs whole sweeps; tests/run takes a part of them.
inline bool full() { return std::getenv("HINDCAST_FULL") != nullptr; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double patience = 10;
#else
inline constexpr double patience = 1;
#endif

}  // namespace hindcast::test
