// Edits of a scene that runs and optimizes: none is lost, a failed one keeps what was there.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/backend/text/kernel_text.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/session/support.hpp"
#include "tests/support/scenes.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;
using document::Node;

namespace {

double loss_of(const Document& document, const std::filesystem::path& file,
               const std::vector<double>& parameters) {
    Simulation simulation(Scene::of(document, file), test::all_modules(),
                          OpenScene::options(0).simulation);
    if (!parameters.empty()) simulation.parameters().set_values(parameters);
    return simulation.run();
}

}  // namespace

TEST_CASE("session: an edited number changes the scene that runs, and nothing is built anew") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto before = scene.wait_complete();
    scene.session.send(Seek{30});
    Document changed = *scene.document;
    changed.set("/forces/0/stiffness", 50);
    changed.set("/objective/0/target/0", 0.5);
    const auto applied = scene.apply(changed);
    CHECK_FALSE(applied->reports.error);
    CHECK(applied->scene.stage == before->scene.stage);
    const double expected = loss_of(changed, scene.file, {});
    const auto shown = scene.wait([&](const Snapshot& s) { return s.run.loss == expected; });
    for (const QuantityInfo& q : shown->values.quantities)
        if (q.path == "cage.stiffness") CHECK(q.values == std::vector<double>{50});
    // Markers are drawn where the target is now.
    bool found = false;
    const render::Frame frame = scene.frame_at(30);
    for (std::size_t t = 0; t < shown->scene.stage->drawables.size(); ++t)
        if (shown->scene.stage->drawables[t].kind == render::Drawable::Kind::markers) {
            found = true;
            CHECK(frame.numbers[t] == std::vector<double>{0.5, 0.125, 0.25});
        }
    CHECK(found);
    // Undo, as the editor does it: the document before.
    scene.apply(*test::load_document(scene.file));
    scene.wait([&](const Snapshot& s) { return s.run.loss == before->run.loss; });
}

TEST_CASE("session: a moved body is built anew, since lengths at rest depend on it") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    Document changed = *scene.document;
    changed.set("/bodies/0/positions/0/0", 0.1);
    CHECK_FALSE(scene.apply(changed)->reports.error);
    const double expected = loss_of(changed, scene.file, {});
    scene.wait([&](const Snapshot& s) { return s.run.loss == expected; });
}

TEST_CASE("session: edits while it optimizes act at the next iteration, none is lost") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    Document changed = *scene.document;
    changed.set("/optimizer/iterations", 1000000);
    changed.set("/optimizer/rate", 1e-6);  // so that it stays where it is put
    scene.apply(changed);
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) {
        return s.optimization.history && s.optimization.history->size() > 20;
    });
    // A slider that is dragged, a target that is moved, and a parameter set by hand.
    for (int k = 1; k <= 10; ++k) {
        changed.set("/forces/0/stiffness", 100 + k);
        changed.set("/objective/0/target/2", 0.25 + 0.01 * k);
        scene.apply(changed);
    }
    Node lengths = Node::array();
    for (int k = 0; k < 8; ++k) lengths.push_back(Node(2.0 + 0.05 * k));
    changed.set("/forces/0/rest_length", lengths);
    const auto applied = scene.apply(changed);
    CHECK_FALSE(applied->reports.error);
    // The optimizer has gone on from the lengths by hand, which are far from all others.
    const auto is_near = [](const IterationInfo& row) {
        return row.parameters->front() > 1.7 && row.parameters->back() > 1.9;
    };
    CHECK_FALSE(is_near(scene.session.snapshot()->optimization.history->front()));
    scene.wait([&](const Snapshot& s) { return is_near(s.optimization.history->back()); });
    scene.session.send(Optimize{Optimize::What::stop});
    const auto ended = scene.wait_ended();
    for (const IterationInfo& row : *ended->optimization.history) CHECK(row.can_show);
    // Its rows are those of the scene as it is now.
    CHECK(loss_of(changed, scene.file, *ended->optimization.history->back().parameters) ==
          ended->optimization.history->back().loss);
}

TEST_CASE("session: what needs a new build while it optimizes goes on with its parameters") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    Document changed = *scene.document;
    changed.set("/optimizer/iterations", 1000000);
    scene.apply(changed);
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) {
        return s.optimization.history && s.optimization.history->size() > 20;
    });
    changed.set("/forces/-",
                Document::parse(R"({"type": "drag", "name": "air", "linear": 0.01})").root());
    CHECK_FALSE(scene.apply(changed)->reports.error);
    scene.wait([](const Snapshot& s) {
        return s.optimization.history->back().build == s.scene.build &&
               s.optimization.history->back().loss < 1e-3;
    });
    scene.session.send(Optimize{Optimize::What::stop});
    const auto ended = scene.wait_ended();
    CHECK_FALSE(ended->reports.error);
    const IterationInfo &first = ended->optimization.history->front(),
                        &last = ended->optimization.history->back();
    CHECK(first.build != last.build);
    CHECK(last.build == ended->scene.build);
    CHECK(last.loss < 1e-3);
    CHECK(loss_of(changed, scene.file, *last.parameters) == last.loss);
    // An iteration of the older scene can still be looked at.
    scene.session.send(ShowIteration{0});
    scene.wait([&](const Snapshot& s) {
        return s.optimization.shown_iteration == 0 && s.scene.shown_build == first.build &&
               s.run.loss == first.loss;
    });
}

TEST_CASE("session: a failed edit keeps the old scene, and says where the fault is") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto before = scene.wait_complete();
    Document changed = *scene.document;
    changed.set("/forces/0/stiffness", -1);
    const auto failed = scene.apply(changed);
    REQUIRE(failed->reports.error);
    CHECK(failed->reports.error->json_pointer() == "/forces/0/stiffness");
    CHECK(failed->reports.error->place().line ==
          21);  // of the force: the number is not in the file
    CHECK(failed->handover.revision == scene.revision - 1);
    CHECK(failed->handover.applied_revision == scene.revision);
    CHECK(failed->scene.stage == before->scene.stage);
    scene.session.send(Seek{12});
    scene.frame_at(12);
    // A fault that stands in a text is where it stands.
    std::string text = scene.document->to_text();
    text.replace(text.find("\"ball\", 0"), 6, "\"bell\"");
    const auto misspelled = scene.apply(Document::parse(text, "scene.json"));
    REQUIRE(misspelled->reports.error);
    CHECK(misspelled->reports.error->place().line > 20);
    // Without objective or parameters there is nothing to optimize: said, and the program goes on.
    changed = *test::load_document(scene.file);
    changed.erase("/parameters");
    CHECK_FALSE(scene.apply(changed)->reports.error);
    scene.session.send(Optimize{Optimize::What::start});
    const auto refused = scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });
    CHECK(std::string(refused->reports.error->what()).find("no parameters") != std::string::npos);
    CHECK_FALSE(scene.apply(*test::load_document(scene.file))->reports.error);
    scene.wait([&](const Snapshot& s) { return s.run.loss == before->run.loss; });
}

TEST_CASE("session: a scene that diverges, and one without memory for gradients, are told") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    Document changed = *scene.document;
    changed.set("/forces/0/stiffness", 1e30);
    scene.apply(changed);
    const auto diverged = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.reports.error != nullptr;
    });
    CHECK(std::isnan(diverged->run.loss));
    const auto ended = scene.optimize();
    CHECK(ended->optimization.history->empty());
    CHECK_FALSE(scene.apply(*test::load_document(scene.file))->reports.error);
    changed = *scene.document;
    changed.set("/gradients", Node::object({{"memory", "100 bytes"}}));
    scene.apply(changed);
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.reports.error != nullptr &&
               s.run.steps_computed == s.run.steps;
    });
}

TEST_CASE("session: a long step blocks neither commands nor snapshots, nor the end") {
    // One step of the scene has so many substeps that it takes minutes.
    const auto before = test::load_document(test::scene_file("spring_cage.json"));
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    Document changed = *before;
    changed.set("/time/substeps", 100000);
    changed.set("/time/steps", 1000);
    scene.session.send(Apply{std::make_shared<const Document>(changed), 99, scene.file, false});
    scene.wait([](const Snapshot& s) {
        return s.handover.revision == 99 && s.reports.activity == Activity::simulating;
    });
    scene.session.send(SetSpeed{3});
    scene.session.send(Play{true});
    scene.wait([](const Snapshot& s) { return s.run.playing && s.run.speed_asked == 3; });
}

TEST_CASE("session: the derivatives of the state are shown at the time that is gone to") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    scene.session.send(FrameContents{"position gradient", "position gradient", false});
    const Scene written = Scene::load(scene.file);
    Simulation alone(written, test::all_modules(), OpenScene::options(0).simulation);
    std::map<std::int64_t, std::vector<double>> expected;
    alone.run(true);
    alone.rollout().watch_adjoints([&](std::int64_t t) {
        expected[t] = alone.model().array("position").gradient().to_doubles();
    });
    alone.gradient();
    for (const std::int64_t step : {30, 11, 0}) {
        scene.session.send(Seek{step});
        std::vector<double> arrows;
        scene.wait([&](const Snapshot& s) {
            if (s.run.step != step) return false;
            const auto frame = scene.exchange->acquire();
            if (!frame || frame->step != step) return false;
            arrows = scene.exchange->read(*frame, "arrows");
            return arrows == expected[step];
        });
        const auto colors = scene.exchange->read(*scene.exchange->acquire(), "point color");
        CHECK(colors[0] == doctest::Approx(std::hypot(arrows[0], arrows[1], arrows[2])));
    }
    scene.session.send(FrameContents{"cage.rest_length gradient", "", false});
    scene.wait([&](const Snapshot& s) {
        const auto frame = scene.exchange->acquire();
        if (!frame || !s.values.gradient) return false;
        const auto colors = scene.exchange->read(*frame, "cage color");
        for (std::size_t k = 0; k < 8; ++k)
            if (colors[k] != static_cast<float>((*s.values.gradient)[k])) return false;
        return true;
    });
    scene.session.send(
        FrameContents{"force", "force", false});  // an array that frames did not hold
    scene.wait([&](const Snapshot&) {
        const auto frame = scene.exchange->acquire();
        return frame && frame->step == 0 &&
               !std::isnan(scene.exchange->read(*frame, "point color")[0]);
    });
}

TEST_CASE("session: the objective's terms have names while a run goes on, and no values") {
    OpenScene scene(test::scene_file("hanging_net.json"));
    bool named = true, valued = false;
    scene.wait([&](const Snapshot& s) {
        if (s.run.steps_computed == 0) return false;
        const bool complete = !std::isnan(s.run.loss);
        named &= s.run.terms.size() == 1 && !s.run.terms.front().name.empty();
        valued |= !complete && !std::isnan(s.run.terms.front().value);
        return complete;
    });
    CHECK(named);
    CHECK_FALSE(valued);
}

TEST_CASE("session: check, scan and profile") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    scene.session.send(CheckGradient{});
    const auto checked = scene.wait([](const Snapshot& s) { return s.tools.check != nullptr; });
    CHECK(checked->tools.check->size() == 16);  // 8 entries, 8 directions
    for (const CheckRow& row : *checked->tools.check) CHECK(row.passed);

    Scan scan;
    scan.names = {"cage.rest_length[0]", ""};
    scan.count = 11;
    scene.session.send(scan);
    auto scanned =
        scene.wait([](const Snapshot& s) { return s.tools.landscape && s.tools.landscape->done; });
    const Landscape& line = *scanned->tools.landscape;
    REQUIRE(line.losses.size() == 11);
    CHECK(line.slope[0] == (*scanned->values.gradient)[0]);
    CHECK(line.losses[5] == doctest::Approx(scanned->run.loss));  // the middle
    scan.names[1] = "cage.rest_length[3]";
    scene.session.send(scan);
    scanned = scene.wait([](const Snapshot& s) {
        return s.tools.landscape && s.tools.landscape->done &&
               s.tools.landscape->losses.size() == 121;
    });
    // Every point is that of a run of its own, in whatever groups they were run.
    const Landscape& square = *scanned->tools.landscape;
    Simulation alone(Scene::of(*scene.document, scene.file), test::all_modules(),
                     OpenScene::options(0).simulation);
    const std::vector<double> center = alone.parameters().values();
    const std::vector<std::string>& names = alone.parameters().names();
    for (std::size_t k = 0; k < square.losses.size(); ++k) {
        std::vector<double> values = center;
        for (std::size_t d = 0; d < 2; ++d) {
            const auto entry = std::find(names.begin(), names.end(), scan.names[d]);
            REQUIRE(entry != names.end());
            const double part = static_cast<double>(d == 0 ? k % 11 : k / 11) / 10.0;
            values[static_cast<std::size_t>(entry - names.begin())] =
                square.range[d][0] + part * (square.range[d][1] - square.range[d][0]);
        }
        alone.parameters().set_values(values);
        CHECK(alone.run() == square.losses[k]);
    }
    scan.names[0] = "cage.nothing";
    scene.session.send(scan);
    scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });

    scene.session.send(Profile{true});
    const auto profiled = scene.wait([](const Snapshot& s) { return !s.tools.launches.empty(); });
    for (const LaunchInfo& launch : profiled->tools.launches) {
        CAPTURE(launch.name);
        CHECK(launch.runs > 0);
        CHECK(launch.bytes > 0);
    }
    CHECK_FALSE(profiled->memory.checkpoint_plan.empty());
    // Each part of the energy, and their sum, which the damping of the cage makes smaller.
    const auto& series = profiled->run.series;
    for (const char* name :
         {"kinetic energy", "gravitational energy", "elastic energy of cage", "sum of energies"}) {
        CAPTURE(name);
        REQUIRE(series.contains(name));
        REQUIRE(series.at(name).size() == 31);
    }
    const auto& sum = series.at("sum of energies");
    for (std::size_t k = 0; k < 31; ++k)
        CHECK(sum[k] == series.at("kinetic energy")[k] + series.at("elastic energy of cage")[k] +
                            series.at("gravitational energy")[k]);
}

TEST_CASE("session: what launches become, as text, without disturbing what runs") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    scene.session.send(Profile{true});
    const auto profiled = scene.wait([](const Snapshot& s) {
        return std::ranges::any_of(s.tools.launches,
                                   [](const LaunchInfo& l) {
                                       return l.direction == Direction::adjoint &&
                                              l.name.find("cage") != std::string::npos;
                                   }) &&
               s.reports.activity == Activity::idle;
    });
    const auto text = [&](LaunchText asked) {
        scene.session.send(asked);
        return scene
            .wait([&](const Snapshot& s) {
                return s.tools.launch_text && s.tools.launch_text->asked == asked;
            })
            ->tools.launch_text;
    };
    for (const LaunchInfo& l : profiled->tools.launches) {
        CAPTURE(l.name);
        CAPTURE(name_of(l.direction));
        const auto ir = text({l.name, l.direction, l.direction, backend::KernelText::ir});
        CHECK(ir->problem == "");
        CHECK(ir->text.find("kernel ") != std::string::npos);
        const auto cuda = text({l.name, l.direction, l.direction, backend::KernelText::cuda});
        CHECK(cuda->problem == "");
        CHECK(cuda->text.find("extern \"C\" __global__ void") != std::string::npos);
        // The adjoint of what ran forwards: there is one, or it is said why not.
        const auto adjoint =
            text({l.name, l.direction, Direction::adjoint, backend::KernelText::ir});
        CHECK((adjoint->problem.empty() ? adjoint->text.find("kernel ") != std::string::npos
                                        : adjoint->text.empty()));
    }
    const auto none =
        text({"nobody", Direction::forward, Direction::forward, backend::KernelText::ir});
    CHECK(none->problem.find("nobody") != std::string::npos);
    CHECK_FALSE(scene.session.snapshot()->reports.error);
    // Answered while an optimization runs, which goes on.
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) {
        return s.optimization.history && !s.optimization.history->empty();
    });
    const LaunchInfo& first = profiled->tools.launches.front();
    text({first.name, first.direction, first.direction, backend::KernelText::cuda});
    scene.wait([](const Snapshot& s) {
        return s.optimization.history && static_cast<std::int64_t>(s.optimization.history->size()) >
                                             s.optimization.iterations_planned;
    });
}

TEST_CASE("session: every bundled scene is opened, drawn and run to its end") {
    for (const auto& file : test::bundled_scenes()) {
        CAPTURE(file.string());
        {
            Simulation simulation(Scene::load(file), test::all_modules(),
                                  OpenScene::options(0).simulation);
            if (!test::affordable(simulation)) continue;
        }
        OpenScene scene(file);
        const auto snapshot = scene.wait_complete();
        CHECK_FALSE(snapshot->reports.error);
        CHECK(snapshot->scene.stage->drawables.size() > 0);
        scene.session.send(Seek{snapshot->run.steps});
        scene.frame_at(snapshot->run.steps);
        for (const ShownField& field : snapshot->view.colors)
            if (!field.gradient) scene.session.send(FrameContents{field.name, "", false});
    }
}
