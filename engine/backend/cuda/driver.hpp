// The CUDA driver, opened at run time through one table of functions.
//
// Nothing of CUDA is linked and no header of it is needed: types, constants and the functions that
// are used are declared here. The library is the system's libcuda.so.1, or what
// HINDCAST_CUDA_DRIVER names (the tests have one in software). A machine without a driver, or with
// one that is too old, is told so by cuda_info(); nothing else changes for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hindcast::backend::cuda {

// The results that mean something to us.
enum Result : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    no_device = 100,
    not_ready = 600,
    graph_update_failure = 910
};
using Device = int;
using Address = std::uint64_t;  // in the memory of a device
inline Address address_of(const void* there) { return reinterpret_cast<Address>(there); }
using ContextHandle = struct OpaqueContext*;
using StreamHandle = struct OpaqueStream*;
using EventHandle = struct OpaqueEvent*;
using ModuleHandle = struct OpaqueModule*;
using FunctionHandle = struct OpaqueFunction*;
using GraphHandle = struct OpaqueGraph*;
using GraphNode = struct OpaqueNode*;
using GraphExecHandle = struct OpaqueGraphExec*;
using PoolHandle = struct OpaquePool*;
using ExternalMemory = struct OpaqueExternalMemory*;
using ExternalSemaphore = struct OpaqueExternalSemaphore*;
using Uuid = std::array<std::uint8_t, 16>;
// Memory that Vulkan made, and a part of it: laid out as the driver wants them.
inline constexpr int opaque_descriptor = 1;
struct ExternalMemoryHandle {
    int kind = opaque_descriptor;
    union {
        int descriptor = -1;
        void* others[2];
    };
    unsigned long long bytes = 0;
    unsigned flags = 0, reserved[16] = {};
};
struct ExternalMemoryBuffer {
    unsigned long long offset = 0, bytes = 0;
    unsigned flags = 0, reserved[16] = {};
};
// A timeline semaphore that Vulkan made, and what it is raised to.
inline constexpr int timeline_descriptor = 9;
struct ExternalSemaphoreHandle {
    int kind = timeline_descriptor;
    union {
        int descriptor = -1;
        void* others[2];
    };
    unsigned flags = 0, reserved[16] = {};
};
struct ExternalSemaphoreSignal {
    unsigned long long value = 0, others[2] = {};
    unsigned others_reserved[12] = {}, flags = 0, reserved[16] = {};
};
struct GraphUpdate {
    int result = 0;
    GraphNode node = nullptr, from = nullptr;
};

enum class Attribute : int { multiprocessors = 16, major = 75, minor = 76 };
inline constexpr unsigned non_blocking_stream = 1, timed_event = 0, untimed_event = 2;
inline constexpr int relaxed_capture = 2, release_threshold = 4;
inline constexpr int pointer_ordinal = 9;  // which device an address is of

// The oldest driver that runs what NVRTC 13 makes, as it tells its version: 1000 * major + 10 *
// minor.
inline constexpr int oldest_driver = 13000;

// Entry points with their versions: HINDCAST_CUDA_FUNCTION(member, symbol, arguments)
// clang-format off
#define HINDCAST_CUDA_FUNCTIONS(F) \
    F(DriverGetVersion, "cuDriverGetVersion", (int* version)) \
    F(GetErrorName, "cuGetErrorName", (int result, const char** name)) \
    F(GetErrorString, "cuGetErrorString", (int result, const char** text)) \
    F(Init, "cuInit", (unsigned flags)) \
    F(DeviceGetCount, "cuDeviceGetCount", (int* count)) \
    F(DeviceGet, "cuDeviceGet", (Device* device, int ordinal)) \
    F(DeviceGetName, "cuDeviceGetName", (char* name, int length, Device device)) \
    F(DeviceGetUuid, "cuDeviceGetUuid_v2", (std::uint8_t* uuid, Device device)) \
    F(DeviceTotalMem, "cuDeviceTotalMem_v2", (std::size_t* bytes, Device device)) \
    F(DeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, Device device)) \
    F(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (ContextHandle* context, Device device)) \
    F(PrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (Device device)) \
    F(CtxSetCurrent, "cuCtxSetCurrent", (ContextHandle context)) \
    F(CtxGetCurrent, "cuCtxGetCurrent", (ContextHandle* context)) \
    F(CtxSynchronize, "cuCtxSynchronize", ()) \
    F(DeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", (PoolHandle* pool, Device device)) \
    F(MemPoolSetAttribute, "cuMemPoolSetAttribute", (PoolHandle pool, int attribute, void* value)) \
    F(MemGetInfo, "cuMemGetInfo_v2", (std::size_t* free, std::size_t* total)) \
    F(MemGetAddressRange, "cuMemGetAddressRange_v2", (Address* begin, std::size_t* bytes, Address in)) \
    F(PointerGetAttribute, "cuPointerGetAttribute", (void* value, int attribute, Address address)) \
    F(MemAllocAsync, "cuMemAllocAsync", (Address* address, std::size_t bytes, StreamHandle stream)) \
    F(MemFreeAsync, "cuMemFreeAsync", (Address address, StreamHandle stream)) \
    F(MemFree, "cuMemFree_v2", (Address address)) \
    F(ImportExternalMemory, "cuImportExternalMemory", (ExternalMemory* memory, const ExternalMemoryHandle* from)) \
    F(ExternalMemoryGetMappedBuffer, "cuExternalMemoryGetMappedBuffer", (Address* address, ExternalMemory memory, const ExternalMemoryBuffer* part)) \
    F(DestroyExternalMemory, "cuDestroyExternalMemory", (ExternalMemory memory)) \
    F(ImportExternalSemaphore, "cuImportExternalSemaphore", (ExternalSemaphore* semaphore, const ExternalSemaphoreHandle* from)) \
    F(SignalExternalSemaphores, "cuSignalExternalSemaphoresAsync", (const ExternalSemaphore* semaphores, const ExternalSemaphoreSignal* signals, unsigned count, StreamHandle stream)) \
    F(DestroyExternalSemaphore, "cuDestroyExternalSemaphore", (ExternalSemaphore semaphore)) \
    F(MemHostAlloc, "cuMemHostAlloc", (void** memory, std::size_t bytes, unsigned flags)) \
    F(MemFreeHost, "cuMemFreeHost", (void* memory)) \
    F(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (Address to, const void* from, std::size_t bytes, StreamHandle stream)) \
    F(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void* to, Address from, std::size_t bytes, StreamHandle stream)) \
    F(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (Address to, Address from, std::size_t bytes, StreamHandle stream)) \
    F(MemsetD8Async, "cuMemsetD8Async", (Address to, unsigned char value, std::size_t count, StreamHandle stream)) \
    F(MemsetD32Async, "cuMemsetD32Async", (Address to, unsigned value, std::size_t count, StreamHandle stream)) \
    F(ModuleLoadData, "cuModuleLoadData", (ModuleHandle* module, const void* image)) \
    F(ModuleUnload, "cuModuleUnload", (ModuleHandle module)) \
    F(ModuleGetFunction, "cuModuleGetFunction", (FunctionHandle* function, ModuleHandle module, const char* name)) \
    F(OccupancyMaxPotentialBlockSize, "cuOccupancyMaxPotentialBlockSize", (int* blocks, int* threads, FunctionHandle function, std::size_t (*shared)(int), std::size_t fixed, int limit)) \
    F(LaunchKernel, "cuLaunchKernel", (FunctionHandle function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared, StreamHandle stream, void** arguments, void** extra)) \
    F(StreamCreate, "cuStreamCreate", (StreamHandle* stream, unsigned flags)) \
    F(StreamDestroy, "cuStreamDestroy_v2", (StreamHandle stream)) \
    F(StreamSynchronize, "cuStreamSynchronize", (StreamHandle stream)) \
    F(StreamWaitEvent, "cuStreamWaitEvent", (StreamHandle stream, EventHandle event, unsigned flags)) \
    F(EventCreate, "cuEventCreate", (EventHandle* event, unsigned flags)) \
    F(EventDestroy, "cuEventDestroy_v2", (EventHandle event)) \
    F(EventRecord, "cuEventRecord", (EventHandle event, StreamHandle stream)) \
    F(EventQuery, "cuEventQuery", (EventHandle event)) \
    F(EventSynchronize, "cuEventSynchronize", (EventHandle event)) \
    F(EventElapsedTime, "cuEventElapsedTime", (float* milliseconds, EventHandle from, EventHandle to)) \
    F(StreamBeginCapture, "cuStreamBeginCapture_v2", (StreamHandle stream, int mode)) \
    F(StreamIsCapturing, "cuStreamIsCapturing", (StreamHandle stream, int* status)) \
    F(StreamEndCapture, "cuStreamEndCapture", (StreamHandle stream, GraphHandle* graph)) \
    F(GraphGetNodes, "cuGraphGetNodes", (GraphHandle graph, GraphNode* nodes, std::size_t* count)) \
    F(GraphInstantiate, "cuGraphInstantiateWithFlags", (GraphExecHandle* made, GraphHandle graph, unsigned long long flags)) \
    F(GraphExecUpdate, "cuGraphExecUpdate_v2", (GraphExecHandle updated, GraphHandle graph, GraphUpdate* result)) \
    F(GraphLaunch, "cuGraphLaunch", (GraphExecHandle graph, StreamHandle stream)) \
    F(GraphDestroy, "cuGraphDestroy", (GraphHandle graph)) \
    F(GraphExecDestroy, "cuGraphExecDestroy", (GraphExecHandle graph))
// clang-format on

// The functions of a driver that was opened. All return a result.
struct Driver {
#define HINDCAST_CUDA_MEMBER(name, symbol, arguments) int(*name) arguments = nullptr;  // NOLINT
    HINDCAST_CUDA_FUNCTIONS(HINDCAST_CUDA_MEMBER)
#undef HINDCAST_CUDA_MEMBER

    // The driver's words for a result: "out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
    std::string words_for(int result) const;
};

// Properties of one device.
struct DeviceInfo {
    std::string name;
    int architecture = 0;  // 75 for compute capability 7.5
    int multiprocessors = 0;
    std::int64_t memory = 0;  // bytes
    Uuid uuid{};              // Vulkan's VkPhysicalDeviceIDProperties has the same
};

struct CudaInfo {
    bool available = false;  // a driver that is new enough, and a device
    int major = 0, minor = 0;
    std::string path;
    std::vector<DeviceInfo> devices;
    std::string problem;  // why it is not available
};
// Opens the driver, initializes it and asks for its devices; once.
const CudaInfo& cuda_info();
// Throws Error where cuda_info() tells a problem.
const Driver& driver();
// The device that an address is of; nothing: of none, as far as the driver knows. Throws Error where
// cuda_info() tells a problem.
std::optional<int> device_of(Address address);

}  // namespace hindcast::backend::cuda
