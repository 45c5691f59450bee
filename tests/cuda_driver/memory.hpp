// The memory of one device: a range of addresses that is accessible only while it is open, which
// is while operations execute. A host that follows a device's pointer faults.
//
// Fresh memory, freed memory and the guard behind each allocation hold patterns that are NaN as
// f32 and as f64. Allocating is a matter of addresses at once, of contents (fill, release) when the
// stream gets there; addresses come back only then.
//
// With guard pages (engine/base/aligned.hpp) each allocation lies flush against a page that is
// never accessible, at its front or at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "engine/backend/cuda/driver.hpp"

namespace software_cuda {

using hindcast::backend::cuda::Address;

struct Allocation {
    std::size_t bytes = 0;
    bool freed = false;  // the call was made; the stream may not have got there
};

class DeviceMemory {
public:
    DeviceMemory() = default;
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    // 0 if it would exceed `limit`.
    Address allocate(std::size_t bytes, std::size_t limit);
    // The allocation that begins there; null if there is none.
    Allocation* at(Address address);
    // The allocation that holds all of these bytes, and where it begins.
    const Allocation* holding(Address address, std::size_t bytes, Address* begin = nullptr) const;
    bool in_range(const void* memory) const;

    // Memory that a file shares with another part of the program, `bytes` from `offset` on, at an
    // address outside the range; 0 if it cannot be mapped. It has no guard and is not filled.
    Address import(int file, std::size_t offset, std::size_t bytes);
    // False: nothing was imported there.
    bool forget_import(Address address);

    // While open: garbage into a new allocation; garbage into a freed one, which is given back.
    // release() is false if something wrote behind its end.
    void fill(Address address);
    bool release(Address address);
    // Without looking at its contents.
    void forget(Address address);
    void forget_all();

    // With guard pages around many allocations it stays open for most of the time.
    void open();
    void close();
    bool is_open() const { return open_; }

    std::size_t used() const { return used_; }
    std::size_t count() const { return allocations_.size(); }

private:
    void reserve();
    void shut();
    void protect(int access) const;
    void protect(Address address, std::size_t bytes, int access) const;
    // The end of what is accessible from an allocation's address on.
    static Address end_of(Address address, std::size_t bytes);
    std::size_t pages() const;

    static const Allocation* holding(const std::map<Address, Allocation>& in, Address address,
                                     std::size_t bytes, Address* begin);

    std::map<Address, Allocation> allocations_, imported_;
    std::map<Address, std::size_t> free_;
    void* range_ = nullptr;  // as it was mapped; base_ is the first whole page
    Address base_ = 0, top_ = 0;
    std::size_t reserved_ = 0, used_ = 0;
    bool open_ = false;
    std::size_t left_open_ = 0;  // how often
};

}  // namespace software_cuda
