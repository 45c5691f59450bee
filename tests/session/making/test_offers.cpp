// Things that modules offer to add: each loads, runs and has as many points and elements as is said
// before; it stands where it is looked at, on the ground and in nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/session/making/offers.hpp"
#include "app/session/making/room.hpp"
#include "engine/base/files.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/session/support.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using document::Node;

namespace {

Document scene(const std::string& more, int dimension = 3) {
    return Document::parse(
        dimension == 2
            ? R"({"format": 1, "dimension": 2, "time": {"step": "1/60", "steps": 60},
                  "gravity": [0, -9.81])" +
                  more + "}"
            : R"({"format": 1, "time": {"step": "1/60", "steps": 60}, "gravity": [0, 0, -9.81])" +
                  more + "}");
}

// A ball that nothing touches: things are added to scenes that run.
constexpr const char* ball =
    R"(, "bodies": [{"type": "particles", "name": "ball", "positions": [[9, 0, 9]]}])";
constexpr const char* flat_ball =
    R"(, "bodies": [{"type": "particles", "name": "ball", "positions": [[9, 9]]}])";

Simulation built(const Document& document, const std::filesystem::path& file = {}) {
    SimulationOptions options;
    options.device = test::session_device();
    return {Scene::of(document, file), test::all_modules(), options};
}

// The loss and all states stay finite for ten steps.
void runs_ten_steps(Document document, const std::filesystem::path& file = {}) {
    document.set("/time/steps", Node(10));
    Simulation simulation = built(document, file);
    const double loss = simulation.run();
    CHECK(std::isfinite(loss));
}

// Low and high corners of a body's points at the start.
std::pair<model::Place, model::Place> box_of(const Simulation& simulation,
                                             const std::string& body) {
    const auto d = static_cast<std::size_t>(simulation.scene().dimension());
    const model::Range points = simulation.model().points(body, Node());
    model::Place low{}, high{};
    for (std::int64_t p = points.first; p < points.first + points.count; ++p)
        for (std::size_t k = 0; k < d; ++k) {
            const double x =
                simulation.model().initial_points().at(static_cast<std::size_t>(p) * d + k);
            low[k] = p == points.first ? x : std::min(low[k], x);
            high[k] = p == points.first ? x : std::max(high[k], x);
        }
    return {low, high};
}

ChosenOffer chosen_of(const std::string& id, int dimension = 3,
                      const std::map<std::string, double>& numbers = {}) {
    ChosenOffer chosen{offer_of(test::all_modules(), dimension, id), {}, {}, {}};
    for (const model::OfferNumber& number : chosen.offer.numbers)
        chosen.numbers.push_back(numbers.contains(number.key) ? numbers.at(number.key)
                                                              : number.value);
    return chosen;
}

Document with(const Document& document, const ChosenOffer& chosen,
              const std::string& name = "thing", const std::filesystem::path& file = {}) {
    return with_offer(document, file, test::all_modules(), chosen, name);
}

std::int64_t points_of(const Document& document, const std::string& body = "thing") {
    return built(document).model().points(body, Node()).count;
}

}  // namespace

TEST_CASE("offers: each that needs no file loads as it is proposed, and runs ten steps") {
    for (const int dimension : {2, 3})
        for (const bool alone : {false, true})
            for (const model::Offer& offer : offers(test::all_modules(), dimension)) {
                if (offer.needs_file()) continue;
                if (offer.type == "articulated" && !test::why_no_mujoco().empty()) continue;
                CAPTURE(dimension);
                CAPTURE(offer.id);
                CAPTURE(alone);
                // An obstacle alone is no scene, and material points are none with others.
                if (alone && offer.section != model::Section::bodies) continue;
                const char* const other = alone || offer.id == "material" ? ""
                                          : dimension == 2                ? flat_ball
                                                                          : ball;
                const Document made =
                    with(scene(other, dimension), {offer, offer.values(), {}, {0.3, 0.2, 0.5}});
                runs_ten_steps(made);
                const model::OfferCount count = count_of(offer, offer.values());
                if (offer.section == model::Section::bodies)
                    CHECK(points_of(made) == count.points);
                else
                    CHECK(count_text(count).empty());
            }
}

TEST_CASE("offers: counts of points and elements are those of the scene") {
    // Counted by hand: n + 1 nodes to n cells, two triangles or six tetrahedra to a cell. A list
    // with one number for each element is what the module takes, and no other.
    struct Case {
        const char* id;
        int dimension;
        std::map<std::string, double> numbers;
        std::int64_t points, elements;
        const char* of;  // of which element: a field with one number for each
    };
    const Case cases[] = {
        {"chain", 3, {{"points", 5}}, 5, 4, "/forces/0/stiffness"},
        {"chain", 2, {{"points", 3}}, 3, 2, "/forces/0/stiffness"},
        // 3 x 4: 2*4 + 3*3 along the lines, 2 * 2*3 across the meshes.
        {"net", 3, {{"count_x", 3}, {"count_y", 4}}, 12, 29, "/forces/0/stiffness"},
        {"grid", 3, {{"count_x", 2}, {"count_y", 3}, {"count_up", 4}}, 24, 0, nullptr},
        {"grid", 2, {{"count_x", 2}, {"count_up", 4}}, 8, 0, nullptr},
        {"cloth", 3, {{"cells_x", 3}, {"cells_y", 2}}, 12, 12, "/bodies/0/warp_stiffness"},
        {"block",
         3,
         {{"cells_x", 2}, {"cells_y", 1}, {"cells_up", 3}},
         24,
         36,
         "/bodies/0/young_modulus"},
        {"block", 2, {{"cells_x", 2}, {"cells_up", 3}}, 12, 12, "/bodies/0/young_modulus"},
        {"beam", 3, {{"cells", 4}, {"cells_across", 1}}, 20, 24, "/bodies/0/young_modulus"},
        {"material", 2, {{"count_x", 3}, {"count_up", 4}}, 12, 0, nullptr},
        {"point", 3, {}, 1, 0, nullptr}};
    for (const Case& c : cases) {
        CAPTURE(c.id);
        const ChosenOffer chosen = chosen_of(c.id, c.dimension, c.numbers);
        const model::OfferCount count = count_of(chosen.offer, chosen.numbers);
        CHECK(count.points == c.points);
        CHECK(count.elements == c.elements);
        Document made = with(scene("", c.dimension), chosen);
        CHECK(points_of(made) == c.points);
        if (c.of == nullptr) continue;
        Node each = Node::array();
        for (std::int64_t k = 0; k < c.elements; ++k) each.push_back(made.at(c.of));
        made.set(c.of, each);
        CHECK_NOTHROW(built(made));
        each.push_back(each.item(0));
        made.set(c.of, each);
        CHECK_THROWS_AS(built(made), Error);
    }
    CHECK(count_text({289, 512, "triangles"}) == "289 points, 512 triangles");
    CHECK(count_text({1, 0, ""}) == "1 point");
    CHECK(count_text({1, 0, "", "rigid body"}) == "1 rigid body");
}

TEST_CASE("offers: what a number may be is said") {
    ChosenOffer chosen = chosen_of("chain", 3, {{"points", 1}});
    CHECK(test::message([&] { with(scene(""), chosen); }).find("Points cannot be 1") !=
          std::string::npos);
    chosen = chosen_of("chain", 3, {{"points", 2.5}});
    CHECK_THROWS_AS(with(scene(""), chosen), Error);
    chosen.numbers.pop_back();
    CHECK_THROWS_AS(with(scene(""), chosen), Error);
}

TEST_CASE("offers: in the air around what is looked at; else on the ground, or on what is there") {
    ChosenOffer chosen = chosen_of("cloth");
    chosen.look_at = {2, 3, 5};
    // A meter by a meter around it.
    auto [low, high] = box_of(built(with(scene(""), chosen)), "thing");
    for (std::size_t k = 0; k < 3; ++k)
        CHECK(0.5 * (low[k] + high[k]) == doctest::Approx(chosen.look_at[k]));
    CHECK(high[0] - low[0] == doctest::Approx(1));

    const std::string ground =
        R"(, "colliders": [{"type": "plane", "normal": [0, 0, 1], "offset": 0.7}])";
    std::tie(low, high) = box_of(built(with(scene(ground), chosen)), "thing");
    CHECK(low[2] == doctest::Approx(0.75));
    CHECK(high[2] == doctest::Approx(0.75));

    // A ball in its way on that ground: over its top, which is at 1.3.
    const std::string both = R"(, "colliders": [{"type": "plane", "normal": [0, 0, 1],
        "offset": 0.7}, {"type": "sphere", "center": [2, 3, 1], "radius": 0.3}])";
    const Document draped = with(scene(both), chosen);
    std::tie(low, high) = box_of(built(draped), "thing");
    CHECK(low[2] == doctest::Approx(1.35));
    // Elastic bodies come with implicit steps, and obstacles are barriers then.
    CHECK(draped.at("/time/integrator").string() == "implicit_euler");
    CHECK(draped.at("/colliders/0/response").string() == "barrier");
    runs_ten_steps(draped);

    // An obstacle goes beside what is there: the cloth reaches 0.5 m to the right of 2.
    ChosenOffer sphere = chosen_of("sphere");
    sphere.look_at = {2, 3, 1.35};
    const Document beside = with(with(scene(""),
                                      [&] {
                                          ChosenOffer at = chosen;
                                          at.look_at = sphere.look_at;
                                          return at;
                                      }()),
                                 sphere, "ball");
    CHECK(document::to_line(beside.at("/colliders/0/center")) == "[2.82, 3, 1.35]");
}

TEST_CASE("offers: the ground is below everything; with y up everything is turned") {
    const Document low =
        scene(R"(, "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, -2]]}])");
    CHECK(document::to_line(with(low, chosen_of("ground")).at("/colliders/0/offset")) == "-2.02");
    const Document high = scene(ball);
    CHECK(document::to_line(with(high, chosen_of("ground")).at("/colliders/0/offset")) == "0");

    Document turned = scene("");
    turned.set("/up", "y");
    turned.set("/gravity", Document::parse("[0, -9.81, 0]").root());
    const auto [from, to] = box_of(
        built(with(turned,
                   chosen_of("grid", 3,
                             {{"count_x", 2}, {"count_y", 3}, {"count_up", 4}, {"spacing", 1}}))),
        "thing");
    CHECK(to[0] - from[0] == doctest::Approx(1));
    CHECK(to[1] - from[1] == doctest::Approx(3));
    CHECK(to[2] - from[2] == doctest::Approx(2));
}

TEST_CASE("offers: where steps cannot be implicit, explicit ones are short enough") {
    // Drag has no energy, so the cloth is stepped explicitly: fast enough not to burst.
    const Document made =
        with(scene(std::string(ball) + R"(, "forces": [{"type": "damping", "rate": 1},
              {"type": "drag", "of": "ball", "linear": 1}])"),
             chosen_of("cloth"));
    CHECK(made.find("/time/integrator") == nullptr);
    CHECK(made.at("/time/substeps").integer() > 1);
    Document longer = made;
    longer.set("/time/steps", Node(30));
    Simulation simulation = built(longer);
    CHECK(std::isfinite(simulation.run()));
    // A box is a barrier, which needs implicit steps: it says why it cannot be added.
    const std::string refusal = test::message([&] { with(made, chosen_of("box"), "box"); });
    CHECK(refusal.find("Box cannot be added") != std::string::npos);
}

TEST_CASE("offers: material points share one background, which grows") {
    Document made = with(scene("", 2), chosen_of("material", 2));
    REQUIRE(made.at("/forces").size() == 1);
    const std::int64_t before = made.at("/forces/0/nodes/0").integer();
    ChosenOffer far = chosen_of("material", 2);
    far.look_at = {-3, 0.5, 0};
    made = with(made, far, "other");
    REQUIRE(made.at("/forces").size() == 1);
    CHECK(made.at("/forces/0/nodes/0").integer() > before);
    runs_ten_steps(made);
}

TEST_CASE("offers: from files beside the scene") {
    const test::TemporaryFolder folder;
    const auto file = folder.path() / "scene.json";
    write_file_atomically(folder.path() / "two.obj",
                          "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
    ChosenOffer chosen = chosen_of("cloth_file");
    chosen.file = folder.path() / "two.obj";
    const Document made = with(scene(""), chosen, "thing", file);
    CHECK(made.at("/bodies/0/mesh/file").string() == "two.obj");
    CHECK(built(made, file).model().points("thing", Node()).count == 4);
    runs_ten_steps(made, file);
    CHECK(count_text(count_of(chosen.offer, chosen.numbers)) == "as many as the file has");
    // One elsewhere is refused with what to do.
    chosen.file = std::filesystem::path(test::source_dir) / "README.md";
    CHECK(test::message([&] {
              with(scene(""), chosen, "thing", file);
          }).find("lies outside the scene's folder") != std::string::npos);
}

TEST_CASE("offers: only those whose modules are there") {
    Registry few;
    few.enter("few");
    for (const model::ModuleType& type : test::all_modules().all())
        if (type.type == "particles" || type.type == "plane") few.add(type);
    for (const auto& offer : test::all_modules().offers()) few.offer(*offer);
    std::vector<std::string> ids;
    for (const model::Offer& offer : offers(few, 3)) ids.push_back(offer.id);
    CHECK(ids == std::vector<std::string>{"point", "grid", "ground"});
}

TEST_CASE("modules: every type has a title in words, which no other of its section has") {
    std::set<std::pair<model::Section, std::string>> titles;
    for (const model::ModuleType& type : test::all_modules().all()) {
        CAPTURE(type.type);
        CHECK(type.title.find('_') == std::string::npos);
        CHECK((!type.title.empty() && type.title[0] >= 'A' && type.title[0] <= 'Z'));
        CHECK(titles.insert({type.section, type.title}).second);
    }
}
