// Rigid shapes that are added: one body of the scene has them all, each stands on what is
// there, and what was written of the body's state goes on.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cmath>

#include "app/session/document/add_object_task.hpp"
#include "app/session/making/offers.hpp"
#include "tests/session/support.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using document::Node;

namespace {

const char* const ground = R"({"format": 1, "time": {"step": "1/60", "steps": 90},
    "gravity": [0, 0, -9.81], "colliders": [
    {"type": "plane", "name": "ground", "normal": [0, 0, 1], "offset": 0.25}]})";

Document added(const Document& document, const std::string& id, const std::string& name) {
    const model::Offer offer = offer_of(test::all_modules(), 3, id);
    return with_offer(document, {}, test::all_modules(), {offer, offer.values(), {}, {}}, name);
}

std::vector<double> places(const Document& document, std::int64_t frames) {
    SimulationOptions options;
    options.device = test::session_device();
    options.steps = frames;
    Simulation simulation(Scene::of(document, {}), test::all_modules(), options);
    simulation.run();
    return simulation.model().array("position").to_doubles();
}

}  // namespace

TEST_CASE("rigid shapes: a second one joins the first and lies on it") {
    HINDCAST_NEEDS_MUJOCO();
    const Document one = added(Document::parse(ground, "scene"), "rigid_box", "rigid");
    REQUIRE(one.at("/bodies").size() == 1);
    CHECK(one.at("/bodies/0/name").string() == "rigid");
    CHECK(document::number_of(one.at("/bodies/0/model/ground")) == 0.25);
    // 0.1 m over the ground: its center half an edge of 0.2 m higher.
    CHECK(document::number_of(one.at("/bodies/0/model/shapes/0/position/2")) ==
          doctest::Approx(0.45).epsilon(1e-9));
    // Contact wants short steps.
    const double substeps = document::number_of(one.at("/time/substeps"));
    CHECK(1 / (60 * substeps) <= 0.002);

    const Document two = added(one, "rigid_sphere", "rigid_2");
    REQUIRE(two.at("/bodies").size() == 1);
    REQUIRE(two.at("/bodies/0/model/shapes").size() == 2);
    // Over the box, whose top is at 0.55 m.
    CHECK(document::number_of(two.at("/bodies/0/model/shapes/1/position/2")) ==
          doctest::Approx(0.75).epsilon(1e-9));
    const auto steps = static_cast<std::int64_t>(90 * substeps);
    const std::vector<double> x = places(two, steps);
    REQUIRE(x.size() == 6);
    CHECK(x[2] == doctest::Approx(0.25 + 0.1).epsilon(5e-3));
    CHECK(x[5] == doctest::Approx(0.25 + 0.2 + 0.1).epsilon(5e-3));
}

TEST_CASE("rigid shapes: what the body begins with goes on") {
    HINDCAST_NEEDS_MUJOCO();
    Document scene = added(Document::parse(ground, "scene"), "rigid_box", "rigid");
    scene.set("/bodies/0/qpos", Document::parse("[1, 2, 3, 1, 0, 0, 0]", "list").root());
    scene.set("/bodies/0/qvel", Document::parse("[4, 0, 0, 0, 0, 5]", "list").root());
    const Document two = added(scene, "rigid_capsule", "rigid_2");
    REQUIRE(two.at("/bodies").size() == 1);
    const Node &qpos = two.at("/bodies/0/qpos"), &qvel = two.at("/bodies/0/qvel");
    REQUIRE(qpos.size() == 14);
    REQUIRE(qvel.size() == 12);
    CHECK(document::number_of(qpos.item(0)) == 1);
    for (std::size_t k = 0; k < 3; ++k)
        CHECK(document::number_of(qpos.item(7 + k)) ==
              document::number_of(two.at("/bodies/0/model/shapes/1/position").item(k)));
    CHECK(document::number_of(qpos.item(10)) == 1);
    CHECK(document::number_of(qvel.item(5)) == 5);
    const std::vector<double> x = places(two, 0);
    CHECK(x[0] == doctest::Approx(1).epsilon(1e-6));

    // With numbers for each of its bodies it stays as it is, and the new one is a body of its own.
    scene.set("/bodies/0/body_mass", Document::parse("[0, 2]", "list").root());
    const Document apart = added(scene, "rigid_cylinder", "rigid_2");
    REQUIRE(apart.at("/bodies").size() == 2);
    CHECK(apart.at("/bodies/1/name").string() == "rigid_2");
    CHECK(apart.at("/bodies/0") == scene.at("/bodies/0"));
}

TEST_CASE("rigid shapes: the body that one has joined is what is chosen then") {
    HINDCAST_NEEDS_MUJOCO();
    Editor editor(test::all_modules());
    editor.make_new(Document::parse(ground, "scene"));
    std::string pointer;
    for (const char* id : {"rigid_box", "rigid_sphere"}) {
        AddObjectTask adding(editor, id, "rigid",
                             [&](const Document& document, const std::filesystem::path& file,
                                 const std::string& name, const std::atomic<bool>* canceled) {
                                 const model::Offer offer = offer_of(test::all_modules(), 3, id);
                                 return with_offer(document, file, test::all_modules(),
                                                   {offer, offer.values(), {}, {}}, name, canceled);
                             });
        for (int k = 0; k < 30'000 && !adding.ready(); ++k) ::usleep(1000);
        REQUIRE(adding.ready());
        CHECK(adding.finish(editor) == "/bodies/0");
    }
    CHECK(editor.document()->at("/bodies/0/model/shapes").size() == 2);
}
