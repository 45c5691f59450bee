// The memory of an array: on the host and, once a launch on a device with memory of its own has
// used it, there as well. It knows where the newest values are and copies them when the other side
// asks, so that an array is one thing wherever it is worked with.
//
//     host()          the host is about to read or write: waits for the device if it is newer
//     host_wrote()    what the device has is out of date
//     on(context)     a launch is about to read or write there
//     device_wrote()  what the host has is out of date
//
// It is on one device at a time; another one gets it by way of the host. The host's side may be
// memory that something else owns, such as memory that is shared with a renderer.
//
// Memory may be at home on a device (live_on): others may read and write it there at any time. The
// host then has a copy, which is fetched each time it asks, and what it writes goes there at once.
// Such memory stays where it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/base/aligned.hpp"

namespace hindcast {

namespace backend {
struct Binding;
namespace cuda {
class Context;
struct Exported;
}  // namespace cuda
}  // namespace backend

class Memory {
public:
    using Context = std::shared_ptr<backend::cuda::Context>;

    Memory();
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void allocate(std::size_t bytes) {  // once; or
        own_ = AlignedBuffer<std::byte>(bytes);
        host_ = own_.span();
    }
    void borrow(std::span<std::byte> host, std::shared_ptr<void> alive) {
        host_ = host;
        alive_ = std::move(alive);
    }
    // Not all of these bytes are the array's, whose first element stands at `first`: the host works
    // with them, and on() throws Error.
    void borrow_parts(std::span<std::byte> host, std::ptrdiff_t first,
                      std::shared_ptr<void> alive) {
        borrow(host, std::move(alive));
        first_ = first;
        has_gaps_ = true;
    }
    bool has_gaps() const { return has_gaps_; }
    std::span<const std::byte> bytes() const { return host_; }  // as they stand on the host
    std::ptrdiff_t first() const { return first_; }

    // Instead of memory of its own there: what another program part has on that device as well.
    // To be written by launches.
    void lie_on(const Context& context, const backend::cuda::Exported& shared);

    // After allocate(): at home there, all bytes zero.
    void live_on(const Context& context);
    // At home there, in memory that something else owns and `alive` keeps: `bytes` from `begin` on,
    // element 0 at `first`. `gaps`: not all of these bytes are the array's.
    void live_on(const Context& context, void* begin, std::size_t bytes, std::ptrdiff_t first,
                 bool gaps, std::shared_ptr<void> alive);
    bool is_at_home() const { return at_home_; }
    Context home() const;  // nullptr: the host

    std::size_t size() const { return host_.size(); }
    // Neither side is something else's.
    bool is_own() const { return !own_.empty() && !is_foreign_; }
    // The bytes that other arrays may share: on the device that is its home, else on the host.
    std::span<const std::byte> range() const;
    // True if kernels may read past the end (Binding::padded); false for memory from elsewhere.
    bool is_padded() const { return is_own() && readable_behind() > 0; }
    std::byte* host() {
        if (host_is_old_) fetch();
        return host_.data() + first_;
    }
    void host_wrote() {
        host_is_old_ = false;
        device_is_old_ = true;
        if (at_home_) send_home();
    }

    void* on(const Context& context) {
        if (context.get() != where_ || device_is_old_) send(context);
        return there_;
    }
    void device_wrote() {
        host_is_old_ = true;
        device_is_old_ = false;
    }
    // True if the device, and not the host, has the newest values.
    bool is_newer_on_device() const { return host_is_old_; }

    // All bytes zero, or those of other memory of the same size, wherever they are.
    void clear();
    void copy_from(Memory& other);
    // One i32, for the host and the device at once.
    void store(std::int32_t value);
    // Sets or adds on the device that has the memory. False: none has, and nothing was done.
    // `shape`: of the array, without data; scalars of 4 or 8 bytes.
    bool fill_on_device(const backend::Binding& shape, int components, std::size_t scalar_bytes,
                        std::uint64_t bits);
    bool add_on_device(Memory& terms, std::size_t scalar_bytes);

    bool has_device() const { return where_ != nullptr; }
    // True if any memory of this process is on a device; if not, per-array checks can be skipped.
    static bool any_on_device() { return on_devices_.load(std::memory_order_relaxed) > 0; }

private:
    void fetch();
    void send_home();
    void place(const Context& context);  // has room there; what was there is kept
    void send(const Context& context);

    inline static std::atomic<std::int64_t> on_devices_{0};
    AlignedBuffer<std::byte> own_;
    std::span<std::byte> host_;
    std::ptrdiff_t first_ = 0;  // byte of host_ at which element 0 begins
    bool has_gaps_ = false;
    std::shared_ptr<void> alive_;  // keeps what is borrowed
    bool host_is_old_ = false, device_is_old_ = true;
    bool at_home_ = false, is_foreign_ = false;  // on the device
    struct OnDevice;
    std::unique_ptr<OnDevice> on_device_;
    const backend::cuda::Context* where_ = nullptr;
    void* there_ = nullptr;  // element 0
};

}  // namespace hindcast
