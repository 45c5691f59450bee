// Making of the images of one size.
#include "app/render/targets.hpp"

#include <array>
#include <vector>

namespace hindcast::render {

namespace {

vk::raii::Framebuffer framebuffer(VulkanContext& context, vk::RenderPass pass,
                                  const std::vector<vk::ImageView>& views, vk::Extent2D size,
                                  const std::string& name) {
    const vk::FramebufferCreateInfo info({}, pass, views, size.width, size.height, 1);
    vk::raii::Framebuffer made(context.state().device, info);
    context.name(VK_OBJECT_TYPE_FRAMEBUFFER, static_cast<VkFramebuffer>(*made), name);
    return made;
}

}  // namespace

Targets::Targets(VulkanContext& context, const Pipelines& pipelines, int width, int height,
                 int samples, bool put_to, bool outlined)
    : samples_(samples) {
    using Usage = vk::ImageUsageFlagBits;
    constexpr auto half_format = vk::Format::eR32Sfloat;
    finished =
        Target(context, width, height, color_format, 1,
               Usage::eColorAttachment | Usage::eStorage | Usage::eSampled | Usage::eTransferSrc,
               "picture");
    depth = Target(context, width, height, depth_format, samples,
                   Usage::eDepthStencilAttachment | Usage::eSampled, "depth");
    if (samples > 1)
        color = Target(context, width, height, color_format, samples,
                       Usage::eColorAttachment | Usage::eTransientAttachment, "samples");
    if (put_to) {
        if (samples > 1)
            nearest = Target(context, width, height, depth_format, 1,
                             Usage::eDepthStencilAttachment | Usage::eSampled, "nearest");
        lit = Target(context, width, height, color_format, 1,
                     Usage::eColorAttachment | Usage::eSampled, "lit");
        const int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
        distance = Target(context, half_width, half_height, half_format, 1,
                          Usage::eStorage | Usage::eSampled, "distance");
        open = Target(context, half_width, half_height, half_format, 1,
                      Usage::eStorage | Usage::eSampled, "openness");
        calm = Target(context, half_width, half_height, half_format, 1, Usage::eStorage,
                      "openness without noise");
    }
    if (outlined)
        mask = Target(context, width, height, mask_format, 1,
                      Usage::eColorAttachment | Usage::eSampled, "mask");
    make_framebuffers(context, pipelines);
    if (put_to) make_set(context, pipelines);
}

void Targets::make_framebuffers(VulkanContext& context, const Pipelines& pipelines) {
    const auto make = [&](const Target& target, bool keeps_depth, const std::string& name) {
        std::vector<vk::ImageView> views = {(samples_ > 1 ? color : target).view(), depth.view()};
        if (samples_ > 1) views.push_back(target.view());
        if (samples_ > 1 && keeps_depth) views.push_back(nearest.view());
        return framebuffer(context, pipelines.render_pass(Pass::color, samples_, keeps_depth),
                           views, target.extent(), name);
    };
    drawing_to_finished_ = make(finished, false, "to picture");
    if (lit) drawing_to_lit_ = make(lit, true, "to lit");
    if (mask)
        masking_ = framebuffer(context, pipelines.render_pass(Pass::mask, 1), {mask.view()},
                               mask.extent(), "to mask");
}

// Set 0 of the picture's shaders (include/picture.glsl).
void Targets::make_set(VulkanContext& context, const Pipelines& pipelines) {
    using Type = vk::DescriptorType;
    using Layout = vk::ImageLayout;
    const auto& device = context.state().device;
    const std::array sizes = {vk::DescriptorPoolSize(Type::eCombinedImageSampler, 3),
                              vk::DescriptorPoolSize(Type::eStorageImage, 4)};
    pool_ = vk::raii::DescriptorPool(device, vk::DescriptorPoolCreateInfo({}, 1, sizes));
    context.name(VK_OBJECT_TYPE_DESCRIPTOR_POOL, static_cast<VkDescriptorPool>(*pool_),
                 "set of the picture");
    const auto layout = pipelines.picture_set();
    set_ = (*device).allocateDescriptorSets({*pool_, layout}, *device.getDispatcher()).front();
    context.name(VK_OBJECT_TYPE_DESCRIPTOR_SET, static_cast<VkDescriptorSet>(set_), "picture");
    const vk::Sampler point = pipelines.nearest_sampler();
    const std::array infos = {
        vk::DescriptorImageInfo(point, (samples_ > 1 ? nearest : depth).view(),
                                Layout::eShaderReadOnlyOptimal),
        vk::DescriptorImageInfo(point, lit.view(), Layout::eShaderReadOnlyOptimal),
        vk::DescriptorImageInfo(point, (mask ? mask : lit).view(), Layout::eShaderReadOnlyOptimal),
        vk::DescriptorImageInfo({}, distance.view(), Layout::eGeneral),
        vk::DescriptorImageInfo({}, open.view(), Layout::eGeneral),
        vk::DescriptorImageInfo({}, finished.view(), Layout::eGeneral),
        vk::DescriptorImageInfo({}, calm.view(), Layout::eGeneral)};
    std::vector<vk::WriteDescriptorSet> writes;
    for (std::uint32_t b = 0; b < infos.size(); ++b)
        writes.emplace_back(set_, b, 0, 1,
                            b < 3 ? Type::eCombinedImageSampler : Type::eStorageImage, &infos[b]);
    device.updateDescriptorSets(writes, {});
}

}  // namespace hindcast::render
