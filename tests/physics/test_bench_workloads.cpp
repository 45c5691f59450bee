// The workloads of `hindcast bench` are what the reference values of tests/bench are of: loss and
// gradients in f64 against those of adjoints written by hand (tests/bench/peers/reference.py).
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/files.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast::test;
using nlohmann::json;

namespace {

// The lines of `hindcast bench WORKLOAD --json`, measured once.
std::vector<json> bench(const std::string& workload, std::vector<std::string> more = {}) {
    const TemporaryFolder folder;
    std::vector<std::string> words = {"bench", workload, "--json", "--repeats", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = run_program(words, folder.path());
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    std::vector<json> lines;
    for (std::size_t at = 0; at < run.out.size(); at = run.out.find('\n', at) + 1)
        lines.push_back(json::parse(run.out.substr(at, run.out.find('\n', at) - at)));
    return lines;
}

// They are sized for compiled code.
#define HINDCAST_NEEDS_COMPILED_CODE() \
    HINDCAST_NEEDS_PROGRAM();          \
    if (test_device() != "cpu") HINDCAST_SKIP("the workloads are too large for the interpreter")

void close(const json& found, const json& expected) {
    REQUIRE(found.size() == expected.size());
    double miss = 0, size = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
        const double e = expected[k], d = found[k].get<double>() - e;
        miss += d * d, size += e * e;
    }
    CHECK(std::sqrt(miss) <= 1e-6 * std::sqrt(size));
}

}  // namespace

TEST_CASE("the benchmark workloads have the losses and gradients of their references") {
    HINDCAST_NEEDS_COMPILED_CODE();
    const json reference = json::parse(hindcast::read_file(std::string(hindcast::test::source_dir) +
                                                           "/tests/bench/peers/reference.json"));
    for (const char* workload :
         {"launch_overhead", "spring_cage", "cloth_springs", "wave2d", "tet_neohookean", "mpm2d"}) {
        CAPTURE(workload);
        const json line = bench(workload, {"--precision", "f64"}).at(0),
                   &expected = reference[workload];
        CHECK(line["steps"] == expected["steps"]);
        CHECK(line["loss"].get<double>() ==
              doctest::Approx(expected["loss"].get<double>()).epsilon(1e-6));
        for (const auto& [name, norm] : expected["grad_norm"].items()) {
            CAPTURE(name);
            CHECK(line["grad_norm"][name].get<double>() ==
                  doctest::Approx(norm.get<double>()).epsilon(1e-6));
        }
        for (const char* field : {"grad", "grad_sample"})
            for (const auto& [name, values] : expected[field].items()) {
                CAPTURE(name);
                close(line[field][name], values);
            }
    }
}

TEST_CASE("the first variant of the benchmark of ensembles is spring_cage") {
    HINDCAST_NEEDS_COMPILED_CODE();
    const json reference = json::parse(hindcast::read_file(std::string(hindcast::test::source_dir) +
                                                           "/tests/bench/peers/reference.json"));
    const json line = bench("ensemble", {"--precision", "f64"}).at(0);
    CHECK(line["n"] == 64);
    close(line["grad"]["rest"], reference["spring_cage"]["grad"]["rest"]);
    CHECK(line["loss"].get<double>() > 64 * 0.1);  // each between 0.2 and 1
    CHECK(line["forward_against_launches"].get<double>() ==
          doctest::Approx(line["launches_forward_s"].get<double>() /
                          line["forward_s"].get<double>()));
}

TEST_CASE("a benchmark counts launches and bytes by the bindings of a step") {
    HINDCAST_NEEDS_COMPILED_CODE();
    // Per level: every node's value is read, the older one of the inner rows read and written, two
    // numbers of the launch read in f64, and the outer columns set to zero.
    const json wave = bench("wave2d").at(0);
    CHECK(wave["launches_per_step"] == 8);  // four levels
    CHECK(wave["adjoints_per_step"] == 8);
    const double outer_columns = 4 * 2 * 510;
    CHECK(wave["forward_bytes_per_step"] ==
          4 * (4 * 512 * 512 + 2 * 4 * 510 * 512 + 2 * 8 + outer_columns));
    // Every node's gradient is read and written, the older one of the inner rows is read.
    CHECK(wave["backward_bytes_per_step"] ==
          4 * (2 * 4 * 512 * 512 + 4 * 510 * 512 + 2 * 8 + outer_columns));
    CHECK(wave["history_mb"] == 1);  // the last level, for the loss; nothing per step
    CHECK(wave["triad_memory_gb_s"].get<double>() > 0);
    CHECK(wave["forward_share_of_same_size"].get<double>() > 0);
}

TEST_CASE("the sweep over sizes makes one line a size, up to the largest asked for") {
    HINDCAST_NEEDS_COMPILED_CODE();
    const std::vector<json> lines = bench("springs_sweep", {"--most-springs", "10000"});
    REQUIRE(lines.size() == 2);
    CHECK(lines[0]["n"] == 1038);
    CHECK(lines[1]["n"] == 10166);
    for (const json& line : lines)
        CHECK(
            line["forward_ns_per_spring_step"].get<double>() ==
            doctest::Approx(line["forward_s"].get<double>() * 1e9 / 20 / line["n"].get<double>()));
}
