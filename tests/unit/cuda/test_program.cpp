// The program on CUDA devices, on the driver in software.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/base/files.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/software_cuda.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;

TEST_CASE("CUDA device: gradients take a part of its memory, as planned") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";
    const test::TemporaryFolder folder;
    std::vector<std::string> losses;
    for (const char* pretends : {"memory=8000000000", "memory=2000000"}) {
        const test::Environment settings("HINDCAST_SOFTWARE_CUDA", pretends);
        const test::Finished done =
            test::run_program({"optimize", cage, "--steps", "4000", "--iterations", "2", "--device",
                               "cuda", "--output", "o"},
                              folder.path());
        CAPTURE(done.out);
        CAPTURE(done.err);
        CHECK(done.status == 0);
        const bool all = done.out.find("store all") != std::string::npos;
        CHECK(all == losses.empty());
        const std::size_t at = done.out.find("best loss");
        REQUIRE(at != std::string::npos);
        losses.push_back(done.out.substr(at, 40));
    }
    CHECK(losses[0] == losses[1]);
}

TEST_CASE("CUDA device: the program's --device") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";
    const test::TemporaryFolder folder;
    const auto run = [&](const char* device, const char* driver, const char* pretends) {
        const test::Environment used("HINDCAST_CUDA_DRIVER", driver),
            settings("HINDCAST_SOFTWARE_CUDA", pretends);
        const test::Finished done =
            test::run_program({"run", cage, "--steps", "2", "--device", device}, folder.path());
        return std::to_string(done.status) + done.out + done.err;
    };
    const auto has = [](const std::string& text, const char* part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    const char* const software = hindcast::test::software_cuda_driver;
    has(run("cuda:1", software, "devices=2"), "cuda:1, software device 1");
    has(run("auto", software, ""), "cuda:0, software device 0");
    has(run("auto", "/no/such/driver", ""), "cpu, ");
    has(run("cuda:1", software, ""), "there is no CUDA device 1; there is only device 0");
    has(run("cuda", "/no/such/driver", ""),
        "CUDA cannot be used: '/no/such/driver' cannot be opened");
    has(run("cuda", software, "version=12000"), "13.0 or newer is needed");
    has(run("cuda", software, "out_of_memory=3"), "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
    has(run("cuda:x", software, ""), "there is no device 'cuda:x'");
    has(run("cuda:0,0", software, "devices=2"), "there is no device 'cuda:0,0'");
    has(run("cuda:0,1", software, "devices=2"), "several devices are given");
}

TEST_CASE("CUDA device: an ensemble is spread over devices, with the bits of one") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";
    const test::TemporaryFolder folder;
    const test::Environment settings("HINDCAST_SOFTWARE_CUDA", "devices=3");
    const auto run = [&](std::vector<std::string> arguments) {
        const test::Finished done = test::run_program(arguments, folder.path());
        CAPTURE(done.out);
        CAPTURE(done.err);
        CHECK(done.status == 0);
        return done.out;
    };
    std::vector<std::string> tables;
    for (const char* device : {"interpreter", "cuda:0,2", "cuda:all"}) {
        CAPTURE(device);
        const std::string out =
            run({"batch", cage, "--steps", "4", "--vary", "cage.stiffness=50:200:7", "--gradient",
                 "--device", device, "--output", "o"});
        CHECK((out.find("spread over 2 devices") != std::string::npos) ==
              (std::string(device) == "cuda:0,2"));
        CHECK((out.find("spread over 3 devices") != std::string::npos) ==
              (std::string(device) == "cuda:all"));
        tables.push_back(read_file(folder.path() / "o" / "batch.csv", 1 << 20));
    }
    CHECK(tables[1] == tables[0]);
    CHECK(tables[2] == tables[0]);
    tables.clear();
    const std::vector<std::string> search = {"optimize", cage, "--steps",  "4", "--iterations", "2",
                                             "--starts", "5",  "--output", "p"};
    for (const char* device : {"interpreter", "cuda:0,1"}) {
        std::vector<std::string> arguments = search;
        arguments.insert(arguments.end(), {"--device", device});
        run(arguments);
        tables.push_back(read_file(folder.path() / "p" / "starts.csv", 1 << 20) +
                         read_file(folder.path() / "p" / "history.csv", 1 << 20));
    }
    CHECK(tables[1] == tables[0]);
}

TEST_CASE("CUDA device: --nondeterministic stands in the results") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string scenes = std::string(hindcast::test::source_dir) + "/scenes/";
    const test::TemporaryFolder folder;
    for (const char* device : {"cuda", "interpreter"}) {
        CAPTURE(device);
        const bool any = std::string(device) == "cuda";
        const test::Finished done =
            test::run_program({"run", scenes + "mpm_launch.json", "--steps", "2", "--device",
                               device, "--nondeterministic", "--output", "o"},
                              folder.path());
        CAPTURE(done.out);
        CAPTURE(done.err);
        CHECK(done.status == 0);
        CHECK((done.out.find("sums        in any order (--nondeterministic)") !=
               std::string::npos) == any);
        CHECK((done.out.find("sums        in order: --nondeterministic changes nothing") !=
               std::string::npos) == !any);
        const std::string summary = read_file(folder.path() / "o" / "summary.json", 1 << 20);
        CHECK((summary.find("\"deterministic\": false") != std::string::npos) == any);
        CHECK((summary.find("\"deterministic\": true") != std::string::npos) == !any);
    }
    const test::Finished check =
        test::run_program({"check", scenes + "mpm_launch.json", "--steps", "3", "--entries", "2",
                           "--directions", "1", "--device", "cuda", "--nondeterministic"},
                          folder.path());
    CAPTURE(check.out);
    CAPTURE(check.err);
    CHECK(check.status == 0);
    CHECK(check.out.find("all verdicts are ok") != std::string::npos);
}
