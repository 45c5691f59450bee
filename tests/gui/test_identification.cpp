// Identification in the window: check, fit, accept, undo, report; and what is said where it fails.
#include <doctest/doctest.h>

#include <imgui_internal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "app/gui/work/files/ending.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/session/document/identification_task.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using test::at;
using test::Robot;

namespace {

// A stone in free flight for a second: x = speed t with noise of a known shape.
void write_flight(const std::filesystem::path& folder, const std::string& more = "",
                  const std::string& time = R"("step": 0.1, "steps": 10)") {
    for (const auto& [name, speed] :
         {std::pair<std::string, double>{"first.csv", 0.5}, {"second.csv", 0.6}}) {
        std::ofstream file(folder / name);
        file << "time,x\n";
        for (int k = 0; k <= 10; ++k)
            file << 0.1 * k << "," << speed * 0.1 * k + 0.01 * (k % 2 == 0 ? 1 : -1) << "\n";
    }
    std::ofstream(folder / "flight.json") << R"({"format": 1, "name": "flight",
      "time": {)" + time + R"(}, "gravity": [0, 0, 0],
      "bodies": [{"type": "particles", "name": "stone", "positions": [[0, 0, 0]],
        "velocity": [0.1, 0, 0]}],
      "objective": [{"type": "measured", "name": "camera", "of": "stone", "file": "first.csv",
        "sigma": 0.02, "channels": [{"column": "x", "array": "position"}]}],
      "parameters": [{"path": "stone.velocity", "components": ["x"], "bounds": [-2, 2]})" +
                                                 more + "]}";
}

template <class... More>
void open_flight(Robot& robot, const More&... more) {
    write_flight(robot.folder(), more...);
    robot.work().opening.open(robot.folder() / "flight.json");
    REQUIRE(test::opened(robot));
    robot.work().requests.focus_panel = "Identification";
    robot.frames(4);
}

void press(ImGuiTestContext& hands, const std::string& item) {
    hands.ItemClick(("//###Identification/" + item).c_str());
}

// Until it may be begun again.
void ended(Robot& robot, ImGuiTestContext& hands) {
    robot.frames(3);
    REQUIRE(robot.wait([&] {
        return (hands.ItemInfo("//###Identification/###Check").ItemFlags &
                ImGuiItemFlags_Disabled) == 0;
    }));
    robot.frames(4);
}

}  // namespace

TEST_CASE("gui identification: check, fit, accept, undo, report") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_flight(robot);
        robot.picture("identification_data");
        press(hands, "###Check");
        ended(robot, hands);
        robot.picture("identification_check");
        press(hands, "###Fit");
        ended(robot, hands);
        robot.picture("identification_fit");
        CHECK(test::said(robot, "Identified in"));
        const double before = at(robot, "/bodies/0/velocity/0")->real();
        CHECK(before == 0.1);
        press(hands, "###Accept");
        robot.frames(3);
        // v = sum t x / sum t^2, with sums over t = 0.1 k: 0.5 + 0.01 * 0.5 / 3.85.
        CHECK(at(robot, "/bodies/0/velocity/0")->real() ==
              doctest::Approx(0.5 + 0.005 / 3.85).epsilon(1e-9));
        CHECK(robot.work().scene.editor().undo_name() == "Accept identified parameters");
        CHECK(test::runs_what_is_edited(robot));
        press(hands, "###Write report");
        robot.frames(3);
        const auto out = robot.folder() / "flight_identification";
        CHECK(read_file(out / "report.html").find("stone.velocity.x") != std::string::npos);
        CHECK(std::filesystem::exists(out / "identified_scene.json"));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(3);
        CHECK(at(robot, "/bodies/0/velocity/0")->real() == 0.1);
        CHECK(test::runs_what_is_edited(robot));
    });
}

TEST_CASE("gui identification: estimates are asked about before another scene, or the end") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const auto file = robot.folder() / "flight.json";
        const auto velocity = [&] {
            return document::Document::load(file).at("/bodies/0/velocity/0").real();
        };
        // v = sum t x / sum t^2, with sums over t = 0.1 k.
        const auto estimate = doctest::Approx(0.5 + 0.005 / 3.85).epsilon(1e-9);
        open_flight(robot);
        press(hands, "###Check");
        ended(robot, hands);
        robot.work().saving.when_saved([] {});  // nothing is lost by a check
        CHECK_FALSE(robot.work().messages.question());
        press(hands, "###Fit");
        ended(robot, hands);
        robot.picture("identification_not_accepted");

        robot.work().opening.open(robot.scenes() / "flag.json");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        robot.picture("identification_question");
        CHECK(test::answers(robot) ==
              std::vector<std::string>{"Accept and save", "Discard", "Cancel"});
        hands.KeyPress(ImGuiKey_Enter);  // Cancel: Enter loses nothing
        robot.frames(3);
        CHECK(robot.work().scene.title() == "flight");
        CHECK(velocity() == 0.1);

        // Saving says so as well.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        robot.frames(3);
        CHECK(test::said(robot, "without what was found"));
        CHECK(velocity() == 0.1);

        robot.work().opening.open(robot.scenes() / "flag.json");
        robot.frames(3);
        hands.ItemClick("//###question/Accept and save");
        REQUIRE(robot.wait([&] { return robot.work().scene.title() == "flag"; }));
        REQUIRE(test::opened(robot));
        CHECK(velocity() == estimate);

        // Accepted, or fitted again without a change, nothing is asked.
        robot.work().opening.open(file);
        REQUIRE(robot.wait([&] { return robot.work().scene.title() == "flight"; }));
        REQUIRE(test::opened(robot));
        robot.work().requests.focus_panel = "Identification";
        robot.frames(4);
        robot.work().ending.request();
        CHECK(robot.work().ending.has_come());
    });
}

TEST_CASE("gui identification: one that runs is not dropped without a question") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_flight(robot, "", R"("step": 1e-6, "steps": 1000000)");
        press(hands, "###Fit");
        robot.frames(2);
        robot.work().opening.open(robot.scenes() / "flag.json");
        REQUIRE(robot.work().messages.question());
        CHECK(test::answers(robot) == std::vector<std::string>{"End it", "Cancel"});
        robot.frames(3);
        robot.picture("identification_running_question");
        hands.KeyPress(ImGuiKey_Enter);
        robot.frames(3);
        CHECK(robot.work().scene.title() == "flight");
        CHECK_FALSE(robot.work().messages.question());
        robot.work().opening.open(robot.scenes() / "flag.json");
        robot.frames(3);
        hands.ItemClick("//###question/End it");
        CHECK(robot.wait([&] { return robot.work().scene.title() == "flag"; }));
    });
}

TEST_CASE("gui identification: a signal keeps the estimates in the autosave") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_flight(robot);
        press(hands, "###Fit");
        ended(robot, hands);
        robot.work().ending.end_without_asking(true);
        CHECK(robot.work().ending.left_autosave());
        const auto kept = robot.work().scene.editor().find_autosave(robot.folder() / "flight.json");
        REQUIRE(kept);
        CHECK(document::Document::load(kept->file).at("/bodies/0/velocity/0").real() ==
              doctest::Approx(0.5 + 0.005 / 3.85).epsilon(1e-9));
    });
}

TEST_CASE("gui identification: what cannot be done is said in words") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        // The mass of a stone in free flight changes nothing.
        open_flight(robot, R"(, {"path": "stone.mass", "bounds": [0.1, 10]})");
        press(hands, "###Check");
        ended(robot, hands);
        robot.picture("identification_no_effect");
        std::ofstream(robot.folder() / "first.csv") << "time,x\n";
        press(hands, "###Fit");
        ended(robot, hands);
        robot.picture("identification_no_samples");
        CHECK_FALSE(robot.work().ending.has_come());
        // A scene that measures nothing.
        test::open(robot, "spring_cage.json");
        robot.work().requests.focus_panel = "Identification";
        robot.frames(4);
        robot.picture("identification_none");
    });
}

TEST_CASE("gui identification: the numbers are those of the command, bit for bit") {
    const test::TemporaryFolder folder;
    write_flight(folder.path());
    const auto file = folder / "flight.json";
    const auto document =
        std::make_shared<const document::Document>(document::Document::load(file));
    session::IdentificationTask task(
        document, file, test::all_modules(),
        {.fit = true, .starts = 3, .seed = 7, .validate = {(folder / "second.csv").string()}});
    while (!task.ready()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE_FALSE(task.problem());
    // As `hindcast identify` does it, on all threads.
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{});
    options.precision = ir::Precision::f64;
    Simulation simulation(Scene::load(file), test::all_modules(), options);
    IdentificationRun run(simulation, test::all_modules());
    run.validate_with((folder / "second.csv").string());
    run.check(false);
    run.fit(run.identification().starts(3, 7), {});
    const IdentificationOutcome &a = *task.outcome(), &b = run.outcome();
    CHECK(a.check.found.singular_values == b.check.found.singular_values);
    REQUIRE(a.fits.size() == b.fits.size());
    for (std::size_t s = 0; s < a.fits.size(); ++s) {
        CHECK(a.fits[s].result.values == b.fits[s].result.values);
        CHECK(a.fits[s].result.residuals == b.fits[s].result.residuals);
    }
    CHECK(a.statistics.standard_errors == b.statistics.standard_errors);
    REQUIRE(a.validations.size() == 1);
    CHECK(a.validations[0].agreement[0].rms == b.validations[0].agreement[0].rms);
    CHECK(task.identified().at("/bodies/0/velocity/0").real() == b.fits[b.best].result.values[0]);
    CHECK(document->at("/bodies/0/velocity/0").real() == 0.1);
}

TEST_CASE("gui identification: a task says what the data cannot tell, and why it has ended") {
    const test::TemporaryFolder folder;
    const auto task_of = [&](session::IdentificationWanted wanted, bool stop = false) {
        const auto file = folder / "flight.json";
        auto task = std::make_unique<session::IdentificationTask>(
            std::make_shared<const document::Document>(document::Document::load(file)), file,
            test::all_modules(), std::move(wanted));
        if (stop) task->stop();
        while (!task->ready()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return task;
    };
    // The mass of a stone in free flight changes nothing.
    write_flight(folder.path(), R"(, {"path": "stone.mass", "bounds": [0.1, 10]})");
    const auto checked = task_of({});
    REQUIRE_FALSE(checked->problem());
    CHECK_FALSE(checked->outcome()->is_fitted());
    REQUIRE(checked->outcome()->check.findings.size() == 1);
    CHECK(checked->outcome()->check.findings[0].find("stone.mass") != std::string::npos);
    CHECK_THROWS_AS(checked->identified(), Error);
    // Stopped before it has begun: what the check found is there.
    const auto stopped = task_of({.fit = true}, true);
    CHECK_FALSE(stopped->problem());
    CHECK(stopped->outcome() != nullptr);
    const auto missing = task_of({.fit = true, .validate = {(folder / "third.csv").string()}});
    REQUIRE(missing->problem());
    CHECK(std::string(missing->problem()->what()).find("third.csv") != std::string::npos);
    std::ofstream(folder / "first.csv") << "time,x\n";
    const auto empty = task_of({.fit = true});
    REQUIRE(empty->problem());
    CHECK(std::string(empty->problem()->what()).find("\"until\"") != std::string::npos);
    CHECK(empty->outcome() == nullptr);
}

TEST_CASE("gui identification: a robot with shots") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        test::open(robot, "robots/measured_pendulum.json");
        robot.work().requests.focus_panel = "Identification";
        robot.frames(4);
        press(hands, "###Fit");
        ended(robot, hands);
        robot.picture("identification_pendulum");
        for (const char* part : {"Check", "Correlation", "Agreement", "Curves", "Progress"}) {
            press(hands, "parts/" + std::string(part));
            robot.frames(4);
            robot.picture("identification_pendulum_" + std::string(part));
        }
        CHECK(test::said(robot, "Identified in"));
    });
}
