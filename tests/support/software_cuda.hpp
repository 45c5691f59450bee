// The engine's CUDA driver, if it is that in software, under a test's control.
//
//     NEEDS_SOFTWARE_CUDA();                     // or the test is skipped
//     const auto device = test::fresh_device();  // with a context of its own
//     const test::Software software("seed=3");   // settings and counters until the test ends
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "tests/cuda_driver/client.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

class Software : public SoftwareControl {
public:
    explicit Software(const std::string& settings)
        : SoftwareControl(::dlopen(hindcast::test::software_cuda_driver, RTLD_NOW | RTLD_LOCAL)) {
        set(settings);
    }
    ~Software() { set(""); }
    Software(const Software&) = delete;
    Software& operator=(const Software&) = delete;

    static bool is_used() {
        const char* const driver = std::getenv("HINDCAST_CUDA_DRIVER");
        return has_cuda_device() && driver != nullptr &&
               std::strcmp(driver, hindcast::test::software_cuda_driver) == 0;
    }
};

inline std::shared_ptr<Device> fresh_device(WholeProgramUse use = WholeProgramUse::automatic) {
    DeviceOptions options;
    options.kind = DeviceKind::cuda;
    options.whole_program = use;
    return std::make_shared<Device>(options);
}

}  // namespace hindcast::test

#define NEEDS_SOFTWARE_CUDA() \
    if (!hindcast::test::Software::is_used()) HINDCAST_SKIP("needs the CUDA driver in software")
