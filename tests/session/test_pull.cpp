// A pull by hand: felt while it goes on, and the same bits when its path is run from the file.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "app/session/threads/shared/mouse_pull.hpp"
#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;
using document::Node;

namespace {

// Two points on a spring that falls past a damper, and a heavy one by itself; 2.5 s.
Document scene_text() {
    return Document::parse(R"({
        "format": 1, "name": "two", "time": {"step": "1/200", "substeps": 2, "steps": 500},
        "gravity": [0, 0, -0.5],
        "bodies": [
            {"type": "particles", "name": "pair", "positions": [[0, 0, 0], [1, 0, 0]], "mass": 0.5},
            {"type": "particles", "name": "lone", "positions": [[0, 2, 0]], "mass": 40},
            {"type": "particles", "name": "wall", "positions": [[0, -2, 0]], "fixed": true}
        ],
        "forces": [
            {"type": "springs", "name": "bar", "connect": [["pair", 0, "pair", 1]], "stiffness": 60},
            {"type": "drag", "name": "air", "linear": 0.05}
        ],
        "objective": [{"type": "point_target", "of": "pair", "target": [1, 1, 1]}],
        "parameters": [{"path": "pair.velocity"}],
        "optimizer": {"type": "gradient_descent", "rate": 0.01, "iterations": 3}
    })");
}

struct Playground {
    test::TemporaryFolder folder;
    std::filesystem::path file = folder.path() / "two.json";
    std::unique_ptr<OpenScene> scene;
    Playground() {
        scene_text().save(file);
        scene = std::make_unique<OpenScene>(file);
        scene->wait_complete();
    }
    OpenScene* operator->() const { return scene.get(); }
};

using Places = std::map<std::int64_t, std::vector<double>>;  // all positions by step

// Positions after every whole step of a run from the start, without a session.
Places run_of(const std::filesystem::path& file) {
    Simulation simulation(Scene::of(Document::load(file), file), test::all_modules(),
                          OpenScene::options(0).simulation);
    Places places;
    simulation.run(false, [&](std::int64_t done) {
        if (done % 2 == 0) places[done / 2] = simulation.model().array("position").to_doubles();
        return true;
    });
    return places;
}

// Waits, and notes what frames show meanwhile.
std::shared_ptr<const Snapshot> watch(const OpenScene& scene, Places& seen,
                                      const std::function<bool(const Snapshot&)>& condition) {
    return scene.wait([&](const Snapshot& s) {
        if (const auto frame = scene.exchange->acquire())
            seen[frame->step] = scene.exchange->read(*frame, "position");
        return condition(s);
    });
}

// Pulls on a point from the step on: to one side, then to the other.
std::shared_ptr<const ReleasedPull> pull(OpenScene& scene, std::uint64_t number, std::int64_t step,
                                         std::vector<std::int64_t> points, render::Vec3 place,
                                         Places& seen) {
    scene.session.send(SetSpeed{0.5});
    scene.session.send(Seek{step});
    scene.frame_at(step);
    scene.session.send(Grab{number, std::move(points), place});
    seen.clear();
    const auto after = [&](std::int64_t steps) {
        watch(scene, seen, [&](const Snapshot& s) {
            return (s.pulls.current && s.pulls.current->live && s.run.step >= step + steps) ||
                   s.reports.error || (s.pulls.released && s.pulls.released->number == number);
        });
    };
    after(5);
    scene.session.send(PullTo{number, {0.3, 0.1, 0.4}});
    after(40);
    scene.session.send(PullTo{number, {-0.5, 0.2, 0.7}});
    after(80);
    scene.session.send(Release{number});
    return watch(scene, seen,
                 [&](const Snapshot& s) {
                     return s.pulls.released && s.pulls.released->number == number;
                 })
        ->pulls.released;
}

}  // namespace

TEST_CASE("session: the spring of a hand has the rate of its formula within what is stable") {
    // Bodies as a whole: k = 100 m, c = 20 m, whatever they weigh.
    for (const double m : {1e-3, 2.0, 5e4}) {
        const PullSpring spring = pull_spring(m, m, 1.0 / 200);
        CHECK(spring.stiffness == doctest::Approx(100 * m).epsilon(1e-12));
        CHECK(spring.damping == doctest::Approx(20 * m).epsilon(1e-12));
    }
    // A point of a hundred grams that all of a heavy body hangs on: m / (4 w h) = 0.5 kg.
    const PullSpring light = pull_spring(0.1, 1e6, 1.0 / 200);
    CHECK(light.stiffness == doctest::Approx(50).epsilon(1e-12));
    CHECK(light.damping == doctest::Approx(10).epsilon(1e-12));
    // Steps of 1/20 s: w = 5/s, and m itself.
    const PullSpring coarse = pull_spring(2, 8, 1.0 / 20);
    CHECK(coarse.stiffness == doctest::Approx(50).epsilon(1e-12));
    CHECK(coarse.damping == doctest::Approx(20).epsilon(1e-12));
    // Both eigenvalues of one step of a free point lie within the unit circle.
    for (const double h : {1e-4, 1.0 / 200, 1.0 / 30, 0.5})
        for (const double body : {1.0, 10.0, 1e9}) {
            const PullSpring s = pull_spring(1, body, h);
            const double trace = 2 - h * s.damping - h * h * s.stiffness;
            const double determinant = 1 - h * s.damping;
            CHECK(std::abs(determinant) < 1);
            CHECK(std::abs(trace) < 1 + determinant);
        }
}

TEST_CASE("session: a pull by hand is felt, and its path replays bit for bit") {
    Playground two;
    Places seen;
    const auto before = run_of(two.file);
    const auto pulled = pull(*two.scene, 1, 60, {0, 1}, {0.9, 0, 0}, seen);
    REQUIRE(pulled);
    CHECK(pulled->name == "Pull pair point 1");
    CHECK(pulled->force.find("type")->string() == "pull");
    CHECK(pulled->force.find("of")->string() == "pair");
    CHECK(pulled->force.find("point")->integer() == 1);
    CHECK(pulled->force.find("start_step")->integer() == 60);
    // 1 kg in all, half of it at the point, h = 1/400 s: m_eff = min(1, 0.5 / 0.1) = 1 kg.
    CHECK(pulled->force.find("stiffness")->real() == 100);
    CHECK(pulled->force.find("damping")->real() == 20);
    const std::size_t rows = pulled->force.find("places")->size();
    CHECK(rows >= 80);

    Editor editor(test::all_modules());
    editor.open(two.file);
    const std::string text = editor.document()->to_text();
    CHECK(editor.append(model::Section::forces, pulled->force, pulled->name) == "/forces/2");
    CHECK(editor.undo_names() == std::vector<std::string>{"Pull pair point 1"});
    // Saved and read again it is the same.
    const auto other_file = two.folder.path() / "pulled.json";
    editor.save_as(other_file);
    CHECK(Document::load(other_file) == *editor.document());
    const Places again = run_of(other_file);
    std::size_t compared = 0;
    bool felt = false;
    for (const auto& [step, places] : seen) {
        if (step < 60) continue;
        CAPTURE(step);
        CHECK(places == again.at(step));
        felt |= step > 60 && places != before.at(step);
        ++compared;
    }
    CHECK(compared >= 3);
    CHECK(felt);
    for (std::int64_t step = 0; step <= 60; ++step) CHECK(again.at(step) == before.at(step));

    // The session runs it; the optimization goes through it: its gradient is right.
    two.scene->file = other_file;
    two->apply(*editor.document());
    const auto draws_on = [&](const std::shared_ptr<const render::Stage>& stage) {
        two.scene->exchange = std::make_shared<test::PlainExchange>(stage);
        two->session.send(ShowOn{two->exchange});
    };
    draws_on(two->wait([&](const Snapshot& s) {
                    return s.run.steps_computed == 500 && !s.pulls.current;
                })
                 ->scene.stage);
    two->session.send(Seek{120});
    const render::Frame frame = two->frame_at(120);
    CHECK(two->exchange->read(frame, "position") == again.at(120));
    two->session.send(CheckGradient{});
    const auto checked = two->wait([](const Snapshot& s) { return s.tools.check != nullptr; });
    for (const CheckRow& row : *checked->tools.check) {
        CAPTURE(row.name);
        CHECK(row.passed);
    }

    // Undo takes it away.
    editor.undo();
    CHECK(editor.document()->to_text() == text);
    draws_on(two->apply(*editor.document())->scene.stage);
    two->wait([&](const Snapshot& s) {
        const auto last = two->exchange->acquire();
        return s.run.steps_computed == 500 && last && last->step == 120 &&
               two->exchange->read(*last, "position") == before.at(120);
    });
}

TEST_CASE("session: light and heavy bodies follow the hand alike") {
    // A free point is drawn to a place that rests: x = 1 - (1 + w t) exp(-w t), w = 10/s.
    for (const double mass : {1e-2, 40.0}) {
        Document document = scene_text();
        document.set("/bodies/1/mass", mass);
        document.set("/gravity/2", 0.0);
        document.set("/time/substeps", 8);
        document.erase("/forces/1");
        Node places = Node::array();
        for (int k = 0; k < 100; ++k)
            places.push_back(Node::array({Node(1.0), Node(2.0), Node(0.0)}));
        PullPath path;
        path.body = "lone";
        path.spring = pull_spring(mass, mass, 1.0 / 1600);
        document.set("/forces/-", force_of(path, "pull"));
        document.set("/forces/1/places", places);
        Simulation simulation(Scene::of(document, {}), test::all_modules(),
                              OpenScene::options(0).simulation);
        simulation.run(false, [&](std::int64_t done) {
            const double wt = 10.0 * static_cast<double>(done) / 1600;
            if (done % 160 == 0 && done <= 800)
                CHECK(simulation.model().array("position").value(2, 0) ==
                      doctest::Approx(1 - (1 + wt) * std::exp(-wt)).epsilon(0.02));
            return done < 800;
        });
    }
}

TEST_CASE("session: a pull that is given up leaves no trace; what cannot be pulled says why") {
    Playground two;
    const Places before = run_of(two.file);
    two->session.send(SetSpeed{0.5});
    two->session.send(Seek{100});
    two->frame_at(100);
    two->session.send(Grab{1, {2}, {0, 2, 0}});
    two->wait([](const Snapshot& s) {
        return s.pulls.current && s.pulls.current->live && s.run.step > 110;
    });
    two->session.send(PullTo{1, {1, 0, 0}});
    two->wait([](const Snapshot& s) { return s.run.step > 130; });
    two->session.send(Release{1, false});
    const auto released = two->wait([](const Snapshot& s) { return !s.pulls.current; });
    CHECK_FALSE(released->pulls.released);
    two->session.send(Seek{200});
    CHECK(two->exchange->read(two->frame_at(200), "position") == before.at(200));

    two->session.send(Grab{2, {3}, {0, -2, 0}});
    const auto fixed =
        two->wait([](const Snapshot& s) { return s.reports.error && !s.pulls.current; });
    CHECK(fixed->reports.error->happened().find("fixed") != std::string::npos);
    two->session.send(Seek{500});
    two->frame_at(500);
    two->session.send(Grab{3, {2}, {0, 2, 0}});
    const auto over =
        two->wait([&](const Snapshot& s) { return s.reports.error != fixed->reports.error; });
    CHECK(over->reports.error->happened().find("time of the scene is over") != std::string::npos);

    // Of an older iteration: it has other parameters than those that the scene would run with.
    two->session.send(Optimize{Optimize::What::start});
    two->wait_ended();
    two->session.send(ShowIteration{0});
    two->session.send(Seek{10});
    two->wait(
        [](const Snapshot& s) { return s.optimization.shown_iteration == 0 && s.run.step == 10; });
    two->session.send(Grab{4, {2}, {0, 2, 0}});
    const auto older = two->wait([&](const Snapshot& s) {
        return s.reports.error && s.reports.error != over->reports.error && !s.pulls.current;
    });
    CHECK(older->reports.error->happened().find("older iteration") != std::string::npos);
    CHECK_FALSE(two->session.snapshot()->pulls.released);
}
