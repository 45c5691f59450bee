// MuJoCo's library: found, of the right release, and its compiler's words passed on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/robot/robot_model.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::robot;
using namespace hindcast::test;
namespace fs = std::filesystem;

namespace {

const std::string remedy =
    "; app/run fetches MuJoCo's library; or pip install mujoco-core==4.0.1, or set "
    "HINDCAST_MUJOCO to its libmujoco.so.4.0.1";

bool has_compiler() { return std::system("c++ --version >/dev/null 2>&1") == 0; }

// A library of this text in C.
std::string built(const TemporaryFolder& folder, const std::string& text) {
    const std::string source = (folder / "fake.c").string(),
                      library = (folder / "fake.so").string();
    std::ofstream(source) << text;
    REQUIRE(std::system(("c++ -x c -shared -fPIC -o " + library + " " + source).c_str()) == 0);
    return library;
}

std::string refusal(const std::string& text, const fs::path& file = "/robots/arm.xml") {
    return message([&] { RobotModel::from_text(text, file); });
}

}  // namespace

TEST_CASE("MuJoCo's library: a file that is not there") {
    const MujocoLibrary library("/nowhere/libmujoco.so");
    CHECK(!library.info().available);
    CHECK(message([&] { (void)library.compile("<mujoco/>", "a.xml"); }) ==
          "models of robots cannot be read: '/nowhere/libmujoco.so' cannot be opened: "
          "/nowhere/libmujoco.so: cannot open shared object file: No such file or directory" +
              remedy);
    CHECK(message([&] { (void)library.function("mj_step"); }).find("cannot be opened") !=
          std::string::npos);
}

TEST_CASE("MuJoCo's library: another release is refused before anything is read") {
    if (!has_compiler()) HINDCAST_SKIP("no C++ compiler");
    const TemporaryFolder folder;
    const std::string path = built(folder, "int mj_version(void) { return 3003007; }");
    const MujocoLibrary library(path);
    CHECK(!library.info().available);
    CHECK(library.info().version == "3.3.7");
    CHECK(message([&] { (void)library.compile("<mujoco/>", "a.xml"); }) ==
          "models of robots cannot be read: MuJoCo 3.3.7 was found ('" + path +
              "') where 4.0.1 is needed" + remedy);
}

TEST_CASE("MuJoCo's library: a library of something else") {
    if (!has_compiler()) HINDCAST_SKIP("no C++ compiler");
    const TemporaryFolder folder;
    const MujocoLibrary other(built(folder, "int other(void) { return 1; }"));
    CHECK(other.info().problem == "the library of MuJoCo has no function mj_version");
    const TemporaryFolder half_folder;
    const MujocoLibrary half(built(half_folder, "int mj_version(void) { return 4000001; }"));
    CHECK(half.info().problem == "the library of MuJoCo has no function mj_defaultVFS");
}

TEST_CASE("MuJoCo's library: found in the cache's folder") {
    const fs::path library = mujoco_folder() / "mujoco/libmujoco.so.4.0.1";
    if (!fs::exists(library)) HINDCAST_SKIP("no build/mujoco");
    const Cache cache;
    fs::copy(library, cache.path() / "libmujoco.so.4.0.1");
    const MujocoLibrary found;
    CHECK(found.info().available);
    CHECK(found.info().version == "4.0.1");
    CHECK(found.info().path == (cache.path() / "libmujoco.so.4.0.1").string());
}

TEST_CASE("MuJoCo's library: its functions by name") {
    HINDCAST_NEEDS_MUJOCO();
    CHECK(mujoco_library().function("mj_step") != nullptr);
    CHECK(message([] { (void)mujoco_library().function("mj_stop"); }) ==
          "MuJoCo 4.0.1 has no function 'mj_stop'; see mujoco.h for what it has");
}

TEST_CASE("MuJoCo's compiler: what it refuses, with its words and the line") {
    HINDCAST_NEEDS_MUJOCO();
    CHECK(refusal("<mujoco>\n<worldbody>\n<geom typ=\"box\"/></worldbody></mujoco>") ==
          "/robots/arm.xml:3: MuJoCo refuses the model: XML Error: Schema violation: unrecognized "
          "attribute: 'typ'; Element 'geom', line 3");
    CHECK(refusal("<mujoco>\n<worldbody>\n<body><geom type=\"box\" size=\"1\"/></body></worldbody>"
                  "</mujoco>") ==
          "/robots/arm.xml:3: MuJoCo refuses the model: Error: size 1 must be positive in geom; "
          "Element name '', id 0, line 3");
    CHECK(refusal("<mujoco>\n<worldbody>\n<body") ==
          "/robots/arm.xml:3: MuJoCo refuses the model: XML parse error 6:; "
          "Error=XML_ERROR_PARSING_ELEMENT ErrorID=6 (0x6) Line number=3: XMLElement name=body");
    CHECK(refusal("") ==
          "/robots/arm.xml: MuJoCo refuses the model: ParseXML: empty file '/robots/arm.xml'");
    CHECK(refusal("<scene/>") ==
          "/robots/arm.xml: MuJoCo refuses the model: XML Error: Unrecognized XML model type: "
          "'scene'");
    CHECK(refusal("<mujoco><asset><mesh name=\"m\" file=\"m.stl\"/></asset></mujoco>") ==
          "/robots/arm.xml: MuJoCo refuses the model: Error: Error opening file 'm.stl'");
    CHECK(refusal("<mujoco>\n<extension><plugin plugin=\"mujoco.pid\"/></extension></mujoco>") ==
          "/robots/arm.xml:2: MuJoCo refuses the model: XML Error: plugin mujoco.pid not found; "
          "Element 'plugin', line 2");
}

TEST_CASE("MuJoCo's compiler: a line of an included file is not taken for one of the model") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    std::ofstream(folder / "part.xml")
        << "<mujoco>\n\n\n<worldbody><geom typ=\"box\"/></worldbody></mujoco>";
    const fs::path file = folder / "whole.xml";
    CHECK(refusal("<mujoco><include file=\"part.xml\"/></mujoco>", file) ==
          file.string() +
              ": MuJoCo refuses the model: XML Error: Schema violation: unrecognized attribute: "
              "'typ'; Element 'geom', line 0");
}

TEST_CASE("MuJoCo's compiler: what it warns of is kept, and nothing is written anywhere") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    struct Inside {
        const fs::path before = fs::current_path();
        explicit Inside(const fs::path& there) { fs::current_path(there); }
        ~Inside() { fs::current_path(before); }
    } inside(folder.path());
    const RobotModel model = RobotModel::from_text(R"(<robot name="r"><link name="base"/>
        <link name="tip"><inertial><mass value="1"/>
          <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="revolute"><parent link="base"/><child link="tip"/>
          <axis xyz="0 0 1"/><limit lower="1" upper="1" effort="1" velocity="1"/></joint></robot>)");
    CHECK(model.warnings() == std::vector<std::string>{
                                  "joint 'hinge' has equal lower and upper limits, limit ignored"});
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("MuJoCo's compiler: a mesh that has changed is read again") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const auto write = [&](int x) {
        std::ofstream(folder / "m.obj") << "v 0 0 0\nv " << x
                                        << " 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n"
                                           "f 2 3 4\n";
    };
    const std::string text =
        "<mujoco><asset><mesh name=\"m\" file=\"m.obj\"/></asset><worldbody>"
        "<geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>";
    // Twice within the resolution of a file's time, with the same size.
    for (const int x : {2, 3, 4}) {
        write(x);
        const RobotModel model = RobotModel::from_text(text, folder / "m.xml");
        const auto vertices = model.reals("mesh_vert");
        double length = 0;  // the longest edge
        for (std::size_t a = 0; a < vertices.size(); a += 3)
            for (std::size_t b = 0; b < a; b += 3)
                length = std::max(
                    length, std::hypot(vertices[a] - vertices[b], vertices[a + 1] - vertices[b + 1],
                                       vertices[a + 2] - vertices[b + 2]));
        CHECK(length == doctest::Approx(std::sqrt(x * x + 1.0)).epsilon(1e-6));
    }
}

TEST_CASE("MuJoCo's compiler: models on several threads") {
    HINDCAST_NEEDS_MUJOCO();
    std::vector<std::thread> threads;
    std::vector<std::int64_t> bodies(6);
    for (std::size_t t = 0; t < bodies.size(); ++t)
        threads.emplace_back([&bodies, t] {
            std::string text = "<mujoco><worldbody>";
            for (std::size_t i = 0; i < t; ++i) text += "<body><joint/><geom size=\"1\"/></body>";
            for (int again = 0; again < 5; ++again)
                bodies[t] = RobotModel::from_text(text + "</worldbody></mujoco>").size("nbody");
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < bodies.size(); ++t) CHECK(bodies[t] == static_cast<int>(t) + 1);
}
