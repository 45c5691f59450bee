// What the program says about the CUDA driver: that there is none, or why it cannot be used. The
// driver is that in software (tests/cuda_driver).
#include <doctest/doctest.h>

#include <list>
#include <map>
#include <string>

#include "tests/support/environment.hpp"
#include "tests/support/program.hpp"

using namespace hindcast;

namespace {

// `hindcast info` with these environment variables.
std::string info_with(const std::map<std::string, std::string>& variables) {
    std::list<test::Environment> set;
    for (const auto& [name, value] : variables) set.emplace_back(name, value);
    const test::Finished info = test::run_program({"info"});
    CHECK(info.status == 0);
    return info.out;
}
std::string with_driver(const std::string& pretends) {
    return info_with({{"HINDCAST_CUDA_DRIVER", HINDCAST_SOFTWARE_CUDA_DRIVER},
                      {"HINDCAST_SOFTWARE_CUDA", pretends}});
}
bool contains(const std::string& text, const std::string& part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("CUDA driver: info lists its devices") {
    HINDCAST_NEEDS_PROGRAM();
    const std::string two = with_driver("devices=2");
    CHECK(contains(two, "driver       13.0 (" HINDCAST_SOFTWARE_CUDA_DRIVER ")"));
    CHECK(contains(two, "software device 0: sm_90, 4 multiprocessors, 8.0 GiB"));
    CHECK(contains(two, "software device 1"));
    CHECK(contains(with_driver("version=13020"), "driver       13.2 ("));
}

TEST_CASE("CUDA driver: why it cannot be used") {
    HINDCAST_NEEDS_PROGRAM();
    CHECK(contains(info_with({{"HINDCAST_CUDA_DRIVER", "/no/such/file"}}),
                   "driver       '/no/such/file' cannot be opened"));
    CHECK(contains(info_with({{"HINDCAST_CUDA_DRIVER", "libm.so.6"}}),
                   "the CUDA driver has no function cuDriverGetVersion"));
    CHECK(contains(with_driver("version=12080"),
                   "the CUDA driver is of version 12.8; 13.0 or newer is needed"));
    CHECK(contains(with_driver("devices=0"), "the CUDA driver sees no device"));
    CHECK(contains(with_driver("fail=cuInit:100"), "the CUDA driver sees no device"));
    CHECK(contains(with_driver("fail=cuInit:999"), "unknown error (CUDA_ERROR_UNKNOWN)"));
    const std::string half = with_driver("devices=2,fail=cuDeviceTotalMem_v2:2");
    CHECK(contains(half, "a device's memory: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"));
    CHECK(!contains(half, "software device"));
}
