// The CUDA driver in software (tests/cuda_driver): the order of operations, and when the host's
// memory is read and written. It does what NVIDIA's does, and shows the mistakes that NVIDIA's
// would hide.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/cuda_driver/machine.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("Software CUDA: a launch runs every thread of its grid, in an order of the seed") {
    HINDCAST_NEEDS_COMPILER();
    std::vector<std::vector<int>> orders;
    for (const char* seed : {"seed=1", "seed=2", "seed=1"}) {
        Machine m(seed);
        const StreamHandle s = m.stream();
        const Address count = m.memory(4, s), order = m.memory(5 * 2 * 3 * 4 * 2 * 4, s);
        REQUIRE(m.driver.MemsetD8Async(count, 0, 4, s) == 0);
        struct Four {
            unsigned char part[3];
            double number;
        } four{{0, 0, 5}, 2.5};
        char factor = 10;
        Address c = count, o = order;
        void* arguments[] = {&c, &o, &four, &factor};
        REQUIRE(m.driver.LaunchKernel(m.function("threads"), 5, 2, 3, 4, 2, 1, 0, s, arguments,
                                      nullptr) == 0);
        four.number = factor = 0;  // copied by the call
        CHECK(m.read<int>(count, 1, s)[0] == 240);
        orders.push_back(m.read<int>(order, 240, s));
        std::vector<int> sorted = orders.back();
        std::sort(sorted.begin(), sorted.end());
        for (int k = 0; k < 240; ++k) CHECK(sorted[static_cast<std::size_t>(k)] == 10 * k + 7);
        CHECK(sorted != orders.back());
    }
    CHECK(orders[0] == orders[2]);
    CHECK(orders[0] != orders[1]);
}

TEST_CASE("Software CUDA: copies, a launch with threads beyond the items, and the result") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream();
    std::vector<float> x(1000), y(1000);
    for (std::size_t k = 0; k < 1000; ++k) x[k] = static_cast<float>(k), y[k] = 0.5f;
    const Address a = m.memory(4000, s), b = m.memory(4000, s);
    CHECK(m.write(a, x, s) == 0);
    CHECK(m.write(b, y, s) == 0);
    x.assign(1000, 0);  // read by the call
    CHECK(m.launch_blocks("axpy", 16, s, b, a, 2.0f, 1000) == 0);
    CHECK(m.driver.MemcpyDtoDAsync(a, b, 4000, s) == 0);
    CHECK(m.driver.MemsetD32Async(b + 4, 0x40000000, 2, s) == 0);
    const std::vector<float> copied = m.read<float>(a, 1000, s), last = m.read<float>(b, 4, s);
    for (std::size_t k = 0; k < 1000; ++k) CHECK(copied[k] == 2 * static_cast<float>(k) + 0.5f);
    CHECK(last == std::vector<float>{0.5f, 2, 2, 6.5f});
    CHECK(m.count("launches") == 1);
    CHECK(m.count("copies_to_device") == 2);
    CHECK(m.count("copies_to_host") == 2);
    CHECK(m.count("copied_to_host_bytes") == 4016);
    CHECK(m.count("allocations") == 2);
    CHECK(m.count("allocated_bytes") == 8000);
    CHECK(m.count("streams") == 1);
    CHECK(m.count("no such") == -1);
}

// ---- order

TEST_CASE("Software CUDA: a stream keeps its order") {
    HINDCAST_NEEDS_COMPILER();
    for (int seed = 1; seed <= 20; ++seed) {
        Machine m("seed=" + std::to_string(seed));
        const StreamHandle s = m.stream(), other = m.stream();
        const Address at = m.memory(8, s), elsewhere = m.memory(8, other);
        m.driver.MemsetD8Async(at, 0, 8, s);
        m.driver.MemsetD8Async(elsewhere, 0, 8, other);
        for (int digit = 1; digit < 10; ++digit) {
            m.one_thread("append", s, at, digit);
            m.one_thread("append", other, elsewhere, 10 - digit);
        }
        CHECK(m.read<long long>(at, 1, s)[0] == 123456789);
        CHECK(m.read<long long>(elsewhere, 1, other)[0] == 987654321);
    }
}

TEST_CASE("Software CUDA: a wait for an event that is missing is caught, one that is there holds") {
    HINDCAST_NEEDS_COMPILER();
    int wrong = 0;
    for (const bool waits : {false, true})
        for (int seed = 1; seed <= 20; ++seed) {
            Machine m("seed=" + std::to_string(seed));
            const StreamHandle producer = m.stream(), consumer = m.stream();
            const EventHandle done = m.event();
            const Address from = m.memory(4, producer), to = m.memory(4, consumer);
            m.driver.StreamSynchronize(producer);
            m.one_thread("put", producer, from, 42);
            m.driver.EventRecord(done, producer);
            if (waits) CHECK(m.driver.StreamWaitEvent(consumer, done, 0) == 0);
            m.one_thread("copy", consumer, to, from);
            const int value = m.read<int>(to, 1, consumer)[0];
            if (waits)
                CHECK(value == 42);
            else
                wrong += value != 42;
        }
    CHECK(wrong > 0);
}

TEST_CASE("Software CUDA: memory that is freed too early is caught") {
    HINDCAST_NEEDS_COMPILER();
    int wrong = 0;
    for (int seed = 1; seed <= 20; ++seed) {
        Machine m("seed=" + std::to_string(seed));
        const StreamHandle s = m.stream(), other = m.stream();
        const Address from = m.memory(4, s), to = m.memory(4, s);
        m.driver.StreamSynchronize(s);
        m.one_thread("put", s, from, 42);
        m.one_thread("copy", s, to, from);
        m.driver.MemFreeAsync(from, other);  // does not wait
        wrong += m.read<int>(to, 1, s)[0] != 42;
    }
    CHECK(wrong > 0);
}

TEST_CASE("Software CUDA: events") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream(), other = m.stream();
    const EventHandle event = m.event();
    const Address a = m.memory(4, s), b = m.memory(4, other);
    m.driver.CtxSynchronize();
    CHECK(m.driver.EventQuery(event) == 0);  // never recorded
    CHECK(m.driver.EventSynchronize(event) == 0);
    CHECK(m.driver.StreamWaitEvent(other, event, 0) == 0);

    m.one_thread("put", s, a, 1);
    CHECK(m.driver.EventRecord(event, s) == 0);
    CHECK(m.driver.EventQuery(event) == 600);
    int asked = 1;
    while (m.driver.EventQuery(event) == 600) ++asked;  // ends
    CHECK(m.read<int>(a, 1, s)[0] == 1);

    // The wait is for the record before, whatever is recorded later.
    m.one_thread("put", s, a, 2);
    CHECK(m.driver.EventRecord(event, s) == 0);
    CHECK(m.driver.StreamWaitEvent(other, event, 0) == 0);
    m.one_thread("copy", other, b, a);
    CHECK(m.driver.EventRecord(event, other) == 0);
    CHECK(m.driver.StreamWaitEvent(s, event, 0) == 0);
    m.one_thread("put", s, a, 3);
    CHECK(m.driver.EventSynchronize(event) == 0);
    CHECK(m.read<int>(b, 1, other)[0] == 2);
    CHECK(m.read<int>(a, 1, s)[0] == 3);

    // A stream and an event that are gone: what they hold happens.
    const StreamHandle brief = m.stream();
    const EventHandle end = m.event();
    m.one_thread("put", brief, a, 4);
    m.driver.EventRecord(end, brief);
    CHECK(m.driver.StreamWaitEvent(s, end, 0) == 0);
    CHECK(m.driver.EventDestroy(end) == 0);
    CHECK(m.driver.StreamDestroy(brief) == 0);
    CHECK(m.driver.EventDestroy(end) == 400);
    CHECK(m.driver.StreamDestroy(brief) == 400);
    CHECK(m.read<int>(a, 1, s)[0] == 4);
    CHECK(m.count("events") == 2);
}

TEST_CASE("Software CUDA: the default stream and blocking streams wait for each other") {
    HINDCAST_NEEDS_COMPILER();
    for (int seed = 1; seed <= 20; ++seed) {
        Machine m("seed=" + std::to_string(seed));
        const StreamHandle s = m.stream(0);
        const Address at = m.memory(8, nullptr);
        m.driver.MemsetD8Async(at, 0, 8, s);
        for (int digit = 1; digit < 6; ++digit)
            m.one_thread("append", digit % 2 == 0 ? s : nullptr, at, digit);
        CHECK(m.read<long long>(at, 1, nullptr)[0] == 12345);
    }
}

TEST_CASE("Software CUDA: a queue that is full is executed, all else waits for a demand") {
    HINDCAST_NEEDS_COMPILER();
    Machine m("queue=10");
    const StreamHandle s = m.stream();
    const Address at = m.memory(4, s);
    for (int k = 0; k < 9; ++k) m.one_thread("put", s, at, k);
    CHECK(m.count("executed") == 0);
    m.one_thread("put", s, at, 9);
    CHECK(m.count("executed") == 6);
    m.driver.StreamSynchronize(s);
    CHECK(m.count("executed") == 11);
}

// ---- memory of the host

TEST_CASE("Software CUDA: pinned memory is written and read when the stream gets there") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream();
    const Address at = m.memory(4, s);
    int* const in = m.host<int>(2);
    int* const out = m.host<int>(1);
    in[1] = 1;
    *out = -1;
    CHECK(m.driver.MemcpyHtoDAsync(at, in + 1, 4, s) == 0);
    in[1] = 2;  // too early: this is what is copied
    CHECK(m.driver.MemcpyDtoHAsync(out, at, 4, s) == 0);
    CHECK(*out == -1);
    CHECK(m.count("synchronizations") == 0);
    CHECK(m.driver.StreamSynchronize(s) == 0);
    CHECK(*out == 2);
    CHECK(m.driver.MemcpyDtoHAsync(out + 1, at, 4, s) == 0);  // behind it: pageable
    CHECK(out[1] == 2);
    CHECK(m.driver.MemcpyDtoHAsync(reinterpret_cast<char*>(out) + 2, at, 4, s) == 1);  // both
    CHECK(m.count("synchronizations") == 2);
    CHECK(m.driver.MemFreeHost(in) == 0);
    CHECK(m.driver.MemFreeHost(in) == 1);
    // Memory that is freed too early.
    CHECK(m.driver.MemcpyDtoHAsync(out, at, 4, s) == 0);
    CHECK(m.driver.MemFreeHost(out) == 0);
    CHECK(m.driver.StreamSynchronize(s) == 700);
}

TEST_CASE("Software CUDA: the host cannot reach the memory of a device") {
    HINDCAST_NEEDS_COMPILER();
    Machine m;
    const StreamHandle s = m.stream();
    const Address at = m.memory(5000, s);
    m.driver.MemsetD8Async(at, 1, 5000, s);
    CHECK(m.driver.StreamSynchronize(s) == 0);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    for (const std::size_t offset : {0, 4999, 100000}) {
        errno = 0;
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        CHECK(::write(ends[1], reinterpret_cast<const void*>(at + offset), 1) == -1);
        CHECK(errno == EFAULT);
    }
    ::close(ends[0]);
    ::close(ends[1]);
    // Nor is such an address one of the host's.
    void* const wrong = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
    CHECK(m.driver.MemcpyHtoDAsync(at, wrong, 4, s) == 1);
    CHECK(m.driver.MemcpyDtoHAsync(wrong, at, 4, s) == 1);
}
