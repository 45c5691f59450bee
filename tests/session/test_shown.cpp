// Stresses, tensions and contact forces: in frames only where somebody looks, also in frames that were
// recorded before.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "app/session/frames/frame_recorder.hpp"
#include "engine/model/shown.hpp"
#include "tests/session/support.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;

namespace {

// What is shown under a key after each whole step of a run of the scene alone.
std::vector<std::vector<double>> steps_of(Simulation& simulation, const std::string& key) {
    model::ShownValues values(simulation.model(), key);
    std::vector<std::vector<double>> steps;
    simulation.run(false, [&](std::int64_t) {
        values.evaluate();
        steps.push_back(values.values().to_doubles());
        return true;
    });
    return steps;
}

Simulation simulation_of(const Document& document) {
    return {Scene::of(document, {}), test::all_modules(), OpenScene::options(0).simulation};
}

// Asks for these contents; frames that come later than this have them.
void look(OpenScene& scene, const std::string& color, const std::string& arrows) {
    const FrameContents contents{color, arrows, false};
    scene.session.send(contents);
    scene.wait([&](const Snapshot& s) { return s.view.contents == contents; });
}

const ShownField* field_of(const std::vector<ShownField>& fields, const std::string& name) {
    const auto found = std::ranges::find(fields, name, &ShownField::name);
    return found == fields.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("session: stress is shown at steps that were recorded before it was chosen") {
    test::TemporaryFolder folder;
    const auto file = folder.path() / "beam.json";
    Document document = Document::load(test::scene_file("soft_beam.json"));
    document.set("/time/steps", 40);
    document.erase("/objective");
    document.erase("/parameters");
    if (document.find("/optimizer") != nullptr) document.erase("/optimizer");
    document.save(file);
    OpenScene scene(file);
    const auto complete = scene.wait_complete();
    scene.session.send(Seek{20});
    // Its own color, before anything is chosen.
    for (const double x : scene.exchange->read(scene.frame_at(20), "point color"))
        CHECK(std::isnan(x));
    const ShownField* const stress = field_of(complete->view.colors, "von Mises stress");
    REQUIRE(stress != nullptr);
    CHECK(stress->unit == "Pa");
    CHECK_FALSE(stress->gradient);
    CHECK(field_of(complete->view.colors, "energy density")->unit == "J/m^3");

    Simulation simulation = simulation_of(document);
    const auto expected = steps_of(simulation, "von Mises stress of beam");
    const auto drawing = std::ranges::find(complete->scene.stage->drawables, std::string("beam"),
                                           &render::Drawable::name);
    REQUIRE(drawing != complete->scene.stage->drawables.end());
    look(scene, "von Mises stress", "");
    for (const std::int64_t step : {20, 40, 3}) {
        CAPTURE(step);
        scene.session.send(Seek{step});
        const auto shown = scene.exchange->read(scene.frame_at(step), "point color");
        // A point has the mean of the triangles around it; one inside, of the tetrahedra.
        std::map<std::size_t, std::vector<double>> around;
        for (std::size_t k = 0; k < drawing->indices.size(); ++k)
            around[drawing->indices[k]].push_back(
                expected[static_cast<std::size_t>(step)][drawing->cell_of(k / 3)]);
        const auto outside = around;
        for (std::size_t k = 0; k < drawing->tetrahedra.size(); ++k)
            if (!outside.contains(drawing->tetrahedra[k]))
                around[drawing->tetrahedra[k]].push_back(
                    expected[static_cast<std::size_t>(step)][k / 4]);
        CHECK(around.size() > outside.size());
        for (std::size_t p = 0; p < shown.size(); ++p) {
            REQUIRE(around.contains(p));
            double sum = 0;
            for (const double x : around[p]) sum += x;
            CHECK(shown[p] ==
                  doctest::Approx(sum / static_cast<double>(around[p].size())).epsilon(1e-5));
        }
    }
    look(scene, "", "");
    for (const double x : scene.exchange->read(scene.frame_at(3), "point color"))
        CHECK(std::isnan(x));
}

TEST_CASE("session: tensions color springs, and contact forces are arrows") {
    OpenScene scene(test::scene_file("net_over_ball.json"));
    const auto complete = scene.wait_complete();
    const std::int64_t last = complete->run.steps;
    scene.session.send(Seek{last});
    const ShownField* const force = field_of(complete->view.arrows, "contact force");
    REQUIRE(force != nullptr);
    CHECK(force->unit == "N");
    CHECK(field_of(complete->view.colors, "tension") != nullptr);
    look(scene, "tension", "contact force");
    const render::Frame frame = scene.frame_at(last);
    CHECK(frame.arrows == "contact force");
    const auto at_end = [&](const std::string& key) {
        Simulation simulation = simulation_of(*scene.document);
        return steps_of(simulation, key).back();
    };
    CHECK(scene.exchange->read(frame, "arrows") == at_end("contact force"));
    CHECK(scene.exchange->read(frame, "threads color") == at_end("tension of threads"));
    // As a color, the length of the vector.
    look(scene, "contact force", "");
    const auto color = scene.exchange->read(scene.frame_at(last), "point color");
    const auto forces = at_end("contact force");
    REQUIRE(forces.size() == 3 * color.size());
    double most = 0;
    for (std::size_t p = 0; p < color.size(); ++p) {
        const double length = std::hypot(forces[3 * p], forces[3 * p + 1], forces[3 * p + 2]);
        most = std::max(most, length);
        CHECK(color[p] == doctest::Approx(length).epsilon(1e-6));
    }
    CHECK(most > 0);
}

TEST_CASE("session: tensions of cloth, and of fibers on the solid that they are in") {
    struct Case {
        const char *scene, *name, *unit, *owner, *drawn;
    };
    for (const Case& c : {Case{"cloth_over_ball.json", "membrane tension", "N/m", "cloth", "cloth"},
                          Case{"crawler.json", "fiber tension", "Pa", "muscle", "body"}}) {
        CAPTURE(c.scene);
        OpenScene scene(test::scene_file(c.scene));
        const auto complete = scene.wait_complete();
        const ShownField* const tension = field_of(complete->view.colors, c.name);
        REQUIRE(tension != nullptr);
        CHECK(tension->unit == c.unit);
        look(scene, c.name, "");
        scene.session.send(Seek{complete->run.steps});
        const auto shown = scene.exchange->read(scene.frame_at(complete->run.steps), "point color");
        Simulation simulation = simulation_of(*scene.document);
        const auto expected = steps_of(simulation, std::string(c.name) + " of " + c.owner).back();
        const auto drawing = std::ranges::find(complete->scene.stage->drawables,
                                               std::string(c.drawn), &render::Drawable::name);
        REQUIRE(drawing != complete->scene.stage->drawables.end());
        const auto [low, high] = std::ranges::minmax(expected);
        CHECK(low < high);
        // Points have means of the triangles around them.
        for (const std::uint32_t p : drawing->indices) {
            CHECK(shown[p] >= low - 1e-5 * std::fabs(low));
            CHECK(shown[p] <= high + 1e-5 * std::fabs(high));
        }
    }
}

TEST_CASE("session: what nobody looks at is neither computed nor recorded") {
    const Document document = Document::load(test::scene_file("net_over_ball.json"));
    Simulation simulation = simulation_of(document);
    int asked = 0;
    model::publish(simulation.model(), {.owner = "threads",
                                        .name = "counted",
                                        .unit = "N",
                                        .meaning = "",
                                        .count = 1,
                                        .add = [&](model::Model&, const Array& values, Program&) {
                                            ++asked;
                                            values.fill(7);
                                        }});
    FrameKernels kernels(simulation.options().device);
    FrameRecorder recorder(kernels, nullptr);
    const auto names = [](std::vector<std::string> list) {
        return std::make_shared<const std::vector<std::string>>(std::move(list));
    };
    simulation.run(false, [](std::int64_t) { return false; });
    recorder.watch(simulation.model(), 1, names({"position"}));
    const FramePointer plain = recorder.record(0);
    CHECK(asked == 0);
    CHECK(plain->arrays.size() == 1);
    for (int again = 0; again < 2; ++again) {
        recorder.watch(simulation.model(), 1, names({"position", "counted of threads"}));
        const FramePointer frame = recorder.record(0);
        CHECK(asked == 1);
        REQUIRE(frame->find("counted of threads") != nullptr);
        CHECK(frame->find("counted of threads")->to_doubles() == std::vector<double>{7});
    }
}

TEST_CASE("session: contact forces of robots are arrows at places of their own") {
    HINDCAST_NEEDS_MUJOCO();
    test::TemporaryFolder folder;
    std::ofstream(folder / "robot.xml") << R"(<mujoco><worldbody>
        <geom type="plane" size="5 5 1"/>
        <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="3"/>
        <site pos="0.1 0 0"/></body></worldbody></mujoco>)";
    const auto file = folder / "scene.json";
    std::ofstream(file) << R"({"format": 1, "time": {"step": 0.01, "steps": 30},
        "bodies": [{"type": "articulated", "name": "robot", "model": "robot.xml",
                    "max_contacts": 4}]})";
    OpenScene scene(file);
    const auto complete = scene.wait_complete();
    scene.session.send(Seek{30});
    const ShownField* const force = field_of(complete->view.arrows, "contact force between bodies");
    REQUIRE(force != nullptr);
    CHECK(force->unit == "N");
    REQUIRE(field_of(complete->view.arrows, "site axis") != nullptr);
    const auto drawable = [&](const std::string& channel) {
        const auto& stage = *complete->scene.stage;
        for (std::size_t k = 0; k < stage.drawables.size(); ++k) {
            const render::Drawable& t = stage.drawables[k];
            if (t.kind == render::Drawable::Kind::arrows &&
                stage.channels[static_cast<std::size_t>(t.values)].name == channel)
                return k;
        }
        throw Error("no arrows have this channel");
    };
    const std::size_t forces = drawable("contact force between bodies of robot"),
                      axes = drawable("site axis of robot"), others = drawable("arrows");
    const auto none = [](const render::Frame& frame, std::size_t k) {
        return frame.numbers[k] == std::vector<double>{0};
    };
    look(scene, "", "contact force between bodies");
    const render::Frame frame = scene.frame_at(30);
    CHECK_FALSE(none(frame, forces));
    CHECK(none(frame, axes));
    CHECK(none(frame, others));
    const auto places =
                   scene.exchange->read(frame, "places of contact force between bodies of robot"),
               vectors = scene.exchange->read(frame, "contact force between bodies of robot");
    REQUIRE(vectors.size() == 12);
    // At its four lower corners, together its weight.
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(std::fabs(places[3 * k]) == doctest::Approx(0.2).epsilon(1e-3));
        CHECK(std::fabs(places[3 * k + 1]) == doctest::Approx(0.1).epsilon(1e-3));
        sum += vectors[3 * k + 2];
    }
    CHECK(sum == doctest::Approx(3 * 9.81).epsilon(0.02));
    look(scene, "", "velocity");
    const render::Frame other = scene.frame_at(30);
    CHECK(none(other, forces));
    CHECK_FALSE(none(other, others));
    for (const double x : scene.exchange->read(other, "contact force between bodies of robot"))
        CHECK(x == 0);
}
