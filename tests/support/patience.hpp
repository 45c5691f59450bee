// How much longer tests wait where a sanitizer slows everything down.
#pragma once

namespace hindcast::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double patience = 10;
#else
inline constexpr double patience = 1;
#endif

}  // namespace hindcast::test
