// The program's window, or the same without a screen, which tests and scripts drive. They get the
// pictures that a user would see.
//
//     App app(registry, {.session = options, .state_folder = folder}, &window);
//     app.workspace().open("scenes/spring_cage.json");
//     app.run();
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/window/shell.hpp"
#include "app/gui/window/window.hpp"
#include "app/session/session.hpp"

namespace hindcast::gui {

struct AppOptions {
    session::SessionOptions session;
    std::filesystem::path state_folder;              // empty: the user's
    std::vector<std::filesystem::path> galleries;    // folders of example scenes
    std::optional<render::TransportKind> transport;  // none: the best one that works
    bool tour = true;                                // at the first start
    int width = 1280, height = 800;                  // without a window
    double content_scale = 1;                        // of the monitor, without a window
    bool validation = false;
    std::function<bool()> interrupted;  // true: the program must end without questions
    std::function<void(const std::string&)> on_message;  // of the validation layers
};

// $XDG_STATE_HOME/hindcast or ~/.local/state/hindcast.
std::filesystem::path user_state_folder();

class App {
public:
    // `window` null: nothing is shown, and each frame takes a sixtieth of a second of ImGui's time.
    App(const Registry& registry, AppOptions options, Window* window);
    // With another source of snapshots than a session.
    App(const Registry& registry, AppOptions options, Window* window, SessionLink link);
    ~App();
    App(const App&) = delete;
    App& operator=(const App&) = delete;

    void run();
    // Whether there is something new to draw; run() draws a frame only then. False while time
    // stands still and there is no input. Checks files and takes the newest snapshot.
    bool wants_frame();
    // False: the user has ended the program. If the graphics device or the window's surface is
    // lost, it is opened again, and the scene, its edits and the simulation stay. If it cannot be
    // opened, or is lost again soon, unsaved edits go to the autosave and this throws Error.
    bool frame();
    void resize(int width, int height);  // without a window
    void rescale(double content_scale);  // without a window, as on another monitor
    render::Image screenshot();          // of the last frame

    Workspace& workspace() { return *work_; }
    session::Session* session() { return session_.get(); }
    Picture& picture() { return *picture_; }
    Actions& actions() { return actions_; }
    render::VulkanContext& context() { return *vulkan_; }
    Exporter& exporter();
    // Called between ImGui's new frame and the panels, and after the frame was shown, for the test
    // engine.
    std::function<void()> before_panels, after_show;

private:
    void start(Window* window);
    void open_device();
    void close_device();
    void recover(const Error& loss);
    bool draw_frame();
    void draw();
    void take_screenshot();
    bool moves() const;
    void measure_memory();

    AppOptions options_;
    Window* window_;
    std::unique_ptr<session::Session> session_;
    std::unique_ptr<render::VulkanContext> vulkan_;
    std::string layout_file_;  // ImGui writes it when its context is destroyed
    struct Gui;                // ImGui's contexts: created first, destroyed last
    std::unique_ptr<Gui> gui_;
    std::unique_ptr<Canvas> canvas_;
    std::unique_ptr<Picture> picture_;
    std::unique_ptr<Theme> theme_;
    std::unique_ptr<Workspace> work_;
    Actions actions_;
    std::unique_ptr<Shell> shell_;
    double content_scale_ = 0;                       // of the theme
    std::uint64_t seen_ = 0;                         // serial of the last frame's snapshot
    int lively_ = 3;                                 // frames to draw before waiting again
    std::chrono::steady_clock::time_point settled_;  // when the window may sleep
    std::optional<std::chrono::steady_clock::time_point> memory_measured_;
    bool large_ = false;                   // the user was told that memory is large
    std::uint64_t shown_log_ = 0;          // serial of the last frame's log
    std::int64_t frames_since_loss_ = -1;  // -1: the device was never lost
    std::string shown_title_;
};

}  // namespace hindcast::gui
