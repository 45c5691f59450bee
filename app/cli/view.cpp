// hindcast view [SCENE]: the window. With --screenshot it draws without one, for scripts.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "app/cli/bundled_scenes.hpp"
#include "app/cli/command.hpp"
#include "app/cli/interrupt.hpp"
#include "app/cli/temporary_folder.hpp"
#include "app/gui/input/commands_page.hpp"
#include "app/gui/window/app.hpp"
#include "app/gui/work/files/ending.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/values/handover.hpp"
#include "app/render/output/png.hpp"
#include "engine/base/hash.hpp"
#include "engine/robot/robot_scene.hpp"
#include "engine/sim/values/checkpoint.hpp"

namespace hindcast::cli {

namespace {

namespace fs = std::filesystem;

struct ViewOptions {
    SceneOptions scene;
    std::string size = "1280x800", transport = "auto", screenshot, state;
    int frames = 60;
    bool no_tour = false, optimize = false, commands = false;
};

std::pair<int, int> parse_size(const std::string& text) {
    int width = 0, height = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < 64 ||
        height < 64 || width > 16384 || height > 16384)
        throw Error("'" + text + "' is not a size").remedy("write WIDTHxHEIGHT, such as 1280x720");
    return {width, height};
}

std::string check_size(const std::string& text) {
    try {
        parse_size(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::string check_transport(const std::string& text) {
    try {
        render::transport_named(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// Frames one after the other until the scene is there (and optimized), then as many as were asked
// for.
int draw_without_window(gui::App& app, const ViewOptions& options) {
    const std::chrono::steady_clock::time_point end =
        std::chrono::steady_clock::now() + std::chrono::seconds(120);
    int left = options.frames;
    bool failed = false;
    while (left > 0 && std::chrono::steady_clock::now() < end && !interrupted() && app.frame()) {
        const gui::Topics& work = app.work();
        failed = work.running.now().reports.error != nullptr;
        const bool building = work.handover.is_opening() || work.values.waits() ||
                              work.running.now().reports.activity == session::Activity::building;
        const auto& history = work.running.now().optimization.history;
        const bool ended = history && !history->empty() && !work.running.is_optimizing();
        if (!building && (!options.optimize || ended || failed)) --left;
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    render::write_png(options.screenshot, app.screenshot());
    if (failed) throw Error(*app.work().running.now().reports.error);
    return 0;
}

// A name that is wrong is told where it was typed. A file that does not read is shown by the window.
void check_checkpoint(const SceneOptions& scene) {
    if (scene.checkpoint.empty() || robot::is_robot_file(scene.scene)) return;
    document::Document document;
    try {
        document = document::Document::load(scene.scene);
    } catch (const Error&) {
        return;
    }
    checkpoint_named(document, scene.checkpoint);
}

int view(const ViewOptions& options) {
    if (options.commands) {
        fmt::print("{}", gui::commands_page());
        return 0;
    }
    const auto [width, height] = parse_size(options.size);
    check_checkpoint(options.scene);
    if (!options.screenshot.empty()) {  // the window cannot show the error
        require_folder_of(options.screenshot);
        if (!options.scene.scene.empty() && !robot::is_robot_file(options.scene.scene))
            options.scene.load();
    }
    // A picture does not depend on what the user's last session left.
    std::optional<TemporaryFolder> fresh;
    if (!options.screenshot.empty() && options.state.empty()) fresh.emplace();
    gui::AppOptions app_options;
    app_options.session.simulation = options.scene.simulation_options();
    app_options.galleries = bundled_scenes();
    app_options.transport = render::transport_named(options.transport);
    app_options.state_folder = fresh ? fresh->path().string() : options.state;
    app_options.tour = !options.no_tour && options.screenshot.empty();
    app_options.width = width;
    app_options.height = height;
    app_options.interrupted = interrupted;
    std::unique_ptr<gui::Window> window;
    if (options.screenshot.empty())
        window = std::make_unique<gui::Window>(gui::WindowOptions{"Hindcast", width, height});
    gui::App app(registry(), std::move(app_options), window.get());
    app.work().opening.optimize_when_open = options.optimize;
    app.work().opening.checkpoint_when_open = options.scene.checkpoint;
    if (!options.scene.scene.empty()) app.work().opening.open(options.scene.scene);
    if (window == nullptr) return draw_without_window(app, options);
    app.run();
    if (!interrupted()) return 0;
    if (app.work().ending.left_autosave())
        complain("what was not saved is kept; the next start offers it");
    return interrupted_status();
}

}  // namespace

Command add_view(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("view", "Open the window: see, edit, scrub and optimize a scene");
    auto options = std::make_shared<ViewOptions>();
    options->scene.add_to(*command);
    command->get_option("scene")->required(false)->description(
        "The scene file (JSON), or a robot's model (MJCF, URDF); without one the gallery of "
        "bundled scenes is shown");
    // Changes are made in the window.
    command->remove_option(command->get_option("--set"));
    command->remove_option(command->get_option("--steps"));
    command->get_option("--checkpoint")->needs(command->get_option("scene"));
    command->add_option("--size", options->size, "Size of the window in pixels")
        ->check(CLI::Validator(check_size, ""))
        ->type_name("WIDTHxHEIGHT")
        ->capture_default_str()
        ->group("Window");
    command
        ->add_option("--transport", options->transport,
                     "How the solver's numbers reach the picture: exported, imported, mapped, "
                     "staging, or auto (the best one that works); the same picture")
        ->check(CLI::Validator(check_transport, ""))
        ->type_name("KIND")
        ->capture_default_str()
        ->group("Window");
    command
        ->add_option("--screenshot", options->screenshot,
                     "Draw without a window and write the last frame to this file (PNG)")
        ->type_name("FILE")
        ->group("Window");
    command
        ->add_option("--frames", options->frames,
                     "With --screenshot: frames to draw once the scene is there")
        ->check(CLI::Range(1, 1'000'000))
        ->type_name("N")
        ->capture_default_str()
        ->group("Window");
    command
        ->add_option("--state", options->state,
                     "Folder for layout, settings, recent files and autosaves (default: "
                     "$XDG_STATE_HOME/hindcast or ~/.local/state/hindcast)")
        ->type_name("DIR")
        ->group("Window");
    command
        ->add_flag("--optimize", options->optimize,
                   "Optimize the scene as soon as it is open; with --screenshot the frames begin "
                   "when that has ended")
        ->group("Window");
    // The British spelling of earlier versions.
    command->add_flag("--optimise", options->optimize)->group("");
    command
        ->add_flag("--commands", options->commands,
                   "Write the window's commands, keys and gestures as a page in Markdown, and end")
        ->group("Window");
    command->add_flag("--no-tour", options->no_tour, "Do not offer the tour at the first start")
        ->group("Window");
    command->footer(
        "Ctrl-C and SIGTERM end it without questions; what is not saved is kept, with what the "
        "optimization has found, and offered at the next start.\n"
        "Example: hindcast view scenes/spring_cage.json");
    return {command, about_scene(options->scene.scene, [options] { return view(*options); })};
}

}  // namespace hindcast::cli
