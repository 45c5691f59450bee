// The files that a model is read from, and results that take them along.
#include <doctest/doctest.h>

#include "engine/robot/model_files.hpp"
#include "engine/sim/results/results.hpp"
#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

namespace fs = std::filesystem;

const char* const tetrahedron = R"(v 0 0 0
v 0.1 0 0
v 0 0.1 0
v 0 0 0.1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
)";

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

// A model that includes another, with a mesh in a folder of meshes.
void write_model(const fs::path& folder) {
    write(folder / "robots/arm.xml", R"(<mujoco><!-- <include file="gone.xml"/> -->
      <compiler meshdir='meshes &amp; more'/><include file = "parts/assets.xml"/>
      <worldbody><body><joint axis="0 1 0"/><geom type="mesh" mesh="tip" contype="0" conaffinity="0"/>
      </body></worldbody></mujoco>)");
    write(folder / "robots/parts/assets.xml",
          R"(<mujocoinclude><asset><mesh name="tip" file="tip.obj"/></asset></mujocoinclude>)");
    write(folder / "robots/meshes & more/tip.obj", tetrahedron);
    write(folder / "robots/other.obj", tetrahedron);
}

}  // namespace

TEST_CASE("files of a model: what it includes and names, and nothing else") {
    const TemporaryFolder folder;
    write_model(folder.path());
    const auto files = robot::files_of_model(folder / "robots/arm.xml");
    std::vector<std::string> names;
    for (const fs::path& file : files)
        names.push_back(file.lexically_relative(fs::absolute(folder.path())).generic_string());
    CHECK(names == std::vector<std::string>{"robots/arm.xml", "robots/parts/assets.xml",
                                            "robots/meshes & more/tip.obj"});
    // A model that is damaged, or includes itself, has its files still.
    write(folder / "a.xml",
          R"(<mujoco><include file="a.xml"/><mesh file="robots/other.obj"/><x y="1)");
    CHECK(robot::files_of_model(folder / "a.xml").size() == 2);
    write(folder / "a.xml", "<");
    CHECK(robot::files_of_model(folder / "a.xml").size() == 1);
    CHECK_THROWS_AS(robot::files_of_model(folder / "gone.xml"), Error);
}

TEST_CASE("results: a saved scene has its robot with it, and runs to the same state") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder, elsewhere;
    write_model(folder.path());
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    const std::string scene = R"({"format": 1, "time": {"step": 0.01, "steps": 3}, "bodies":
        [{"type": "articulated", "name": "arm", "model": "robots/arm.xml", "qvel": [2]}]})";
    Simulation first(Scene::of(document::Document::parse(scene, "scene"), folder / "scene.json"),
                     all_modules(), options);
    first.run();
    save_scene(first, elsewhere.path(), "scene.json");
    fs::remove_all(folder / "robots");
    Simulation again(Scene::load(elsewhere / "scene.json"), all_modules(), options);
    again.run();
    CHECK((again.state_hash().digest() == first.state_hash().digest()));
}
