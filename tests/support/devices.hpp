// The devices that a test runs on: one test body, every back end.
//
//     for (const auto& device : test::devices()) {
//         CAPTURE(device->describe());
//         ...
//     }
//
// The interpreter always; the CPU back end if LLVM is there, a CUDA device if there are a driver
// and NVRTC (main.cpp chooses those in software), and both only if the environment variable
// HINDCAST_TEST_DEVICES does not say otherwise (tests/run --full: sanitizers cannot see generated
// code, so they test the interpreter).
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/cuda/driver.hpp"
#include "engine/backend/cuda/nvrtc.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/runtime/device/device.hpp"

namespace hindcast::test {

inline std::shared_ptr<Device> interpreter_device() {
    static const auto device =
        std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::interpreter});
    return device;
}

inline bool is_wanted(const char* device) {
    const char* wanted = std::getenv("HINDCAST_TEST_DEVICES");
    return wanted == nullptr || std::string(wanted).find(device) != std::string::npos;
}
inline bool has_cpu_device() { return is_wanted("cpu") && backend::llvm_info().available; }
inline bool has_cuda_device() {
    return is_wanted("cuda") && backend::cuda::cuda_info().available &&
           backend::nvrtc().info().available;
}

// Two threads, the machine's own width. Only if has_cpu_device().
inline std::shared_ptr<Device> cpu_device() {
    static const auto device =
        std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cpu, .threads = 2});
    return device;
}

// Only if has_cuda_device().
inline std::shared_ptr<Device> cuda_device() {
    static const auto device = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cuda});
    return device;
}

inline std::vector<std::shared_ptr<Device>> devices() {
    std::vector<std::shared_ptr<Device>> list{interpreter_device()};
    if (has_cpu_device()) list.push_back(cpu_device());
    if (has_cuda_device()) list.push_back(cuda_device());
    return list;
}

}  // namespace hindcast::test
