// The one place that computes barriers: every image and buffer keeps its last use, and the next use
// gives the barrier that must stand between the two.
//
//     Barriers barriers;
//     barriers.use(color.state(), Use::color_attachment);
//     barriers.use(range, Use::compute_write);
//     barriers.record(commands);                 // one vkCmdPipelineBarrier2, or nothing
//
// Submissions to the one queue run in their order, so states carry over from one to the next.
#pragma once

#include <vector>

#include "app/render/device/uses.hpp"
#include "app/render/device/vulkan.hpp"

namespace hindcast::render {

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
    // With `discard` the image's content is dropped.
    void use(ImageState& image, Use use, bool discard = false);
    void use(vk::Buffer buffer, BufferState& state, Use use);
    void record(const vk::raii::CommandBuffer& commands);

private:
    std::vector<vk::ImageMemoryBarrier2> images_;
    std::vector<vk::BufferMemoryBarrier2> buffers_;
};

}  // namespace hindcast::render
