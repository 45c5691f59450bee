// The CUDA driver, opened at run time through one table of functions.
//
// Nothing of CUDA is linked and no header of it is needed: types, constants and the functions that
// are used are declared here. The library is the system's libcuda.so.1, or what
// HINDCAST_CUDA_DRIVER names (the tests have one in software). A machine without a driver, or with
// one that is too old, is told so by cuda_info(); nothing else changes for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hindcast::backend::cuda {

// The results that mean something to us.
enum Result : int { success = 0, no_device = 100 };
using Device = int;
enum class Attribute : int { multiprocessors = 16, major = 75, minor = 76 };

// The oldest driver that runs what NVRTC 13 makes, as it tells its version: 1000 * major + 10 *
// minor.
inline constexpr int oldest_driver = 13000;

// HINDCAST_CUDA_FUNCTION(member, symbol, arguments)
#define HINDCAST_CUDA_FUNCTIONS(HINDCAST_CUDA_FUNCTION)                                         \
    HINDCAST_CUDA_FUNCTION(DriverGetVersion, "cuDriverGetVersion", (int* version))              \
    HINDCAST_CUDA_FUNCTION(GetErrorName, "cuGetErrorName", (int result, const char** name))     \
    HINDCAST_CUDA_FUNCTION(GetErrorString, "cuGetErrorString", (int result, const char** text)) \
    HINDCAST_CUDA_FUNCTION(Init, "cuInit", (unsigned flags))                                    \
    HINDCAST_CUDA_FUNCTION(DeviceGetCount, "cuDeviceGetCount", (int* count))                    \
    HINDCAST_CUDA_FUNCTION(DeviceGet, "cuDeviceGet", (Device * device, int ordinal))            \
    HINDCAST_CUDA_FUNCTION(DeviceGetName, "cuDeviceGetName",                                    \
                           (char* name, int length, Device device))                             \
    HINDCAST_CUDA_FUNCTION(DeviceTotalMem, "cuDeviceTotalMem_v2",                               \
                           (std::size_t * bytes, Device device))                                \
    HINDCAST_CUDA_FUNCTION(DeviceGetAttribute, "cuDeviceGetAttribute",                          \
                           (int* value, int attribute, Device device))

// What one device is.
struct DeviceInfo {
    std::string name;
    int architecture = 0;  // 75 for compute capability 7.5
    int multiprocessors = 0;
    std::int64_t memory = 0;  // bytes
};

struct CudaInfo {
    bool available = false;  // a driver that is new enough, and a device
    int major = 0, minor = 0;
    std::string path;
    std::vector<DeviceInfo> devices;
    std::string problem;  // why it is not available
};
// Opens the driver, initialises it and asks for its devices; once.
const CudaInfo& cuda_info();

}  // namespace hindcast::backend::cuda
