// The editors of fields in the inspector: each module's object shows no field that is left to the
// text, and what a hand does with lists, alternatives and generators is one step of undo each.
#include <imgui_internal.h>

#include <filesystem>
#include <set>

#include "app/gui/panels/fields/field_view.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "engine/base/files.hpp"
#include "engine/document/npy.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::at;
using test::opened;
using test::Robot;
using test::runs_what_is_edited;
using test::select;
using test::stop_at;
namespace fs = std::filesystem;

namespace {

using TypeName = std::pair<std::string, std::string>;  // section, type

// The objects of a scene: pointer and type.
std::map<std::string, TypeName> objects_of(const document::Document& scene) {
    std::map<std::string, TypeName> objects;
    for (const model::Section section : model::all_sections) {
        const std::string name = model::name_of(section);
        const document::Node* const list = scene.find("/" + name);
        for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
            if (const document::Node* type = list->item(k).find("type"))
                objects["/" + name + "/" + std::to_string(k)] = {name, type->string()};
    }
    return objects;
}

// Coverage scenes in which every type of the registry occurs, as few as a walk in order finds: those
// without robots, which any machine opens, before those that need MuJoCo.
struct CoverageScenes {
    std::vector<fs::path> without_robots, with_robots;
    std::set<TypeName> types;
};

CoverageScenes scenes_with_all_types() {
    std::vector<fs::path> files;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(test::source_dir) / "kernels"))
        if (entry.path().filename().string().starts_with("coverage") &&
            entry.path().extension() == ".json")
            files.push_back(entry.path());
    std::ranges::sort(files);
    CoverageScenes scenes;
    for (const bool robots : {false, true})
        for (const fs::path& file : files) {
            std::set<TypeName> types;
            for (const auto& [pointer, type] : objects_of(document::Document::load(file)))
                types.insert(type);
            if (types.contains({"bodies", "articulated"}) != robots) continue;
            bool is_new = false;
            for (const TypeName& type : types) is_new |= scenes.types.insert(type).second;
            if (is_new) (robots ? scenes.with_robots : scenes.without_robots).push_back(file);
        }
    return scenes;
}

// The labels of the inspector's items that stand for "edit it in the text".
std::vector<std::string> left_to_the_text(ImGuiTestContext& hands) {
    ImGuiTestItemList items;
    hands.GatherItems(&items, "//###Inspector", 12);
    std::vector<std::string> found;
    for (const ImGuiTestItemInfo& item : items)
        if (std::string(item.DebugLabel).starts_with(gui::icon::code))
            found.push_back(item.DebugLabel);
    return found;
}

void open_file(Robot& robot, const fs::path& file) {
    robot.work().opening.open(file);
    REQUIRE(robot.wait([&] { return robot.work().scene.editor().file() == file; }, 120));
    REQUIRE(opened(robot));
    robot.frames(4);
}

std::string line(Robot& robot, const std::string& pointer) {
    const document::Node* const node = at(robot, pointer);
    return node != nullptr ? document::to_line(*node) : "";
}

// The same as the document writes it.
std::string as_line(const std::string& json) {
    return document::to_line(document::Document::parse(json).root());
}

constexpr const char* in_inspector = "//###Inspector/";

void choose(Robot& robot, ImGuiTestContext& hands, const std::string& combo,
            const std::string& word) {
    hands.ItemClick((in_inspector + combo).c_str());
    robot.frames(2);
    hands.ItemClick(("//$FOCUSED/" + word).c_str());
    robot.frames(3);
}

fs::path rope(const test::TemporaryFolder& folder) {
    write_file_atomically(folder / "rope.json", R"({"format": 1,
        "time": {"step": 0.01, "steps": 20}, "gravity": [0, 0, -9.81],
        "bodies": [{"type": "particles", "name": "rope", "mass": 0.1,
                    "positions": [[0, 0, 1], [0.1, 0, 1], [0.2, 0, 1], [0.3, 0, 1]],
                    "fixed": [0]}],
        "forces": [{"type": "springs", "name": "cord", "stiffness": 100,
                    "connect": [["rope", 0, "rope", 1], ["rope", 1, "rope", 2]]}],
        "objective": [{"type": "point_target", "name": "there", "of": "rope",
                       "target": [0.3, 0, 0.5]}]})");
    return folder / "rope.json";
}

// Opens each scene, selects an object of each of its types, and looks for what is left to the text.
void look_at_all_types(const std::vector<fs::path>& scenes) {
    std::set<TypeName> shown;
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        for (const fs::path& file : scenes) {
            open_file(robot, file);
            robot.work().running.play(false);
            for (const auto& [pointer, type] : objects_of(robot.work().scene.document())) {
                if (!shown.insert(type).second) continue;
                CAPTURE(file.string());
                CAPTURE(pointer);
                select(robot, pointer);
                CHECK(left_to_the_text(hands).empty());
                for (const bool dark : {true, false}) {
                    robot.work().settings.dark = dark;
                    robot.work().settings.save();
                    robot.frames(2);
                    robot.picture("fields_" + type.second + (dark ? "_dark" : "_light"));
                }
            }
        }
    });
}

}  // namespace

TEST_CASE("gui fields: every module's type occurs in a coverage scene") {
    const std::set<TypeName> types = scenes_with_all_types().types;
    for (const model::ModuleType& type : test::all_modules().all()) {
        CAPTURE(type.type);
        CHECK(types.contains({model::name_of(type.section), type.type}));
    }
}

TEST_CASE("gui fields: no field of any module is left to the text") {
    look_at_all_types(scenes_with_all_types().without_robots);
}

TEST_CASE("gui fields: no field of a robot's modules is left to the text") {
    HINDCAST_NEEDS_MUJOCO();
    look_at_all_types(scenes_with_all_types().with_robots);
}

TEST_CASE("gui fields: what springs connect is written as pairs, a chain, rows of the clipboard") {
    const test::TemporaryFolder folder;
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_file(robot, rope(folder));
        stop_at(robot, 0);
        select(robot, "/forces/0");
        robot.picture("field_pairs");
        choose(robot, hands, "connect/##form", "chain");
        CHECK(line(robot, "/forces/0/connect") == as_line(R"({"chain": "rope"})"));
        CHECK(robot.work().scene.editor().undo_name() == "Change cord.connect: chain");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(3);
        CHECK(at(robot, "/forces/0/connect")->size() == 2);

        // A row is added and corrected by hand; then rows come from the clipboard.
        hands.ItemClick(
            (std::string(in_inspector) + "connect/alternative/" + gui::icon::add + "##add")
                .c_str());
        robot.frames(3);
        CHECK(at(robot, "/forces/0/connect")->size() == 3);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(3);
        ImGui::SetClipboardText("rope\t2\trope\t3\nrope\t0\trope\t3\n");
        hands.ItemClick(
            (std::string(in_inspector) + "connect/alternative/" + gui::icon::book + "##paste")
                .c_str());
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/Paste after the rows");
        robot.frames(3);
        CHECK(
            line(robot, "/forces/0/connect") ==
            as_line(
                R"([["rope", 0, "rope", 1], ["rope", 1, "rope", 2], ["rope", 2, "rope", 3], ["rope", 0, "rope", 3]])"));
        CHECK(robot.work().scene.editor().undo_name() == "Change cord.connect: paste rows");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        robot.picture("field_pasted");
        // What the loader refuses stands beside the field.
        ImGui::SetClipboardText("rope\t2\trope\t9\n");
        hands.ItemClick(
            (std::string(in_inspector) + "connect/alternative/" + gui::icon::book + "##paste")
                .c_str());
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/Paste after the rows");
        CHECK(robot.wait([&] { return robot.now().reports.error != nullptr; }));
        robot.frames(3);
        CHECK(gui::refusal_at(robot.work().running, "/forces/0/connect").find('9') !=
              std::string::npos);
        CHECK(gui::refusal_at(robot.work().running, "/forces/0/stiffness").empty());
        robot.picture("field_refused");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
    });
}

TEST_CASE("gui fields: points as a grid, with live counts; fixed by clicking and by a box") {
    const test::TemporaryFolder folder;
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_file(robot, rope(folder));
        stop_at(robot, 0);
        // The point that was clicked on last goes into the list.
        robot.work().chosen.select({"/bodies/0", 3, "", render::ElementKind::point});
        robot.frames(3);
        hands.ItemClick(
            (std::string(in_inspector) + "fixed/alternative/" + gui::icon::pointer + "##take")
                .c_str());
        robot.frames(3);
        CHECK(line(robot, "/bodies/0/fixed") == "[0, 3]");
        select(robot, "/bodies/0");
        choose(robot, hands, "fixed/##form", "those in a box");
        CHECK(line(robot, "/bodies/0/fixed") ==
              as_line(R"({"box": {"min": [0, 0, 0], "max": [1, 1, 1]}})"));
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        robot.picture("field_box");

        // In place of the written points, a grid of as many from the first one on: then of more
        // along y.
        choose(robot, hands, "positions/rope.positions/written/##form", "grid");
        CHECK(line(robot, "/bodies/0/positions") ==
              as_line(R"({"grid": {"counts": [4, 1, 1], "spacing": 0.1, "origin": [0, 0, 1]}})"));
        hands.ItemClick(
            (std::string(in_inspector) + "positions/rope.positions/written/grid/counts/$$1/##value")
                .c_str());
        robot.frames(2);
        hands.KeyCharsReplaceEnter("3");
        robot.frames(3);
        CHECK(line(robot, "/bodies/0/positions/grid/counts") == "[4, 3, 1]");
        robot.picture("field_grid");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(3);
        CHECK(at(robot, "/bodies/0/positions")->size() == 4);
    });
}

TEST_CASE("gui fields: when a term counts, and a number as a formula") {
    const test::TemporaryFolder folder;
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_file(robot, rope(folder));
        stop_at(robot, 0);
        select(robot, "/objective/0");
        choose(robot, hands, "at/##form", "at several times");
        REQUIRE(at(robot, "/objective/0/at") != nullptr);
        CHECK(at(robot, "/objective/0/at")->is_array());
        choose(robot, hands, "at/##form", "after every step");
        CHECK(line(robot, "/objective/0/at") == "\"all\"");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        select(robot, "/forces/0");
        hands.ItemClick(
            (std::string(in_inspector) + "stiffness/cord.stiffness/\xef\x84\x87##ways").c_str());
        robot.frames(2);
        robot.picture("field_ways");
        hands.ItemClick("//$FOCUSED/formula");
        robot.frames(3);
        CHECK(line(robot, "/forces/0/stiffness") == as_line(R"({"formula": "100"})"));
        hands.ItemClick(
            (std::string(in_inspector) + "stiffness/cord.stiffness/written/formula/##value")
                .c_str());
        hands.KeyCharsReplaceEnter("100 + 20*i");
        robot.frames(3);
        CHECK(line(robot, "/forces/0/stiffness") == as_line(R"({"formula": "100 + 20*i"})"));
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        robot.picture("field_formula");
    });
}

TEST_CASE("gui fields: one number becomes one for each; a file is asked for first") {
    const test::TemporaryFolder folder;
    const std::int64_t shape[] = {2};
    const double stiffness[] = {80, 90};
    document::write_npy(folder / "stiffness.npy", shape, std::span<const double>(stiffness));
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_file(robot, rope(folder));
        stop_at(robot, 0);
        select(robot, "/forces/0");
        const auto write_as = [&](const char* way) {
            hands.ItemClick(
                (std::string(in_inspector) + "stiffness/cord.stiffness/\xef\x84\x87##ways")
                    .c_str());
            robot.frames(2);
            hands.ItemClick((std::string("//$FOCUSED/") + way).c_str());
            robot.frames(3);
        };
        write_as("one for each");
        CHECK(line(robot, "/forces/0/stiffness") == as_line("[100, 100]"));
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        // Canceled, the scene stays as it is.
        write_as("file");
        robot.picture("field_asks_for_a_file");
        CHECK(line(robot, "/forces/0/stiffness") == as_line("[100, 100]"));
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(3);
        CHECK(line(robot, "/forces/0/stiffness") == as_line("[100, 100]"));
        write_as("file");
        hands.ItemClick("//###files/##name");
        hands.KeyCharsReplaceEnter((folder / "stiffness.npy").c_str());
        robot.frames(3);
        CHECK(line(robot, "/forces/0/stiffness") == as_line(R"({"file": "stiffness.npy"})"));
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        CHECK(robot.work().scene.editor().undo_name() == "Change cord.stiffness: file");
    });
}

TEST_CASE("gui fields: a way with which the scene cannot be built is taken back, with the reason") {
    const test::TemporaryFolder folder;
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_file(robot, rope(folder));
        stop_at(robot, 0);
        select(robot, "/forces/0");
        const std::string before = line(robot, "/forces/0/connect");
        choose(robot, hands, "connect/##form", "grid");  // of 16 points: the rope has 4
        REQUIRE(robot.wait([&] { return test::said(robot, "is taken back"); }));
        CHECK(robot.work().messages.notices().back().detail.find("cannot be built") !=
              std::string::npos);
        robot.picture("field_taken_back");
        CHECK(line(robot, "/forces/0/connect") == before);
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        choose(robot, hands, "connect/##form", "chain");
        CHECK(runs_what_is_edited(robot));
        CHECK(line(robot, "/forces/0/connect") == as_line(R"({"chain": "rope"})"));
    });
}

TEST_CASE("gui fields: the scene's own keys are edited where nothing is selected") {
    const test::TemporaryFolder folder;
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_file(robot, rope(folder));
        stop_at(robot, 0);
        select(robot, "");
        hands.ItemClick("//###Inspector/The scene itself");
        robot.frames(3);
        hands.ItemClick((std::string(in_inspector) + "name/##value").c_str());
        hands.KeyCharsReplaceEnter("a rope");
        robot.frames(3);
        CHECK(line(robot, "/name") == "\"a rope\"");
        robot.picture("field_scene");
        select(robot, "/time");
        robot.picture("field_time");
    });
}
