// The CUDA driver in software (tests/cuda_driver): memory, launches and modules, and its NVRTC.
#include <cmath>
#include <string>
#include <vector>

#include "engine/base/aligned.hpp"
#include "tests/cuda_driver/machine.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::test;
// ---- memory of the device

TEST_CASE("Software CUDA: fresh and freed memory holds garbage") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream();
    const Address a = m.memory(64, s);
    for (const float x : m.read<float>(a, 16, s)) CHECK(std::isnan(x));
    for (const double x : m.read<double>(a, 8, s)) CHECK(std::isnan(x));
    m.driver.MemsetD8Async(a, 0, 64, s);
    m.driver.MemFreeAsync(a, s);
    const Address soon = m.memory(64, s);
    CHECK(soon != a);  // the free has not been executed
    m.driver.StreamSynchronize(s);
    const Address later = m.memory(64, s);
    CHECK(later == a);
    for (const double x : m.read<double>(later, 8, s)) CHECK(std::isnan(x));
}

TEST_CASE("Software CUDA: the memory of a device is as large as it says") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("memory=1000000");
    const StreamHandle s = m.stream();
    const auto left = [&] {
        std::size_t free = 0, total = 0;
        CHECK(m.driver.MemGetInfo(&free, &total) == 0);
        CHECK(total == 1000000);
        return free;
    };
    CHECK(left() == 1000000);
    const Address a = m.memory(600000, s);
    CHECK(left() == 1000000 - 600064);
    Address b = 0;
    CHECK(m.driver.MemAllocAsync(&b, 600000, s) == 2);
    CHECK(m.driver.MemAllocAsync(&b, ~std::size_t{0}, s) == 2);
    CHECK(m.driver.MemAllocAsync(&b, 0, s) == 1);
    CHECK(m.driver.MemFreeAsync(a, s) == 0);
    CHECK(left() < 1000000);  // not executed
    CHECK(m.driver.MemAllocAsync(&b, 600000, s) == 0);
    CHECK(m.count("leaks") == 1);
    CHECK(m.driver.MemFreeAsync(b, s) == 0);
    m.driver.StreamSynchronize(s);
    CHECK(left() == 1000000);
    CHECK(m.count("leaks") == 0);
}

TEST_CASE("Software CUDA: addresses that are wrong are refused") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream();
    const Address a = m.memory(100, s), b = m.memory(100, s);
    char host[200] = {};
    CHECK(m.driver.MemFreeAsync(a + 1, s) == 1);
    CHECK(m.driver.MemFreeAsync(12345, s) == 1);
    CHECK(m.driver.MemcpyHtoDAsync(a, host, 101, s) == 1);
    CHECK(m.driver.MemcpyHtoDAsync(a + 1, host, 99, s) == 0);
    CHECK(m.driver.MemcpyHtoDAsync(a - 1, host, 2, s) == 1);
    CHECK(m.driver.MemcpyHtoDAsync(a + 100, host, 1, s) == 1);
    CHECK(m.driver.MemcpyDtoHAsync(host, a + 90, 11, s) == 1);
    CHECK(m.driver.MemcpyDtoDAsync(a, b, 101, s) == 1);
    CHECK(m.driver.MemsetD8Async(a, 0, 101, s) == 1);
    CHECK(m.driver.MemsetD32Async(a, 0, 26, s) == 1);
    CHECK(m.driver.MemsetD32Async(a + 1, 0, 1, s) == 1);
    CHECK(m.driver.MemsetD32Async(a, 0, ~std::size_t{0} / 2, s) == 1);
    CHECK(m.driver.MemFreeAsync(a, s) == 0);
    CHECK(m.driver.MemFreeAsync(a, s) == 1);  // twice
    CHECK(m.driver.MemsetD8Async(a, 0, 1, s) == 1);
    m.driver.StreamSynchronize(s);
    CHECK(m.driver.MemFreeAsync(a, s) == 1);
    CHECK(m.driver.MemsetD8Async(a, 0, 1, s) == 1);
    CHECK(m.driver.MemsetD8Async(b, 0, 100, s) == 0);
    CHECK(m.driver.StreamSynchronize(s) == 0);
}

TEST_CASE("Software CUDA: a kernel that writes behind the end is told when memory is freed") {
    HINDCAST_NEEDS_COMPILER();
    if (guard_pages() == GuardPages::end)
        HINDCAST_SKIP("a guard page at the end stops such a write at once, with the program");
    Machine m;
    const StreamHandle s = m.stream();
    const Address a = m.memory(100, s);
    CHECK(m.one_thread("write_at", s, a, 24LL) == 0);
    CHECK(m.driver.StreamSynchronize(s) == 0);
    CHECK(m.one_thread("write_at", s, a, 25LL) == 0);
    m.driver.MemFreeAsync(a, s);
    CHECK(m.driver.StreamSynchronize(s) == 700);
}

// ---- launches and modules

TEST_CASE("Software CUDA: launches that are wrong are refused") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream();
    Address at = m.memory(4, s);
    int value = 1;
    void* arguments[] = {&at, &value};
    const FunctionHandle put = m.function("put");
    const auto launch = [&](unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                            unsigned tz) {
        return m.driver.LaunchKernel(put, bx, by, bz, tx, ty, tz, 0, s, arguments, nullptr);
    };
    CHECK(launch(1, 1, 1, 1, 1, 1) == 0);
    CHECK(launch(0, 1, 1, 1, 1, 1) == 1);
    CHECK(launch(1, 0, 1, 1, 1, 1) == 1);
    CHECK(launch(1, 1, 1, 1, 1, 0) == 1);
    CHECK(launch(0x80000000u, 1, 1, 1, 1, 1) == 1);
    CHECK(launch(1, 70000, 1, 1, 1, 1) == 1);
    CHECK(launch(1, 1, 1, 1024, 1, 1) == 0);
    CHECK(launch(1, 1, 1, 1025, 1, 1) == 1);
    CHECK(launch(1, 1, 1, 64, 32, 1) == 1);
    CHECK(m.driver.LaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr) == 400);
    CHECK(m.driver.LaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, s, nullptr, nullptr) == 1);
    CHECK(m.driver.LaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, reinterpret_cast<StreamHandle>(put),
                                arguments, nullptr) == 400);
    int blocks = 0, threads = 0;
    CHECK(m.driver.OccupancyMaxPotentialBlockSize(&blocks, &threads, put, nullptr, 0, 0) == 0);
    CHECK(threads == 256);
    CHECK(m.driver.StreamSynchronize(s) == 0);
}

TEST_CASE("Software CUDA: modules") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream();
    const Address at = m.memory(4, s);
    ModuleHandle other = nullptr;
    CHECK(m.driver.ModuleLoadData(&other, "this is no code at all, but text of some length") ==
          200);
    std::string broken = machine_code();
    broken[18] = 0x3e ^ 0x55;  // another machine
    CHECK(m.driver.ModuleLoadData(&other, broken.data()) == 200);
    const auto other_device =
        m.compile(machine_text, {"--fmad=false", "--gpu-architecture=sm_100"});
    REQUIRE(other_device.status == 0);
    CHECK(m.driver.ModuleLoadData(&other, other_device.code.data()) == 209);
    FunctionHandle f = nullptr;
    CHECK(m.driver.ModuleGetFunction(&f, m.module, "no_such") == 500);
    CHECK(m.driver.ModuleGetFunction(&f, m.module, "put") == 0);
    CHECK(m.function("put") == f);

    // Two at once do not know each other.
    const auto five = m.compile("extern \"C\" __global__ void put(int* to) { *to = 5; }",
                                {"--fmad=false", "--gpu-architecture=sm_80"});
    CHECK(m.driver.ModuleLoadData(&other, five.code.data()) == 209);
    const auto six = m.compile("extern \"C\" __global__ void put(int* to) { *to = 6; }");
    REQUIRE(m.driver.ModuleLoadData(&other, six.code.data()) == 0);
    REQUIRE(m.driver.ModuleGetFunction(&f, other, "put") == 0);
    Address to = at;
    void* arguments[] = {&to};
    CHECK(m.driver.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr) == 0);
    CHECK(m.read<int>(at, 1, s)[0] == 6);
    m.one_thread("put", s, at, 7);
    CHECK(m.read<int>(at, 1, s)[0] == 7);

    // One that is unloaded too early.
    CHECK(m.driver.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr) == 0);
    CHECK(m.driver.ModuleUnload(other) == 0);
    CHECK(m.driver.ModuleUnload(other) == 400);
    CHECK(m.driver.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr) == 400);
    CHECK(m.driver.StreamSynchronize(s) == 700);
}

TEST_CASE("Software CUDA: NVRTC refuses what is wrong, with the place") {
    HINDCAST_NEEDS_COMPILER();
    const test::SoftwareCuda cuda;
    const auto wrong = cuda.compile("#line 7 \"springs.cpp\"\nnonsense;\n");
    CHECK(wrong.status == 6);
    CHECK(wrong.log.find("springs.cpp(7): error:") != std::string::npos);
    CHECK(cuda.compile("\n\nnonsense;\n").log.find("test.cu(3): error:") != std::string::npos);
    CHECK(cuda.compile(machine_text, {"--gpu-architecture=sm_90"}).status == 5);
    // The names of functions, wherever the lines break.
    const auto made = cuda.compile(
        "extern \"C\"\n__global__ void\n__launch_bounds__(256) first\n(const int x,\n int* y) { *y "
        "= "
        "x; }\nextern \"C\" __global__ void second() {}\n");
    CHECK(made.status == 0);
    CHECK(made.log.find("Function properties for first\n") != std::string::npos);
    CHECK(made.log.find("Function properties for second\n") != std::string::npos);
    // No multiply-add is fused by itself, and those that are asked for are.
    Machine m;
    const StreamHandle s = m.stream();
    const auto fused = cuda.compile(
        "extern \"C\" __global__ void f(double* x, const double a) {\n"
        "    x[0] = a * a - 1.0; x[1] = fma(a, a, -1.0); x[2] = (double)fma(0.5f, 3.0f, 1.0f); "
        "}\n");
    ModuleHandle module = nullptr;
    FunctionHandle f = nullptr;
    REQUIRE(m.driver.ModuleLoadData(&module, fused.code.data()) == 0);
    REQUIRE(m.driver.ModuleGetFunction(&f, module, "f") == 0);
    Address at = m.memory(24, s);
    double a = 1 + std::exp2(-30);
    void* arguments[] = {&at, &a};
    REQUIRE(m.driver.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr) == 0);
    CHECK(m.read<double>(at, 3, s) ==
          std::vector<double>{std::exp2(-29), std::exp2(-29) + std::exp2(-60), 2.5});
}
