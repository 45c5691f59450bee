// A user made of code: the whole program with imgui_test_engine's mouse and keyboard, without a
// screen or in a real window. A script runs beside the frames and waits for what it wants to see.
//
//     Robot robot;
//     robot.run([&](ImGuiTestContext& hands) {
//         hands.ItemClick("//**/spring cage");
//         CHECK(robot.wait([&] { return robot.work().running.has_run(); }));
//         robot.picture("opened");
//     });
#pragma once

#include <imgui.h>

#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/window/app.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast::test {

class Robot {
public:
    struct Options {
        bool window = false;  // on the display
        bool tour = false;
        bool validation = true;  // Vulkan's layers, which keep something of each command buffer
        // Smooth edges, shadows and ambient occlusion, as users have them: a processor that draws takes several times as
        // long with them.
        bool best_picture = false;
        // Every frame is drawn, as for users. Otherwise, without a window, only those that picture() keeps: drawing takes
        // two thirds of a test's time.
        bool draws = false;
        int width = 1280, height = 800;
        std::optional<gui::SessionLink> link = {};  // instead of a simulation
        std::optional<render::TransportKind> transport = {};
        std::function<bool()> interrupted = {};  // asked besides interrupt()
    };
    Robot() : Robot(Options()) {}
    explicit Robot(Options options);
    ~Robot();

    // Draws frames until the script has ended. What it throws fails the test.
    void run(const std::function<void(ImGuiTestContext&)>& script);
    // Inside a script: frames go by until it is so. False after the time.
    bool wait(const std::function<bool()>& condition, double seconds = 30);
    void frames(int count);
    // Kept as build/PRESET/gui/NAME.png, window_NAME.png in a real window.
    void picture(const std::string& name);
    // What the window showed when a test case has failed first: failed_CASE.png.
    void picture_of_failure(const std::string& test_case);
    static Robot* living();  // the one that runs a script; null: none does
    // As Ctrl-C does in the terminal.
    void interrupt() { interrupted_ = true; }

    gui::App& app() { return *app_; }
    gui::Window& window() { return *window_; }  // with Options::window only
    gui::Topics& work() { return app_->work(); }
    const session::Snapshot& now() { return work().running.now(); }
    // Copies of the bundled scenes: files of the user, which may be changed; and those that the
    // gallery shows, which the window does not write to.
    std::filesystem::path scenes() const { return folder_.path() / "scenes"; }
    std::filesystem::path gallery() const { return folder_.path() / "gallery"; }
    std::filesystem::path folder() const { return folder_.path(); }
    const std::vector<std::string>& messages() const { return messages_; }

private:
    bool seen_ = false, in_script_ = false;
    TemporaryFolder folder_;
    std::vector<std::string> messages_;  // of Vulkan's validation layers
    std::unique_ptr<gui::Window> window_;
    std::unique_ptr<gui::App> app_;
    ImGuiTestEngine* engine_ = nullptr;
    ImGuiTestContext* hands_ = nullptr;
    int scripts_ = 0;
    bool in_window_ = false, interrupted_ = false;
};

}  // namespace hindcast::test
