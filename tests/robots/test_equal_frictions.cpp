// Frictions of two geoms that touch: a contact takes the larger number, so that equal ones are a kink,
// which gradient checks and identification name.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "engine/sim/gradients/gradient_check.hpp"
#include "engine/sim/identification/identification.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A box that slides on a floor.
std::string sled(double floor, double box, const std::string& more = "") {
    const auto friction = [](double sliding) {
        return "friction=\"" + std::to_string(sliding) + " 0.005 0.0001\"";
    };
    return R"(<mujoco><option timestep="0.005" cone="elliptic"/><worldbody>
        <geom name="floor" type="plane" size="5 5 1" )" +
           friction(floor) + R"(/><body name="sled" pos="0 0 0.0995"><freejoint name="free"/>
        <geom name="box" type="box" size="0.1 0.1 0.1" )" +
           friction(box) + " " + more + "/></body></worldbody></mujoco>";
}

struct Sliding {
    TemporaryFolder folder;
    SimulationOptions options;
    std::unique_ptr<Scene> scene;

    explicit Sliding(const std::string& model) {
        std::ofstream(folder / "sled.xml") << model;
        std::ofstream(folder / "sled.csv") << "time,x\n0,0\n0.02,0.03\n0.05,0.09\n0.1,0.17\n";
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        scene = std::make_unique<Scene>(Scene::of(
            document::Document::parse(R"({"format": 1, "time": {"step": 0.005, "steps": 20},
                "bodies": [{"type": "articulated", "name": "robot", "model": "sled.xml",
                            "qvel": [2, 0, 0, 0, 0, 0]}],
                "objective": [{"type": "measured", "name": "seen", "of": "robot",
                    "file": "sled.csv",
                    "channels": [{"column": "x", "array": "qpos", "index": "free:0"}]}],
                "parameters": [{"path": "robot.geom_friction", "select": {"names": ["box"]},
                                "components": ["x"]}]})",
                                      "scene"),
            folder / "scene.json"));
    }
    std::string why() const {
        Simulation simulation(*scene, all_modules(), options);
        return simulation.parameters().kinks(simulation.model()).at(0);
    }
};

const std::string told =
    "geom 'floor' and geom 'box' have the same sliding friction 0.5, of which a contact takes the "
    "larger: a kink; write different numbers";

}  // namespace

TEST_CASE("equal frictions: which there are") {
    HINDCAST_NEEDS_MUJOCO();
    CHECK(Sliding(sled(0.5, 0.5)).why() == told);
    CHECK(Sliding(sled(0.5, 0.4)).why() == "");
    CHECK(Sliding(sled(0.5, 0.5, R"(priority="1")")).why() == "");  // the box alone says it
}

TEST_CASE("equal frictions: the check of a gradient says why there is a kink") {
    HINDCAST_NEEDS_MUJOCO();
    const Sliding equal(sled(0.5, 0.5));
    GradientCheckOptions wanted;
    wanted.directions = 0;
    const GradientReport report =
        check_gradients(*equal.scene, all_modules(), equal.options, wanted);
    REQUIRE(report.entries.size() == 1);
    // Less friction of the box changes nothing: the floor's is the larger one.
    CHECK(report.entries[0].verdict == SlopeVerdict::kink);
    CHECK(report.entries[0].left == doctest::Approx(0));
    CHECK(std::fabs(report.entries[0].right) > 1e-5);
    REQUIRE(report.notes().size() == 1);
    CHECK_MESSAGE(report.notes()[0].ends_with("; " + told), report.notes()[0]);

    const Sliding apart(sled(0.4, 0.5));
    const GradientReport smooth =
        check_gradients(*apart.scene, all_modules(), apart.options, wanted);
    CHECK(smooth.entries.at(0).why == "");
    CHECK(to_text(smooth).find("the larger") == std::string::npos);
}

TEST_CASE("equal frictions: identification finds that its values are a kink") {
    HINDCAST_NEEDS_MUJOCO();
    const auto findings = [](const Sliding& of) {
        Simulation simulation(*of.scene, all_modules(), of.options);
        return Identification(simulation).check().findings;
    };
    const auto found = findings(Sliding(sled(0.5, 0.5)));
    REQUIRE(!found.empty());  // also that the data do not depend on it, with the lower side's slope
    CHECK_MESSAGE(found.back().ends_with("x: " + told), found.back());
    CHECK(findings(Sliding(sled(0.4, 0.5))).empty());
}
