// Shares of a long run: together they have every item once.
#include "tests/support/full.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using hindcast::test::in_share;

TEST_CASE("shares of a long run have every item once") {
    for (std::uint64_t item = 0; item < 20; ++item) {
        CHECK(in_share(item, nullptr));
        CHECK(in_share(item, "1/1"));
        int taken = 0;
        for (const char* share : {"1/3", "2/3", "3/3"}) taken += in_share(item, share) ? 1 : 0;
        CHECK(taken == 1);
        CHECK(in_share(item, "2/4") == (item % 4 == 1));
    }
    for (const char* wrong : {"", "2", "2/", "0/4", "5/4", "a/4", "1/b", "1/4x"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(in_share(0, wrong), std::invalid_argument);
    }
}
