// The four kinds of memory that solver and renderer share (transport.hpp), on a Vulkan device.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "app/exchange/transport.hpp"
#include "app/render/device/memory.hpp"

namespace hindcast::render {

class SharedExchange : public Exchange {
public:
    // Throws Error, with what the device lacks, if it cannot have this kind.
    SharedExchange(VulkanContext& context, std::shared_ptr<const Stage> stage, TransportKind kind);

    TransportKind kind() const override { return kind_; }
    const Stage& stage() const override { return *stage_; }
    const std::vector<SharedMemory>& slot(int slot) const override {
        return slots_.at(static_cast<std::size_t>(slot));
    }
    int semaphore() const override;
    std::uint64_t raised() const override;

    // ---- for the renderer ----
    // What a submission that reads the frame waits for: the semaphore, already raised, so that
    // what CUDA wrote is seen. None if the host has waited.
    std::optional<vk::SemaphoreSubmitInfo> complete(const Frame& frame) const;
    // The channel of the slot, as what shaders read.
    vk::DescriptorBufferInfo channel(int slot, int channel) const;
    // `staging`: copies the slot to the device; returns the bytes. 0 for the other kinds. The
    // submission that read the last upload must be done.
    std::uint64_t upload(const vk::raii::CommandBuffer& commands, int slot);

private:
    struct Backing;

    TransportKind kind_;
    std::shared_ptr<const Stage> stage_;
    std::vector<std::size_t> offsets_;  // of the channels in a slot
    std::size_t slot_bytes_ = 0;
    std::shared_ptr<Backing> backing_;
    std::array<std::vector<SharedMemory>, 3> slots_;
};

// The best kind for a solver on the processor, or on the CUDA device of that UUID.
TransportKind best_kind(const VulkanContext& context,
                        const std::optional<std::array<std::uint8_t, 16>>& cuda_uuid);
// Those that work on the device for a solver on the CPU, the best first.
std::vector<TransportKind> kinds_of(const DeviceFacts& facts);

}  // namespace hindcast::render
