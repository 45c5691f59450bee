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
#include "app/gui/window/frame_clock.hpp"
#include "app/gui/window/graphics.hpp"
#include "app/gui/window/interface.hpp"
#include "app/gui/window/shell.hpp"
#include "app/gui/window/window.hpp"
#include "app/gui/work/process_memory.hpp"
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
    void pass(double seconds) { clock_.pass(seconds); }
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
    Picture& picture() { return graphics_.picture(); }
    Actions& actions() { return actions_; }
    render::VulkanContext& context() { return graphics_.context(); }
    Exporter& exporter();
    // Called between ImGui's new frame and the panels, and after the frame was shown, for the test
    // engine.
    std::function<void()> before_panels, after_show;

private:
    void start();
    void open_graphics();
    void recover(const Error& loss);
    bool draw_frame();
    bool rest_hidden();
    void draw();
    void want_frames();
    bool is_hidden() const;
    void stop_unseen_time();

    AppOptions options_;
    Window* window_;
    FrameClock clock_;
    std::unique_ptr<session::Session> session_;
    std::unique_ptr<Interface> interface_;  // made before what draws, and ends after it
    Graphics graphics_;
    std::unique_ptr<Workspace> work_;
    Actions actions_;
    std::unique_ptr<Shell> shell_;
    MemoryWatch memory_;
    std::uint64_t seen_ = 0, seen_log_ = 0;  // serials of the snapshot and log drawn last
    bool stopped_time_ = false;              // since nobody sees the picture
    std::string shown_title_;
};

}  // namespace hindcast::gui
