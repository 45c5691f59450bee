// Steps between the frames that memory holds: shown exactly, once they are computed.
#include <doctest/doctest.h>

#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;

namespace {

// The positions after each whole step of a run of the scene alone.
std::vector<std::vector<double>> steps_of(const Document& document) {
    const Scene scene = Scene::of(document, {});
    Simulation simulation(scene, test::all_modules(), OpenScene::options(0).simulation);
    std::vector<std::vector<double>> steps;
    simulation.run(false, [&](std::int64_t done) {
        if (done % scene.substeps() == 0)
            steps.push_back(simulation.model().array("position").to_doubles());
        return true;
    });
    return steps;
}

// The cage for a long time, with a state that is more than places and velocities: a step counter in
// a gust of wind, and an objective on the way.
Document long_cage() {
    Document document = Document::load(test::scene_file("spring_cage.json"));
    document.set("/time/steps", 1700);
    document.set("/time/step", "1/200");
    document.set("/time/substeps", 2);
    document.set("/forces/-", Document::parse(R"({"type": "drag", "name": "air", "linear": 0.4,
        "wind": [1, 0, 0.5], "amplitude": [0.5, 0.2, 0], "frequency": 3})")
                                  .root());
    return document;
}

}  // namespace

TEST_CASE("session: a step between kept frames is shown exactly") {
    test::TemporaryFolder folder;
    const auto file = folder.path() / "cage.json";
    const Document document = long_cage();
    document.save(file);
    const auto expected = steps_of(document);
    // Room for some frames of nine points: 12 bytes of place and of velocity, and their adjoints.
    for (const std::int64_t memory : {std::int64_t{64} << 20, std::int64_t{200'000}}) {
        OpenScene scene(file, memory);
        const auto complete = scene.wait_complete();
        CHECK(complete->run.frame_every >= 3);
        // There and back, far and near; the last one lies beyond the last kept frame.
        for (const std::int64_t step : {1000, 1001, 1003, 400, 1, 1699, 998, 1697}) {
            CAPTURE(step);
            scene.session.send(Seek{step});
            const render::Frame frame = scene.frame_at(step);
            CHECK(scene.exchange->read(frame, "position") ==
                  expected[static_cast<std::size_t>(step)]);
        }
        scene.session.send(StepBy{-1});
        scene.frame_at(1696);
        scene.session.send(StepBy{3});
        scene.frame_at(1699);
        const auto last =
            scene.wait([](const Snapshot& s) { return s.reports.activity == Activity::idle; });
        CHECK(last->run.step == last->run.step_asked);
        CHECK(last->memory.frame_bytes <= memory);
        CHECK_FALSE(last->reports.error);
    }
}

TEST_CASE("session: steps between kept frames of an iteration, and of its ghost") {
    test::TemporaryFolder folder;
    const auto file = folder.path() / "cage.json";
    Document document = long_cage();
    document.set("/optimizer/iterations", 2);
    document.save(file);
    OpenScene scene(file);
    scene.wait_complete();
    const auto ended = scene.optimize();
    REQUIRE(ended->optimization.history->size() == 3);
    scene.session.send(Ghost{0});
    scene.session.send(ShowIteration{2});
    scene.session.send(Seek{301});
    const auto at = [&](std::int64_t iteration) {
        const auto& row = (*ended->optimization.history)[static_cast<std::size_t>(iteration)];
        Simulation simulation(Scene::of(document, {}), test::all_modules(),
                              OpenScene::options(0).simulation);
        simulation.parameters().set_values(*row.parameters);
        std::vector<double> places;
        simulation.run(false, [&](std::int64_t done) {
            if (done == 602) places = simulation.model().array("position").to_doubles();
            return done < 602;
        });
        return places;
    };
    const std::vector<double> second = at(2), first = at(0);
    scene.wait([&](const Snapshot& s) {
        const auto frame = scene.exchange->acquire();
        return s.optimization.shown_iteration == 2 && frame && frame->step == 301 &&
               scene.exchange->read(*frame, "position") == second &&
               scene.exchange->read(*frame, "ghost position") == first;
    });
}
