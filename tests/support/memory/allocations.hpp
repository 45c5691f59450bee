// Counts heap allocations, for tests of "allocates nothing". The test program replaces the global
// operator new; memory of engine/base/aligned.hpp counts as well.
//
//     const auto before = hindcast::test::allocations();
//     launch.replay();
//     CHECK(hindcast::test::allocations() == before);
#pragma once

#include <cstdint>

namespace hindcast::test {

// Since the start, of all threads.
std::int64_t allocations();

}  // namespace hindcast::test
