#include "engine/runtime/array/memory.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/backend/binding.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

using backend::cuda::Block;

struct Memory::OnDevice {
    Context context;
    Block block;
    bool waits = false;

    OnDevice(const Context& at, Block memory) : context(at), block(std::move(memory)) {
        ++on_devices_;
    }
    // Others may take the memory back afterward, or it is given back by another context.
    ~OnDevice() {
        if (waits) context->wait();
        --on_devices_;
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
};

Memory::Memory() = default;
Memory::~Memory() = default;

void Memory::fetch() {
    on_device_->context->download(host_.data(), on_device_->block.address(), host_.size());
    host_is_old_ = at_home_;
}

void Memory::send_home() {
    on_device_->context->upload(on_device_->block.address(), host_.data(), host_.size());
    device_wrote();
}

Memory::Context Memory::home() const { return at_home_ ? on_device_->context : nullptr; }

std::span<const std::byte> Memory::range() const {
    if (!at_home_) return host_;
    return {static_cast<const std::byte*>(on_device_->block.data()), host_.size()};
}

void Memory::place(const Context& context) {
    if (context.get() == where_) return;
    if (at_home_) {
        const Context before = on_device_->context;
        if (before->ordinal() != context->ordinal())
            throw Error("memory of CUDA device " + std::to_string(before->ordinal()) +
                        " is used on CUDA device " + std::to_string(context->ordinal()))
                .remedy("copy it into an array there");
        before->synchronize();  // another context of the same device goes on with it
        on_device_->context = context;
        on_device_->waits = true;
        where_ = context.get();
        return;
    }
    if (has_gaps_)
        throw Error("an array over strided memory of the host cannot be used on a CUDA device")
            .remedy("copy it into an array of its own");
    if (host_is_old_) fetch();
    on_device_ = std::make_unique<OnDevice>(context, Block(context, host_.size()));
    where_ = context.get();
    there_ = on_device_->block.data();
    device_is_old_ = true;
}

void Memory::lie_on(const Context& context, const backend::cuda::Exported& shared) {
    on_device_ = std::make_unique<OnDevice>(context, Block(context, shared, host_.size()));
    where_ = context.get();
    there_ = on_device_->block.data();
    device_wrote();
}

void Memory::live_on(const Context& context) {
    place(context);
    at_home_ = true;
    clear();
    device_wrote();
}

void Memory::live_on(const Context& context, void* begin, std::size_t bytes, std::ptrdiff_t first,
                     bool gaps, std::shared_ptr<void> alive) {
    own_ = AlignedBuffer<std::byte>(bytes);
    host_ = own_.span();
    first_ = first;
    has_gaps_ = gaps;
    alive_ = std::move(alive);
    on_device_ = std::make_unique<OnDevice>(
        context, Block(context, backend::cuda::address_of(begin), bytes));
    on_device_->waits = true;
    where_ = context.get();
    there_ = static_cast<std::byte*>(begin) + first;
    at_home_ = is_foreign_ = true;
    device_wrote();
}

void Memory::send(const Context& context) {
    place(context);
    if (!device_is_old_) return;
    context->upload(on_device_->block.address(), host_.data(), host_.size());
    device_is_old_ = false;
}

void Memory::clear() {
    if (host_.empty()) return;
    if (on_device_) {
        on_device_->context->clear(on_device_->block.address(), host_.size());
        device_wrote();
    } else {
        std::memset(host_.data(), 0, host_.size());
    }
}

void Memory::copy_from(Memory& other) {
    // Arrays of one shape may have room of different sizes: the values are in all of them.
    const std::size_t bytes = std::min(host_.size(), other.host_.size());
    if (bytes == 0 || &other == this) return;
    const bool on_device = other.host_is_old_ ||
                           (where_ != nullptr && other.where_ == where_ && !other.device_is_old_);
    const Context context =
        on_device ? (at_home_ ? on_device_ : other.on_device_)->context : nullptr;
    if (on_device && (!other.at_home_ || other.home()->ordinal() == context->ordinal())) {
        place(context);
        other.on(context);
        context->copy(on_device_->block.address(), other.on_device_->block.address(), bytes);
        device_wrote();
    } else {
        const std::byte* const from = other.host();
        std::memcpy(host_.data(), from, bytes);
        host_wrote();
    }
}

void Memory::store(std::int32_t value) {
    if (host_is_old_ && host_.size() > sizeof value) fetch();
    std::memcpy(host_.data(), &value, sizeof value);
    host_is_old_ = at_home_;
    if (!device_is_old_)
        on_device_->context->fill(on_device_->block.address(), static_cast<std::uint32_t>(value),
                                  1);
}

bool Memory::fill_on_device(const backend::Binding& shape, int components, std::size_t scalar_bytes,
                            std::uint64_t bits) {
    if (!on_device_) return false;
    backend::Binding target = shape;
    target.data = on(on_device_->context);
    on_device_->context->fill(target, components, scalar_bytes, bits);
    device_wrote();
    return true;
}

bool Memory::add_on_device(Memory& terms, std::size_t scalar_bytes) {
    if (!on_device_) return false;
    const Context& context = on_device_->context;
    on(context);
    terms.on(context);
    context->add(on_device_->block.address(), terms.on_device_->block.address(), scalar_bytes,
                 std::min(host_.size(), terms.host_.size()) / scalar_bytes);
    device_wrote();
    return true;
}

}  // namespace hindcast
