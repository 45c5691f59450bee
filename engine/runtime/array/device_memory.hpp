// DeviceMemory: memory of a device that holds older versions of arrays.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/base/aligned.hpp"

namespace hindcast {

namespace backend::cuda {
class Block;
}

// Memory that launches of a device can be bound to (Launch::Replay::bind_memory), besides arrays:
// older versions of them. Moves, never copies.
class DeviceMemory {
public:
    DeviceMemory() = default;
    ~DeviceMemory();
    DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
    DeviceMemory& operator=(DeviceMemory&& other) noexcept;
    std::byte* data() { return data_; }  // of the device
    std::size_t size() const { return size_; }
    void populate();  // see pages.hpp

private:
    friend class Device;
    AlignedBuffer<std::byte> host_;
    std::shared_ptr<backend::cuda::Block> block_;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace hindcast
