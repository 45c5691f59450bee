// The images that a picture of one size is made of, and their framebuffers.
//
//   color, depth     what drawables are drawn into, with 1 or 4 samples
//   lit, nearest     the same with one sample, before ambient occlusion and outline are put to it
//   finished         the picture: drawn to directly where nothing is put to it
//   mask             the silhouette of what is selected
//   distance, open, calm   at half the size: how far away, how open to the sky, without its noise
#pragma once

#include "app/render/device/memory.hpp"
#include "app/render/pipelines.hpp"

namespace hindcast::render {

class Targets {
public:
    Targets() = default;
    Targets(VulkanContext& context, const Pipelines& pipelines, int width, int height, int samples,
            bool put_to, bool outlined);

    bool fits(int width, int height, int samples, bool put_to, bool outlined) const {
        return finished.width() == width && finished.height() == height && samples_ == samples &&
               (!put_to || lit) && (!outlined || mask);
    }
    vk::Framebuffer drawing(bool put_to) const {
        return put_to ? *drawing_to_lit_ : *drawing_to_finished_;
    }
    vk::Framebuffer masking() const { return *masking_; }
    vk::DescriptorSet set() const { return set_; }
    int samples() const { return samples_; }

    Target color, depth, lit, nearest, finished, mask, distance, open, calm;

private:
    void make_framebuffers(VulkanContext& context, const Pipelines& pipelines);
    void make_set(VulkanContext& context, const Pipelines& pipelines);

    int samples_ = 0;
    vk::raii::Framebuffer drawing_to_lit_{nullptr}, drawing_to_finished_{nullptr},
        masking_{nullptr};
    vk::raii::DescriptorPool pool_{nullptr};
    vk::DescriptorSet set_;  // the pool's
};

}  // namespace hindcast::render
