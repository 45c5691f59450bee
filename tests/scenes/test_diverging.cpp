// Runs whose state is not finite in the end fail in every command and say where that arose, however
// few steps they have, with an objective or without, whatever the objective looks at.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine/sim/non_finite.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Two points on a spring that is far too stiff for the step, and one that nothing pulls at.
std::string stiff_pair(int steps, bool objective) {
    std::string text = R"({"format": 1, "time": {"step": 1, "steps": )" + std::to_string(steps) +
                       R"(},
  "bodies": [{"type": "particles", "name": "pair", "positions": [[0, 0, 0], [1, 0, 0]],
              "velocity": [[0, 0, 0], [0.1, 0, 0]]},
             {"type": "particles", "name": "free", "positions": [[0, 0, 0]]}],
  "forces": [{"type": "springs", "name": "spring", "connect": [["pair", 0, "pair", 1]],
              "stiffness": 1e9}])";
    if (objective)
        text += R"(,
  "objective": [{"type": "point_target", "of": "free", "target": [0, 0, 1]}],
  "parameters": [{"path": "free.velocity"}],
  "optimizer": {"type": "gradient_descent", "rate": 1e-3, "iterations": 2})";
    return text + "}";
}

bool mentions_launch(const std::string& message) {
    return message.find(" in step ") != std::string::npos &&
           message.find("launch '") != std::string::npos;
}

}  // namespace

TEST_CASE("diverging: the state is looked at after the last step, whatever the objective is of") {
    for (const WholeProgramUse use : {WholeProgramUse::never, WholeProgramUse::always}) {
        if (use == WholeProgramUse::always && test_device() == "interpreter") continue;
        const DeviceKind kind =
            test_device() == "interpreter" ? DeviceKind::interpreter : DeviceKind::cpu;
        for (const int steps : {50, 64, 65, 127}) {
            CAPTURE(steps);
            const Scene scene = Scene::parse(stiff_pair(steps, true));
            SimulationOptions options;
            options.device = std::make_shared<Device>(
                DeviceOptions{.kind = kind, .threads = 1, .whole_program = use});
            Simulation simulation(scene, all_modules(), options);
            for (const bool keep : {false, true}) CHECK(std::isnan(simulation.run(keep)));
            REQUIRE(simulation.rollout().divergence());
            CHECK(simulation.rollout().divergence()->step == std::min(steps, 64));
            CHECK(mentions_launch(explain_loss(simulation)));
        }
    }
}

TEST_CASE("diverging: every command fails, and names step and launch") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "plain.json") << stiff_pair(50, false);
    std::ofstream(folder / "other.json") << stiff_pair(50, true);
    const auto fails = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"--device", test_device(), "--quiet"});
        const Finished run = run_program(words, folder.path());
        CAPTURE(words[0]);
        CAPTURE(run.err);
        CHECK(run.status == 1);
        CHECK(mentions_launch(run.err));
        CHECK(run.err.find("--checked") == std::string::npos);
    };
    // On the interpreter this one is the error of a launch, which leaves no summary.
    fails({"run", "plain.json", "--checked"});
    fails({"run", "plain.json"});
    fails({"run", "other.json"});
    fails({"optimize", "other.json"});
    fails({"check", "other.json", "--precision", "f32"});
    const Finished batch = run_program(
        {"batch", "other.json", "--vary", "spring.stiffness=1e9,2e9", "--device", test_device()},
        folder.path());
    CAPTURE(batch.err);
    CHECK(batch.out.find("2 of the losses") != std::string::npos);
    const auto summary = document::Document::load(folder / "out/plain/summary.json");
    CHECK_FALSE(summary.at("/finished").boolean());
    // The run stops at the first frame that is not finite.
    CHECK(summary.at("/states/frames").integer() < 51);
}
