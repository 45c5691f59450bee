// What the simulation warns of: told once, with the remedy, kept in a panel with the pairs of
// objects that can touch, accepted in the scene, gone when the scene is mended.
#include <imgui_internal.h>

#include <filesystem>

#include "app/gui/work/edits/reports.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/process_log.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "engine/base/files.hpp"
#include "engine/document/text.hpp"
#include "engine/model/warnings/warning.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/warnings/warning_scenes.hpp"

using namespace hindcast;
using test::at;
using test::balls;
using test::opened;
using test::oscillator;
using test::Robot;
using test::runs_what_is_edited;
using test::said;
namespace fs = std::filesystem;

namespace {

void open_text(Robot& robot, const char* text) {
    const fs::path file = robot.folder() / "scene.json";
    write_file_atomically(file, text);
    robot.work().opening.open(file);
    REQUIRE(opened(robot));
    robot.frames(4);
}

const Warning* find(Robot& robot, const std::string& identifier) {
    const auto& list = robot.now().scene.warnings;
    if (!list) return nullptr;
    const auto found = std::ranges::find(*list, identifier, &Warning::identifier);
    return found == list->end() ? nullptr : &*found;
}

std::string line(Robot& robot, const std::string& pointer) {
    const document::Node* const node = at(robot, pointer);
    return node != nullptr ? document::to_line(*node) : "";
}

std::size_t logged_warnings(Robot& robot, const std::string& identifier) {
    std::size_t count = 0;
    for (const session::LogLine& line : *robot.now().reports.log)
        count += line.level == session::LogLine::Level::warning &&
                 line.text.ends_with("[" + identifier + "]");
    return count;
}

}  // namespace

TEST_CASE("gui warnings: told once with the remedy, a click away from the object, accepted") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_text(robot, balls);
        REQUIRE(robot.wait([&] { return find(robot, "bodies_overlap") != nullptr; }));
        robot.frames(3);
        CHECK(robot.work().reports.warning_count() == 2);
        CHECK(said(robot, "nothing keeps these apart: 'left' and 'right'"));
        CHECK(said(robot, "the boxes of 'left' and 'right' overlap"));
        const gui::Notice& newest = robot.work().messages.notices().back();
        CHECK(newest.kind == gui::Notice::Kind::warning);
        CHECK(newest.text.starts_with("Step "));
        CHECK(newest.detail.find("particle_contact") != std::string::npos);
        CHECK(logged_warnings(robot, "contact_pairs") == 1);
        CHECK(logged_warnings(robot, "bodies_overlap") == 1);
        robot.picture("warnings_notices");

        // The object and the panel are a click away.
        hands.ItemClick("//##notice0/Show");
        robot.frames(4);
        CHECK(robot.work().chosen.object.pointer == "/bodies/0");
        robot.picture("warnings_panel");
        CHECK(hands.ItemExists("//###Warnings/**/Accept"));

        // Another run of the same scene says nothing again.
        const std::uint64_t told = robot.work().messages.told();
        robot.work().running.send(session::Reset{});
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.work().messages.told() == told);

        // Accepted in the scene: gone, also while it runs; undo brings it back.
        hands.ItemClick("//##notice0/Accept");
        CHECK(line(robot, "/accepted_warnings") == "[\"contact_pairs\"]");
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] { return robot.work().reports.warning_count() == 0; }));
        CHECK_FALSE(said(robot, "nothing keeps these apart"));
        robot.picture("warnings_accepted");
        hands.ItemClick("//###Warnings/**/Warn again");
        CHECK(at(robot, "/accepted_warnings") == nullptr);
        CHECK(runs_what_is_edited(robot));
        REQUIRE(robot.wait([&] { return find(robot, "bodies_overlap") != nullptr; }));
        CHECK(said(robot, "nothing keeps these apart"));
    });
}

TEST_CASE("gui warnings: the pairs that can touch, with what keeps them apart") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_text(robot, balls);
        robot.work().running.play(false);
        robot.work().requests.focus_panel = "Warnings";
        REQUIRE(robot.wait([&] { return robot.now().scene.pairs != nullptr; }));
        robot.frames(4);
        REQUIRE(robot.now().scene.pairs->size() == 1);
        CHECK(robot.now().scene.pairs->front().a == "left");
        CHECK(robot.now().scene.pairs->front().b_pointer == "/bodies/1");
        CHECK(robot.now().scene.pairs->front().law.empty());
        // The table is below the warnings; rows out of sight are not drawn.
        hands.ScrollToBottom(hands.WindowInfo("//###Warnings/warnings").ID);
        robot.frames(3);
        hands.ItemClick("//###Warnings/**/right");
        robot.frames(3);
        CHECK(robot.work().chosen.object.pointer == "/bodies/1");
        hands.ItemClick("//###Warnings/**/May pass");
        robot.frames(3);
        CHECK(line(robot, "/contact/exceptions") == "[[\"left\", \"right\"]]");
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] { return robot.work().reports.warning_count() == 0; }));
        REQUIRE(robot.wait([&] { return robot.now().scene.pairs->front().is_exception; }));
        robot.frames(3);
        robot.picture("warnings_exception");
        hands.ItemClick("//###Warnings/**/Warn again");
        robot.frames(3);
        CHECK(at(robot, "/contact") == nullptr);
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] { return find(robot, "contact_pairs") != nullptr; }));
        // A law of contact stands in the table, and there is nothing to warn of.
        REQUIRE(robot.work().scene.change("Collider", [](const document::Document& scene) {
            document::Document changed = scene;
            changed.set("/colliders", document::Document::parse(
                                          R"([{"type": "particle_contact", "name": "contact"}])")
                                          .root());
            return changed;
        }));
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] { return robot.work().reports.warning_count() == 0; }));
        CHECK_FALSE(robot.now().scene.pairs->front().law.empty());
        robot.frames(3);
        robot.picture("warnings_law");
    });
}

TEST_CASE("gui warnings: a number that is edited makes them, and another one mends them") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open_text(robot, oscillator);
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] { return robot.work().reports.warning_count() == 0; }));
        const auto build = robot.now().scene.build;
        // omega = 25/s: the limit is .08 s.
        REQUIRE(robot.work().scene.set("/forces/0/stiffness", document::Node(625), "Stiffness"));
        REQUIRE(robot.wait([&] { return find(robot, "time_step") != nullptr; }));
        robot.frames(3);
        CHECK(find(robot, "time_step")->pointer == "/forces/0");
        const std::string happened = find(robot, "time_step")->happened;
        CHECK(said(robot, happened));
        test::select(robot, "/forces/0");
        robot.picture("warnings_inspector");
        REQUIRE(robot.work().scene.set("/forces/0/stiffness", document::Node(300), "Stiffness"));
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] { return robot.work().reports.warning_count() == 0; }));
        CHECK(robot.wait([&] { return !said(robot, happened); }));
        CHECK(robot.now().scene.build != build);
        // A scene that is opened afterward has its own.
        REQUIRE(robot.work().saving.save());
        open_text(robot, balls);
        REQUIRE(robot.wait([&] { return find(robot, "contact_pairs") != nullptr; }));
        CHECK(find(robot, "time_step") == nullptr);
    });
}
