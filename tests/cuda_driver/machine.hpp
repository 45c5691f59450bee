// A device of the driver in software with one module of small kernels, for the driver's own tests.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda_driver/client.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using backend::cuda::Address;
using backend::cuda::ContextHandle;
using backend::cuda::EventHandle;
using backend::cuda::FunctionHandle;
using backend::cuda::GraphExecHandle;
using backend::cuda::GraphHandle;
using backend::cuda::ModuleHandle;
using backend::cuda::StreamHandle;

inline const char* const machine_text = R"(
extern "C" __global__ void axpy(float* y, const float* __restrict__ x, const float a,
                                const int items) {
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= items) return;
    y[item] = y[item] + a * x[item];
}
extern "C" __global__ void put(int* to, int value) { *to = value; }
extern "C" __global__ void copy(int* to, const int* from) { *to = *from; }
// What came before, in base 10.
extern "C" __global__ void append(long long* to, int digit) { *to = *to * 10 + digit; }
struct Four { unsigned char part[3]; double number; };
// The order in which threads ran, and how many.
extern "C" __global__ void threads(int* count, int* order, Four four, const char factor) {
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int at = atomicAdd(count, 1);
    order[block * (blockDim.x * blockDim.y * blockDim.z) + thread] =
        at * factor + four.part[2] + (int)four.number;
}
extern "C" __global__ void write_at(int* to, long long at) { to[at] = 7; }
)";

// Compiled once; nothing if there is no compiler.
inline const std::string& machine_code() {
    static const std::string made = SoftwareCuda().compile(machine_text).code;
    return made;
}
#define HINDCAST_NEEDS_COMPILER()                             \
    do {                                                      \
        if (::hindcast::test::machine_code().empty())         \
            HINDCAST_SKIP("there is no host compiler 'c++'"); \
    } while (false)

// A device with its context and the functions of the text above; everything is given back.
struct Machine : SoftwareCuda {
    ModuleHandle module = nullptr;
    std::map<std::pair<ModuleHandle, std::string>, FunctionHandle> functions;

    explicit Machine(const std::string& settings = "") : SoftwareCuda(settings) {
        REQUIRE(driver.Init(0) == 0);
        use(0);
        REQUIRE(driver.ModuleLoadData(&module, machine_code().data()) == 0);
    }
    // It may be that it has failed for good.
    ~Machine() {
        set("");
        driver.PrimaryCtxRelease(0);
        driver.CtxSetCurrent(nullptr);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    ContextHandle use(int device) {
        ContextHandle context = nullptr;
        REQUIRE(driver.PrimaryCtxRetain(&context, device) == 0);
        REQUIRE(driver.CtxSetCurrent(context) == 0);
        return context;
    }
    StreamHandle stream(unsigned flags = 1) {
        StreamHandle made = nullptr;
        REQUIRE(driver.StreamCreate(&made, flags) == 0);
        return made;
    }
    EventHandle event() {
        EventHandle made = nullptr;
        REQUIRE(driver.EventCreate(&made, 2) == 0);
        return made;
    }
    Address memory(std::size_t bytes, StreamHandle in) {
        Address made = 0;
        REQUIRE(driver.MemAllocAsync(&made, bytes, in) == 0);
        return made;
    }
    template <class T>
    T* host(std::size_t count) {
        void* made = nullptr;
        REQUIRE(driver.MemHostAlloc(&made, count * sizeof(T), 0) == 0);
        return static_cast<T*>(made);
    }
    FunctionHandle function(const char* name) {
        FunctionHandle& found = functions[{module, name}];
        if (found == nullptr) REQUIRE(driver.ModuleGetFunction(&found, module, name) == 0);
        return found;
    }
    template <class... A>
    int launch_blocks(const char* name, unsigned blocks, StreamHandle in, A... values) {
        void* arguments[] = {&values..., nullptr};
        return driver.LaunchKernel(function(name), blocks, 1, 1, 64, 1, 1, 0, in, arguments,
                                   nullptr);
    }
    template <class... A>
    int one_thread(const char* name, StreamHandle in, A... values) {
        void* arguments[] = {&values..., nullptr};
        return driver.LaunchKernel(function(name), 1, 1, 1, 1, 1, 1, 0, in, arguments, nullptr);
    }
    template <class T>
    std::vector<T> read(Address from, std::size_t count, StreamHandle in) {
        std::vector<T> all(count);
        REQUIRE(driver.MemcpyDtoHAsync(all.data(), from, count * sizeof(T), in) == 0);
        return all;
    }
    template <class T>
    int write(Address to, const std::vector<T>& from, StreamHandle in) {
        return driver.MemcpyHtoDAsync(to, from.data(), from.size() * sizeof(T), in);
    }
};

}  // namespace hindcast::test
