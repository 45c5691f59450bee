// The tables of MuJoCo's structs are what the headers of the pinned wheel say.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "engine/base/files.hpp"
#include "engine/robot/layout/model_enums.hpp"
#include "engine/robot/layout/model_layout.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast::robot;
using namespace hindcast::test;
namespace fs = std::filesystem;

TEST_CASE("MuJoCo's structs: the tables are what the headers give") {
    const fs::path layout = fs::path(source_dir) / "engine/robot/layout";
    if (!fs::exists(mujoco_folder() / "mujoco/include")) HINDCAST_SKIP("no build/mujoco");
    if (!fs::exists(layout)) HINDCAST_SKIP("the sources are not here");
    if (std::system("c++ --version >/dev/null 2>&1") != 0) HINDCAST_SKIP("no C++ compiler");
    const TemporaryFolder folder;
    const std::string command = "python3 '" + (layout / "generate.py").string() + "' '" +
                                mujoco_folder().string() + "' --output '" + folder.path().string() +
                                "'";
    REQUIRE(std::system(command.c_str()) == 0);
    for (const char* file : {"model_layout.cpp", "model_enums.hpp", "model_enums.cpp"}) {
        CAPTURE(file);
        CHECK(hindcast::read_file(folder / file) == hindcast::read_file(layout / file));
    }
}

TEST_CASE("MuJoCo's structs: each field is named once, by sizes that are there") {
    std::set<std::string_view> sizes, fields;
    for (const SizeField& size : size_fields()) CHECK(sizes.insert(size.name).second);
    for (const auto& table : {inline_fields(), array_fields()})
        for (const ModelField& field : table) {
            CAPTURE(field.name);
            CHECK(fields.insert(field.name).second);
            CHECK(field.columns > 0);
            CHECK((field.columns_by.empty() || sizes.contains(field.columns_by)));
            CHECK(field.element != Element::int64);
        }
    for (const ModelField& field : array_fields()) CHECK(sizes.contains(field.rows));
    CHECK(array_fields().size() > 200);
    CHECK(layout_version() == 4000001);
}

TEST_CASE("MuJoCo's enums: names of numbers") {
    CHECK(name_of(JointType::hinge) == "hinge");
    CHECK(name_of(JacobianType::auto_) == "auto");
    CHECK(name_of(static_cast<GeomType>(77)) == "");
}
