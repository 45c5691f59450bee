// What the program says about the CUDA driver: that there is none, or why it cannot be used. The
// driver is that in software (tests/cuda_driver).
#include <doctest/doctest.h>

#include <list>
#include <map>
#include <string>

#include "tests/support/environment.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

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
    return info_with({{"HINDCAST_CUDA_DRIVER", hindcast::test::software_cuda_driver},
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
    CHECK(contains(
        two, std::string("driver       13.0 (") + hindcast::test::software_cuda_driver + ")"));
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

TEST_CASE("CUDA driver: without NVRTC auto is the CPU, and cuda one clear error") {
    HINDCAST_NEEDS_PROGRAM();
    const test::Environment driver("HINDCAST_CUDA_DRIVER", hindcast::test::software_cuda_driver),
        nvrtc("HINDCAST_NVRTC", "/no/such/file");
    const test::TemporaryFolder folder;
    const auto run = [&](const char* device) {
        return test::run_program(
            {"run", std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json",
             "--device", device, "--output", folder.path().string()});
    };
    const test::Finished automatic = run("auto");
    CHECK(automatic.status == 0);
    CHECK(contains(automatic.out, "device      cpu, "));
    const test::Finished cuda = run("cuda");
    CHECK(cuda.status != 0);
    CHECK(cuda.out == "");
    CHECK(contains(
        cuda.err,
        "CUDA code cannot be compiled: '/no/such/file' cannot be opened; install the CUDA 13 "
        "toolkit or PyPI's nvidia-cuda-nvrtc, or set HINDCAST_NVRTC to the library\n"));
    CHECK(cuda.err.starts_with("hindcast: "));
    CHECK(contains(info_with({}), "NVRTC        '/no/such/file' cannot be opened"));
}
