// Iterations of a scene before an edit: shown again bit for bit, as a ghost, with gradients; gone
// back to; within their memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "engine/document/npy.hpp"
#include "tests/session/support.hpp"
#include "tests/support/software_cuda.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;
using document::Node;

namespace {

// The positions at a whole step in a run of the document alone.
std::vector<double> positions(const Document& document, const std::vector<double>& parameters,
                              std::int64_t step) {
    const Scene scene = Scene::of(document, {});
    Simulation simulation(scene, test::all_modules(), OpenScene::options(0).simulation);
    simulation.parameters().set_values(parameters);
    std::vector<double> places;
    simulation.run(false, [&](std::int64_t done) {
        if (done == step * scene.substeps())
            places = simulation.model().array("position").to_doubles();
        return true;
    });
    return places;
}

// The cage with one more body, which makes the stage another one.
Document with_body(const Document& document) {
    Document changed = document;
    changed.set("/bodies/-", Document::parse(R"({"type": "particles", "name": "stone",
        "positions": [[2, 0, 1], [2, 1, 1]], "mass": 1})")
                                 .root());
    return changed;
}

// The cage in air: what moves is the same, the way it goes is not.
Document in_air(const Document& document) {
    Document changed = document;
    changed.set("/forces/-",
                Document::parse(R"({"type": "drag", "name": "air", "linear": 0.5})").root());
    return changed;
}

// A window does it: whenever another stage is shown, frames go to memory of its shape.
void connect(OpenScene& scene, const std::function<bool(const Snapshot&)>& condition) {
    const auto snapshot = scene.wait(condition);
    if (&scene.exchange->stage() == snapshot->scene.stage.get()) return;
    scene.exchange = std::make_shared<test::PlainExchange>(snapshot->scene.stage);
    scene.session.send(ShowOn{scene.exchange});
}

void show(OpenScene& scene, std::int64_t iteration) {
    scene.session.send(ShowIteration{iteration});
    connect(scene, [&](const Snapshot& s) { return s.optimization.shown_iteration == iteration; });
}

bool has(const std::vector<ShownField>& fields, const std::string& name) {
    return std::ranges::find(fields, name, &ShownField::name) != fields.end();
}

}  // namespace

TEST_CASE("session: iterations of the scene before an edit are shown as they were, bit for bit") {
    // Once with the frames still in memory, once run again by a simulation that is built for it.
    for (const std::int64_t memory : {std::int64_t{64} << 20, std::int64_t{200'000}}) {
        CAPTURE(memory);
        OpenScene scene(test::scene_file("spring_cage.json"), memory);
        const Document before = *scene.document;
        const auto ended = scene.optimize();
        scene.session.send(Seek{17});
        std::map<std::int64_t, std::vector<double>> kept;
        for (const std::int64_t iteration : {3, 12, 30}) {
            show(scene, iteration);
            kept[iteration] = scene.exchange->read(scene.frame_at(17), "position");
        }
        const Document after = with_body(before);
        CHECK_FALSE(scene.apply(after)->reports.error);
        connect(scene, [&](const Snapshot& s) {
            return s.scene.shown_build == s.scene.build && s.scene.build != ended->scene.build &&
                   s.reports.activity == Activity::idle && s.run.steps_computed == s.run.steps;
        });
        CHECK(scene.exchange->read(scene.frame_at(17), "position").size() == 33);

        for (const std::int64_t iteration : {3, 30, 12}) {
            CAPTURE(iteration);
            show(scene, iteration);
            const auto shown = scene.wait([&](const Snapshot& s) {
                return s.run.steps_computed == s.run.steps &&
                       s.optimization.shown_iteration == iteration;
            });
            CHECK(shown->scene.shown_build == ended->scene.build);
            CHECK(shown->shows_older_scene());
            CHECK(shown->memory.frame_bytes <= memory);
            const auto frame = scene.frame_at(17);
            CHECK(frame.iteration == iteration);
            CHECK(scene.exchange->read(frame, "position") == kept[iteration]);
            CHECK(
                kept[iteration] ==
                positions(
                    before,
                    *(*ended->optimization.history)[static_cast<std::size_t>(iteration)].parameters,
                    17));
            CHECK(shown->run.loss ==
                  (*ended->optimization.history)[static_cast<std::size_t>(iteration)].loss);
            // What is told of the picture is of that scene; what is edited is of the newer one.
            CHECK(has(shown->view.colors, "cage.rest_length gradient"));
            CHECK(shown->values.quantities.size() < shown->values.present_quantities().size());
            CHECK(std::ranges::none_of(shown->values.quantities, [](const QuantityInfo& q) {
                return q.path.starts_with("stone");
            }));
            CHECK(std::ranges::any_of(
                shown->values.present_quantities(),
                [](const QuantityInfo& q) { return q.path.starts_with("stone"); }));
        }
        // Back to the newest: the second simulation goes.
        scene.session.send(ShowIteration{});
        connect(scene, [](const Snapshot& s) {
            return s.scene.shown_build == s.scene.build && s.reports.activity == Activity::idle &&
                   s.memory.older_simulation_bytes == 0;
        });
        CHECK(scene.exchange->read(scene.frame_at(17), "position").size() == 33);
        CHECK_FALSE(scene.session.snapshot()->reports.error);
    }
}

TEST_CASE("session: an older scene's gradients are its own") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const Document before = *scene.document;
    const auto ended = scene.optimize();
    scene.apply(with_body(before));
    scene.session.send(FrameContents{"position gradient", "position gradient", false});
    scene.session.send(Seek{11});
    show(scene, 4);
    Simulation alone(Scene::of(before, {}), test::all_modules(), OpenScene::options(0).simulation);
    alone.parameters().set_values(*(*ended->optimization.history)[4].parameters);
    std::vector<double> expected;
    alone.run(true);
    alone.rollout().watch_adjoints([&](std::int64_t t) {
        if (t == 11) expected = alone.model().array("position").gradient().to_doubles();
    });
    alone.gradient();
    const auto shown = scene.wait([&](const Snapshot& s) {
        const auto frame = scene.exchange->acquire();
        return s.optimization.shown_iteration == 4 && frame && frame->step == 11 &&
               scene.exchange->read(*frame, "arrows") == expected;
    });
    CHECK(*shown->values.gradient == *(*ended->optimization.history)[4].gradient);
    // A check and a scan are of what is shown, too.
    scene.session.send(CheckGradient{});
    const auto checked = scene.wait([](const Snapshot& s) { return s.tools.check != nullptr; });
    for (const CheckRow& row : *checked->tools.check) CHECK(row.passed);
    CHECK(checked->tools.check->front().gradient ==
          doctest::Approx((*ended->optimization.history)[4].gradient->front()).epsilon(1e-4));
    // What is pulled on, and accepted, is the scene as it is now.
    scene.session.send(Accept{7});
    const auto refused = scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });
    CHECK(std::string(refused->reports.error->what()).find("branch from it") != std::string::npos);
    CHECK(refused->handover.answer_to != 7);
}

TEST_CASE("session: a ghost of an older scene, where it fits and where it does not") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const Document before = *scene.document;
    const auto history = scene.optimize()->optimization.history;
    scene.session.send(Ghost{12});
    scene.apply(in_air(before));
    connect(scene, [](const Snapshot& s) {
        return s.scene.shown_build == s.scene.build && s.reports.activity == Activity::idle;
    });
    scene.session.send(Seek{30});
    const std::vector<double> expected = positions(before, *(*history)[12].parameters, 30);
    auto shown = scene.wait([&](const Snapshot& s) {
        const auto frame = scene.exchange->acquire();
        return s.optimization.ghost_iteration == 12 && frame && frame->step == 30 &&
               scene.exchange->read(*frame, "ghost position") == expected;
    });
    CHECK(shown->optimization.ghost_problem == "");
    CHECK(scene.exchange->read(scene.frame_at(30), "position") != expected);
    // Half the step, twice as many: the ghost is at the same time.
    Document finer = in_air(before);
    finer.set("/time/step", "1/60");
    finer.set("/time/steps", 60);
    scene.apply(finer);
    connect(scene, [](const Snapshot& s) {
        return s.scene.shown_build == s.scene.build && s.run.steps == 60 &&
               s.reports.activity == Activity::idle;
    });
    CHECK(scene.session.snapshot()->run.step == 60);  // the time has stayed
    scene.session.send(Seek{34});
    const std::vector<double> middle = positions(before, *(*history)[12].parameters, 17);
    scene.wait([&](const Snapshot&) {
        const auto frame = scene.exchange->acquire();
        return frame && frame->step == 34 &&
               scene.exchange->read(*frame, "ghost position") == middle;
    });
    // Of another number of points it cannot be drawn: said once, and as long as it is so.
    scene.apply(with_body(before));
    connect(scene, [](const Snapshot& s) {
        return s.scene.shown_build == s.scene.build && s.reports.activity == Activity::idle &&
               !s.optimization.ghost_problem.empty();
    });
    const auto said = scene.wait([](const Snapshot& s) {
        return s.reports.log && std::ranges::any_of(*s.reports.log, [](const LogLine& l) {
                   return l.text.find("ghost of iteration 12 cannot be drawn") != std::string::npos;
               });
    });
    CHECK(std::ranges::count_if(*said->reports.log, [](const LogLine& l) {
              return l.text.find("ghost of iteration") != std::string::npos;
          }) == 1);
    CHECK(std::isnan(scene.exchange->read(scene.frame_at(17), "ghost position").front()));
}

TEST_CASE("session: on a CUDA device, an older scene beside the newer one") {
    NEEDS_SOFTWARE_CUDA();
    const test::Software software("");
    SessionOptions options = OpenScene::options(200'000);
    options.simulation.device = test::fresh_device();
    OpenScene scene(test::scene_file("spring_cage.json"), options);
    const Document before = *scene.document;
    const auto history = scene.optimize()->optimization.history;
    scene.apply(with_body(before));
    scene.session.send(Seek{17});
    for (const std::int64_t iteration : {3, 30, 12}) {
        CAPTURE(iteration);
        show(scene, iteration);
        const auto& row = (*history)[static_cast<std::size_t>(iteration)];
        CHECK(scene.exchange->read(scene.frame_at(17), "position") ==
              positions(before, *row.parameters, 17));
    }
    scene.session.send(ShowIteration{});
    connect(scene, [](const Snapshot& s) {
        return s.scene.shown_build == s.scene.build && s.reports.activity == Activity::idle &&
               s.memory.older_simulation_bytes == 0;
    });
    scene.frame_at(17);
    scene.apply(in_air(before));
    scene.session.send(Ghost{12});
    connect(scene, [](const Snapshot& s) {
        return s.scene.shown_build == s.scene.build && s.reports.activity == Activity::idle;
    });
    const std::vector<double> expected = positions(before, *(*history)[12].parameters, 17);
    scene.wait([&](const Snapshot&) {
        const auto frame = scene.exchange->acquire();
        return frame && frame->step == 17 &&
               scene.exchange->read(*frame, "ghost position") == expected;
    });
    CHECK_FALSE(scene.session.snapshot()->reports.error);
}

TEST_CASE("session: going back to a document makes its iterations those of the scene") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const Document before = *scene.document;
    const auto ended = scene.optimize();
    scene.apply(with_body(before));
    scene.session.send(Optimize{Optimize::What::one});
    const auto newer = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle &&
               s.optimization.history->back().build == s.scene.build;
    });
    CHECK(newer->optimization.best_iteration > 30);
    // A branch answers with the scene as it was; applied, it goes on there.
    scene.session.send(Branch{10, 5});
    const auto answered = scene.wait([](const Snapshot& s) { return s.handover.answer_to == 5; });
    CHECK(answered->handover.answer_name == "Branch from iteration 10");
    CHECK(answered->handover.answer->to_text() == before.to_text());
    const auto back = scene.apply(*answered->handover.answer);
    CHECK_FALSE(back->reports.error);
    scene.session.send(Branch{10});
    scene.session.send(Optimize{Optimize::What::one});
    const std::size_t rows = newer->optimization.history->size();
    const auto branched = scene.wait([&](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.optimization.history->size() == rows + 1;
    });
    CHECK(branched->scene.build == ended->scene.build);
    const IterationInfo& row = branched->optimization.history->back();
    CHECK(row.branched_from == 10);
    CHECK(row.build == ended->scene.build);
    // Gradient descent has no memory: the same row as the one after iteration 10.
    CHECK(row.loss == (*ended->optimization.history)[11].loss);
    CHECK(branched->optimization.best_iteration == 30);
    // What was newer is the older now; without a number a branch from it is refused.
    scene.session.send(Branch{static_cast<std::int64_t>(rows) - 1});
    const auto refused = scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });
    CHECK(std::string(refused->reports.error->what()).find("before an edit") != std::string::npos);
    // Undone: the newer one once more, with its iterations.
    scene.apply(with_body(before));
    scene.wait([&](const Snapshot& s) { return s.scene.build == newer->scene.build; });
}

TEST_CASE("session: iterations from before a number was changed, and a scene after it") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    Document first = *scene.document;
    scene.session.send(Optimize{Optimize::What::one});
    scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.optimization.history &&
               s.optimization.history->size() == 2;
    });
    Document second = first;
    second.set("/forces/0/stiffness", 60);
    scene.apply(second);
    scene.session.send(Optimize{Optimize::What::one});
    const auto both = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.optimization.history->size() == 3;
    });
    CHECK(both->optimization.history->front().build == both->optimization.history->back().build);
    scene.apply(with_body(second));
    scene.session.send(Seek{30});
    for (const std::int64_t iteration : {0, 2}) {
        show(scene, iteration);
        CHECK(scene.exchange->read(scene.frame_at(30), "position") ==
              positions(
                  iteration == 0 ? first : second,
                  *(*both->optimization.history)[static_cast<std::size_t>(iteration)].parameters,
                  30));
    }
    // An edit is seen where it acts.
    Document third = with_body(second);
    third.set("/forces/0/stiffness", 70);
    scene.apply(third);
    connect(scene, [](const Snapshot& s) { return s.scene.shown_build == s.scene.build; });
    // Another scene has no history of this one.
    scene.apply(first, true);
    const auto fresh = scene.wait([](const Snapshot& s) {
        return s.optimization.history->empty() && s.reports.activity == Activity::idle;
    });
    CHECK(fresh->memory.older_scene_bytes == 0);
}

TEST_CASE("session: older scenes are kept as far as memory goes, and then told") {
    // A document of some kB; an eighth of the memory is for older ones.
    constexpr std::int64_t limit = 160'000;
    OpenScene scene(test::scene_file("spring_cage.json"), limit);
    const Document first = *scene.document;
    for (int k = 1; k <= 8; ++k) {
        scene.session.send(Optimize{Optimize::What::one});
        scene.wait([&](const Snapshot& s) {
            return s.reports.activity == Activity::idle && s.optimization.history &&
                   !s.optimization.history->empty() &&
                   s.optimization.history->back().build == s.scene.build;
        });
        Document next = first;
        next.set("/time/steps", 30 + k);
        scene.apply(next);
        const auto now = scene.wait_complete();
        CHECK(now->memory.frame_bytes <= limit);
        CHECK(now->memory.older_scene_bytes > 0);
        CHECK(now->memory.older_scene_bytes <= limit / 8);
    }
    const auto ended = scene.wait([](const Snapshot& s) {
        return !s.optimization.history->front().can_show && s.optimization.history->back().can_show;
    });
    const auto kept =
        std::ranges::count(*ended->optimization.history, true, &IterationInfo::can_show);
    CHECK(kept > 1);
    scene.session.send(ShowIteration{0});
    scene.wait([](const Snapshot& s) {
        return s.reports.log &&
               s.reports.log->back().text.find("cannot be shown") != std::string::npos;
    });
    const std::int64_t newest = ended->optimization.history->back().iteration;
    scene.session.send(ShowIteration{newest});
    const auto shown = scene.wait([&](const Snapshot& s) {
        return s.optimization.shown_iteration == newest && s.run.steps_computed == s.run.steps;
    });
    CHECK(shown->run.loss == ended->optimization.history->back().loss);
    CHECK(shown->run.steps == 37);
}

TEST_CASE("session: where a file that the older scene reads has changed, nothing wrong is shown") {
    test::TemporaryFolder folder;
    const auto file = folder.path() / "cage.json";
    std::vector<double> anchors{0.2,  -0.7, 0.8,  1.1, 0,    0.2,  -1.2, 0.1,  0.1, 0.4,  0.6, 0.4,
                                -0.2, 0.7,  -0.9, 0.1, -0.8, -0.8, -0.8, -0.9, 0.2, -0.1, 1,   0.4};
    const auto write = [&] {
        const std::int64_t shape[] = {static_cast<std::int64_t>(anchors.size()) / 3, 3};
        document::write_npy(folder.path() / "anchors.npy", std::span<const std::int64_t>(shape),
                            std::span<const double>(anchors));
    };
    Document document = *test::load_document(test::scene_file("spring_cage.json"));
    write();
    document.set("/bodies/1/positions", Node::object({{"file", "anchors.npy"}}));
    document.save(file);
    OpenScene scene(file, 160'000);  // not all iterations stay in memory
    const auto ended = scene.optimize();
    document.set("/forces/0/damping", 9);
    document.set("/time/steps", 31);
    scene.apply(document);
    const auto newer = scene.wait_complete();
    const auto gone =
        std::ranges::find(*newer->optimization.history, false, &IterationInfo::frames_kept);
    REQUIRE(gone != newer->optimization.history->end());
    scene.session.send(ShowIteration{gone->iteration});
    scene.wait([&](const Snapshot& s) { return s.run.loss == gone->loss; });
    scene.session.send(ShowIteration{});
    scene.wait([](const Snapshot& s) { return s.memory.older_simulation_bytes == 0; });
    // The numbers it was run with are kept, whatever the file has now.
    anchors[0] = 0.25;
    write();
    const auto other =
        std::ranges::find_if(*newer->optimization.history, [&](const IterationInfo& row) {
            return !row.frames_kept && row.iteration != gone->iteration;
        });
    REQUIRE(other != newer->optimization.history->end());
    scene.session.send(ShowIteration{other->iteration});
    scene.wait([&](const Snapshot& s) { return s.run.loss == other->loss; });
    scene.session.send(ShowIteration{});
    scene.wait([](const Snapshot& s) { return s.memory.older_simulation_bytes == 0; });
    // One anchor more is another scene.
    anchors.insert(anchors.end(), {0, 0, 2});
    write();
    const auto rows = scene.session.snapshot()->optimization.history;
    const auto last = std::ranges::find_if(*rows, [](const auto& row) { return !row.frames_kept; });
    REQUIRE(last != rows->end());
    scene.session.send(ShowIteration{last->iteration});
    const auto refused = scene.wait([](const Snapshot& s) {
        return s.reports.error != nullptr && s.reports.activity == Activity::idle &&
               s.scene.shown_build == s.scene.build;
    });
    CHECK(std::string(refused->reports.error->what()).find("has changed since") !=
          std::string::npos);
    CHECK(refused->scene.build == newer->scene.build);
    CHECK(refused->optimization.shown_iteration != last->iteration);
    CHECK_FALSE(ended->reports.error);
}
