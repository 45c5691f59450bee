// What is exported: films of time and of iterations, with labels, along a camera path, of the whole
// window; plots as tables, drawings and pictures; the texts of launches.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/gui/window/export.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/values/handover.hpp"
#include "app/gui/work/view/camera_track.hpp"
#include "app/gui/work/view/looks.hpp"
#include "app/render/output/png.hpp"
#include "engine/backend/text/kernel_text.hpp"
#include "engine/base/files.hpp"
#include "engine/base/log.hpp"
#include "tests/gui/robot.hpp"
#include "tests/support/installed.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using test::Robot;

namespace {

namespace fs = std::filesystem;

void open(Robot& robot, const std::string& name) {
    robot.work().opening.open(robot.scenes() / name);
    REQUIRE(robot.wait([&] {
        return robot.work().scene.is_open() && robot.work().running.has_run() &&
               robot.now().reports.activity != session::Activity::building &&
               !robot.work().handover.is_opening();
    }));
    robot.frames(4);
    robot.work().running.play(false);
    CHECK(robot.wait([&] { return robot.now().run.steps_computed == robot.now().run.steps; }));
}

void optimize(Robot& robot) {
    robot.work().running.optimize(session::Optimize::What::start);
    CHECK(robot.wait([&] {
        return robot.now().optimization.history && robot.now().optimization.history->size() > 30 &&
               !robot.work().running.is_optimizing();
    }));
}

void choose(ImGuiTestContext& hands, const std::string& combo, const std::string& word) {
    hands.SetRef("//Export");
    hands.ComboClick((combo + "/" + word).c_str());
    hands.SetRef("");
}

void begin_export(Robot& robot, ImGuiTestContext& hands, const char* kind, const char* axis) {
    robot.work().requests.show_export = true;
    robot.frames(3);
    choose(hands, "##kind", kind);
    if (axis != nullptr) choose(hands, "##axis", axis);
    choose(hands, "##size", "640 x 360");
    hands.ItemInputValue("//Export/##folder", robot.folder().c_str());
}

bool said(Robot& robot, const std::string& text) {
    for (const gui::Notice& notice : robot.work().messages.notices())
        if (notice.text.find(text) != std::string::npos) return true;
    return false;
}

int frames_of(const fs::path& film) {
    const std::string command =
        "ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames "
        "-of csv=p=0 '" +
        film.string() + "'";
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 64> text{};
    const bool any = std::fgets(text.data(), text.size(), pipe) != nullptr;
    pclose(pipe);
    return any ? std::atoi(text.data()) : -1;
}

std::size_t files_in(const fs::path& folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file : fs::directory_iterator(folder)) ++count;
    return count;
}

}  // namespace

TEST_CASE("gui export: films of time and of iterations, frame by frame") {
    if (!test::is_installed("ffprobe")) HINDCAST_SKIP("there is no ffmpeg here");
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        optimize(robot);
        robot.work().looks.show_labels = robot.work().looks.show_time = true;
        // 30 steps of 1/30 s at 30 pictures a second: the start and every step.
        begin_export(robot, hands, "MP4", "simulated time");
        hands.ItemClick("//Export/###Export");
        CHECK(robot.wait([&] { return said(robot, "Exported"); }, 300));
        CHECK(frames_of(robot.folder() / "spring_cage.mp4") == 31);
        // The starting point and 30 iterations.
        begin_export(robot, hands, "GIF", "iterations");
        hands.ItemClick("//Export/###Export");
        CHECK(robot.wait([&] { return fs::exists(robot.folder() / "spring_cage.gif"); }, 300));
        CHECK(frames_of(robot.folder() / "spring_cage.gif") ==
              static_cast<int>(robot.now().optimization.history->size()));
    });
}

TEST_CASE("gui export: canceled halfway, nothing of the film is left") {
    if (!test::is_installed("ffprobe")) HINDCAST_SKIP("there is no ffmpeg here");
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        begin_export(robot, hands, "MP4", "simulated time");
        hands.ItemClick("//Export/###Export");
        robot.frames(10);
        robot.picture("export_running");
        hands.ItemClick("//Export/Cancel");
        CHECK(robot.wait([&] { return said(robot, "canceled"); }));
        CHECK_FALSE(fs::exists(robot.folder() / "spring_cage.mp4"));
        for (const auto& file : fs::directory_iterator(robot.folder()))
            CHECK(file.path().string().find(".mp4") == std::string::npos);
    });
}

TEST_CASE("gui export: the motion for other programs, as the command writes it") {
    HINDCAST_NEEDS_PROGRAM();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const fs::path folder = robot.folder() / "meshes";
        const auto export_as = [&](const char* kind) {
            robot.work().messages.notices().clear();
            robot.work().requests.show_export = true;
            robot.frames(3);
            choose(hands, "##kind", kind);
            hands.ItemInputValue("//Export/##every", 4);
            hands.ItemInputValue("//Export/##folder", folder.c_str());
            robot.picture("export_motion");
            hands.ItemClick("//Export/###Export");
        };
        const auto ended = [&] { return robot.wait([&] { return said(robot, "Exported"); }, 120); };
        const auto command = [&](const std::string& format) {
            const test::Finished run = test::run_program(
                {"run", robot.work().scene.editor().file().string(), "--export", format,
                 "--export-every", "4", "--output", (robot.folder() / "run").string()});
            REQUIRE_MESSAGE(run.status == 0, run.err);
            return robot.folder() / "run/export";
        };
        export_as("USD (Blender, Houdini)");
        CHECK(ended());
        const std::string as_written = read_file(folder / "spring_cage.usda");
        CHECK(as_written == read_file(command("usd") / "spring_cage.usda"));
        CHECK(files_in(folder) == 1);

        // The parameters that are shown, though the scene does not have them yet.
        optimize(robot);
        export_as("USD (Blender, Houdini)");
        robot.frames(3);
        hands.ItemClick("//**/Replace");
        CHECK(ended());
        const std::string optimized = read_file(folder / "spring_cage.usda");
        CHECK(optimized != as_written);
        robot.work().values.accept();
        CHECK(robot.wait(
            [&] { return robot.work().scene.editor().undo_name() == "Accept iteration 30"; }));
        robot.work().saving.save();
        CHECK(optimized == read_file(command("usd") / "spring_cage.usda"));

        // What an export left that was killed goes; that of a living process and another's stays.
        const pid_t killed = ::fork();
        if (killed == 0) ::_exit(0);
        REQUIRE(::waitpid(killed, nullptr, 0) == killed);
        const auto left = [&](const char* name, pid_t process) {
            return folder / ("." + std::string(name) + "." + std::to_string(process) + ".new");
        };
        const fs::path gone = left("spring_cage_vtu", killed), another = left("other", killed),
                       lives = left("spring_cage_vtu", 1);
        for (const fs::path& one : {gone, another, lives}) {
            fs::create_directories(one);
            std::ofstream(one / "spring_cage_0.vtu") << "half";
        }
        export_as("VTU series (ParaView)");
        CHECK(ended());
        CHECK_FALSE(fs::exists(gone));
        for (const fs::path& one : {another, lives}) CHECK(files_in(one) == 1);
        const fs::path expected = command("vtu");
        CHECK(files_in(folder / "spring_cage_vtu") == files_in(expected));
        for (const auto& file : fs::directory_iterator(expected))
            CHECK(read_file(file.path()) ==
                  read_file(folder / "spring_cage_vtu" / file.path().filename()));
    });
}

TEST_CASE("gui export: a sequence says beforehand how large it becomes") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        begin_export(robot, hands, "PNG sequence", "simulated time");
        robot.frames(60);
        robot.picture("export_size");
        hands.ItemClick("//Export/###Export");
        CHECK(robot.wait([&] { return said(robot, "Exported"); }, 300));
        std::uintmax_t bytes = 0;
        for (const auto& file : fs::directory_iterator(robot.folder() / "spring_cage_frames"))
            bytes += file.file_size();
        const double expected = 31 * robot.app().exporter().picture_bytes();
        CHECK(static_cast<double>(bytes) > 0.5 * expected);
        CHECK(static_cast<double>(bytes) < 2 * expected);
    });
}

TEST_CASE("gui export: what is there is not written over without asking") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const fs::path folder = robot.folder() / "spring_cage_frames";
        fs::create_directories(folder);
        std::ofstream(folder / "00000.png") << "mine";
        std::ofstream(folder / "00999.png") << "mine";
        std::ofstream(folder / "notes.txt") << "mine";
        begin_export(robot, hands, "PNG sequence", "simulated time");
        hands.ItemClick("//Export/###Export");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        robot.picture("export_question");
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(3);
        CHECK(read_file(folder / "00000.png") == "mine");

        hands.ItemClick("//Export/###Export");
        robot.frames(3);
        hands.ItemClick("//###question/Keep both");
        CHECK(robot.wait([&] { return said(robot, "Exported"); }, 300));
        CHECK(files_in(robot.folder() / "spring_cage_2_frames") == 31);
        CHECK(read_file(folder / "00000.png") == "mine");

        robot.work().messages.notices().clear();
        robot.work().requests.show_export = true;
        robot.frames(3);
        hands.ItemClick("//Export/###Export");
        robot.frames(3);
        hands.ItemClick("//###question/Replace");
        CHECK(robot.wait([&] { return said(robot, "Exported"); }, 300));
        // The 31 new ones; of the older ones none is left among them, other files are.
        CHECK(files_in(folder) == 32);
        CHECK(render::read_png(folder / "00000.png").width == 640);
        CHECK(read_file(folder / "notes.txt") == "mine");
    });
}

TEST_CASE("gui export: the whole window, without the dialog") {
    Robot robot({.draws = true, .width = 900, .height = 600});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().running.send(session::Seek{0});
        CHECK(robot.wait([&] { return robot.now().run.step == 0; }));
        robot.frames(40);
        const render::Image before = robot.app().screenshot();
        begin_export(robot, hands, "PNG sequence", "simulated time");
        choose(hands, "##part", "the whole window");
        hands.ItemClick("//Export/###Export");
        const fs::path folder = robot.folder() / "spring_cage_frames";
        CHECK(robot.wait([&] { return said(robot, "Exported"); }, 300));
        CHECK(files_in(folder) == 31);
        const render::Image first = render::read_png(folder / "00000.png");
        const render::Image last = render::read_png(folder / "00030.png");
        CHECK(first.width == 900);
        CHECK(first.height == 600);
        CHECK(first.pixels != last.pixels);
        // In the middle, where the dialog is, stands what stood there without it.
        int different = 0;
        for (int y = 200; y < 400; ++y)
            for (int x = 400; x < 500; ++x)
                for (int c = 0; c < 3; ++c) {
                    const std::ptrdiff_t at = (std::ptrdiff_t{y} * 900 + x) * 4 + c;
                    different += std::abs(first.pixels[at] - before.pixels[at]) > 8;
                }
        CHECK(different < 600);  // of 60000
        fs::copy_file(folder / "00030.png",
                      fs::path(hindcast::test::picture_dir) / "exported_window.png",
                      fs::copy_options::overwrite_existing);
    });
}

TEST_CASE("gui export: along a camera path that is made in the timeline") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const auto go_to = [&](std::int64_t step) {
            robot.work().running.send(session::Seek{step});
            CHECK(robot.wait([&] { return robot.now().run.step == step; }));
            robot.frames(2);
        };
        go_to(0);
        const render::Camera start = robot.work().looks.view.camera;
        hands.KeyPress(ImGuiKey_K);
        go_to(30);
        render::orbit(robot.work().looks.view.camera, 90, 0);
        const render::Camera end = robot.work().looks.view.camera;
        hands.KeyPress(ImGuiKey_K);
        robot.frames(2);
        REQUIRE(robot.work().camera.path().keys().size() == 2);
        CHECK(robot.work().camera.path().keys()[0].camera.eye == start.eye);
        CHECK(robot.work().camera.path().keys()[1].camera.eye == end.eye);
        CHECK(robot.work().camera.path().keys()[1].time == doctest::Approx(1));
        CHECK(robot.work().scene.editor().unsaved());
        CHECK(robot.work().scene.editor().undo_name() == "Camera key");
        robot.picture("camera_keys");

        // The camera follows, until it is moved by hand.
        robot.work().camera.follows = true;
        go_to(15);
        const render::Camera half = robot.work().looks.view.camera;
        for (std::size_t c = 0; c < 3; ++c)  // two keys: the middle of the line between them
            CHECK(half.eye[c] == doctest::Approx((start.eye[c] + end.eye[c]) / 2));
        render::orbit(robot.work().looks.view.camera, 1, 0);
        robot.frames(2);
        CHECK_FALSE(robot.work().camera.follows);

        robot.work().looks.colors.by.clear();  // no color bar: what is exported is the view alone
        robot.work().looks.send_frame_contents();
        begin_export(robot, hands, "PNG sequence", "simulated time");
        robot.picture("export_path");
        hands.ItemClick("//Export/###Export");
        CHECK(robot.wait([&] { return said(robot, "Exported"); }, 300));
        // What was exported at the keys is the view from there.
        for (const auto& [step, camera] : {std::pair(0, start), std::pair(30, end)}) {
            go_to(step);
            render::View view = robot.work().looks.view;
            view.camera = camera;
            view.width = 640;
            view.height = 360;
            render::Image wanted;  // drawn at the beginning of a frame, as exports are
            robot.app().before_panels = [&] { wanted = robot.app().picture().image(view); };
            robot.frames(1);
            robot.app().before_panels = {};
            const render::Image made = render::read_png(robot.folder() / "spring_cage_frames" /
                                                        (step == 0 ? "00000.png" : "00030.png"));
            CHECK(made.pixels == wanted.pixels);
        }
        // A key is taken away, and back by undo.
        go_to(30);
        hands.KeyPress(ImGuiMod_Shift | ImGuiKey_K);
        robot.frames(2);
        CHECK(robot.work().camera.path().keys().size() == 1);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(2);
        CHECK(robot.work().camera.path().keys().size() == 2);
    });
}

TEST_CASE("gui export: plots as table, drawing and picture") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        optimize(robot);
        robot.work().requests.focus_panel = "Plots";
        robot.frames(4);
        for (const char* button : {"CSV", "SVG", "PNG"}) {
            hands.ItemClick((std::string("//###Plots/") + button).c_str());
            robot.frames(3);
        }
        const std::string csv = read_file(robot.scenes() / "spring_cage_loss.csv");
        std::istringstream rows(csv);
        std::string row;
        std::getline(rows, row);
        CHECK(row.starts_with("iteration,loss"));
        const auto& history = *robot.now().optimization.history;
        for (const session::IterationInfo& iteration : history) {
            REQUIRE(std::getline(rows, row));
            const std::size_t comma = row.find(',');
            CHECK(std::stoll(row) == iteration.iteration);
            CHECK(std::stod(row.substr(comma + 1)) == iteration.loss);
        }
        const std::string svg = read_file(robot.scenes() / "spring_cage_loss.svg");
        CHECK(svg.find(">iteration<") != std::string::npos);
        CHECK(svg.find("data-name=\"loss\"") != std::string::npos);
        const render::Image png = render::read_png(robot.scenes() / "spring_cage_loss.png");
        CHECK(png.width == 1600);
        CHECK(png.height == 960);
        fs::copy_file(robot.scenes() / "spring_cage_loss.png",
                      fs::path(hindcast::test::picture_dir) / "plot_loss.png",
                      fs::copy_options::overwrite_existing);
        robot.picture("plots_saved");
    });
}

TEST_CASE("gui export: what launches become, shown, sought, copied and saved") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().running.send(session::Profile{true});
        optimize(robot);
        CHECK(robot.wait([&] { return !robot.now().tools.launches.empty(); }));
        robot.work().requests.focus_panel = "Launches";
        robot.frames(4);
        const auto& launches = robot.now().tools.launches;
        const auto spring = std::ranges::find_if(launches, [](const session::LaunchInfo& l) {
            return l.direction == Direction::forward && l.name.find("cage") != std::string::npos;
        });
        REQUIRE(spring != launches.end());
        const std::string name = spring->name;
        hands.ItemClick(("//###Launches/launches/**/" + name + "##forward").c_str());
        const auto shown = [&](Direction direction, backend::KernelText what) {
            return robot.wait([&] {
                const auto& text = robot.now().tools.launch_text;
                return text && text->asked.launch == name && text->asked.direction == direction &&
                       text->asked.what == what && !text->text.empty();
            });
        };
        CHECK(shown(Direction::forward, backend::KernelText::ir));
        robot.picture("launch_ir");
        hands.ItemClick("//###Launches/**/Adjoint IR");
        CHECK(shown(Direction::adjoint, backend::KernelText::ir));
        hands.ItemClick("//###Launches/**/CUDA");
        CHECK(shown(Direction::forward, backend::KernelText::cuda));
        robot.frames(2);
        hands.ItemClick("//###Launches/**/##find");
        hands.KeyCharsReplace("__global__");
        robot.frames(2);
        robot.picture("launch_cuda");
        hands.ItemClick("//###Launches/**/Copy");
        CHECK(std::string(ImGui::GetClipboardText()) == robot.now().tools.launch_text->text);
        hands.ItemClick("//###Launches/**/Save");
        std::string file = name + ".cu";
        std::ranges::replace(file, ':', '_');
        CHECK(read_file(robot.scenes() / file) == robot.now().tools.launch_text->text);
    });
}

TEST_CASE("gui: the log has what the process says, filtered, copied and saved") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        log_warning("a warning from {}", "elsewhere");
        log_info("a note from elsewhere");
        robot.work().messages.fail(Error("ffmpeg has failed"));
        robot.work().requests.focus_panel = "Log";
        robot.frames(4);
        robot.picture("log");
        hands.ItemClick("//###Log/Copy");
        const std::string all = ImGui::GetClipboardText();
        CHECK(all.find("warning: a warning from elsewhere\n") != std::string::npos);
        CHECK(all.find("note: a note from elsewhere\n") != std::string::npos);
        CHECK(all.find("error: ffmpeg has failed\n") != std::string::npos);
        CHECK(all.find("warning: a") < all.find("note: a"));
        hands.ItemClick("//###Log/###Notes");
        hands.ItemClick("//###Log/###Warnings");
        hands.ItemClick("//###Log/Save");
        const std::string errors = read_file(robot.scenes() / "hindcast_log.txt");
        CHECK(errors.find("ffmpeg has failed") != std::string::npos);
        CHECK(errors.find("elsewhere") == std::string::npos);
    });
}
