// The CUDA driver in software (tests/cuda_driver): faults, several devices, several threads.
#include <string>
#include <thread>
#include <vector>

#include "tests/cuda_driver/machine.hpp"

using namespace hindcast;
using namespace hindcast::test;
// ---- faults

TEST_CASE("Software CUDA: an allocation that fails") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("out_of_memory=3");
    const StreamHandle s = m.stream();
    Address a = m.memory(4, s);
    m.host<int>(1);
    CHECK(m.driver.MemAllocAsync(&a, 4, s) == 2);
    CHECK(m.driver.MemAllocAsync(&a, 4, s) == 0);
    CHECK(m.count("leaks") == 3);
    m.set("out_of_memory=1");
    void* host = nullptr;
    CHECK(m.driver.MemHostAlloc(&host, 4, 0) == 2);
    CHECK(m.driver.MemHostAlloc(&host, 4, 0) == 0);
}

TEST_CASE("Software CUDA: a launch that fails when it is called") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("launch_fails=2");
    const StreamHandle s = m.stream();
    const Address at = m.memory(8, s);
    m.driver.MemsetD8Async(at, 0, 8, s);
    for (int digit = 1; digit < 4; ++digit)
        CHECK(m.one_thread("append", s, at, digit) == (digit == 2 ? 701 : 0));
    CHECK(m.read<long long>(at, 1, s)[0] == 13);
}

TEST_CASE("Software CUDA: a launch that fails when it is executed, for good") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("sticky=2");
    const StreamHandle s = m.stream();
    Address at = m.memory(8, s);
    int* const out = m.host<int>(1);
    *out = -1;
    for (int k = 0; k < 3; ++k) CHECK(m.one_thread("put", s, at, k) == 0);
    CHECK(m.driver.MemcpyDtoHAsync(out, at, 4, s) == 0);
    CHECK(m.driver.StreamSynchronize(s) == 700);
    CHECK(*out == -1);
    CHECK(m.one_thread("put", s, at, 4) == 700);
    CHECK(m.driver.StreamSynchronize(s) == 700);
    CHECK(m.driver.CtxSynchronize() == 700);
    Address more = 0;
    CHECK(m.driver.MemAllocAsync(&more, 4, s) == 700);
    CHECK(m.driver.MemFreeAsync(at, s) == 700);
    m.set("");  // as another process would find it
    CHECK(m.one_thread("put", s, at, 5) == 0);
    CHECK(m.read<int>(at, 1, s)[0] == 5);
    CHECK(m.driver.MemFreeAsync(at, s) == 0);
    CHECK(m.driver.MemFreeHost(out) == 0);
}

TEST_CASE("Software CUDA: a kernel is given memory of the host") {
    HINDCAST_NEEDS_COMPILER();
    int pageable = 0;
    Machine m("");
    const StreamHandle s = m.stream();
    int* const pinned = m.host<int>(1);
    CHECK(m.one_thread("put", s, reinterpret_cast<Address>(pinned), 3) == 0);
    CHECK(m.driver.StreamSynchronize(s) == 0);
    CHECK(*pinned == 3);
    CHECK(m.one_thread("put", s, reinterpret_cast<Address>(&pageable), 3) == 0);
    CHECK(m.driver.StreamSynchronize(s) == 700);
    CHECK(pageable == 0);
}

TEST_CASE("Software CUDA: a device that is lost") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("lost=3");
    const StreamHandle s = m.stream();
    const Address at = m.memory(4, s);
    m.one_thread("put", s, at, 1);
    CHECK(m.driver.StreamSynchronize(s) == 0);
    m.one_thread("put", s, at, 2);
    CHECK(m.driver.StreamSynchronize(s) == 46);
    CHECK(m.driver.StreamSynchronize(s) == 46);
}

TEST_CASE("Software CUDA: any function can be told to fail, always or once") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("fail=cuStreamCreate:2,fail=cuEventCreate:999:2");
    StreamHandle s = nullptr;
    CHECK(m.driver.StreamCreate(&s, 1) == 2);
    CHECK(m.driver.StreamCreate(&s, 1) == 2);
    EventHandle e = nullptr;
    CHECK(m.driver.EventCreate(&e, 0) == 0);
    CHECK(m.driver.EventCreate(&e, 0) == 999);
    CHECK(m.driver.EventCreate(&e, 0) == 0);
    CHECK(m.driver.words_for(700) ==
          "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)");
}

// ---- devices and threads

TEST_CASE("Software CUDA: devices have their own memory, streams and events") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("devices=2");
    const StreamHandle s = m.stream();
    const EventHandle e = m.event();
    const Address at = m.memory(4, s);
    m.one_thread("put", s, at, 1);
    const ModuleHandle module = m.module;

    m.use(1);
    std::size_t free = 0, total = 0;
    CHECK(m.driver.MemGetInfo(&free, &total) == 0);
    CHECK(free == total);
    const StreamHandle t = m.stream();
    const EventHandle f = m.event();
    FunctionHandle function = nullptr;
    CHECK(m.driver.ModuleGetFunction(&function, module, "put") == 400);
    REQUIRE(m.driver.ModuleLoadData(&m.module, machine_code().data()) == 0);
    const Address there = m.memory(4, t);
    CHECK(m.one_thread("put", t, there, 2) == 0);
    CHECK(m.one_thread("put", s, there, 2) == 400);
    CHECK(m.driver.StreamSynchronize(s) == 400);
    CHECK(m.driver.EventRecord(e, t) == 400);
    CHECK(m.driver.EventQuery(e) == 400);
    CHECK(m.driver.MemsetD8Async(at, 0, 4, t) == 1);
    CHECK(m.driver.MemcpyDtoDAsync(there, at, 4, t) == 1);
    CHECK(m.driver.MemFreeAsync(at, t) == 1);
    CHECK(m.read<int>(there, 1, t)[0] == 2);
    CHECK(m.driver.EventRecord(f, t) == 0);
    CHECK(m.driver.StreamWaitEvent(t, e, 0) == 0);  // this may cross devices
    CHECK(m.driver.StreamWaitEvent(s, f, 0) == 400);
    CHECK(m.driver.PrimaryCtxRelease(1) == 0);
    CHECK(m.driver.PrimaryCtxRelease(1) == 201);
    CHECK(m.count("leaks") == 2);  // one of them in a context that is gone
    CHECK(m.driver.StreamSynchronize(t) == 201);

    m.module = module;
    m.use(0);
    CHECK(m.read<int>(at, 1, s)[0] == 1);
    CHECK(m.driver.StreamSynchronize(t) == 400);
    CHECK(m.driver.PrimaryCtxRelease(0) == 0);  // the second of two
    CHECK(m.read<int>(at, 1, s)[0] == 1);
    ContextHandle none = nullptr;
    CHECK(m.driver.PrimaryCtxRetain(&none, 2) == 101);
}

TEST_CASE("Software CUDA: a thread has the context that it sets") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const ContextHandle context = m.use(0);
    const StreamHandle s = m.stream();
    const Address at = m.memory(8, s);
    m.driver.MemsetD8Async(at, 0, 8, s);
    int before = 0, after = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            Address more = 0;
            const int result = m.driver.MemAllocAsync(&more, 4, s);
            if (t == 0) before = result;
            m.driver.CtxSetCurrent(context);
            for (int k = 0; k < 100; ++k) {
                StreamHandle own = nullptr;
                int found = 0;
                m.driver.StreamCreate(&own, 1);
                m.driver.MemAllocAsync(&more, 4, own);
                m.driver.MemsetD32Async(more, static_cast<unsigned>(t), 1, own);
                m.driver.MemcpyDtoHAsync(&found, more, 4, own);
                m.driver.MemFreeAsync(more, own);
                m.driver.StreamDestroy(own);
                if (t == 0) after += found == t;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(before == 201);
    CHECK(after == 100);
    m.driver.CtxSynchronize();
    CHECK(m.count("leaks") == 1);
    CHECK(m.driver.CtxSetCurrent(nullptr) == 0);
    CHECK(m.driver.StreamSynchronize(s) == 201);
    CHECK(m.driver.CtxSetCurrent(context) == 0);
    m.driver.PrimaryCtxRelease(0);
}
