// Flags and words of the command line that earlier versions spelled the British way: still understood.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/render/output/png.hpp"
#include "engine/document/document.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const std::string cage = std::string(source_dir) + "/scenes/spring_cage.json";

// The picture that the command line makes of a scene.
std::vector<std::uint8_t> drawn(const std::string& scene, const std::vector<std::string>& more) {
    const TemporaryFolder folder;
    const std::string file = folder / "picture.png";
    std::vector<std::string> words = {"render", scene, "--size",   "96x64",
                                      "--step", "12",  "--output", file};
    if (test_device() == "interpreter") words.insert(words.end(), {"--device", "interpreter"});
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = run_program(words);
    INFO(run.err);
    REQUIRE(run.status == 0);
    return render::read_png(file).pixels;
}

}  // namespace

TEST_CASE("old spelling: flags of hindcast render") {
    HINDCAST_NEEDS_PROGRAM();
    const auto log = drawn(cage, {"--color-by", "speed", "--log-colors", "--color-bar"});
    CHECK(drawn(cage, {"--colour-by", "speed", "--log-colours", "--colour-bar"}) == log);
    const auto linear = drawn(cage, {"--color-by", "speed", "--linear-colors", "--no-color-bar"});
    CHECK(drawn(cage, {"--colour-by", "speed", "--linear-colours", "--no-colour-bar"}) == linear);
    CHECK(linear != log);
    const auto magma = drawn(cage, {"--color-by", "speed", "--color-map", "magma"});
    CHECK(drawn(cage, {"--colour-by", "speed", "--colour-map", "magma"}) == magma);
    const auto gray = drawn(cage, {"--color-by", "speed", "--color-map", "gray"});
    CHECK(drawn(cage, {"--color-by", "speed", "--color-map", "grey"}) == gray);
    CHECK(gray != magma);
    for (const std::vector<std::string>& both :
         {std::vector<std::string>{"--colour-by", "speed", "--color-by", "speed"},
          {"--log-colours", "--linear-colors"},
          {"--log-colors", "--linear-colours"},
          {"--log-colours", "--linear-colours"}}) {
        std::vector<std::string> words = {"render", cage, "--output", "x.png"};
        words.insert(words.end(), both.begin(), both.end());
        const Finished run = run_program(words);
        CAPTURE(both[0]);
        CHECK(run.status == 2);
        CHECK(run.err.find("excludes") != std::string::npos);
    }
    const std::string help = run_program({"render", "--help"}).out;
    CHECK(help.find("--color-by") != std::string::npos);
    CHECK(help.find("-colour") == std::string::npos);
}

TEST_CASE("old spelling: hindcast view --optimise") {
    HINDCAST_NEEDS_PROGRAM();
    if (run_program({"--help"}).out.find("\n  view ") == std::string::npos) return;
    const Environment x("DISPLAY", ""), wayland("WAYLAND_DISPLAY", "");
    const Finished old = run_program({"view", cage, "--optimise"}),
                   now = run_program({"view", cage, "--optimize"});
    CHECK(old.status != 0);  // there is no screen
    CHECK(old.status == now.status);
    CHECK(old.err == now.err);
    CHECK(run_program({"view", cage, "--optimiese"}).err != now.err);
}
