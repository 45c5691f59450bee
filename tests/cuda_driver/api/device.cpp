// Entry points: errors, devices, contexts, and what the tests say to the driver.
#include <cstdio>
#include <cstdlib>

#include "tests/cuda_driver/api/api.hpp"
#include "tests/cuda_driver/capture.hpp"

namespace software_cuda {

thread_local Context* current = nullptr;

namespace {

struct Named {
    int result;
    const char *name, *words;
};
constexpr Named names[] = {
#define SOFTWARE_CUDA_RESULT(result, number, name, words) {number, name, words},
    SOFTWARE_CUDA_RESULTS(SOFTWARE_CUDA_RESULT)
#undef SOFTWARE_CUDA_RESULT
};

const Named* find_name(int result) {
    for (const Named& n : names)
        if (n.result == result) return &n;
    return nullptr;
}

}  // namespace

// ---- for the tests

// Replaces the settings (null: by those of the environment); counters and sticky errors begin anew.
EXPORT void hindcast_software_cuda(const char* settings);
void hindcast_software_cuda(const char* settings) {
    System& system = the_system();
    const std::lock_guard lock(system.mutex);
    system.set(settings != nullptr ? settings : std::getenv("HINDCAST_SOFTWARE_CUDA"));
}

// -1: there is no such counter.
EXPORT long long hindcast_software_cuda_count(const char* what);
long long hindcast_software_cuda_count(const char* what) {
    System& system = the_system();
    const std::lock_guard lock(system.mutex);
    return system.count(what);
}

// Executes what all streams hold, as a device does while nobody waits for it.
EXPORT void hindcast_software_cuda_pass_time();
void hindcast_software_cuda_pass_time() {
    System& system = the_system();
    const std::lock_guard lock(system.mutex);
    for (Context& context : system.contexts)
        if (context.retained > 0) system.scheduler.drain(context);
}

// ---- errors

EXPORT int cuGetErrorName(int result, const char** name) {
    const Named* const found = find_name(result);
    *name = found != nullptr ? found->name : nullptr;
    return found != nullptr ? success : invalid_value;
}

EXPORT int cuGetErrorString(int result, const char** text) {
    const Named* const found = find_name(result);
    *text = found != nullptr ? found->words : nullptr;
    return found != nullptr ? success : invalid_value;
}

// ---- devices

EXPORT int cuDriverGetVersion(int* version) {
    System& system = the_system();
    const std::lock_guard lock(system.mutex);
    *version = system.settings.version;
    return system.settings.failure("cuDriverGetVersion");
}

EXPORT int cuInit(unsigned flags) {
    System& system = the_system();
    const std::lock_guard lock(system.mutex);
    if (const int failed = system.settings.failure("cuInit")) return failed;
    if (flags != 0) return invalid_value;
    system.initialized = true;
    return system.settings.devices > 0 ? success : no_device;
}

EXPORT int cuDeviceGetCount(int* count) {
    return call("cuDeviceGetCount", [&](System& system) {
        *count = system.settings.devices;
        return success;
    });
}

EXPORT int cuDeviceGet(api::Device* device, int ordinal) {
    return call("cuDeviceGet", [&](System& system) {
        *device = ordinal;
        return system.has_device(ordinal) ? success : invalid_device;
    });
}

EXPORT int cuDeviceGetName(char* name, int length, api::Device device) {
    return call("cuDeviceGetName", [&](System& system) {
        if (!system.has_device(device)) return invalid_device;
        std::snprintf(name, static_cast<std::size_t>(length), "software device %d", device);
        return success;
    });
}

EXPORT int cuDeviceGetUuid_v2(std::uint8_t* uuid, api::Device device) {
    return call("cuDeviceGetUuid_v2", [&](System& system) {
        if (!system.has_device(device)) return invalid_device;
        const std::string& digits = system.settings.uuid;
        std::string own = "software device ";
        own.back() = static_cast<char>('0' + device);
        for (std::size_t k = 0; k < 16; ++k)
            uuid[k] = static_cast<std::uint8_t>(
                digits.size() < 2 * (k + 1) ? static_cast<unsigned char>(own[k])
                                            : std::stoi(digits.substr(2 * k, 2), nullptr, 16));
        return success;
    });
}

EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, api::Device device) {
    return call("cuDeviceTotalMem_v2", [&](System& system) {
        *bytes = system.settings.memory;
        return system.has_device(device) ? success : invalid_device;
    });
}

EXPORT int cuDeviceGetAttribute(int* value, int attribute, api::Device device) {
    return call("cuDeviceGetAttribute", [&](System& system) {
        if (!system.has_device(device)) return invalid_device;
        switch (attribute) {
            case 16: *value = 4; return success;  // multiprocessors
            case 75: *value = architecture / 10; return success;
            case 76: *value = architecture % 10; return success;
            case 115: *value = 1; return success;  // memory pools
            default: return invalid_value;
        }
    });
}

// ---- contexts

EXPORT int cuDevicePrimaryCtxRetain(api::ContextHandle* context, api::Device device) {
    return call("cuDevicePrimaryCtxRetain", [&](System& system) {
        if (!system.has_device(device)) return invalid_device;
        Context& of = system.contexts[device];
        if (of.retained++ == 0) {
            of.default_stream = std::make_shared<Stream>(of, true);
            of.streams.push_back(of.default_stream);
        }
        *context = reinterpret_cast<api::ContextHandle>(&of);
        return success;
    });
}

EXPORT int cuDevicePrimaryCtxRelease_v2(api::Device device) {
    return call("cuDevicePrimaryCtxRelease_v2", [&](System& system) {
        if (!system.has_device(device)) return invalid_device;
        Context& of = system.contexts[device];
        if (of.retained == 0) return invalid_context;
        if (--of.retained == 0) system.end(of);
        return success;
    });
}

EXPORT int cuCtxSetCurrent(api::ContextHandle context) {
    return call("cuCtxSetCurrent", [&](System& system) {
        auto* const wanted = reinterpret_cast<Context*>(context);
        if (wanted == nullptr) {
            current = nullptr;
            return success;
        }
        for (Context& known : system.contexts)
            if (&known == wanted && known.retained > 0) {
                current = wanted;
                return success;
            }
        return invalid_context;
    });
}

EXPORT int cuCtxGetCurrent(api::ContextHandle* context) {
    return call("cuCtxGetCurrent", [&](System&) {
        *context = reinterpret_cast<api::ContextHandle>(current);
        return success;
    });
}

EXPORT int cuCtxSynchronize() {
    return call_in_context("cuCtxSynchronize", [&](System& system, Context& context) -> int {
        if (const int refused = refuse_while_capturing(context, false, capture_unsupported))
            return refused;
        ++system.counters.synchronizations;
        system.scheduler.drain(context);
        return success;
    });
}

}  // namespace software_cuda
