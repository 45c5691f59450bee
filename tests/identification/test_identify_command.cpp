// `hindcast identify`: what it leaves in its folder, and what it says.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "engine/base/files.hpp"
#include "engine/document/csv.hpp"
#include "engine/document/document.hpp"
#include "tests/identification/measured_scene.hpp"
#include "tests/support/program.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A stone in free flight: x = 0.5 t with noise of a known shape.
void write_scene(const TemporaryFolder& folder) {
    std::filesystem::create_directory(folder / "data");
    for (const auto& [name, speed] :
         {std::pair<std::string, double>{"data/first.csv", 0.5}, {"second.csv", 0.6}}) {
        std::string text = "time,x\n";
        for (int k = 0; k <= 10; ++k)
            text += std::to_string(0.1 * k) + "," +
                    std::to_string(speed * 0.1 * k + 0.01 * (k % 2 == 0 ? 1 : -1)) + "\n";
        put_file(folder, name, text);
    }
    put_file(folder, "flight.json", R"({"format": 1, "time": {"step": 0.1, "steps": 10},
      "gravity": [0, 0, 0],
      "bodies": [{"type": "particles", "name": "stone", "positions": [[0, 0, 0]], "velocity": [0.1, 0, 0]}],
      "objective": [{"type": "measured", "name": "camera", "of": "stone", "file": "data/first.csv",
        "sigma": 0.02, "channels": [{"column": "x", "array": "position"}]}],
      "parameters": [{"path": "stone.velocity", "components": ["x"], "bounds": [-2, 2]}]})");
}

Finished identify(const TemporaryFolder& folder, std::vector<std::string> words) {
    words.insert(words.begin(), {"identify", "flight.json", "--device", test_device()});
    return run_program(words, folder.path());
}

}  // namespace

TEST_CASE("identify: estimates, errors, residuals, validation, scene, report") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_scene(folder);
    const Finished run = identify(folder, {"--starts", "3", "--validate", "second.csv"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    const auto out = folder / "out/flight";
    // v = sum t x / sum t^2, with sums over t = 0.1 k: 0.5 + 0.01 * 0.5 / 3.85.
    const double v = 0.5 + 0.005 / 3.85;
    const document::CsvTable parameters = document::read_csv(out / "parameters.csv");
    CHECK(parameters.text(0, 0) == "stone.velocity.x");
    CHECK(parameters.numbers("estimate")[0] == doctest::Approx(v).epsilon(1e-6));
    double squares = 0;
    for (int k = 0; k <= 10; ++k)
        squares += std::pow((v - 0.5) * 0.1 * k - 0.01 * (k % 2 == 0 ? 1 : -1), 2);
    CHECK(parameters.numbers("standard_error")[0] ==
          doctest::Approx(std::sqrt(squares / 10 / 3.85)).epsilon(1e-6));
    const auto summary = document::Document::load(out / "summary.json");
    CHECK(summary.at("/starts").integer() == 3);
    CHECK(summary.at("/agreeing_starts").integer() == 3);
    CHECK(summary.at("/agreement/0/rms").real() ==
          doctest::Approx(std::sqrt(squares / 11)).epsilon(1e-6));
    CHECK(summary.at("/validation/0/agreement/0/rms").real() > 0.05);
    CHECK(document::read_csv(out / "jacobian.csv").numbers("stone.velocity.x")[10] ==
          doctest::Approx(1 / 0.02));
    CHECK(document::read_csv(out / "covariance.csv").rows() == 1);
    CHECK(document::read_csv(out / "starts.csv").rows() == 3);
    const document::CsvTable residuals = document::read_csv(out / "residuals.csv");
    CHECK(residuals.rows() == 11);
    CHECK(residuals.numbers("simulated")[10] == doctest::Approx(v).epsilon(1e-6));
    CHECK(document::read_csv(out / "validation_1.csv").rows() == 11);
    const std::string report = read_file(out / "report.html");
    CHECK(report.find("stone.velocity.x") != std::string::npos);
    CHECK(report.find("<svg") != std::string::npos);
    for (const char* outside : {"http", "src=", "href=", "@import", "<script"})
        CHECK_MESSAGE(report.find(outside) == std::string::npos, outside);
    // The scene is one again, with its data beside it, and at its least.
    const Finished again = run_program({"identify", (out / "identified_scene.json").string(),
                                        "--device", test_device(), "--output", "again"},
                                       folder.path());
    CAPTURE(again.err);
    REQUIRE(again.status == 0);
    CHECK(document::Document::load(folder / "again/summary.json").at("/initial_cost").real() ==
          doctest::Approx(summary.at("/cost").real()));
}

TEST_CASE("identify: a check alone") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_scene(folder);
    const Finished run = identify(folder, {"--check-only"});
    REQUIRE(run.status == 0);
    CHECK(run.out.find("all parameters can be told apart") != std::string::npos);
    CHECK(run.out.find("estimate") == std::string::npos);
    CHECK(std::filesystem::exists(folder / "out/flight/report.html"));
    CHECK_FALSE(std::filesystem::exists(folder / "out/flight/identified_scene.json"));
    const Finished missing = identify(folder, {"--validate", "third.csv"});
    CHECK(missing.status == 1);
    CHECK(missing.err.find("third.csv") != std::string::npos);
}

TEST_CASE("identify: numbers that are too large are an error, and nothing is written") {
    HINDCAST_NEEDS_PROGRAM();
    struct Case {
        const char *cell, *sigma, *said;
    };
    for (const Case& c :
         {Case{"1e200", "0.02", "the residual of 'camera: x' at 0.3 s is -5e+201 sigmas"},
          // Its square is finite, but not that of the residual; then the residual itself.
          Case{"1e150", "0.02", "has 1e+150 there, and sigma is 0.02"},
          Case{"1e308", "0.02",
               "the residual of 'camera: x' at 0.3 s is not finite; data/first.csv has 1e+308 "
               "there, and sigma is 0.02"},
          // All residuals and the cost are finite; the variance is about 1e159^2.
          Case{"1e159", "1e10",
               "the variance of camera.offset is not finite: the residuals scatter by 3.02e+148 "
               "sigmas"}}) {
        for (const bool check_only : {false, true}) {
            CAPTURE(c.cell);
            CAPTURE(check_only);
            const TemporaryFolder folder;
            write_scene(folder);
            std::string text = "time,x\n";
            for (int k = 0; k <= 10; ++k)
                text += std::to_string(0.1 * k) + "," + (k == 3 ? c.cell : "0.1") + "\n";
            put_file(folder, "data/first.csv", text);
            std::string scene = read_file(folder / "flight.json");
            scene.replace(scene.find("0.02"), 4, c.sigma);
            const std::string parameters = "\"parameters\": [";
            scene.insert(scene.find(parameters) + parameters.size(),
                         R"({"path": "camera.offset"}, )");
            put_file(folder, "flight.json", scene);
            std::vector<std::string> words;
            if (check_only) words.emplace_back("--check-only");
            const Finished run = identify(folder, words);
            CAPTURE(run.out);
            CAPTURE(run.err);
            CHECK(run.out.find("nan") == std::string::npos);
            CHECK(run.out.find("inf") == std::string::npos);
            if (check_only && std::string(c.cell) == "1e159") {  // there is no variance yet
                CHECK(run.status == 0);
                continue;
            }
            CHECK(run.status == 1);
            CHECK(run.err.find(c.said) != std::string::npos);
            CHECK(run.err.find("correct the recording") != std::string::npos);
            CHECK(!std::filesystem::exists(folder / "out/flight/summary.json"));
            CHECK(!std::filesystem::exists(folder / "out/flight/parameters.csv"));
        }
    }
}

TEST_CASE("identify: what cannot be told apart is written in words") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    write_scene(folder);
    std::string scene = read_file(folder / "flight.json");
    // x = positions + velocity t + ... - offset: the first and the last have the same effect.
    const std::string parameters = "\"parameters\": [";
    scene.insert(
        scene.find(parameters) + parameters.size(),
        R"({"path": "camera.offset"}, {"path": "stone.positions", "components": ["x"]}, )");
    put_file(folder, "flight.json", scene);
    const Finished run = identify(folder, {});
    CAPTURE(run.out);
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.out.find("their errors are infinite") != std::string::npos);
    CHECK(run.out.find("nan") == std::string::npos);
    CHECK(run.out.find(" inf\n") == std::string::npos);
}
