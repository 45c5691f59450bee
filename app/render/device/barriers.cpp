// The meaning of each use to Vulkan, and the barrier between two uses.
#include "app/render/device/barriers.hpp"

#include <array>

namespace hindcast::render {

namespace {

struct Meaning {
    vk::PipelineStageFlags2 stages;
    vk::AccessFlags2 access;
    vk::ImageLayout layout;
    bool writes;
};

Meaning meaning_of(Use use) {
    using Stage = vk::PipelineStageFlagBits2;
    using Access = vk::AccessFlagBits2;
    using Layout = vk::ImageLayout;
    switch (use) {
        case Use::nothing: return {Stage::eNone, Access::eNone, Layout::eUndefined, false};
        case Use::color_attachment:
            return {Stage::eColorAttachmentOutput,
                    Access::eColorAttachmentRead | Access::eColorAttachmentWrite,
                    Layout::eColorAttachmentOptimal, true};
        case Use::depth_attachment:
            return {Stage::eEarlyFragmentTests | Stage::eLateFragmentTests,
                    Access::eDepthStencilAttachmentRead | Access::eDepthStencilAttachmentWrite,
                    Layout::eDepthStencilAttachmentOptimal, true};
        case Use::depth_resolve:  // is done where colors are
            return {Stage::eLateFragmentTests | Stage::eColorAttachmentOutput,
                    Access::eDepthStencilAttachmentWrite | Access::eColorAttachmentRead |
                        Access::eColorAttachmentWrite,
                    Layout::eAttachmentOptimal, true};
        case Use::fragment_sample:
            return {Stage::eFragmentShader, Access::eShaderRead, Layout::eShaderReadOnlyOptimal,
                    false};
        case Use::compute_sample:
            return {Stage::eComputeShader, Access::eShaderRead, Layout::eShaderReadOnlyOptimal,
                    false};
        case Use::storage_image:
            return {Stage::eComputeShader, Access::eShaderStorageRead | Access::eShaderStorageWrite,
                    Layout::eGeneral, true};
        case Use::transfer_read:
            return {Stage::eTransfer, Access::eTransferRead, Layout::eTransferSrcOptimal, false};
        case Use::transfer_write:
            return {Stage::eTransfer, Access::eTransferWrite, Layout::eTransferDstOptimal, true};
        case Use::acquired: return {Stage::eTransfer, Access::eNone, Layout::eUndefined, false};
        case Use::present: return {Stage::eNone, Access::eNone, Layout::ePresentSrcKHR, false};
        case Use::compute_read:
            return {Stage::eComputeShader, Access::eShaderStorageRead, Layout::eUndefined, false};
        case Use::compute_write:
            return {Stage::eComputeShader, Access::eShaderStorageRead | Access::eShaderStorageWrite,
                    Layout::eUndefined, true};
        case Use::draw_read:
            return {Stage::eVertexShader | Stage::eFragmentShader, Access::eShaderStorageRead,
                    Layout::eUndefined, false};
        case Use::shader_read:
            return {Stage::eVertexShader | Stage::eFragmentShader | Stage::eComputeShader,
                    Access::eShaderStorageRead, Layout::eUndefined, false};
        case Use::copy_and_draw_read:
            return {Stage::eVertexShader | Stage::eFragmentShader | Stage::eTransfer,
                    Access::eUniformRead | Access::eTransferRead, Layout::eUndefined, false};
        case Use::table_read:
            return {Stage::eVertexShader | Stage::eFragmentShader | Stage::eComputeShader |
                        Stage::eIndexInput,
                    Access::eShaderStorageRead | Access::eIndexRead, Layout::eUndefined, false};
        case Use::host_read: return {Stage::eHost, Access::eHostRead, Layout::eUndefined, false};
    }
    return {};
}

}  // namespace

namespace {

void record_one(VulkanContext& context, VkCommandBuffer commands, const vk::DependencyInfo& info) {
    vk::CommandBuffer(commands).pipelineBarrier2(info, *context.state().device.getDispatcher());
}

}  // namespace

void record_barrier(VulkanContext& context, VkCommandBuffer commands, VkImage image, Use before,
                    Use after) {
    const Meaning from = meaning_of(before), to = meaning_of(after);
    const vk::ImageMemoryBarrier2 barrier(
        from.stages, from.writes ? from.access : vk::AccessFlags2(), to.stages, to.access,
        from.layout, to.layout, VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, image,
        {vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1});
    vk::DependencyInfo info;
    info.setImageMemoryBarriers(barrier);
    record_one(context, commands, info);
}

void record_barrier(VulkanContext& context, VkCommandBuffer commands, VkBuffer buffer, Use before,
                    Use after) {
    const Meaning from = meaning_of(before), to = meaning_of(after);
    const vk::BufferMemoryBarrier2 barrier(
        from.stages, from.writes ? from.access : vk::AccessFlags2(), to.stages, to.access,
        VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, buffer, 0, VK_WHOLE_SIZE);
    vk::DependencyInfo info;
    info.setBufferMemoryBarriers(barrier);
    record_one(context, commands, info);
}

void Barriers::use(ImageState& image, Use use, bool discard) {
    const Meaning before = meaning_of(image.last_), after = meaning_of(use);
    const bool moves = before.layout != after.layout || discard;
    if (!moves && !before.writes && !after.writes && before.stages == after.stages) return;
    images_.push_back({before.stages,
                       before.writes ? before.access : vk::AccessFlags2(),
                       after.stages,
                       after.access,
                       discard ? vk::ImageLayout::eUndefined : before.layout,
                       after.layout,
                       VK_QUEUE_FAMILY_IGNORED,
                       VK_QUEUE_FAMILY_IGNORED,
                       image.image_,
                       {image.aspect_, 0, 1, 0, 1}});
    image.last_ = use;
}

void Barriers::use(vk::Buffer buffer, BufferState& state, Use use) {
    const Meaning before = meaning_of(state.last_), after = meaning_of(use);
    // From one kind of reading to another the writing before both must be seen: its barrier named
    // all readers that there are (below), so nothing is left to be done.
    if (state.last_ == use && !after.writes) return;
    if (state.last_ != Use::nothing)
        buffers_.push_back({before.stages, before.writes ? before.access : vk::AccessFlags2(),
                            after.stages, after.access, VK_QUEUE_FAMILY_IGNORED,
                            VK_QUEUE_FAMILY_IGNORED, buffer, 0, VK_WHOLE_SIZE});
    state.last_ = use;
}

void Barriers::record(const vk::raii::CommandBuffer& commands) {
    if (images_.empty() && buffers_.empty()) return;
    vk::DependencyInfo info;
    info.setImageMemoryBarriers(images_).setBufferMemoryBarriers(buffers_);
    commands.pipelineBarrier2(info);
    images_.clear();
    buffers_.clear();
}

}  // namespace hindcast::render
