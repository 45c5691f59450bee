#include "engine/runtime/memory.hpp"

#include <cstring>

#include "engine/backend/cuda_context.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

using backend::cuda::Block;

struct Memory::OnDevice {
    Context context;
    Block block;

    OnDevice(const Context& at, Block memory) : context(at), block(std::move(memory)) {
        ++on_devices_;
    }
    ~OnDevice() { --on_devices_; }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
};

Memory::Memory() = default;
Memory::~Memory() = default;

void Memory::fetch() {
    on_device_->context->download(host_.data(), on_device_->block.address(), host_.size());
    host_is_old_ = false;
}

void Memory::place(const Context& context) {
    if (context.get() == where_) return;
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
    if (host_.empty() || &other == this) return;
    if (other.host_is_old_ ||
        (where_ != nullptr && other.where_ == where_ && !other.device_is_old_)) {
        const Context& context = other.on_device_->context;
        place(context);
        context->copy(on_device_->block.address(), other.on_device_->block.address(), host_.size());
        device_wrote();
    } else {
        std::memcpy(host_.data(), other.host_.data(), host_.size());
        host_wrote();
    }
}

void Memory::store(std::int32_t value) {
    if (host_is_old_ && host_.size() > sizeof value) fetch();
    std::memcpy(host_.data(), &value, sizeof value);
    host_is_old_ = false;
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
                 host_.size() / scalar_bytes);
    device_wrote();
    return true;
}

}  // namespace hindcast
