#include "engine/base/pages.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace hindcast {

namespace {
#ifdef MADV_POPULATE_WRITE
constexpr int populate_write = MADV_POPULATE_WRITE;
#else
constexpr int populate_write = 23;  // Linux 5.14; older headers do not name it
#endif

std::optional<std::int64_t> number_in(const char* file, std::string_view key = {}) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (!line.starts_with(key)) continue;
        const std::size_t digit = line.find_first_of("0123456789", key.size());
        std::int64_t number = 0;
        if (digit == std::string::npos ||
            std::from_chars(line.data() + digit, line.data() + line.size(), number).ec !=
                std::errc())
            return std::nullopt;
        return number;
    }
    return std::nullopt;
}

}  // namespace

std::int64_t free_memory() {
    std::int64_t bytes = 0;
    if (const auto available = number_in("/proc/meminfo", "MemAvailable:"))
        bytes = *available * 1024;
    else
        bytes = static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    const auto limit = number_in("/sys/fs/cgroup/memory.max"),
               used = number_in("/sys/fs/cgroup/memory.current");
    if (!limit || !used) return bytes;
    // The group counts the system's copies of files, which make room where it is needed.
    const char* const statistics = "/sys/fs/cgroup/memory.stat";
    const std::int64_t cached = number_in(statistics, "inactive_file ").value_or(0) +
                                number_in(statistics, "active_file ").value_or(0);
    return std::min(bytes, std::max<std::int64_t>(*limit - *used + cached, 0));
}

std::string lack_of_memory(double bytes) {
    const auto swap = number_in("/proc/meminfo", "SwapFree:").value_or(0) * 1024;
    const std::int64_t free = free_memory();
    if (bytes <= static_cast<double>(free + swap)) return "";
    constexpr double gibibyte = 1 << 30;
    return fmt::format("about {:.3g} GiB, and {:.3g} GiB are free", bytes / gibibyte,
                       static_cast<double>(free) / gibibyte);
}

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
