// The version comes from project() in CMakeLists.txt, as definitions for this file alone, so that a
// new version recompiles one file.
#include "engine/base/version.hpp"

namespace hindcast {

const char* version() { return HINDCAST_VERSION; }

const char* build_type() { return HINDCAST_BUILD; }

const char* compiler() {
#if defined(__clang__)
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

}  // namespace hindcast
