// What --profile and the plans of gradients say on the command line, and options that contradict.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::Finished;

namespace {

std::string scene(const std::string& name) {
    return std::string(hindcast::test::source_dir) + "/scenes/" + name + ".json";
}

Finished run(std::vector<std::string> words, const test::TemporaryFolder& folder) {
    words.insert(words.end(), {"--device", test::test_device()});
    return test::run_program(words, folder.path());
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("profile: the launches of a step before and after fusion, and how runs go") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    // Spring forces read their neighbors' places. Decay, velocity and position only own elements.
    const Finished net = run({"run", scene("hanging_net"), "--steps", "2", "--profile"}, folder);
    INFO(net.out);
    CHECK(net.status == 0);
    // The interpreter is the definition: it goes launch by launch.
    const bool joins = test::test_device() == "cpu";
    CHECK(has(net.out, "fusion: the 4 launches of a step run as 2\n") == joins);
    CHECK(has(net.out, "velocity decay + velocity update + position update") == joins);
    CHECK(has(net.out, "whole program: none, since every step is looked at"));
    const Finished apart = run(
        {"run", scene("hanging_net"), "--steps", "2", "--profile", "--without", "fusion"}, folder);
    CHECK_FALSE(has(apart.out, "fusion:"));
    CHECK_FALSE(has(apart.out, " + "));
    const auto hash = [](const std::string& out) {
        const std::size_t at = out.find("state hash");
        REQUIRE(at != std::string::npos);
        return out.substr(at, out.find('\n', at) - at);
    };
    CHECK(hash(apart.out) == hash(net.out));
}

TEST_CASE("profile: what is kept for adjoints, sums that are kept where they are not zero too") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const Finished points =
        run({"optimize", scene("mpm_launch"), "--steps", "3", "--iterations", "1", "--profile"},
            folder);
    INFO(points.out);
    INFO(points.err);
    CHECK(points.status == 0);
    CHECK(has(points.out, "kept for adjoints"));
    if (test::test_device() == "cpu") CHECK(has(points.out, "at most: what is not zero"));
    const bool rotates = test::test_device() == "cpu";
    CHECK(has(points.out,
              "rotation: between two steps of a run with gradients, grid: grid to "
              "particle + grid: particle to grid is one launch") == rotates);
    CHECK(has(points.out, "only where a step is not joined to the one before") == rotates);
    const Finished cage =
        run({"optimize", scene("spring_cage"), "--iterations", "2", "--profile"}, folder);
    CHECK(cage.status == 0);
    if (test::test_device() == "cpu") CHECK(has(cage.out, "whole program: forward "));
}

TEST_CASE("profile: an option that cannot be obeyed is an error, not ignored") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const std::vector<std::string> always = {"--whole-program", "always"};
    for (std::vector<std::string> words :
         {std::vector<std::string>{"run", scene("spring_cage")},
          std::vector<std::string>{"optimize", scene("spring_cage"), "--adjoint-norms"}}) {
        words.insert(words.end(), always.begin(), always.end());
        const Finished refused = run(words, folder);
        CHECK(refused.status == 1);
        CHECK(has(refused.err, "--whole-program always cannot be obeyed"));
    }
}

TEST_CASE("check: the plan is printed before anything runs, the measured peak after the gradient") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const Finished check = run(
        {"check", scene("spring_cage"), "--memory", "24kB", "--entries", "1", "--directions", "1"},
        folder);
    INFO(check.out);
    INFO(check.err);
    REQUIRE(check.status == 0);
    const std::size_t plan = check.out.find("steps recomputed"),
                      peak = check.out.find("for gradients, "), loss = check.out.find("loss ");
    REQUIRE(plan != std::string::npos);
    REQUIRE(peak != std::string::npos);
    CHECK(plan < peak);
    CHECK(peak < loss);
}

TEST_CASE("plans: stored states in files, and 100 000 steps within 64 MiB, as predicted") {
    HINDCAST_NEEDS_PROGRAM();
    if (test::test_device() != "cpu") HINDCAST_SKIP("too many steps for the interpreter");
    const test::TemporaryFolder folder;
    const auto memory_of = [&](std::vector<std::string> words, const std::string& name) {
        words.insert(words.end(), {"--iterations", "1", "--output", name});
        const Finished done = run(words, folder);
        INFO(done.err);
        REQUIRE(done.status == 0);
        const auto summary = document::Document::load(folder / name / "summary.json");
        const document::Node& memory = *summary.root().find("gradient_memory");
        const auto bytes = [&](const char* which) {
            return static_cast<double>(memory.find(which)->integer());
        };
        CHECK(bytes("measured_bytes") <= 1.2 * bytes("predicted_bytes"));
        CHECK(bytes("measured_bytes") >= 0.5 * bytes("predicted_bytes"));
        struct Found {
            double measured;
            bool in_files;
            std::int64_t recomputed;
        };
        return Found{bytes("measured_bytes"), memory.find("states_in_files")->boolean(),
                     memory.find("recomputed_steps")->integer()};
    };
    std::filesystem::create_directory(folder / "spill");
    const auto stored = memory_of({"optimize", scene("hanging_net"), "--memory", "4MiB"}, "stored"),
               spilled = memory_of({"optimize", scene("hanging_net"), "--memory", "4MiB", "--spill",
                                    (folder / "spill").string()},
                                   "spilled");
    CHECK_FALSE(stored.in_files);
    CHECK(spilled.in_files);
    CHECK(stored.measured <= 4 * 1048576);
    CHECK(spilled.measured <= 4 * 1048576);
    const std::string chain = folder / "chain.json";
    write_file_atomically(chain, R"({
        "format": 1, "time": {"step": 0.0001, "steps": 100000}, "gravity": [0, -9.8, 0],
        "bodies": [{"type": "particles", "name": "chain", "fixed": [0],
                    "positions": {"grid": {"counts": [128, 1, 1], "spacing": 0.05}}}],
        "forces": [{"type": "springs", "name": "links", "stiffness": 1000,
                    "connect": {"grid": "chain", "counts": [128, 1], "patterns": ["structural"]}}],
        "objective": [{"type": "center_of_mass", "of": "chain", "target": [1, -1, 0]}],
        "parameters": [{"path": "links.stiffness"}],
        "optimizer": {"type": "gradient_descent", "rate": 1, "iterations": 1}})");
    const auto long_run = memory_of({"optimize", chain, "--memory", "64MiB"}, "long");
    CHECK(long_run.measured <= 64 * 1048576);
    CHECK(long_run.recomputed > 0);
}
