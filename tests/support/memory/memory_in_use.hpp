// Bytes of memory that this process holds now, for tests that nothing grows: what is resident. The
// address sanitizer keeps what was freed for a while; with it, what is allocated.
//
//     const std::int64_t before = hindcast::test::memory_in_use();
//     for (int k = 0; k < 1000; ++k) draw();
//     CHECK(hindcast::test::memory_in_use() - before < 10 << 20);
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#if defined(__SANITIZE_ADDRESS__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // GCC has no header for it
#endif

namespace hindcast::test {

inline std::int64_t memory_in_use() {
#if defined(__SANITIZE_ADDRESS__)
    return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
#else
    ::malloc_trim(0);  // what was freed goes back to the system
    std::int64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
#endif
}

}  // namespace hindcast::test
