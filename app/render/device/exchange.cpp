// One block of memory for three slots, of one of the four kinds.
#include "app/render/device/exchange.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace hindcast::render {

namespace {

constexpr std::size_t page = 4096;
constexpr vk::ExternalMemoryHandleTypeFlagBits opaque_fd =
    vk::ExternalMemoryHandleTypeFlagBits::eOpaqueFd;
constexpr vk::ExternalMemoryHandleTypeFlagBits host_block =
    vk::ExternalMemoryHandleTypeFlagBits::eHostAllocationEXT;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::shared_ptr<std::byte> allocate_host(std::size_t bytes, std::size_t alignment) {
    void* const block = std::aligned_alloc(alignment, round_up(bytes, alignment));
    if (block == nullptr) throw std::bad_alloc();
    std::memset(block, 0, bytes);
    return {static_cast<std::byte*>(block), [](std::byte* memory) { std::free(memory); }};
}

Error cannot(TransportKind kind, const VulkanContext& context, const std::string& reason) {
    return std::move(Error(fmt::format("frames cannot be handed over as '{}' memory on '{}': {}",
                                       name_of(kind), context.facts().name, reason))
                         .remedy("choose --transport auto, or another of exported, imported, "
                                 "staging, mapped"));
}

}  // namespace

// Resources that writer and reader keep alive together. The device itself lives as long.
struct SharedExchange::Backing {
    std::shared_ptr<VulkanContext::State> device;
    std::shared_ptr<std::byte> host;  // outlives its import
    Allocation memory;
    vk::raii::Buffer buffer{nullptr};
    Buffer staged, uploaded;
    vk::raii::Semaphore semaphore{nullptr};
    int descriptor = -1, semaphore_descriptor = -1;

    ~Backing() {
        if (descriptor >= 0) ::close(descriptor);
        if (semaphore_descriptor >= 0) ::close(semaphore_descriptor);
    }

    vk::raii::Device& logical() const {
        if (!*device->device) throw Error("internal: memory is shared after the device is gone");
        return device->device;
    }
    vk::DeviceSize make_buffer(VulkanContext& context, std::size_t bytes,
                               vk::ExternalMemoryHandleTypeFlags types);
    void export_memory(VulkanContext& context, std::size_t bytes);
    void export_semaphore(VulkanContext& context);
    void import_memory(VulkanContext& context, std::size_t bytes);
    void map_memory(VulkanContext& context, std::size_t bytes);
    void stage_memory(VulkanContext& context, std::size_t slot_bytes);
};

vk::DeviceSize SharedExchange::Backing::make_buffer(VulkanContext& context, std::size_t bytes,
                                                    vk::ExternalMemoryHandleTypeFlags types) {
    vk::StructureChain<vk::BufferCreateInfo, vk::ExternalMemoryBufferCreateInfo> chain;
    chain.get<vk::BufferCreateInfo>().setSize(bytes).setUsage(
        vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eTransferSrc);
    chain.get<vk::ExternalMemoryBufferCreateInfo>().setHandleTypes(types);
    if (!types) chain.unlink<vk::ExternalMemoryBufferCreateInfo>();
    buffer = vk::raii::Buffer(logical(), chain.get<vk::BufferCreateInfo>());
    context.name(VK_OBJECT_TYPE_BUFFER, static_cast<VkBuffer>(*buffer), "shared frames");
    return buffer.getMemoryRequirements().size;
}

void SharedExchange::Backing::export_memory(VulkanContext& context, std::size_t bytes) {
    if (!context.facts().memory_export)
        throw cannot(TransportKind::exported, context, "it has no VK_KHR_external_memory_fd");
    make_buffer(context, bytes, opaque_fd);
    const vk::MemoryDedicatedAllocateInfo dedicated({}, *buffer);
    const vk::ExportMemoryAllocateInfo exported(opaque_fd, &dedicated);
    memory = Allocation(context, buffer.getMemoryRequirements(),
                        vk::MemoryPropertyFlagBits::eDeviceLocal, &exported, "exported frames");
    buffer.bindMemory(*memory, 0);
    descriptor = logical().getMemoryFdKHR({*memory, opaque_fd});
}

void SharedExchange::Backing::export_semaphore(VulkanContext& context) {
    using Handle = vk::ExternalSemaphoreHandleTypeFlagBits;
    vk::StructureChain<vk::SemaphoreCreateInfo, vk::SemaphoreTypeCreateInfo,
                       vk::ExportSemaphoreCreateInfo>
        chain;
    chain.get<vk::SemaphoreTypeCreateInfo>().setSemaphoreType(vk::SemaphoreType::eTimeline);
    chain.get<vk::ExportSemaphoreCreateInfo>().setHandleTypes(Handle::eOpaqueFd);
    semaphore = vk::raii::Semaphore(logical(), chain.get<vk::SemaphoreCreateInfo>());
    context.name(VK_OBJECT_TYPE_SEMAPHORE, static_cast<VkSemaphore>(*semaphore), "frames complete");
    semaphore_descriptor = logical().getSemaphoreFdKHR({*semaphore, Handle::eOpaqueFd});
}

void SharedExchange::Backing::import_memory(VulkanContext& context, std::size_t bytes) {
    if (!context.facts().host_import)
        throw cannot(TransportKind::imported, context, "it has no VK_EXT_external_memory_host");
    const std::size_t alignment = std::max<std::size_t>(page, device->host_alignment);
    const std::size_t whole = round_up(bytes, alignment);
    host = allocate_host(whole, alignment);
    make_buffer(context, whole, host_block);
    const auto pointer = logical().getMemoryHostPointerPropertiesEXT(host_block, host.get());
    vk::MemoryRequirements needs = buffer.getMemoryRequirements();
    needs.memoryTypeBits &= pointer.memoryTypeBits;
    if (needs.memoryTypeBits == 0 || needs.size > whole)
        throw cannot(TransportKind::imported, context, "it refuses memory of the host");
    needs.size = whole;
    const vk::ImportMemoryHostPointerInfoEXT import(host_block, host.get());
    memory = Allocation(context, needs, {}, &import, "imported frames");
    buffer.bindMemory(*memory, 0);
}

void SharedExchange::Backing::map_memory(VulkanContext& context, std::size_t bytes) {
    using Property = vk::MemoryPropertyFlagBits;
    make_buffer(context, bytes, {});
    const auto needs = buffer.getMemoryRequirements();
    constexpr auto seen = Property::eHostVisible | Property::eHostCoherent;
    const bool local =
        device->memory_type(needs.memoryTypeBits, seen | Property::eDeviceLocal).has_value();
    memory = Allocation(context, needs, local ? seen | Property::eDeviceLocal : seen, nullptr,
                        "mapped frames");
    buffer.bindMemory(*memory, 0);
    std::byte* const start = memory.map();
    std::memset(start, 0, bytes);
    host = std::shared_ptr<std::byte>(start, [](std::byte*) {});
}

void SharedExchange::Backing::stage_memory(VulkanContext& context, std::size_t slot_bytes) {
    using Usage = vk::BufferUsageFlagBits;
    host = allocate_host(3 * slot_bytes, page);
    staged = Buffer(context, slot_bytes, Usage::eTransferSrc, Residence::upload, "staged frame");
    uploaded = Buffer(context, slot_bytes, Usage::eTransferDst | Usage::eStorageBuffer,
                      Residence::device, "uploaded frame");
}

SharedExchange::SharedExchange(VulkanContext& context, std::shared_ptr<const Stage> stage,
                               TransportKind kind)
    : kind_(kind), stage_(std::move(stage)), backing_(std::make_shared<Backing>()) {
    backing_->device = context.share_state();
    const auto& limits = backing_->device->limits;
    const std::size_t alignment =
        std::max<std::size_t>(256, limits.minStorageBufferOffsetAlignment);
    for (const Channel& channel : stage_->channels) {
        const std::size_t bytes = channel.bytes(stage_->real);
        if (bytes > limits.maxStorageBufferRange)
            throw Error(fmt::format("'{}' has {} bytes per frame; the graphics device '{}' reads "
                                    "at most {}",
                                    channel.name, bytes, context.facts().name,
                                    limits.maxStorageBufferRange))
                .remedy("show a smaller scene, or run it in f32");
        offsets_.push_back(slot_bytes_);
        slot_bytes_ += round_up(bytes, alignment);
    }
    slot_bytes_ = round_up(std::max<std::size_t>(slot_bytes_, 1), page);
    const std::size_t bytes = 3 * slot_bytes_;
    switch (kind_) {
        case TransportKind::exported:
            backing_->export_memory(context, bytes);
            if (context.facts().semaphore_export) backing_->export_semaphore(context);
            break;
        case TransportKind::imported: backing_->import_memory(context, bytes); break;
        case TransportKind::mapped: backing_->map_memory(context, bytes); break;
        case TransportKind::staging: backing_->stage_memory(context, slot_bytes_); break;
    }
    for (std::size_t slot = 0; slot < 3; ++slot)
        for (std::size_t c = 0; c < stage_->channels.size(); ++c) {
            SharedMemory shared;
            shared.offset = slot * slot_bytes_ + offsets_[c];
            shared.bytes = stage_->channels[c].bytes(stage_->real);
            if (backing_->host) shared.host = backing_->host.get() + shared.offset;
            shared.descriptor = backing_->descriptor;
            if (kind_ == TransportKind::exported) shared.exported_bytes = backing_->memory.bytes();
            shared.device_uuid = context.facts().uuid;
            shared.alive = backing_;
            slots_[slot].push_back(std::move(shared));
        }
}

int SharedExchange::semaphore() const { return backing_->semaphore_descriptor; }

std::uint64_t SharedExchange::raised() const {
    if (!*backing_->semaphore) return 0;
    try {
        return backing_->semaphore.getCounterValue();
    } catch (const vk::SystemError&) {  // a lost device completes nothing; draw() tells of it
        return 0;
    }
}

std::optional<vk::SemaphoreSubmitInfo> SharedExchange::complete(const Frame& frame) const {
    if (frame.ready == 0 || !*backing_->semaphore) return std::nullopt;
    return vk::SemaphoreSubmitInfo(*backing_->semaphore, frame.ready,
                                   vk::PipelineStageFlagBits2::eAllCommands);
}

vk::DescriptorBufferInfo SharedExchange::channel(int slot, int channel) const {
    const auto c = static_cast<std::size_t>(channel);
    const vk::DeviceSize bytes = std::max<std::size_t>(stage_->channels[c].bytes(stage_->real), 4);
    if (kind_ == TransportKind::staging) return {*backing_->uploaded, offsets_[c], bytes};
    return {*backing_->buffer, static_cast<std::size_t>(slot) * slot_bytes_ + offsets_[c], bytes};
}

std::uint64_t SharedExchange::upload(const vk::raii::CommandBuffer& commands, int slot) {
    if (kind_ != TransportKind::staging) return 0;
    std::memcpy(backing_->staged.mapped(),
                backing_->host.get() + static_cast<std::size_t>(slot) * slot_bytes_, slot_bytes_);
    Barriers barriers;
    barriers.use(*backing_->uploaded, backing_->uploaded.state(), Use::transfer_write);
    barriers.record(commands);
    commands.copyBuffer(*backing_->staged, *backing_->uploaded, vk::BufferCopy(0, 0, slot_bytes_));
    barriers.use(*backing_->uploaded, backing_->uploaded.state(), Use::shader_read);
    barriers.record(commands);
    return slot_bytes_;
}

TransportKind best_kind(const VulkanContext& context,
                        const std::optional<std::array<std::uint8_t, 16>>& cuda_uuid) {
    const DeviceFacts& facts = context.facts();
    if (cuda_uuid && facts.memory_export && *cuda_uuid == facts.uuid)
        return TransportKind::exported;
    return kinds_of(facts).front();
}

std::vector<TransportKind> kinds_of(const DeviceFacts& facts) {
    if (facts.host_import)
        return {TransportKind::imported, TransportKind::mapped, TransportKind::staging};
    return {TransportKind::mapped, TransportKind::staging};
}

}  // namespace hindcast::render
