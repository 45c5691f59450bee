// The connection to Vulkan: instance, device, the one queue with its timeline, and what is
// destroyed once the device has finished with it. Made once; the renderer and the window share it.
//
//     VulkanContext context({});                          // headless: no extension, no window
//     const std::uint64_t value = context.submit({.commands = commands});
//     context.defer([=] { destroy(image); });              // after `value`
//     context.wait(value);
//
// All functions belong to one thread. The Vulkan library is opened at run time, so a program that
// never makes a context needs none. Handles are C's, so that this header is cheap to include (and
// what imgui_impl_vulkan takes); inside app/render, vulkan.hpp gives the same as Vulkan-Hpp's.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hindcast::render {

struct ContextOptions {
    // Extensions that the window needs: glfwGetRequiredInstanceExtensions(), VK_KHR_swapchain.
    std::vector<std::string> instance_extensions, device_extensions;
    // True if the queue family of this device can present to the window (the instance exists
    // already).
    std::function<bool(VkInstance, VkPhysicalDevice, std::uint32_t family)> can_present;
    // Part of the device's name, or its index as `hindcast info` lists them; empty: the
    // environment's HINDCAST_VULKAN_DEVICE, else that with this UUID (the GPU that computes), else
    // the first discrete one, then any.
    std::string device;
    std::optional<std::array<std::uint8_t, 16>> uuid;
    // Validation layers with synchronization and best practices: for tests and debugging. Also on
    // with HINDCAST_VULKAN_VALIDATION=1. Throws Error if asked for here and not installed.
    bool validation = false;
    // Every message of the layers; without it they are logged as errors.
    std::function<void(const std::string&)> on_message;
    // The Vulkan library; empty: the environment's HINDCAST_VULKAN_LIBRARY, else libvulkan.so.1.
    std::string library;
};

// A device in words, for `hindcast info` and the status bar.
struct DeviceFacts {
    std::string name;               // "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver;             // "llvmpipe, Mesa 22.3.6 (LLVM 15.0.6)"
    std::string version;            // of Vulkan: "1.3.230"
    bool software = false;          // runs on the processor
    bool host_import = false;       // VK_EXT_external_memory_host: transport `imported`
    bool memory_export = false;     // opaque file descriptors: transport `exported`
    bool semaphore_export = false;  // timeline semaphores too
    bool validation = false;        // the layers are on
    std::array<std::uint8_t, 16> uuid{};
};

struct Submission {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    std::span<const VkSemaphoreSubmitInfo> waits, signals;  // besides the timeline: the swapchain's
};

class VulkanContext {
public:
    // Throws Error with a remedy if there is no library, no device, or no Vulkan 1.3.
    explicit VulkanContext(ContextOptions options);
    ~VulkanContext();  // waits for the device
    VulkanContext(const VulkanContext&) = delete;
    VulkanContext& operator=(const VulkanContext&) = delete;

    // Every device of this machine, without keeping a connection.
    static std::vector<DeviceFacts> devices(const std::string& library = {});

    const DeviceFacts& facts() const;
    PFN_vkGetInstanceProcAddr loader() const;  // vkGetInstanceProcAddr
    VkInstance instance() const;
    VkPhysicalDevice physical_device() const;
    VkDevice device() const;
    VkQueue queue() const;  // graphics and compute, and presenting if can_present was given
    std::uint32_t queue_family() const;
    VkPipelineCache pipeline_cache() const;

    // Everything handed to the queue is numbered; the timeline semaphore reaches that number when
    // the device has done it. Throws Error, with what to do, if the device is lost.
    std::uint64_t submit(const Submission& submission);
    std::uint64_t submitted() const;  // number of the last submission
    std::uint64_t completed();        // the last one that is done
    void wait(std::uint64_t value);
    void wait_idle();
    // The same without complaint, for closing: what is deferred is let go of, also of a lost
    // device.
    void finish() noexcept;
    VkSemaphore timeline() const;

    // Kept alive until everything submitted so far is done, then called. submit() and wait() look
    // for what is due.
    void defer(std::function<void()> destroy);

    // For debuggers and validation messages; does nothing without a listener.
    void name(VkObjectType type, std::uint64_t handle, const std::string& name) const;
    template <class Handle>
    void name(VkObjectType type, Handle handle, const std::string& text) const {
        name(type, reinterpret_cast<std::uint64_t>(handle), text);
    }

    // Throws Error for a result that is a failure; `what` says what was tried ("show the window").
    void check(VkResult result, const char* what) const;

    // Memory of the device that was allocated: for tests that nothing grows.
    struct Counters {
        std::uint64_t allocations = 0, live_allocations = 0, live_bytes = 0;
        std::uint64_t submissions = 0, waiting = 0;  // waiting: in the deletion queue
    };
    Counters counters() const;

    // True if the device was lost: it can then only be released.
    bool lost() const;

    // For tests: the next submission fails as if the device was lost; the next wait as if the
    // device was not done in time.
    void lose_device();
    void miss_next_wait();

    struct State;  // vulkan.hpp
    State& state() { return *state_; }
    // Memory that the solver still holds keeps the device.
    std::shared_ptr<State> share_state() { return state_; }

private:
    std::shared_ptr<State> state_;
};

}  // namespace hindcast::render
