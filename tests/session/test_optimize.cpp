// Optimization on the session's thread: the rows are those of Optimization alone, bit for bit;
// iterations can be shown, branched from and accepted.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/sim/optimization/optimization.hpp"
#include "tests/session/support.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;

namespace {

std::vector<Optimization::Row> rows_of(const Scene& scene, std::int64_t iterations = -1) {
    Simulation simulation(scene, test::all_modules(), OpenScene::options(0).simulation);
    Optimization optimization(simulation, iterations);
    std::vector<Optimization::Row> rows;
    optimization.run([&](const Optimization::Row& row) {
        rows.push_back(row);
        return true;
    });
    return rows;
}

std::vector<double> position_after(const Scene& scene, const std::vector<double>& parameters) {
    Simulation simulation(scene, test::all_modules(), OpenScene::options(0).simulation);
    simulation.parameters().set_values(parameters);
    simulation.run();
    return simulation.model().array("position").to_doubles();
}

}  // namespace

TEST_CASE("session: an optimization has the rows of Optimization alone, bit for bit") {
    for (const char* file : {"spring_cage.json", "thrown_ball.json", "soft_beam.json"}) {
        CAPTURE(file);
        OpenScene scene(test::scene_file(file));
        const auto snapshot = scene.optimize();
        const auto expected = rows_of(Scene::load(scene.file));
        REQUIRE(snapshot->optimization.history->size() == expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            const IterationInfo& row = (*snapshot->optimization.history)[k];
            CHECK(row.iteration == static_cast<std::int64_t>(k));
            CHECK(row.loss == expected[k].loss);
            CHECK(*row.parameters == expected[k].parameters);
            CHECK(*row.gradient == expected[k].gradient);
        }
        CHECK(snapshot->optimization.history->back().loss < 0.1 * expected.front().loss);
        CHECK(snapshot->optimization.stopped_well);
        CHECK((snapshot->optimization.stop_reason.starts_with("limit: all ") ||
               snapshot->optimization.stop_reason.starts_with("converged: ")));
        CHECK_FALSE(snapshot->reports.error);
    }
}

TEST_CASE("session: single iterations, a pause, and going on change no bit of the history") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    scene.session.send(Optimize{Optimize::What::one});
    scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.optimization.history &&
               s.optimization.history->size() == 2;
    });
    scene.session.send(Optimize{Optimize::What::one});
    scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.optimization.history->size() == 3;
    });
    scene.session.send(Optimize{Optimize::What::start});
    scene.session.send(Optimize{Optimize::What::pause});
    const auto snapshot = scene.optimize();
    const auto expected = rows_of(Scene::load(scene.file));
    REQUIRE(snapshot->optimization.history->size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
        CHECK((*snapshot->optimization.history)[k].loss == expected[k].loss);
    CHECK(snapshot->optimization.best_iteration == 30);
    CHECK(snapshot->optimization.shown_iteration == 30);
    // Once more: as many iterations as before.
    scene.session.send(Optimize{Optimize::What::start});
    const auto longer = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.optimization.history->size() == 61;
    });
    const auto all = rows_of(Scene::load(scene.file), 60);
    CHECK(longer->optimization.history->back().loss == all.back().loss);
}

TEST_CASE("session: another scene has its own number of iterations") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.optimize();
    Document longer = *test::load_document(test::scene_file("thrown_ball.json"));
    longer.set("/optimizer/iterations", 3);
    scene.file = test::scene_file("thrown_ball.json");
    const auto opened = scene.apply(longer, true);
    CHECK(opened->optimization.iterations_planned == 3);
    CHECK(opened->optimization.shown_iteration == -1);
    CHECK(opened->optimization.stop_reason.empty());
    CHECK(scene.optimize()->optimization.history->size() <= 4);
}

TEST_CASE("session: the number of iterations by hand stays with an edit of the same scene") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.optimize();
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) { return s.optimization.iterations_planned == 60; });
    scene.wait_ended();
    Document changed = *scene.document;
    changed.set("/bodies/0/positions/0/0", 0.1);  // built anew
    CHECK(scene.apply(changed)->optimization.iterations_planned == 60);
}

TEST_CASE("session: what was found is not shown as of the scene after an edit") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto ended = scene.optimize();
    REQUIRE(ended->optimization.best_iteration == 30);
    CHECK(ended->optimization.history->back().epoch == ended->scene.epoch);
    const Document before = *scene.document;
    Document changed = before;
    changed.set("/objective/0/target/0", 0.5);
    scene.apply(changed);
    const auto edited = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.run.steps_computed == s.run.steps &&
               s.optimization.shown_iteration == -1;
    });
    CHECK(edited->scene.epoch != edited->optimization.history->back().epoch);
    CHECK(edited->optimization.best_iteration == -1);
    CHECK(edited->optimization.stop_reason.empty());
    CHECK(edited->run.loss > 1000 * ended->run.loss);
    // Taken back, it is the loss that was optimized.
    scene.apply(before);
    const auto back =
        scene.wait([&](const Snapshot& s) { return s.scene.epoch == ended->scene.epoch; });
    CHECK(back->optimization.best_iteration == 30);
    // So it is when what was found is written into the scene.
    scene.session.send(Accept{17});
    const auto answered = scene.wait([](const Snapshot& s) { return s.handover.answer_to == 17; });
    CHECK(scene.apply(*answered->handover.answer)->scene.epoch == ended->scene.epoch);
    CHECK(scene.wait([](const Snapshot& s) { return !s.optimization.unaccepted; })
              ->optimization.best_iteration == 30);
}

TEST_CASE("session: an optimization that has converged has ended well") {
    OpenScene scene(test::scene_file("soft_beam.json"));
    scene.optimize();
    Document again = *scene.document;
    again.set("/optimizer/iterations", 200);
    scene.apply(again);
    const auto ended = scene.optimize();
    CHECK(ended->optimization.stop_reason.starts_with("converged: "));
    CHECK(ended->optimization.stopped_well);
    // The gradient is next to nothing there, and right.
    scene.session.send(CheckGradient{});
    const auto checked = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.tools.check && !s.tools.check->empty();
    });
    for (const CheckRow& row : *checked->tools.check) {
        CAPTURE(row.name);
        CAPTURE(row.error);
        CHECK(row.passed);
    }
    CHECK(*checked->tools.check_at == *checked->values.flat);
}

TEST_CASE("session: the range of a list is that of all its numbers") {
    OpenScene scene(test::scene_file("wave_image.json"));
    const auto shown = scene.wait([](const Snapshot& s) { return !s.values.quantities.empty(); });
    const auto target = std::ranges::find(shown->values.quantities, std::string("image.target"),
                                          &QuantityInfo::path);
    REQUIRE(target != shown->values.quantities.end());
    // A hump of height 1 less its mean: the integral of exp(-r^2 / 800) over 256^2 nodes.
    const double mean = 800 * 3.14159265358979 / (256.0 * 256);
    CHECK(target->rows == 65536);
    CHECK(target->least == doctest::Approx(-mean).epsilon(1e-4));
    CHECK(target->most == doctest::Approx(1 - mean).epsilon(1e-4));
}

TEST_CASE("session: any iteration can be shown, beside another one as a ghost") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto history = scene.optimize()->optimization.history;
    scene.session.send(Seek{30});
    scene.session.send(ShowIteration{3});
    scene.session.send(Ghost{12});
    scene.wait([](const Snapshot& s) {
        return s.optimization.shown_iteration == 3 && s.optimization.ghost_iteration == 12;
    });
    const Scene written = Scene::load(scene.file);
    render::Frame frame = scene.frame_at(30);
    CHECK(frame.iteration == 3);
    CHECK(scene.exchange->read(frame, "position") ==
          position_after(written, *(*history)[3].parameters));
    CHECK(scene.exchange->read(frame, "ghost position") ==
          position_after(written, *(*history)[12].parameters));
    scene.session.send(Ghost{});
    scene.session.send(ShowIteration{});
    scene.wait([](const Snapshot& s) {
        return s.optimization.shown_iteration == 30 && s.optimization.ghost_iteration == -1;
    });
    frame = scene.frame_at(30);
    CHECK(std::isnan(scene.exchange->read(frame, "ghost position").front()));
}

TEST_CASE("session: trajectories stay within their memory, and are run again to the same bits") {
    // A frame holds 9 places and velocities in f32: 216 bytes, with those of adjoints twice that;
    // 31 frames are some 14 kB. Some trajectories fit, 31 do not.
    constexpr std::int64_t limit = 120'000;
    OpenScene scene(test::scene_file("spring_cage.json"), limit);
    const auto ended = scene.optimize();
    CHECK(ended->memory.frame_limit == limit);
    CHECK(ended->memory.frame_bytes <= limit);
    const auto kept = [](const Snapshot& s) {
        std::int64_t count = 0;
        for (const IterationInfo& row : *s.optimization.history) count += row.frames_kept ? 1 : 0;
        return count;
    };
    CHECK(kept(*ended) > 1);
    CHECK(kept(*ended) < 31);
    const Scene written = Scene::load(scene.file);
    scene.session.send(Seek{30});
    for (const std::int64_t iteration : {0, 5, 10, 15, 20, 25, 30, 0}) {
        scene.session.send(ShowIteration{iteration});
        const auto shown = scene.wait([&](const Snapshot& s) {
            CHECK(s.memory.frame_bytes <= limit);
            // The loss comes a little later than the last step.
            return s.optimization.shown_iteration == iteration && s.run.steps_computed == 30 &&
                   !std::isnan(s.run.loss);
        });
        const render::Frame frame = scene.frame_at(30);
        const auto& row = (*ended->optimization.history)[static_cast<std::size_t>(iteration)];
        CHECK(shown->run.loss == row.loss);
        CHECK(scene.exchange->read(frame, "position") == position_after(written, *row.parameters));
    }
}

TEST_CASE("session: a branch goes on from an older iteration") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto before = scene.optimize();
    scene.session.send(Branch{10});
    scene.session.send(Optimize{Optimize::What::one});
    const auto after = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.optimization.history->size() == 32;
    });
    const IterationInfo& row = after->optimization.history->back();
    CHECK(row.iteration == 31);
    CHECK(row.branched_from == 10);
    // Gradient descent has no memory: the same row as the one after iteration 10.
    CHECK(row.loss == (*before->optimization.history)[11].loss);
}

TEST_CASE("session: accepting writes the parameters that are shown, and nothing else") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto ended = scene.optimize();
    scene.session.send(ShowIteration{7});
    scene.wait([](const Snapshot& s) { return s.optimization.shown_iteration == 7; });
    scene.session.send(Accept{41});
    const auto answered = scene.wait([](const Snapshot& s) { return s.handover.answer_to == 41; });
    CHECK(answered->handover.answer_name == "Accept iteration 7");
    document::Document expected = *scene.document;
    expected.set("/forces/0/rest_length",
                 document::written_form(*(*ended->optimization.history)[7].parameters, 1, false));
    CHECK(answered->handover.answer->to_text() == expected.to_text());
    // Its values are those of that iteration from then on, in the scene as it runs.
    const auto applied = scene.apply(*answered->handover.answer);
    CHECK_FALSE(applied->reports.error);
    scene.session.send(ShowIteration{});
    const auto shown = scene.wait([&](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.values.flat &&
               *s.values.flat == *(*ended->optimization.history)[7].parameters &&
               s.run.steps_computed == 30;
    });
    CHECK(shown->run.loss == (*ended->optimization.history)[7].loss);
    scene.session.send(Revert{});
    scene.session.send(Reset{});
    const auto reset = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.run.step == 0 &&
               s.run.steps_computed == 30;
    });
    CHECK(*reset->values.flat == *(*ended->optimization.history)[7].parameters);
    // Nothing is lost: the iterations can be shown, and others follow them.
    REQUIRE(reset->optimization.history->size() == ended->optimization.history->size());
    scene.session.send(ShowIteration{3});
    const auto third = scene.wait([](const Snapshot& s) {
        return s.optimization.shown_iteration == 3 && s.run.steps_computed == 30;
    });
    CHECK(third->run.loss == (*ended->optimization.history)[3].loss);
    scene.session.send(Reset{});
    scene.session.send(Optimize{Optimize::What::one});
    const auto more = scene.wait([&](const Snapshot& s) {
        return s.reports.activity == Activity::idle &&
               s.optimization.history->size() == ended->optimization.history->size() + 2;
    });
    CHECK(*(*more->optimization.history)[ended->optimization.history->size()].parameters ==
          *(*ended->optimization.history)[7].parameters);
}

TEST_CASE("session: what iterations hold is bounded, shown, and thinned out evenly") {
    const auto optimized = [](std::int64_t memory) {
        auto scene = std::make_unique<OpenScene>(test::scene_file("spring_cage.json"), memory);
        scene->optimize();
        return scene;
    };
    const auto all = optimized(64 << 20), few = optimized(24'000);
    const auto every = all->session.snapshot();
    const auto kept =
        few->wait([](const Snapshot& s) { return s.optimization.history->size() == 31; });
    const auto parameters =
        static_cast<std::int64_t>(every->optimization.history->front().parameters->size());
    const std::int64_t row = std::int64_t{2} * 8 * parameters;  // with the gradient
    CHECK(every->memory.iteration_bytes == 31 * row);
    CHECK(kept->memory.iteration_bytes <= 24'000 / 8);
    CHECK(kept->memory.frame_bytes >= kept->memory.iteration_bytes);
    std::int64_t held = 0, gone = 0, farthest = 0, last = 0;
    for (const IterationInfo& i : *kept->optimization.history) {
        held += i.parameters ? row / 2 : 0;
        held += i.gradient ? row / 2 : 0;
        CHECK(i.can_show == (i.parameters != nullptr));
        CHECK(i.loss == (*every->optimization.history)[static_cast<std::size_t>(i.iteration)].loss);
        if (!i.can_show) {
            ++gone;
            continue;
        }
        farthest = std::max(farthest, i.iteration - last);
        last = i.iteration;
    }
    CHECK(held == kept->memory.iteration_bytes);
    CHECK(gone > 0);
    CHECK(kept->optimization.history->front().can_show);
    CHECK(kept->optimization.history->back().can_show);
    CHECK((*kept->optimization.history)[static_cast<std::size_t>(kept->optimization.best_iteration)]
              .can_show);
    CHECK(farthest <= 4);
    // A row without its gradient gets it back, bit for bit, when it is shown.
    const auto bare = std::ranges::find_if(*kept->optimization.history, [](const IterationInfo& i) {
        return i.can_show && !i.gradient;
    });
    REQUIRE(bare != kept->optimization.history->end());
    few->session.send(ShowIteration{bare->iteration});
    const auto shown = few->wait([&](const Snapshot& s) {
        return s.optimization.shown_iteration == bare->iteration && s.values.gradient != nullptr;
    });
    CHECK(*shown->values.gradient ==
          *(*every->optimization.history)[static_cast<std::size_t>(bare->iteration)].gradient);
    // One that cannot be shown says so.
    const auto lost =
        std::ranges::find(*kept->optimization.history, false, &IterationInfo::can_show);
    few->session.send(ShowIteration{lost->iteration});
    few->wait([&](const Snapshot& s) {
        return s.reports.log &&
               s.reports.log->back().text.find("cannot be shown") != std::string::npos;
    });
}

TEST_CASE("session: a history of more iterations than are kept is the coarser the older it is") {
    session::SessionOptions options = OpenScene::options(64 << 20);
    options.most_iterations = 40;
    OpenScene scene(test::scene_file("spring_cage.json"), options),
        whole(test::scene_file("spring_cage.json"));
    for (OpenScene* s : {&scene, &whole})
        for (int runs = 0; runs < 5; ++runs) {  // of 30 iterations each
            s->session.send(Optimize{Optimize::What::start});
            s->wait([&](const Snapshot& now) {
                return now.reports.activity == Activity::idle &&
                       !now.optimization.history->empty() &&
                       now.optimization.history->back().iteration == std::int64_t{30} * (runs + 1);
            });
        }
    const auto kept = scene.session.snapshot(), every = whole.session.snapshot();
    REQUIRE(every->optimization.history->size() == 151);
    CHECK(kept->optimization.history->size() <= 40);
    CHECK(kept->optimization.history->size() >= 20);
    CHECK(kept->optimization.history->front().iteration == 0);
    CHECK(kept->optimization.history->back().iteration == 150);
    CHECK(kept->optimization.best_iteration == every->optimization.best_iteration);
    std::int64_t before = -1, bytes = 0;
    bool best = false;
    for (const IterationInfo& row : *kept->optimization.history) {
        CHECK(row.iteration > before);
        before = row.iteration;
        best |= row.iteration == kept->optimization.best_iteration;
        CHECK(row.loss ==
              (*every->optimization.history)[static_cast<std::size_t>(row.iteration)].loss);
        bytes += static_cast<std::int64_t>(row.parameters->size() + row.gradient->size()) * 8;
    }
    CHECK(best);
    CHECK(kept->memory.iteration_bytes == bytes);
    // One that is gone: the one before it that was kept is shown.
    std::size_t gap = 1;
    while ((*kept->optimization.history)[gap].iteration ==
           (*kept->optimization.history)[gap - 1].iteration + 1)
        ++gap;
    const std::int64_t there = (*kept->optimization.history)[gap - 1].iteration;
    scene.session.send(ShowIteration{there + 1});
    const auto shown = scene.wait([&](const Snapshot& s) {
        return s.optimization.shown_iteration == there && s.run.steps_computed == s.run.steps;
    });
    CHECK(shown->run.loss == (*every->optimization.history)[static_cast<std::size_t>(there)].loss);
}
