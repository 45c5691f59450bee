// Vulkan-Hpp as app/render uses it, and what a VulkanContext holds. Only for the .cpp files here:
// this header takes seconds to compile.
#pragma once

#define VK_NO_PROTOTYPES
#define VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL 0
#define VULKAN_HPP_NO_STRUCT_COMPARE
#include <vulkan/vulkan_raii.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/render/device/vulkan_context.hpp"
#include "engine/base/error.hpp"

namespace hindcast::render {

// A failed call of Vulkan as our Error; rethrow it inside a catch block.
[[noreturn]] void throw_as_error(const vk::SystemError& error, const DeviceFacts& facts);
Error device_lost(const DeviceFacts& facts);
Error no_driver();

struct VulkanContext::State {
    struct Deferred {
        std::uint64_t value = 0;
        std::function<void()> destroy;
    };

    // In the order of their making; destroyed from the last to the first.
    std::shared_ptr<void> library;
    std::function<void(const std::string&)> on_message;
    std::optional<vk::raii::Context> context;
    vk::raii::Instance instance{nullptr};
    vk::raii::DebugUtilsMessengerEXT messenger{nullptr};
    vk::raii::PhysicalDevice physical{nullptr};
    vk::raii::Device device{nullptr};
    vk::raii::Queue queue{nullptr};
    vk::raii::PipelineCache cache{nullptr};
    vk::raii::Semaphore timeline{nullptr};

    DeviceFacts facts;
    PFN_vkGetInstanceProcAddr loader = nullptr;
    vk::PhysicalDeviceMemoryProperties memory;
    vk::PhysicalDeviceLimits limits;
    vk::DeviceSize host_alignment = 4096;  // of imported host pointers
    float timestamp_period = 0;            // ns; 0: the queue has none
    std::uint32_t family = 0;
    bool debug_utils = false;

    std::uint64_t submitted = 0;
    bool lose_next = false, miss_next = false, lost = false;
    std::deque<Deferred> deferred;
    Counters counters;
    // Shared memory may be freed on the writer's thread.
    struct {
        std::atomic<std::uint64_t> allocations{0}, bytes{0};
    } live;

    // The first type of memory among `types` (bits) with all of these properties; none if there is
    // none.
    std::optional<std::uint32_t> memory_type(std::uint32_t types,
                                             vk::MemoryPropertyFlags properties) const;
    void collect(std::uint64_t done);  // destroys what is due
    // Waits for the device without complaint: a lost one is told of when that happens.
    void finish_all() noexcept;
    // Runs `work`, turning what Vulkan throws into Error.
    template <class Work>
    auto guarded(Work work) {
        try {
            return work();
        } catch (const vk::SystemError& error) {
            // A window's surface that is gone takes what was made for it along.
            if (error.code() == vk::Result::eErrorDeviceLost ||
                error.code() == vk::Result::eErrorSurfaceLostKHR)
                lost = true;
            throw_as_error(error, facts);
        }
    }
};

}  // namespace hindcast::render
