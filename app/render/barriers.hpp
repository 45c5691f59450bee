// The one place that computes barriers: what an image or a buffer was last used for is kept with
// it, and the next use gives the barrier that must stand between the two.
//
//     Barriers barriers;
//     barriers.use(colour.state(), Use::colour_attachment);
//     barriers.use(range, Use::compute_write);
//     barriers.record(commands);                 // one vkCmdPipelineBarrier2, or nothing
//
// Submissions to the one queue run in their order, so states carry over from one to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "app/render/vulkan.hpp"

namespace hindcast::render {

enum class Use : std::uint8_t {
    nothing,
    colour_attachment,  // drawn to, or resolved to
    depth_attachment,
    depth_resolve,
    fragment_sample,  // read by a fragment shader
    compute_sample,
    storage_image,  // read and written by a compute shader
    transfer_read,
    transfer_write,
    compute_read,  // buffers from here on
    compute_write,
    draw_read,    // by vertex and fragment shaders
    shader_read,  // by these and compute shaders
    copy_and_draw_read,
    table_read,  // indices too
    host_read,
};

class ImageState {
public:
    ImageState() = default;
    ImageState(vk::Image image, vk::ImageAspectFlags aspect) : image_(image), aspect_(aspect) {}
    bool unused() const { return last_ == Use::nothing; }

private:
    friend class Barriers;
    vk::Image image_;
    vk::ImageAspectFlags aspect_;
    Use last_ = Use::nothing;
};

class BufferState {
private:
    friend class Barriers;
    Use last_ = Use::nothing;
};

class Barriers {
public:
    // With `discard`, what the image held is of no interest.
    void use(ImageState& image, Use use, bool discard = false);
    void use(vk::Buffer buffer, BufferState& state, Use use);
    void record(const vk::raii::CommandBuffer& commands);

private:
    std::vector<vk::ImageMemoryBarrier2> images_;
    std::vector<vk::BufferMemoryBarrier2> buffers_;
};

}  // namespace hindcast::render
