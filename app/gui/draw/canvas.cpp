#include "app/gui/draw/canvas.hpp"

#include <imgui_impl_vulkan.h>

#include <cstdlib>
#include <cstring>

#include "app/render/device/uses.hpp"

namespace hindcast::gui {

namespace {

constexpr VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;

VkRenderPass make_pass(render::VulkanContext& context, const Functions& vk) {
    VkAttachmentDescription color{};
    color.format = format;
    color.samples = VK_SAMPLE_COUNT_1_BIT;
    color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    color.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    color.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    color.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    color.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &reference;
    // The image may still be copied from by the draw before.
    VkSubpassDependency dependencies[2]{};
    dependencies[0].srcSubpass = VK_SUBPASS_EXTERNAL;
    dependencies[0].srcStageMask =
        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    dependencies[0].srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    dependencies[0].dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    dependencies[0].dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    dependencies[1].dstSubpass = VK_SUBPASS_EXTERNAL;
    dependencies[1].srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    dependencies[1].srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    dependencies[1].dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
    dependencies[1].dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    VkRenderPassCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
    info.attachmentCount = 1;
    info.pAttachments = &color;
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
    info.dependencyCount = 2;
    info.pDependencies = dependencies;
    VkRenderPass pass = VK_NULL_HANDLE;
    context.check(vk.CreateRenderPass(context.device(), &info, nullptr, &pass),
                  "make the window's render pass");
    context.name(VK_OBJECT_TYPE_RENDER_PASS, pass, "window");
    return pass;
}

void start_imgui(render::VulkanContext& context, VkRenderPass pass) {
    ImGui_ImplVulkan_LoadFunctions(
        VK_API_VERSION_1_3,
        [](const char* name, void* user) {
            const auto* c = static_cast<const render::VulkanContext*>(user);
            const PFN_vkVoidFunction found = c->loader()(c->instance(), name);
            // Without a screen there are no functions for one; ImGui asks for them all, though it
            // uses them for windows of its own only.
            return found != nullptr ? found : PFN_vkVoidFunction([] { std::abort(); });
        },
        &context);
    ImGui_ImplVulkan_InitInfo info{};
    info.ApiVersion = VK_API_VERSION_1_3;
    info.Instance = context.instance();
    info.PhysicalDevice = context.physical_device();
    info.Device = context.device();
    info.QueueFamily = context.queue_family();
    info.Queue = context.queue();
    info.DescriptorPoolSize = 256;
    info.MinImageCount = 2;
    info.ImageCount = 2;
    info.PipelineCache = context.pipeline_cache();
    info.PipelineInfoMain.RenderPass = pass;
    info.MinAllocationSize = VkDeviceSize{1} << 20;
    ImGui_ImplVulkan_Init(&info);
}

}  // namespace

Canvas::Canvas(render::VulkanContext& context, int width, int height)
    : context_(context),
      functions_(context),
      width_(width),
      height_(height),
      pass_(make_pass(context, functions_)) {
    for (Slot& slot : slots_) {
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
        pool.queueFamilyIndex = context.queue_family();
        context.check(functions_.CreateCommandPool(context.device(), &pool, nullptr, &slot.pool),
                      "make a command pool");
        context.name(VK_OBJECT_TYPE_COMMAND_POOL, slot.pool, "window");
        VkCommandBufferAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        info.commandPool = slot.pool;
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = 1;
        context.check(functions_.AllocateCommandBuffers(context.device(), &info, &slot.commands),
                      "make a command buffer");
        context.name(VK_OBJECT_TYPE_COMMAND_BUFFER, slot.commands, "window");
    }
    make_target();
    start_imgui(context, pass_);
}

Canvas::~Canvas() {
    context_.finish();
    ImGui_ImplVulkan_Shutdown();
    for (const Picture& picture : uploads_) destroy(picture);
    functions_.DestroyFramebuffer(context_.device(), framebuffer_, nullptr);
    destroy(target_);
    for (const Slot& slot : slots_)
        functions_.DestroyCommandPool(context_.device(), slot.pool, nullptr);
    functions_.DestroyRenderPass(context_.device(), pass_, nullptr);
}

Canvas::Picture Canvas::make_picture(int width, int height, VkImageUsageFlags usage,
                                     const char* name) {
    VkDevice device = context_.device();
    Picture picture;
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = usage;
    context_.check(functions_.CreateImage(device, &info, nullptr, &picture.image),
                   "make an image of the window's size");
    VkMemoryRequirements needs{};
    functions_.GetImageMemoryRequirements(device, picture.image, &needs);
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = memory_type(functions_, context_.physical_device(),
                                         needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    context_.check(functions_.AllocateMemory(device, &memory, nullptr, &picture.memory),
                   "get memory for the window's image");
    context_.check(functions_.BindImageMemory(device, picture.image, picture.memory, 0),
                   "give the window's image its memory");
    VkImageViewCreateInfo view{};
    view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
    view.image = picture.image;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    context_.check(functions_.CreateImageView(device, &view, nullptr, &picture.view),
                   "make a view of the window's image");
    context_.name(VK_OBJECT_TYPE_IMAGE, picture.image, name);
    context_.name(VK_OBJECT_TYPE_IMAGE_VIEW, picture.view, name);
    context_.name(VK_OBJECT_TYPE_DEVICE_MEMORY, picture.memory, name);
    return picture;
}

void Canvas::destroy(const Picture& picture) const {
    functions_.DestroyImageView(context_.device(), picture.view, nullptr);
    functions_.DestroyImage(context_.device(), picture.image, nullptr);
    functions_.FreeMemory(context_.device(), picture.memory, nullptr);
}

Canvas::Buffer Canvas::make_buffer(std::size_t bytes, VkBufferUsageFlags usage,
                                   const char* name) const {
    VkDevice device = context_.device();
    Buffer buffer;
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = usage;
    context_.check(functions_.CreateBuffer(device, &info, nullptr, &buffer.buffer),
                   "make a buffer for a picture");
    VkMemoryRequirements needs{};
    functions_.GetBufferMemoryRequirements(device, buffer.buffer, &needs);
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex =
        memory_type(functions_, context_.physical_device(), needs.memoryTypeBits,
                    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    context_.check(functions_.AllocateMemory(device, &memory, nullptr, &buffer.memory),
                   "get memory for a picture");
    context_.check(functions_.BindBufferMemory(device, buffer.buffer, buffer.memory, 0),
                   "give a buffer its memory");
    context_.check(functions_.MapMemory(device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &buffer.mapped),
                   "map a picture's memory");
    context_.name(VK_OBJECT_TYPE_BUFFER, buffer.buffer, name);
    context_.name(VK_OBJECT_TYPE_DEVICE_MEMORY, buffer.memory, name);
    return buffer;
}

void Canvas::destroy(const Buffer& buffer) const {
    functions_.DestroyBuffer(context_.device(), buffer.buffer, nullptr);
    functions_.FreeMemory(context_.device(), buffer.memory, nullptr);
}

void Canvas::make_target() {
    target_ = make_picture(width_, height_,
                           VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                           "window");
    VkFramebufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
    info.renderPass = pass_;
    info.attachmentCount = 1;
    info.pAttachments = &target_.view;
    info.width = static_cast<std::uint32_t>(width_);
    info.height = static_cast<std::uint32_t>(height_);
    info.layers = 1;
    context_.check(functions_.CreateFramebuffer(context_.device(), &info, nullptr, &framebuffer_),
                   "make the window's frame buffer");
    context_.name(VK_OBJECT_TYPE_FRAMEBUFFER, framebuffer_, "window");
}

void Canvas::resize(int width, int height) {
    if (width == width_ && height == height_) return;
    context_.defer([this, old = target_, framebuffer = framebuffer_] {
        functions_.DestroyFramebuffer(context_.device(), framebuffer, nullptr);
        destroy(old);
    });
    width_ = width;
    height_ = height;
    make_target();
}

void Canvas::new_frame() { ImGui_ImplVulkan_NewFrame(); }

VkCommandBuffer Canvas::begin() {
    current_slot_ = next_slot_;
    next_slot_ = (next_slot_ + 1) % slots_.size();
    const Slot& slot = slots_[current_slot_];
    if (slot.value > 0) context_.wait(slot.value);
    context_.check(functions_.ResetCommandPool(context_.device(), slot.pool, 0),
                   "reset a command pool");
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    context_.check(functions_.BeginCommandBuffer(slot.commands, &info), "begin a command buffer");
    return slot.commands;
}

void Canvas::draw(ImDrawData& data, const Screen& screen) {
    VkCommandBuffer commands = begin();
    const ImVec4& back = ImGui::GetStyle().Colors[ImGuiCol_DockingEmptyBg];
    VkClearValue clear{};
    clear.color = {{back.x, back.y, back.z, 1}};
    VkRenderPassBeginInfo pass{};
    pass.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
    pass.renderPass = pass_;
    pass.framebuffer = framebuffer_;
    pass.renderArea.extent = {static_cast<std::uint32_t>(width_),
                              static_cast<std::uint32_t>(height_)};
    pass.clearValueCount = 1;
    pass.pClearValues = &clear;
    functions_.CmdBeginRenderPass(commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
    ImGui_ImplVulkan_RenderDrawData(&data, commands);
    functions_.CmdEndRenderPass(commands);
    if (screen.record) screen.record(commands, target_.image);
    context_.check(functions_.EndCommandBuffer(commands), "end a command buffer");
    slots_[current_slot_].value =
        context_.submit({.commands = commands, .waits = screen.waits, .signals = screen.signals});
}

render::Image Canvas::read() {
    render::Image image{width_, height_, {}};
    const std::size_t bytes = static_cast<std::size_t>(width_) * height_ * 4;
    const Buffer buffer = make_buffer(bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT, "screenshot");
    VkCommandBuffer commands = begin();
    // The render pass ends with what copying from it waits for.
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {static_cast<std::uint32_t>(width_), static_cast<std::uint32_t>(height_),
                          1};
    functions_.CmdCopyImageToBuffer(commands, target_.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                    buffer.buffer, 1, &region);
    render::record_barrier(context_, commands, buffer.buffer, render::Use::transfer_write,
                           render::Use::host_read);
    context_.check(functions_.EndCommandBuffer(commands), "end a command buffer");
    slots_[current_slot_].value =
        context_.submit({.commands = commands, .waits = {}, .signals = {}});
    context_.wait(slots_[current_slot_].value);
    image.pixels.resize(bytes);
    std::memcpy(image.pixels.data(), buffer.mapped, bytes);
    for (std::size_t k = 3; k < bytes; k += 4) image.pixels[k] = 255;
    destroy(buffer);
    return image;
}

ImTextureID Canvas::texture(VkImageView view) {
    return reinterpret_cast<ImTextureID>(
        ImGui_ImplVulkan_AddTexture(view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL));
}

void Canvas::forget(ImTextureID texture) {
    // It may become due while another context is current (offscreen_canvas.hpp).
    context_.defer([texture, own = ImGui::GetCurrentContext()] {
        ImGuiContext* const current = ImGui::GetCurrentContext();
        ImGui::SetCurrentContext(own);
        // NOLINTNEXTLINE(performance-no-int-to-ptr): ImGui keeps Vulkan's handles as numbers
        ImGui_ImplVulkan_RemoveTexture(reinterpret_cast<VkDescriptorSet>(texture));
        ImGui::SetCurrentContext(current);
    });
}

ImTextureID Canvas::upload(const render::Image& image) {
    const Picture picture =
        make_picture(image.width, image.height,
                     VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, "picture");
    uploads_.push_back(picture);
    const Buffer buffer =
        make_buffer(image.pixels.size(), VK_BUFFER_USAGE_TRANSFER_SRC_BIT, "picture upload");
    std::memcpy(buffer.mapped, image.pixels.data(), image.pixels.size());
    VkCommandBuffer commands = begin();
    render::record_barrier(context_, commands, picture.image, render::Use::nothing,
                           render::Use::transfer_write);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {static_cast<std::uint32_t>(image.width),
                          static_cast<std::uint32_t>(image.height), 1};
    functions_.CmdCopyBufferToImage(commands, buffer.buffer, picture.image,
                                    VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    render::record_barrier(context_, commands, picture.image, render::Use::transfer_write,
                           render::Use::fragment_sample);
    context_.check(functions_.EndCommandBuffer(commands), "end a command buffer");
    slots_[current_slot_].value =
        context_.submit({.commands = commands, .waits = {}, .signals = {}});
    context_.defer([this, buffer] { destroy(buffer); });
    return texture(picture.view);
}

}  // namespace hindcast::gui
