#include "app/cli/info/info_vulkan.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/render/device/exchange.hpp"
#include "app/render/device/vulkan_context.hpp"
#include "engine/base/error.hpp"

namespace hindcast::cli {

namespace {

std::string transports_of(const render::DeviceFacts& facts) {
    std::string text;
    for (const render::TransportKind kind : render::kinds_of(facts))
        text += (text.empty() ? "" : ", ") + std::string(render::name_of(kind));
    if (facts.memory_export) {
        text += "; exported, for --device cuda on this GPU";
        if (!facts.semaphore_export) text += ", which is waited for";
    }
    return text;
}

}  // namespace

void print_vulkan() {
    fmt::print("Vulkan (hindcast view, render; HINDCAST_VULKAN_DEVICE chooses another one)\n");
    try {
        const std::vector<render::DeviceFacts> all = render::VulkanContext::devices();
        std::string problem, chosen;
        std::array<std::uint8_t, 16> uuid{};
        try {
            const render::VulkanContext context({});
            chosen = context.facts().name;
            uuid = context.facts().uuid;
        } catch (const Error& error) {
            problem = error.what();
        }
        for (std::size_t k = 0; k < all.size(); ++k) {
            const render::DeviceFacts& facts = all[k];
            const bool taken = facts.name == chosen && facts.uuid == uuid;
            fmt::print("  device {}     {}{}{}\n", k, facts.name,
                       facts.software ? ", on the processor" : "", taken ? " (chosen)" : "");
            fmt::print("               driver {}; Vulkan {}\n", facts.driver, facts.version);
            fmt::print("               transports: {} (the first is chosen)\n",
                       transports_of(facts));
        }
        if (all.empty()) fmt::print("  device       none\n");
        if (!problem.empty()) fmt::print("               none can be used: {}\n", problem);
    } catch (const Error& error) {
        fmt::print("  device       {}\n", error.what());
    }
    fmt::print("\n");
}

}  // namespace hindcast::cli
