// A folder of results: one writer at a time, whole or without a summary, nothing written or removed
// outside of it, and nothing of a scene that takes the place of a result.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "engine/document/npy.hpp"
#include "engine/document/read.hpp"
#include "engine/sim/results/results.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;
namespace fs = std::filesystem;

namespace {

std::string flight(std::int64_t steps, const std::string& positions = "[[0, 0, 0], [1, 2, 3]]",
                   const std::string& description = "") {
    return R"({"format": 1, "description": ")" + description +
           R"(", "time": {"step": 0.5, "steps": )" + std::to_string(steps) + R"(},
        "outputs": {"every": 1000},
        "bodies": [{"type": "particles", "name": "ball", "positions": )" +
           positions + R"(}],
        "objective": [{"type": "point_target", "of": "ball", "target": [0, 0, 0]}],
        "parameters": [{"path": "ball.velocity"}],
        "optimizer": {"type": "gradient_descent", "rate": 0.01, "iterations": 6}})";
}

// A throw with x = 2 t, for `identify`.
const char* const measured_flight = R"({"format": 1, "time": {"step": 0.5, "steps": 2},
    "gravity": [0, 0, 0], "bodies": [{"type": "particles", "name": "stone", "positions": [[0, 0, 0]]}],
    "objective": [{"type": "measured", "name": "camera", "of": "stone", "file": "data.csv",
                   "channels": [{"column": "x", "array": "position"}]}],
    "parameters": [{"path": "stone.velocity", "components": ["x"]}]})";

constexpr std::int64_t endless = 100'000'000;

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

// Every file below the folder, by its name there.
std::map<std::string, std::string> contents(const fs::path& folder) {
    std::map<std::string, std::string> all;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            all[entry.path().lexically_relative(folder).generic_string()] = read_file(entry.path());
    return all;
}

Finished run_in(const TemporaryFolder& folder, std::vector<std::string> words) {
    words.insert(words.begin() + 2, {"--device", test_device()});
    return run_program(words, folder.path());
}

}  // namespace

TEST_CASE("results folder: strings of the scene copy nothing, files never take a result's place") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::vector<std::int64_t> shape = {2, 3};
    fs::create_directory(folder / "states");
    document::write_npy<double>(folder / "states/position.npy", shape,
                                std::vector<double>{0, 0, 0, 1, 2, 3});
    write(folder / "history.csv", "mine");
    write(folder / "secret.txt", "mine");
    for (const char* name : {"history.csv", "secret.txt"}) {
        CAPTURE(name);
        write(folder / "s.json", flight(4, R"({"file": "states/position.npy"})", name));
        REQUIRE(run_in(folder, {"optimize", "s.json", "--output", "o"}).status == 0);
        CHECK(read_history(folder / "o/history.csv").rows.size() == 7);
        CHECK(!fs::exists(folder / "o/secret.txt"));
        // The states of the run, and beside them the file that the scene names.
        CHECK(document::read_npy(folder / "o/states/position.npy").shape.size() == 3);
        CHECK(document::read_npy(folder / "o/files/states/position.npy").shape == shape);
        const Finished again = run_in(folder, {"run", "o/optimized_scene.json", "--output", "p"});
        CAPTURE(again.err);
        CHECK(again.status == 0);
        const auto found = document::Document::load(folder / "p/summary.json"),
                   expected = document::Document::load(folder / "o/summary.json");
        CHECK(found.at("/loss") == expected.at("/best/loss"));
    }
}

TEST_CASE("results folder: killed in a second run, no summary of the first one is left") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write(folder / "s.json", flight(4));
    REQUIRE(run_in(folder, {"run", "s.json", "--output", "r"}).status == 0);
    REQUIRE(fs::exists(folder / "r/summary.json"));
    write(folder / "r/.hindcast-2147483647-0.tmp", "of a process that is no more");
    write(folder / "s.json", flight(endless));
    {
        Child child({"run", "s.json", "--device", test_device(), "--output", "r"}, folder.path());
        REQUIRE(grows_beyond(folder / "r/states/position.npy", 400));
        child.signal(SIGKILL);
        child.wait();
    }
    CHECK(!fs::exists(folder / "r/summary.json"));
    CHECK(!fs::exists(folder / "r/.hindcast-2147483647-0.tmp"));

    write(folder / "s.json", flight(4));
    REQUIRE(run_in(folder, {"optimize", "s.json", "--output", "o"}).status == 0);
    {
        Child child({"optimize", "s.json", "--device", test_device(), "--resume", "o",
                     "--iterations", "100000000"},
                    folder.path());
        REQUIRE(grows_beyond(folder / "o/history.csv", 4000));
        child.signal(SIGKILL);
        child.wait();
    }
    CHECK(!fs::exists(folder / "o/summary.json"));
}

TEST_CASE("results folder: files of others are neither overwritten nor removed") {
    HINDCAST_NEEDS_PROGRAM();
    struct Case {
        std::vector<std::string> words;
        std::string file;
    };
    const std::vector<std::string> run = {"run", "s.json"}, optimize = {"optimize", "s.json"},
                                   batch = {"batch", "s.json", "--vary", "ball.velocity.x=1,2"},
                                   identify = {"identify", "m.json"};
    std::vector<std::string> with_export = run, several = optimize;
    with_export.insert(with_export.end(), {"--export", "obj,usd"});
    several.insert(several.end(), {"--starts", "2"});
    std::string bounded = flight(4);
    const std::string path = R"({"path": "ball.velocity")";
    bounded.replace(bounded.find(path), path.size(), path + R"(, "bounds": [-1, 1])");
    for (const Case& c : {Case{run, "summary.json"},
                          Case{run, "states/mine.npy"},
                          Case{with_export, "export/s_0001.obj"},
                          Case{with_export, "export/s.usda"},
                          Case{optimize, "summary.json"},
                          Case{optimize, "states/position.npy"},
                          Case{optimize, "history.csv"},
                          Case{optimize, "resume.json"},
                          Case{optimize, "optimized_scene.json"},
                          Case{optimize, "gradient.csv"},
                          Case{optimize, "gradient/mine.npy"},
                          Case{optimize, "files/data/x.csv"},
                          Case{several, "starts.csv"},
                          Case{batch, "batch.csv"},
                          Case{batch, "summary.json"},
                          Case{identify, "summary.json"},
                          Case{identify, "parameters.csv"},
                          Case{identify, "validation_2.csv"},
                          Case{identify, "report.html"},
                          Case{identify, "files/data.csv"}}) {
        CAPTURE(c.words[0]);
        CAPTURE(c.file);
        const TemporaryFolder folder;
        write(folder / "s.json", bounded);
        write(folder / "m.json", measured_flight);
        write(folder / "data.csv", "time,x\n0,0\n0.5,1\n1,2\n");
        // A folder of someone else's; and one in which there are earlier results as well.
        for (const bool earlier : {false, true}) {
            CAPTURE(earlier);
            std::vector<std::string> words = c.words;
            const std::string name = earlier ? "earlier" : "mine";
            words.insert(words.end(), {"--output", name});
            const fs::path file = folder / name / c.file;
            if (earlier) {
                REQUIRE(run_in(folder, {"run", "s.json", "--output", name}).status == 0);
                if (fs::exists(file)) continue;  // it is Hindcast's own
            }
            fs::create_directories(file.parent_path());
            write(file, R"({"name": "mine"})");
            const auto before = contents(folder / name);
            const Finished refused = run_in(folder, words);
            CAPTURE(refused.err);
            CHECK(refused.status == 1);
            CHECK(refused.err.find("the file " + name + "/" + c.file +
                                   " would be overwritten or removed, and no earlier results list "
                                   "it; choose another folder with --output") != std::string::npos);
            const bool same = contents(folder / name) == before;
            CHECK(same);
            // The remedy, and a file that is in nobody's way.
            fs::rename(file, folder / name / "notes.json");
            const Finished moved = run_in(folder, words);
            CAPTURE(moved.err);
            CHECK(moved.status == 0);
            CHECK(read_file(folder / name / "notes.json") == R"({"name": "mine"})");
        }
    }
}

TEST_CASE("results folder: the summary lists all files, those of earlier commands as well") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write(folder / "s.json", flight(4));
    write(folder / "m.json", measured_flight);
    write(folder / "data.csv", "time,x\n0,0\n0.5,1\n1,2\n");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"run", "s.json", "--export", "ply,vtu", "--output", "o"},
          {"run", "s.json", "--export", "usd", "--output", "o"},
          {"batch", "s.json", "--vary", "ball.velocity.x=1,2", "--output", "o"},
          {"optimize", "s.json", "--output", "o"},
          {"optimize", "s.json", "--resume", "o", "--iterations", "8"},
          {"identify", "m.json", "--output", "o"}}) {
        CAPTURE(words[0]);
        const Finished run = run_in(folder, words);
        CAPTURE(run.err);
        REQUIRE(run.status == 0);
        std::vector<std::string> listed{"summary.json"}, there;
        const auto summary = document::Document::load(folder / "o/summary.json");
        const document::Node& files = summary.at("/files");
        for (std::size_t k = 0; k < files.size(); ++k) listed.push_back(files.item(k).string());
        for (const auto& [name, content] : contents(folder / "o")) there.push_back(name);
        std::ranges::sort(listed);
        CHECK(listed == there);  // and no list besides
    }
    // Another scene's export goes, since it is listed; the folder may be copied.
    CHECK(fs::exists(folder / "o/export/s.usda"));
    CHECK(!fs::exists(folder / "o/export/s_0000.ply"));
    fs::copy(folder / "o", folder / "copy", fs::copy_options::recursive);
    CHECK(run_in(folder, {"optimize", "s.json", "--output", "copy"}).status == 0);
}

TEST_CASE("results folder: what killed runs left is theirs, and goes") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write(folder / "s.json", flight(endless));
    {
        Child child({"run", "s.json", "--device", test_device(), "--export", "obj",
                     "--export-every", "1000", "--output", "r"},
                    folder.path());
        REQUIRE(grows_beyond(folder / "r/states/position.npy", 400));
        child.signal(SIGKILL);
        child.wait();
    }
    CHECK(fs::exists(folder / "r/export/s_000000.obj"));
    // As if it had been killed while it wrote: a file that a process which is no more had begun.
    for (const char* place : {"r", "r/export", "r/states", "r/files/data"}) {
        fs::create_directories(folder / place);
        write(folder / place / ".hindcast-2147483647-0.tmp", "of a process that is no more");
    }
    const std::string alive = ".hindcast-" + std::to_string(getpid()) + "-0.tmp";
    write(folder / "r/export" / alive, "of one that lives");
    write(folder / "s.json", flight(4));
    const Finished run = run_in(folder, {"run", "s.json", "--output", "r"});
    CAPTURE(run.err);
    CHECK(run.status == 0);
    for (const char* place : {"r", "r/export", "r/states", "r/files/data"})
        CHECK(!fs::exists(folder / place / ".hindcast-2147483647-0.tmp"));
    CHECK(fs::exists(folder / "r/export" / alive));
    const Finished exported = run_in(folder, {"run", "s.json", "--export", "obj", "--output", "r"});
    CAPTURE(exported.err);
    CHECK(exported.status == 0);
    CHECK(!fs::exists(folder / "r/export/s_000000.obj"));
    CHECK(fs::exists(folder / "r/export/s_0000.obj"));
}

TEST_CASE("results folder: one writer at a time") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write(folder / "s.json", flight(endless));
    write(folder / "t.json", flight(4));
    Child child({"run", "s.json", "--device", test_device(), "--output", "r"}, folder.path());
    REQUIRE(grows_beyond(folder / "r/states/position.npy", 400));
    for (const char* command : {"run", "optimize"}) {
        const Finished second = run_in(folder, {command, "t.json", "--output", "r"});
        CAPTURE(second.err);
        CHECK(second.status == 1);
        CHECK(second.err.find("another run is writing into the folder r") != std::string::npos);
    }
    child.signal(SIGINT);
    CHECK(child.wait().status == 130);
    CHECK(fs::exists(folder / "r/summary.json"));
    CHECK(run_in(folder, {"run", "t.json", "--output", "r"}).status == 0);
}

TEST_CASE("results folder: one that is removed or replaced meanwhile is a failure") {
    HINDCAST_NEEDS_PROGRAM();
    for (const bool replaced : {false, true}) {
        CAPTURE(replaced);
        const TemporaryFolder folder;
        write(folder / "s.json", flight(endless));
        Child child({"run", "s.json", "--device", test_device(), "--output", "r"}, folder.path());
        REQUIRE(grows_beyond(folder / "r/states/position.npy", 400));
        fs::rename(folder / "r", folder / "moved");
        if (replaced) fs::create_directory(folder / "r");
        const Finished run = child.wait();
        CHECK(run.status == 1);
        CHECK(run.err.find("removed or replaced") != std::string::npos);
        CHECK(!fs::exists(folder / "r/summary.json"));
    }
}

TEST_CASE("results folder: links inside are not followed") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write(folder / "s.json", flight(4));
    write(folder / "mine.txt", "mine");
    fs::create_directories(folder / "r");
    fs::create_directories(folder / "array");
    write(folder / "array/mine.npy", "mine");
    for (const char* name : {"summary.json", "history.csv", "resume.json", "optimized_scene.json"})
        fs::create_symlink("../mine.txt", folder / "r" / name);
    REQUIRE(run_in(folder, {"optimize", "s.json", "--output", "r"}).status == 0);
    CHECK(read_file(folder / "mine.txt") == "mine");
    CHECK(!fs::is_symlink(folder / "r/summary.json"));
    fs::remove_all(folder / "r/states");
    fs::create_directory_symlink("../array", folder / "r/states");
    const Finished linked = run_in(folder, {"run", "s.json", "--output", "r"});
    CHECK(linked.status == 1);
    CHECK(linked.err.find("symbolic link") != std::string::npos);
    CHECK(read_file(folder / "array/mine.npy") == "mine");
}

TEST_CASE("results folder: links to arrays and in gradient/ are not followed") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    // 1200 numbers: the gradient and the values are arrays in files. A generator's file besides.
    document::write_npy<double>(folder / "masses.npy", std::vector<std::int64_t>{400},
                                std::vector<double>(400, 1));
    std::string scene = flight(
        2, R"({"grid": {"counts": [400, 1, 1], "spacing": 0.1}}, "mass": {"file": "masses.npy"})");
    const std::string path = R"({"path": "ball.velocity"})";
    scene.replace(scene.find(path), path.size(), R"({"path": "ball.velocity", "per": "element"})");
    write(folder / "s.json", scene);
    write(folder / "mine.txt", "mine");
    fs::create_directories(folder / "array");
    write(folder / "array/mine.npy", "mine");
    const std::vector<std::string> first = {"optimize", "s.json", "--output", "r"};
    REQUIRE(run_in(folder, first).status == 0);
    const std::vector<std::string> files = {"gradient.csv", "gradient/ball_velocity_0.npy",
                                            "ball_velocity.npy", "optimized_scene.json",
                                            "files/masses.npy"};
    for (const std::vector<std::string>& words :
         {first, {"optimize", "s.json", "--resume", "r", "--iterations", "8"}}) {
        CAPTURE(words[2]);
        for (const std::string& file : files) {
            CAPTURE(file);
            REQUIRE(fs::exists(folder / "r" / file));
            fs::remove(folder / "r" / file);
            fs::create_symlink(folder / "mine.txt", folder / "r" / file);
        }
        REQUIRE(run_in(folder, words).status == 0);
        CHECK(read_file(folder / "mine.txt") == "mine");
        for (const std::string& file : files) CHECK(!fs::is_symlink(folder / "r" / file));
        for (const char* name : {"gradient", "files"}) {
            CAPTURE(name);
            fs::remove_all(folder / "r" / name);
            fs::create_directory_symlink(folder / "array", folder / "r" / name);
            const Finished linked = run_in(folder, words);
            CHECK(linked.status == 1);
            CHECK(linked.err.find(std::string("r/") + name + " is a symbolic link") !=
                  std::string::npos);
            CHECK(linked.err.find("best loss") == std::string::npos);  // it did not begin
            CHECK(fs::exists(folder / "array/mine.npy"));
            CHECK(std::distance(fs::directory_iterator(folder / "array"), {}) == 1);
            fs::remove(folder / "r" / name);
        }
        REQUIRE(run_in(folder, first).status == 0);
    }
}

TEST_CASE("results folder: where files may not grow further, the best so far stays") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write(folder / "s.json", flight(4));
    // The history of 100 million iterations would be larger; everything else is small.
    const std::string line = "cd '" + folder.path().string() + "' && ulimit -f 64 && '" +
                             program_file + "' optimize s.json --device " + test_device() +
                             " --quiet --iterations 100000000 --output o >out 2>err";
    CHECK(WEXITSTATUS(std::system(line.c_str())) == 1);
    const std::string said = read_file(folder / "err");
    CAPTURE(said);
    CHECK(said.find("s.json: o/history.csv cannot be written: File too large") !=
          std::string::npos);
    CHECK(said.find("its parameters are in o/optimized_scene.json") != std::string::npos);
    CHECK(said.find("--resume o goes on after iteration ") != std::string::npos);
    CHECK(!fs::exists(folder / "o/summary.json"));
    // The words are true: the scene runs to the loss that is named, and the optimization goes on.
    const std::size_t begin = said.find("the best loss was ") + 18;
    const std::string loss = said.substr(begin, said.find(' ', begin) - begin);
    REQUIRE(run_in(folder, {"run", "o/optimized_scene.json", "--output", "best"}).status == 0);
    const auto best = document::Document::load(folder / "best/summary.json");
    CHECK(number_text(document::number_of(best.at("/loss"))) == loss);
    const std::string history = read_file(folder / "o/history.csv");
    const std::string last = std::to_string(std::ranges::count(history, '\n') + 5);
    REQUIRE(run_in(folder, {"optimize", "s.json", "--resume", "o", "--iterations", last}).status ==
            0);
    REQUIRE(run_in(folder, {"optimize", "s.json", "--output", "w", "--iterations", last}).status ==
            0);
    const bool same = read_file(folder / "o/history.csv") == read_file(folder / "w/history.csv");
    CHECK(same);
}

TEST_CASE("results folder: a damaged history or resume file is found at the start") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write(folder / "s.json", flight(4));
    REQUIRE(run_in(folder, {"optimize", "s.json", "--output", "o"}).status == 0);
    const std::string history = read_file(folder / "o/history.csv"),
                      resume = read_file(folder / "o/resume.json"),
                      summary = read_file(folder / "o/summary.json");
    const auto refused = [&](const std::string& file) {
        const Finished run =
            run_in(folder, {"optimize", "s.json", "--resume", "o", "--iterations", "9"});
        CAPTURE(run.err);
        CHECK(run.status == 1);
        CHECK(run.err.find(file) != std::string::npos);
        CHECK(read_file(folder / "o/summary.json") == summary);  // nothing was touched
    };
    const auto damage = [&](const std::string& name, const std::string& text,
                            const std::string& whole) {
        write(folder / "o" / name, text);
        refused(name);
        write(folder / "o" / name, whole);
    };
    std::string digit = history;  // one digit of the last row
    const std::size_t at = digit.find_last_of("12345678");
    ++digit[at];
    damage("history.csv", digit, history);
    damage("history.csv", history.substr(0, history.size() / 2), history);
    damage("history.csv", "", history);
    const std::size_t line = history.find('\n', history.find('\n') + 1) + 1;
    damage("history.csv", history.substr(0, line) + history.substr(history.find('\n', line) + 1),
           history);
    damage("history.csv", history.substr(0, line) + history.substr(history.find('\n') + 1),
           history);
    std::string bit = resume;
    const std::size_t number = bit.find_last_of("12345678");
    ++bit[number];
    damage("resume.json", bit, resume);
    fs::remove(folder / "o/history.csv");
    refused("history.csv");
    write(folder / "o/history.csv", history);
    CHECK(run_in(folder, {"optimize", "s.json", "--resume", "o", "--iterations", "9"}).status == 0);
}

TEST_CASE("results folder: names of scenes that give no folder, or are not UTF-8") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    fs::create_directory(folder / "states");
    write(folder / "states/mine.npy", "mine");
    for (const char* name : {"...json", "..json"}) {
        CAPTURE(name);
        write(folder / name, flight(4));
        for (const char* command : {"run", "optimize"}) {
            const Finished run = run_in(folder, {command, name});
            CHECK(run.status == 1);
            CHECK(run.err.find("--output") != std::string::npos);
        }
        CHECK(run_in(folder, {"run", name, "--output", "r"}).status == 0);
    }
    CHECK(read_file(folder / "states/mine.npy") == "mine");
    CHECK(!fs::exists(folder / "out"));
    write(folder / "\xff.json", flight(endless));  // it would run for ever
    const Finished run = run_in(folder, {"run", "\xff.json"});
    CHECK(run.status == 1);
    CHECK(run.err.find("is not UTF-8") != std::string::npos);
}

TEST_CASE("results folder: states that do not fit on the disk are refused before the run") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    // 100 million frames of a few thousand points are more than any disk has.
    std::string positions = "[";
    for (int k = 0; k < 3000; ++k) positions += (k > 0 ? ",[" : "[") + std::to_string(k) + ",0,0]";
    std::string scene = flight(endless, positions + "]");
    scene.replace(scene.find("\"every\": 1000"), 13, "\"every\": 1");
    write(folder / "s.json", scene);
    for (const char* command : {"run", "optimize"}) {
        const Finished run = run_in(folder, {command, "s.json", "--output", "r"});
        CAPTURE(run.err);
        CHECK(run.status == 1);
        CHECK(run.err.find("GiB") != std::string::npos);
    }
}
