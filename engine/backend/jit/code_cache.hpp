// Compiled code kept on disk: $HINDCAST_CACHE, else $XDG_CACHE_HOME/hindcast, else
// ~/.cache/hindcast.
//
// One file per key, written beside and renamed. A file carries a format version, its key, its size
// and a checksum; whatever does not fit is as good as absent, with one warning. A cache that cannot
// be written costs a warning and nothing else, and so does one that others may write to: what lies
// there is run. HINDCAST_CACHE set to nothing turns it off. Entries that were not used for 30 days
// are removed, and those used longest ago where all together take more than 1 GiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/hash.hpp"

namespace hindcast::backend {

std::optional<std::string> read_cached(const Hash128& key);
void write_cached(const Hash128& key, std::string_view code) noexcept;
// The folder, for a library that was put beside the code; empty where there is none, or where
// others may write to it.
std::filesystem::path code_folder();
// Makes room: at most `limit` bytes of entries stay.
void sweep_cache(const std::filesystem::path& folder, std::uint64_t limit);

}  // namespace hindcast::backend
