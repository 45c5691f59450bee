// Derivatives of contacts by places, orientations and sizes against central differences, and the
// same bits on every device.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/robots/collision/contacts.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/patience.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const given[] = {"xpos", "xquat", "geom_pos", "geom_quat", "geom_size"};
const char* const made[] = {"slot_dist", "slot_pos", "slot_frame"};

using Numbers = std::map<std::string, std::vector<double>>;

Numbers random_numbers(const OurContacts& ours, RandomPoses& random, bool of_what_is_made) {
    Numbers all;
    const auto fill = [&](const char* name) {
        std::vector<double> values(ours.numbers(name).size());
        for (double& x : values) x = random.uniform(-1, 1);
        all[name] = values;
    };
    if (of_what_is_made)
        for (const char* name : made) fill(name);
    else
        for (const char* name : given) fill(name);
    return all;
}

// The weighted sum of all that the slots hold, without those that hold nothing.
double weighted(const OurContacts& ours, const Numbers& weights) {
    double sum = 0;
    const std::vector<double> dist = ours.numbers("slot_dist");
    for (const char* name : made) {
        const std::vector<double> values = ours.numbers(name);
        const std::size_t columns = values.size() / dist.size();
        for (std::size_t k = 0; k < values.size(); ++k)
            if (dist[k / columns] < articulated::far_away) sum += weights.at(name)[k] * values[k];
    }
    return sum;
}

double moved(OurContacts& ours, const Numbers& at, const Numbers& direction, double step,
             const Numbers& weights) {
    for (const auto& [name, values] : at) {
        std::vector<double> there = values;
        for (std::size_t k = 0; k < there.size(); ++k) there[k] += step * direction.at(name)[k];
        ours.set(name, there);
    }
    ours.run();
    return weighted(ours, weights);
}

struct Slopes {
    double adjoint = 0, difference = 0, error = 0;  // the error that the differences have at most
};

Slopes slopes(OurContacts& ours, const Numbers& at, const Numbers& direction,
              const Numbers& weights) {
    Slopes s;
    const auto central = [&](double h) {
        return (moved(ours, at, direction, h, weights) - moved(ours, at, direction, -h, weights)) /
               (2 * h);
    };
    const double coarse = central(2e-5), fine = central(1e-5);
    s.difference = fine + (fine - coarse) / 3;
    s.error = std::fabs(fine - coarse);
    for (const auto& [name, values] : at) {
        ours.set(name, values);
        ours.array(name).gradient().fill(0);
    }
    ours.run();
    for (const char* name : {"geom_xpos", "geom_xmat"}) ours.array(name).gradient().fill(0);
    for (const char* name : made) ours.array(name).gradient().assign(weights.at(name));
    ours.run_adjoint();
    for (const auto& [name, values] : direction) {
        const std::vector<double> gradient = ours.array(name).gradient().to_doubles();
        for (std::size_t k = 0; k < values.size(); ++k) s.adjoint += gradient[k] * values[k];
    }
    return s;
}

// `jumps`: how many of the states may lie where other features begin to meet.
void check_gradients(const TwoGeoms& two, int states, int jumps) {
    CAPTURE(two.first);
    CAPTURE(two.second);
    Oracle oracle(two.text("", true), "geoms.xml");
    OurContacts ours(oracle.model(), interpreter_device());
    RandomPoses random(9);
    int kinks = 0;
    for (int k = 0; k < states; ++k) {
        CAPTURE(k);
        std::vector<Pose> poses = {random.pose(two.reach)};
        if (!two.has_ground()) poses.push_back(random.pose(two.reach));
        oracle.set({joined(poses), std::vector<double>(poses.size() * 6), {}, {}});
        oracle.forward();
        ours.set("xpos", places_of(oracle, "xpos"));
        ours.set("xquat", places_of(oracle, "xquat"));
        Numbers at;
        for (const char* name : given) at[name] = ours.numbers(name);
        const Numbers weights = random_numbers(ours, random, true);
        const Slopes s = slopes(ours, at, random_numbers(ours, random, false), weights);
        for (const auto& [name, values] : at) ours.set(name, values);
        // A step over a place where other features meet shows in the differences themselves.
        if (s.error > 1e-4 * (1 + std::fabs(s.difference))) {
            ++kinks;
            continue;
        }
        CHECK(std::fabs(s.adjoint - s.difference) < 1e-6 * (1 + std::fabs(s.difference)));
    }
    CHECK(kinks <= jumps);
}

// Several bodies with every type among them.
const std::string many = std::string("<mujoco>") + hull_assets + R"(<worldbody>
  <geom type="plane" size="1 1 1" quat="0.9 0.1 -0.2 0.15"/>
  <body><freejoint/><geom size="0.2"/></body>
  <body><freejoint/><geom type="capsule" size="0.1 0.25"/></body>
  <body><freejoint/><geom size="0.15"/></body>
  <body><freejoint/><geom type="box" size="0.15 0.2 0.25"/></body>
  <body><freejoint/><geom type="capsule" size="0.05 0.3"/></body>
  <body><freejoint/><geom type="box" size="0.05 0.2 0.35"/></body>
  <body><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  <body><freejoint/><geom type="capsule" size="0.1 0.2"/></body>
  <body><freejoint/><geom type="ellipsoid" size="0.1 0.25 0.17"/></body>
  <body><freejoint/><geom type="cylinder" size="0.12 0.25"/></body>
  <body><freejoint/><geom type="mesh" mesh="stone"/></body>
  <body><freejoint/><geom type="mesh" mesh="prism"/></body>
</worldbody></mujoco>)";

}  // namespace

TEST_CASE("contacts have exact derivatives by places, orientations and sizes") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : closed_forms()) check_gradients(two, 60, 3);
}

TEST_CASE("contacts of general convex shapes have exact derivatives, too") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : convex_shapes()) check_gradients(two, 60, 5);
}

TEST_CASE("contacts of height fields have exact derivatives, too") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : height_fields()) check_gradients(two, 20, 3);
}

TEST_CASE("contacts and their derivatives have the same bits on every device") {
    HINDCAST_NEEDS_MUJOCO();
    Oracle oracle(many, "many.xml");
    // Kernels of general convex shapes take long to compile: f32 with HINDCAST_FULL.
    std::vector<ir::Precision> precisions = {ir::Precision::f64};
    if (test::full()) precisions.push_back(ir::Precision::f32);
    for (const ir::Precision precision : precisions) {
        Numbers expected;
        for (const auto& device : devices()) {
            CAPTURE(device->describe());
            OurContacts ours(oracle.model(), device, precision);
            RandomPoses random(3);
            for (int k = 0; k < 3; ++k) {
                std::vector<Pose> poses;
                for (int b = 0; b < 12; ++b) poses.push_back(random.pose(0.3));
                oracle.set({joined(poses), std::vector<double>(72), {}, {}});
                oracle.forward();
                ours.set("xpos", places_of(oracle, "xpos"));
                ours.set("xquat", places_of(oracle, "xquat"));
                const Numbers weights = random_numbers(ours, random, true);
                ours.run();
                for (const char* name : given) ours.array(name).gradient().fill(0);
                for (const char* name : {"geom_xpos", "geom_xmat"})
                    ours.array(name).gradient().fill(0);
                for (const char* name : made) ours.array(name).gradient().assign(weights.at(name));
                ours.run_adjoint();
                device->synchronize();
                const auto same = [&](const std::string& name, const std::vector<double>& values) {
                    CAPTURE(name);
                    const std::string key = name + std::to_string(k);
                    if (expected.contains(key))
                        CHECK(same_bits(values, expected[key]));
                    else
                        expected[key] = values;
                };
                for (const char* name : made) same(name, ours.numbers(name));
                same("contact_slot", ours.numbers("contact_slot"));
                for (const char* name : given)
                    same(std::string("gradient of ") + name,
                         ours.array(name).gradient().to_doubles());
            }
        }
    }
}

// An ellipsoid that lies on a box, a mesh on a height field.
TEST_CASE("gradients of scenes pass over the search for what meets") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = std::string("<mujoco>") + hull_assets + R"(<worldbody>
      <geom type="box" size="1 1 0.1"/><geom type="hfield" hfield="hills" pos="3 0 0"/>
      <body pos="0 0 0.29"><freejoint/><geom type="ellipsoid" size="0.1 0.25 0.2" mass="1"/></body>
      <body pos="3 0 0.35"><freejoint/><geom type="mesh" mesh="stone" mass="1"/></body>
      </worldbody></mujoco>)";
    Ours ours(text, 0.01, 2,
              R"(, "objective": [{"type": "array_target", "array": "robot.qvel", "target": 0.1}],
                 "parameters": [{"path": "robot.qpos"}])");
    ours.simulation().run(true);
    const std::vector<double> gradient = ours.simulation().gradient();
    model::Quantity* const qpos = ours.simulation().model().find_quantity("robot.qpos");
    const std::vector<double> start = qpos->values;
    double scale = 0;
    for (const double g : gradient) scale = std::max(scale, std::fabs(g));
    REQUIRE(scale > 1);
    for (std::size_t k = 0; k < start.size(); ++k) {
        CAPTURE(k);
        const auto loss = [&](double by) {
            qpos->values[k] = start[k] + by;
            qpos->upload();
            return ours.simulation().run();
        };
        const double slope = (8 * (loss(1e-6) - loss(-1e-6)) - (loss(2e-6) - loss(-2e-6))) / 12e-6;
        CHECK(std::fabs(slope - gradient[k]) < 1e-6 * scale);
        qpos->values = start;
    }
}
