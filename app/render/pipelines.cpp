// Making of layouts, render passes, samplers and pipelines.
#include "app/render/pipelines.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "app/render/shader_data.hpp"
#include "app/render/shaders.hpp"

namespace hindcast::render {

namespace {

constexpr const char* pass_names[] = {"color", "pick", "mask", "shadow"};

struct ShapeShaders {
    const char* vertex;
    const char* fragment;
};
constexpr ShapeShaders shape_shaders[] = {
    {"background.vert", "background.frag"}, {"points.vert", "points.frag"},
    {"segments.vert", "segments.frag"},     {"arrows.vert", "surface.frag"},
    {"surface.vert", "surface.frag"},       {"solid.vert", "surface.frag"},
    {"cut.vert", "surface.frag"},           {"image.vert", "image.frag"},
    {"heights.vert", "surface.frag"},       {"plane.vert", "plane.frag"},
    {"markers.vert", "markers.frag"}};

template <class Handle>
void name_handle(const VulkanContext& context, Handle handle, const std::string& name) {
    context.name(static_cast<VkObjectType>(Handle::objectType),
                 static_cast<typename Handle::CType>(handle), name);
}

// Specialization constants of every shader of drawables (include/scene.glsl).
struct Constants {
    vk::Bool32 wide = 0;
    std::int32_t samples = 1;
    vk::Bool32 shadowed = 0;
    vk::Bool32 guarded = 0;
    vk::Bool32 sliced = 0;
};
constexpr std::array<vk::SpecializationMapEntry, 5> constant_entries = {
    vk::SpecializationMapEntry(0, offsetof(Constants, wide), 4),
    vk::SpecializationMapEntry(1, offsetof(Constants, samples), 4),
    vk::SpecializationMapEntry(2, offsetof(Constants, shadowed), 4),
    vk::SpecializationMapEntry(3, offsetof(Constants, guarded), 4),
    vk::SpecializationMapEntry(4, offsetof(Constants, sliced), 4)};

// The same for what works on the finished picture (include/picture.glsl).
struct PictureSpecial {
    vk::Bool32 occluded = 0, outlined = 0;
};
constexpr std::array<vk::SpecializationMapEntry, 2> picture_entries = {
    vk::SpecializationMapEntry(0, offsetof(PictureSpecial, occluded), 4),
    vk::SpecializationMapEntry(1, offsetof(PictureSpecial, outlined), 4)};

}  // namespace

Pipelines::Pipelines(VulkanContext& context) : context_(context) {
    make_layouts();
    make_samplers();
    const auto add = [&](Pass pass, int samples, bool keeps_depth) {
        passes_.emplace(std::tuple(pass, samples, keeps_depth),
                        make_pass(pass, samples, keeps_depth));
    };
    for (const int samples : {1, 4})
        for (const bool keeps_depth : {false, true}) add(Pass::color, samples, keeps_depth);
    for (const Pass pass : {Pass::pick, Pass::mask, Pass::shadow}) add(pass, 1, false);
}

void Pipelines::make_layouts() {
    const auto& device = context_.state().device;
    using Type = vk::DescriptorType;
    using In = vk::ShaderStageFlagBits;
    constexpr auto all = In::eVertex | In::eFragment | In::eCompute;
    const auto set_of = [&](std::vector<Type> types, vk::ShaderStageFlags stages,
                            const std::string& name) {
        std::vector<vk::DescriptorSetLayoutBinding> bindings;
        for (const Type type : types)
            bindings.emplace_back(static_cast<std::uint32_t>(bindings.size()), type, 1U, stages);
        vk::raii::DescriptorSetLayout set(device, vk::DescriptorSetLayoutCreateInfo({}, bindings));
        name_handle(context_, *set, name);
        return set;
    };
    view_set_ = set_of({Type::eUniformBuffer, Type::eStorageBuffer, Type::eStorageBuffer,
                        Type::eCombinedImageSampler, Type::eStorageBuffer, Type::eUniformBuffer},
                       all, "set of the view");
    drawable_set_ = set_of(std::vector(6, Type::eStorageBuffer), all, "set of a drawable");
    picture_set_ = set_of(
        {Type::eCombinedImageSampler, Type::eCombinedImageSampler, Type::eCombinedImageSampler,
         Type::eStorageImage, Type::eStorageImage, Type::eStorageImage, Type::eStorageImage},
        In::eCompute, "set of the picture");
    const auto layout_of = [&](std::vector<vk::DescriptorSetLayout> sets,
                               vk::ShaderStageFlags stages, const std::string& name) {
        const vk::PushConstantRange range(stages, 0, sizeof(DrawConstants));
        vk::raii::PipelineLayout layout(device, vk::PipelineLayoutCreateInfo({}, sets, range));
        name_handle(context_, *layout, name);
        return layout;
    };
    layout_ = layout_of({*view_set_, *drawable_set_}, all, "layout of drawables");
    picture_layout_ = layout_of({*picture_set_}, In::eCompute, "layout of the picture");
}

void Pipelines::make_samplers() {
    const auto& device = context_.state().device;
    using Border = vk::SamplerAddressMode;
    vk::SamplerCreateInfo info;
    info.setAddressModeU(Border::eClampToEdge)
        .setAddressModeV(Border::eClampToEdge)
        .setAddressModeW(Border::eClampToEdge);
    nearest_sampler_ = vk::raii::Sampler(device, info);
    info.setMagFilter(vk::Filter::eLinear).setMinFilter(vk::Filter::eLinear);
    linear_sampler_ = vk::raii::Sampler(device, info);
    // Outside the map there is light.
    info.setAddressModeU(Border::eClampToBorder)
        .setAddressModeV(Border::eClampToBorder)
        .setBorderColor(vk::BorderColor::eFloatOpaqueWhite)
        .setCompareEnable(true)
        .setCompareOp(vk::CompareOp::eLessOrEqual);
    shadow_sampler_ = vk::raii::Sampler(device, info);
    name_handle(context_, *nearest_sampler_, "nearest sampler");
    name_handle(context_, *linear_sampler_, "linear sampler");
    name_handle(context_, *shadow_sampler_, "shadow sampler");
}

vk::RenderPass Pipelines::render_pass(Pass pass, int samples, bool keeps_depth) const {
    const bool color = pass == Pass::color;
    return *passes_.at({pass, color ? samples : 1, color && keeps_depth});
}

// Layouts do not change inside: barriers.cpp computes every transition.
vk::raii::RenderPass Pipelines::make_pass(Pass pass, int samples, bool keeps_depth) {
    using Load = vk::AttachmentLoadOp;
    using Store = vk::AttachmentStoreOp;
    constexpr auto color_layout = vk::ImageLayout::eColorAttachmentOptimal;
    constexpr auto depth_layout = vk::ImageLayout::eDepthStencilAttachmentOptimal;
    std::vector<vk::AttachmentDescription2> attachments;
    const auto attach = [&](vk::Format format, int count, Load load, Store store,
                            vk::ImageLayout layout) {
        attachments.push_back({{},
                               format,
                               static_cast<vk::SampleCountFlagBits>(count),
                               load,
                               store,
                               Load::eDontCare,
                               Store::eDontCare,
                               layout,
                               layout});
        const auto aspect = format == depth_format ? vk::ImageAspectFlagBits::eDepth
                                                   : vk::ImageAspectFlagBits::eColor;
        return vk::AttachmentReference2(static_cast<std::uint32_t>(attachments.size()) - 1, layout,
                                        aspect);
    };
    vk::AttachmentReference2 color, depth, resolved_color, resolved_depth;
    vk::SubpassDescriptionDepthStencilResolve resolve(
        vk::ResolveModeFlagBits::eSampleZero, vk::ResolveModeFlagBits::eNone, &resolved_depth);
    vk::SubpassDescription2 subpass;
    subpass.setPipelineBindPoint(vk::PipelineBindPoint::eGraphics);
    const auto use_depth = [&](int count, bool kept) {
        depth = attach(depth_format, count, Load::eClear, kept ? Store::eStore : Store::eDontCare,
                       depth_layout);
        subpass.setPDepthStencilAttachment(&depth);
    };
    const auto use_color = [&](vk::Format format, int count, Load load, bool kept) {
        color = attach(format, count, load, kept ? Store::eStore : Store::eDontCare, color_layout);
        subpass.setColorAttachments(color);
    };
    switch (pass) {
        case Pass::color:
            // The background covers all of it.
            use_color(color_format, samples, Load::eDontCare, samples == 1);
            use_depth(samples, keeps_depth && samples == 1);
            if (samples == 1) break;
            resolved_color = attach(color_format, 1, Load::eDontCare, Store::eStore, color_layout);
            subpass.setResolveAttachments(resolved_color);
            if (!keeps_depth) break;
            resolved_depth = attach(depth_format, 1, Load::eDontCare, Store::eStore,
                                    vk::ImageLayout::eAttachmentOptimal);
            subpass.setPNext(&resolve);
            break;
        case Pass::pick:
            use_color(pick_format, 1, Load::eClear, true);
            use_depth(1, false);
            break;
        case Pass::mask: use_color(mask_format, 1, Load::eClear, true); break;
        case Pass::shadow: use_depth(1, true); break;
    }
    vk::RenderPassCreateInfo2 info;
    info.setAttachments(attachments).setSubpasses(subpass);
    vk::raii::RenderPass made(context_.state().device, info);
    name_handle(context_, *made,
                fmt::format("{} pass, {} samples", pass_names[static_cast<int>(pass)], samples));
    return made;
}

vk::raii::ShaderModule Pipelines::module_of(const std::string& shader) {
    const auto code = shader_code(shader);
    vk::ShaderModuleCreateInfo info;
    info.setCode(code);
    vk::raii::ShaderModule made(context_.state().device, info);
    name_handle(context_, *made, shader);
    return made;
}

vk::Pipeline Pipelines::draw(const PipelineKey& key) {
    auto found = draws_.find(key);
    if (found == draws_.end()) found = draws_.emplace(key, make_draw(key)).first;
    return *found->second;
}

vk::raii::Pipeline Pipelines::make_draw(const PipelineKey& key) {
    const auto& shaders = shape_shaders[static_cast<int>(key.shape)];
    const std::string variant = key.shape == Shape::background
                                    ? ""
                                    : std::string(":") + pass_names[static_cast<int>(key.pass)];
    const auto vertex = module_of(shaders.vertex + variant);
    const auto fragment = module_of(shaders.fragment + variant);
    const Constants constants{key.wide, key.samples, key.shadowed, context_.facts().software,
                              key.sliced};
    const vk::SpecializationInfo special(static_cast<std::uint32_t>(constant_entries.size()),
                                         constant_entries.data(), sizeof constants, &constants);
    const std::array stages = {
        vk::PipelineShaderStageCreateInfo({}, vk::ShaderStageFlagBits::eVertex, *vertex, "main",
                                          &special),
        vk::PipelineShaderStageCreateInfo({}, vk::ShaderStageFlagBits::eFragment, *fragment, "main",
                                          &special)};
    const vk::PipelineVertexInputStateCreateInfo pulled;
    const vk::PipelineInputAssemblyStateCreateInfo triangles({},
                                                             vk::PrimitiveTopology::eTriangleList);
    const vk::PipelineViewportStateCreateInfo one_viewport({}, 1, nullptr, 1, nullptr);
    vk::PipelineRasterizationStateCreateInfo filled;
    filled.setLineWidth(1);
    if (key.pass == Pass::shadow)
        filled.setDepthBiasEnable(true).setDepthBiasConstantFactor(1).setDepthBiasSlopeFactor(1.5F);
    const vk::PipelineMultisampleStateCreateInfo multisample(
        {}, static_cast<vk::SampleCountFlagBits>(key.samples));
    const bool tested = key.shape != Shape::background && key.pass != Pass::mask;
    const vk::PipelineDepthStencilStateCreateInfo depth(
        {}, tested, tested,
        key.pass == Pass::shadow ? vk::CompareOp::eLess
        : key.strict             ? vk::CompareOp::eGreater
                                 : vk::CompareOp::eGreaterOrEqual);
    using Factor = vk::BlendFactor;
    using Component = vk::ColorComponentFlagBits;
    const vk::PipelineColorBlendAttachmentState blended(
        key.blended, Factor::eSrcAlpha, Factor::eOneMinusSrcAlpha, vk::BlendOp::eAdd, Factor::eZero,
        Factor::eOne, vk::BlendOp::eAdd,
        key.depth_only ? vk::ColorComponentFlags()
                       : Component::eR | Component::eG | Component::eB | Component::eA);
    vk::PipelineColorBlendStateCreateInfo blend;
    if (key.pass != Pass::shadow) blend.setAttachments(blended);
    const std::array dynamic = {vk::DynamicState::eViewport, vk::DynamicState::eScissor,
                                vk::DynamicState::eDepthWriteEnable};
    const vk::PipelineDynamicStateCreateInfo dynamics({}, dynamic);
    vk::GraphicsPipelineCreateInfo info;
    info.setStages(stages)
        .setPVertexInputState(&pulled)
        .setPInputAssemblyState(&triangles)
        .setPViewportState(&one_viewport)
        .setPRasterizationState(&filled)
        .setPMultisampleState(&multisample)
        .setPDepthStencilState(&depth)
        .setPColorBlendState(&blend)
        .setPDynamicState(&dynamics)
        .setLayout(*layout_)
        .setRenderPass(render_pass(key.pass, key.samples));
    vk::raii::Pipeline made(context_.state().device, context_.state().cache, info);
    name_handle(context_, *made,
                fmt::format("{}, {} samples", shaders.vertex + variant, key.samples));
    return made;
}

vk::Pipeline Pipelines::compute(const std::string& shader, bool wide) {
    auto found = computes_.find({shader, wide});
    if (found != computes_.end()) return *found->second;
    const Constants constants{wide, 1, false, context_.facts().software, false};
    const vk::SpecializationInfo special(static_cast<std::uint32_t>(constant_entries.size()),
                                         constant_entries.data(), sizeof constants, &constants);
    return *computes_.emplace(std::pair(shader, wide), make_compute(shader, *layout_, special))
                .first->second;
}

vk::Pipeline Pipelines::picture(const std::string& shader, bool occluded, bool outlined) {
    const std::tuple key(shader, occluded, outlined);
    auto found = pictures_.find(key);
    if (found != pictures_.end()) return *found->second;
    const PictureSpecial constants{occluded, outlined};
    const vk::SpecializationInfo special(static_cast<std::uint32_t>(picture_entries.size()),
                                         picture_entries.data(), sizeof constants, &constants);
    return *pictures_.emplace(key, make_compute(shader, *picture_layout_, special)).first->second;
}

vk::raii::Pipeline Pipelines::make_compute(const std::string& shader, vk::PipelineLayout layout,
                                           const vk::SpecializationInfo& special) {
    const auto code = module_of(shader);
    const vk::ComputePipelineCreateInfo info(
        {}, {{}, vk::ShaderStageFlagBits::eCompute, *code, "main", &special}, layout);
    vk::raii::Pipeline made(context_.state().device, context_.state().cache, info);
    name_handle(context_, *made, shader);
    return made;
}

}  // namespace hindcast::render
