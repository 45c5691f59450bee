// Opens the Vulkan library, chooses a device and makes the objects of a VulkanContext.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "app/render/device/vulkan.hpp"
#include "engine/base/log.hpp"
#include "engine/base/version.hpp"

namespace hindcast::render {

namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::shared_ptr<void> open_library(const std::string& asked, PFN_vkGetInstanceProcAddr& loader) {
    std::string name = asked.empty() ? environment("HINDCAST_VULKAN_LIBRARY") : asked;
    if (name.empty()) name = "libvulkan.so.1";
    const char* const remedy =
        "install Vulkan's loader and a driver (Debian: libvulkan1 and mesa-vulkan-drivers, which "
        "draws on the processor where there is no graphics device), or name the library in "
        "HINDCAST_VULKAN_LIBRARY";
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const reason = dlerror();
        throw Error(fmt::format("there is no Vulkan here: {}", reason ? reason : name))
            .remedy(remedy);
    }
    std::shared_ptr<void> library(handle, [](void* open) { dlclose(open); });
    loader = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(handle, "vkGetInstanceProcAddr"));
    if (loader == nullptr)
        throw Error(fmt::format("'{}' is not a Vulkan library", name)).remedy(remedy);
    return library;
}

// Advice that is not taken: a scene has some dozens of blocks of memory, which sharing among
// fewer would only make harder to follow.
constexpr std::string_view muted[] = {
    "UNASSIGNED-BestPractices-vkAllocateMemory-small-allocation",
    "UNASSIGNED-BestPractices-vkBindMemory-small-dedicated-allocation",
    // Names for debuggers are wanted whenever somebody can read them.
    "UNASSIGNED-BestPractices-vkCreateInstance-specialuse-extension-debugging"};

VKAPI_ATTR VkBool32 VKAPI_CALL on_debug_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                VkDebugUtilsMessageTypeFlagsEXT,
                                                const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                void* user) {
    auto& listener = *static_cast<std::function<void(const std::string&)>*>(user);
    if (data->pMessageIdName != nullptr &&
        std::ranges::find(muted, std::string_view(data->pMessageIdName)) != std::end(muted))
        return VK_FALSE;
    const std::string message = data->pMessage == nullptr ? "" : data->pMessage;
    if (listener) {
        listener(message);
    } else {
        log_error("Vulkan: {}", message);
    }
    return VK_FALSE;
}

template <class Properties>
bool has(const std::vector<Properties>& list, const char* name) {
    return std::ranges::any_of(list, [&](const Properties& one) {
        if constexpr (requires { one.extensionName; }) {
            return std::strcmp(one.extensionName.data(), name) == 0;
        } else {
            return std::strcmp(one.layerName.data(), name) == 0;
        }
    });
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_info(std::function<void(const std::string&)>& to) {
    using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
    using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
    return {{},
            Severity::eError | Severity::eWarning,
            Type::eValidation | Type::ePerformance,
            on_debug_message,
            &to};
}

void make_instance(VulkanContext::State& state, const ContextOptions& options) {
    state.context.emplace(state.loader);
    if (state.context->enumerateInstanceVersion() < VK_API_VERSION_1_3)
        throw Error("the Vulkan library here is older than 1.3")
            .remedy("install a newer one (Debian: libvulkan1 of release 12 or later)");
    const bool asked = options.validation || environment("HINDCAST_VULKAN_VALIDATION") == "1";
    const bool found =
        asked && has(state.context->enumerateInstanceLayerProperties(), validation_layer);
    if (asked && !found) {
        if (options.validation)
            throw Error("Vulkan's validation layers are not installed")
                .remedy("apt-get install vulkan-validationlayers");
        log_warning("Vulkan's validation layers are not installed (vulkan-validationlayers)");
    }
    state.facts.validation = found;

    const auto available = state.context->enumerateInstanceExtensionProperties(nullptr);
    std::vector<const char*> extensions, layers;
    for (const auto& extension : options.instance_extensions) {
        if (!has(available, extension.c_str()))
            throw Error(fmt::format("Vulkan here lacks {}, which a window needs", extension))
                .remedy("install a Vulkan driver that can show windows, or use `hindcast render`");
        extensions.push_back(extension.c_str());
    }
    state.debug_utils = has(available, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (state.debug_utils) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (found) {
        layers.push_back(validation_layer);
        extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
    }
    const vk::ApplicationInfo application("hindcast", 1, "hindcast", 1, VK_API_VERSION_1_3);
    const std::array enables = {vk::ValidationFeatureEnableEXT::eSynchronizationValidation,
                                vk::ValidationFeatureEnableEXT::eBestPractices};
    vk::ValidationFeaturesEXT features;
    features.setEnabledValidationFeatures(enables);
    auto messenger = messenger_info(state.on_message);
    messenger.pNext = &features;
    vk::InstanceCreateInfo info({}, &application, layers, extensions);
    if (found) info.pNext = &messenger;
    state.instance = vk::raii::Instance(*state.context, info);
    if (found)
        state.messenger =
            vk::raii::DebugUtilsMessengerEXT(state.instance, messenger_info(state.on_message));
}

bool exports_timelines(const vk::raii::PhysicalDevice& device) {
    using Handle = vk::ExternalSemaphoreHandleTypeFlagBits;
    vk::StructureChain<vk::PhysicalDeviceExternalSemaphoreInfo, vk::SemaphoreTypeCreateInfo> asked;
    asked.get<vk::PhysicalDeviceExternalSemaphoreInfo>().setHandleType(Handle::eOpaqueFd);
    asked.get<vk::SemaphoreTypeCreateInfo>().setSemaphoreType(vk::SemaphoreType::eTimeline);
    const auto found =
        device.getExternalSemaphoreProperties(asked.get<vk::PhysicalDeviceExternalSemaphoreInfo>());
    return static_cast<bool>(found.externalSemaphoreFeatures &
                             vk::ExternalSemaphoreFeatureFlagBits::eExportable);
}

DeviceFacts facts_of(const vk::raii::PhysicalDevice& device) {
    const auto chain =
        device.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceVulkan11Properties,
                              vk::PhysicalDeviceVulkan12Properties>();
    const auto& properties = chain.get<vk::PhysicalDeviceProperties2>().properties;
    const auto& ids = chain.get<vk::PhysicalDeviceVulkan11Properties>();
    const auto& driver = chain.get<vk::PhysicalDeviceVulkan12Properties>();
    const auto extensions = device.enumerateDeviceExtensionProperties(nullptr);
    DeviceFacts facts;
    facts.name = properties.deviceName.data();
    facts.driver = fmt::format("{}, {}", driver.driverName.data(), driver.driverInfo.data());
    facts.version = fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(properties.apiVersion),
                                VK_API_VERSION_MINOR(properties.apiVersion),
                                VK_API_VERSION_PATCH(properties.apiVersion));
    facts.software = properties.deviceType == vk::PhysicalDeviceType::eCpu;
    facts.host_import = has(extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    facts.memory_export = has(extensions, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    facts.semaphore_export =
        has(extensions, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) && exports_timelines(device);
    std::ranges::copy(ids.deviceUUID, facts.uuid.begin());
    return facts;
}

// The queue family that draws, computes and (for a window) presents.
std::optional<std::uint32_t> family_of(const VulkanContext::State& state,
                                       const vk::raii::PhysicalDevice& device,
                                       const ContextOptions& options) {
    const auto families = device.getQueueFamilyProperties();
    constexpr auto needed = vk::QueueFlagBits::eGraphics | vk::QueueFlagBits::eCompute;
    for (std::uint32_t i = 0; i < families.size(); ++i)
        if ((families[i].queueFlags & needed) == needed &&
            (!options.can_present || options.can_present(*state.instance, *device, i)))
            return i;
    return std::nullopt;
}

// Why this device cannot be used; empty if it can.
std::string lacks(const vk::raii::PhysicalDevice& device, const ContextOptions& options) {
    if (device.getProperties().apiVersion < VK_API_VERSION_1_3) return "Vulkan 1.3";
    const auto chain =
        device.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan12Features,
                            vk::PhysicalDeviceVulkan13Features>();
    if (!chain.get<vk::PhysicalDeviceVulkan12Features>().timelineSemaphore)
        return "timeline semaphores";
    if (!chain.get<vk::PhysicalDeviceVulkan13Features>().synchronization2)
        return "synchronization2";
    const auto extensions = device.enumerateDeviceExtensionProperties(nullptr);
    for (const auto& extension : options.device_extensions)
        if (!has(extensions, extension.c_str())) return extension;
    return "";
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// Devices that can be used come first, discrete before integrated before software.
int rank(const vk::raii::PhysicalDevice& device) {
    switch (device.getProperties().deviceType) {
        case vk::PhysicalDeviceType::eDiscreteGpu: return 0;
        case vk::PhysicalDeviceType::eIntegratedGpu: return 1;
        case vk::PhysicalDeviceType::eVirtualGpu: return 2;
        default: return 3;
    }
}

void choose_device(VulkanContext::State& state, const ContextOptions& options) {
    const std::string asked =
        options.device.empty() ? environment("HINDCAST_VULKAN_DEVICE") : options.device;
    std::vector<vk::raii::PhysicalDevice> devices;
    try {
        devices = state.instance.enumeratePhysicalDevices();
    } catch (const vk::SystemError&) {
        devices.clear();  // the loader found no driver
    }
    std::string found;
    int best = 4;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::string name = devices[i].getProperties().deviceName.data();
        const std::string why = lacks(devices[i], options);
        const auto family = why.empty() ? family_of(state, devices[i], options) : std::nullopt;
        found += fmt::format("{}'{}'{}", found.empty() ? "" : ", ", name,
                             !why.empty() ? " (no " + why + ")"
                             : !family    ? " (cannot draw to the window)"
                                          : "");
        const bool wanted = asked.empty() || asked == std::to_string(i) ||
                            lower(name).find(lower(asked)) != std::string::npos;
        const bool computes = options.uuid && facts_of(devices[i]).uuid == *options.uuid;
        const int place = computes ? -1 : rank(devices[i]);
        if (!family || !wanted || place >= best) continue;
        best = place;
        state.physical = vk::raii::PhysicalDevice(devices[i]);
        state.family = *family;
    }
    if (*state.physical) return;
    if (found.empty()) throw no_driver();
    throw Error(fmt::format("no graphics device here can be used{}; there is {}",
                            asked.empty() ? "" : " that '" + asked + "' names", found))
        .remedy("update the driver, or name another device in HINDCAST_VULKAN_DEVICE");
}

void make_device(VulkanContext::State& state, const ContextOptions& options) {
    DeviceFacts facts = facts_of(state.physical);
    facts.validation = state.facts.validation;
    state.facts = facts;
    std::vector<const char*> extensions;
    for (const auto& extension : options.device_extensions) extensions.push_back(extension.c_str());
    if (facts.host_import) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    if (facts.memory_export) extensions.push_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    if (facts.semaphore_export) extensions.push_back(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);

    constexpr float priority = 1;
    const vk::DeviceQueueCreateInfo queue({}, state.family, 1, &priority);
    vk::StructureChain<vk::DeviceCreateInfo, vk::PhysicalDeviceFeatures2,
                       vk::PhysicalDeviceVulkan12Features, vk::PhysicalDeviceVulkan13Features>
        chain;
    chain.get<vk::DeviceCreateInfo>().setQueueCreateInfos(queue).setPEnabledExtensionNames(
        extensions);
    chain.get<vk::PhysicalDeviceVulkan12Features>().setTimelineSemaphore(true);
    chain.get<vk::PhysicalDeviceVulkan13Features>().setSynchronization2(true).setMaintenance4(true);
    state.device = vk::raii::Device(state.physical, chain.get<vk::DeviceCreateInfo>());
    state.queue = vk::raii::Queue(state.device, state.family, 0);
    state.cache = vk::raii::PipelineCache(state.device, vk::PipelineCacheCreateInfo());
    vk::StructureChain<vk::SemaphoreCreateInfo, vk::SemaphoreTypeCreateInfo> semaphore;
    semaphore.get<vk::SemaphoreTypeCreateInfo>().setSemaphoreType(vk::SemaphoreType::eTimeline);
    state.timeline = vk::raii::Semaphore(state.device, semaphore.get<vk::SemaphoreCreateInfo>());

    state.memory = state.physical.getMemoryProperties();
    state.limits = state.physical.getProperties().limits;
    if (facts.host_import)
        state.host_alignment =
            state.physical
                .getProperties2<vk::PhysicalDeviceProperties2,
                                vk::PhysicalDeviceExternalMemoryHostPropertiesEXT>()
                .get<vk::PhysicalDeviceExternalMemoryHostPropertiesEXT>()
                .minImportedHostPointerAlignment;
    if (state.physical.getQueueFamilyProperties()[state.family].timestampValidBits > 0)
        state.timestamp_period = state.limits.timestampPeriod;
}

}  // namespace

VulkanContext::VulkanContext(ContextOptions options) : state_(std::make_shared<State>()) {
    State& state = *state_;
    state.on_message = options.on_message;
    state.library = open_library(options.library, state.loader);
    state.guarded([&] {
        make_instance(state, options);
        choose_device(state, options);
        make_device(state, options);
    });
    name(VK_OBJECT_TYPE_QUEUE, queue(), "the queue");
    name(VK_OBJECT_TYPE_SEMAPHORE, timeline(), "timeline");
    name(VK_OBJECT_TYPE_PIPELINE_CACHE, pipeline_cache(), "pipeline cache");
}

std::vector<DeviceFacts> VulkanContext::devices(const std::string& library) {
    State state;
    state.library = open_library(library, state.loader);
    return state.guarded([&] {
        make_instance(state, {});
        std::vector<DeviceFacts> all;
        for (const auto& device : state.instance.enumeratePhysicalDevices())
            all.push_back(facts_of(device));
        return all;
    });
}

}  // namespace hindcast::render
