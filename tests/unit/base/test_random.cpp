// Philox4x32-10 against the published known answers; uniform and normal numbers against their
// moments.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "engine/base/random.hpp"

using namespace hindcast;

TEST_CASE("Philox4x32-10 gives the published answers") {
    // Random123, kat_vectors, lines "philox4x32 10".
    CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) ==
          PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
          PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    static_assert(philox4x32({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5);  // usable at compile time
}

TEST_CASE("seed, stream and index fill the counter and the key") {
    const std::uint64_t index = 0x85a308d3'243f6a88, stream = 0x03707344'13198a2e;
    const std::uint64_t seed = 0x299f31d0'a4093822;
    CHECK(Random(seed, stream).bits(index) ==
          PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    // The first two words, low word first, shifted down to 53 bits.
    CHECK(Random(seed, stream).uniform(index) ==
          static_cast<double>(0x94fdcceb'd16cfe09 >> 11) / 9007199254740992.0);
}

TEST_CASE("uniform numbers have the moments of the uniform distribution") {
    const Random random(42);
    constexpr int count = 200000;
    double sum = 0, squares = 0, lowest = 1, highest = 0, neighbors = 0, previous = 0.5;
    for (int i = 0; i < count; ++i) {
        const double x = random.uniform(static_cast<std::uint64_t>(i));
        REQUIRE((x >= 0.0 && x < 1.0));
        sum += x;
        squares += x * x;
        neighbors += (x - 0.5) * (previous - 0.5);
        previous = x;
        lowest = std::min(lowest, x);
        highest = std::max(highest, x);
    }
    // Five standard errors: sqrt(1/12/n), sqrt(4/45/n), 1/12/sqrt(n).
    CHECK(std::abs(sum / count - 0.5) < 5 * std::sqrt(1.0 / 12 / count));
    CHECK(std::abs(squares / count - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / count));
    CHECK(std::abs(neighbors / count) < 5.0 / 12 / std::sqrt(count));
    CHECK(lowest < 1e-4);
    CHECK(highest > 1 - 1e-4);
}

TEST_CASE("streams and seeds differ") {
    CHECK(Random(1).uniform(0) != Random(2).uniform(0));
    CHECK(Random(1, 0).uniform(0) != Random(1, 1).uniform(0));
    CHECK(Random(1).uniform(0) != Random(1).uniform(std::uint64_t{1} << 32));
}

TEST_CASE("a range keeps its bounds") {
    const Random random(3);
    const double low = 1.0, high = std::nextafter(1.0, 2.0);
    for (std::uint64_t i = 0; i < 1000; ++i) REQUIRE(random.uniform(i, low, high) == low);
    CHECK(random.uniform(0, 5.0, 5.0) == 5.0);
    CHECK(random.uniform(7, -2.0, 2.0) == 4.0 * random.uniform(7) - 2.0);
}

TEST_CASE("normal numbers have the moments of the normal distribution") {
    struct {
        double log(double x) const { return std::log(x); }
        double cos(double x) const { return std::cos(x); }
    } functions;
    const Random random(7, 1);
    constexpr int count = 200000;
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < count; ++i) {
        const double x = random.normal(static_cast<std::uint64_t>(i), functions);
        REQUIRE(std::isfinite(x));
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    // Five standard errors: 1/sqrt(n), sqrt(2/n), sqrt(96/n).
    CHECK(std::abs(sum / count) < 5 / std::sqrt(count));
    CHECK(std::abs(squares / count - 1) < 5 * std::sqrt(2.0 / count));
    CHECK(std::abs(fourth / count - 3) < 5 * std::sqrt(96.0 / count));
}
