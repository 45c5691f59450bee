// Transport of the solver's numbers to Vulkan: memory that both sides share, for three slots of
// channels.
//
//   exported   memory of Vulkan, imported by CUDA through a file descriptor; no host involved. With
//              a timeline semaphore, where the device exports those too: frames are published while
//              CUDA is still writing them, and are there when it has raised the semaphore
//   imported   page-aligned memory of the host, imported by Vulkan (VK_EXT_external_memory_host)
//   mapped     host-visible memory of Vulkan, mapped, written by the CPU
//   staging    memory of the host, copied to the device's with each frame drawn
//
// One slot is the latest complete one, one may be being drawn, and one is free to be written:
// neither side ever waits for the other. A slot is not written again while a draw uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"

namespace hindcast::render {

enum class TransportKind : std::uint8_t { exported, imported, staging, mapped };
const char* name_of(TransportKind kind);
// "auto" gives none. Throws Error for another word, naming those there are.
std::optional<TransportKind> transport_named(const std::string& name);

// The memory to which the solver writes one channel of one slot.
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

    // A timeline semaphore of Vulkan that the solver's device raises: an opaque fd, which stays the
    // renderer's. -1: none, and the writer waits for its device before it publishes.
    virtual int semaphore() const { return -1; }
    // The value that the semaphore was raised to.
    virtual std::uint64_t raised() const { return 0; }

    // ---- the writer ----
    // A slot that is neither the latest complete one nor being drawn nor on its way; the writer
    // keeps it until publish(). Never waits: the reader holds at most one.
    int begin();
    // True if begin() would find no slot, since frames are on their way in all others: the writer
    // is ahead of its device. Then it synchronizes the device and calls settle().
    bool full();
    void settle();
    // The semaphore is raised to this next; greater than ever before.
    std::uint64_t next_value();
    // The numbers of frame.slot are complete, or will be when the semaphore is raised to
    // frame.ready, if that is not 0. Numbers the frame.
    void publish(Frame frame);

    // ---- the reader ----
    // The latest complete frame, which stays as it is until release(); the one held before is
    // released first. None if there is none yet.
    std::optional<Frame> acquire();
    void release();
    std::uint64_t serial();  // of the latest complete frame; 0: none yet
    bool expects();          // true if a frame is on its way
    // Waits for the frames that are. Throws Error if they do not come within a minute.
    void await();

private:
    // With the mutex held:
    void take_up();  // frames that have become complete
    std::optional<int> free_slot() const;

    std::mutex mutex_;
    std::optional<Frame> latest_, held_;
    std::deque<Frame> coming_;  // published, not complete; by `ready`
    int writing_ = -1;
    std::uint64_t serial_ = 0, value_ = 0;
};

}  // namespace hindcast::render
