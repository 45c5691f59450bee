// Nothing is lost: edits, comments, results of an optimization, work that a crash or a signal
// ends; and questions are asked before, by mouse and keyboard.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/files/ending.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/view/looks.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using test::answers;
using test::last_iteration;
using test::open;
using test::opened;
using test::optimize;
using test::Robot;
using test::said;

namespace {

namespace fs = std::filesystem;

Node on_disk(const fs::path& file, const char* pointer) { return Document::load(file).at(pointer); }

// Runs up to the question that a key brings.
void ask_by(Robot& robot, ImGuiTestContext& hands, ImGuiKeyChord key) {
    hands.KeyPress(key);
    REQUIRE(robot.wait([&] { return robot.work().messages.question().has_value(); }));
    robot.frames(3);
}

// A session with this file that edits gravity and is killed.
void leave_an_autosave(Robot& robot, const fs::path& file) {
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            session::Editor lost(robot.work().scene.registry());
            lost.keep_in(robot.folder() / "state");
            lost.open(file);
            lost.set("/gravity", Node::array({0.0, 0.0, -2.5}), "Gravity");
            lost.autosave();
            ::raise(SIGKILL);
        } catch (...) {
            ::_exit(2);
        }
        ::_exit(1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("gui: what a killed session had not saved is offered at the next start") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "thrown_ball.json";
        robot.frames(3);
        CHECK_FALSE(robot.work().scene.editor().find_autosave());
        leave_an_autosave(robot, file);
        robot.frames(3);
        robot.picture("rescue");
        hands.ItemClick("//##dock/**/Open it");
        REQUIRE(opened(robot));
        CHECK(robot.work().scene.title() == "thrown ball");
        CHECK(robot.work().scene.editor().file() == file);
        CHECK(robot.work().scene.editor().unsaved());
        CHECK(robot.work().scene.document().at("/gravity/2").real() == -2.5);
        CHECK(Document::load(file).find("/gravity/2")->real() == -9.81);
        // Saved, nothing is left to be rescued.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        CHECK(Document::load(file).find("/gravity/2")->real() == -2.5);
        CHECK_FALSE(robot.work().scene.editor().find_autosave());
    });
}

TEST_CASE("gui: Ctrl+S says that what was found is not in the file, and a button accepts it") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "spring_cage.json";
        open(robot, "spring_cage.json");
        CHECK_FALSE(robot.work().values.has_unaccepted());
        optimize(robot, hands);
        CHECK(robot.work().values.has_unaccepted());
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        robot.frames(3);
        CHECK(said(robot, "without what was found"));
        CHECK(on_disk(file, "/forces/0/rest_length").is_string());
        robot.picture("save_without_results");
        hands.ItemClick("//##notice0/Accept and save");
        CHECK(robot.wait([&] { return on_disk(file, "/forces/0/rest_length").is_array(); }));
        CHECK(robot.wait([&] {
            return !robot.work().values.has_unaccepted() &&
                   robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        CHECK(robot.work().scene.editor().undo_name().starts_with("Accept iteration"));
        // The values of the file are those that were found.
        const Node lengths = on_disk(file, "/forces/0/rest_length");
        const auto& found = *robot.now().optimization.history->back().parameters;
        REQUIRE(lengths.size() == found.size());
        for (std::size_t k = 0; k < found.size(); ++k) CHECK(lengths.item(k).real() == found[k]);
        // Now nothing would be lost.
        robot.work().ending.request();
        CHECK(robot.work().ending.has_come());
    });
}

TEST_CASE("gui: what was found is asked about before another scene, the gallery or the end") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "spring_cage.json";
        open(robot, "spring_cage.json");
        optimize(robot, hands);
        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_Q);
        CHECK(answers(robot) == std::vector<std::string>{"Accept and save", "Discard", "Cancel"});
        robot.picture("results_question");
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(3);
        CHECK_FALSE(robot.work().messages.question());
        CHECK_FALSE(robot.work().ending.has_come());

        // With an edit besides there are four answers.
        REQUIRE(robot.work().scene.set("/forces/0/damping", Node(11.0), "Damping"));
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        robot.work().opening.open(robot.scenes() / "free_flight.json");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        CHECK(answers(robot) == std::vector<std::string>{"Accept and save", "Save without them",
                                                         "Discard", "Cancel"});
        robot.picture("results_and_edits_question");
        hands.ItemClick("//###question/Save without them");
        CHECK(robot.wait([&] { return robot.work().scene.title() == "free flight"; }));
        REQUIRE(opened(robot));
        CHECK(on_disk(file, "/forces/0/damping").real() == 11);
        CHECK(on_disk(file, "/forces/0/rest_length").is_string());

        // Closing: accepted and saved.
        open(robot, "spring_cage.json");
        CHECK_FALSE(robot.work().values.has_unaccepted());
        optimize(robot, hands);
        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_W);
        hands.KeyPress(ImGuiKey_A);  // the letter of Accept and save
        CHECK(robot.wait([&] { return !robot.work().scene.is_open(); }));
        CHECK(on_disk(file, "/forces/0/rest_length").is_array());

        // Discarded: the file keeps what it has.
        const std::string before = read_file(file);
        open(robot, "spring_cage.json");
        REQUIRE(
            robot.work().scene.set("/objective/0/target", Node::array({0.2, 0.2, 0.2}), "Target"));
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        optimize(robot, hands);
        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_Q);
        hands.ItemClick("//###question/Discard");
        robot.frames(2);
        CHECK(robot.work().ending.has_come());
        CHECK(read_file(file) == before);
    });
}

TEST_CASE("gui: questions are answered by the keyboard") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        REQUIRE(robot.work().scene.set("/forces/0/damping", Node(11.0), "Damping"));
        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_Q);
        CHECK(answers(robot) == std::vector<std::string>{"Save", "Discard", "Cancel"});
        const auto chosen = [&] { return robot.work().messages.question()->chosen; };
        CHECK(chosen() == 0);
        hands.KeyPress(ImGuiKey_Tab);
        CHECK(chosen() == 1);
        hands.KeyPress(ImGuiKey_RightArrow);
        CHECK(chosen() == 2);
        robot.picture("question_by_keys");
        hands.KeyPress(ImGuiKey_Tab);
        CHECK(chosen() == 0);
        hands.KeyPress(ImGuiMod_Shift | ImGuiKey_Tab);
        CHECK(chosen() == 2);
        hands.KeyPress(ImGuiKey_Enter);  // Cancel
        robot.frames(2);
        CHECK_FALSE(robot.work().messages.question());
        CHECK_FALSE(robot.work().ending.has_come());
        CHECK(robot.work().scene.editor().unsaved());
        // What the window does with these keys otherwise it does not do meanwhile.
        CHECK_FALSE(robot.work().requests.hide_panels);

        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_W);
        hands.KeyPress(ImGuiKey_C);  // the letter of Cancel
        robot.frames(2);
        CHECK_FALSE(robot.work().messages.question());
        CHECK(robot.work().scene.is_open());

        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_W);
        hands.KeyPress(ImGuiKey_Enter);  // Save
        robot.frames(2);
        CHECK_FALSE(robot.work().scene.is_open());
        CHECK(on_disk(robot.scenes() / "spring_cage.json", "/forces/0/damping").real() == 11);
    });
}

TEST_CASE("gui: a new scene that is saved on the way out asks for its name, then goes on") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        robot.work().opening.make_new();
        REQUIRE(opened(robot));
        REQUIRE(robot.work().scene.set("/name", Node("mine"), "Name"));
        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_Q);
        hands.KeyPress(ImGuiKey_Enter);
        robot.frames(3);
        CHECK_FALSE(robot.work().ending.has_come());
        hands.ItemClick("//###files/##name");
        hands.KeyCharsReplaceEnter((robot.folder() / "mine.json").c_str());
        robot.frames(3);
        CHECK(robot.work().ending.has_come());
        CHECK(on_disk(robot.folder() / "mine.json", "/name").string() == "mine");
    });
}

TEST_CASE("gui: comments and layout of the file are kept") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "spring_cage.json";
        std::string text = read_file(file);
        const auto put = [&text](const std::string& from, const std::string& to) {
            const std::size_t at = text.find(from);
            REQUIRE(at != std::string::npos);
            text.replace(at, from.size(), to);
        };
        put("\"stiffness\": 100,", "// of each spring\n            \"stiffness\":   100, // N/m");
        put("{", "// by hand\n{");
        std::ofstream(file) << text;
        open(robot, "spring_cage.json");
        REQUIRE(robot.work().scene.set("/forces/0/stiffness", Node(120.5), "Stiffness"));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        put("  100, // N/m", "  120.5, // N/m");
        CHECK(read_file(file) == text);
        optimize(robot, hands);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        CHECK(robot.wait([&] { return robot.work().scene.editor().unsaved(); }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        const std::string saved = read_file(file);
        CHECK(saved.starts_with("// by hand\n{\n    \"$schema\""));
        CHECK(saved.find("// of each spring\n            \"stiffness\":   120.5, // N/m\n") !=
              std::string::npos);
        CHECK(on_disk(file, "/forces/0/rest_length").is_array());
    });
}

TEST_CASE("gui: a broken file is put right where no scene is open") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.folder() / "broken.json";
        const std::string right = read_file(robot.scenes() / "free_flight.json");
        std::ofstream(file) << "{ \"format\": 1,\n  \"time\": }\n";
        robot.work().opening.open(file);
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        CHECK(robot.work().messages.question()->detail.find("broken.json:2") != std::string::npos);
        hands.KeyPress(ImGuiKey_Enter);  // Show in the file
        robot.frames(4);
        CHECK_FALSE(robot.work().scene.is_open());
        CHECK_FALSE(robot.work().text.broken);  // taken by the panel
        robot.picture("broken_alone");
        const auto type = [&](const std::string& text) {
            hands.MouseMoveToPos({500, 400});
            hands.MouseClick();
            ImGui::SetClipboardText(text.c_str());
            hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
            hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_V);
            hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
            robot.frames(3);
        };
        // Read without error, but no scene: marked, without a question.
        const std::string wrong = "{ \"format\": 1, \"bodys\": [] }\n";
        type(wrong);
        CHECK_FALSE(robot.work().messages.question());
        CHECK_FALSE(robot.work().scene.is_open());
        CHECK(read_file(file) == wrong);
        robot.picture("broken_alone_again");
        type(right);
        REQUIRE(opened(robot));
        CHECK(robot.work().scene.title() == "free flight");
        CHECK(robot.work().scene.editor().file() == file);
        CHECK(read_file(file) == right);
        robot.frames(3);
        robot.picture("broken_mended");
    });
}

TEST_CASE("gui: a broken file is left alone") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.folder() / "broken.json";
        std::ofstream(file) << "{ \"format\": ";
        robot.work().opening.open(file);
        robot.frames(3);
        hands.ItemClick("//###question/Show in the file");
        robot.frames(4);
        hands.ItemClick("//##dock/**/Discard");
        robot.frames(3);
        CHECK_FALSE(robot.work().text.mended);
        CHECK(read_file(file) == "{ \"format\": ");
        hands.ItemClick("//##dock/**/spring cage");  // the gallery is there again
        REQUIRE(opened(robot));
    });
}

TEST_CASE("gui: a signal ends it with an autosave, without a question") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "spring_cage.json";
        open(robot, "spring_cage.json");
        REQUIRE(robot.work().scene.set("/forces/0/damping", Node(11.0), "Damping"));
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        optimize(robot, hands);
        ask_by(robot, hands, ImGuiMod_Ctrl | ImGuiKey_Q);
        robot.interrupt();
        CHECK(robot.wait([&] { return robot.work().ending.has_come(); }));
        CHECK_FALSE(robot.work().messages.question());
        CHECK(robot.work().ending.left_autosave());
        // What it left has the edit and what was found.
        session::Editor next(robot.work().scene.registry());
        next.keep_in(robot.folder() / "state");
        CHECK_FALSE(next.find_autosave(robot.scenes() / "flag.json"));
        const auto kept = next.find_autosave(file);
        REQUIRE(kept);
        next.open_autosave(*kept);
        CHECK(next.file() == file);
        CHECK(next.unsaved());
        CHECK(next.document()->at("/forces/0/damping").real() == 11);
        CHECK(next.document()->at("/forces/0/rest_length").is_array());
        CHECK(on_disk(file, "/forces/0/rest_length").is_string());
    });
}

TEST_CASE("gui: with nothing unsaved a signal leaves nothing behind") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "spring_cage.json");
        robot.interrupt();
        CHECK(robot.wait([&] { return robot.work().ending.has_come(); }));
        CHECK_FALSE(robot.work().ending.left_autosave());
        for (const auto& item : fs::directory_iterator(robot.folder() / "state"))
            CHECK_FALSE(item.path().filename().string().starts_with("autosave-"));
    });
}

TEST_CASE("gui: what a crash has left is offered when its scene is opened, and only then") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "thrown_ball.json";
        leave_an_autosave(robot, file);
        open(robot, "free_flight.json");
        CHECK_FALSE(robot.work().messages.question());
        open(robot, "thrown_ball.json");
        REQUIRE(robot.work().messages.question());
        robot.frames(2);
        robot.picture("rescue_question");
        hands.ItemClick("//###question/Not now");
        robot.frames(2);
        CHECK(robot.work().scene.document().at("/gravity/2").real() == -9.81);
        // Again, by its path from elsewhere.
        robot.work().opening.open(robot.scenes() / "../scenes/thrown_ball.json");
        REQUIRE(opened(robot));
        REQUIRE(robot.work().messages.question());
        robot.frames(2);
        hands.KeyPress(ImGuiKey_Enter);  // Open what was kept
        CHECK(robot.wait(
            [&] { return robot.work().scene.document().at("/gravity/2").real() == -2.5; }));
        REQUIRE(opened(robot));
        CHECK_FALSE(robot.work().messages.question());
        CHECK(robot.work().scene.editor().unsaved());
        CHECK(on_disk(file, "/gravity/2").real() == -9.81);
    });
}

TEST_CASE("gui: recent scenes are in the menu") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        open(robot, "free_flight.json");
        hands.SetRef("##MainMenuBar");
        hands.MenuClick("File/Open recent/spring_cage.json##1");
        hands.SetRef("");
        CHECK(robot.wait([&] { return robot.work().scene.title() == "spring cage"; }));
        REQUIRE(opened(robot));
        CHECK(robot.work().scene.editor().recent().front() == robot.scenes() / "spring_cage.json");
        hands.SetRef("##MainMenuBar");
        hands.MenuAction(ImGuiTestAction_Hover, "File/Open recent");
        robot.frames(20);
        robot.picture("recent_menu");
        hands.SetRef("");
    });
}

TEST_CASE("gui: a reload keeps the camera and what was found") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "spring_cage.json";
        open(robot, "spring_cage.json");
        optimize(robot, hands);
        render::orbit(robot.work().looks.view.camera, 40, 10);
        robot.frames(2);
        const render::Camera camera = robot.work().looks.view.camera;
        const std::vector<double> found = *robot.now().optimization.history->back().parameters;
        const auto stays = [&] {
            CHECK(robot.work().looks.view.camera.eye == camera.eye);
            CHECK(robot.work().looks.view.camera.target == camera.target);
            CHECK(robot.wait(
                [&] { return robot.now().values.flat && *robot.now().values.flat == found; }));
            CHECK(robot.work().values.has_unaccepted());
        };
        // By hand: nobody else has changed it.
        hands.KeyPress(ImGuiKey_F5);
        robot.frames(3);
        CHECK(said(robot, "was read once more"));
        CHECK_FALSE(said(robot, "changed elsewhere"));
        stays();
        // Somebody else changes a number, then what the scene consists of.
        Document other = Document::load(file);
        other.set("/forces/0/damping", 11.0);
        other.save(file);
        CHECK(robot.wait([&] { return said(robot, "changed elsewhere"); }));
        CHECK(robot.work().scene.document().at("/forces/0/damping").real() == 11);
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        stays();
        other.insert("/bodies/-", Document::parse(R"({"type": "particles", "name": "stone",
                                      "positions": [[1, 0, 0.5]]})")
                                      .root());
        const std::int64_t build = robot.now().scene.build;
        other.save(file);
        CHECK(robot.wait([&] { return robot.now().scene.build != build; }));
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        stays();
    });
}

TEST_CASE(
    "gui: a file that is deleted while its scene is open is spoken of, and can be saved anew") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "spring_cage.json";
        open(robot, "spring_cage.json");
        fs::remove(file);
        CHECK(robot.wait([&] { return said(robot, "spring_cage.json is no longer there"); }));
        robot.frames(2);
        robot.picture("file_gone");
        // It would be lost.
        robot.work().opening.open(robot.scenes() / "flag.json");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(3);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        robot.frames(3);
        CHECK(fs::exists(file));
        CHECK_FALSE(said(robot, "no longer there"));
        CHECK_FALSE(robot.work().scene.editor().unsaved());
    });
}

TEST_CASE("gui: everything grows on a monitor of another scale") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.frames(3);
        const float scale = gui::style().scale();
        const float before = hands.ItemInfo("//##toolbar/###Optimize").RectFull.GetHeight();
        robot.app().resize(1900, 1200);
        robot.app().rescale(1.5);
        robot.frames(4);
        CHECK(gui::style().scale() == doctest::Approx(1.5 * scale));
        const float after = hands.ItemInfo("//##toolbar/###Optimize").RectFull.GetHeight();
        CHECK(after == doctest::Approx(1.5 * before).epsilon(0.06));  // whole pixels
        robot.picture("scale_150");
        robot.app().rescale(1);
        robot.frames(4);
        CHECK(hands.ItemInfo("//##toolbar/###Optimize").RectFull.GetHeight() == before);
    });
}

TEST_CASE("gui: a newcomer finds the values for a target that moves, and keeps them") {
    Robot robot;
    const fs::path file = robot.scenes() / "spring_cage.json";
    {  // long enough that it runs while the target is moved
        Document scene = Document::load(file);
        scene.set("/optimizer/iterations", 100000000);
        scene.save(file);
    }
    std::vector<double> found;
    double target = 0;
    robot.run([&](ImGuiTestContext& hands) {
        robot.work().opening.open(file);
        REQUIRE(opened(robot));
        hands.KeyPress(ImGuiKey_Space);
        CHECK(robot.wait([&] { return !robot.now().run.playing; }));
        hands.KeyPress(ImGuiKey_O);
        const auto loss = [&] {
            const auto& history = robot.now().optimization.history;
            return history && !history->empty() ? history->back().loss : INFINITY;
        };
        CHECK(robot.wait([&] {
            const double now = loss();  // infinite as long as there is no history
            return std::isfinite(now) &&
                   now < 1e-3 * robot.now().optimization.history->front().loss;
        }));
        CHECK(robot.work().running.is_optimizing());

        // The target, by its arrows, while it runs.
        hands.ItemClick("//###Inspector/**/target");
        hands.KeyPress(ImGuiKey_W);
        robot.frames(3);
        const double old = robot.work().scene.document().at("/objective/0/target/0").real();
        hands.MouseMoveToPos(test::on_screen(robot, hands, {0.375, 0.125, 0.25}));
        robot.frames(2);
        const std::int64_t before = last_iteration(robot);
        hands.MouseDragWithDelta({40, -30});
        robot.frames(2);
        CHECK(robot.work().running.is_optimizing());
        target = robot.work().scene.document().at("/objective/0/target/0").real();
        CHECK(target != old);
        // The loss was small, leaps, and is small again.
        CHECK(robot.wait([&] {
            const auto& history = *robot.now().optimization.history;
            double most = 0;
            for (const auto& row : history)
                if (row.iteration > before) most = std::max(most, row.loss);
            return most > 0 && history.back().iteration > before + 10 &&
                   history.back().loss < 1e-2 * most;
        }));
        robot.picture("newcomer_adapted");

        hands.KeyPress(ImGuiKey_O);  // pause
        CHECK(robot.wait([&] { return !robot.work().running.is_optimizing(); }));
        robot.frames(3);
        found = *robot.now().optimization.history->back().parameters;
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        CHECK(robot.wait([&] { return said(robot, "Accept iteration"); }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        CHECK(robot.wait([&] { return !robot.work().scene.editor().unsaved(); }));
        robot.picture("newcomer_saved");
        CHECK(robot.wait([&] { return !robot.work().values.has_unaccepted(); }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_W);
        robot.frames(3);
        CHECK_FALSE(robot.work().messages.question());
        CHECK_FALSE(robot.work().scene.is_open());

        robot.work().opening.open(file);
        REQUIRE(opened(robot));
        CHECK(robot.work().scene.document().at("/objective/0/target/0").real() == target);
        CHECK(robot.wait(
            [&] { return robot.now().values.flat && *robot.now().values.flat == found; }));
        // It is where it is wanted, at the first run.
        CHECK(robot.wait([&] { return robot.now().run.loss < 1e-2; }));
    });
}
