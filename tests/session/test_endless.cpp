// The live mode: an optimization that goes on without end, waits at a minimum for an edit, and keeps to a
// rate. And the best iteration accepted while another one is shown.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "app/session/frames/trajectory.hpp"
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
    return s.optimization.history && !s.optimization.history->empty()
               ? s.optimization.history->back().iteration
               : -1;
}

}  // namespace

TEST_CASE("session: live, an optimization waits at the minimum and follows what is moved") {
    Thrown thrown_ball;
    OpenScene& scene = thrown_ball.scene;
    scene.session.send(Live{});
    scene.session.send(Optimize{Optimize::What::start});
    auto now = scene.wait([](const Snapshot& s) { return s.optimization.live_waits; });
    CHECK(now->optimization.live.on);
    REQUIRE(now->optimization.history);
    CHECK(now->optimization.history->back().parameters->at(0) == doctest::Approx(1).epsilon(1e-4));
    Document changed = *scene.document;
    for (const double target : {2.0, -0.5}) {
        CAPTURE(target);
        const std::int64_t last = now->optimization.history->back().iteration;
        changed.set("/objective/0/target/0", target);
        scene.apply(changed);
        now = scene.wait([&](const Snapshot& s) {
            return s.optimization.live_waits && s.optimization.history->back().iteration > last &&
                   std::fabs(s.optimization.history->back().parameters->at(0) - target) < 1e-4;
        });
        // From where it stood: the first row after the edit has the parameters of the last before.
        const auto row =
            std::ranges::find(*now->optimization.history, last, &IterationInfo::iteration);
        REQUIRE(row != now->optimization.history->end());
        CHECK(*(row + 1)->parameters == *row->parameters);
    }
    // A new build, as by another number of steps, is followed as well.
    changed.set("/time/steps", 50);
    scene.apply(changed);
    now = scene.wait([&](const Snapshot& s) {
        return s.optimization.live_waits &&
               std::fabs(s.optimization.history->back().parameters->at(0) + 1) < 1e-4;
    });
    scene.session.send(Optimize{Optimize::What::pause});
    now = scene.wait([](const Snapshot& s) { return !s.optimization.live_waits; });
    const std::int64_t last = now->optimization.history->back().iteration;
    changed.set("/objective/0/target/0", 0.1);
    scene.apply(changed);
    scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && !std::isnan(s.run.loss);
    });
    CHECK(scene.session.snapshot()->optimization.history->back().iteration == last);
}

TEST_CASE("session: live, iterations go on beyond their number, at most so many a second") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    Document changed = *scene.document;
    changed.set("/optimizer/iterations", 5);
    changed.set("/optimizer/rate", 1e-6);  // far from the end
    scene.apply(changed);
    scene.session.send(Live{});
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) { return last_of(s) > 25; });
    scene.session.send(Live{.on = true, .rate = 20});
    const auto before =
        scene.wait([](const Snapshot& s) { return s.optimization.live.rate == 20; });
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t from = before->optimization.history->back().iteration;
    scene.wait([&](const Snapshot& s) { return last_of(s) >= from + 12; });
    // The first of them may have been due already.
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
          10 / 20.0);
    // Not live any more, it ends as it would have.
    scene.session.send(Live{.on = false});
    const auto end =
        scene.wait([](const Snapshot& s) { return s.reports.activity == Activity::idle; });
    CHECK(end->optimization.stop_reason.starts_with("limit: all "));
}

TEST_CASE("session: live, a rule without an end of its own rests at the minimum, and goes on") {
    OpenScene scene(test::scene_file("spring_cage.json"));  // gradient descent
    scene.session.send(Live{});
    scene.session.send(Optimize{Optimize::What::start});
    auto now = scene.wait([](const Snapshot& s) { return s.optimization.live_waits; });
    CHECK(now->optimization.stop_reason.starts_with("at a minimum: "));
    CHECK(now->optimization.stopped_well);
    REQUIRE(now->optimization.history);
    CHECK(now->optimization.history->size() > 10);
    CHECK(now->optimization.history->size() < 2000);
    CHECK(now->optimization.history->back().loss < 1e-9 * now->optimization.history->front().loss);
    CHECK(now->reports.activity != Activity::optimizing);
    Document changed = *scene.document;
    for (const double target : {0.3, 0.1}) {  // in place, and the way back
        const std::int64_t last = last_of(*now);
        changed.set("/objective/0/target/0", target);
        scene.apply(changed);
        now = scene.wait(
            [&](const Snapshot& s) { return s.optimization.live_waits && last_of(s) > last; });
        const auto first =
            std::ranges::find(*now->optimization.history, last + 1, &IterationInfo::iteration);
        REQUIRE(first != now->optimization.history->end());
        CHECK(now->optimization.history->back().loss < 1e-9 * first->loss);
    }
    // An edit while it goes on begins the count anew: it does not rest before the new minimum.
    changed.set("/optimizer/rate", 1e-6);
    scene.apply(changed);
    changed.set("/objective/0/target/0", 0.4);
    scene.apply(changed);
    const std::int64_t last = last_of(*scene.session.snapshot());
    scene.wait([&](const Snapshot& s) { return last_of(s) > last + 60; });
    CHECK_FALSE(scene.session.snapshot()->optimization.live_waits);
}

TEST_CASE("session: live, where nothing can be won it rests") {
    Thrown thrown_ball;
    OpenScene& scene = thrown_ball.scene;
    Document changed = *scene.document;
    changed.set("/optimizer",  // so slow that single numbers do not see it
                document::Document::parse(
                    R"({"type": "gradient_descent", "iterations": 10, "rate": 1e-12})", "text")
                    .root());
    scene.apply(changed);
    scene.session.send(Live{});
    scene.session.send(Optimize{Optimize::What::start});
    const auto now = scene.wait([](const Snapshot& s) { return s.optimization.live_waits; });
    CHECK(now->optimization.history->size() >= 50);
    CHECK(now->optimization.history->size() < 60);
}

TEST_CASE("session: of the frames of many small runs only so many are kept") {
    constexpr std::int64_t each = 1000, most = 65'536;  // frames, without numbers
    TrajectoryCache cache;
    const auto pinned = std::make_shared<Trajectory>();
    for (std::int64_t iteration = 0; iteration < 200; ++iteration) {
        const auto run = iteration == 0 ? pinned : std::make_shared<Trajectory>();
        for (std::int64_t k = 0; k < each; ++k) {
            KeptFrame frame;
            frame.step = k;
            run->add(std::make_shared<const KeptFrame>(frame));
        }
        cache.put(iteration, run);
        cache.shrink(std::int64_t{1} << 40, {pinned});
        const auto kept = static_cast<std::int64_t>(cache.all().size());
        CHECK(kept * each <= most);
        CHECK(cache.peek(0) == pinned);
        CHECK(cache.peek(iteration) == run);
    }
    CHECK(static_cast<std::int64_t>(cache.all().size()) == most / each);
}

TEST_CASE("session: another scene is not live, and nothing is kept of the one before") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    Document changed = *scene.document;
    changed.set("/optimizer/iterations", 1000);
    changed.set("/optimizer/rate", 1e-6);  // all of them are far from the end
    scene.apply(changed);
    scene.session.send(Live{});
    scene.session.send(Optimize{Optimize::What::start});
    const auto before = scene.wait([](const Snapshot& s) { return last_of(s) > 200; });
    CHECK(before->optimization.live.on);
    CHECK(before->memory.frame_bytes > 200 * 1000);
    const auto other = test::load_document(test::scene_file("flag.json"));
    scene.session.send(
        Apply{std::make_shared<const Document>(*other), 1000, test::scene_file("flag.json"), true});
    const auto after = scene.wait([](const Snapshot& s) {
        return s.handover.revision == 1000 && s.reports.activity == Activity::idle;
    });
    CHECK_FALSE(after->optimization.live.on);
    CHECK_FALSE(after->optimization.live_waits);
    CHECK(after->optimization.history->empty());
    CHECK(after->memory.iteration_bytes == 0);
}

TEST_CASE("session: a slow live optimization answers at once") {
    Thrown thrown_ball;
    OpenScene& scene = thrown_ball.scene;
    Document changed = *scene.document;
    changed.set("/optimizer",
                document::Document::parse(
                    R"({"type": "gradient_descent", "iterations": 100, "rate": 1e-9})", "text")
                    .root());
    scene.apply(changed);
    scene.session.send(Live{.on = true, .rate = 0.001});
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) {
        return s.optimization.history && !s.optimization.history->empty();
    });
    scene.session.send(Optimize{Optimize::What::pause});
    scene.wait([](const Snapshot& s) { return s.reports.activity == Activity::idle; });
}

TEST_CASE("session: the best iteration is accepted, whichever is shown") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto done = scene.optimize();
    const auto best = std::ranges::min_element(*done->optimization.history, {}, loss_of);
    scene.session.send(ShowIteration{0});
    scene.wait([](const Snapshot& s) { return s.optimization.shown_iteration == 0; });
    scene.session.send(Accept{.number = 1, .iteration = best->iteration});
    const auto answered = scene.wait([](const Snapshot& s) { return s.handover.answer_to == 1; });
    REQUIRE(answered->handover.answer);
    Simulation simulation(Scene::of(*answered->handover.answer, scene.file), test::all_modules(),
                          OpenScene::options(0).simulation);
    CHECK(simulation.parameters().values() == *best->parameters);
    CHECK(answered->handover.answer_name == "Accept iteration " + std::to_string(best->iteration));
    // Of a scene before an edit it is not taken.
    Document changed = *scene.document;
    changed.set("/objective/0/target/0", 0.5);
    scene.apply(changed);
    scene.session.send(Accept{.number = 2, .iteration = best->iteration});
    const auto refused = scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });
    CHECK(std::string(refused->reports.error->what()).find("belongs to the scene before an edit") !=
          std::string::npos);
}
