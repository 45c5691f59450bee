#include "engine/base/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace hindcast {

namespace {
#ifdef MADV_POPULATE_WRITE
constexpr int populate_write = MADV_POPULATE_WRITE;
#else
constexpr int populate_write = 23;  // Linux 5.14; older headers do not name it
#endif
}  // namespace

void populate(void* block, std::size_t bytes) {
    if (bytes == 0) return;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::size_t before = reinterpret_cast<std::uintptr_t>(block) % page;  // on its first page
    if (madvise(static_cast<char*>(block) - before, before + bytes, populate_write) == 0) return;
    // An older system: one write to each page that lies in the block.
    auto* const bytes_of = static_cast<volatile char*>(block);
    for (std::size_t at = 0; at < bytes; at += page) bytes_of[at] = bytes_of[at];
    bytes_of[bytes - 1] = bytes_of[bytes - 1];
}

}  // namespace hindcast
