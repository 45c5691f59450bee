// hindcast render, as a user runs it.
#include <doctest/doctest.h>

#include <filesystem>

#include "app/render/png.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

const std::string scene = std::string(HINDCAST_SOURCE_DIR) + "/scenes/spring_cage.json";

std::vector<std::string> with(const std::string& output, std::vector<std::string> more = {}) {
    std::vector<std::string> all = {"render", scene, "--size", "96x64", "--output", output};
    if (test_device() == "interpreter") all.insert(all.end(), {"--device", "interpreter"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

TEST_CASE("command: a picture of a moment, the same each time, another at another moment") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string a = folder / "a.png", b = folder / "b.png", c = folder / "c.png";
    Finished run = run_program(with(a, {"--time", "0.5"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.out.find("step 15") != std::string::npos);
    CHECK(run_program(with(b, {"--step", "15"})).status == 0);
    CHECK(run_program(with(c, {"--time", "0", "--transport", "staging"})).status == 0);
    const Image first = read_png(a);
    CHECK(first.width == 96);
    CHECK(first.height == 64);
    CHECK(first.pixels == read_png(b).pixels);
    CHECK(first.pixels != read_png(c).pixels);
}

TEST_CASE("command: an iteration is optimised for, and colours are shown") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string a = folder / "a.png", b = folder / "b.png";
    const Finished run = run_program(with(a, {"--iteration", "0", "--colour-by", "speed"}));
    INFO(run.err);
    CHECK(run.status == 0);
    CHECK(run_program(with(b, {"--iteration", "2", "--colour-by", "speed"})).status == 0);
    CHECK(read_png(a).pixels != read_png(b).pixels);
}

TEST_CASE("command: failures say what is wrong and what to do") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string file = folder / "a.png";
    Finished run = run_program(with(file, {"--time", "99"}));
    CHECK(run.status == 1);
    CHECK(run.err.find("the scene ends after") != std::string::npos);
    run = run_program(with(file, {"--colour-by", "luck"}));
    CHECK(run.status == 1);
    CHECK(run.err.find("speed") != std::string::npos);
    CHECK(run_program(with(folder / "a.jpg")).status == 2);
    CHECK(run_program(with(file, {"--eye", "1,2"})).status == 2);
    {
        const Environment nowhere("HINDCAST_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1");
        run = run_program(with(file));
        CHECK(run.status == 1);
        CHECK(run.err.find("there is no Vulkan here") != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(file));
}
