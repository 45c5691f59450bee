// Small blocks come from the C library, large ones from mmap, so that untouched pages cost nothing.
// With guard pages all come from mmap.
#include "engine/base/aligned.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/base/error.hpp"
#include "engine/base/log.hpp"
#include "engine/base/pages.hpp"

namespace hindcast {

namespace {

constexpr std::size_t large_block = std::size_t{4} << 20;
constexpr std::size_t huge_page = std::size_t{2} << 20;
// Larger blocks begin at a page. Processors compare the last 12 bits of addresses to tell whether a
// load must wait for a store: kernels that walk through several arrays at the same index are up to
// a third slower where arrays lie a few cache lines apart in them.
constexpr std::size_t page_block = std::size_t{16} << 10;
constexpr std::size_t page = 4096;
// No machine has this much; sums of sizes below it cannot wrap round.
constexpr std::size_t largest_block = std::size_t{1} << 47;

// Smaller blocks are not worth the question what is free.
constexpr std::size_t asked_about = std::size_t{1} << 30;

std::atomic<std::int64_t> current_bytes{0}, peak_bytes{0}, allocation_count{0};
thread_local std::int64_t bytes_of_thread = 0;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

[[noreturn]] void fail(std::size_t bytes) {
    throw Error("cannot allocate " + std::to_string(bytes >> 20) + " MiB: out of memory")
        .note("allocated so far: " + std::to_string(current_bytes.load() >> 20) + " MiB")
        .remedy("use fewer elements, fewer steps, or a smaller memory budget for checkpoints");
}

GuardPages read_guard_pages() {
    const char* const asked = std::getenv("HINDCAST_GUARD_PAGES");
    const std::string_view word = asked != nullptr ? asked : "";
    if (word.empty()) return GuardPages::none;
    if (word == "front") return GuardPages::front;
    if (word == "end") return GuardPages::end;
    throw Error("HINDCAST_GUARD_PAGES is \"" + std::string(word) + "\"")
        .remedy("set it to front or to end, or unset it");
}

// [guard page] [block, whole pages] [guard page]; null where the system has no more mappings.
void* map_guarded(std::size_t bytes) {
    const std::size_t inner = round_up(bytes + readable_behind(), page);
    void* const raw = mmap(nullptr, inner + 2 * page, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    char* const first = static_cast<char*>(raw) + page;
    if (mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(raw, inner + 2 * page);
        return nullptr;
    }
    return guard_pages() == GuardPages::front ? first : first + inner - bytes;
}

void unmap_guarded(void* block, std::size_t bytes) {
    char* const first = static_cast<char*>(block) - reinterpret_cast<std::uintptr_t>(block) % page;
    munmap(first - page, round_up(bytes + readable_behind(), page) + 2 * page);
}

// Linux gives a process 65530 mappings, and a guarded block takes up to three.
constexpr int most_guarded = 15000;
struct Guarded {
    std::mutex mutex;
    int count = 0;
    std::unordered_set<void*> ordinary;  // blocks beyond
};
Guarded& guarded() {
    static auto* const all = new Guarded;  // blocks are freed until the program ends
    return *all;
}

void* allocate_ordinary(std::size_t bytes) {
    const std::size_t alignment = bytes >= page_block ? page : memory_alignment;
    const std::size_t rounded = round_up(bytes + readable_behind(), alignment);
    void* const block = std::aligned_alloc(alignment, rounded);
    if (block != nullptr) std::memset(block, 0, rounded);
    return block;
}

void* allocate_guarded(std::size_t bytes) {
    Guarded& g = guarded();
    const std::lock_guard lock(g.mutex);
    if (g.count < most_guarded) {
        void* const block = map_guarded(bytes);
        if (block != nullptr) ++g.count;
        return block;
    }
    void* const block = allocate_ordinary(bytes);
    if (block == nullptr) return nullptr;
    static bool is_said = false;
    if (!std::exchange(is_said, true))
        log_warning("guard pages: there are {} blocks at a time; further ones have none",
                    most_guarded);
    g.ordinary.insert(block);
    return block;
}

void free_guarded(void* block, std::size_t bytes) {
    Guarded& g = guarded();
    const std::lock_guard lock(g.mutex);
    if (g.ordinary.erase(block) > 0) return std::free(block);
    unmap_guarded(block, bytes);
    --g.count;
}

// Whole huge pages, beginning at one, and a page behind them: maps one huge page more and gives
// back what stands over.
void* map_large(std::size_t bytes) {
    const std::size_t mapped = bytes + huge_page;
    void* const raw =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    auto* const first = static_cast<char*>(raw);
    const std::size_t before =
        (huge_page - reinterpret_cast<std::uintptr_t>(first) % huge_page) % huge_page;
    if (before > 0) munmap(first, before);
    if (huge_page - before > page) munmap(first + before + bytes + page, huge_page - before - page);
    madvise(first + before, bytes, MADV_HUGEPAGE);  // a hint: failure does not matter
    return first + before;
}

}  // namespace

GuardPages guard_pages() {
    static const GuardPages mode = read_guard_pages();
    return mode;
}

std::size_t readable_behind() { return guard_pages() == GuardPages::end ? 0 : 16; }

MemoryUse memory_use() {
    return {current_bytes.load(), peak_bytes.load(), allocation_count.load()};
}

std::int64_t memory_use_of_thread() { return bytes_of_thread; }

void reset_memory_peak() { peak_bytes.store(current_bytes.load()); }

void count_memory(std::size_t bytes) {
    const auto counted = static_cast<std::int64_t>(bytes);
    bytes_of_thread += counted;
    const std::int64_t now = current_bytes.fetch_add(counted) + counted;
    std::int64_t peak = peak_bytes.load();
    while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
    }
}

void count_freed(std::size_t bytes) noexcept {
    bytes_of_thread -= static_cast<std::int64_t>(bytes);
    current_bytes.fetch_sub(static_cast<std::int64_t>(bytes));
}

void* allocate_aligned(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    // A system that promises more than it has would end the program while it fills the block.
    if (bytes > largest_block ||
        (bytes > asked_about && !lack_of_memory(static_cast<double>(bytes)).empty()))
        fail(bytes);
    void* block = nullptr;
    if (guard_pages() != GuardPages::none) {
        block = allocate_guarded(bytes);
    } else if (bytes >= large_block) {
        block = map_large(round_up(bytes, huge_page));
    } else {
        block = allocate_ordinary(bytes);
    }
    if (block == nullptr) fail(bytes);
    count_memory(bytes);
    allocation_count.fetch_add(1);
    return block;
}

// NOLINTNEXTLINE(bugprone-exception-escape): see below
void free_aligned(void* block, std::size_t bytes) noexcept {
    if (block == nullptr) return;
    // The first allocation has read the environment, so that nothing is thrown here.
    if (guard_pages() != GuardPages::none) {
        free_guarded(block, bytes);
    } else if (bytes >= large_block) {
        munmap(block, round_up(bytes, huge_page) + page);
    } else {
        std::free(block);
    }
    count_freed(bytes);
}

}  // namespace hindcast
