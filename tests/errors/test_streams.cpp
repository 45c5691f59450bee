// Streams that are closed or full, and signals: what is lost is said, results are never touched by
// messages, and there is no abort.
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "engine/sim/results/results.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;
namespace fs = std::filesystem;

namespace {

const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";

// A shell's status after the program ran with these words and redirections.
int shell(const TemporaryFolder& folder, const std::string& words) {
    const std::string line =
        "cd '" + folder.path().string() + "' && '" + program_file + "' " + words;
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string endless_scene() {
    return R"({"format": 1, "time": {"step": 0.5, "steps": 100000000}, "outputs": {"every": 1000},
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]]}]})";
}

std::string endless_optimization() {
    return R"({"format": 1, "time": {"step": 0.5, "steps": 4},
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]]}],
        "objective": [{"type": "point_target", "of": "ball", "target": [0, 0, 0]}],
        "parameters": [{"path": "ball.velocity"}],
        "optimizer": {"type": "gradient_descent", "rate": 1e-9}})";
}

}  // namespace

TEST_CASE("streams: closed ones give their numbers to no file") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string words =
        "optimize '" + cage + "' --iterations 40 --output o --device " + test_device();
    for (const char* closed : {" >/dev/null 2>&-", " >&- 2>&-", " <&- >&- 2>&-"}) {
        CAPTURE(closed);
        CHECK(shell(folder, words + closed) == 0);
        CHECK(read_history(folder / "o/history.csv").rows.size() > 1);
        CHECK(fs::exists(folder / "o/summary.json"));
    }
}

TEST_CASE("streams: a message that cannot be written is no abort") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    CHECK(shell(folder, "run missing.json 2>&-") == 1);
    CHECK(shell(folder, "run missing.json 2>/dev/full") == 1);
    CHECK(shell(folder, "bogus 2>/dev/full") == 2);
    {  // nothing to open the window on
        const Environment x("DISPLAY", ""), wayland("WAYLAND_DISPLAY", "");
        CHECK(shell(folder, "2>/dev/full") == 2);
    }
    CHECK(shell(folder, "optimize '" + cage + "' --iterations 3 --output o --device " +
                            test_device() + " 2>/dev/full >/dev/null") == 0);
}

TEST_CASE("streams: output that cannot be written is a failure") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    for (const std::string& words :
         {"run '" + cage + "' --output o --device " + test_device(),
          "check '" + cage + "' --entries 1 --directions 1 --device " + test_device(),
          std::string("info")}) {
        CAPTURE(words);
        CHECK(shell(folder, words + " >/dev/full 2>message") == 1);
        CHECK(read_file(folder / "message").find("output stream cannot be written") !=
              std::string::npos);
    }
}

TEST_CASE("streams: the end of the terminal or of a pipe stops a run and saves") {
    HINDCAST_NEEDS_PROGRAM();
    for (const int signal : {SIGHUP, SIGPIPE, SIGTERM}) {
        CAPTURE(signal);
        const TemporaryFolder folder;
        std::ofstream(folder / "s.json") << endless_scene();
        Child child({"run", "s.json", "--device", test_device(), "--output", "r"}, folder.path());
        REQUIRE(grows_beyond(folder / "r/states/position.npy", 400));
        child.signal(signal);
        CHECK(child.wait().status == 128 + signal);
        const auto summary = document::Document::load(folder / "r/summary.json");
        CHECK_FALSE(summary.at("/finished").boolean());
    }
}

TEST_CASE("streams: a signal before the first iteration ends the program as signals do") {
    HINDCAST_NEEDS_PROGRAM();
    for (int milliseconds = 0; milliseconds < 200; milliseconds += 10) {
        CAPTURE(milliseconds);
        const TemporaryFolder folder;
        std::ofstream(folder / "s.json") << endless_optimization();
        Child child({"optimize", "s.json", "--device", test_device(), "--output", "o",
                     "--iterations", "100000000"},
                    folder.path());
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        child.signal(SIGINT);
        const Finished run = child.wait();
        CAPTURE(run.err);
        CHECK(run.status == 130);
        CHECK(run.err.find("hindcast: ") == std::string::npos);
    }
}

namespace {

// Minutes of work: every step of the cloth searches for a minimum over 12 675 unknowns.
void write_large_cloth(const fs::path& file) {
    auto scene = document::Document::load(std::string(source_dir) + "/scenes/cloth_over_ball.json");
    document::Node cells = document::Node::array();
    for (int k = 0; k < 2; ++k) cells.push_back(std::int64_t{64});
    scene.set("/bodies/0/mesh/grid/cells", std::move(cells));
    scene.set("/time/steps", std::int64_t{400});
    write_file_atomically(file, scene.to_text());
}

// From the signal to the end, a tenth of which it takes where nobody else works.
constexpr double soon = 2;  // seconds

Finished interrupted(const std::vector<std::string>& words, double after, const fs::path& folder) {
    Child child(words, folder);
    std::this_thread::sleep_for(std::chrono::duration<double>(after));
    const auto start = std::chrono::steady_clock::now();
    child.signal(SIGINT);
    Finished finished = child.wait();
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < soon);
    return finished;
}

}  // namespace

TEST_CASE("streams: Ctrl-C ends a command in the middle of a gradient") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_large_cloth(folder / "s.json");
    std::vector<std::string> words;
    SUBCASE("check") { words = {"check", "s.json"}; }
    SUBCASE("optimize") { words = {"optimize", "s.json", "--output", "o"}; }
    SUBCASE("batch") {
        words = {"batch", "s.json", "--vary", "ball.friction=0:1:4", "--gradient", "--output", "b"};
    }
    words.insert(words.end(), {"--device", test_device()});
    const Finished finished = interrupted(words, words[0] == "batch" ? 1 : 2, folder.path());
    CAPTURE(finished.err);
    CHECK(finished.status == 130);
    CHECK(finished.err.find("hindcast: ") == std::string::npos);
}
