// CheckpointStore: checkpoints in memory, or in a file.
//
// The file has no name (it is unlinked as soon as it is open), so that the system takes its space
// back when the program ends, however it ends. Its space is reserved before the run where the file
// system can do that. After the first store nothing is allocated.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "engine/runtime/array/array.hpp"
#include "engine/runtime/array/device_memory.hpp"
#include "engine/runtime/device/device.hpp"

namespace hindcast {

class CheckpointStore {
public:
    CheckpointStore() = default;
    // Room for `slots` copies of the arrays. `folder`: where the file is made; empty: in memory.
    // Throws Error.
    CheckpointStore(const Device& device, std::vector<Array> arrays, std::int64_t slots,
                    const std::filesystem::path& folder = {});
    ~CheckpointStore();
    CheckpointStore(CheckpointStore&& other) noexcept;
    CheckpointStore& operator=(CheckpointStore&& other) noexcept;

    void store(std::int64_t slot);
    void restore(std::int64_t slot);  // the arrays have new versions then
    void populate_memory();           // see pages.hpp; files have no need of it
    std::int64_t slots() const { return slots_; }
    std::int64_t memory_bytes() const { return static_cast<std::int64_t>(memory_.size()); }
    std::int64_t file_bytes() const { return file_ < 0 ? 0 : slots_ * bytes_; }

private:
    const Device* device_ = nullptr;
    std::vector<Array> arrays_;
    std::int64_t slots_ = 0, bytes_ = 0;
    DeviceMemory memory_;
    std::filesystem::path folder_;
    int file_ = -1;
};

// Bytes that checkpoints may take there: half of what is free. Throws Error if it is not a folder
// that can be written to.
std::int64_t spill_budget(const std::filesystem::path& folder);

}  // namespace hindcast
