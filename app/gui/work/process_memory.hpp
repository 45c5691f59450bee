// The memory that this process has, as the operating system counts it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace hindcast::gui {

// Resident bytes of this process; 0 where the system does not tell.
std::int64_t resident_bytes();
// What it may have at most: the machine's memory, or less where a control group says so. 0 where
// the system does not tell. `root` stands for "/" in tests.
std::int64_t most_bytes(const std::filesystem::path& root = "/");

// From here on the window warns: the rest of the machine needs memory too.
constexpr double large_share_of_memory = 0.5;
bool is_large(std::int64_t resident, std::int64_t most);

}  // namespace hindcast::gui
