// The schema of scenes: it is the one that is generated, every scene of ours is valid by it, and
// what the reader refuses for its form the schema refuses as well.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "engine/model/model.hpp"
#include "engine/sim/scene/schema.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
namespace fs = std::filesystem;

namespace {

const fs::path scenes = fs::path(hindcast::test::source_dir) / "scenes";

std::vector<fs::path> scene_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(scenes)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".json") && !name.ends_with(".test.json") &&
            !name.ends_with(".schema.json") && entry.path().parent_path().filename() != "pictures")
            files.push_back(entry.path());
    }
    return files;
}

std::vector<std::string> violations(const std::string& text) {
    static const document::Document schema = scene_schema(test::all_modules());
    return test::schema_violations(schema.root(), document::Document::parse(text).root());
}

std::string scene_with(const std::string& more) {
    return R"({"format": 1, "time": {"step": "1/30", "steps": 3})" + more + "}";
}

std::string spring_with(const std::string& more) {
    return scene_with(
        R"(, "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0], [1, 0, 0]]}],
             "forces": [{"type": "springs", "connect": [["ball", 0, "ball", 1]], "stiffness": 1)" +
        more + "}]");
}

}  // namespace

TEST_CASE("schema: the file in scenes/ is the one that is generated") {
    const std::string file = read_file(scenes / "scene.schema.json");
    const std::string generated = scene_schema(test::all_modules()).to_text() + "\n";
    // Not CHECK(a == b): doctest would print both.
    const bool same = file == generated;
    CHECK_MESSAGE(same, "run: hindcast info --schema > scenes/scene.schema.json");
}

TEST_CASE("schema: the program prints it") {
    HINDCAST_NEEDS_PROGRAM();
    const test::Finished run = test::run_program({"info", "--schema"});
    CHECK(run.status == 0);
    const bool same = run.out == scene_schema(test::all_modules()).to_text() + "\n";
    CHECK(same);
}

TEST_CASE("schema: every scene is valid") {
    const document::Document schema = scene_schema(test::all_modules());
    REQUIRE(!scene_files().empty());
    for (const fs::path& file : scene_files()) {
        CAPTURE(file.string());
        const document::Document scene = document::Document::load(file);
        for (const std::string& fault : test::schema_violations(schema.root(), scene.root()))
            FAIL_CHECK(fault);
    }
}

TEST_CASE("schema: valid for another implementation, too") {
    const char* script = R"(
import json, sys
try:
    import jsonschema
    Validator = jsonschema.Draft202012Validator
except (ImportError, AttributeError):
    sys.exit(77)
schema = json.load(open(sys.argv[1]))
Validator.check_schema(schema)
validator = Validator(schema)
for name in sys.argv[2:]:
    for error in validator.iter_errors(json.load(open(name))):
        print(name, error.json_path, error.message)
        sys.exit(1)
)";
    test::TemporaryFolder folder;
    std::ofstream(folder / "check.py") << script;
    std::string command =
        "python3 " + (folder / "check.py").string() + " " + (scenes / "scene.schema.json").string();
    for (const fs::path& file : scene_files()) {
        // Comments are ours alone: the other implementation gets the document without them.
        const fs::path plain = folder / file.filename().string();
        document::Document::load(file).save(plain);
        command += " '" + plain.string() + "'";
    }
    const int status = std::system((command + " 2>/dev/null").c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 77 || code == 127)
        HINDCAST_SKIP("Python with the package jsonschema (4 or newer) is not here");
    CHECK(code == 0);
}

TEST_CASE("schema: valid values") {
    CHECK(violations(scene_with("")).empty());
    CHECK(violations(spring_with("")).empty());
    CHECK(violations(spring_with(R"(, "damping": "1/3", "rest_length": "initial")")).empty());
    CHECK(violations(spring_with(R"(, "rest_length": [1.5])")).empty());
    CHECK(violations(spring_with(R"(, "rest_length": {"formula": "0.1*i"})")).empty());
    CHECK(violations(spring_with(R"(, "rest_length": {"random": {"seed": 1, "uniform": [1, 2]}})"))
              .empty());
    CHECK(violations(scene_with(R"(, "outputs": {"every": 2, "arrays": ["position"]})")).empty());
    CHECK(violations(scene_with(R"(, "gravity": [0, "-981/100"])")).empty());
    CHECK(violations(
              scene_with(R"(, "optimizer": {"type": "adam"}, "parameters": [{"path": "gravity"}])"))
              .empty());
}

TEST_CASE("schema: invalid values") {
    const char* wrong[] = {R"(, "stifness": 3)",
                           R"(, "damping": -1)",
                           R"(, "damping": "much")",
                           R"(, "damping": true)",
                           R"(, "damping": [1, -1])",
                           R"(, "rest_length": {"fromula": "1"})",
                           R"(, "rest_length": {"random": {"seed": 1}})",
                           R"(, "name": "a.b")"};
    for (const char* text : wrong) {
        CAPTURE(text);
        CHECK_FALSE(violations(spring_with(text)).empty());
    }
    const char* wrong_scenes[] = {R"(, "bodys": [])",
                                  R"(, "bodies": [{"name": "no type"}])",
                                  R"(, "bodies": [{"type": "springs"}])",
                                  R"(, "bodies": {})",
                                  R"(, "dimension": 4)",
                                  R"(, "gravity": 9.81)",
                                  R"(, "outputs": {"every": 0})",
                                  R"(, "optimizer": {"type": "gradient_descent"})",
                                  R"(, "parameters": [{"path": 3}])"};
    for (const char* text : wrong_scenes) {
        CAPTURE(text);
        CHECK_FALSE(violations(scene_with(text)).empty());
    }
    CHECK_FALSE(violations(R"({"format": 2, "time": {"step": 1, "steps": 1}})").empty());
    CHECK_FALSE(violations(R"({"format": 1})").empty());
}

TEST_CASE("schema: the reference names every field of every module") {
    const Registry& registry = test::all_modules();
    for (const model::ModuleType& type : registry.all()) {
        const std::string text = reference(type);
        CAPTURE(type.type);
        for (const model::Field& field : type.fields) {
            CHECK(text.find("\n    " + field.key + "  (") != std::string::npos);
            CHECK_MESSAGE(!field.documentation.empty(), field.key);
        }
        CHECK(module_list(registry).find("  " + type.type + " ") != std::string::npos);
    }
}

TEST_CASE("schema: every kernel that stands alone is listed, and described with all it takes") {
    const Registry& registry = test::all_modules();
    CHECK(registry.kernels().size() > 20);
    for (const model::PublishedKernel& kernel : registry.kernels()) {
        CAPTURE(kernel.name);
        const std::string text = reference(kernel);
        for (const model::Field& option : kernel.options)
            CHECK(text.find("\n    " + option.key + "  (") != std::string::npos);
        for (const auto& parameter : kernel.parameters)
            CHECK(text.find("\n    " + parameter.name + "\n") != std::string::npos);
        CHECK(kernel_list(registry).find("  " + kernel.name + " ") != std::string::npos);
        CHECK(&registry.kernel(kernel.name) == &kernel);
    }
    Registry twice;
    twice.publish(registry.kernel("kick"));
    CHECK_THROWS_WITH_AS(twice.publish(registry.kernel("kick")),
                         "two kernels are published as 'kick'", Error);
    CHECK_THROWS_WITH_AS(registry.kernel("kik"),
                         "there is no built-in kernel 'kik'; did you mean 'kick'?", Error);
    HINDCAST_NEEDS_PROGRAM();
    const test::Finished list = test::run_program({"info", "--kernels"});
    CHECK(list.status == 0);
    CHECK(list.out.find(kernel_list(registry)) != std::string::npos);
    const test::Finished one = test::run_program({"info", "--kernel", "kick"});
    CHECK(one.status == 0);
    CHECK(one.out == reference(registry.kernel("kick")));
}

TEST_CASE("the program lists the arrays of a scene, with unit and meaning") {
    HINDCAST_NEEDS_PROGRAM();
    const test::Finished info = test::run_program(
        {"info", "--scene", std::string(test::source_dir) + "/scenes/spring_cage.json"});
    CHECK(info.status == 0);
    CHECK(info.out.find("9 x 3  m/s   velocity of each point; state\n") != std::string::npos);
    CHECK(info.out.find("9  kg    mass of each point\n") != std::string::npos);
}

TEST_CASE("kernels that stand alone: parameters that a form does not use are not there") {
    const model::PublishedKernel& drag = test::all_modules().kernel("drag_force");
    const auto parameters = [&](const char* options) {
        const auto document = document::Document::parse(options);
        std::string names;
        const lang::KernelDef kernel = model::make_kernel(drag, document.root());
        for (const auto& p : kernel.parameters()) names += p.name + " ";
        return names;
    };
    CHECK(parameters("{}") == "linear quadratic wind v force ");
    CHECK(parameters(R"({"quadratic": false})") == "linear wind v force ");
    CHECK(parameters(R"({"gusts": true})") ==
          "linear quadratic wind amplitude frequency phase step h v force ");
}
