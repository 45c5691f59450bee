#include "tests/cuda_driver/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

namespace software_cuda {

namespace {

// Whole huge pages: their protection is changed fast.
constexpr std::size_t alignment = 256, page = std::size_t{2} << 20, small_page = 4096;
constexpr std::uint64_t fresh = 0xfff7a5a5fff7a5a5u, gone = 0x7ff7dead7ff7deadu,
                        guard = 0xfff6b0b0fff6b0b0u;

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }
bool guarded(const char* where) {
    const char* const asked = std::getenv("HINDCAST_GUARD_PAGES");
    return asked != nullptr && std::string_view(asked) == where;
}
// Whether each allocation has pages of its own, with an inaccessible one on either side; and
// whether it ends at the latter of them, not begins at the former.
const bool at_end = guarded("end"), has_pages = at_end || guarded("front");

// An allocation's place: with a guard of at least `alignment` bytes, or a page, behind it.
std::size_t block_of(std::size_t bytes) {
    return has_pages ? rounded(bytes, small_page) + small_page
                     : rounded(bytes, alignment) + alignment;
}
Address begin_of_block(Address address) {
    return has_pages ? address / small_page * small_page : address;
}

template <class T>
T* pointer(Address address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}
void fill_words(Address at, std::size_t bytes, std::uint64_t word) {
    for (std::size_t k = 0; k < bytes; k += sizeof word)
        std::memcpy(pointer<char>(at + k), &word, std::min(sizeof word, bytes - k));
}

}  // namespace

DeviceMemory::~DeviceMemory() {
    while (!imported_.empty()) forget_import(imported_.begin()->first);
    if (range_ != nullptr) ::munmap(range_, reserved_);
}

void DeviceMemory::reserve() {
    for (reserved_ = std::size_t{64} << 30; reserved_ >= std::size_t{1} << 28; reserved_ /= 2) {
        void* const range = ::mmap(nullptr, reserved_, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) continue;
        range_ = range;
        base_ = top_ = rounded(reinterpret_cast<Address>(range), page);
        if (has_pages) top_ += small_page;
        ::madvise(pointer<void>(base_), reserved_ - page, MADV_HUGEPAGE);
        return;
    }
    reserved_ = 0;
}

Address DeviceMemory::allocate(std::size_t bytes, std::size_t limit) {
    if (base_ == 0) reserve();
    const std::size_t need = rounded(bytes, alignment), block = block_of(bytes);
    if (need < bytes || need > limit || used_ > limit - need) return 0;
    Address address = 0;
    const auto hole =
        std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second >= block; });
    if (hole != free_.end()) {
        const auto [at, size] = *hole;
        free_.erase(hole);
        if (size > block) free_[at + block] = size - block;
        address = at;
    } else {
        if (base_ == 0 || block > base_ + reserved_ - page - top_) return 0;
        address = top_;
        top_ += block;
    }
    if (at_end) address += rounded(bytes, small_page) - bytes;
    if (has_pages && open_) {
        protect(address, bytes, PROT_READ | PROT_WRITE);
        ::mprotect(pointer<void>(end_of(address, bytes)), small_page, PROT_NONE);
    }
    allocations_[address] = {bytes};
    used_ += need;
    return address;
}

Allocation* DeviceMemory::at(Address address) {
    const auto found = allocations_.find(address);
    return found == allocations_.end() ? nullptr : &found->second;
}

const Allocation* DeviceMemory::holding(Address address, std::size_t bytes, Address* begin) const {
    const Allocation* const found = holding(allocations_, address, bytes, begin);
    return found != nullptr ? found : holding(imported_, address, bytes, begin);
}

const Allocation* DeviceMemory::holding(const std::map<Address, Allocation>& in, Address address,
                                        std::size_t bytes, Address* begin) {
    auto found = in.upper_bound(address);
    if (found == in.begin()) return nullptr;
    --found;
    const std::size_t offset = address - found->first, size = found->second.bytes;
    if (offset > size || bytes > size - offset) return nullptr;
    if (begin != nullptr) *begin = found->first;
    return &found->second;
}

Address DeviceMemory::import(int file, std::size_t offset, std::size_t bytes) {
    // Whole pages: the file is longer than it must be, or the rest reads as zero.
    const std::size_t begin = offset / small_page * small_page;
    void* const mapped =
        ::mmap(nullptr, bytes + offset - begin, open_ ? PROT_READ | PROT_WRITE : PROT_NONE,
               MAP_SHARED, file, static_cast<off_t>(begin));
    if (mapped == MAP_FAILED) return 0;
    const Address address = reinterpret_cast<Address>(mapped) + (offset - begin);
    imported_[address] = {bytes};
    return address;
}

bool DeviceMemory::forget_import(Address address) {
    const auto found = imported_.find(address);
    if (found == imported_.end()) return false;
    const Address begin = address / small_page * small_page;
    ::munmap(pointer<void>(begin), found->second.bytes + (address - begin));
    imported_.erase(found);
    return true;
}

bool DeviceMemory::in_range(const void* memory) const {
    const auto address = reinterpret_cast<Address>(memory);
    if (holding(imported_, address, 1, nullptr) != nullptr) return true;
    return base_ != 0 && address >= base_ && address - base_ < reserved_ - page;
}

void DeviceMemory::fill(Address address) {
    const std::size_t bytes = allocations_.at(address).bytes, whole = bytes / 8 * 8;
    fill_words(address, whole, fresh);
    for (std::size_t k = whole; k < bytes; ++k) *pointer<unsigned char>(address + k) = 0xa5;
    // The guard begins with the first byte behind the end.
    const Address end = end_of(address, bytes), words = std::min(rounded(address + bytes, 8), end);
    for (Address a = address + bytes; a < words; ++a) *pointer<unsigned char>(a) = 0xb0;
    fill_words(words, end - words, guard);
}

bool DeviceMemory::release(Address address) {
    const std::size_t bytes = allocations_.at(address).bytes;
    const Address end = end_of(address, bytes), words = std::min(rounded(address + bytes, 8), end);
    bool whole = true;
    for (Address a = address + bytes; a < words; ++a)
        whole = whole && *pointer<unsigned char>(a) == 0xb0;
    for (Address a = words; a < end; a += 8) whole = whole && *pointer<std::uint64_t>(a) == guard;
    fill_words(address, end - address, gone);
    forget(address);
    return whole;
}

void DeviceMemory::forget(Address address) {
    const auto found = allocations_.find(address);
    used_ -= rounded(found->second.bytes, alignment);
    std::size_t size = block_of(found->second.bytes);
    address = begin_of_block(address);
    allocations_.erase(found);
    // Holes side by side become one.
    const auto after = free_.lower_bound(address);
    if (after != free_.end() && address + size == after->first) {
        size += after->second;
        free_.erase(after);
    }
    const auto behind = free_.lower_bound(address);
    if (behind != free_.begin()) {
        const auto before = std::prev(behind);
        if (before->first + before->second == address) {
            before->second += size;
            return;
        }
    }
    free_[address] = size;
}

void DeviceMemory::forget_all() {
    shut();
    while (!imported_.empty()) forget_import(imported_.begin()->first);
    if (base_ != 0) ::madvise(pointer<void>(base_), pages(), MADV_DONTNEED);
    allocations_.clear();
    free_.clear();
    top_ = base_ + (has_pages && base_ != 0 ? small_page : 0);
    used_ = 0;
}

std::size_t DeviceMemory::pages() const { return rounded(top_ - base_, page); }

Address DeviceMemory::end_of(Address address, std::size_t bytes) {
    return has_pages ? rounded(address + bytes, small_page) : address + block_of(bytes);
}

void DeviceMemory::protect(Address address, std::size_t bytes, int access) const {
    const Address begin = begin_of_block(address);
    ::mprotect(pointer<void>(begin), end_of(address, bytes) - begin, access);
}

void DeviceMemory::protect(int access) const {
    if (has_pages) {
        for (const auto& [address, allocation] : allocations_)
            protect(address, allocation.bytes, access);
        // What was freed can be read, as garbage, up to the page before the next allocation.
        for (const auto& [begin, size] : free_)
            ::mprotect(pointer<void>(begin), size - small_page, access);
    } else if (top_ != base_) {
        ::mprotect(pointer<void>(base_), pages(), access);
    }
    for (const auto& [address, allocation] : imported_) {
        const Address begin = address / small_page * small_page;
        ::mprotect(pointer<void>(begin), allocation.bytes + (address - begin), access);
    }
}

void DeviceMemory::open() {
    if (open_ || (top_ == base_ && imported_.empty())) return;
    protect(PROT_READ | PROT_WRITE);
    open_ = true;
}

void DeviceMemory::close() {
    // With pages of its own each allocation has its own protection: where there are many, changing
    // them takes longer than what is executed.
    constexpr std::size_t many = 64, occasions = 16;
    if (has_pages && allocations_.size() > many && ++left_open_ % occasions != 0) return;
    shut();
}

void DeviceMemory::shut() {
    if (!open_) return;
    protect(PROT_NONE);
    open_ = false;
}

}  // namespace software_cuda
