#include "engine/backend/jit/code_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/base/log.hpp"

namespace hindcast::backend {

namespace {

namespace fs = std::filesystem;
using std::chrono::hours;

constexpr std::uint64_t size_limit = std::uint64_t{1} << 28;
constexpr std::uint64_t total_limit = std::uint64_t{1} << 30;
constexpr hours kept_for{30 * 24}, touched_after{24};
constexpr const char* extension = ".code";

struct Header {
    char magic[8] = {'h', 'i', 'n', 'd', 'c', 'o', 'd', 'e'};
    std::uint64_t format = 1;
    Hash128 key, checksum;
    std::uint64_t size = 0;
    std::uint64_t reserved = 0;
};
static_assert(sizeof(Header) == 64);

// Empty: no cache.
fs::path folder() {
    if (const char* own = std::getenv("HINDCAST_CACHE")) return own;
    if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches != nullptr && *caches == '/')
        return fs::path(caches) / "hindcast";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return fs::path(home) / ".cache" / "hindcast";
    return {};
}

void warn_once(const fs::path& where, const std::string& why) {
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true))
        log_warning("kernel cache {}: {}; kernels are compiled again", where.string(), why);
}

// Code from the folder is run unchecked, so no other user may have write access to it.
std::string why_not_trusted(const fs::path& where) {
    struct stat status = {};
    if (::stat(where.c_str(), &status) != 0) return "";  // it is not there yet
    if (status.st_uid != ::geteuid()) return "it belongs to another user";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "others may write to it (chmod go-w makes it usable)";
    return "";
}

// The folder, if there is one and it may be used.
fs::path trusted_folder() {
    fs::path where = folder();
    if (where.empty()) return {};
    const std::string why = why_not_trusted(where);
    if (why.empty()) return where;
    warn_once(where, why);
    return {};
}

// Once per process, before the first write: removes entries that were not used for long, and then
// the least recently used ones until the rest fits.
void sweep(const fs::path& where) {
    static std::atomic<bool> swept{false};
    if (!swept.exchange(true)) sweep_cache(where, total_limit);
}

}  // namespace

fs::path code_folder() { return trusted_folder(); }

void sweep_cache(const fs::path& where, std::uint64_t limit) {
    struct Entry {
        fs::file_time_type used;
        std::uint64_t size;
        fs::path path;
    };
    std::vector<Entry> entries;
    std::uint64_t total = 0;
    std::error_code ignored;
    for (const fs::directory_entry& file : fs::directory_iterator(where, ignored)) {
        if (file.path().extension() != extension || !file.is_regular_file(ignored)) continue;
        const auto used = file.last_write_time(ignored);
        if (ignored) continue;
        const std::uint64_t size = file.file_size(ignored);
        if (ignored) continue;
        entries.push_back({used, size, file.path()});
        total += size;
    }
    std::ranges::sort(entries, {}, &Entry::used);
    const auto now = fs::file_time_type::clock::now();
    for (const Entry& entry : entries) {
        if (total <= limit && now - entry.used <= kept_for) break;
        fs::remove(entry.path, ignored);
        total -= entry.size;
    }
}

std::optional<std::string> read_cached(const Hash128& key) {
    const fs::path where = trusted_folder();
    if (where.empty()) return std::nullopt;
    const fs::path file = where / (to_string(key) + extension);
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    try {
        std::string content = read_file(file, size_limit);
        Header header;
        const Header expected;
        if (content.size() < sizeof header) throw Error("an entry is cut off");
        std::memcpy(&header, content.data(), sizeof header);
        content.erase(0, sizeof header);
        if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
            header.format != expected.format || header.key != key || header.reserved != 0)
            throw Error("an entry is not ours");
        if (header.size != content.size() || header.checksum != hash_text(content))
            throw Error("an entry is damaged");
        const auto now = fs::file_time_type::clock::now();
        if (now - fs::last_write_time(file, ignored) > touched_after)
            fs::last_write_time(file, now, ignored);
        return content;
    } catch (const std::exception& error) {
        warn_once(where, error.what());
        fs::remove(file, ignored);
        return std::nullopt;
    }
}

void write_cached(const Hash128& key, std::string_view code) noexcept {
    fs::path where;
    try {
        where = trusted_folder();
        if (where.empty()) return;
        if (!fs::exists(where)) {
            fs::create_directories(where);
            fs::permissions(where, fs::perms::owner_all);
        }
        Header header;
        header.key = key;
        header.checksum = hash_text(code);
        header.size = code.size();
        // Written beside and renamed. Not forced to the disk: what a crash damages is found by its
        // checksum.
        static std::atomic<unsigned> counter{0};
        const fs::path name = where / (to_string(key) + extension);
        const fs::path beside = where / (to_string(key) + "-" + std::to_string(::getpid()) + "-" +
                                         std::to_string(counter++) + extension);
        std::ofstream file(beside, std::ios::binary);
        file.write(reinterpret_cast<const char*>(&header), sizeof header)
            .write(code.data(), static_cast<std::streamsize>(code.size()));
        file.close();
        std::error_code failure;
        if (file) fs::rename(beside, name, failure);
        if (!file || failure) {
            fs::remove(beside, failure);
            throw Error("an entry cannot be written");
        }
        sweep(where);
    } catch (const std::exception& error) {
        warn_once(where, error.what());
    }
}

}  // namespace hindcast::backend
