// Checkpoints, runs that are compared, and results of commands, in the window: by mouse, with a
// picture of each in both themes and at two sizes.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/theme.hpp"
#include "app/gui/work/files/opened_results.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/session/document/checkpoints.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using session::checkpoints_of;
using test::open;
using test::optimize;
using test::Robot;
using test::said;

namespace fs = std::filesystem;
namespace icon = gui::icon;

namespace {

// Pictures in both themes.
void pictures(Robot& robot, const std::string& name) {
    robot.frames(3);
    robot.picture(name);
    robot.work().settings.dark = false;
    robot.work().settings.save();
    robot.frames(4);
    robot.picture(name + "_light");
    robot.work().settings.dark = true;
    robot.work().settings.save();
    robot.frames(3);
}

// A button of a checkpoint's row.
std::string in_list(const char* name, const char* symbol, const char* id) {
    return fmt::format("//###Optimizer/**/{}/{}##{}", name, symbol, id);
}

void front(Robot& robot, const char* panel) {
    robot.work().requests.focus_panel = panel;
    robot.frames(3);
}

// Where the points of the results are drawn.
ImRect points_of(Robot& robot) {
    robot.frames(2);
    for (const ImGuiWindow* window : GImGui->Windows)
        if (window->WasActive && std::string(window->Name).find("/points_") != std::string::npos)
            return window->Rect();
    return {};
}

// The first item of this label in the list of a popup.
ImGuiID in_popup(ImGuiTestContext& hands, const std::string& label) {
    std::vector<ImGuiID> lists;
    for (const ImGuiWindow* window : GImGui->Windows)
        if (window->WasActive && std::string(window->Name).find("/list_") != std::string::npos)
            lists.push_back(window->ID);
    for (const ImGuiID list : lists) {
        ImGuiTestItemList items;
        hands.GatherItems(&items, list);
        for (const ImGuiTestItemInfo& item : items)
            if (label.starts_with(item.DebugLabel) && item.DebugLabel[0] != 0) return item.ID;
    }
    FAIL_CHECK("no item " << label);
    return 0;
}

bool tooltip_is_shown() {
    return std::ranges::any_of(GImGui->Windows, [](const ImGuiWindow* window) {
        return (window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active && !window->Hidden;
    });
}

double first_length(Robot& robot) {
    const Node* const list = test::at(robot, "/forces/0/rest_length");
    return list != nullptr && list->is_array() ? list->item(0).real() : NAN;
}

// A folder as hindcast batch leaves it: 5 x 5 variants around a minimum at (100, 5).
fs::path batch_results(Robot& robot, const std::string& made_with = "") {
    const fs::path folder = robot.folder() / "out/cage";
    fs::create_directories(folder);
    std::string table = "cage.stiffness,cage.damping,loss,target\n";
    for (int i = 0; i < 5; ++i)
        for (int k = 0; k < 5; ++k) {
            const double x = 50 + 25 * i, y = 1 + 2 * k;
            const double loss = 1e-3 + std::pow(x / 100 - 1, 2) + std::pow(y / 5 - 1, 2);
            table += fmt::format("{},{},{},{}\n", x, y, loss, loss);
        }
    write_file_atomically(folder / "batch.csv", table);
    write_file_atomically(
        folder / "summary.json",
        fmt::format(R"({{"command": "batch",
        "scene": "spring cage", "file": "{}", "variants": 25, "variants_done": 25, {}
        "axes": [{{"path": "cage.stiffness"}}, {{"path": "cage.damping"}}]}})",
                    (robot.scenes() / "spring_cage.json").generic_string(), made_with));
    return folder;
}

// And as hindcast optimize --starts does: three starts.
fs::path start_results(Robot& robot) {
    const fs::path folder = robot.folder() / "out/starts";
    fs::create_directories(folder);
    std::string starts = "start,iterations,stop,initial_loss,best_loss,cage.rest_length[0]\n",
                history = "start,iteration,loss,gradient_norm\n",
                found = "start,iteration,loss,cage.rest_length[0]\n";
    for (int s = 0; s < 12; ++s) {
        const double best = 1e-6 * (1 + std::abs(s - 4));
        starts += fmt::format("{},30,iterations,1,{},0.5\n", s, best);
        found += fmt::format("{},30,{},{}\n", s, best, 0.75 + 0.125 * s);
        for (int k = 0; k <= 30; ++k)
            history += fmt::format("{},{},{},{}\n", s, k,
                                   best + std::exp(-0.3 * k * (1 + 0.05 * s)), 1.0 / (1 + k));
    }
    write_file_atomically(folder / "starts.csv", starts);
    write_file_atomically(folder / "starts_history.csv", history);
    write_file_atomically(folder / "starts_found.csv", found);
    write_file_atomically(folder / "summary.json", R"({"command": "optimize", "starts": 12,
        "best_start": 4, "scene": "spring cage", "file": "spring_cage.json"})");
    return folder;
}

}  // namespace

TEST_CASE("gui runs: checkpoints are kept, shown, updated, renamed, deleted, and undone") {
    for (const auto& size : {std::pair{1280, 800}, std::pair{900, 600}}) {
        const int width = size.first;
        Robot robot({.width = width, .height = size.second});
        robot.run([&, width](ImGuiTestContext& hands) {
            open(robot, "spring_cage.json");
            test::stop_at(robot, 0);
            optimize(robot, hands);
            REQUIRE(robot.wait(
                [&] { return robot.now().reports.activity == session::Activity::idle; }));
            front(robot, "Optimizer");
            const std::int64_t shown = robot.now().optimization.shown_iteration;
            REQUIRE(shown >= 0);
            const double loss = robot.now().run.loss;
            const std::vector<double> values = *robot.now().values.flat;
            hands.ItemClick("//###Optimizer/**/###Keep as...");
            robot.frames(3);
            robot.picture(fmt::format("runs_keep_{}", width));
            hands.KeyCharsReplaceEnter("soft");
            REQUIRE(robot.wait(
                [&] { return checkpoints_of(robot.work().scene.document()).size() == 1; }));
            const auto kept = checkpoints_of(robot.work().scene.document()).front();
            CHECK(kept.name == "soft");
            CHECK(kept.loss == loss);
            CHECK(kept.numbers == 8);
            CHECK(robot.work().scene.editor().undo_name() == "Keep soft");
            // It is part of the scene, and the scene goes on as it was.
            CHECK(robot.work().values.has_unaccepted());
            CHECK(robot.now().optimization.history->size() == 31);

            // Back to what is written, then to the checkpoint.
            robot.work().running.send(session::Revert{});
            REQUIRE(robot.wait([&] { return !robot.now().optimization.unaccepted; }));
            front(robot, "Optimizer");
            pictures(robot, fmt::format("runs_checkpoints_{}", width));
            hands.ItemClick(in_list("soft", icon::visible, "show").c_str());
            REQUIRE(
                robot.wait([&] { return robot.work().scene.editor().undo_name() == "Show soft"; }));
            CHECK(first_length(robot) == values[0]);
            REQUIRE(robot.wait(
                [&] { return robot.now().values.flat && *robot.now().values.flat == values; }));
            hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
            REQUIRE(robot.wait([&] { return std::isnan(first_length(robot)); }));
            REQUIRE(test::runs_what_is_edited(robot));

            // Updated with what is shown now, renamed, deleted.
            front(robot, "Optimizer");
            hands.ItemClick(in_list("soft", icon::list, "more").c_str());
            hands.ItemClick("//$FOCUSED/Update");
            REQUIRE(
                robot.wait([&] { return robot.work().scene.editor().undo_name() == "Keep soft"; }));
            REQUIRE(robot.wait([&] {
                const auto list = checkpoints_of(robot.work().scene.document());
                return list.size() == 1 && list[0].loss != loss;
            }));
            hands.ItemClick(in_list("soft", icon::list, "more").c_str());
            hands.ItemClick("//$FOCUSED/Rename");
            robot.frames(3);
            hands.KeyCharsReplaceEnter("as written");
            REQUIRE(robot.wait([&] {
                return checkpoints_of(robot.work().scene.document())[0].name == "as written";
            }));
            robot.frames(3);
            hands.ItemClick(in_list("as written", icon::list, "more").c_str());
            hands.ItemClick("//$FOCUSED/Delete");
            REQUIRE(
                robot.wait([&] { return checkpoints_of(robot.work().scene.document()).empty(); }));
            hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
            REQUIRE(robot.wait(
                [&] { return checkpoints_of(robot.work().scene.document()).size() == 1; }));
        });
    }
}

TEST_CASE("gui runs: a window opens with a checkpoint, and optimizes from it") {
    for (const bool optimizes : {false, true}) {
        CAPTURE(optimizes);
        Robot robot;
        robot.run([&](ImGuiTestContext&) {
            const fs::path file = robot.scenes() / "spring_cage.json";
            Document scene = Document::load(file);
            scene.set("/checkpoints",
                      Document::parse(R"([{"name": "long", "values": {"cage.rest_length":
                          [1.25, 1, 1, 1, 1, 1, 1, 1]}}])")
                          .root());
            scene.set("/optimizer/iterations", Node(2));
            scene.save(file);
            robot.work().opening.checkpoint_when_open = "long";
            robot.work().opening.optimize_when_open = optimizes;
            robot.work().opening.open(file);
            CHECK(
                robot.wait([&] { return robot.work().scene.editor().undo_name() == "Show long"; }));
            REQUIRE(test::runs_what_is_edited(robot));
            CHECK(test::at(robot, "/forces/0/rest_length/0")->real() == 1.25);
            CHECK_FALSE(robot.work().values.waits());
            if (optimizes) {
                CHECK(robot.wait([&] {
                    const auto& history = robot.now().optimization.history;
                    return history && history->size() == 3 && !robot.work().running.is_optimizing();
                }));
                REQUIRE_FALSE(robot.now().optimization.history->empty());
                REQUIRE(robot.now().optimization.history->front().parameters);
                CHECK(robot.now().optimization.history->front().parameters->front() == 1.25);
            }
        });
    }
}

TEST_CASE("gui runs: a checkpoint that does not fit is one message") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        robot.work().scene.set(
            "/checkpoints",
            Document::parse(R"([{"name": "old", "values": {"cage.damping": 3}}])").root(),
            "A checkpoint");
        REQUIRE(test::runs_what_is_edited(robot));
        front(robot, "Optimizer");
        hands.ItemClick(in_list("old", icon::visible, "show").c_str());
        REQUIRE(robot.wait(
            [&] { return said(robot, "'cage.damping' is no parameter of this scene"); }));
        robot.picture("runs_checkpoint_refused");
        CHECK(robot.work().scene.editor().undo_name() == "A checkpoint");
    });
}

TEST_CASE("gui runs: runs are kept, drawn beside the present one, renamed, hidden, removed") {
    for (const auto& size : {std::pair{1280, 800}, std::pair{900, 600}}) {
        const int width = size.first;
        Robot robot({.width = width, .height = size.second});
        robot.run([&, width](ImGuiTestContext& hands) {
            open(robot, "spring_cage.json");
            test::stop_at(robot, 0);
            optimize(robot, hands);
            front(robot, "Plots");
            hands.ItemClick("//###Plots/###runs");
            hands.ItemClick("//$FOCUSED/###Keep this run");
            robot.frames(3);
            REQUIRE(robot.work().results.runs.list().size() == 1);
            CHECK(robot.work().results.runs.list()[0].losses.size() == 31);
            CHECK(robot.work().results.runs.list()[0].name == "gradient descent, rate 0.5");
            CHECK(robot.work().results.runs.list()[0].losses.back() ==
                  robot.now().optimization.history->back().loss);
            hands.KeyPress(ImGuiKey_Escape);
            // Another method from the start: its curve is drawn over that of the first.
            robot.work().scene.set(
                "/optimizer",
                Document::parse(R"({"type": "adam", "rate": 0.05, "iterations": 30})").root(),
                "Method");
            REQUIRE(test::runs_what_is_edited(robot));
            robot.work().running.send(session::Reset{});
            robot.frames(3);
            optimize(robot, hands);
            front(robot, "Plots");
            pictures(robot, fmt::format("runs_overlaid_{}", width));
            hands.ItemClick("//###Plots/###runs");
            hands.ItemClick("//$FOCUSED/###Keep this run");
            robot.frames(3);
            REQUIRE(robot.work().results.runs.list().size() == 2);
            CHECK(robot.work().results.runs.list()[1].losses.size() == 31);
            CHECK(robot.work().results.runs.list()[1].names.size() == 8);
            pictures(robot, fmt::format("runs_list_{}", width));
            const std::uint64_t first = robot.work().results.runs.list()[0].number;
            // Of the first row.
            const auto in_row = [&](const std::string& symbol, const char* id) {
                return in_popup(hands, symbol + id);
            };
            hands.ItemClick(in_row(icon::visible, "##eye"));
            CHECK_FALSE(robot.work().results.runs.find(first)->shown);
            hands.ItemClick(in_row("gradient descent, rate 0.5", "###name"));
            robot.frames(3);
            hands.KeyCharsReplaceEnter("descent");
            robot.frames(3);
            CHECK(robot.work().results.runs.find(first)->name == "descent");
            // The best of it becomes the scene's.
            const double best = robot.work().results.runs.find(first)->best_loss;
            hands.ItemClick(in_row(icon::accept, "##take"));
            REQUIRE(robot.wait(
                [&] { return robot.work().scene.editor().undo_name() == "Take descent"; }));
            REQUIRE(robot.wait([&] { return robot.now().run.loss == best; }));
            if (GImGui->OpenPopupStack.Size == 0) hands.ItemClick("//###Plots/###runs");
            hands.ItemClick(in_row(icon::remove, "##remove"));
            robot.frames(2);
            CHECK(robot.work().results.runs.list().size() == 1);
            CHECK(robot.work().results.runs.find(first) == nullptr);
        });
    }
}

TEST_CASE("gui runs: variants of a batch as a table and as points; a double click shows one") {
    for (const auto& size : {std::pair{1280, 800}, std::pair{900, 600}}) {
        const int width = size.first;
        Robot robot({.width = width, .height = size.second});
        robot.run([&, width](ImGuiTestContext& hands) {
            open(robot, "spring_cage.json");
            test::stop_at(robot, 0);
            const fs::path folder = batch_results(robot);
            robot.work().requests.show_open_results = true;
            robot.frames(4);
            hands.ItemInput("//###files/##folder");
            hands.KeyCharsReplaceEnter(folder.string().c_str());
            robot.frames(3);
            robot.picture(fmt::format("runs_open_results_{}", width));
            hands.ItemClick("//###files/Open");
            REQUIRE(robot.wait([&] { return robot.work().results.table != nullptr; }));
            robot.frames(4);
            CHECK(robot.work().results.table->rows() == 25);
            pictures(robot, fmt::format("runs_results_{}", width));
            // Variant 12 is the best: stiffness 100, damping 5. It stands first.
            hands.ItemDoubleClick("//###Results/**/12");
            REQUIRE(robot.wait(
                [&] { return robot.work().scene.editor().undo_name() == "Take variant 12"; }));
            CHECK(test::at(robot, "/forces/0/damping")->real() == 5);
            hands.ItemDoubleClick("//###Results/**/7");
            REQUIRE(robot.wait(
                [&] { return robot.work().scene.editor().undo_name() == "Take variant 7"; }));
            CHECK(test::at(robot, "/forces/0/stiffness")->real() == 75);
            CHECK(test::at(robot, "/forces/0/damping")->real() == 5);
            REQUIRE(test::runs_what_is_edited(robot));
            // A point under the mouse is told, marked in the table, and shown by a double click.
            robot.work().messages.notices().clear();
            const ImRect plot = points_of(robot);
            bool found = false;
            for (float y = plot.Max.y - 30; y > plot.Min.y + 4 && !found; y -= 6)
                for (float x = plot.Min.x + 60; x < plot.Max.x - 4 && !found; x += 8) {
                    hands.MouseTeleportToPos({x, y});
                    robot.frames(1);
                    found = tooltip_is_shown();
                }
            REQUIRE(found);
            robot.frames(2);
            robot.picture(fmt::format("runs_pointed_{}", width));
            hands.MouseDoubleClick();
            REQUIRE(robot.wait([&] {
                return robot.work().scene.editor().undo_name() != "Take variant 7" &&
                       robot.work().scene.editor().undo_name().starts_with("Take variant ");
            }));
            const int variant = std::stoi(robot.work().scene.editor().undo_name().substr(13));
            CHECK(test::at(robot, "/forces/0/stiffness")->real() == 50 + 25 * (variant / 5));
            CHECK(test::at(robot, "/forces/0/damping")->real() == 1 + 2 * (variant % 5));
        });
    }
}

TEST_CASE("gui runs: a row of another scene opens that scene; broken results are one message") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "thrown_ball.json");
        const fs::path folder = batch_results(robot, R"("set": ["time.steps=20"],)");
        robot.work().results.open(folder);
        robot.frames(4);
        robot.picture("runs_made_with");
        robot.work().results.use(7);
        REQUIRE(robot.wait(
            [&] { return robot.work().scene.editor().undo_name() == "Take variant 7"; }));
        CHECK(robot.work().scene.editor().file().filename() == "spring_cage.json");
        CHECK(test::at(robot, "/forces/0/stiffness")->real() == 75);
        CHECK(test::at(robot, "/time/steps")->integer() == 20);  // what all were made with

        write_file_atomically(folder / "batch.csv", "cage.stiffness\n1\n");
        robot.work().results.open(folder);
        CHECK(said(robot, "does not fit the summary.json beside it"));
        robot.work().results.open(robot.folder() / "nothing");
        CHECK(said(robot, "there is no"));
        CHECK(robot.work().results.table->rows() == 25);  // what was open stays
        robot.frames(3);
        robot.picture("runs_broken_results");
    });
}

TEST_CASE("gui runs: starts of an optimization are overlaid, and one is taken") {
    for (const auto& size : {std::pair{1280, 800}, std::pair{900, 600}}) {
        const int width = size.first;
        Robot robot({.width = width, .height = size.second});
        robot.run([&, width](ImGuiTestContext& hands) {
            open(robot, "spring_cage.json");
            test::stop_at(robot, 0);
            const fs::path folder = start_results(robot);
            robot.work().results.open(folder);
            robot.frames(4);
            REQUIRE(robot.work().results.runs.list().size() == 12);
            REQUIRE(robot.work().results.table);
            pictures(robot, fmt::format("runs_start_table_{}", width));
            front(robot, "Plots");
            pictures(robot, fmt::format("runs_starts_{}", width));
            hands.ItemClick("//###Plots/###runs");
            robot.frames(3);
            robot.picture(fmt::format("runs_starts_list_{}", width));
            hands.KeyPress(ImGuiKey_Escape);
            // The one that came to the least loss is start 4; the table takes it too. Of its
            // lengths only the first is in the file.
            front(robot, "Results");
            hands.ItemDoubleClick("//###Results/**/4");
            REQUIRE(robot.wait(
                [&] { return robot.work().scene.editor().undo_name() == "Take start 4"; }));
            CHECK(first_length(robot) == 1.25);
        });
    }
}
