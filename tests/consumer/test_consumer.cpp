// The installed package: installs this build into a temporary folder, builds the project in
// tests/consumer against it with find_package, and runs it.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

namespace {

struct Outcome {
    int status = -1;
    std::string output;  // both streams
};

Outcome run(const std::string& command) {
    Outcome outcome;
    FILE* pipe = popen(("(" + command + ") 2>&1 </dev/null").c_str(), "r");
    if (pipe == nullptr) return outcome;
    char buffer[4096];
    while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe))
        outcome.output.append(buffer, n);
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

std::string in_quotes(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

// The value of a variable in a CMakeCache.txt; empty if there is none.
std::string cached(const std::filesystem::path& build, const std::string& variable) {
    std::ifstream cache(build / "CMakeCache.txt");
    for (std::string line; std::getline(cache, line);)
        if (line.compare(0, variable.size() + 1, variable + ":") == 0)
            return line.substr(line.find('=') + 1);
    return "";
}

}  // namespace

TEST_CASE("consumer: an outside project finds the installed package, builds and runs") {
    if (SANITIZED) HINDCAST_SKIP("a sanitizer build is not for installing");
    const std::filesystem::path program = hindcast::test::program_file,
                                build = program.parent_path();
    if (run("cmake --version").status != 0) HINDCAST_SKIP("there is no cmake in the path");
    const std::string compiler = cached(build, "CMAKE_CXX_COMPILER");
    const std::string generator = cached(build, "CMAKE_GENERATOR");
    if (compiler.empty() || generator.empty())
        HINDCAST_SKIP("no CMakeCache.txt beside the program: the build is not at hand");
    if (run(in_quotes(compiler) + " --version").status != 0)
        HINDCAST_SKIP("the compiler of this build does not run: " + compiler);
    if (!std::filesystem::exists(program) ||
        !std::filesystem::exists(build / "libhindcast_engine.a"))
        HINDCAST_SKIP("the program and the library are not both built");

    const hindcast::test::TemporaryFolder folder;
    const Outcome install =
        run("cmake --install " + in_quotes(build) + " --prefix " + in_quotes(folder / "prefix"));
    INFO(install.output);
    REQUIRE(install.status == 0);
    CHECK(std::filesystem::exists(folder / "prefix" / "bin" / "hindcast"));
    // Only what a user includes is there: the list is to be changed on purpose.
    const std::filesystem::path headers = folder / "prefix" / "include" / "hindcast";
    std::vector<std::string> installed, listed;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(headers))
        if (entry.is_regular_file())
            installed.push_back(std::filesystem::relative(entry.path(), headers).string());
    std::sort(installed.begin(), installed.end());
    std::ifstream list(std::filesystem::path(hindcast::test::source_dir) / "tests" / "consumer" /
                       "headers.txt");
    for (std::string line; std::getline(list, line);) listed.push_back(line);
    CHECK(installed == listed);
    const std::filesystem::path source =
        std::filesystem::path(hindcast::test::source_dir) / "tests" / "consumer";
    const Outcome configure =
        run("cmake -S " + in_quotes(source) + " -B " + in_quotes(folder / "build") + " -G " +
            in_quotes(generator) + " -DCMAKE_CXX_COMPILER=" + in_quotes(compiler) +
            " -DCMAKE_PREFIX_PATH=" + in_quotes(folder / "prefix"));
    INFO(configure.output);
    REQUIRE(configure.status == 0);
    const Outcome compile = run("cmake --build " + in_quotes(folder / "build"));
    INFO(compile.output);
    REQUIRE(compile.status == 0);

    std::vector<std::string> kinds{"interpreter"};
    if (hindcast::test::has_cpu_device()) kinds.push_back("cpu");
    for (const std::string& kind : kinds) {
        CAPTURE(kind);
        const Outcome outcome = run(in_quotes(folder / "build" / "consumer") + " " + kind + " " +
                                    in_quotes(std::filesystem::path(hindcast::test::source_dir) /
                                              "scenes" / "free_flight.json"));
        CHECK(outcome.status == 0);
        // 1/2 k x^2 over 1, 2, 3 with k = 10
        const std::string expected =
            "energy 70, gradient 10 20 30, by k 7\nsquares 4 9, slopes 4 6\nloss ";
        REQUIRE(outcome.output.starts_with(expected));
        std::istringstream rest(outcome.output.substr(expected.size()));
        double loss = 0;
        std::string of;
        long long steps = 0;
        rest >> loss >> of >> steps;
        CHECK(steps == 100);
        // Semi-implicit Euler, 100 steps of 0.01: |(3, 0, 5 - 9.81 * 0.505) - (4, 1, 2)|^2.
        const double z = 5 - 9.81 * 0.505 - 2;
        CHECK(loss == doctest::Approx(1 + 1 + z * z).epsilon(1e-5));
    }
    // The README's program: reference values of an independent implementation.
    if (hindcast::test::has_cpu_device()) {
        const Outcome loss = run("cd " + in_quotes(hindcast::test::source_dir) + " && " +
                                 in_quotes(folder / "build" / "loss"));
        CHECK(loss.output == "0.239206, d/d cage.rest_length[0] = 0.186417\n");
    }
    const Outcome wrong = run(in_quotes(folder / "build" / "consumer") + " abacus");
    CHECK(wrong.status == 1);
    CHECK(wrong.output ==
          "there is no device 'abacus'; use cpu, interpreter, cuda, cuda:1 (the second one), "
          "cuda:0,1, "
          "cuda:all or auto\n");
}
