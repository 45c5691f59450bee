// A scene is opened, played and scrubbed: the frames are those of the simulation, bit for bit.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;

namespace {

// The array after each whole step of a run of the scene alone.
std::vector<std::vector<double>> steps_of(const Scene& scene, const std::string& array,
                                          const std::vector<double>& parameters = {}) {
    Simulation simulation(scene, test::all_modules(), OpenScene::options(0).simulation);
    if (!parameters.empty()) simulation.parameters().set_values(parameters);
    std::vector<std::vector<double>> steps;
    simulation.run(false, [&](std::int64_t done) {
        if (done % scene.substeps() == 0)
            steps.push_back(simulation.model().array(array).to_doubles());
        return true;
    });
    return steps;
}

}  // namespace

TEST_CASE("session: frames are the simulation's, at any step that is gone to") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto snapshot = scene.wait_complete();
    CHECK(snapshot->scene.name == "spring cage");
    CHECK(snapshot->run.steps == 30);
    CHECK(snapshot->run.frame_every == 1);
    const auto expected = steps_of(Scene::load(scene.file), "position");
    for (const std::int64_t step : {0, 30, 7, 29, 1}) {
        scene.session.send(Seek{step});
        const render::Frame frame = scene.frame_at(step);
        CHECK(frame.time == doctest::Approx(static_cast<double>(step) / 30));
        CHECK(scene.exchange->read(frame, "position") == expected[static_cast<std::size_t>(step)]);
    }
    scene.session.send(Seek{20});
    scene.session.send(StepBy{-3});
    scene.frame_at(17);
    scene.session.send(StepBy{1});
    scene.frame_at(18);
}

TEST_CASE("session: playing moves to the end, and begins again if that is wanted") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    scene.session.send(SetSpeed{20});
    scene.session.send(Play{true});
    const auto end =
        scene.wait([](const Snapshot& s) { return s.run.step == 30 && !s.run.playing; });
    CHECK(end->run.speed_asked == 20);
    scene.session.send(Repeat{true});
    scene.session.send(Play{true});
    scene.wait([](const Snapshot& s) { return s.run.playing && s.run.step > 20; });
    scene.wait([](const Snapshot& s) { return s.run.playing && s.run.step < 10; });
    scene.session.send(Play{false});
    scene.wait([](const Snapshot& s) { return !s.run.playing; });
}

TEST_CASE("session: as fast as possible is with the solver, and never slower than real time") {
    // 20 s in steps of a millisecond: frame by frame this would take minutes.
    const auto document = document::Document::parse(R"({
        "format": 1, "name": "long fall", "time": {"step": "1/1000", "steps": 20000},
        "gravity": [0, 0, -9.81],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]]}]})");
    const test::TemporaryFolder folder;
    document.save(folder.path() / "fall.json");
    OpenScene scene(folder.path() / "fall.json");
    scene.session.send(SetSpeed{0});
    scene.session.send(Play{true});
    // While it is computed, what is shown is the newest; and so time ends with the run.
    const auto end =
        scene.wait([](const Snapshot& s) { return s.run.step == 20000 && !s.run.playing; });
    CHECK(end->run.steps_computed == 20000);
    CHECK(end->run.speed_asked == 0);
    // What is there passes at least as fast as real time.
    scene.session.send(Repeat{true});
    scene.session.send(Play{true});
    scene.wait([](const Snapshot& s) { return s.run.playing && s.run.speed_measured >= 1; });
    scene.session.send(Play{false});
}

TEST_CASE("session: a scene that is over in an instant is played slowly at first") {
    CHECK(fitting_speed(1) == 1);
    CHECK(fitting_speed(30 * (1.0 / 30)) == 1);
    CHECK(fitting_speed(1000) == 1);
    CHECK(fitting_speed(0) == 1);
    CHECK(fitting_speed(127 * 1.326632052365868e-05) == doctest::Approx(0.0005));  // 1.7 ms
    CHECK(fitting_speed(0.3) == doctest::Approx(0.1));
    CHECK(fitting_speed(4e-9) == doctest::Approx(1e-9));
    for (int k = 0; k < 79; ++k) {  // up to a second
        const double duration = 1e-9 * std::pow(1.3, k);
        const double lasts = duration / fitting_speed(duration);
        CHECK(lasts > 4 / 1.6);
        CHECK(lasts < 4 * 1.6);
    }
}
