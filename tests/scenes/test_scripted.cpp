// Scripted tests: what is right passes, every kind of expectation can fail with a message that says
// what was expected and found, and --update changes pinned figures and nothing else.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "engine/sim/scripted/scripted_test.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using Verdict = TestOutcome::Verdict;

namespace {

// A ball thrown up from the ground: x_n = n h v_0 + g h^2 n (n + 1) / 2 = 1 - 1.1 = -0.1 after ten
// steps of 0.1 with v_0 = 1 and g = -2. The loss is (x - 1)^2, its gradient 2 (x - 1) n h.
const char* scene_text = R"({
    "format": 1, "time": {"step": 0.1, "steps": 10}, "gravity": [0, 0, -2],
    "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]],
                "velocity": [0, 0, 1], "mass": 2}],
    "objective": [{"type": "point_target", "name": "aim", "of": "ball", "target": [0, 0, 1]}],
    "parameters": [{"path": "ball.velocity"}],
    "optimizer": {"type": "gradient_descent", "rate": 0.25, "iterations": 3}
})";

class Fixture {
public:
    explicit Fixture(const std::string& test) {
        std::ofstream(folder_ / "throw.json") << scene_text;
        std::ofstream(folder_ / "throw.test.json") << test;
        options_.device.kind = test::has_cpu_device() ? DeviceKind::cpu : DeviceKind::interpreter;
        options_.precisions = {ir::Precision::f64};
    }
    // All messages, one per line; the verdicts go to `verdicts`.
    std::string run() {
        verdicts.clear();
        std::string text;
        run_scripted_test(folder_ / "throw.test.json", test::all_modules(), options_,
                          [&](const TestOutcome& outcome) {
                              verdicts.push_back(outcome.verdict);
                              for (const auto& message : outcome.messages) text += message + "\n";
                          });
        return text;
    }
    TestOptions& options() { return options_; }
    std::string file() const { return read_file(folder_ / "throw.test.json"); }
    const test::TemporaryFolder& folder() const { return folder_; }

    std::vector<Verdict> verdicts;

private:
    test::TemporaryFolder folder_;
    TestOptions options_;
};

std::string steps(const std::string& list) { return R"({"steps": [)" + list + "]}"; }

void passes(const std::string& step) {
    CAPTURE(step);
    Fixture fixture(steps(step));
    CHECK(fixture.run() == "");
    CHECK(fixture.verdicts == std::vector<Verdict>{Verdict::passed});
}

void fails(const std::string& step, const std::string& message) {
    CAPTURE(step);
    CAPTURE(message);
    Fixture fixture(steps(step));
    const std::string found = fixture.run();
    CAPTURE(found);
    CHECK(found.find(message) != std::string::npos);
    CHECK(fixture.verdicts == std::vector<Verdict>{Verdict::failed});
}

}  // namespace

TEST_CASE("scripted tests: run") {
    passes(R"({"do": "run"})");
    passes(R"({"do": "run", "expect": {"loss": 1.21, "terms": {"aim": 1.21},
               "state": {"position[0].z": -0.1, "velocity[0].z": -1, "position[0].x": 0}}})");
    passes(R"({"do": "run", "steps": 5, "expect": {"state": {"position[0].z": 0.2}}})");
    passes(R"({"do": "run", "expect": {"loss": 1.2100001}, "tolerance": 1e-6})");
    passes(R"({"do": "run", "expect": {"loss": 7}, "precision": "f32"})");  // passed over in f64
    fails(R"({"do": "run", "expect": {"loss": 1.22}})",
          "step 0 (run): loss: expected 1.22 within 1.22e-06, found 1.2");
    fails(R"({"do": "run", "expect": {"loss": 1.2100001}, "tolerance": {"f64": 1e-9}})", "loss");
    fails(R"({"do": "run", "expect": {"terms": {"aim": 1}}})", "term aim: expected 1.0");
    fails(R"({"do": "run", "expect": {"terms": {"him": 1}}})", "no term 'him'");
    fails(R"({"do": "run", "expect": {"state": {"position[0].z": 0.1}}})", "position[0].z");
    fails(R"({"do": "run", "expect": {"state": {"place[0].z": 0.1}}})", "'place'");
    fails(R"({"do": "run", "expect": {"state": {"position[1].z": 0.1}}})", "element 1");
}

TEST_CASE("scripted tests: conserved quantities") {
    passes(R"({"do": "run", "expect": {"conserved": [{"sum": "velocity_x + 3*position_y"}]}})");
    fails(R"({"do": "run", "expect": {"conserved": [{"sum": "velocity_z / inverse_mass"}]}})",
          "the sum of velocity_z / inverse_mass: expected 2.0");
    passes(R"({"do": "run", "expect": {"conserved": [{"sum": "velocity_z", "tolerance": 3}]}})");
    fails(R"({"do": "run", "expect": {"conserved": [{"sum": "1"}]}})", "names no array");
    fails(R"({"do": "run", "expect": {"conserved": [{"sum": "velocty_z"}]}})", "velocty_z");
}

TEST_CASE("scripted tests: optimize") {
    // The miss x - 1 shrinks by 1 - 2 rate (n h)^2 = 1/2 per update.
    passes(R"({"do": "optimize", "iterations": 2, "expect": {"history": [
        {"iteration": 0, "loss": 1.21, "gradient": [0, 0, -2.2], "gradient_norm": 2.2},
        {"iteration": 1, "loss": 0.3025, "parameters": {"ball.velocity.z": 1.55},
         "gradient": {"2": -1.1}, "terms": {"aim": 0.3025}},
        {"iteration": 2, "loss": 0.075625, "parameters": [0, 0, 1.825]}],
        "decreases": true, "best_below": 0.1, "stop": "iterations"}})");
    fails(R"({"do": "optimize", "expect": {"history": [{"iteration": 1, "loss": 0.3}]}})",
          "iteration 1: loss: expected 0.3 within");
    fails(R"({"do": "optimize", "expect": {"history": [{"iteration": 0, "gradient": [0, 0, 2]}]}})",
          "gradient of ball.velocity.z: expected 2.0");
    fails(R"({"do": "optimize", "expect": {"history": [{"iteration": 0, "gradient": [0, 2]}]}})",
          "2 numbers for 3 parameters");
    fails(R"({"do": "optimize", "expect": {"history": [{"iteration": 0, "gradient": {"a": 2}}]}})",
          "no parameter 'a'");
    fails(R"({"do": "optimize", "expect": {"history": [{"iteration": 9, "loss": 1}]}})",
          "iteration 9 was never reached");
    fails(R"({"do": "optimize", "expect": {"best_below": 1e-9}})", "expected a loss below 1e-09");
    fails(R"({"do": "optimize", "expect": {"stop": "converged"}})", "'iterations'");
    fails(R"({"do": "set", "path": "optimizer.rate", "value": 1.5},
             {"do": "optimize", "expect": {"decreases": true}})",
          "the loss does not decrease in iteration 1");
}

TEST_CASE("scripted tests: check_gradients") {
    passes(R"({"do": "check_gradients", "hessian": true})");
    fails(R"({"do": "check_gradients", "tolerance": 1e-30})", "adjoint");
}

TEST_CASE("scripted tests: set, save and reload") {
    passes(R"({"do": "set", "path": "gravity.z", "value": 0},
              {"do": "run", "expect": {"state": {"position[0].z": 1}}},
              {"do": "reload"}, {"do": "run", "expect": {"loss": 1.21}})");
    passes(R"({"do": "optimize"}, {"do": "save"}, {"do": "reload"},
              {"do": "run", "expect": {"unchanged": true}})");
    fails(R"({"do": "optimize"}, {"do": "reload"}, {"do": "run", "expect": {"unchanged": true}})",
          "state: expected the hash");
    fails(R"({"do": "run", "expect": {"unchanged": true}})", "before it");
}

TEST_CASE("scripted tests: expected errors") {
    passes(R"({"do": "set", "path": "ball.mas", "value": 1,
               "expect": {"error": "did you mean 'mass'"}}, {"do": "run", "expect": {"loss": 1.21}})");
    passes(R"({"do": "set", "path": "ball.mass", "value": -1, "expect": {"error": "above 0"}})");
    fails(R"({"do": "set", "path": "ball.mass", "value": 1, "expect": {"error": "above 0"}})",
          "but there was none");
    fails(R"({"do": "set", "path": "ball.mass", "value": -1, "expect": {"error": "below 0"}})",
          "expected an error with 'below 0', found: ");
    fails(R"({"do": "set", "path": "ball.mass", "value": -1})", "step 0 (set): ");
}

TEST_CASE("scripted tests: the file is read strictly") {
    fails(R"({"do": "runn"})", "did you mean 'run'");
    fails(R"({"do": "run", "expect": {"los": 1}})", "did you mean 'loss'");
    fails(R"({"do": "run", "iterations": 1})", "iterations");
    fails(R"({"do": "save", "expect": {"loss": 1}})", "loss");
    fails(R"({"do": "run", "precision": "f16"})", "f16");
    fails(R"({"do": "run", "expect": {"error": ""}})", "empty");
    fails(R"({"do": "set", "path": "gravity"})", "value");
    fails(R"({"do": "run", "tolerance": -1})", "at least 0");
    Fixture nowhere(R"({"scene": "nowhere.json", "steps": [{"do": "run"}]})");
    CHECK(nowhere.run().find("nowhere.json") != std::string::npos);
}

TEST_CASE("scripted tests: skip") {
    Fixture fixture(R"({"skip": "needs a GPU", "steps": [{"do": "run", "expect": {"loss": 7}}]})");
    CHECK(fixture.run() == "needs a GPU\n");
    CHECK(fixture.verdicts == std::vector<Verdict>{Verdict::skipped});
}

TEST_CASE("scripted tests: pinned figures and --update") {
    Fixture fixture(steps(R"({"do": "run", "pinned": {}, "expect": {"loss": 1.21}},
                             {"do": "optimize", "pinned": {}})"));
    CHECK(fixture.run().find("nothing is pinned") != std::string::npos);

    fixture.options().update = true;
    const std::string changes = fixture.run();
    CHECK(changes.find("step 0 (run): nothing -> {") != std::string::npos);
    CHECK(changes.find("step 1 (optimize): nothing -> {") != std::string::npos);
    CHECK(fixture.verdicts == std::vector<Verdict>{Verdict::passed});
    const std::string pinned = fixture.file();
    CHECK(fixture.run() == "");
    CHECK(fixture.file() == pinned);

    fixture.options().update = false;
    CHECK(fixture.run() == "");
    fixture.options().precisions = {ir::Precision::f32};
    CHECK(fixture.run().find("nothing is pinned") != std::string::npos);

    // A changed figure is noticed; the update shows old and new, and leaves "expect" alone.
    fixture.options().precisions = {ir::Precision::f64};
    document::Document file = document::Document::load(fixture.folder() / "throw.test.json");
    const std::string hash = file.at("/steps/0/pinned/f64/hash").string();
    file.set("/steps/0/pinned/f64/hash", "0123");
    file.set("/steps/0/expect/loss", 7);
    file.save(fixture.folder() / "throw.test.json");
    const std::string failure = fixture.run();
    CHECK(failure.find("pinned { \"hash\": \"0123\"") != std::string::npos);
    CHECK(failure.find("--update") != std::string::npos);
    fixture.options().update = true;
    const std::string update = fixture.run();
    CHECK(update.find("expected 7") != std::string::npos);
    CHECK(update.find("\"0123\"") != std::string::npos);
    CHECK(update.find(hash) != std::string::npos);
    CHECK(fixture.verdicts == std::vector<Verdict>{Verdict::failed});
    file = document::Document::load(fixture.folder() / "throw.test.json");
    CHECK(file.at("/steps/0/pinned/f64/hash").string() == hash);
    CHECK(file.at("/steps/0/expect/loss").integer() == 7);
}

TEST_CASE("scripted tests: determinism") {
    for (const char* wanted : {"true", R"({"interpreter": true})", R"({"steps": 3})"}) {
        CAPTURE(wanted);
        Fixture fixture(std::string(R"({"determinism": )") + wanted + "}");
        const std::string messages = fixture.run();
        REQUIRE(fixture.verdicts.size() == 2);  // the steps (none) and the comparison
        if (test::has_cpu_device()) {
            CHECK(messages == "");
            CHECK(fixture.verdicts[1] == Verdict::passed);
        } else {
            CHECK(fixture.verdicts[1] == Verdict::skipped);
        }
    }
}

TEST_CASE("scripted tests: files are found") {
    Fixture fixture(steps(""));
    const auto& folder = fixture.folder();
    std::filesystem::create_directories(folder / "deep/er");
    std::ofstream(folder / "deep/er/x.test.json") << "{}";
    std::ofstream(folder / "deep/alone.json") << "{}";
    const std::vector<std::filesystem::path> both = {folder / "deep/er/x.test.json",
                                                     folder / "throw.test.json"};
    CHECK(find_tests({folder.path()}) == both);
    CHECK(find_tests({folder / "throw.json", folder.path()}) == both);
    CHECK(find_tests({folder / "throw.json"}) ==
          std::vector<std::filesystem::path>{folder / "throw.test.json"});
    CHECK_THROWS_AS(find_tests({folder / "deep/alone.json"}), Error);
    CHECK_THROWS_AS(find_tests({folder / "nowhere"}), Error);
    CHECK_THROWS_AS(find_tests({folder / "nowhere.test.json"}), Error);
}

TEST_CASE("scripted tests: the program counts and exits") {
    HINDCAST_NEEDS_PROGRAM();
    Fixture fixture(steps(R"({"do": "run", "expect": {"loss": 1.21}})"));
    const std::string folder = fixture.folder().path().string();
    const test::Finished good =
        test::run_program({"test", folder, "--device", test::test_device()});
    CHECK(good.status == 0);
    CHECK(good.out.find("ok       ") == 0);
    CHECK(good.out.ends_with("\n2 passed, 0 failed, 0 skipped\n"));
    std::ofstream(fixture.folder() / "throw.test.json")
        << steps(R"({"do": "run", "expect": {"loss": 2}})");
    const test::Finished bad =
        test::run_program({"test", folder, "--device", test::test_device(), "--precision", "f32"});
    CHECK(bad.status == 1);
    CHECK(bad.out.find("FAILED   ") == 0);
    CHECK(bad.out.find("expected 2.0") != std::string::npos);
    CHECK(bad.out.ends_with("\n0 passed, 1 failed, 0 skipped\n"));
}
