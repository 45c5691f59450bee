// Compiled code kept on disk: $HINDCAST_CACHE, else $XDG_CACHE_HOME/hindcast, else
// ~/.cache/hindcast.
//
// One file per key, written beside and renamed. A file carries a format version, its key, its size
// and a checksum; whatever does not fit is as good as absent, with one warning. A cache that cannot
// be written costs a warning and nothing else. HINDCAST_CACHE set to nothing turns it off. Entries
// that were not used for 30 days are removed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/hash.hpp"

namespace hindcast::backend {

std::optional<std::string> read_cached(const Hash128& key);
void write_cached(const Hash128& key, std::string_view code) noexcept;

}  // namespace hindcast::backend
