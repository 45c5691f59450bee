// Uses of images and buffers. barriers.cpp alone knows the meaning of each use to Vulkan. The
// renderer keeps the last use with each image and buffer (barriers.hpp); the window, which has
// plain handles, gives both uses itself.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace hindcast::render {

class VulkanContext;

enum class Use : std::uint8_t {
    nothing,
    color_attachment,  // drawn to, or resolved to
    depth_attachment,
    depth_resolve,
    fragment_sample,  // read by a fragment shader
    compute_sample,
    storage_image,  // read and written by a compute shader
    transfer_read,
    transfer_write,
    acquired,      // an image of the screen that was waited for where transfers are
    present,       // shown on the screen
    compute_read,  // buffers from here on
    compute_write,
    draw_read,    // by vertex and fragment shaders
    shader_read,  // by these and compute shaders
    copy_and_draw_read,
    table_read,  // indices too
    host_read,
};

// The barrier between two uses of a color image, and of a buffer, recorded at once. With an image
// that was `nothing` or `acquired` before, what it held is of no interest.
void record_barrier(VulkanContext& context, VkCommandBuffer commands, VkImage image, Use before,
                    Use after);
void record_barrier(VulkanContext& context, VkCommandBuffer commands, VkBuffer buffer, Use before,
                    Use after);

}  // namespace hindcast::render
