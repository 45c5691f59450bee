// The narrow phase against MuJoCo's: contacts of random places of two geoms, as sets; and against
// closed forms.
#include <doctest/doctest.h>

#include <functional>
#include <numbers>

#include "tests/robots/collision/contacts.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// MuJoCo's broad phase compares boxes along the line of their centers. So it drops contacts of edges
// whose nearest points are farther apart than their margin, though the narrow phase has them.
bool may_be_dropped(const TwoGeoms& two, const std::vector<FoundContact>& found) {
    return two.first.starts_with("box") &&
           std::ranges::all_of(found, [](const FoundContact& c) { return c.dist > 0; });
}

// Calls `f` with our contacts and MuJoCo's at random places, or aligned up to `turned`.
void at_places(const TwoGeoms& two, const std::string& text, int states, double turned,
               const std::function<void(const std::vector<FoundContact>&,
                                        const std::vector<FoundContact>&)>& f) {
    CAPTURE(two.first);
    CAPTURE(two.second);
    CAPTURE(turned);
    Oracle oracle(text, "geoms.xml");
    OurContacts ours(oracle.model(), interpreter_device());
    RandomPoses random(5);
    for (int k = 0; k < states; ++k) {
        CAPTURE(k);
        const auto pose = [&] {
            return turned < 0 ? random.pose(two.reach) : random.aligned(two.reach, turned);
        };
        std::vector<Pose> poses = {pose()};
        if (!two.has_ground()) poses.push_back(pose());
        oracle.set({joined(poses), std::vector<double>(poses.size() * 6), {}, {}});
        oracle.forward();
        ours.set("xpos", places_of(oracle, "xpos"));
        ours.set("xquat", places_of(oracle, "xquat"));
        ours.run();
        f(ours.contacts(), contacts_of(oracle));
    }
}

// Turned at random, or aligned up to this.
void compare(const TwoGeoms& two, const std::string& attributes, int states, double turned = -1) {
    CAPTURE(attributes);
    int touching = 0, dropped = 0;
    at_places(
        two, two.text(attributes, turned < 0), states, turned,
        [&](const std::vector<FoundContact>& found, const std::vector<FoundContact>& expected) {
            if (expected.empty() && !found.empty() && may_be_dropped(two, found)) {
                ++dropped;
                return;
            }
            CHECK(found.size() == expected.size());
            touching += expected.empty() ? 0 : 1;
            const ContactDifference d = difference(found, expected);
            CHECK(d.dist < 1e-9);
            CHECK(d.place < 1e-9);
            CHECK(d.normal < 1e-9);
            CHECK(d.frame < 1e-8);
        });
    CHECK(touching > states / 8);
    CHECK(dropped <= states / 50);
}

// A model whose general convex shapes MuJoCo's search takes to full precision.
std::string precise(const TwoGeoms& two, const std::string& attributes, bool askew, bool several) {
    std::string text = two.text(attributes, askew);
    const std::string flag = several ? "enable" : "disable";
    text.replace(
        0, std::string("<mujoco>").size(),
        "<mujoco><option ccd_iterations=\"200\" ccd_tolerance=\"1e-12\"><flag multiccd=\"" + flag +
            "\"/></option>");
    return text;
}

// Single contacts; what is aligned may touch in many places.
void compare_single(const TwoGeoms& two, const std::string& attributes, int states, double turned) {
    int touching = 0;
    at_places(
        two, precise(two, attributes, turned < 0, false), states, turned,
        [&](const std::vector<FoundContact>& found, const std::vector<FoundContact>& expected) {
            CHECK(found.size() == expected.size());
            touching += expected.empty() ? 0 : 1;
            const ContactDifference d = difference(found, expected);
            CHECK(d.dist < 1e-6);
            // MuJoCo's ends a little beside where ellipsoids are almost alike.
            CHECK(d.normal < 5e-3);
            if (turned < 0) CHECK(d.place < 1e-3);
        });
    CHECK(touching > states / 8);
}

// Where bodies stand as the model has them.
std::vector<FoundContact> contacts_at_rest(const std::string& geoms) {
    const robot::RobotModel model =
        robot::RobotModel::from_text("<mujoco><worldbody>" + geoms + "</worldbody></mujoco>");
    OurContacts ours(model, interpreter_device());
    ours.set("xpos", {model.reals("body_pos").begin(), model.reals("body_pos").end()});
    ours.set("xquat", {model.reals("body_quat").begin(), model.reals("body_quat").end()});
    ours.run();
    return ours.contacts();
}

std::string body(const std::string& place, const std::string& geom) {
    return "<body " + place + "><freejoint/><geom " + geom + "/></body>";
}

}  // namespace

TEST_CASE("single contacts of general convex shapes are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : convex_shapes())
        for (const char* attributes : {"", R"(margin="0.03" gap="0.02")"}) {
            compare_single(two, attributes, 200, -1);
            for (const double turned : {0.0, 1e-6, 1e-3})
                compare_single(two, attributes, 50, turned);
        }
}

TEST_CASE("contacts of height fields are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : height_fields()) {
        // MuJoCo's boxes and meshes do not take the shortest way out of a prism (convex/README.md).
        const bool flat = two.second.starts_with("box") || two.second.starts_with("mesh");
        int touching = 0;
        at_places(
            two, precise(two, "", true, false), 60, -1,
            [&](const std::vector<FoundContact>& found, const std::vector<FoundContact>& expected) {
                CHECK(found.size() == expected.size());
                touching += expected.empty() ? 0 : 1;
                const ContactDifference d = difference(found, expected);
                if (flat) return;
                CHECK(d.dist < 1e-6);
                CHECK(d.place < 1e-4);
            });
        CHECK(touching > 20);
    }
}

TEST_CASE("of several contacts of general convex shapes the most are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : convex_shapes())
        for (const double turned : {-1.0, 0.05, 1e-3}) {
            int several = 0, touching = 0, as_many = 0, same = 0;
            at_places(
                two, precise(two, "", turned < 0, true), 200, turned,
                [&](const std::vector<FoundContact>& found,
                    const std::vector<FoundContact>& expected) {
                    CHECK(found.empty() == expected.empty());
                    if (expected.empty()) return;
                    ++touching;
                    several += expected.size() > 1 ? 1 : 0;
                    as_many += found.size() == expected.size() ? 1 : 0;
                    const ContactDifference d = difference(found, expected);
                    same += d.dist < 1e-6 && d.place < 1e-3 ? 1 : 0;
                    // One plane of contact.
                    for (const FoundContact& c : found)
                        CHECK(largest_difference(c.frame.data(), found[0].frame.data(), 3) < 1e-9);
                });
            CHECK(as_many >= 0.9 * touching);
            // Four corners of larger patches are chosen in another way; capsules' ends are cut there.
            CHECK(same >= 0.55 * touching);
            if (two.first.starts_with("sphere") || two.first.starts_with("ellipsoid")) {
                CHECK(several == 0);
                CHECK(same == touching);
            }
        }
}

TEST_CASE("contacts of closed forms are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : closed_forms())
        for (const char* attributes : {"", R"(margin="0.03" gap="0.02")"})
            compare(two, attributes, 200);
}

TEST_CASE("contacts of what is aligned, or nearly so, are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : closed_forms())
        for (const char* attributes : {"", R"(margin="0.03" gap="0.02")"})
            for (const double turned : {0.0, 1e-6, 1e-3, 0.1}) {
                // Which point of its rim is lowest is lost in rounding.
                if (two.second.starts_with("cylinder") && turned == 1e-6) continue;
                // So is which corner of a face of the mesh.
                if (two.second.starts_with("mesh") && turned == 0) continue;
                compare(two, attributes, 100, turned);
            }
}

TEST_CASE("contacts of two spheres, of a capsule and of a box that is askew, on a plane, by hand") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string plane = R"(<geom type="plane" size="1 1 1"/>)";

    // Centers 0.5 apart along (3, 4, 0): the surfaces overlap by 0.1.
    std::vector<FoundContact> found =
        contacts_at_rest(body("", R"(size="0.4")") + body(R"(pos="0.3 0.4 0")", R"(size="0.2")"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].dist == doctest::Approx(-0.1));
    CHECK(found[0].place[0] == doctest::Approx(0.6 * 0.35));
    CHECK(found[0].place[1] == doctest::Approx(0.8 * 0.35));
    CHECK(found[0].frame[0] == doctest::Approx(0.6));
    CHECK(found[0].frame[1] == doctest::Approx(0.8));

    // Lies along x, 0.02 deep, at both ends.
    found = contacts_at_rest(
        plane + body(R"(pos="0 0 0.08" euler="0 90 0")", R"(type="capsule" size="0.1 0.3")"));
    REQUIRE(found.size() == 2);
    for (const FoundContact& c : found) {
        CHECK(c.dist == doctest::Approx(-0.02));
        CHECK(std::fabs(c.place[0]) == doctest::Approx(0.3));
        CHECK(c.place[2] == doctest::Approx(-0.01));
        CHECK(std::fabs(c.frame[3]) == doctest::Approx(1));  // along the capsule
    }

    // Turned by 30 degrees about x: the lowest edge is 0.2 sin 30 + 0.1 cos 30 below the middle.
    found = contacts_at_rest(
        plane + body(R"(pos="0 0 0.15" euler="30 0 0")", R"(type="box" size="0.3 0.2 0.1")"));
    REQUIRE(found.size() == 2);
    const double lowest = 0.2 * 0.5 + 0.1 * std::numbers::sqrt3 / 2;
    for (const FoundContact& c : found) {
        CHECK(c.dist == doctest::Approx(0.15 - lowest));
        CHECK(std::fabs(c.place[0]) == doctest::Approx(0.3));
        CHECK(c.place[1] == doctest::Approx(-0.2 * std::numbers::sqrt3 / 2 + 0.1 * 0.5));
        CHECK(c.frame[2] == doctest::Approx(1));
    }
}

TEST_CASE(
    "contacts of a cylinder that stands and lies on a box, and of a sphere in an ellipsoid, by "
    "hand") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string table = R"(<geom type="box" size="1 1 0.1" pos="0 0 -0.1"/>)";

    // Stands 0.01 deep, on four corners of its rim.
    std::vector<FoundContact> found = contacts_at_rest(
        table + body(R"(pos="0.1 0.2 0.29")", R"(type="cylinder" size="0.2 0.3")"));
    REQUIRE(found.size() == 4);
    for (const FoundContact& c : found) {
        CHECK(c.dist == doctest::Approx(-0.01));
        CHECK(std::hypot(c.place[0] - 0.1, c.place[1] - 0.2) == doctest::Approx(0.2));
        CHECK(c.place[2] == doctest::Approx(-0.005));
        CHECK(c.frame[2] == doctest::Approx(-1));  // from the cylinder to the box
    }

    // Lies along x, on both ends of a line; one end is beyond the box.
    found = contacts_at_rest(
        table + body(R"(pos="0.8 0 0.19" euler="0 90 0")", R"(type="cylinder" size="0.2 0.3")"));
    REQUIRE(found.size() == 2);
    CHECK(std::min(found[0].place[0], found[1].place[0]) == doctest::Approx(0.5));
    CHECK(std::max(found[0].place[0], found[1].place[0]) == doctest::Approx(1));
    for (const FoundContact& c : found) CHECK(c.dist == doctest::Approx(-0.01));

    // Its center is 0.1 below the end of the shortest axis, which is the nearest way out: along it the
    // curvature of the surface is smaller than that of the sphere about the center.
    found = contacts_at_rest(body("", R"(type="ellipsoid" size="1 1 0.5")") +
                             body(R"(pos="0 0 0.4")", R"(size="0.05")"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].dist == doctest::Approx(-0.15));
    CHECK(found[0].place[2] == doctest::Approx(0.425));
}
