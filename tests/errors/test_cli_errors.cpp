// What the program says, and how it exits, when something is wrong: one message on the error
// stream, nothing on the output stream, status 1 (2 for a wrong command line).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/environment.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast::test;
namespace fs = std::filesystem;

namespace {

const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";

struct Bad {
    std::string scene;  // text of bad.json; empty: the spring cage
    std::vector<std::string> more;
    std::string message;  // must be part of the error
    int status = 1;
};

std::string scene_with(const std::string& spring) {
    return R"({
  "format": 1,
  "time": { "step": "1/30", "steps": 3 },
  "bodies": [{ "type": "particles", "name": "ball", "positions": [[0, 0, 0], [1, 0, 0]] }],
  "forces": [{ "type": "springs", "name": "cage", )" +
           spring + R"( }],
  "objective": [{ "type": "point_target", "of": "ball", "target": [0, 0, 1] }]
})";
}

const std::string fine = R"("connect": [["ball", 0, "ball", 1]], "stiffness": 100)";

void check(const Bad& bad, const std::string& command = "run") {
    const TemporaryFolder folder;
    std::ofstream(folder / "bad.json") << bad.scene;
    std::vector<std::string> words = {command, bad.scene.empty() ? cage : "bad.json", "--device",
                                      test_device()};
    words.insert(words.end(), bad.more.begin(), bad.more.end());
    CAPTURE(bad.scene);
    CAPTURE(bad.message);
    const Finished run = run_program(words, folder.path());
    CAPTURE(run.err);
    CHECK(run.status == bad.status);
    CHECK(run.out == "");
    CHECK(run.err.find(bad.message) != std::string::npos);
    // One message: no second line that begins another one, no trace of internals.
    CHECK(run.err.find("terminate called") == std::string::npos);
    if (bad.status == 1) {
        CHECK(run.err.starts_with("hindcast: "));
        CHECK(run.err.find("hindcast: ", 1) == std::string::npos);
    }
    CHECK(!fs::exists(folder / "out"));  // a failed load leaves nothing behind
}

}  // namespace

TEST_CASE("cli errors: scenes that are wrong") {
    HINDCAST_NEEDS_PROGRAM();
    check({scene_with(fine + R"(, "stifness": 3)"), {}, "did you mean 'stiffness'"});
    check({scene_with(fine + R"(, "stifness": 3)"), {}, "bad.json:5:"});
    check({scene_with(R"("connect": [["ball", 0, "ball", 1]], "stiffness": "much")"),
           {},
           "at /forces/0/stiffness: expected a number"});
    check({scene_with(R"("connect": [["bell", 0, "ball", 1]], "stiffness": 1)"),
           {},
           "did you mean 'ball'"});
    check({scene_with(R"("connect": [["ball", 0, "ball", 7]], "stiffness": 1)"), {}, "7"});
    check({scene_with(R"("stiffness": 1)"), {}, "'connect'"});
    check({R"({"format": 1, "time": {"step": 0.1, "steps": 3}, "gravty": [0, 0, 0]})",
           {},
           "did you mean 'gravity'"});
    check({R"({"format": 1, "time": {"step": 0.1, "steps": 3}, "bodies": [{"type": "particle"}]})",
           {},
           "did you mean 'particles'"});
    check({R"({"format": 99, "time": {"step": 0.1, "steps": 3}})", {}, "update the program"});
    check({R"({"time": {"step": 0.1, "steps": 3}})", {}, "'format'"});
    check({R"({"format": 1, "time": {"step": -0.1, "steps": 3}})", {}, "above 0"});
    check({R"({"format": 1,, "time": 3})", {}, "bad.json:1:"});
    check({"{", {}, "bad.json:1:"});
    check({R"({"format": 1, "time": {"step": 0.1, "steps": 3},
               "bodies": [{"type": "particles", "positions": {"file": "../x.npy"}}]})",
           {},
           "--allow-path"});
    check({R"({"format": 1, "time": {"step": 0.1, "steps": 3}, "outputs": {"arrays": ["positon"]},
               "bodies": [{"type": "particles", "positions": [[0, 0, 0]]}]})",
           {},
           "did you mean 'position'"});
}

TEST_CASE("cli errors: files") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const Finished missing = run_program({"run", "nowhere.json"}, folder.path());
    CHECK(missing.status == 1);
    CHECK(missing.err.find("nowhere.json") != std::string::npos);
    const Finished directory = run_program({"run", folder.path().string()}, folder.path());
    CHECK(directory.status == 1);
    const Finished no_folder =
        run_program({"run", cage, "--device", test_device(), "--output", "/proc/nowhere/x"});
    CHECK(no_folder.status == 1);
    CHECK(no_folder.err.find("--output") != std::string::npos);
    const Finished no_resume = run_program(
        {"optimize", cage, "--device", test_device(), "--resume", "nowhere"}, folder.path());
    CHECK(no_resume.status == 1);
    CHECK(no_resume.err.find("resume.json") != std::string::npos);
    CHECK(!fs::exists(folder / "nowhere"));
    const Finished no_test = run_program({"test", folder.path().string()}, folder.path());
    CHECK(no_test.status == 1);
    CHECK(no_test.err.find("NAME.test.json") != std::string::npos);
}

TEST_CASE("cli errors: --set") {
    HINDCAST_NEEDS_PROGRAM();
    check({"", {"--set", "cage.stifness=3"}, "did you mean 'stiffness'"});
    check({"", {"--set", "cage.stiffness=soft"}, "found the string 'soft'"});
    check({"", {"--set", "cage.stiffness=-5"}, "at least 0"});
    check({"", {"--set", "cgae.stiffness=5"}, "nothing at the path 'cgae.stiffness'"});
    check({"", {"--set", "gravity=[0, 1]"}, "3 numbers"});
    check({"", {"--set", "cage.stiffness=[1,"}, "cage.stiffness"});
    check({"", {"--set", "cage..stiffness=1"}, "is not a path"});
    check(
        {"",
         {"--set", "cage.stiffness=99,5"},
         "'cage.stiffness=99,5' has a decimal comma; write a decimal point: cage.stiffness=99.5; a "
         "list stands in brackets: cage.stiffness=[99,5]"});
    check({"", {"--set", "cage.stiffness=-1,5e2"}, "cage.stiffness=-1.5e2"});
    check({"", {"--set", "cage.stiffness"}, "path=value", 2});
}

TEST_CASE("cli errors: the command line") {
    HINDCAST_NEEDS_PROGRAM();
    check({"", {"--device", "gpu"}, "gpu", 2});
    check({"", {"--width", "3"}, "3", 2});
    check({"", {"--steps", "-4"}, "-4", 2});
    check({"", {"--precision", "f16"}, "f16", 2});
    check({"", {"--threads", "0"}, "0", 2});
    check({"", {"--color"}, "--color", 2});
    {  // nothing to open the window on
        const Environment x("DISPLAY", ""), wayland("WAYLAND_DISPLAY", "");
        const Finished none = run_program({});
        CHECK(none.status == 2);
        CHECK(none.err.find("hindcast optimize ") != std::string::npos);
        CHECK(none.err.find("hindcast --help") != std::string::npos);
    }
    {  // a display that is not there: the window was tried
        const Environment x("DISPLAY", ":987654");
        const Finished none = run_program({});
        if (run_program({"--help"}).out.find("\n  view ") != std::string::npos) {
            CHECK(none.status == 1);
            CHECK(none.err.find("the window cannot be opened") != std::string::npos);
        } else {
            CHECK(none.status == 2);
        }
    }
    const Finished slip = run_program({"optimise", cage});
    CHECK(slip.status == 2);
    CHECK(slip.err.find("did you mean 'optimize'") != std::string::npos);
    const Finished no_scene = run_program({"run"});
    CHECK(no_scene.status == 2);
    CHECK(no_scene.err.find("scene") != std::string::npos);
}

TEST_CASE("cli errors: mistakes in what other commands read") {
    HINDCAST_NEEDS_PROGRAM();
    std::string scene = scene_with(fine);
    scene.insert(scene.rfind('}'), R"(, "optimizer": {"type": "adam", "iterations": null})");
    for (const char* command : {"run", "check", "batch"}) {
        std::vector<std::string> more;
        if (std::string(command) == "batch") more = {"--vary", "cage.stiffness=1,2"};
        if (std::string(command) == "check") continue;  // it has no parameters
        check({scene, more, "/optimizer/iterations"}, command);
    }
    for (const char* command : {"run", "check", "optimize"})
        check({"", {"--set", "optimizer.iterations=-5"}, "optimizer/iterations"}, command);
}

TEST_CASE("cli errors: every command refuses mistakes in optimizer and view") {
    HINDCAST_NEEDS_PROGRAM();
    struct Mistake {
        const char *text, *message;
    };
    const TemporaryFolder folder;
    const bool draws = run_program({"--help"}).out.find("\n  view ") != std::string::npos;
    for (const Mistake& mistake : {
             Mistake{R"("view": true)", "at /view: expected the scene's view (an object)"},
             {R"("view": {"colour_by": "speed"})", "did you mean 'color_by'"},
             {R"("view": {"color_by": 3})", "at /view/color_by: expected a string"},
             {R"("view": {"color_range": [2, 1]})", "write the smaller number first"},
             {R"("view": {"color_range": "runs"})", "did you mean 'run'"},
             {R"("view": {"color_map": "rainbow"})", "at /view/color_map"},
             {R"("view": {"camera": [1, 2, 3]})", "at /view/camera: expected"},
             {R"("view": {"camera": {"eye": [1, 2, 3], "tagret": [0, 0, 0]}})", "'target'"},
             {R"("view": {"camera": {"eye": [1, 2]}})", "at /view/camera/eye: expected"},
             {R"("view": {"camera": {"eye": [1, 2, 3], "target": [1, 2, 3]}})",
              "the camera stands where it looks at"},
             {R"("view": {"camera_path": {"time": 0}})", "at /view/camera_path: expected an array"},
             {R"("view": {"camera_path": [{"time": -1, "eye": [1, 0, 0], "target": [0, 0, 0]}]})",
              "at /view/camera_path/0/time"},
             {R"("view": {"camera_path": [{"time": 0, "eye": [1, 0, 0]}]})", "'target' is missing"},
             {R"("view": {"most_arrows": 0})", "at /view/most_arrows"},
             {R"("view": {"tubes": {"radius": 0.1, "pixels": 2}})", "tubes have one thickness"},
             {R"("view": {"tubes": {"radius": -1}})", "at /view/tubes/radius"},
             {R"("view": {"slice": {"normal": [1, 0, 0]}})", "'offset' is missing"},
             {R"("view": {"slice": {"normal": [0, 0, 0], "offset": 0}})",
              "the slice's normal has no direction"},
             {R"("view": {"distances": [{"from": [0, 0, 0]}]})", "'to' is missing"},
             {R"("view": {"distances": [{"from": [0, 0], "to": [1, 0, 0]}]})",
              "at /view/distances/0/from: expected"},
             {R"("view": {"distances": [{"from": {"of": "cage"}, "to": [1, 0, 0]}]})",
              "this end of a distance is nowhere"},
             {R"("view": {"distances": [{"from": {"of": "cage", "points": [0, 1], )"
              R"("weights": [1, 1]}, "to": [1, 0, 0]}]})",
              "the weights do not sum to 1"},
             {R"("optimizer": {"type": "adam", "iterations": null})",
              "at /optimizer/iterations: expected"},
             {R"("optimizer": {"type": "adm"})", "did you mean 'adam'"},
             {R"("optimizer": {"type": "adam", "iteration": 3})", "did you mean 'iterations'"},
             {R"("optimizer": {"type": "adam", "groups": {"cage.stifness": {"rate": 1}}})",
              "did you mean 'cage.stiffness'"},
             {R"("optimizer": 3)", "at /optimizer: expected"},
         }) {
        CAPTURE(mistake.text);
        std::string scene = scene_with(fine);
        scene.insert(scene.rfind('}'), R"(, "parameters": [{"path": "cage.stiffness"}], )" +
                                           std::string(mistake.text));
        std::ofstream(folder / "bad.json") << scene;
        std::ofstream(folder / "bad.test.json") << R"({"steps": [{"do": "run"}]})";
        std::vector<std::vector<std::string>> commands = {
            {"run", "bad.json"},
            {"optimize", "bad.json"},
            {"check", "bad.json"},
            {"batch", "bad.json", "--vary", "cage.stiffness=1,2"},
            {"info", "--scene", "bad.json"},
            {"test", "bad.json"}};
        if (draws) {
            commands.push_back({"render", "bad.json", "--output", "x.png"});
            commands.push_back({"view", "bad.json", "--screenshot", "x.png"});
        }
        for (const std::vector<std::string>& words : commands) {
            CAPTURE(words[0]);
            const Finished run = run_program(words, folder.path());
            const std::string& said = words[0] == "test" ? run.out : run.err;
            CAPTURE(said);
            CHECK(run.status == 1);
            CHECK(said.find("bad.json:") != std::string::npos);
            CHECK(said.find(mistake.message) != std::string::npos);
        }
        CHECK(!fs::exists(folder / "out"));
        CHECK(!fs::exists(folder / "x.png"));
    }
}

TEST_CASE("cli errors: names and values of 100 kB come back in a message that can be read") {
    HINDCAST_NEEDS_PROGRAM();
    const std::string name(100'000, 'n');
    const TemporaryFolder folder;
    const auto check_size = [&](const std::vector<std::string>& words) {
        const Finished run = run_program(words, folder.path());
        CAPTURE(words[0]);
        CAPTURE(run.err.substr(0, 3000));
        CHECK(run.status != 0);
        CHECK(run.err.find("nnn") != std::string::npos);
        CHECK(run.err.size() < 2500);
    };
    check_size({"run", cage, "--set", name + ".x=1"});
    check_size({"run", cage, "--set", "cage." + name + "=1"});
    check_size({"run", cage, "--" + name});
    check_size({"run", cage, "--precision", name});
    check_size({"info", "--module", name});
    check_size({name});
    const auto check_scene = [&](const std::string& text) {
        std::ofstream(folder / "s.json") << text;
        check_size({"run", "s.json"});
    };
    std::string scene = scene_with(fine);
    check_scene(scene_with(R"("connect": [[")" + name + R"(", 0, "ball", 1]], "stiffness": 1)"));
    check_scene(scene_with(fine + ", \"" + name + "\": 1"));
    check_scene(scene_with(R"("connect": [["ball", 0, "ball", 1]], "stiffness": {"formula": ")" +
                           name.substr(0, 4000) + R"("})"));
    const std::size_t ball = scene.find("\"name\": \"ball\"");
    check_scene(scene.replace(ball, 14, "\"name\": \"" + name + "\""));  // "write one of" it
    std::ofstream(folder / "t.json") << R"({"format": 1, "time": {"step": 0.1, "steps": 3}})";
    check_size({"run", "t.json", "--output", name});
}

TEST_CASE("cli errors: after -- everything is a file name") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "-x.json") << scene_with(fine);
    const auto run = [&](std::vector<std::string> words) {
        return run_program(words, folder.path());
    };
    const Finished right = run({"run", "--quiet", "--device", test_device(), "--", "-x.json"});
    CAPTURE(right.err);
    CHECK(right.status == 0);
    CHECK(fs::exists(folder / "out/-x/summary.json"));
    const Finished after = run({"run", "--", "-x.json", "--quiet"});
    CHECK(after.status == 2);
    CHECK(after.err.starts_with("not expected: '--quiet'; options stand before --"));
    const Finished without = run({"run", "-x.json"});
    CHECK(without.status == 2);
    CHECK(without.err.find("'-x.json'") != std::string::npos);
    CHECK(without.err.find("stands after --") != std::string::npos);
    const Finished test = run({"test", "--", "-x.json"});
    CHECK(test.err.find("there is no test for -x.json") != std::string::npos);
}

TEST_CASE("cli errors: every message names the scene, seeds are in their range") {
    HINDCAST_NEEDS_PROGRAM();
    check({scene_with(fine), {"--set", "ball.velocity=[[0, 0, 1e300]]"}, "bad.json"});
    check({"", {"--seed", "-1"}, "-1", 2});
    check({"", {"--seed", "18446744073709551616"}, "18446744073709551616", 2});
    check({"", {"--seed", "3.5"}, "3.5", 2});
}

TEST_CASE("cli errors: numbers that do not fit f32") {
    HINDCAST_NEEDS_PROGRAM();
    const std::string huge =
        scene_with(R"("connect": [["ball", 0, "ball", 1]], "stiffness": 1e308)");
    check({huge, {}, "does not fit f32"});
    check({scene_with(fine), {"--set", "ball.mass=1e-50"}, "does not fit f32"});
    check({scene_with(fine), {"--set", "ball.velocity=[0, 0, 1e39]"}, "does not fit f32"});
}

TEST_CASE("cli errors: nothing to differentiate") {
    HINDCAST_NEEDS_PROGRAM();
    const std::string plain = scene_with(fine);
    check({plain, {}, "parameters"}, "optimize");
    check({plain, {}, "parameters"}, "check");
}

TEST_CASE("cli errors: info") {
    HINDCAST_NEEDS_PROGRAM();
    const Finished module = run_program({"info", "--module", "spring"});
    CHECK(module.status == 1);
    CHECK(module.err.find("did you mean 'springs'") != std::string::npos);
    const Finished kernel = run_program({"info", "--scene", cage, "--kernel", "velocity_updat"});
    CHECK(kernel.status == 1);
    CHECK(kernel.err.find("velocity") != std::string::npos);
    CHECK(kernel.err.find(cage) != std::string::npos);
    const Finished no_scene = run_program({"info", "--kernel", "x"});
    CHECK(no_scene.status == 1);
    CHECK(no_scene.err.find("there is no built-in kernel 'x'") != std::string::npos);
    CHECK(run_program({"info", "--kernel", "kick", "--show", "ir"}).status == 2);
}

TEST_CASE("cli: every command has help") {
    HINDCAST_NEEDS_PROGRAM();
    for (const char* command : {"run", "optimize", "check", "test", "info"}) {
        CAPTURE(command);
        const Finished help = run_program({command, "--help"});
        CHECK(help.status == 0);
        CHECK(help.err == "");
        CHECK(help.out.find("Example: hindcast ") != std::string::npos);
    }
    const Finished all = run_program({"--help"});
    CHECK(all.status == 0);
    CHECK(all.out.find("optimize") != std::string::npos);
    const Finished version = run_program({"--version"});
    CHECK(version.status == 0);
    CHECK(version.out.starts_with("hindcast "));
}
