// The files that a model is read from, and results that take them along.
#include <doctest/doctest.h>

#include "engine/robot/model_files.hpp"
#include "engine/sim/results/results.hpp"
#include "tests/robots/oracle.hpp"
#include "tests/support/error_message.hpp"

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

// Models of several files whose names occur in more than one folder. Each begins at robots/arm.xml.
struct FileLayout {
    const char* name;
    std::vector<std::pair<const char*, std::string>> files;
};

const std::string link =
    R"(<body name="link" pos="0 0 1"><joint axis="0 1 0"/><geom size="0.1" mass="2"/></body>)";
const std::string mesh_body =
    R"(<body><joint axis="0 1 0"/><geom type="mesh" mesh="left" contype="0" conaffinity="0"/>
       <geom type="mesh" mesh="right" contype="0" conaffinity="0"/></body>)";

std::string including(const std::string& file, const std::string& more = "") {
    return "<mujoco><include file=\"" + file + "\"/>" + more + "</mujoco>";
}
std::string world(const std::string& bodies) {
    return "<mujoco><worldbody>" + bodies + "</worldbody></mujoco>";
}
std::string meshes(const std::string& left, const std::string& right) {
    return "<asset><mesh name=\"left\" file=\"" + left + "\"/><mesh name=\"right\" file=\"" +
           right + "\"/></asset>";
}
std::string larger_tetrahedron() {
    std::string text = tetrahedron;
    for (std::size_t at; (at = text.find("0.1")) != std::string::npos;) text.replace(at, 3, "0.3");
    return text;
}

std::vector<FileLayout> layouts() {
    const std::string large = larger_tetrahedron();
    return {
        {"the same name in a folder below",
         {{"arm.xml", including("parts/arm.xml")}, {"parts/arm.xml", world(link)}}},
        {"the same name in a folder beside",
         {{"arm.xml", including("../common/arm.xml")}, {"../common/arm.xml", world(link)}}},
        {"the same name in capitals",
         {{"arm.xml", including("parts/ARM.XML")}, {"parts/ARM.XML", world(link)}}},
        {"nested, named from the model's folder",
         {{"arm.xml", including("parts/arm.xml")},
          {"parts/arm.xml", including("parts/deep/arm.xml")},
          {"parts/deep/arm.xml", world(link)}}},
        {"nested, named from the folder of the file that includes",
         {{"arm.xml", including("parts/arm.xml")},
          {"parts/arm.xml", including("deep/link.xml", "<option timestep=\"0.004\"/>")},
          {"parts/deep/link.xml", world(link)}}},
        {"meshes of one name in two folders",
         {{"arm.xml", "<mujoco>" + meshes("a/tip.obj", "b/tip.obj") + "<worldbody>" + mesh_body +
                          "</worldbody></mujoco>"},
          {"a/tip.obj", tetrahedron},
          {"b/tip.obj", large}}},
        {"meshes of one name in meshdir and below it",
         {{"arm.xml", including("parts/arm.xml", "<worldbody>" + mesh_body + "</worldbody>")},
          {"parts/arm.xml",
           "<mujoco><compiler meshdir=\"meshes\"/>" + meshes("tip.obj", "b/tip.obj") + "</mujoco>"},
          {"meshes/tip.obj", tetrahedron},
          {"meshes/b/tip.obj", large}}},
        {"meshes in assetdir, and beside the file that names them",
         {{"arm.xml", including("parts/arm.xml", "<worldbody>" + mesh_body + "</worldbody>")},
          {"parts/arm.xml", "<mujoco><compiler assetdir=\"assets\"/>" +
                                meshes("tip.obj", "own/tip.obj") + "</mujoco>"},
          {"assets/tip.obj", tetrahedron},
          {"parts/own/tip.obj", large}}},
        {"a model of the same name that is attached",
         {{"arm.xml", R"(<mujoco><asset><model name="hand" file="hand/arm.xml"/></asset><worldbody>
              <body name="wrist"><joint axis="1 0 0"/><geom size="0.2"/>
              <attach model="hand" body="link" prefix="h_"/></body></worldbody></mujoco>)"},
          {"hand/arm.xml", including("hand.xml")},
          {"hand/hand.xml", world(link)}}},
    };
}

void write_layout(const fs::path& folder, const FileLayout& layout) {
    for (const auto& [file, text] : layout.files) write(folder / "robots" / file, text);
}

// A model as MuJoCo itself reads it from its folder.
robot::RobotModel read_by_mujoco(const fs::path& file) {
    const auto load = reinterpret_cast<void* (*)(const char*, const void*, char*, int)>(
        robot::mujoco_library().function("mj_loadXML"));
    const auto free =
        reinterpret_cast<void (*)(void*)>(robot::mujoco_library().function("mj_deleteModel"));
    std::string why(1000, '\0');
    void* const model = load(file.c_str(), nullptr, why.data(), static_cast<int>(why.size()));
    REQUIRE_MESSAGE(model != nullptr, why);
    robot::CompiledModel compiled;
    compiled.memory = {static_cast<const std::byte*>(model),
                       [free, model](const std::byte*) { free(model); }};
    return robot::RobotModel(compiled);
}

}  // namespace

TEST_CASE("files of a model: files of one name in several folders are as MuJoCo reads them") {
    HINDCAST_NEEDS_MUJOCO();
    for (const FileLayout& layout : layouts()) {
        CAPTURE(layout.name);
        const TemporaryFolder folder;
        write_layout(folder.path(), layout);
        const fs::path file = folder / "robots/arm.xml";
        const robot::RobotModel expected = read_by_mujoco(file);
        const robot::RobotModel model = robot::RobotModel::load(file);
        CHECK(model.sizes() == expected.sizes());
        CHECK(model.size("njnt") > 0);
        for (const robot::ModelArray& array : expected.arrays())
            CHECK_MESSAGE(model.array(array.name).values == array.values, array.name);
        for (const auto kind : {robot::ObjectKind::body, robot::ObjectKind::mesh})
            CHECK(model.names(kind) == expected.names(kind));
    }
}

TEST_CASE("files of a model: a model that includes itself is refused") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    write(folder / "arm.xml", including("arm.xml"));
    const std::string said = message([&] { robot::RobotModel::load(folder / "arm.xml"); });
    CHECK(said.find("File 'arm.xml' already included") != std::string::npos);
    CHECK(said.find('\x01') == std::string::npos);
}

TEST_CASE("results: a robot of files of one name in several folders is saved whole") {
    HINDCAST_NEEDS_MUJOCO();
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    const std::string scene = R"({"format": 1, "time": {"step": 0.01, "steps": 2}, "bodies":
        [{"type": "articulated", "name": "arm", "model": "robots/arm.xml"}]})";
    for (const FileLayout& layout : layouts()) {
        CAPTURE(layout.name);
        const TemporaryFolder folder, elsewhere;
        write_layout(folder.path(), layout);
        Simulation first(
            Scene::of(document::Document::parse(scene, "scene"), folder / "scene.json"),
            all_modules(), options);
        first.run();
        save_scene(first, elsewhere.path(), "scene.json");
        fs::remove_all(folder / "robots");
        fs::remove_all(folder / "common");
        Simulation again(Scene::load(elsewhere / "scene.json"), all_modules(), options);
        again.run();
        CHECK((again.state_hash().digest() == first.state_hash().digest()));
    }
}

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
