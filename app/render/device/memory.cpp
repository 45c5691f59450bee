// Buffers, images and their memory.
#include "app/render/device/memory.hpp"

#include <fmt/format.h>

#include <utility>

namespace hindcast::render {

namespace {

// Sets the debugger's name of one of Vulkan-Hpp's handles.
template <class Handle>
void name_handle(VulkanContext& context, Handle handle, const std::string& name) {
    context.name(static_cast<VkObjectType>(Handle::objectType),
                 static_cast<typename Handle::CType>(handle), name);
}

vk::MemoryPropertyFlags properties_of(const VulkanContext::State& state, std::uint32_t types,
                                      Residence residence) {
    using Property = vk::MemoryPropertyFlagBits;
    if (residence == Residence::device) return Property::eDeviceLocal;
    constexpr auto seen = Property::eHostVisible | Property::eHostCoherent;
    // Reading write-combined memory would be slow.
    const auto wished =
        seen | (residence == Residence::readback ? Property::eHostCached : Property::eDeviceLocal);
    return state.memory_type(types, wished) ? wished : seen;
}

}  // namespace

Allocation::Allocation(VulkanContext& context, const vk::MemoryRequirements& needs,
                       vk::MemoryPropertyFlags properties, const void* next,
                       const std::string& name)
    : state_(context.share_state()), bytes_(needs.size) {
    auto& state = *state_;
    const auto type = state.memory_type(needs.memoryTypeBits, properties);
    if (!type)
        throw Error(
            fmt::format("the graphics device '{}' has no memory for '{}'", state.facts.name, name))
            .remedy("choose another transport, or another device with HINDCAST_VULKAN_DEVICE");
    const vk::MemoryAllocateInfo info(needs.size, *type, next);
    memory_ = vk::raii::DeviceMemory(state.device, info);
    name_handle(context, *memory_, name);
    ++state.counters.allocations;
    ++state.live.allocations;
    state.live.bytes += bytes_;
}

Allocation::~Allocation() {
    if (!*memory_) return;
    auto& counters = state_->live;
    --counters.allocations;
    counters.bytes -= bytes_;
}

Allocation::Allocation(Allocation&& other) noexcept
    : state_(std::move(other.state_)), memory_(std::move(other.memory_)), bytes_(other.bytes_) {}

Allocation& Allocation::operator=(Allocation&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

std::byte* Allocation::map() const {
    return static_cast<std::byte*>(memory_.mapMemory(0, VK_WHOLE_SIZE));
}

Buffer::Buffer(VulkanContext& context, vk::DeviceSize bytes, vk::BufferUsageFlags usage,
               Residence residence, const std::string& name)
    : size_(bytes) {
    auto& state = context.state();
    buffer_ = vk::raii::Buffer(state.device, vk::BufferCreateInfo({}, bytes, usage));
    name_handle(context, *buffer_, name);
    const auto needs = buffer_.getMemoryRequirements();
    memory_ = Allocation(context, needs, properties_of(state, needs.memoryTypeBits, residence),
                         nullptr, "memory of " + name);
    buffer_.bindMemory(*memory_, 0);
    if (residence != Residence::device) mapped_ = memory_.map();
}

Target::Target(VulkanContext& context, int width, int height, vk::Format format, int samples,
               vk::ImageUsageFlags usage, const std::string& name)
    : width_(width), height_(height) {
    auto& state = context.state();
    vk::ImageCreateInfo info;
    info.setImageType(vk::ImageType::e2D)
        .setFormat(format)
        .setExtent({static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 1})
        .setMipLevels(1)
        .setArrayLayers(1)
        .setSamples(static_cast<vk::SampleCountFlagBits>(samples))
        .setUsage(usage);
    image_ = vk::raii::Image(state.device, info);
    name_handle(context, *image_, name);
    // An image that lives only within a render pass needs no memory on devices that draw in tiles.
    const auto needs = image_.getMemoryRequirements();
    memory_ = Allocation(context, needs, vk::MemoryPropertyFlagBits::eDeviceLocal, nullptr,
                         "memory of " + name);
    image_.bindMemory(*memory_, 0);
    const auto aspect = format == vk::Format::eD32Sfloat ? vk::ImageAspectFlagBits::eDepth
                                                         : vk::ImageAspectFlagBits::eColor;
    state_ = ImageState(*image_, aspect);
    view_ = vk::raii::ImageView(
        state.device, vk::ImageViewCreateInfo({}, *image_, vk::ImageViewType::e2D, format, {},
                                              {aspect, 0, 1, 0, 1}));
    name_handle(context, *view_, "view of " + name);
}

}  // namespace hindcast::render
