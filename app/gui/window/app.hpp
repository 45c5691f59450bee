// The program's window, or the same without a screen, which tests and scripts drive. They get the
// pictures that a user would see.
//
//     App app(registry, {.session = options, .state_folder = folder}, &window);
//     app.work().opening.open("scenes/spring_cage.json");
//     app.run();
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/input/actions.hpp"
#include "app/gui/window/shell.hpp"
#include "app/gui/window/window.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "app/session/session.hpp"

namespace hindcast::gui {

class Workspace;

struct AppOptions {
    session::SessionOptions session;
    std::filesystem::path state_folder;              // empty: the user's
    std::vector<std::filesystem::path> galleries;    // folders of example scenes
    std::optional<render::TransportKind> transport;  // none: the best one that works
    bool tour = true;                                // at the first start
    int width = 1280, height = 800;                  // without a window
    double content_scale = 1;                        // of the monitor, without a window
    bool validation = false;
    // Without a window: whether somebody looks at the next frame; nothing is drawn of the others. Empty: always.
    std::function<bool()> is_seen;
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
    // True if a frame is to be drawn now; run() draws one only then. Checks files and takes the
    // newest snapshot. The reason, and the time of the next frame: frame_wishes().
    bool wants_frame();
    // Without a window: so much time goes by in which nothing is drawn, s.
    void pass(double seconds) { passed_ += seconds; }
    // Between two looks at files while nothing is drawn.
    static constexpr double idle_seconds = 0.25;
    // False: the user has ended the program. If the graphics device or the window's surface is
    // lost, it is opened again, and the scene, its edits and the simulation stay. If it cannot be
    // opened, or is lost again soon, unsaved edits go to the autosave and this throws Error.
    bool frame();
    void resize(int width, int height);  // without a window
    void rescale(double content_scale);  // without a window, as on another monitor
    render::Image screenshot();          // of the last frame

    Topics& work();
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
    bool rest_hidden();
    void draw();
    void take_screenshot();
    double clock() const;  // s
    void want_frames();
    bool is_hidden() const;
    void stop_unseen_time();
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
    double content_scale_ = 0;               // of the theme
    std::uint64_t seen_ = 0;                 // serial of the last frame's snapshot
    double passed_ = 0, passed_before_ = 0;  // s, without a window: now, at the last frame's begin
    bool stopped_time_ = false;              // since nobody sees the picture
    std::optional<double> memory_measured_;  // when
    bool large_ = false;                     // the user was told that memory is large
    std::uint64_t shown_log_ = 0;            // serial of the last frame's log
    std::int64_t frames_since_loss_ = -1;    // -1: the device was never lost
    std::string shown_title_;
};

}  // namespace hindcast::gui
