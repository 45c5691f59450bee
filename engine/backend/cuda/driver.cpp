#include "engine/backend/cuda/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

namespace {

class Opened {
public:
    Driver driver;
    CudaInfo info;

    Opened() {
        try {
            open();
            find_devices();
            info.available = true;
        } catch (const Error& error) {
            info.problem = error.what();
            info.devices.clear();
        }
    }

private:
    void open() {
        const char* const own = std::getenv("HINDCAST_CUDA_DRIVER");
        void* const handle = ::dlopen(own != nullptr ? own : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr)
            throw Error(own != nullptr ? fmt::format("'{}' cannot be opened", own)
                                       : "no CUDA driver (libcuda.so.1) was found");
        std::string missing;
        // NOLINTBEGIN(bugprone-macro-parentheses): names, not expressions
#define HINDCAST_CUDA_LOAD(name, symbol, arguments)                                 \
    driver.name = reinterpret_cast<decltype(driver.name)>(::dlsym(handle, symbol)); \
    if (driver.name == nullptr) missing = missing.empty() ? symbol : missing;
        // NOLINTEND(bugprone-macro-parentheses)
        HINDCAST_CUDA_FUNCTIONS(HINDCAST_CUDA_LOAD)
#undef HINDCAST_CUDA_LOAD
        if (driver.DriverGetVersion == nullptr)
            throw Error("the CUDA driver has no function " + missing);
        Dl_info where{};
        if (::dladdr(reinterpret_cast<void*>(driver.DriverGetVersion), &where) != 0 &&
            where.dli_fname != nullptr)
            info.path = where.dli_fname;
        int version = 0;
        check(driver.DriverGetVersion(&version), "its version");
        info.major = version / 1000;
        info.minor = version % 1000 / 10;
        if (version < oldest_driver)
            throw Error(fmt::format("the CUDA driver is of version {}.{}; {}.{} or newer is needed",
                                    info.major, info.minor, oldest_driver / 1000,
                                    oldest_driver % 1000 / 10));
        if (!missing.empty()) throw Error("the CUDA driver has no function " + missing);
    }

    void find_devices() {
        const int started = driver.Init(0);
        int count = 0;
        if (started == success) check(driver.DeviceGetCount(&count), "the number of devices");
        if (started == no_device || (started == success && count == 0))
            throw Error("the CUDA driver sees no device");
        check(started, "its services");
        for (int k = 0; k < count; ++k) {
            Device device = 0;
            check(driver.DeviceGet(&device, k), "a device");
            char name[256] = {};
            check(driver.DeviceGetName(name, sizeof name - 1, device), "a device's name");
            std::size_t bytes = 0;
            check(driver.DeviceTotalMem(&bytes, device), "a device's memory");
            DeviceInfo found;
            found.name = name;
            found.architecture =
                10 * attribute(Attribute::major, device) + attribute(Attribute::minor, device);
            found.multiprocessors = attribute(Attribute::multiprocessors, device);
            found.memory = static_cast<std::int64_t>(bytes);
            check(driver.DeviceGetUuid(found.uuid.data(), device), "a device's UUID");
            info.devices.push_back(found);
        }
    }

    int attribute(Attribute which, Device device) const {
        int value = 0;
        check(driver.DeviceGetAttribute(&value, static_cast<int>(which), device),
              "a device's properties");
        return value;
    }

    // Throws what the driver says about a result.
    void check(int result, const char* asked) const {
        if (result == success) return;
        throw Error(
            fmt::format("the CUDA driver was asked for {}: {}", asked, driver.words_for(result)));
    }
};

const Opened& opened() {
    static const Opened instance;
    return instance;
}

}  // namespace

std::string Driver::words_for(int result) const {
    const char *name = nullptr, *text = nullptr;
    if (GetErrorName != nullptr) GetErrorName(result, &name);
    if (GetErrorString != nullptr) GetErrorString(result, &text);
    return fmt::format("{} ({})", text != nullptr ? text : "unknown error",
                       name != nullptr ? name : std::to_string(result));
}

const CudaInfo& cuda_info() { return opened().info; }

const Driver& driver() {
    if (!opened().info.available)
        throw Error("CUDA cannot be used: " + opened().info.problem)
            .remedy("use --device cpu, or auto to take what there is");
    return opened().driver;
}

std::optional<int> device_of(Address address) {
    int ordinal = 0;
    if (driver().PointerGetAttribute(&ordinal, pointer_ordinal, address) != success) return {};
    return ordinal;
}

}  // namespace hindcast::backend::cuda
