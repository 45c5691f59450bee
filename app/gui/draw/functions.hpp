// The Vulkan functions that the window calls itself, loaded from the context's library.
#pragma once

#include "app/render/device/vulkan_context.hpp"
#include "engine/base/error.hpp"

namespace hindcast::gui {

#define HINDCAST_GUI_FUNCTIONS(X)  \
    X(AcquireNextImageKHR)         \
    X(AllocateCommandBuffers)      \
    X(AllocateMemory)              \
    X(BeginCommandBuffer)          \
    X(BindBufferMemory)            \
    X(BindImageMemory)             \
    X(CmdBeginRenderPass)          \
    X(CmdBlitImage)                \
    X(CmdCopyBufferToImage)        \
    X(CmdCopyImageToBuffer)        \
    X(CmdEndRenderPass)            \
    X(CreateBuffer)                \
    X(CreateCommandPool)           \
    X(CreateFramebuffer)           \
    X(CreateImage)                 \
    X(CreateImageView)             \
    X(CreateRenderPass)            \
    X(CreateSemaphore)             \
    X(CreateSwapchainKHR)          \
    X(DestroyBuffer)               \
    X(DestroyCommandPool)          \
    X(DestroyFramebuffer)          \
    X(DestroyImage)                \
    X(DestroyImageView)            \
    X(DestroyRenderPass)           \
    X(DestroySemaphore)            \
    X(DestroySwapchainKHR)         \
    X(EndCommandBuffer)            \
    X(FreeMemory)                  \
    X(GetBufferMemoryRequirements) \
    X(GetImageMemoryRequirements)  \
    X(GetSwapchainImagesKHR)       \
    X(MapMemory)                   \
    X(QueuePresentKHR)             \
    X(ResetCommandPool)

#define HINDCAST_GUI_INSTANCE_FUNCTIONS(X)     \
    X(DestroySurfaceKHR)                       \
    X(GetDeviceProcAddr)                       \
    X(GetPhysicalDeviceMemoryProperties)       \
    X(GetPhysicalDeviceSurfaceCapabilitiesKHR) \
    X(GetPhysicalDeviceSurfaceFormatsKHR)

struct Functions {
    explicit Functions(const render::VulkanContext& context) {
        const auto load = context.loader();
#define HINDCAST_LOAD(name) \
    name = reinterpret_cast<PFN_vk##name>(load(context.instance(), "vk" #name));
        HINDCAST_GUI_INSTANCE_FUNCTIONS(HINDCAST_LOAD)
#undef HINDCAST_LOAD
#define HINDCAST_LOAD(name) \
    name = reinterpret_cast<PFN_vk##name>(GetDeviceProcAddr(context.device(), "vk" #name));
        HINDCAST_GUI_FUNCTIONS(HINDCAST_LOAD)
#undef HINDCAST_LOAD
    }

#define HINDCAST_MEMBER(name) PFN_vk##name name = nullptr;
    HINDCAST_GUI_FUNCTIONS(HINDCAST_MEMBER)
    HINDCAST_GUI_INSTANCE_FUNCTIONS(HINDCAST_MEMBER)
#undef HINDCAST_MEMBER
};

// The first memory type among `types` with these properties. Throws Error where there is none.
inline std::uint32_t memory_type(const Functions& functions, VkPhysicalDevice device,
                                 std::uint32_t types, VkMemoryPropertyFlags wanted) {
    VkPhysicalDeviceMemoryProperties all{};
    functions.GetPhysicalDeviceMemoryProperties(device, &all);
    for (std::uint32_t k = 0; k < all.memoryTypeCount; ++k)
        if (((types >> k) & 1U) != 0 && (all.memoryTypes[k].propertyFlags & wanted) == wanted)
            return k;
    throw Error("this Vulkan device has no memory of the kind that the window needs")
        .remedy("choose another one with HINDCAST_VULKAN_DEVICE; hindcast info lists them");
}

}  // namespace hindcast::gui
