// Buffers and images with memory of their own, named and counted.
//
// They are few (some dozens for a scene), so each has its own allocation. Whoever replaces one
// while the device may still use it hands it to VulkanContext::defer().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "app/render/device/barriers.hpp"
#include "app/render/device/vulkan.hpp"

namespace hindcast::render {

// Memory that is counted in VulkanContext::Counters as long as it lives.
class Allocation {
public:
    Allocation() = default;
    Allocation(VulkanContext& context, const vk::MemoryRequirements& needs,
               vk::MemoryPropertyFlags properties, const void* next, const std::string& name);
    ~Allocation();
    Allocation(Allocation&& other) noexcept;
    Allocation& operator=(Allocation&& other) noexcept;

    vk::DeviceMemory operator*() const { return *memory_; }
    vk::DeviceSize bytes() const { return bytes_; }
    std::byte* map() const;

private:
    std::shared_ptr<VulkanContext::State> state_;
    vk::raii::DeviceMemory memory_{nullptr};
    vk::DeviceSize bytes_ = 0;
};

enum class Residence : std::uint8_t {
    device,    // of the device, not seen by the host
    upload,    // written by the host, mapped
    readback,  // read by the host, mapped
};

class Buffer {
public:
    Buffer() = default;
    Buffer(VulkanContext& context, vk::DeviceSize bytes, vk::BufferUsageFlags usage,
           Residence residence, const std::string& name);

    explicit operator bool() const { return size_ > 0; }
    vk::Buffer operator*() const { return *buffer_; }
    vk::DeviceSize size() const { return size_; }
    std::byte* mapped() const { return mapped_; }
    BufferState& state() { return state_; }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(mapped_);
    }

private:
    Allocation memory_;
    vk::raii::Buffer buffer_{nullptr};
    vk::DeviceSize size_ = 0;
    std::byte* mapped_ = nullptr;
    BufferState state_;
};

// A two-dimensional image with one mip level, and its view.
class Target {
public:
    Target() = default;
    Target(VulkanContext& context, int width, int height, vk::Format format, int samples,
           vk::ImageUsageFlags usage, const std::string& name);

    explicit operator bool() const { return width_ > 0; }
    vk::Image image() const { return *image_; }
    vk::ImageView view() const { return *view_; }
    int width() const { return width_; }
    int height() const { return height_; }
    vk::Extent2D extent() const {
        return {static_cast<std::uint32_t>(width_), static_cast<std::uint32_t>(height_)};
    }
    ImageState& state() { return state_; }

private:
    Allocation memory_;
    vk::raii::Image image_{nullptr};
    vk::raii::ImageView view_{nullptr};
    int width_ = 0, height_ = 0;
    ImageState state_;
};

// vkDestroy later, when the device has done what was submitted.
template <class T>
void retire(VulkanContext& context, std::shared_ptr<T>& object) {
    if (object) context.defer([kept = std::exchange(object, nullptr)] {});
}

template <class T>
void retire(VulkanContext& context, T& object) {
    auto kept = std::make_shared<T>(std::exchange(object, T()));
    context.defer([kept] {});
}

}  // namespace hindcast::render
