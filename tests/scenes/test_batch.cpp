// `hindcast batch`: the table it writes has the numbers of `run` and `optimize`, however the
// variants ran, and what it says is what it did.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "engine/base/files.hpp"
#include "engine/sim/results/results.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/small_disk.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";

Finished batch(const TemporaryFolder& folder, std::vector<std::string> words) {
    words.insert(words.begin(), {"batch", cage, "--device", test_device()});
    return run_program(words, folder.path());
}

}  // namespace

TEST_CASE("batch: one row per variant, with the loss of a run at those values") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const Finished run =
        batch(folder, {"--vary", "cage.stiffness=50,80", "--vary", "cage.rest_length=0.5:1:3",
                       "--gradient", "--members", "4"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    const HistoryTable table = read_history(folder / "out/spring_cage/batch.csv");
    CHECK(table.columns == std::vector<std::string>{"cage.stiffness", "cage.rest_length", "loss",
                                                    "target", "d loss / d cage.stiffness",
                                                    "d loss / d cage.rest_length",
                                                    "gradient_norm"});
    REQUIRE(table.rows.size() == 6);
    CHECK(table.rows[4][0] == 80);
    CHECK(table.rows[4][1] == 0.75);
    const Finished alone =
        run_program({"run", cage, "--device", test_device(), "--set", "cage.stiffness=80", "--set",
                     "cage.rest_length=0.75", "--output", "alone"},
                    folder.path());
    REQUIRE(alone.status == 0);
    const auto summary = document::Document::load(folder / "alone/summary.json");
    CHECK(summary.at("/loss").real() == table.rows[4][2]);
    const auto own = document::Document::load(folder / "out/spring_cage/summary.json");
    CHECK(own.at("/variants_done").integer() == 6);
    double best = 1e300;
    for (const auto& row : table.rows) best = std::min(best, row[2]);
    CHECK(own.at("/best/loss").real() == best);
    CHECK(run.out.find("6 variants of 30 steps") != std::string::npos);
}

TEST_CASE("batch: in lanes, on threads, or in turns, the table is the same") {
    HINDCAST_NEEDS_PROGRAM();
    if (test_device() != "cpu") HINDCAST_SKIP("lanes are compiled code");
    const TemporaryFolder folder;
    for (const std::string way : {"lanes", "threads", "turns", "auto"}) {
        const Finished run = batch(folder, {"--vary", "cage.stiffness=10:200:40", "--gradient",
                                            "--ensemble", way, "--threads", "3", "--output", way});
        CAPTURE(run.err);
        REQUIRE(run.status == 0);
        if (way == "lanes") CHECK(run.out.find(" lanes, ") != std::string::npos);
        if (way == "threads") CHECK(run.out.find("on 3 threads") != std::string::npos);
        if (way == "turns") CHECK(run.out.find("one after the other") != std::string::npos);
        CHECK(read_file(folder / (way + "/batch.csv"), 1 << 20) ==
              read_file(folder / "lanes/batch.csv", 1 << 20));
    }
}

TEST_CASE("batch: Ctrl-C ends with the rows up to there") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    Child child({"batch", cage, "--device", test_device(), "--vary", "cage.stiffness=1:2:3000",
                 "--vary", "cage.damping=1:2:3000", "--output", "b"},
                folder.path());
    const auto rows = [&] {
        std::error_code missing;
        const auto size = std::filesystem::file_size(folder / "b/batch.csv", missing);
        return missing ? 0 : size;
    };
    for (int k = 0; k < 3000 && rows() < 5000; ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(rows() >= 5000);
    child.signal(SIGINT);
    const Finished run = child.wait();
    CHECK(run.status == 130);
    CHECK(run.out.find("stopped after") != std::string::npos);
    const auto summary = document::Document::load(folder / "b/summary.json");
    const HistoryTable table = read_history(folder / "b/batch.csv");
    CHECK(static_cast<std::int64_t>(table.rows.size()) == summary.at("/variants_done").integer());
    CHECK(summary.at("/variants").integer() == 9'000'000);
}

TEST_CASE("optimize --starts: the results are those of the best start by itself") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const auto optimize = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"optimize", cage, "--device", test_device(), "--set",
                                     "optimizer.iterations=3", "--output", "o"});
        return run_program(words, folder.path());
    };
    const Finished run = optimize({"--starts", "6", "--seed", "4"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    const HistoryTable history = read_history(folder / "o/history.csv");
    const std::string starts = read_file(folder / "o/starts.csv", 1 << 20);
    CHECK(std::count(starts.begin(), starts.end(), '\n') == 7);
    const auto summary = document::Document::load(folder / "o/summary.json");
    CHECK(summary.at("/starts").integer() == 6);
    const std::string best = std::to_string(summary.at("/best_start").integer());
    const std::size_t line = starts.find("\n" + best + ",");
    REQUIRE(line != std::string::npos);
    const std::string expected = best + ",3,iterations," + number_text(history.rows.front()[1]) +
                                 "," + number_text(summary.at("/best/loss").real()) + "," +
                                 number_text(history.rows.front()[4]) + ",";
    CHECK(starts.compare(line + 1, expected.size(), expected) == 0);
    CHECK(history.rows.size() == 4);

    // Without bounds there is nothing to draw from; what was there stays.
    std::string free = read_file(cage, 1 << 20);
    const std::string bounds = R"(, "bounds": [0.01, 10])";
    REQUIRE(free.find(bounds) != std::string::npos);
    free.erase(free.find(bounds), bounds.size());
    write_file_atomically(folder / "free.json", free);
    const Finished wrong = run_program(
        {"optimize", "free.json", "--device", test_device(), "--starts", "2", "--output", "o"},
        folder.path());
    CHECK(wrong.err.find("'cage.rest_length' has no bounds") != std::string::npos);
    CHECK(wrong.status == 1);
    CHECK(read_file(folder / "o/starts.csv", 1 << 20) == starts);
    CHECK(optimize({"--starts", "2", "--resume", "o"}).status == 2);
    REQUIRE(optimize({}).status == 0);
    CHECK(!std::filesystem::exists(folder / "o/starts.csv"));
}

TEST_CASE("batch: mistakes leave nothing behind") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const auto fails = [&](const std::vector<std::string>& words, const std::string& message,
                           int status) {
        const Finished run = batch(folder, words);
        CAPTURE(run.err);
        CHECK(run.status == status);
        CHECK(run.err.find(message) != std::string::npos);
        CHECK(!std::filesystem::exists(folder / "out"));
    };
    fails({}, "--vary", 2);
    fails({"--vary", "cage.stifness=1"}, "did you mean", 1);
    fails({"--vary", "cage.stiffness"}, "PATH=VALUES", 1);
    fails({"--vary", "cage.stiffness=1:2"}, "FIRST:LAST:COUNT", 1);
    fails({"--vary", "cage.stiffness=-3"}, "cannot be -3", 1);
    if (test_device() == "interpreter")
        fails({"--vary", "cage.stiffness=3", "--ensemble", "lanes"}, "cannot run in lanes", 1);
    if (test_device() == "cpu")
        fails({"--vary", "cage.stiffness=3", "--ensemble", "threads", "--threads", "1"},
              "there is one thread", 1);
}

TEST_CASE("batch: a disk that is full is said to be, by its reason") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const SmallDisk disk(32);
    if (!disk.is_there()) HINDCAST_SKIP("only root can mount a small disk");
    // Some 20 bytes a row.
    const Finished run =
        batch(folder, {"--vary", "cage.stiffness=50:200:4000", "--output", disk.path() + "/o"});
    CAPTURE(run.err);
    CHECK(run.status == 1);
    CHECK(
        run.err.find("/o/batch.csv cannot be written: No space left on device; free some space, or "
                     "choose another folder with --output") != std::string::npos);
    CHECK(!std::filesystem::exists(disk.path() + "/o/summary.json"));
    // The first file does not fit either.
    const Finished again =
        batch(folder, {"--vary", "cage.stiffness=50,60", "--output", disk.path() + "/p"});
    CAPTURE(again.err);
    CHECK(again.status == 1);
    CHECK(again.err.find("No space left on device; free some space") != std::string::npos);
}

TEST_CASE("summaries: a loss that is not finite is no end") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    // All states stay finite; the square of the distance does not.
    write_file_atomically(folder / "far.json", R"({"format": 1, "dimension": 2, "gravity": [0, 0],
        "time": {"step": 0.1, "steps": 2},
        "bodies": [{"type": "particles", "name": "a", "positions": [[1e30, 0]]}],
        "objective": [{"type": "point_target", "of": "a", "target": [1, 0], "weight": 1e250}],
        "parameters": [{"path": "a.velocity"}]})");
    for (const std::string command : {"run", "optimize", "batch"}) {
        std::vector<std::string> words{command,       "far.json", "--device",
                                       test_device(), "--output", command};
        if (command == "batch") words.insert(words.end(), {"--vary", "a.velocity.x=1,2"});
        const Finished run = run_program(words, folder.path());
        CAPTURE(command);
        CAPTURE(run.err);
        CHECK(run.status == 1);
        CHECK(run.err.find("the loss is inf") != std::string::npos);
        const auto summary = document::Document::load(folder / command / "summary.json");
        const document::Node* const finished = summary.find("/finished");
        const bool is_end = finished != nullptr && finished->boolean();
        CHECK_FALSE(is_end);
        if (command == "optimize") continue;
        CHECK(finished != nullptr);
        CHECK(summary.find("/best/loss") == nullptr);  // no variant is the best one
    }
    CHECK(document::Document::load(folder / "run/summary.json").at("/loss").string() == "inf");
}

TEST_CASE("batch --gradient: gradients that are not finite are named like those of optimize") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    // The ends of the spring meet after the first step. There it has no direction: its force is 0,
    // the derivative infinite.
    write_file_atomically(folder / "zero.json", R"({"format": 1, "dimension": 2, "gravity": [0, 0],
        "time": {"step": 0.125, "steps": 2},
        "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0], [1, 0]],
                    "velocity": [[0, 0], [-8, 0]]}],
        "forces": [{"type": "springs", "name": "s", "connect": [["a", 0, "a", 1]], "stiffness": 5,
                    "rest_length": 1}],
        "objective": [{"type": "point_target", "of": "a", "points": [1], "target": [1, 0]}],
        "parameters": [{"path": "a.positions"}]})");
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin() + 1, {"zero.json", "--device", test_device()});
        return run_program(words, folder.path());
    };
    const Finished optimized = run({"optimize"});
    CHECK(optimized.status == 1);
    for (const std::string way : {"auto", "turns"}) {
        const Finished batch = run({"batch", "--vary", "s.stiffness=5,6", "--gradient",
                                    "--ensemble", way, "--output", "b"});
        CAPTURE(batch.err);
        CHECK(batch.status == 1);
        CHECK(
            batch.err.find("2 of 2 gradients are not finite; at s.stiffness = 5.0: the gradient is "
                           "nan for a.positions[0].x") != std::string::npos);
        // The same launch, item and source line.
        for (const std::string part : {"springs.cpp:", "in step 2 of 2"}) {
            INFO(part);
            CHECK(batch.err.find(part) != std::string::npos);
            CHECK(optimized.err.find(part) != std::string::npos);
        }
        CHECK(document::Document::load(folder / "b/summary.json")
                  .at("/gradients_not_finite")
                  .integer() == 2);
        CHECK(read_history(folder / "b/batch.csv").rows.size() == 2);
    }
    const Finished losses = run({"batch", "--vary", "s.stiffness=5,6"});
    CHECK(losses.status == 0);
}

TEST_CASE("optimize: a parameter that the loss does not depend on is named") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_file_atomically(folder / "alone.json", R"({"format": 1, "dimension": 2,
        "time": {"step": 0.1, "steps": 2},
        "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0]]},
                   {"type": "particles", "name": "b", "positions": [[1, 0]]}],
        "objective": [{"type": "point_target", "of": "a", "target": [1, 0]}],
        "parameters": [{"path": "a.velocity"}, {"path": "b.velocity"}],
        "optimizer": {"type": "gradient_descent", "rate": 0.1, "iterations": 2}})");
    const Finished run =
        run_program({"optimize", "alone.json", "--device", test_device()}, folder.path());
    CAPTURE(run.err);
    CHECK(run.status == 0);
    const std::size_t at = run.err.find("the gradient of 'b.velocity' is exactly 0");
    REQUIRE(at != std::string::npos);
    CHECK(run.err.find("the gradient of", at + 1) == std::string::npos);
    CHECK(run.err.find("'a.velocity'") == std::string::npos);
}
