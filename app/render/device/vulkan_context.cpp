// The queue, its timeline and the deletion queue. vulkan_device.cpp makes what stands here.
#include "app/render/device/vulkan_context.hpp"

#include <fmt/format.h>

#include <chrono>

#include "app/render/device/vulkan.hpp"
#include "engine/base/log.hpp"

namespace hindcast::render {

Error device_lost(const DeviceFacts& facts) {
    return Error("the graphics device '" + facts.name + "' was lost")
        .remedy(
            "the program's data is safe: save, and start again; if it happens again, update the "
            "driver or choose another device with HINDCAST_VULKAN_DEVICE");
}

Error no_driver() {
    return Error("Vulkan found no driver for a graphics device")
        .remedy(
            "install one (Debian: mesa-vulkan-drivers, which draws on the processor where there is "
            "no graphics device)");
}

void throw_as_error(const vk::SystemError& error, const DeviceFacts& facts) {
    const auto result = static_cast<vk::Result>(error.code().value());
    if (result == vk::Result::eErrorDeviceLost) throw device_lost(facts);
    if (result == vk::Result::eErrorOutOfDeviceMemory ||
        result == vk::Result::eErrorOutOfHostMemory)
        throw Error(fmt::format("the graphics device '{}' has too little memory ({})", facts.name,
                                error.what()))
            .remedy("draw a smaller picture, with 1 sample per pixel, or a smaller scene");
    if (result == vk::Result::eErrorIncompatibleDriver) throw no_driver();
    const std::string where = facts.name.empty() ? "" : " on '" + facts.name + "'";
    throw Error(fmt::format("Vulkan failed{}: {}", where, error.what()))
        .remedy("update the graphics driver, or choose another device with HINDCAST_VULKAN_DEVICE");
}

VulkanContext::~VulkanContext() { finish(); }

void VulkanContext::finish() noexcept {
    state_->finish_all();
    state_->collect(UINT64_MAX);
}

void VulkanContext::State::finish_all() noexcept {
    if (!*device) return;
    try {
        device.waitIdle();
    } catch (const std::exception& error) {
        log_warning("while closing Vulkan: {}", error.what());
    }
}

const DeviceFacts& VulkanContext::facts() const { return state_->facts; }
PFN_vkGetInstanceProcAddr VulkanContext::loader() const { return state_->loader; }
VkInstance VulkanContext::instance() const { return *state_->instance; }
VkPhysicalDevice VulkanContext::physical_device() const { return *state_->physical; }
VkDevice VulkanContext::device() const { return *state_->device; }
VkQueue VulkanContext::queue() const { return *state_->queue; }
std::uint32_t VulkanContext::queue_family() const { return state_->family; }
VkPipelineCache VulkanContext::pipeline_cache() const { return *state_->cache; }
VkSemaphore VulkanContext::timeline() const { return *state_->timeline; }

std::uint64_t VulkanContext::submit(const Submission& submission) {
    State& state = *state_;
    return state.guarded([&] {
        if (std::exchange(state.lose_next, false)) throw vk::DeviceLostError("a simulated loss");
        std::vector<vk::SemaphoreSubmitInfo> waits(submission.waits.begin(),
                                                   submission.waits.end());
        std::vector<vk::SemaphoreSubmitInfo> signals(submission.signals.begin(),
                                                     submission.signals.end());
        const std::uint64_t value = state.submitted + 1;
        signals.emplace_back(*state.timeline, value, vk::PipelineStageFlagBits2::eAllCommands);
        const vk::CommandBufferSubmitInfo commands(submission.commands);
        vk::SubmitInfo2 info;
        info.setWaitSemaphoreInfos(waits).setSignalSemaphoreInfos(signals);
        if (submission.commands) info.setCommandBufferInfos(commands);
        state.queue.submit2(info);
        state.submitted = value;
        ++state.counters.submissions;
        state.collect(state.timeline.getCounterValue());
        return value;
    });
}

std::uint64_t VulkanContext::submitted() const { return state_->submitted; }

std::uint64_t VulkanContext::completed() {
    State& state = *state_;
    return state.guarded([&] {
        const std::uint64_t done = state.timeline.getCounterValue();
        state.collect(done);
        return done;
    });
}

void VulkanContext::wait(std::uint64_t value) {
    State& state = *state_;
    state.guarded([&] {
        // A device that hangs longer than this is as good as lost.
        constexpr std::chrono::nanoseconds patience = std::chrono::seconds(60);
        vk::SemaphoreWaitInfo info;
        info.setSemaphores(*state.timeline).setValues(value);
        if (std::exchange(state.miss_next, false) ||
            state.device.waitSemaphores(info, static_cast<std::uint64_t>(patience.count())) ==
                vk::Result::eTimeout)
            throw Error(
                fmt::format("the graphics device '{}' did not finish a picture in {} s",
                            state.facts.name,
                            std::chrono::duration_cast<std::chrono::seconds>(patience).count()))
                .remedy(
                    "draw a smaller picture, or choose another device with "
                    "HINDCAST_VULKAN_DEVICE");
        state.collect(value);
    });
}

void VulkanContext::wait_idle() { wait(state_->submitted); }

void VulkanContext::defer(std::function<void()> destroy) {
    state_->deferred.push_back({state_->submitted, std::move(destroy)});
}

void VulkanContext::State::collect(std::uint64_t done) {
    while (!deferred.empty() && deferred.front().value <= done) {
        const auto destroy = std::move(deferred.front().destroy);
        deferred.pop_front();
        destroy();
    }
}

void VulkanContext::name(VkObjectType type, std::uint64_t handle, const std::string& text) const {
    const State& state = *state_;
    if (!state.debug_utils) return;
    const vk::DebugUtilsObjectNameInfoEXT info(static_cast<vk::ObjectType>(type), handle,
                                               text.c_str());
    state.device.setDebugUtilsObjectNameEXT(info);
}

void VulkanContext::check(VkResult result, const char* what) const {
    if (result >= 0) return;
    state_->guarded([&] { vk::throwResultException(static_cast<vk::Result>(result), what); });
}

VulkanContext::Counters VulkanContext::counters() const {
    Counters counters = state_->counters;
    counters.waiting = state_->deferred.size();
    counters.live_allocations = state_->live.allocations;
    counters.live_bytes = state_->live.bytes;
    return counters;
}

bool VulkanContext::lost() const { return state_->lost; }

void VulkanContext::lose_device() { state_->lose_next = true; }
void VulkanContext::miss_next_wait() { state_->miss_next = true; }

std::optional<std::uint32_t> VulkanContext::State::memory_type(
    std::uint32_t types, vk::MemoryPropertyFlags properties) const {
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i)
        if ((types >> i & 1U) != 0 &&
            (memory.memoryTypes[i].propertyFlags & properties) == properties)
            return i;
    return std::nullopt;
}

}  // namespace hindcast::render
