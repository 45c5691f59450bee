// The range of colors over a run, against the closed form of a free flight, and what scenes and
// snapshots make of it.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "app/session/view/color_look.hpp"
#include "engine/base/error.hpp"
#include "tests/session/support.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using render::ColorMap;
using test::OpenScene;

namespace {

std::shared_ptr<const Snapshot> settled(OpenScene& scene, const std::string& color) {
    const FrameContents contents{color, "", false};
    scene.session.send(contents);
    return scene.wait([&](const Snapshot& s) {
        return s.view.contents == contents && s.view.color_range &&
               s.view.color_range->color == color && s.view.color_range->complete &&
               s.run.steps_computed == s.run.steps;
    });
}

ViewSnapshot with_range(const std::string& color, double low, double high, bool complete = true) {
    ViewSnapshot view;
    view.colors = {{"speed", "m/s", false, true},
                   {"moment", "N m", false, false},
                   {"length gradient", "1/m", true, false}};
    view.color_range = ColorRange{color, std::array{low, high}, complete};
    return view;
}

}  // namespace

TEST_CASE("session: the range of colors is that of all moments of the run") {
    OpenScene scene(test::scene_file("free_flight.json"));
    const auto complete = settled(scene, "speed");
    // From (3, 0, 4) m/s; semi-implicit steps of 0.01 s.
    double low = 1e9, high = 0;
    for (std::int64_t k = 0; k <= complete->run.steps; ++k) {
        const double speed = std::hypot(3.0, 4 - 0.0981 * static_cast<double>(k));
        low = std::min(low, speed);
        high = std::max(high, speed);
    }
    REQUIRE(complete->view.color_range->range);
    CHECK((*complete->view.color_range->range)[0] == doctest::Approx(low).epsilon(1e-5));
    CHECK((*complete->view.color_range->range)[1] == doctest::Approx(high).epsilon(1e-5));
    // The moment that is shown has no part in it.
    scene.session.send(Play{false});
    scene.session.send(Seek{complete->run.steps / 2});
    const auto later = scene.wait(
        [&](const Snapshot& s) { return s.run.step == complete->run.steps / 2 && !s.run.playing; });
    CHECK(later->view.color_range == complete->view.color_range);
    // What is complete is not measured again: nothing happens while nothing changes.
    using namespace std::chrono_literals;
    std::this_thread::sleep_for(200ms);
    const std::uint64_t serial = scene.session.snapshot()->serial;
    std::this_thread::sleep_for(300ms);
    CHECK(scene.session.snapshot()->serial == serial);
    // Without colors there is no range.
    scene.session.send(FrameContents{"", "", false});
    const auto none = scene.wait([](const Snapshot& s) { return s.view.contents.color.empty(); });
    CHECK_FALSE(none->view.color_range);
}

TEST_CASE("session: a run with other numbers has another range of colors") {
    OpenScene scene(test::scene_file("free_flight.json"));
    settled(scene, "speed");
    Document faster = *scene.document;
    REQUIRE(faster.find("/bodies/0/velocity") != nullptr);
    faster.set("/bodies/0/velocity", document::Node::array({30.0, 0.0, 0.0}));
    scene.apply(faster, false);
    const auto other = scene.wait([&](const Snapshot& s) {
        return s.view.color_range && s.view.color_range->complete && s.view.color_range->range &&
               (*s.view.color_range->range)[0] > 29;
    });
    // 30 m/s at first, and then it falls.
    const double fallen = 0.0981 * static_cast<double>(other->run.steps);
    CHECK((*other->view.color_range->range)[0] == doctest::Approx(30));
    CHECK((*other->view.color_range->range)[1] == doctest::Approx(std::hypot(30, fallen)));
}

TEST_CASE("session: the colors that a scene's view asks for") {
    const auto look = [](const std::string& keys) {
        return ColorLook::of(Document::parse("{\"view\": {" + keys + "}}"));
    };
    CHECK(look("") == ColorLook());
    const ColorLook all = look(
        R"("color_by": "speed", "color_range": [-1, 2], "color_scale": "log", "color_map": "gray")");
    CHECK(all.by == "speed");
    CHECK(all.range == ColorLook::Range::hand);
    CHECK(all.ends == std::array<double, 2>{-1, 2});
    CHECK(all.logarithmic);
    CHECK(all.map == ColorMap::gray);
    CHECK(look(R"("color_range": "frame")").range == ColorLook::Range::frame);
    CHECK(look(R"("color_range": "run")").range == ColorLook::Range::run);
    // Written and read again; what else the view says stays.
    Document scene = Document::parse(R"({"view": {"camera": {"eye": [1, 2, 3]}}})");
    scene.set("/view", all.in_view_of(scene));
    CHECK(ColorLook::of(scene) == all);
    CHECK(scene.find("/view/camera/eye/2")->integer() == 3);
    scene.set("/view", ColorLook().in_view_of(scene));
    CHECK(scene == Document::parse(R"({"view": {"camera": {"eye": [1, 2, 3]}}})"));
    // Every map has the name that scenes know.
    for (std::size_t k = 0; k < render::color_maps; ++k) {
        const auto map = static_cast<ColorMap>(k);
        CHECK(look(std::string(R"("color_map": ")") + name_of(map) + "\"").map == map);
    }
    CHECK_FALSE(color_map_named("rainbow"));
    // Words of earlier versions.
    CHECK(look(R"("color_map": "grey")").map == ColorMap::gray);
    CHECK(std::string(name_of(ColorMap::gray)) == "gray");
    CHECK(look(R"("color_by": "fibre tension")").by == "fiber tension");
    CHECK(look(R"("color_by": "fibre tension of left")").by == "fiber tension of left");
    CHECK(look(R"("color_by": "fibre")").by == "fibre");
    for (const char* const wrong :
         {R"("color_range": [2, 1])", R"("color_range": "fit")", R"("color_scale": "square")",
          R"("color_map": "rainbow")", R"("color_range": [1])"})
        CHECK_THROWS_AS(look(wrong), Error);
}

TEST_CASE("session: what the view gets of the colors") {
    render::View view;
    ColorLook look;
    look.by = "speed";
    look.apply(view, with_range("speed", 1, 5));
    CHECK(view.range == std::array<double, 2>{1, 5});
    CHECK(view.map == ColorMap::viridis);
    CHECK(look.words(with_range("speed", 1, 5)) == "of the whole run");
    CHECK(look.words(with_range("speed", 1, 5, false)) == "of the run so far");
    // Nothing is known of other colors yet.
    look.apply(view, with_range("moment", 1, 5));
    CHECK_FALSE(view.range);
    CHECK_FALSE(look.is_settled(with_range("moment", 1, 5)));
    CHECK(look.is_settled(with_range("speed", 1, 5)));
    // Numbers of both signs are shown on both sides of 0, and so are derivatives.
    look.by = "moment";
    look.apply(view, with_range("moment", -1, 5));
    CHECK(view.map == ColorMap::coolwarm);
    CHECK(view.range == std::array<double, 2>{-5, 5});
    look.by = "length gradient";
    look.apply(view, with_range("length gradient", 1, 5));
    CHECK(view.map == ColorMap::coolwarm);
    CHECK(view.range == std::array<double, 2>{-5, 5});
    look.map = ColorMap::magma;
    look.apply(view, with_range("length gradient", 1, 5));
    CHECK(view.range == std::array<double, 2>{1, 5});
    look.range = ColorLook::Range::hand;
    look.ends = {0, 9};
    look.logarithmic = true;
    look.apply(view, with_range("length gradient", 1, 5));
    CHECK(view.range == std::array<double, 2>{0, 9});
    CHECK(view.log_colors);
    CHECK(look.words(with_range("length gradient", 1, 5)) == "set by hand");
    look.range = ColorLook::Range::frame;
    look.apply(view, with_range("length gradient", 1, 5));
    CHECK_FALSE(view.range);
}
