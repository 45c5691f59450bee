// The live mode: an optimisation that goes on without end, waits at a minimum for an edit, and keeps to a
// rate. And the best iteration accepted while another one is shown.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;

namespace {

// A ball thrown for a second: its x comes to the velocity's. The target is 1, 0.
const char* const thrown = R"({
    "format": 1, "dimension": 2, "time": {"step": "1/100", "steps": 100},
    "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0]], "mass": 1, "velocity": [0, 0]}],
    "objective": [{"type": "point_target", "name": "goal", "of": "ball", "target": [1, 0]}],
    "parameters": [{"path": "ball.velocity"}],
    "optimizer": {"type": "lbfgs", "iterations": 3}
})";

struct Thrown {
    test::TemporaryFolder folder;
    OpenScene scene;
    Thrown() : scene(write()) {}

private:
    std::filesystem::path write() {
        std::ofstream(folder / "thrown.json") << thrown;
        return folder / "thrown.json";
    }
};

double loss_of(const IterationInfo& row) { return row.loss; }
std::int64_t last_of(const Snapshot& s) {
    return s.history && !s.history->empty() ? s.history->back().iteration : -1;
}

}  // namespace

TEST_CASE("session: live, an optimisation waits at the minimum and follows what is moved") {
    Thrown thrown_ball;
    OpenScene& scene = thrown_ball.scene;
    scene.session.send(Live{});
    scene.session.send(Optimise{Optimise::What::start});
    auto now = scene.wait([](const Snapshot& s) { return s.live_waits; });
    CHECK(now->live.on);
    REQUIRE(now->history);
    CHECK(now->history->back().parameters->at(0) == doctest::Approx(1).epsilon(1e-4));
    Document changed = *scene.document;
    for (const double target : {2.0, -0.5}) {
        CAPTURE(target);
        const std::int64_t last = now->history->back().iteration;
        changed.set("/objective/0/target/0", target);
        scene.apply(changed);
        now = scene.wait([&](const Snapshot& s) {
            return s.live_waits && s.history->back().iteration > last &&
                   std::fabs(s.history->back().parameters->at(0) - target) < 1e-4;
        });
        // From where it stood: the first row after the edit has the parameters of the last before.
        const auto row = std::ranges::find(*now->history, last, &IterationInfo::iteration);
        REQUIRE(row != now->history->end());
        CHECK(*(row + 1)->parameters == *row->parameters);
    }
    // A new build, as by another number of steps, is followed as well.
    changed.set("/time/steps", 50);
    scene.apply(changed);
    now = scene.wait([&](const Snapshot& s) {
        return s.live_waits && std::fabs(s.history->back().parameters->at(0) + 1) < 1e-4;
    });
    scene.session.send(Optimise{Optimise::What::pause});
    now = scene.wait([](const Snapshot& s) { return !s.live_waits; });
    const std::int64_t last = now->history->back().iteration;
    changed.set("/objective/0/target/0", 0.1);
    scene.apply(changed);
    scene.wait(
        [](const Snapshot& s) { return s.activity == Activity::idle && !std::isnan(s.loss); });
    CHECK(scene.session.snapshot()->history->back().iteration == last);
}

TEST_CASE("session: live, iterations go on beyond their number, at most so many a second") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    Document changed = *scene.document;
    changed.set("/optimizer/iterations", 5);
    changed.set("/optimizer/rate", 1e-6);  // far from the end
    scene.apply(changed);
    scene.session.send(Live{});
    scene.session.send(Optimise{Optimise::What::start});
    scene.wait([](const Snapshot& s) { return last_of(s) > 25; });
    scene.session.send(Live{.on = true, .rate = 20});
    const auto before = scene.wait([](const Snapshot& s) { return s.live.rate == 20; });
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t from = before->history->back().iteration;
    scene.wait([&](const Snapshot& s) { return last_of(s) >= from + 12; });
    // The first of them may have been due already.
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
          10 / 20.0);
    // Not live any more, it ends as it would have.
    scene.session.send(Live{.on = false});
    const auto end = scene.wait([](const Snapshot& s) { return s.activity == Activity::idle; });
    CHECK(end->stop_reason.starts_with("limit: all "));
}

TEST_CASE("session: a slow live optimisation answers at once") {
    Thrown thrown_ball;
    OpenScene& scene = thrown_ball.scene;
    Document changed = *scene.document;
    changed.set("/optimizer",
                document::Document::parse(
                    R"({"type": "gradient_descent", "iterations": 100, "rate": 1e-9})", "text")
                    .root());
    scene.apply(changed);
    scene.session.send(Live{.on = true, .rate = 0.001});
    scene.session.send(Optimise{Optimise::What::start});
    scene.wait([](const Snapshot& s) { return s.history && !s.history->empty(); });
    scene.session.send(Optimise{Optimise::What::pause});
    scene.wait([](const Snapshot& s) { return s.activity == Activity::idle; });
}

TEST_CASE("session: the best iteration is accepted, whichever is shown") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto done = scene.optimise();
    const auto best = std::ranges::min_element(*done->history, {}, loss_of);
    scene.session.send(ShowIteration{0});
    scene.wait([](const Snapshot& s) { return s.shown_iteration == 0; });
    scene.session.send(Accept{.number = 1, .iteration = best->iteration});
    const auto answered = scene.wait([](const Snapshot& s) { return s.answer_to == 1; });
    REQUIRE(answered->answer);
    Simulation simulation(Scene::of(*answered->answer, scene.file), test::all_modules(),
                          OpenScene::options(0).simulation);
    CHECK(simulation.parameters().values() == *best->parameters);
    CHECK(answered->answer_name == "Accept iteration " + std::to_string(best->iteration));
    // Of a scene before an edit it is not taken.
    Document changed = *scene.document;
    changed.set("/objective/0/target/0", 0.5);
    scene.apply(changed);
    scene.session.send(Accept{.number = 2, .iteration = best->iteration});
    const auto refused = scene.wait([](const Snapshot& s) { return s.error != nullptr; });
    CHECK(std::string(refused->error->what()).find("belongs to the scene before an edit") !=
          std::string::npos);
}
