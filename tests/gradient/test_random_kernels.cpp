// Random kernels through the generic checker.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/random_kernel.hpp"

using namespace hindcast;

TEST_CASE("random kernels: forward, reverse, differences and both routes to second order agree") {
    const char* n = std::getenv("N");
    const char* s0 = std::getenv("S");
    const std::uint64_t first = s0 ? std::strtoull(s0, nullptr, 10) : 0;
    const std::uint64_t count = n ? std::strtoull(n, nullptr, 10) : 300;
    int bad = 0;
    for (std::uint64_t seed = first; seed < first + count && bad < 10; ++seed) {
        try {
            const test::Case c = test::random_case(seed);
            const test::Data base = test::random_inputs(c, seed);
            std::mt19937_64 random(seed);
            const auto problems = test::check_kernel(c, base, random, {.order = seed % 10 == 0 ? 3 : 2, .differences = seed % 2 == 0});
            for (const std::string& p : problems) MESSAGE(p);
            if (!problems.empty()) {
                ++bad;
                FAIL_CHECK("seed " << seed);
                if (count == 1) MESSAGE(ir::print(c.kernel));
            }
        } catch (const std::exception& e) {
            ++bad;
            FAIL_CHECK("seed " << seed << ": " << e.what());
        }
    }
}
