// Memory for arrays: zeroed, aligned to 64 bytes, and counted.
//
// Blocks of 4 MiB and more come straight from the system with a hint for huge pages; they cost
// nothing until touched, and the thread that touches a page first decides where it lies.
// memory_use() counts every byte that is allocated here: it is what the memory report prints and
// what tests hold against a plan.
//
// With HINDCAST_GUARD_PAGES=front or =end in the environment every block lies flush against a page
// that nothing may touch: begins right behind one, or ends right before one. An access outside of a
// block then ends the program at once. This is slow, and meant for tests. Each such block takes
// mappings of the system's, which are limited: a warning says when there are so many blocks at a
// time that further ones lie in ordinary memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace hindcast {

// The position of guard pages beside blocks. Read from the environment at the first call; throws
// Error if it says something else than "front", "end" or nothing.
enum class GuardPages { none, front, end };
GuardPages guard_pages();

// Alignment of every block: a cache line, and a whole vector register of any width. With guard
// pages at the end it is only the largest power of two, up to 8 bytes, that divides the size.
inline constexpr std::size_t memory_alignment = 64;
// So many bytes behind every block may be read, whatever stands there: three components may be
// loaded as four. None with guard pages at the end, and none behind memory that was allocated
// elsewhere.
std::size_t readable_behind();

struct MemoryUse {
    std::int64_t current = 0;      // bytes allocated now
    std::int64_t peak = 0;         // the most since the start or the last reset
    std::int64_t allocations = 0;  // blocks ever allocated
};

MemoryUse memory_use();  // of the whole process
// Bytes that this thread has allocated, less those it has freed: what it does between two calls
// takes their difference, whatever other threads do meanwhile. May be negative.
std::int64_t memory_use_of_thread();
// Memory of a device that stands for memory of the host counts as well.
void count_memory(std::size_t bytes);
void count_freed(std::size_t bytes) noexcept;
void reset_memory_peak();  // the peak becomes what is allocated now

// A zeroed block of at least `bytes`; throws Error when there is not that much memory. Zero bytes
// give a null pointer.
void* allocate_aligned(std::size_t bytes);
void free_aligned(void* block, std::size_t bytes) noexcept;

// `count` elements of T, zeroed. Moves, never copies by accident.
template <class T>
class AlignedBuffer {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= memory_alignment);

public:
    AlignedBuffer() = default;
    explicit AlignedBuffer(std::size_t count)
        : data_(static_cast<T*>(allocate_aligned(bytes_for(count)))), size_(count) {}
    ~AlignedBuffer() { free_aligned(data_, size_ * sizeof(T)); }

    AlignedBuffer(AlignedBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    std::span<T> span() { return {data_, size_}; }
    std::span<const T> span() const { return {data_, size_}; }

private:
    // Saturates, so that an absurd count fails in the allocation and not by wrapping round.
    static std::size_t bytes_for(std::size_t count) {
        return count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace hindcast
