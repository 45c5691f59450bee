// Whole files, read and written so that a failure harms nothing.
//
// Reading has a limit and takes regular files only: a scene that names a device or a pipe gives a
// message, not a hang. Writing goes to a new file beside the old one, which is then replaced in one
// step: readers see the old content or the new one, also after a crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hindcast {

// The content of a regular file. Throws Error when it cannot be read or has more than `limit`
// bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit = 1ull << 30);

// Replaces the file's content, or makes the file. A symbolic link keeps pointing at its target,
// which is replaced; the permissions of an old file are kept. Throws Error; the old file is then
// untouched and nothing is left beside it.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// A descriptor of a new file in the folder that has no name, so that it is gone with the descriptor;
// or -1, and errno says why.
int open_unnamed_file(const std::filesystem::path& folder);

// Removes the new files that write_file_atomically() of processes that are no more left in a
// folder. Files that cannot be removed stay.
void remove_abandoned_files(const std::filesystem::path& folder) noexcept;

}  // namespace hindcast
