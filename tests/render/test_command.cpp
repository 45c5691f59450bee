// hindcast render, as a user runs it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/render/device/vulkan_context.hpp"
#include "app/render/output/png.hpp"
#include "engine/document/document.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/installed.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

const std::string scene = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";

std::vector<std::string> with(const std::string& output, std::vector<std::string> more = {}) {
    std::vector<std::string> all = {"render", scene, "--size", "96x64", "--output", output};
    const bool chosen = std::ranges::find(more, "--device") != more.end();
    if (!chosen && test_device() == "interpreter")
        all.insert(all.end(), {"--device", "interpreter"});
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

TEST_CASE("command: a film of less than a second is slowed down, unless a speed is given") {
    HINDCAST_NEEDS_PROGRAM();
    if (!is_installed("ffmpeg")) HINDCAST_SKIP("there is no ffmpeg here");
    const TemporaryFolder folder;
    const std::string film = folder / "film.mp4";
    const auto told = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--rate", "5"});
        const Finished run = run_program(with(film, more));
        INFO(run.err);
        CHECK(run.status == 0);
        return run.out.substr(film.size());
    };
    // Half a second at a tenth of the speed lasts five: 25 pictures and the first.
    CHECK(told({"--until", "0.5"}) == ": 26 pictures, 0.1 simulated seconds per second\n");
    CHECK(told({"--until", "0.5", "--speed", "0.5"}) ==
          ": 6 pictures, 0.5 simulated seconds per second\n");
    CHECK(told({}) == ": 6 pictures, 1 simulated seconds per second\n");
}

TEST_CASE("command: a moment between kept frames is drawn exactly") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    // 1700 steps, of which frames are kept of every third at most.
    const std::string slow = folder / "slow.json", part = folder / "part.json";
    auto document = hindcast::document::Document::load(scene);
    document.set("/time/step", "1/400");
    document.set("/time/steps", 1700);
    document.erase("/view/camera");
    document.save(slow);
    document.set("/time/steps", 125);  // all are kept
    document.save(part);
    const std::string a = folder / "a.png", b = folder / "b.png", c = folder / "c.png";
    const auto draw = [&](const std::string& file, const std::string& output,
                          const std::string& time) {
        std::vector<std::string> words = with(output, {"--time", time, "--closer", "4"});
        words[1] = file;
        const Finished run = run_program(words);
        INFO(run.err);
        CHECK(run.status == 0);
        return run.out;
    };
    // 0.3124 s is nearest to step 125, which is no multiple of 3; 0.30 s is step 120.
    CHECK(draw(slow, a, "0.3124").find("step 125, 0.3125 s") != std::string::npos);
    CHECK(draw(part, b, "0.3124").find("step 125, 0.3125 s") != std::string::npos);
    CHECK(draw(slow, c, "0.31").find("step 124, 0.31 s") != std::string::npos);
    CHECK(read_png(a).pixels == read_png(b).pixels);
    CHECK(read_png(a).pixels != read_png(c).pixels);
}

TEST_CASE("command: an iteration is optimized for, and colors are shown") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string a = folder / "a.png", b = folder / "b.png";
    const Finished run = run_program(with(a, {"--iteration", "0", "--color-by", "speed"}));
    INFO(run.err);
    CHECK(run.status == 0);
    CHECK(run_program(with(b, {"--iteration", "2", "--color-by", "speed"})).status == 0);
    CHECK(read_png(a).pixels != read_png(b).pixels);
}

TEST_CASE("command: the scene's own colors are shown with their legend") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    int count = 0;
    const auto draw = [&](std::vector<std::string> more, const std::string& of = scene) {
        const std::string picture = folder / fmt::format("{}.png", ++count);
        std::vector<std::string> words = with(picture, std::move(more));
        words[1] = of;
        *std::ranges::find(words, "96x64") = "480x360";
        const Finished run = run_program(words);
        INFO(run.err);
        CHECK(run.status == 0);
        return read_png(picture).pixels;
    };
    // The scene says "color_by": "tension".
    const auto own = draw({});
    CHECK(own == draw({"--color-by", "tension", "--color-bar"}));
    const auto bare = draw({"--no-color-bar"});
    CHECK(own != bare);
    CHECK(bare == draw({"--color-by", "tension"}));
    const std::string plain = folder / "plain.json";
    auto document = hindcast::document::Document::load(scene);
    document.erase("/view/color_by");
    document.save(plain);
    const auto uncolored = draw({}, plain);
    CHECK(uncolored != bare);
    CHECK(uncolored == draw({"--color-by", "none"}));
    // Fields show their own values.
    draw({}, std::string(hindcast::test::source_dir) + "/scenes/wave_image.json");

    const Finished nothing =
        run_program(with(folder / "x.png", {"--color-by", "none", "--color-bar"}));
    CHECK(nothing.status == 1);
    CHECK(nothing.err.find("--color-by") != std::string::npos);
    document.set("/view/color_by", "sped");
    document.save(plain);
    std::vector<std::string> words = with(folder / "x.png");
    words[1] = plain;
    const Finished wrong = run_program(words);
    CHECK(wrong.status == 1);
    CHECK(wrong.err.find("no 'sped' to show; for view.color_by there is: ") != std::string::npos);
}

TEST_CASE("command: the range of colors is that of the run, of each moment, or two numbers") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const auto document = hindcast::document::Document::load(
        std::string(hindcast::test::source_dir) + "/scenes/free_flight.json");
    int count = 0;
    // At the top of the flight, when the ball is slowest, with what the view says.
    const auto draw = [&](const std::vector<std::string>& more, const char* key = nullptr,
                          const char* value = nullptr) {
        auto scene_of_view = document;
        if (key != nullptr)
            scene_of_view.set(std::string("/view/") + key,
                              hindcast::document::Document::parse(value).root());
        const std::string file = folder / "scene.json";
        scene_of_view.save(file);
        const std::string picture = folder / fmt::format("{}.png", ++count);
        std::vector<std::string> words = with(picture, more);
        words[1] = file;
        words.insert(words.end(), {"--time", "0.4", "--no-color-bar"});
        const Finished run = run_program(words);
        INFO(run.err);
        CHECK(run.status == 0);
        return read_png(picture).pixels;
    };
    const auto run = draw({});
    CHECK(run == draw({"--range", "run"}));
    CHECK(run == draw({}, "color_range", "\"run\""));
    // Speeds are sqrt(9 + (4 - 0.0981 k)^2) after k steps: 3.00014 m/s and 6.5 m/s at the ends. At
    // 0.4 s the ball has the color of the least one, but of the only one in the moment's range.
    CHECK(run == draw({"--range", "3.00014,6.5"}));
    const auto frame = draw({"--range", "frame"});
    CHECK(frame != run);
    CHECK(frame == draw({}, "color_range", "\"frame\""));
    CHECK(run == draw({"--range", "run"}, "color_range", "\"frame\""));
    CHECK(draw({"--range", "2,4"}) == draw({}, "color_range", "[2, 4]"));
    CHECK(draw({"--range", "2,4"}) != run);
    CHECK(draw({"--color-map", "gray"}) == draw({}, "color_map", "\"gray\""));
    CHECK(draw({"--color-map", "gray"}) != run);
    const auto log = draw({"--range", "2,8", "--log-colors"});
    CHECK(log == draw({"--range", "2,8"}, "color_scale", "\"log\""));
    CHECK(log != draw({"--range", "2,8", "--linear-colors"}, "color_scale", "\"log\""));

    const Finished empty = run_program(with(folder / "x.png", {"--range", "4,2"}));
    CHECK(empty.status != 0);
    CHECK(empty.err.find("the smaller number first") != std::string::npos);
}

TEST_CASE("command: stress and energy density are colors, contact forces arrows") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    int count = 0;
    const auto draw = [&](const char* of, std::vector<std::string> more) {
        const std::string picture = folder / fmt::format("{}.png", ++count);
        std::vector<std::string> words = with(picture, std::move(more));
        words[1] = std::string(hindcast::test::source_dir) + "/scenes/" + of;
        const Finished run = run_program(words);
        INFO(run.err);
        CHECK(run.status == 0);
        return read_png(picture).pixels;
    };
    const auto beam = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--step", "100", "--no-color-bar"});
        return draw("soft_beam.json", more);
    };
    const auto plain = beam({"--color-by", "none"}),
               stress = beam({"--color-by", "von Mises stress"}),
               energy = beam({"--color-by", "energy density"}),
               force = beam({"--color-by", "force"});
    CHECK(stress != plain);
    CHECK(energy != plain);
    CHECK(force != plain);
    CHECK(stress != energy);
    CHECK(stress == beam({"--color-by", "von Mises stress"}));
    const auto net = draw("net_over_ball.json", {"--color-by", "none"});
    CHECK(net != draw("net_over_ball.json", {"--color-by", "none", "--arrows", "contact force"}));
    CHECK(net != draw("net_over_ball.json", {"--color-by", "tension"}));
}

TEST_CASE("command: a CUDA device writes into memory that Vulkan exported, and draws the same") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::string uuid;
    {
        const Studio studio;
        if (!studio.context.facts().memory_export) HINDCAST_SKIP("this Vulkan exports no memory");
        for (const std::uint8_t byte : studio.context.facts().uuid)
            uuid += fmt::format("{:02x}", byte);
    }
    const Environment driver("HINDCAST_CUDA_DRIVER", hindcast::test::software_cuda_driver);
    const Environment compiler("HINDCAST_NVRTC", hindcast::test::software_cuda_driver);
    const Environment same("HINDCAST_SOFTWARE_CUDA", "uuid=" + uuid);
    const std::vector<std::string> look = {"--step", "15",       "--color-by",
                                           "speed",  "--arrows", "velocity"};
    const auto draw = [&](const std::string& name, std::vector<std::string> more) {
        more.insert(more.end(), look.begin(), look.end());
        return run_program(with(folder / name, more));
    };
    REQUIRE(draw("cpu.png", {}).status == 0);
    const Image expected = read_png(folder / "cpu.png");
    for (const std::string transport : {"auto", "exported", "imported", "mapped", "staging"}) {
        const Finished run = draw("cuda.png", {"--device", "cuda", "--transport", transport});
        INFO(transport);
        INFO(run.err);
        CHECK(run.status == 0);
        if (transport == "auto") CHECK(run.out.find("exported") != std::string::npos);
        CHECK(read_png(folder / "cuda.png").pixels == expected.pixels);
    }
    const Environment other("HINDCAST_SOFTWARE_CUDA", "");
    const Finished run = draw("other.png", {"--device", "cuda", "--transport", "exported"});
    CHECK(run.status == 1);
    CHECK(run.err.find("another GPU than the solver's") != std::string::npos);
}

TEST_CASE("command: failures say what is wrong and what to do") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string file = folder / "a.png";
    Finished run = run_program(with(file, {"--time", "99"}));
    CHECK(run.status == 1);
    CHECK(run.err.find("the scene ends after") != std::string::npos);
    run = run_program(with(file, {"--color-by", "luck"}));
    CHECK(run.status == 1);
    CHECK(run.err.find("speed") != std::string::npos);
    CHECK(run_program(with(folder / "a.jpg")).status == 2);
    for (const char* name : {"none/a.png", "none/a.gif", "none/a.mp4"}) {
        run = run_program(with(folder / name));
        CHECK(run.status == 1);
        CHECK(run.err.find("there is no folder '" + (folder / "none").string()) !=
              std::string::npos);
        CHECK(run.err.find("ffmpeg") == std::string::npos);
    }
    run = run_program({"view", folder / "none.json", "--screenshot", file});
    CHECK(run.status == 1);
    CHECK(run.err.find("none.json") != std::string::npos);
    run = run_program({"view", scene, "--screenshot", file, "--checkpoint", "soft"});
    CHECK(run.status == 1);
    CHECK(run.err.find("the scene has no checkpoint 'soft'") != std::string::npos);
    CHECK(run_program(with(file, {"--eye", "1,2"})).status == 2);
    {
        const Environment nowhere("HINDCAST_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1");
        run = run_program(with(file));
        CHECK(run.status == 1);
        CHECK(run.err.find("there is no Vulkan here") != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("command: names, color bar and time stamp are written onto the picture") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::vector<std::string> moment = {"--time",  "0.5",        "--size",
                                             "320x240", "--color-by", "speed"};
    const auto draw = [&](const std::string& file, std::vector<std::string> more) {
        std::vector<std::string> all = with(folder / file, moment);
        all.erase(all.begin() + 2, all.begin() + 4);  // another size
        all.insert(all.end(), more.begin(), more.end());
        const Finished run = run_program(all);
        INFO(run.err);
        REQUIRE(run.status == 0);
        return read_png(folder / file);
    };
    const Image plain = draw("plain.png", {});
    // What differs, as a box.
    struct Box {
        int left = 10000, top = 10000, right = -1, bottom = -1;
    };
    const auto difference = [&](const Image& image) {
        Box box;
        for (int y = 0; y < image.height; ++y)
            for (int x = 0; x < image.width; ++x)
                if (!(pixel(image, x, y) == pixel(plain, x, y)))
                    box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x),
                           std::max(box.bottom, y)};
        return box;
    };
    const Box bar = difference(draw("bar.png", {"--color-bar"}));
    CHECK(bar.left > 160);  // at the right edge
    CHECK(bar.right > 290);
    CHECK(bar.bottom - bar.top > 100);
    const Box time = difference(draw("time.png", {"--time-stamp"}));
    CHECK(time.top > 200);  // in the lower left corner
    CHECK(time.right < 120);
    CHECK(time.right > 40);
    const Image names = draw("names.png", {"--labels"});
    CHECK(difference(names).right > 0);
    CHECK(names.pixels == draw("again.png", {"--labels"}).pixels);
    // Larger text is larger.
    const Box large = difference(draw("large.png", {"--time-stamp", "--label-scale", "2"}));
    CHECK(large.right - large.left > 1.7 * (time.right - time.left));
}

TEST_CASE("command: the camera stands where its path is at that moment") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "path.json")
        << R"({"camera_path": [{"time": 0, "eye": [3, 0, 1], "target": [0, 0, 0]},
               {"time": 1, "eye": [3, 2, 1], "target": [0, 0, 0]}]})";
    const std::string a = folder / "a.png", b = folder / "b.png";
    const Finished run =
        run_program(with(a, {"--step", "15", "--camera-path", folder / "path.json"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    // Two keys: the line between them, in the middle at step 15 of 30.
    CHECK(run_program(with(b, {"--step", "15", "--eye", "3,1,1", "--target", "0,0,0"})).status ==
          0);
    CHECK(read_png(a).pixels == read_png(b).pixels);
    const Finished none = run_program(with(a, {"--camera-path", scene}));
    CHECK(none.status == 1);
    CHECK(none.err.find("no camera path") != std::string::npos);
}

TEST_CASE("command: info names device, driver and transports") {
    HINDCAST_NEEDS_PROGRAM();
    Finished run = run_program({"info"});
    CHECK(run.status == 0);
    for (const DeviceFacts& facts : VulkanContext::devices()) {
        CHECK(run.out.find(facts.name) != std::string::npos);
        CHECK(run.out.find("driver " + facts.driver + "; Vulkan " + facts.version) !=
              std::string::npos);
    }
    CHECK(run.out.find("(chosen)") != std::string::npos);
    CHECK(run.out.find("mapped, staging") != std::string::npos);
    const Environment nowhere("HINDCAST_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1");
    run = run_program({"info"});
    CHECK(run.status == 0);
    CHECK(run.out.find("there is no Vulkan here") != std::string::npos);
}

TEST_CASE("view: a robot's model opens without a scene file") {
    HINDCAST_NEEDS_PROGRAM();
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    std::ofstream(folder / "robot.xml")
        << "<mujoco><worldbody><body><joint/><geom size='0.1'/></body>"
           "</worldbody></mujoco>";
    const std::filesystem::path picture = folder / "picture.png";
    const Finished run = run_program({"view", (folder / "robot.xml").string(), "--screenshot",
                                      picture.string(), "--frames", "2"});
    CHECK_MESSAGE(run.status == 0, run.err);
    CHECK(std::filesystem::exists(picture));
    CHECK_FALSE(std::filesystem::exists(folder / "robot.json"));
}
