// A scene is opened, played and scrubbed: the frames are those of the simulation, bit for bit.
#include <doctest/doctest.h>

#include "tests/session/support.hpp"

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
    CHECK(snapshot->name == "spring cage");
    CHECK(snapshot->steps == 30);
    CHECK(snapshot->frame_every == 1);
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
    const auto end = scene.wait([](const Snapshot& s) { return s.step == 30 && !s.playing; });
    CHECK(end->speed_asked == 20);
    scene.session.send(Repeat{true});
    scene.session.send(Play{true});
    scene.wait([](const Snapshot& s) { return s.playing && s.step > 20; });
    scene.wait([](const Snapshot& s) { return s.playing && s.step < 10; });
    scene.session.send(Play{false});
    scene.wait([](const Snapshot& s) { return !s.playing; });
}
