// How the solver's numbers reach Vulkan: memory that both sides have, for three slots of channels.
//
//   exported   memory of Vulkan, imported by CUDA through a file descriptor; no host involved
//   imported   page-aligned memory of the host, imported by Vulkan (VK_EXT_external_memory_host)
//   mapped     host-visible memory of Vulkan, mapped, written by the CPU
//   staging    memory of the host, copied to the device's with each frame drawn
//
// One slot is the latest published, one may be being drawn, and one is free to be written: neither
// side ever waits for the other. What a slot holds is not written again before nothing draws it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/render/stage.hpp"

namespace hindcast::render {

enum class TransportKind : std::uint8_t { exported, imported, staging, mapped };
const char* name_of(TransportKind kind);
// "auto" gives none. Throws Error for another word, naming those there are.
std::optional<TransportKind> transport_named(const std::string& name);

// Where the solver writes one channel of one slot.
struct SharedMemory {
    std::byte* host = nullptr;  // all kinds but `exported`
    std::size_t bytes = 0;
    int descriptor = -1;             // `exported`: an opaque fd, which stays the renderer's
    std::size_t exported_bytes = 0;  // of the whole memory behind it
    std::size_t offset = 0;          // of this channel in it
    std::array<std::uint8_t, 16> device_uuid{};
    std::shared_ptr<void> alive;  // keeps it
};

// The three slots, between one writer (simulation thread) and one reader (renderer). Made by
// Renderer::share().
class Exchange {
public:
    virtual ~Exchange() = default;
    virtual TransportKind kind() const = 0;
    virtual const Stage& stage() const = 0;
    // By channel.
    virtual const std::vector<SharedMemory>& slot(int slot) const = 0;

    // ---- the writer ----
    // A slot that is neither the latest published nor being drawn; the writer keeps it until
    // publish(). Never waits: the reader holds at most one.
    int begin();
    // The numbers of frame.slot are complete (the device was synchronised). Replaces the latest,
    // and numbers it.
    void publish(Frame frame);

    // ---- the reader ----
    // The latest frame, which stays as it is until release(); the one held before is released
    // first. None if nothing was published yet.
    std::optional<Frame> acquire();
    void release();
    std::uint64_t serial() const;  // of the latest frame; 0: none yet

private:
    mutable std::mutex mutex_;
    std::optional<Frame> latest_, held_;
    int writing_ = -1;
    std::uint64_t serial_ = 0;
};

}  // namespace hindcast::render
