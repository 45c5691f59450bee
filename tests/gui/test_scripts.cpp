// What a user does, from the gallery to the saved scene, by mouse and keyboard.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "app/gui/window/window.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/view/looks.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using test::last_iteration;
using test::open;
using test::opened;
using test::optimize;
using test::Robot;

namespace {

// Each of these is run in a window and without one.

void looks_around(Robot& robot) {
    robot.run([&](ImGuiTestContext& hands) {
        robot.picture("gallery");
        hands.ItemClick("//##dock/**/spring cage");
        REQUIRE(opened(robot));
        CHECK(robot.work().scene.title() == "spring cage");
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        CHECK(robot.wait([&] { return robot.now().run.steps_computed == robot.now().run.steps; }));
        robot.frames(10);
        robot.picture("opened");

        // It plays by itself; Space stops it, Right and Left step, Home goes to the start.
        CHECK(robot.wait([&] { return robot.now().run.playing; }));
        hands.KeyPress(ImGuiKey_Space);
        CHECK(robot.wait([&] { return !robot.now().run.playing; }));
        hands.KeyPress(ImGuiKey_Home);
        CHECK(robot.wait([&] { return robot.now().run.step == 0; }));
        hands.KeyPress(ImGuiKey_RightArrow, 3);
        CHECK(robot.wait([&] { return robot.now().run.step == 3; }));
        hands.KeyPress(ImGuiKey_LeftArrow);
        CHECK(robot.wait([&] { return robot.now().run.step == 2; }));

        // Scrubbing: the middle of the time slider.
        hands.ItemClick("//##timeline/**/time slider");
        CHECK(robot.wait([&] { return robot.now().run.step == robot.now().run.steps / 2; }));

        // Optimize until the ball is at the target.
        hands.KeyPress(ImGuiKey_O);
        CHECK(robot.wait([&] { return last_iteration(robot) >= 30; }));
        CHECK(robot.wait([&] { return !robot.work().running.is_optimizing(); }));
        CHECK(robot.now().optimization.history->back().loss <
              1e-3 * robot.now().optimization.history->front().loss);
        robot.frames(10);
        robot.picture("optimized");

        // An earlier iteration, as a ghost too.
        robot.work().running.send(session::ShowIteration{0});
        CHECK(robot.wait([&] { return robot.now().optimization.shown_iteration == 0; }));
        robot.work().running.send(session::Ghost{30});
        CHECK(robot.wait([&] { return robot.now().optimization.ghost_iteration == 30; }));
        robot.picture("ghost");
    });
}

void edits_and_saves(Robot& robot) {
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().chosen.select({"/forces/0", -1, ""});
        robot.frames(3);
        robot.picture("inspector");
        // A click without a drag opens the field for typing, with units.
        hands.ItemClick("//###Inspector/**/cage.stiffness/##value");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("2*60 N/m");
        robot.frames(2);
        CHECK(robot.work().scene.document().find("/forces/0/stiffness")->real() == 120);
        CHECK(robot.work().scene.editor().unsaved());
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision &&
                   std::ranges::any_of(robot.now().values.quantities, [](const auto& q) {
                       return q.path == "cage.stiffness" && q.values.at(0) == 120;
                   });
        }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(robot.work().scene.document().find("/forces/0/stiffness")->integer() == 100);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
        CHECK(robot.work().scene.document().find("/forces/0/stiffness")->real() == 120);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        const document::Document saved =
            document::Document::load(robot.scenes() / "spring_cage.json");
        CHECK(saved.find("/forces/0/stiffness")->real() == 120);

        // Somebody else saves the file.
        document::Document other = saved;
        other.set("/forces/0/damping", 11.0);
        other.save(robot.scenes() / "spring_cage.json");
        CHECK(robot.wait([&] {
            const document::Node* damping = robot.work().scene.document().find("/forces/0/damping");
            return damping->is_real() && damping->real() == 11;
        }));
        robot.picture("reloaded");

        // Broken on purpose: what was there stays, and the text shows the place.
        std::ofstream(robot.scenes() / "spring_cage.json") << "{ \"format\": 1,\n  \"time\": }\n";
        CHECK(robot.wait([&] {
            return robot.work().text.broken.has_value() || !robot.work().messages.notices().empty();
        }));
        robot.frames(3);
        CHECK(robot.work().running.has_run());
        CHECK(robot.work().scene.document().find("/forces/0/damping")->real() == 11);
        robot.picture("broken_file");
        robot.work().requests.focus_panel = "Scene file";
        robot.frames(5);
        robot.picture("broken_file_text");
    });
}

void branches(Robot& robot) {
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        optimize(robot, hands);
        robot.work().running.send(session::ShowIteration{5});
        CHECK(robot.wait([&] { return robot.now().optimization.shown_iteration == 5; }));
        const double loss = (*robot.now().optimization.history)[5].loss;
        hands.KeyPress(ImGuiKey_B);
        CHECK(robot.wait([&] {
            return std::ranges::any_of(*robot.now().optimization.history,
                                       [](const auto& i) { return i.branched_from == 5; });
        }));
        robot.frames(5);
        robot.picture("branch");
        robot.work().running.send(session::ShowIteration{5});
        CHECK(robot.wait([&] { return robot.now().optimization.shown_iteration == 5; }));
        robot.work().running.optimize(session::Optimize::What::stop);
        CHECK(robot.wait([&] { return !robot.work().running.is_optimizing(); }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        CHECK(robot.wait([&] { return robot.work().scene.editor().unsaved(); }));
        CHECK(robot.work().scene.document().find("/forces/0/rest_length")->is_array());
        CHECK(robot.wait([&] { return std::abs(robot.now().run.loss - loss) <= 1e-6 * loss; }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(robot.work().scene.document().find("/forces/0/rest_length")->is_string());
    });
}

void exports(Robot& robot) {
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
        robot.frames(3);
        hands.ItemInputValue("//Export/##folder", robot.folder().c_str());
        robot.picture("export");
        hands.ItemClick("//Export/###Export");
        CHECK(robot.wait(
            [&] {
                return std::filesystem::exists(robot.folder() / "spring_cage_frames/00030.png");
            },
            300));
        robot.frames(3);
        robot.picture("exported");
    });
}

void opens_a_broken_file(Robot& robot) {
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        std::ofstream(robot.scenes() / "bad.json")
            << "{ \"format\": 1, \"time\": { \"step\": 0.1, \"steps\": 3 },\n  \"bodys\": [] }\n";
        robot.work().opening.open(robot.scenes() / "bad.json");
        CHECK(robot.wait([&] { return robot.work().messages.question().has_value(); }));
        CHECK(robot.work().scene.title() == "free flight");
        CHECK(robot.work().messages.question()->detail.find("bad.json:2") != std::string::npos);
        robot.frames(2);
        robot.picture("failed_load");
        hands.ItemClick("//###question/Show in the file");
        robot.frames(5);
        robot.picture("failed_load_text");
        CHECK(robot.work().running.has_run());
    });
}

}  // namespace

TEST_CASE("gui: open from the gallery, play, scrub, optimize, look back") {
    Robot robot;
    looks_around(robot);
}

TEST_CASE("gui: open from the gallery, play, scrub, optimize, look back, in a real window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    Robot robot({.window = true});
    looks_around(robot);
}

TEST_CASE("gui: edit a value, undo, redo, save, reload from disk") {
    Robot robot;
    edits_and_saves(robot);
}

TEST_CASE("gui: edit a value, undo, redo, save, reload from disk, in a real window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    Robot robot({.window = true});
    edits_and_saves(robot);
}

TEST_CASE("gui: a wrong input is refused and says why") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().chosen.select({"/forces/0", -1, ""});
        robot.frames(3);
        hands.ItemClick("//###Inspector/**/cage.stiffness/##value");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("3 kg");
        robot.frames(2);
        CHECK(robot.work().scene.document().find("/forces/0/stiffness")->integer() == 100);
        robot.picture("wrong_unit");
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
    });
}

TEST_CASE("gui: a scene that does not load keeps the old one") {
    Robot robot;
    opens_a_broken_file(robot);
}

TEST_CASE("gui: a scene that does not load keeps the old one, in a real window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    Robot robot({.window = true});
    opens_a_broken_file(robot);
}

TEST_CASE("gui: branch from an older iteration, accept it, take it back") {
    Robot robot;
    branches(robot);
}

TEST_CASE("gui: branch from an older iteration, accept it, take it back, in a real window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    Robot robot({.window = true});
    branches(robot);
}

TEST_CASE("gui: iterations from before an edit, and back to the scene they belong to") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        optimize(robot, hands);
        const std::string before = robot.work().scene.document().to_text();
        const std::int64_t build = robot.now().scene.build;
        robot.work().scene.edit([](session::Editor& e) {
            e.append(model::Section::bodies,
                     document::Document::parse(R"({"type": "particles", "name": "stone",
                         "positions": [[1, 0, 0.5]], "mass": 1})")
                         .root(),
                     "Add stone");
        });
        CHECK(robot.wait([&] {
            return robot.now().scene.build != build &&
                   robot.now().optimization.shown_iteration < 0 &&
                   robot.now().run.steps_computed == robot.now().run.steps;
        }));
        const std::int64_t newer = robot.now().scene.build;
        robot.work().chosen.select({});
        robot.work().running.send(session::ShowIteration{4});
        CHECK(robot.wait([&] {
            return robot.now().shows_older_scene() &&
                   robot.now().optimization.shown_iteration == 4 &&
                   robot.now().run.steps_computed == robot.now().run.steps;
        }));
        robot.frames(10);
        CHECK(robot.app().picture().stage() == robot.now().scene.stage.get());
        robot.picture("older_scene");
        // B brings that scene back and goes on from there; Ctrl+Z undoes it.
        hands.KeyPress(ImGuiKey_B);
        CHECK(robot.wait([&] {
            return std::ranges::any_of(*robot.now().optimization.history, [&](const auto& i) {
                return i.branched_from == 4 && i.build == build;
            });
        }));
        CHECK(robot.work().scene.document().to_text() == before);
        CHECK(robot.work().scene.editor().undo_name() == "Branch from iteration 4");
        robot.work().running.optimize(session::Optimize::What::stop);
        CHECK(robot.wait([&] { return !robot.work().running.is_optimizing(); }));
        robot.frames(5);
        robot.picture("older_scene_branch");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(robot.work().scene.document().find("/bodies/2") != nullptr);
        CHECK(robot.wait([&] { return robot.now().scene.build != build; }));
        CHECK(robot.now().scene.build > newer - 1);
    });
}

TEST_CASE("gui: the open dialog, save as, and the question about unsaved changes") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().chosen.select({"/forces/0", -1, ""});
        REQUIRE(robot.work().scene.set("/forces/0/stiffness", document::Node(90.0), "Stiffness"));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S);
        robot.frames(3);
        robot.picture("save_as");
        hands.ItemClick("//###files/##name");
        hands.KeyCharsReplaceEnter("mine");
        robot.frames(3);
        CHECK(std::filesystem::exists(robot.scenes() / "mine.json"));
        CHECK(robot.work().scene.editor().file() == robot.scenes() / "mine.json");

        REQUIRE(robot.work().scene.set("/forces/0/stiffness", document::Node(80.0), "Stiffness"));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
        robot.frames(3);
        robot.picture("open_dialog");
        hands.ItemClick("//###files/**/###free_flight.json");
        hands.ItemClick("//###files/Open");
        CHECK(robot.wait([&] { return robot.work().messages.question().has_value(); }));
        robot.frames(2);
        robot.picture("unsaved_changes");
        hands.ItemClick("//###question/Cancel");
        robot.frames(3);
        CHECK(robot.work().scene.title() == "spring cage");
        CHECK_FALSE(robot.work().messages.question());
    });
}

TEST_CASE("gui: add from the registry, rename, duplicate, delete") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.ItemClick("//###Scene/###Add");
        robot.frames(2);
        hands.MouseMove("//$FOCUSED/Forces");  // hovering opens it
        robot.frames(30);
        hands.ItemClick("//###Menu_00/###damping");
        CHECK(robot.wait([&] { return robot.work().adding.task() == nullptr; }));
        robot.frames(3);
        REQUIRE(robot.work().scene.document().find("/forces")->size() == 2);
        CHECK(robot.work().chosen.object.pointer == "/forces/1");
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        CHECK_FALSE(robot.now().reports.error);
        robot.picture("added");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
        CHECK(robot.work().scene.document().find("/forces")->size() == 3);
        hands.KeyPress(ImGuiKey_Delete);
        CHECK(robot.work().scene.document().find("/forces")->size() == 2);
        for (int k = 0; k < 3; ++k) hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(robot.work().scene.document().find("/forces")->size() == 1);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
    });
}

TEST_CASE("gui: every panel, with numbers and without") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        for (const char* panel : {"Gradient check", "Landscape", "Launches", "Memory", "Log",
                                  "Scene file", "Objective", "Plots"}) {
            robot.work().requests.focus_panel = panel;
            robot.frames(4);
            robot.picture(std::string("empty_") + panel);
        }
        robot.work().running.send(session::Profile{true});
        optimize(robot, hands);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_K);
        robot.frames(2);
        hands.KeyChars("check grad");
        robot.frames(2);
        robot.picture("palette");
        hands.KeyPress(ImGuiKey_Enter);
        CHECK(robot.wait(
            [&] { return robot.now().tools.check && !robot.now().tools.check->empty(); }));
        CHECK(std::ranges::all_of(*robot.now().tools.check,
                                  [](const auto& row) { return row.passed; }));
        const std::vector<std::string> names = robot.now().values.parameters.at(0).names;
        robot.work().running.send(session::Scan{{names.at(0), names.at(1)}, {0, 0}, 15});
        CHECK(robot.wait(
            [&] { return robot.now().tools.landscape && robot.now().tools.landscape->done; }));
        for (const char* panel : {"Gradient check", "Landscape", "Launches", "Memory", "Log",
                                  "Scene file", "Objective", "Plots"}) {
            robot.work().requests.focus_panel = panel;
            robot.frames(4);
            robot.picture(std::string("panel_") + panel);
        }
        hands.KeyPress(ImGuiKey_F1);
        robot.frames(3);
        robot.picture("help");
        hands.KeyPress(ImGuiKey_F1);
        robot.work().settings.dark = false;
        robot.work().settings.save();
        robot.frames(4);
        robot.picture("light");
        robot.work().settings.font_scale = 1.5;
        robot.work().settings.save();
        robot.frames(4);
        robot.picture("large_text");
    });
}

TEST_CASE("gui: all bundled scenes open and draw") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        for (const char* name : {"flag", "hanging_net", "mpm_launch", "soft_beam", "slingshot",
                                 "wave_image", "thrown_ball"}) {
            CAPTURE(std::string(name));
            open(robot, std::string(name) + ".json");
            hands.KeyPress(ImGuiKey_Space);
            CHECK(robot.wait(
                [&] { return robot.now().run.steps_computed >= robot.now().run.steps; }, 120));
            robot.work().running.send(session::Seek{robot.now().run.steps / 2});
            CHECK(robot.wait([&] {
                const render::Frame* frame = robot.app().picture().frame();
                return frame != nullptr && std::abs(frame->step - robot.now().run.steps / 2) <=
                                               robot.now().run.frame_every;
            }));
            robot.picture(std::string("scene_") + name);
        }
    });
}

TEST_CASE("gui: a storm of sizes") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "spring_cage.json");
        unsigned random = 12345;
        for (int k = 0; k < 24; ++k) {
            random = random * 1664525U + 1013904223U;
            robot.app().resize(320 + static_cast<int>((random >> 8) % 1500),
                               240 + static_cast<int>((random >> 16) % 900));
            robot.frames(1);
        }
        robot.app().resize(900, 560);
        robot.frames(4);
        robot.picture("small");
    });
}

TEST_CASE("gui: layout and settings are kept, and the layout can be reset") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.KeyPress(ImGuiKey_Tab);
        robot.frames(3);
        robot.picture("panels_hidden");
        hands.KeyPress(ImGuiKey_Tab);
        robot.work().requests.reset_layout = true;
        robot.frames(3);
        robot.work().settings.font_scale = 1.25;
        robot.work().settings.save();
        robot.frames(2);
        const document::Document kept =
            document::Document::load(robot.folder() / "state/settings.json");
        CHECK(kept.find("/font_scale")->real() == 1.25);
    });
}

TEST_CASE("gui: the target is moved by its gizmo while the optimization runs") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.KeyPress(ImGuiKey_Space);
        robot.work().chosen.select({"/objective/0", -1, ""});
        hands.KeyPress(ImGuiKey_W);
        robot.work().running.optimize(session::Optimize::What::start);
        robot.frames(5);
        // The middle of the gizmo moves it in the plane of the screen.
        const ImGuiTestItemInfo view = hands.ItemInfo("//###View/picture");
        const auto at =
            render::project(robot.work().looks.view.camera, {0.375, 0.125, 0.25},
                            robot.work().looks.view.width, robot.work().looks.view.height);
        REQUIRE(at);
        hands.MouseMoveToPos({view.RectFull.Min.x + static_cast<float>((*at)[0]),
                              view.RectFull.Min.y + static_cast<float>((*at)[1])});
        robot.frames(2);
        robot.picture("gizmo");
        hands.MouseDragWithDelta({60, -30});
        robot.frames(3);
        const document::Node* target = robot.work().scene.document().find("/objective/0/target");
        CHECK(target->item(0).real() != 0.375);
        CHECK(robot.work().scene.editor().undo_name() == "Move target");
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        robot.picture("gizmo_moved");
        // One drag is one step of undo.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
    });
}

TEST_CASE("gui: export a sequence of pictures") {
    Robot robot;
    exports(robot);
}

TEST_CASE("gui: export a sequence of pictures, in a real window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    Robot robot({.window = true});
    exports(robot);
}

TEST_CASE("gui: accept while nothing plays") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        CHECK(robot.wait([&] { return robot.now().run.playing; }));
        hands.KeyPress(ImGuiKey_Space);
        CHECK(robot.wait([&] { return !robot.now().run.playing; }));
        optimize(robot, hands);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        CHECK(robot.wait([&] { return robot.work().scene.editor().unsaved(); }, 5));
    });
}

TEST_CASE("gui: many frames while it plays and optimizes, in a real window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    // A thousand under a sanitizer, which is what they are for.
    const int wanted = test::patience > 1 ? 1000 : 300;
    Robot robot({.window = true});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const int first = ImGui::GetFrameCount();
        for (int k = 0; ImGui::GetFrameCount() < first + wanted; ++k) {
            if (k % 4 == 0) hands.KeyPress(ImGuiKey_O);
            if (k % 4 == 2) hands.KeyPress(ImGuiKey_Tab);
            if (k % 8 == 5) robot.work().opening.open(robot.scenes() / "flag.json");
            if (k % 8 == 7) robot.work().opening.open(robot.scenes() / "spring_cage.json");
            robot.frames(10);
            if (robot.work().messages.question())
                hands.KeyPress(ImGuiKey_D);  // what was found: discarded
            robot.frames(10);
        }
        CHECK(ImGui::GetFrameCount() - first >= wanted);
        CHECK(robot.messages().empty());
        CHECK(robot.work().running.has_run());
    });
}
