// The narrow phase against MuJoCo's: contacts of random places of two geoms, as sets.
#include <doctest/doctest.h>

#include <numbers>

#include "tests/robots/contacts.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

struct Pose {
    std::array<double, 3> place{};
    std::array<double, 4> turned{1, 0, 0, 0};
};

struct TwoGeoms {
    std::string first, second;
    double reach;  // of the middles, beyond which nothing touches
};

bool is_plane(const TwoGeoms& two) { return two.first.find("plane") == 0; }

// A plane stands in the world, askew.
std::string text_of(const TwoGeoms& two, const std::string& attributes) {
    const std::string geom = "<geom " + attributes + " type=\"";
    const std::string first =
        is_plane(two)
            ? geom + two.first + " pos=\"0.1 -0.2 0.05\" quat=\"0.9 0.1 -0.2 0.15\"/>"
            : "<body><freejoint/>" + geom + two.first + " pos=\"0.02 0.01 -0.03\"/></body>";
    return "<mujoco><worldbody>" + first + "<body><freejoint/>" + geom + two.second +
           " pos=\"-0.01 0.04 0.02\" quat=\"0.8 0.2 0.3 -0.4\"/></body></worldbody></mujoco>";
}

class Random {
public:
    explicit Random(std::uint64_t seed) : generator_(seed) {}
    double uniform(double low, double high) {
        return low + (high - low) * static_cast<double>(generator_() >> 11) * 0x1p-53;
    }
    Pose pose(double far) {
        Pose p;
        for (double& x : p.place) x = uniform(-far, far);
        double length = 0;
        for (double& x : p.turned) x = uniform(-1, 1), length += x * x;
        for (double& x : p.turned) x /= std::sqrt(length);
        return p;
    }

private:
    std::mt19937_64 generator_;
};

std::vector<double> joined(const std::vector<Pose>& poses) {
    std::vector<double> all;
    for (const Pose& p : poses) {
        all.insert(all.end(), p.place.begin(), p.place.end());
        all.insert(all.end(), p.turned.begin(), p.turned.end());
    }
    return all;
}

const std::vector<TwoGeoms>& closed_forms() {
    static const std::vector<TwoGeoms> all = {
        {R"(plane" size="1 1 1")", R"(sphere" size="0.2")", 0.3},
        {R"(plane" size="1 1 1")", R"(capsule" size="0.1 0.25")", 0.8},
        {R"(plane" size="1 1 1")", R"(ellipsoid" size="0.1 0.25 0.17")", 0.3},
        {R"(plane" size="1 1 1")", R"(cylinder" size="0.12 0.25")", 0.4},
        {R"(plane" size="1 1 1")", R"(box" size="0.1 0.25 0.17")", 0.4},
        {R"(sphere" size="0.3")", R"(sphere" size="0.2")", 0.4},
        {R"(sphere" size="0.3")", R"(capsule" size="0.1 0.25")", 0.5},
        {R"(sphere" size="0.1")", R"(cylinder" size="0.3 0.25")", 0.4},
        {R"(sphere" size="0.1")", R"(box" size="0.2 0.25 0.3")", 0.4},
        {R"(capsule" size="0.1 0.2")", R"(capsule" size="0.15 0.25")", 0.5},
        {R"(capsule" size="0.1 0.2")", R"(box" size="0.2 0.25 0.3")", 0.6},
        {R"(capsule" size="0.03 0.4")", R"(box" size="0.2 0.15 0.1")", 0.4},
        {R"(box" size="0.15 0.2 0.25")", R"(box" size="0.2 0.25 0.3")", 0.5},
        {R"(box" size="0.15 0.2 0.25")", R"(box" size="0.02 0.35 0.3")", 0.4},
    };
    return all;
}

void compare(const TwoGeoms& two, const std::string& attributes, int states) {
    CAPTURE(two.first);
    CAPTURE(two.second);
    CAPTURE(attributes);
    Oracle oracle(text_of(two, attributes), "geoms.xml");
    OurContacts ours(oracle.model(), interpreter_device());
    Random random(5);
    int touching = 0;
    for (int k = 0; k < states; ++k) {
        CAPTURE(k);
        std::vector<Pose> poses = {random.pose(two.reach)};
        if (!is_plane(two)) poses.push_back(random.pose(two.reach));
        oracle.set({joined(poses), std::vector<double>(poses.size() * 6), {}, {}});
        oracle.forward();
        ours.set("xpos", places_of(oracle, "xpos"));
        ours.set("xquat", places_of(oracle, "xquat"));
        ours.run();
        const std::vector<FoundContact> expected = contacts_of(oracle), found = ours.contacts();
        CHECK(found.size() == expected.size());
        touching += expected.empty() ? 0 : 1;
        const ContactDifference d = difference(found, expected);
        CHECK(d.dist < 1e-9);
        CHECK(d.place < 1e-9);
        CHECK(d.normal < 1e-9);
        CHECK(d.frame < 1e-8);
    }
    CHECK(touching > states / 8);
}

}  // namespace

TEST_CASE("contacts of closed forms are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : closed_forms())
        for (const char* attributes : {"", R"(margin="0.03" gap="0.02")"})
            compare(two, attributes, 200);
}
