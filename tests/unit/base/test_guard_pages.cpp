// Guard pages: with HINDCAST_GUARD_PAGES an access outside of a block ends the program, at the side
// that was asked for and at the very first byte.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;

namespace {

constexpr int faulted = 77, survived = 78;

// What the probe below does in a process of its own.
int outcome(const char* mode, std::size_t bytes, std::ptrdiff_t offset) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("HINDCAST_GUARD_PAGES", mode, 1);
        ::setenv("HINDCAST_PROBE_BYTES", std::to_string(bytes).c_str(), 1);
        ::setenv("HINDCAST_PROBE_OFFSET", std::to_string(offset).c_str(), 1);
        ::execl("/proc/self/exe", "hindcast_tests", "--test-case=probe of guard pages", "--no-skip",
                static_cast<char*>(nullptr));
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

// Run by the test below only. Reads one byte of a block, or next to it.
TEST_CASE("probe of guard pages" * doctest::skip()) {
    const char *const bytes = std::getenv("HINDCAST_PROBE_BYTES"), *const offset = std::getenv(
                                                                       "HINDCAST_PROBE_OFFSET");
    REQUIRE(bytes != nullptr);
    REQUIRE(offset != nullptr);
    AlignedBuffer<std::uint8_t> block(std::strtoull(bytes, nullptr, 10));
    ::signal(SIGSEGV, [](int) { ::_exit(faulted); });
    ::signal(SIGBUS, [](int) { ::_exit(faulted); });
    const volatile std::uint8_t* const at = block.data() + std::strtoll(offset, nullptr, 10);
    ::_exit(*at == 0 ? survived : 1);
}

TEST_CASE("guard pages: the first byte outside of a block is out of reach") {
    for (const std::size_t bytes : {4u, 12u, 4095u, 4096u, 50700u, (4u << 20) + 12u}) {
        CAPTURE(bytes);
        const auto last = static_cast<std::ptrdiff_t>(bytes) - 1;
        CHECK(outcome("front", bytes, -1) == faulted);
        CHECK(outcome("front", bytes, 0) == survived);
        CHECK(outcome("front", bytes, last) == survived);
        CHECK(outcome("end", bytes, last + 1) == faulted);
        CHECK(outcome("end", bytes, last) == survived);
        CHECK(outcome("end", bytes, 0) == survived);
    }
}

// As many as a window keeps frames: more than a process has mappings for.
TEST_CASE("guard pages: more blocks than there are mappings") {
    std::vector<AlignedBuffer<std::uint8_t>> blocks;
    for (int k = 0; k < 40000; ++k) {
        blocks.emplace_back(24);
        blocks.back()[0] = static_cast<std::uint8_t>(k);
        blocks.back()[23] = 1;
    }
    bool all = true;
    for (int k = 0; k < 40000; ++k) {
        const auto& block = blocks[static_cast<std::size_t>(k)];
        all &= block[0] == static_cast<std::uint8_t>(k) && block[1] == 0 && block[23] == 1;
    }
    CHECK(all);
    const std::int64_t before = memory_use().current;
    while (blocks.size() > 10)
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() / 2), blocks.end());
    CHECK(memory_use().current < before);
    blocks.emplace_back(24);  // has a guard again
    CHECK(blocks.back()[0] == 0);
}
