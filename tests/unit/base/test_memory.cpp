// Aligned memory: zeroed, aligned, counted, and an error when there is not enough. The
// floating-point guard.
#include <doctest/doctest.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/backend/jit/interruption.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/base/float_environment.hpp"
#include "engine/base/pages.hpp"
#include "engine/base/stopped.hpp"
#include "engine/runtime/array/device_memory.hpp"
#include "engine/runtime/device/device.hpp"

using namespace hindcast;

TEST_CASE("buffers are aligned and zeroed, small and large") {
    for (const std::size_t count : {1u, 3u, 16u, 1000u, 524287u, 524288u, 700001u}) {
        AlignedBuffer<double> buffer(count);
        CHECK(buffer.size() == count);
        if (guard_pages() != GuardPages::end)
            CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % memory_alignment == 0);
        CHECK(std::all_of(buffer.begin(), buffer.end(), [](double x) { return x == 0.0; }));
        std::fill(buffer.begin(), buffer.end(), 1.0);  // all of it may be written
    }
    // A used block that comes back is zero again.
    for (int repeat = 0; repeat < 10; ++repeat) {
        AlignedBuffer<std::uint8_t> buffer(777);
        CHECK(std::count(buffer.begin(), buffer.end(), 0) == 777);
        std::fill(buffer.begin(), buffer.end(), std::uint8_t{0xaa});
    }
}

TEST_CASE("memory is counted while it is held") {
    const MemoryUse before = memory_use();
    reset_memory_peak();
    {
        AlignedBuffer<float> small(100);
        CHECK(memory_use().current == before.current + 400);
        {
            AlignedBuffer<float> large(2u << 20);
            CHECK(memory_use().current == before.current + 400 + (8 << 20));
        }
        AlignedBuffer<float> moved(std::move(small));
        CHECK(memory_use().current == before.current + 400);
        CHECK(small.empty());  // NOLINT(bugprone-use-after-move): a moved-from buffer is empty
        small = AlignedBuffer<float>(10);
        CHECK(memory_use().current == before.current + 440);
    }
    CHECK(memory_use().current == before.current);
    CHECK(memory_use().peak == before.current + 400 + (8 << 20));
    CHECK(memory_use().allocations == before.allocations + 3);
}

namespace {
// Pages of a block that are backed by memory, and all of them.
std::pair<std::int64_t, std::int64_t> backed_pages(const void* block, std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    // With guard pages at the end the block begins within a page.
    const std::size_t before = reinterpret_cast<std::uintptr_t>(block) % page;
    char* const first = static_cast<char*>(const_cast<void*>(block)) - before;
    std::vector<unsigned char> backed((before + bytes + page - 1) / page);
    REQUIRE(mincore(first, before + bytes, backed.data()) == 0);
    const auto count = std::count_if(backed.begin(), backed.end(),
                                     [](unsigned char flags) { return (flags & 1) != 0; });
    return {count, static_cast<std::int64_t>(backed.size())};
}
}  // namespace

TEST_CASE("pages of a large buffer are backed when they are asked for, and keep what they hold") {
    constexpr std::size_t size = (std::size_t{9} << 20) + 12345;
    AlignedBuffer<char> buffer(size);
    buffer[size / 2] = 7;
    const auto [before, all] = backed_pages(buffer.data(), size);
    CHECK(before < all);
    populate(buffer.data(), buffer.size());
    CHECK(backed_pages(buffer.data(), size).first == all);
    CHECK(buffer[size / 2] == 7);
    CHECK(std::count(buffer.begin(), buffer.end(), 0) == static_cast<std::int64_t>(size) - 1);
    // Small ones, which share their pages with others, and none at all.
    AlignedBuffer<char> small(100);
    populate(small.data() + 1, 98);
    CHECK(std::count(small.begin(), small.end(), 0) == 100);
    populate(nullptr, 0);
}

TEST_CASE(
    "pages of a device's memory are backed by several threads, or by as many as there may be") {
    const Device device(DeviceOptions{.kind = DeviceKind::interpreter, .threads = 1});
    // Pieces that threads take, a rest, and less than a piece.
    for (const std::size_t size :
         {(std::size_t{70} << 20) + 12345, std::size_t{32} << 20, std::size_t{4321}}) {
        CAPTURE(size);
        DeviceMemory memory = device.allocate(size);
        memory.data()[size - 1] = std::byte{7};
        memory.populate();
        const auto [backed, all] = backed_pages(memory.data(), size);
        CHECK(backed == all);
        CHECK(memory.data()[size - 1] == std::byte{7});
        CHECK(std::count(memory.data(), memory.data() + size, std::byte{0}) ==
              static_cast<std::int64_t>(size) - 1);
    }
    DeviceMemory none;
    none.populate();
    // An interruption before it leaves the rest as it is.
    DeviceMemory memory = device.allocate(std::size_t{70} << 20);
    const backend::Interruptible here([] { throw Stopped(); });
    CHECK_THROWS_AS(memory.populate(), Stopped);
}

TEST_CASE("what other threads allocate and free is none of this thread's use") {
    const std::int64_t before = memory_use_of_thread();
    AlignedBuffer<char> own(1000), others;
    std::thread([&] { others = AlignedBuffer<char>(64 << 10); }).join();
    CHECK(memory_use_of_thread() == before + 1000);
    std::thread([&] { own = AlignedBuffer<char>(); }).join();
    CHECK(memory_use_of_thread() == before + 1000);
    others = AlignedBuffer<char>();
    CHECK(memory_use_of_thread() == before + 1000 - (64 << 10));
}

TEST_CASE("an empty buffer holds nothing") {
    const MemoryUse before = memory_use();
    AlignedBuffer<int> empty(0);
    CHECK(empty.data() == nullptr);
    CHECK(empty.begin() == empty.end());
    CHECK(memory_use().allocations == before.allocations);
}

TEST_CASE("more memory than there is gives an error, and nothing is counted") {
    const MemoryUse before = memory_use();
    CHECK_THROWS_AS(AlignedBuffer<double>(SIZE_MAX / 4), Error);
    CHECK_THROWS_AS(AlignedBuffer<double>(SIZE_MAX / 16), Error);
    CHECK_THROWS_AS(AlignedBuffer<double>(std::size_t{1} << 44), Error);
    CHECK(memory_use().current == before.current);
    try {
        AlignedBuffer<char> buffer(std::size_t{1} << 60);
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("cannot allocate 1099511627776 MiB") == 0);
    }
}

TEST_CASE("the floating-point guard sets the rules and restores what was there") {
    const unsigned original = _mm_getcsr();
    _mm_setcsr(original | 0x8040 | 0x2000);  // flush to zero, subnormals are zero, round down
    const unsigned changed = _mm_getcsr();
    CHECK_FALSE(FloatEnvironment::active());
    {
        const FloatEnvironment guard;
        CHECK(FloatEnvironment::active());
        volatile float small = 1e-38f;
        small = small * 0.125f;  // a subnormal
        CHECK(small > 0.0f);
        {
            const FloatEnvironment inner;
            CHECK(FloatEnvironment::active());
        }
        CHECK(FloatEnvironment::active());
    }
    const unsigned restored = _mm_getcsr();
    _mm_setcsr(original);
    CHECK((restored & ~0x3fu) == (changed & ~0x3fu));
    CHECK(FloatEnvironment::active());
}
