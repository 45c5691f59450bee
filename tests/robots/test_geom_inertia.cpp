// Inertias from geoms: steps are those of MuJoCo's model of the same text with other shapes and densities,
// which its compiler makes anew; and so are the derivatives.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/robots/constrained_models.hpp"
#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// The numbers of one geom of the models below; those that its type does not have say nothing.
struct GeomNumbers {
    std::string type, rest;  // `rest`: other attributes
    bool has_mass = false;
    double size[3], pos[3], quat[4], weight;  // density or mass
};

std::string text_of(const GeomNumbers& g) {
    return fmt::format(
        R"(<geom type="{}" size="{:.17g} {:.17g} {:.17g}" pos="{:.17g} {:.17g} {:.17g}")"
        R"( quat="{:.17g} {:.17g} {:.17g} {:.17g}" {}="{:.17g}" contype="0" conaffinity="0" {}/>)",
        g.type, g.size[0], g.size[1], g.size[2], g.pos[0], g.pos[1], g.pos[2], g.quat[0], g.quat[1],
        g.quat[2], g.quat[3], g.has_mass ? "mass" : "density", g.weight, g.rest);
}

// Two bodies from geoms, and one between them with an inertia of its own, whose geoms say nothing.
std::string model_of(const std::vector<GeomNumbers>& geoms) {
    std::string first, second;
    for (std::size_t k = 0; k < geoms.size(); ++k)
        (k + 2 < geoms.size() ? first : second) += text_of(geoms[k]);
    return R"(<mujoco><option timestep="0.005" integrator="implicitfast"/><worldbody>
      <geom type="plane" size="1 1 1" contype="0" conaffinity="0"/>
      <body pos="0 0 1" simple="false"><freejoint/>)" +
           first + R"(<body pos="0.3 0 0" simple="false"><joint type="ball"/>
        <inertial pos="0.1 0.02 0" mass="0.7" diaginertia="0.02 0.03 0.025" euler="10 20 30"/>
        <geom size="0.3" contype="0" conaffinity="0"/>
        <body pos="0 0.4 0.1" simple="false"><joint axis="1 2 0" armature="0.01"/>
          <joint type="slide" axis="0 1 1"/>)" +
           second + "</body></body></body></worldbody></mujoco>";
}

std::vector<GeomNumbers> solids() {
    std::vector<GeomNumbers> all;
    for (const char* type : {"sphere", "capsule", "cylinder", "ellipsoid", "box"})
        for (const bool shell : {false, true}) {
            const std::string name = type;
            if (shell && name == "ellipsoid") continue;
            const double k = static_cast<double>(all.size()),
                         length = std::sqrt(1.13 + 0.01 * k * k);
            all.push_back({type,
                           shell ? R"(shellinertia="true")" : "",
                           all.size() % 3 == 1,
                           {0.1 + 0.01 * k, 0.2 - 0.01 * k, 0.15},
                           {0.1 * k, -0.05 * k, 0.03 * k * k},
                           {1 / length, 0.1 * k / length, -0.2 / length, 0.3 / length},
                           all.size() % 3 == 1 ? 1 + 0.2 * k : 50 + 10 * k});
        }
    return all;
}

double uniform(std::mt19937_64& generator) {
    return static_cast<double>(generator() >> 11) * 0x1p-52 - 1;
}

// Gives ours the numbers of these geoms. The plane is geom 0; geom of the middle body is the third last.
void give(Ours& ours, const std::vector<GeomNumbers>& geoms) {
    std::vector<double> size = ours.quantity("geom_size").values,
                        pos = ours.quantity("geom_pos").values,
                        quat = ours.quantity("geom_quat").values,
                        density = ours.quantity("geom_density").values,
                        mass = ours.quantity("geom_mass").values;
    for (std::size_t k = 0; k < geoms.size(); ++k) {
        const std::size_t g = 1 + k + (k + 2 < geoms.size() ? 0 : 1);
        std::copy_n(geoms[k].size, 3, size.begin() + static_cast<std::ptrdiff_t>(3 * g));
        std::copy_n(geoms[k].pos, 3, pos.begin() + static_cast<std::ptrdiff_t>(3 * g));
        std::copy_n(geoms[k].quat, 4, quat.begin() + static_cast<std::ptrdiff_t>(4 * g));
        (geoms[k].has_mass ? mass : density)[g] = geoms[k].weight;
    }
    for (const auto& [key, values] : {std::pair("geom_size", &size),
                                      {"geom_pos", &pos},
                                      {"geom_quat", &quat},
                                      {"geom_density", &density},
                                      {"geom_mass", &mass}}) {
        model::Quantity& q = ours.quantity(key);
        q.values = *values;
        q.upload();
    }
}

void change(std::vector<GeomNumbers>& geoms, std::mt19937_64& generator) {
    for (GeomNumbers& g : geoms) {
        for (double& s : g.size) s *= 1 + 0.3 * uniform(generator);
        for (double& p : g.pos) p += 0.1 * uniform(generator);
        for (double& q : g.quat) q += 0.2 * uniform(generator);
        g.weight *= 1 + 0.5 * uniform(generator);
    }
}

const char* const from_geoms = R"(, "inertia_numbers": "geoms")";

}  // namespace

TEST_CASE("inertias from geoms: steps are MuJoCo's of the shapes and densities that a scene has") {
    HINDCAST_NEEDS_MUJOCO();
    std::mt19937_64 generator(77);
    Ours ours(model_of(solids()), robot_step, 1, "", from_geoms);
    for (int k = 0; k < 10; ++k) {
        std::vector<GeomNumbers> geoms = solids();
        if (k > 0) {
            change(geoms, generator);
            give(ours, geoms);
        }
        Oracle oracle(model_of(geoms), "robot.xml");
        const RobotState state = oracle.random_state(generator);
        ours.run_beside(oracle, state);
        CHECK(distance(ours.array("qvel"), oracle.state().qvel) < 1e-9);
        CHECK(distance(ours.array("body_mass"), {oracle.field("body_mass").begin(),
                                                 oracle.field("body_mass").end()}) < 1e-12);
    }
}

TEST_CASE("inertias from geoms: derivatives are differences of models compiled anew") {
    HINDCAST_NEEDS_MUJOCO();
    std::mt19937_64 generator(5);
    const std::vector<GeomNumbers> start = solids();
    Ours ours(model_of(start), robot_step, 1,
              R"(, "objective": [{"type": "array_target", "array": "robot.qvel", "target": 0.1}],
                 "parameters": [{"path": "robot.geom_size"}, {"path": "robot.geom_pos"},
                   {"path": "robot.geom_quat"}, {"path": "robot.geom_density"},
                   {"path": "robot.geom_mass"}])",
              from_geoms);
    RobotState state;
    const auto loss = [&](const std::vector<GeomNumbers>& geoms) {
        Oracle oracle(model_of(geoms), "robot.xml");
        if (state.qpos.empty()) state = oracle.random_state(generator);
        oracle.set(state);
        oracle.step();
        double sum = 0;
        for (const double v : oracle.state().qvel) sum += (v - 0.1) * (v - 0.1);
        return sum;
    };
    const double expected = loss(start);
    ours.set(state);
    CHECK(std::fabs(ours.simulation().run(true) / expected - 1) < 1e-9);
    const std::vector<double> gradient = ours.simulation().gradient();
    const std::size_t geoms = start.size() + 2;
    REQUIRE(gradient.size() == geoms * (3 + 3 + 4 + 1 + 1));
    double scale = 0;
    for (const double g : gradient) scale = std::max(scale, std::fabs(g));
    const auto agrees = [&](double found, std::size_t geom, auto number_of) {
        std::vector<GeomNumbers> moved = start;
        const double at = number_of(moved[geom]), step = 1e-5 * (0.1 + std::fabs(at));
        const auto value = [&](double by) {
            number_of(moved[geom]) = at + by;
            return loss(moved);
        };
        const double slope =
            (8 * (value(step) - value(-step)) - (value(2 * step) - value(-2 * step))) / (12 * step);
        CHECK(std::fabs(slope - found) < 1e-6 * scale);
    };
    for (std::size_t k = 0; k < start.size(); ++k) {
        CAPTURE(start[k].type);
        const std::size_t g = 1 + k + (k + 2 < start.size() ? 0 : 1);
        for (std::size_t c = 0; c < 3; ++c) {
            // MuJoCo reads as many sizes as the type has.
            agrees(gradient[3 * g + c], k, [&](GeomNumbers& n) -> double& { return n.size[c]; });
            agrees(gradient[3 * (geoms + g) + c], k,
                   [&](GeomNumbers& n) -> double& { return n.pos[c]; });
        }
        for (std::size_t c = 0; c < 4; ++c)
            agrees(gradient[6 * geoms + 4 * g + c], k,
                   [&](GeomNumbers& n) -> double& { return n.quat[c]; });
        agrees(gradient[(start[k].has_mass ? 11 : 10) * geoms + g], k,
               [](GeomNumbers& n) -> double& { return n.weight; });
        CHECK(gradient[(start[k].has_mass ? 10 : 11) * geoms + g] == 0);
    }
}

TEST_CASE("inertias from geoms: meshes by each of MuJoCo's rules") {
    HINDCAST_NEEDS_MUJOCO();
    // A prism over an angle, which its hull is not; not at its center.
    const std::string shape =
        R"(vertex="0 0 0 2 0 0 2 1 0 1 1 0 1 2 0 0 2 0 0 0 1 2 0 1 2 1 1 1 1 1 1 2 1 0 2 1"
        face="0 2 1 0 3 2 0 4 3 0 5 4 6 7 8 6 8 9 6 9 10 6 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8
              3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11" scale="0.1 0.12 0.3" )";
    for (const char* rule : {"exact", "legacy", "convex", "shell"}) {
        CAPTURE(rule);
        const auto text = [&](double density, double mass) {
            return fmt::format(
                R"(<mujoco><option timestep="0.005" integrator="implicitfast"/>
                <asset><mesh name="angle" inertia="{}" {}/></asset>
                <worldbody><body simple="false"><freejoint/>
                  <geom type="mesh" mesh="angle" density="{:.17g}" pos="0.1 0 0" euler="10 20 30"/>
                  <geom type="mesh" mesh="angle" mass="{:.17g}" pos="-0.2 0.3 0.1"/>
                  <geom size="0.1" density="100"/>
                </body></worldbody></mujoco>)",
                rule, shape, density, mass);
        };
        Ours ours(text(300, 2), robot_step, 1, "", from_geoms);
        ours.quantity("geom_density").values[0] = 500;
        ours.quantity("geom_density").upload();
        ours.quantity("geom_mass").values[1] = 7;
        ours.quantity("geom_mass").upload();
        Oracle oracle(text(500, 7), "robot.xml");
        std::mt19937_64 generator(3);
        const RobotState state = oracle.random_state(generator);
        ours.run_beside(oracle, state);
        // Vertices are in single precision.
        CHECK(distance(ours.array("qvel"), oracle.state().qvel) < 1e-6);
        CHECK(distance(ours.array("body_mass"), {oracle.field("body_mass").begin(),
                                                 oracle.field("body_mass").end()}) < 1e-6);
    }
}

TEST_CASE("inertias from geoms: what does not go with them is refused") {
    HINDCAST_NEEDS_MUJOCO();
    const auto said = [](const std::string& compiler, const std::string& body,
                         const std::string& own) {
        const std::string text = "<mujoco><compiler " + compiler + R"(/><worldbody>
            <body name="plate"><joint/>)" +
                                 body + "</body></worldbody></mujoco>";
        return message([&] { Ours(text, robot_step, 1, "", own); });
    };
    const auto has = [](const std::string& text, const std::string& part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    const std::string ball = R"(<geom name="ball" size="0.1" mass="2"/>)",
                      inertial = R"(<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>)";
    CHECK(said("", ball, from_geoms) == "no error");
    CHECK(said(R"(inertiafromgeom="true")", ball + inertial, from_geoms) == "no error");
    has(said("", ball + inertial, from_geoms),
        "no body of the model has its inertia from its geoms");
    has(said(R"(inertiafromgeom="false")", ball + inertial, from_geoms), "no body of the model");
    has(said(R"(settotalmass="5")", ball, from_geoms),
        "body 'plate' has not the inertia of its geoms (their mass is 2 kg, its mass 5 kg)");
    has(said(R"(inertiagrouprange="1 2")", ball + R"(<geom group="1" size="0.2" density="100"/>)",
             from_geoms),
        "no error");
    has(said("", R"(<geom name="egg" type="ellipsoid" size="1 2 3" shellinertia="true"/>)",
             from_geoms),
        "geom 'egg' is the shell of an ellipsoid");
    has(said("", ball, std::string(from_geoms) + R"(, "body_mass": [0, 2])"),
        "at /bodies/0/body_mass");
    has(said("", ball, R"(, "geom_density": [100])"), "at /bodies/0/geom_density");
    has(said("", ball, R"(, "geom_mass": [1], "inertia_numbers": "pseudo")"),
        "at /bodies/0/geom_mass");
}
