// What an articulated body refuses, and how it says so.
#include <doctest/doctest.h>

#include "tests/robots/oracle.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/program.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Two geoms, a hinge and a slide; what is put into its places is empty in the plain one.
struct Parts {
    std::string option = {}, joint = {}, geom = R"(contype="0" conaffinity="0")", more = {};
};
std::string text_of(const Parts& p) {
    return "<mujoco><option " + p.option + R"(/><worldbody>
        <geom name="floor" type="plane" size="1 1 1"/>
        <body name="upper"><joint name="hip" axis="0 1 0" )" +
           p.joint + R"(/><geom name="thigh" size="0.1" )" + p.geom + R"(/>
          <site name="s"/><site name="t" pos="0 0 1"/>
          <body name="lower"><joint name="knee" type="slide"/>
            <geom name="shin" size="0.1" contype="0" conaffinity="0"/></body></body>
      </worldbody>)" +
           p.more + "</mujoco>";
}
std::string refusal(const Parts& parts) {
    return message([&] { Ours(text_of(parts), 0.01, 1); });
}

}  // namespace

TEST_CASE("articulated bodies: what is not simulated is refused by name, with a remedy") {
    HINDCAST_NEEDS_MUJOCO();
    CHECK(refusal({}) == "no error");
    const auto says = [](const Parts& parts, const std::string& words) {
        const std::string said = refusal(parts);
        CHECK_MESSAGE(said.find("at /bodies/0/model: " + words) != std::string::npos, said);
    };
    CHECK(refusal({.geom = ""}) == "no error");
    CHECK(refusal({.more = R"(<contact><pair geom1="thigh" geom2="floor"/></contact>)"}) ==
          "no error");
    CHECK(refusal({.more = R"(<worldbody><geom name="post" type="cylinder" size="0.1 1"/><body>
              <freejoint/><geom name="egg" type="ellipsoid" size="0.1 0.2 0.3"/></body></worldbody>)"}) ==
          "no error");
    CHECK(refusal({.option = R"(integrator="discrete")"}) == "no error");
    says({.option = R"(integrator="implicit")"}, "option integrator = implicit is not supported");
}

TEST_CASE("articulated bodies: flags turn off what would be refused") {
    HINDCAST_NEEDS_MUJOCO();
    const Parts everything{.joint = R"(range="-10 10" frictionloss="0.1")",
                           .geom = "",
                           .more = R"(<equality><connect body1="upper" anchor="0 0 1"/></equality>
        <option><flag constraint="disable"/></option>)"};
    CHECK(refusal(everything) == "no error");
}

TEST_CASE("articulated bodies: faults of the scene are at its keys") {
    HINDCAST_NEEDS_MUJOCO();
    TemporaryFolder folder;
    std::ofstream(folder / "robot.xml") << text_of({});
    std::ofstream(folder / "damaged.xml") << "<mujoco><worldbody><body>";
    std::ofstream(folder / "still.xml") << "<mujoco/>";
    const auto said = [&](const std::string& body, const std::string& keys = "") {
        const std::string scene = R"({"format": 1, "time": {"step": 0.01, "steps": 1}, )" + keys +
                                  R"("bodies": [{"type": "articulated", "name": "robot", )" + body +
                                  "}]}";
        return message([&] {
            SimulationOptions options;
            options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
            Simulation(Scene::of(document::Document::parse(scene, "scene"), folder / "scene.json"),
                       all_modules(), options);
        });
    };
    const auto says = [](const std::string& text, const std::string& words) {
        CHECK_MESSAGE(text.find(words) != std::string::npos, text);
    };
    CHECK(said(R"("model": "robot.xml")") == "no error");
    says(said(R"("model": "missing.xml")"), "at /bodies/0/model");
    says(said(R"("model": "damaged.xml")"), "at /bodies/0/model");
    says(said(R"("model": "still.xml")"), "the model has no joints: nothing moves");
    says(said(R"("model": "robot.xml", "keyframe": "home")"), "at /bodies/0/keyframe");
    says(said(R"("model": "robot.xml", "qpos": [0, 0, 0])"), "at /bodies/0/qpos");
    says(said(R"("model": "robot.xml", "ctrl": [1])"),
         "at /bodies/0/ctrl: the model has nothing that it would be a number of");
    says(said(R"("model": "robot.xml", "body_mass": [0, 1, -2])"), "at /bodies/0/body_mass");
    says(said(R"("model": "robot.xml")", R"("dimension": 2, "gravity": [0, 0], )"),
         "articulated bodies live in scenes of dimension 3");
}

TEST_CASE("articulated bodies: without MuJoCo's library a scene says what it needs, at the model") {
    HINDCAST_NEEDS_PROGRAM();
    const Environment hidden("HINDCAST_MUJOCO", "/no/such/library");
    TemporaryFolder folder;
    const Finished run =
        run_program({"run", source_dir + std::string("/kernels/articulated/coverage.json"),
                     "--output", (folder / "out").string()});
    CHECK(run.status != 0);
    CHECK_MESSAGE(
        run.err.find("coverage.json: at /bodies/0/model: models of robots cannot be read: "
                     "'/no/such/library' cannot be opened") != std::string::npos,
        run.err);
    CHECK(run.err.find("app/run fetches MuJoCo's library") != std::string::npos);
}
