// What needs more than there is: memory that scenes ask for, and a stack that is limited.
#include <doctest/doctest.h>

#include <cstdlib>

#include "engine/base/aligned.hpp"
#include "engine/base/files.hpp"
#include "engine/base/pages.hpp"
#include "engine/sim/results/results.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("too large: free memory, and what is not free in words") {
    const std::int64_t free = free_memory();
    CHECK(free > 0);
    CHECK(lack_of_memory(0) == "");
    CHECK(lack_of_memory(1 << 20) == "");
    CHECK(lack_of_memory(0x1p50).starts_with("about 1.05e+06 GiB, and "));
    CHECK(lack_of_memory(0x1p50).ends_with(" GiB are free"));
}

TEST_CASE("too large: a block that is not free is refused before it is filled") {
    // Without the question the system promises it, and ends the program that writes to it.
    const std::size_t bytes = static_cast<std::size_t>(free_memory()) * 3;
    if (lack_of_memory(static_cast<double>(bytes)).empty()) HINDCAST_SKIP("too much swap space");
    const std::int64_t before = memory_use().current;
    CHECK(message([&] { AlignedBuffer<char> block(bytes); }).starts_with("cannot allocate "));
    CHECK(memory_use().current == before);
}

TEST_CASE("too large: meshes, grids and points are estimated at the place that asks for them") {
    struct Case {
        const char *scene, *place, *words;
        double bytes;  // at least
    };
    for (const Case& c :
         {Case{R"("time": {"step": 0.001, "steps": 1}, "bodies": [{"type": "solid", "name": "block",
                  "mesh": {"box": {"min": [0, 0, 0], "max": [1, 1, 1], "cells": [255, 255, 250]}},
                  "mu": 1, "lambda": 1, "density": 1}])",
               "/bodies/0/mesh/box/cells", "97537500 elements need about ", 97537500 * 600.0},
          Case{R"("time": {"step": 0.001, "steps": 1}, "bodies": [{"type": "cloth", "name": "cloth",
                  "mesh": {"grid": {"origin": [0, 0, 0], "warp": [1, 0, 0], "weft": [0, 1, 0],
                                    "cells": [10000, 10000]}},
                  "warp_stiffness": 1, "weft_stiffness": 1, "shear_stiffness": 1,
                  "area_density": 0.1, "bending_stiffness": 1e-5}])",
               "/bodies/0/mesh/grid/cells", "100000000 cells need about ", 1e8 * 1900.0},
          Case{R"("dimension": 2, "time": {"step": 0.001, "steps": 1}, "bodies": [{"type": "waves",
                  "name": "pond", "nodes": [32768, 32768], "spacing": 1, "speed": 1}])",
               "/bodies/0/nodes", "1073741824 nodes need about ", 0x1p30 * 32},
          Case{R"("dimension": 2, "time": {"step": 0.001, "steps": 1}, "bodies": [{"type":
                  "material_points", "name": "snow", "positions": [[1, 1]], "mu": 1, "lambda": 1}],
                  "forces": [{"type": "mpm_grid", "name": "grid", "nodes": [30000, 30000],
                              "spacing": 1}])",
               "/forces/0/nodes", "900000000 nodes need about ", 9e8 * 40}}) {
        CAPTURE(c.place);
        if (lack_of_memory(c.bytes).empty()) HINDCAST_SKIP("this machine has the memory");
        const std::string said = message([&] { simulate(c.scene); });
        CHECK_MESSAGE(said.find(c.place) != std::string::npos, said);
        CHECK_MESSAGE(said.find(c.words) != std::string::npos, said);
        CHECK_MESSAGE(said.find(" GiB are free; ") != std::string::npos, said);
    }
}

TEST_CASE("too large: the estimates of a mesh and of points are those of their scenes") {
    HINDCAST_NEEDS_PROGRAM();
    // The most memory of a run, by the system.
    const TemporaryFolder folder;
    if (std::system("python3 -c '' 2>/dev/null") != 0)
        HINDCAST_SKIP("Python asks the system, and is not there");
    const auto most = [&](const std::string& scene) {
        write_file_atomically(folder / "s.json", R"({"format": 1, )" + scene + "}");
        write_file_atomically(folder / "ask.py", R"(
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # no huge pages (PR_SET_THP_DISABLE): they round what is measured
os.environ.pop("HINDCAST_GUARD_PAGES", None)  # blocks between such pages take more
subprocess.run(sys.argv[2:], check=True)
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)))");
        const std::string line = "cd '" + folder.path().string() + "' && python3 ask.py most '" +
                                 program_file + "' run s.json --quiet --threads 1 --device " +
                                 test_device();
        REQUIRE(std::system(line.c_str()) == 0);
        return 1024 * std::stod(read_file(folder / "most"));
    };
    const auto solid = [&](int cells) {
        return most(R"("time": {"step": 1e-4, "steps": 1}, "bodies": [{"type": "solid", "name": "b",
            "mesh": {"box": {"min": [0, 0, 0], "max": [1, 1, 1], "cells": [)" +
                    std::to_string(cells) + R"(, 40, 20]}}, "mu": 1, "lambda": 1, "density": 1}])");
    };
    // Kernels are compiled, which takes memory of its own: some are other ones for more elements.
    solid(40), solid(80);
    const double of_element = (solid(80) - solid(40)) / (40.0 * 40 * 20 * 6);
    CAPTURE(of_element);
    CHECK(of_element > 400);
    CHECK(of_element < 900);
    const auto points = [&](int count) {
        return most(R"("time": {"step": 1e-4, "steps": 1}, "bodies": [{"type": "particles",
            "name": "b", "positions": {"grid": {"counts": [)" +
                    std::to_string(count) + R"(, 1000, 1], "spacing": 1}}}])");
    };
    points(1000), points(2000);
    const double of_point = (points(2000) - points(1000)) / 1e6;
    CAPTURE(of_point);
    CHECK(of_point > 90);
    CHECK(of_point < 230);
}

TEST_CASE("too large: under a small limit of the stack the program has one of its own") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    const std::string scene = std::string(source_dir) + "/scenes/spring_cage.json";
    const auto run = [&](const std::string& limit, const std::string& output) {
        // An own code cache: kernels are compiled, which takes most of the stack.
        return std::system(("cd '" + folder.path().string() + "' && " + limit +
                            " HINDCAST_CACHE='" + (folder / ("cache_" + output)).string() + "' '" +
                            program_file + "' optimize '" + scene + "' --iterations 2 --quiet " +
                            "--device " + test_device() + " --output " + output + " 2>err")
                               .c_str());
    };
    REQUIRE(run("", "usual") == 0);
    const auto loss = [&](const std::string& output) {
        return document::Document::load(folder / output / "summary.json").at("/best/loss").real();
    };
    for (const char* kilobytes : {"64", "128", "1024"}) {
        CAPTURE(kilobytes);
        const int status = run("ulimit -s " + std::string(kilobytes) + " &&", kilobytes);
        CAPTURE(read_file(folder / "err"));
        REQUIRE(status == 0);
        CHECK(loss(kilobytes) == loss("usual"));
    }
}
