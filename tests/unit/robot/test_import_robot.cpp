// hindcast import: a scene of a robot's model.
#include <doctest/doctest.h>

#include <fstream>

#include "engine/document/document.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

void write_model(const std::filesystem::path& file) {
    std::ofstream(file) << R"(<mujoco><option timestep="0.004"/><worldbody>
        <geom type="plane" size="1 1 1"/>
        <body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody>
        <keyframe><key name="low" qpos="0 0 0.3 1 0 0 0"/></keyframe></mujoco>)";
}

}  // namespace

TEST_CASE("import: a model becomes a scene that runs") {
    HINDCAST_NEEDS_PROGRAM();
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const std::filesystem::path model = folder / "two words.xml", scene = folder / "two words.json";
    write_model(model);
    const Finished made = run_program({"import", model.string()});
    CHECK_MESSAGE(made.status == 0, made.err);
    const document::Document text = document::Document::load(scene);
    const document::Node& body = text.root().find("bodies")->item(0);
    CHECK(body.find("name")->string() == "two_words");
    CHECK(body.find("model")->string() == "two words.xml");
    CHECK(body.find("keyframe")->string() == "low");
    CHECK(text.root().find("time")->find("step")->string() == "1/250");
    const Finished run =
        run_program({"run", scene.string(), "--output", (folder / "out").string()});
    CHECK_MESSAGE(run.status == 0, run.err);

    const Finished again = run_program({"import", model.string()});
    CHECK(again.status == 1);
    CHECK_MESSAGE(again.err.find("is there already; write --force") != std::string::npos,
                  again.err);
    CHECK(run_program({"import", model.string(), "--force"}).status == 0);
    std::filesystem::create_directory(folder / "scenes");
    const Finished apart =
        run_program({"import", model.string(), "-o", (folder / "scenes" / "robot.json").string()});
    CHECK(apart.status == 1);
    CHECK_MESSAGE(apart.err.find("may not read the model") != std::string::npos, apart.err);
    CHECK_MESSAGE(apart.err.find("--allow-path") != std::string::npos, apart.err);
}

TEST_CASE("import: a model in another folder that is allowed") {
    HINDCAST_NEEDS_PROGRAM();
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "models/robots");
    std::filesystem::create_directories(folder / "scenes");
    write_model(folder / "models/robots/ball.xml");
    const auto import = [&](const char* allowed) {
        return run_program({"import", "models/robots/ball.xml", "-o", "scenes/ball.json",
                            "--allow-path", allowed, "--force"},
                           folder.path());
    };
    const Finished other = import("scenes");
    CHECK(other.status == 1);
    CHECK_MESSAGE(other.err.find("may not read the model") != std::string::npos, other.err);
    for (const char* allowed : {"models/robots", "models"}) {
        const Finished made = import(allowed);
        CHECK_MESSAGE(made.status == 0, made.err);
        const std::string said =
            "hindcast run scenes/ball.json --allow-path " + std::string(allowed);
        CHECK_MESSAGE(made.out.find(said) != std::string::npos, made.out);
        // The command that it names runs, and another folder is still refused to the scene.
        const Finished run = run_program(
            {"run", "scenes/ball.json", "--allow-path", allowed, "--steps", "2"}, folder.path());
        CHECK_MESSAGE(run.status == 0, run.err);
        CHECK(run_program({"run", "scenes/ball.json", "--steps", "2"}, folder.path()).status == 1);
    }
}

TEST_CASE("import: what is no model, and a model where a scene is wanted") {
    HINDCAST_NEEDS_PROGRAM();
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const Finished no_model = run_program({"import", (folder / "scene.json").string()});
    CHECK(no_model.status == 1);
    CHECK_MESSAGE(
        no_model.err.find("is not a model of a robot; give a file in MJCF") != std::string::npos,
        no_model.err);
    write_model(folder / "robot.xml");
    const Finished run = run_program({"run", (folder / "robot.xml").string()});
    CHECK(run.status == 1);
    CHECK_MESSAGE(
        run.err.find("is a model of a robot, not a scene; 'hindcast import'") != std::string::npos,
        run.err);
}
