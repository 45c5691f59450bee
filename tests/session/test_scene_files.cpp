// Files that a scene names: found, copied, brought from elsewhere; robots' models opened as scenes.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "app/session/document/editor.hpp"
#include "app/session/document/scene_files.hpp"
#include "engine/base/files.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/session/support.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::session;
using test::message;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

const char* const rock_model = R"(<mujoco>
    <compiler meshdir="meshes"/>
    <asset><mesh name="rock" file="rock.obj"/></asset>
    <worldbody><body><joint axis="0 1 0"/><geom type="mesh" mesh="rock"/></body></worldbody>
</mujoco>)";
const char* const rock = R"(v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
)";

void write_model(const fs::path& folder) {
    write(folder / "robot.xml", rock_model);
    write(folder / "meshes/rock.obj", rock);
}

}  // namespace

TEST_CASE("scene files: those that a scene names, with what models are read from") {
    const test::TemporaryFolder folder;
    write_model(folder / "robots");
    write(folder / "a.npy", "numbers");
    write(folder / "other.npy", "not named");
    const auto scene = document::Document::parse(R"({"$schema": "a.npy",
        "bodies": [{"model": "robots/robot.xml", "name": "a", "from": "a.npy"},
                   {"file": "../outside.npy"}, {"file": "gone.npy"}]})");
    CHECK(files_named_in(scene, folder.path()) ==
          std::vector<fs::path>{"a.npy", "robots/meshes/rock.obj", "robots/robot.xml"});
}

TEST_CASE("scene files: copied as they lie; another file of the same name is not written over") {
    const test::TemporaryFolder from, to;
    write(from / "a.npy", "new");
    write(from / "sub/b.npy", "b");
    write(to / "a.npy", "old");
    const std::vector<fs::path> names{"sub/b.npy", "a.npy"};
    CHECK(message([&] {
              copy_files(names, from.path(), to.path());
          }).starts_with("there is another a.npy in "));
    CHECK(!fs::exists(to / "sub/b.npy"));  // nothing was copied
    CHECK(read_file(to / "a.npy") == "old");
    write(to / "a.npy", "new");
    copy_files(names, from.path(), to.path());
    CHECK(read_file(to / "sub/b.npy") == "b");
    CHECK(message([&] {
              copy_files({"c.npy"}, from.path(), to.path());
          }).find("could not be copied") != std::string::npos);
}

TEST_CASE("scene files: what lies elsewhere is brought beside the scene, with its parts") {
    const test::TemporaryFolder elsewhere, home;
    write_model(elsewhere.path());
    CHECK(brought_beside(elsewhere / "robot.xml", home.path()) == "robot.xml");
    CHECK(read_file(home / "robot.xml") == rock_model);
    CHECK(read_file(home / "meshes/rock.obj") == rock);
    // What lies there already is only named.
    CHECK(brought_beside(home / "meshes/rock.obj", home.path()) == "meshes/rock.obj");
    CHECK(name_below(home / "meshes/../robot.xml", home.path()) == "robot.xml");
    CHECK(!name_below(elsewhere / "robot.xml", home.path()));

    // Meshes beside the model's folder keep their place toward it.
    const test::TemporaryFolder apart, second;
    std::string beside = rock_model;
    beside.replace(beside.find("\"meshes\""), 8, "\"../meshes\"");
    write(apart / "models/robot.xml", beside);
    write(apart / "meshes/rock.obj", rock);
    CHECK(brought_beside(apart / "models/robot.xml", second.path()) == "models/robot.xml");
    CHECK(fs::exists(second / "meshes/rock.obj"));
}

TEST_CASE("scene files: the list of those below a folder, by their endings") {
    const test::TemporaryFolder folder;
    for (const char* name : {"b.OBJ", "a.obj", "c.npy", "x/y/z/deep.obj", "x/y/z/w/deeper.obj"})
        write(folder / name, "");
    CHECK(files_below(folder.path(), {".obj"}) ==
          std::vector<std::string>{"a.obj", "b.OBJ", "x/y/z/deep.obj"});
    CHECK(files_below(folder.path(), {}).size() == 4);
}

TEST_CASE("editor: a robot's model opens as a scene that runs, and is saved with its files") {
    HINDCAST_NEEDS_MUJOCO();
    const test::TemporaryFolder folder, other;
    write_model(folder.path());
    Editor editor(test::all_modules());
    editor.open(folder / "robot.xml");
    CHECK(editor.file().empty());
    CHECK_FALSE(editor.unsaved());
    CHECK(editor.place().parent_path() == folder.path());
    CHECK(editor.document()->at("/bodies/0/model").string() == "robot.xml");
    const auto runs = [](const document::Document& document, const fs::path& file) {
        SimulationOptions options;
        options.device = std::make_shared<Device>();
        return std::make_unique<Simulation>(Scene::of(document, file), test::all_modules(), options)
                   ->steps() == 2500;
    };
    CHECK(runs(*editor.document(), editor.place()));
    editor.set("/name", "mine", "Name");
    editor.save_as(other / "scene.json");
    CHECK(editor.place() == other / "scene.json");
    CHECK(fs::exists(other / "robot.xml"));
    CHECK(fs::exists(other / "meshes/rock.obj"));
    CHECK(runs(document::Document::load(other / "scene.json"), other / "scene.json"));
    CHECK(message([&] { editor.open(folder / "none.xml"); }).find("none.xml") != std::string::npos);
    CHECK(editor.file() == other / "scene.json");  // nothing has changed
}

TEST_CASE("editor: what was not saved of a scene without a file lives where it did") {
    const test::TemporaryFolder state, home;
    Editor editor(test::all_modules());
    editor.keep_in(state.path());
    editor.make_new();
    editor.live_in(home.path());
    editor.set("/name", "mine", "Name");
    REQUIRE(editor.leave_autosave());
    Editor next(test::all_modules());
    next.keep_in(state.path());
    const auto found = next.find_autosave();
    REQUIRE(found);
    CHECK(found->original.empty());
    next.open_autosave(*found);
    CHECK(next.file().empty());
    CHECK(next.place().parent_path() == home.path());
}
