// Version, build type and compiler of this build.
//
// Shown by `hindcast --version` and `hindcast info`, and part of the keys of on-disk caches.
#pragma once

namespace hindcast {

const char* version();     // "0.1.0"
const char* build_type();  // "Release", "Debug", "Asan" or "Tsan"
const char* compiler();    // "GCC 12.2.0"

}  // namespace hindcast
