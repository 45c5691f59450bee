// Replaces the global operator new and delete by counting ones over malloc.
#include "tests/support/memory/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/base/aligned.hpp"

namespace {

std::atomic<std::int64_t> count{0};

void* counted(void* block) {
    if (block == nullptr) throw std::bad_alloc();
    count.fetch_add(1, std::memory_order_relaxed);
    return block;
}

}  // namespace

std::int64_t hindcast::test::allocations() { return count + hindcast::memory_use().allocations; }

// Every form, since the sanitizers bring forms of their own that would not go through these.
void* operator new(std::size_t size) { return counted(std::malloc(size > 0 ? size : 1)); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    count.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(size > 0 ? size : 1);
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
    return operator new(size, tag);
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return operator new(size, alignment);
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
