// Skipping a test with its reason. A skipped test is counted as skipped, never as passed.
//
//     TEST_CASE("runs on a GPU") {
//         if (!has_gpu()) HINDCAST_SKIP("no CUDA driver found");
//         ...
//     }
//
// The macro returns from the enclosing function: use it in the test case itself, before any check.
#pragma once

#include <string>

namespace hindcast::test {

void skip(const std::string& reason);  // defined in tests/main.cpp

}  // namespace hindcast::test

#define HINDCAST_SKIP(reason)           \
    do {                                \
        ::hindcast::test::skip(reason); \
        return;                         \
    } while (false)
