// The table of actions: add one here, and it is in its menu, in the command palette and on the help
// page, and its key works.
#include <algorithm>

#include "app/gui/input/actions.hpp"

namespace hindcast::gui {

namespace {

using session::Optimise;
bool has_scene(const Workspace& w) { return w.has_scene(); }
bool runs(const Workspace& w) { return w.shows_run(); }
bool can_optimise(const Workspace& w) {
    return w.shows_run() && !w.now().present_parameters().empty();
}
bool has_history(const Workspace& w) {
    return w.shows_run() && w.now().history && !w.now().history->empty();
}

void copy_pointer(Workspace& w) {
    w.edit([&](session::Editor& e) { w.select({e.duplicate(w.selection().pointer), -1, ""}); });
}

// Objects of sections, parameters and groups of them can be copied and erased; "/time" cannot.
bool object_is_selected(const Workspace& w) {
    return std::ranges::count(w.selection().pointer, '/') == 2 ||
           w.selection().pointer.starts_with("/optimizer/groups/");
}

void scale_text(Workspace& w, double by) {
    w.settings.font_scale = std::clamp(w.settings.font_scale * by, 0.6, 3.0);
    w.save_settings();
}

// To another of the iterations that are kept.
void show_iteration(Workspace& w, std::ptrdiff_t by) {
    const auto& rows = *w.now().history;
    const std::int64_t shown = w.now().shown_iteration,
                       from = shown < 0 ? rows.back().iteration : shown;
    const auto at = std::ranges::lower_bound(rows, from, {}, &session::IterationInfo::iteration);
    const auto next = std::clamp<std::ptrdiff_t>(at - rows.begin() + by, 0, std::ssize(rows) - 1);
    w.send(session::ShowIteration{rows[static_cast<std::size_t>(next)].iteration});
}

std::vector<Action> file_actions() {
    return {
        {"new",
         "File",
         icon::file,
         "New scene",
         ImGuiMod_Ctrl | ImGuiKey_N,
         "A scene that runs: one particle that falls, something wanted of it, something to change",
         {},
         [](Workspace& w) { w.make_new(); },
         {}},
        {"open",
         "File",
         icon::open,
         "Open...",
         ImGuiMod_Ctrl | ImGuiKey_O,
         "Opens a scene file. Files can be dropped onto the window as well.",
         {},
         [](Workspace& w) { w.show_open = true; },
         {}},
        {"open_results",
         "File",
         icon::list,
         "Open results...",
         0,
         "Shows what hindcast batch or optimize has written: tables and curves",
         {},
         [](Workspace& w) { w.show_open_results = true; },
         {}},
        {"gallery",
         "File",
         icon::gallery,
         "Gallery",
         0,
         "The scenes that come with the program",
         {},
         [](Workspace& w) { w.show_gallery = !w.show_gallery; },
         [](const Workspace& w) { return w.show_gallery; }},
        {"save",
         "File",
         icon::save,
         "Save",
         ImGuiMod_Ctrl | ImGuiKey_S,
         "Writes the scene as it is edited now into its file. Values that the optimisation has "
         "found are in it once they are accepted (Ctrl+Enter)",
         has_scene,
         [](Workspace& w) { w.save(); },
         {},
         false,
         true},
        {"save_as",
         "File",
         icon::save,
         "Save as...",
         ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S,
         "Writes the scene into another file, which is the scene's from then on",
         has_scene,
         [](Workspace& w) { w.show_save_as = true; },
         {}},
        {"reload",
         "File",
         icon::rotate,
         "Reload",
         ImGuiKey_F5,
         "Reads the scene's file once more; what was changed here can be had back by undo",
         [](const Workspace& w) { return w.has_scene() && !w.editor().file().empty(); },
         [](Workspace& w) { w.reload(); },
         {}},
        {"export",
         "File",
         icon::export_out,
         "Export...",
         ImGuiMod_Ctrl | ImGuiKey_E,
         "Pictures, image sequences and films of time or of iterations",
         runs,
         [](Workspace& w) { w.show_export = true; },
         {},
         false,
         true},
        {"screenshot",
         "File",
         icon::camera,
         "Screenshot",
         ImGuiKey_F12,
         "A picture of the whole window, as PNG, beside the scene; of an example in the current "
         "folder",
         {},
         [](Workspace& w) { w.screenshot = std::filesystem::path(); },
         {}},
        {"close",
         "File",
         icon::close,
         "Close scene",
         ImGuiMod_Ctrl | ImGuiKey_W,
         "Goes back to the gallery",
         has_scene,
         [](Workspace& w) { w.close(); },
         {},
         false,
         true},
        {"quit",
         "File",
         nullptr,
         "Quit",
         ImGuiMod_Ctrl | ImGuiKey_Q,
         "Ends the program",
         {},
         [](Workspace& w) { w.request_quit(); },
         {}},
    };
}

std::vector<Action> edit_actions() {
    return {
        {"undo",
         "Edit",
         icon::undo,
         "Undo",
         ImGuiMod_Ctrl | ImGuiKey_Z,
         "Takes the last change of the scene back",
         [](const Workspace& w) { return w.editor().can_undo(); },
         [](Workspace& w) {
             const std::string name = w.editor().undo_name();
             if (w.edit([](session::Editor& e) { e.undo(); })) w.tell("Undone: " + name);
         },
         {},
         true},
        {"redo",
         "Edit",
         icon::redo,
         "Redo",
         ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z,
         "Makes the change that was taken back once more",
         [](const Workspace& w) { return w.editor().can_redo(); },
         [](Workspace& w) {
             const std::string name = w.editor().redo_name();
             if (w.edit([](session::Editor& e) { e.redo(); })) w.tell("Redone: " + name);
         },
         {},
         true},
        {"redo_y",
         "",
         icon::redo,
         "Redo",
         ImGuiMod_Ctrl | ImGuiKey_Y,
         "The same as Redo",
         [](const Workspace& w) { return w.editor().can_redo(); },
         [](Workspace& w) { w.edit([](session::Editor& e) { e.redo(); }); },
         {},
         true},
        {"duplicate",
         "Edit",
         icon::copy,
         "Duplicate",
         ImGuiMod_Ctrl | ImGuiKey_D,
         "A copy of the selected object with a name of its own; of a parameter of some components, "
         "a parameter of the others",
         object_is_selected,
         copy_pointer,
         {},
         false,
         true},
        {"delete",
         "Edit",
         icon::remove,
         "Delete",
         ImGuiKey_Delete,
         "Takes the selected object, parameter or group out of the scene",
         object_is_selected,
         [](Workspace& w) {
             const std::string pointer = w.selection().pointer, name = w.name_at(pointer);
             const auto erase = [&w, pointer] {
                 if (w.edit([&](session::Editor& e) { e.remove(pointer); })) w.select({});
             };
             // Nothing refers to a parameter or a group by a name.
             const std::vector<std::string> users =
                 name.empty() ? std::vector<std::string>() : w.editor().references_to(name);
             if (users.empty()) {
                 erase();
                 return;
             }
             std::string list;
             for (const std::string& user : users) list += "\n    " + user;
             w.ask({"Delete " + name + "?",
                    "These refer to it, and the scene does not run until they are changed:",
                    list,
                    {{"Delete", "Can be undone", erase},
                     {"Cancel", "Everything stays as it is", [] {}}}});
         },
         {}},
        {"palette",
         "Edit",
         icon::search,
         "Find a command...",
         ImGuiMod_Ctrl | ImGuiKey_K,
         "Every command by a few letters of its name",
         {},
         [](Workspace& w) { w.show_palette = true; },
         {},
         false,
         true},
        {"palette_p",
         "",
         icon::search,
         "Find a command...",
         ImGuiMod_Ctrl | ImGuiKey_P,
         "The same as Find a command",
         {},
         [](Workspace& w) { w.show_palette = true; },
         {}},
        {"settings",
         "Edit",
         icon::settings,
         "Settings...",
         ImGuiMod_Ctrl | ImGuiKey_Comma,
         "Theme, size of the text, quality of the picture",
         {},
         [](Workspace& w) { w.show_settings = true; },
         {}},
    };
}

std::vector<Action> view_actions() {
    const auto toggle = [](bool render::View::*member) {
        return [member](Workspace& w) { w.view.*member = !(w.view.*member); };
    };
    const auto is = [](bool render::View::*member) {
        return [member](const Workspace& w) { return w.view.*member; };
    };
    // These stay as they are from one start to the next.
    const auto keep = [](bool render::View::*member, bool Settings::*kept) {
        return [member, kept](Workspace& w) {
            w.settings.*kept = w.view.*member = !(w.view.*member);
            w.save_settings();
        };
    };
    return {
        {"floor", "View", nullptr, "Grid", ImGuiKey_G,
         "A grid at the height of the lowest point at the start, in metres; things pass through it",
         runs, keep(&render::View::floor, &Settings::floor), is(&render::View::floor), false, true},
        {"shadows", "View", nullptr, "Shadows", 0, "Shadows on the grid and on each other", runs,
         keep(&render::View::shadows, &Settings::shadows), is(&render::View::shadows)},
        {"occlusion", "View", nullptr, "Ambient occlusion", 0, "Darkens corners and contacts", runs,
         keep(&render::View::ambient_occlusion, &Settings::ambient_occlusion),
         is(&render::View::ambient_occlusion)},
        {"labels", "View", nullptr, "Names", ImGuiKey_N, "The objects' names in the picture", runs,
         [](Workspace& w) { w.show_labels = !w.show_labels; },
         [](const Workspace& w) { return w.show_labels; }},
        {"time_stamp", "View", nullptr, "Time stamp", 0,
         "Simulated time in s and the iteration, in the picture", runs,
         [](Workspace& w) { w.show_time = !w.show_time; },
         [](const Workspace& w) { return w.show_time; }},
        {"trails", "View", nullptr, "Trails", ImGuiKey_T, "The ways that points have gone", runs,
         [](Workspace& w) {
             w.view.trails = !w.view.trails;
             w.send_frame_contents();
         },
         is(&render::View::trails)},
        {"measured_motion", "View", icon::ghost, "Measured motion", 0,
         "Pale beside a robot: where it was by the measured data that an objective compares it "
         "with",
         [](const Workspace& w) { return w.shows_run() && w.has_measured(); },
         [](Workspace& w) { w.show_measured = !w.show_measured; },
         [](const Workspace& w) { return w.show_measured; }},
        {"heights", "View", nullptr, "Fields as heights", ImGuiKey_H,
         "Shows a field of the plane as a landscape instead of an image", runs,
         [](Workspace& w) {
             w.view.heights = !w.view.heights;
             // From the side there, from above here.
             if (w.now().stage->dimension == 2) w.camera_is_set = false;
         },
         is(&render::View::heights)},
        {"smooth_fields", "View", nullptr, "Smooth fields", 0,
         "Images of fields show values between the nodes, interpolated", runs,
         toggle(&render::View::smooth_fields), is(&render::View::smooth_fields)},
        {"edges", "View", nullptr, "Triangle edges", 0, "The edges of the triangles of surfaces",
         runs, toggle(&render::View::edges), is(&render::View::edges)},
        {"look_tool", "View", icon::pointer, "Select", ImGuiKey_Q,
         "A click selects; dragging turns the view", runs,
         [](Workspace& w) { w.tool = Tool::look; },
         [](const Workspace& w) { return w.tool == Tool::look; }, false, true},
        {"move_tool", "View", icon::move, "Move", ImGuiKey_W,
         "Arrows at the selected thing move it in the scene file, squares change its sizes", runs,
         [](Workspace& w) { w.tool = Tool::move; },
         [](const Workspace& w) { return w.tool == Tool::move; }},
        {"rotate_tool", "View", icon::rotate, "Rotate", ImGuiKey_E,
         "Rings at the selected thing turn it in the scene file: lists of places, and planes", runs,
         [](Workspace& w) { w.tool = Tool::rotate; },
         [](const Workspace& w) { return w.tool == Tool::rotate; }},
        {"panels",
         "View",
         nullptr,
         "Hide panels",
         ImGuiKey_Tab,
         "The picture alone, and back",
         {},
         [](Workspace& w) { w.hide_panels = !w.hide_panels; },
         [](const Workspace& w) { return w.hide_panels; },
         false,
         true},
        {"text_beside",
         "View",
         nullptr,
         "Scene text beside the view",
         ImGuiMod_Ctrl | ImGuiKey_J,
         "The scene file's text in the right half of the view's place instead of behind it, so "
         "that both are seen while it is edited",
         {},
         [](Workspace& w) {
             w.settings.text_beside = !w.settings.text_beside;
             w.text_beside_changed = true;
             w.save_settings();
         },
         [](const Workspace& w) { return w.settings.text_beside; }},
        {"layout",
         "View",
         nullptr,
         "Reset layout",
         0,
         "Puts all panels where they were at first",
         {},
         [](Workspace& w) { w.reset_layout = true; },
         {}},
        {"theme",
         "View",
         icon::sun,
         "Light theme",
         0,
         "Dark on light instead of light on dark",
         {},
         [](Workspace& w) {
             w.settings.dark = !w.settings.dark;
             w.save_settings();
         },
         [](const Workspace& w) { return !w.settings.dark; }},
        {"larger",
         "View",
         nullptr,
         "Larger text",
         ImGuiMod_Ctrl | ImGuiKey_Equal,
         "Everything in the window a tenth larger",
         {},
         [](Workspace& w) { scale_text(w, 1.1); },
         {}},
        {"smaller",
         "View",
         nullptr,
         "Smaller text",
         ImGuiMod_Ctrl | ImGuiKey_Minus,
         "Everything in the window a tenth smaller",
         {},
         [](Workspace& w) { scale_text(w, 1 / 1.1); },
         {}},
    };
}

std::vector<Action> simulation_actions() {
    return {
        {"play", "Simulation", icon::play, "Play or pause", ImGuiKey_Space,
         "Moves through simulated time at the speed chosen beside", runs,
         [](Workspace& w) { w.play(!w.now().playing); },
         [](const Workspace& w) { return w.now().playing; }},
        {"step_back",
         "Simulation",
         icon::step_back,
         "Step back",
         ImGuiKey_LeftArrow,
         "One step of simulated time back",
         runs,
         [](Workspace& w) { w.send(session::StepBy{-1}); },
         {},
         true},
        {"step",
         "Simulation",
         icon::step_forward,
         "Step",
         ImGuiKey_RightArrow,
         "One step of simulated time on",
         runs,
         [](Workspace& w) { w.send(session::StepBy{1}); },
         {},
         true},
        {"home", "Simulation", icon::start, "To the start", ImGuiKey_Home, "Time 0", runs,
         [](Workspace& w) { w.send(session::Seek{0}); }, nullptr},
        {"end", "Simulation", icon::end, "To the end", ImGuiKey_End, "The last step", runs,
         [](Workspace& w) { w.send(session::Seek{w.now().steps}); }, nullptr},
        {"reset",
         "Simulation",
         icon::undo,
         "Reset",
         ImGuiKey_R,
         "Time 0 and the parameters of the scene file; the iterations so far can still be scrubbed",
         runs,
         [](Workspace& w) { w.send(session::Reset{}); },
         {},
         false,
         true},
    };
}

std::vector<Action> optimise_actions() {
    const auto optimising = [](const Workspace& w) { return w.shows_run() && w.is_optimising(); };
    return {
        {"optimise", "Optimise", icon::bolt, "Optimise", ImGuiKey_O,
         "Changes the parameters, iteration by iteration, so that the loss falls; again: pause",
         can_optimise,
         [](Workspace& w) {
             w.optimise(w.is_optimising() ? Optimise::What::pause : Optimise::What::start);
         },
         optimising},
        {"iterate",
         "Optimise",
         icon::one,
         "One iteration",
         ImGuiMod_Shift | ImGuiKey_O,
         "One update of the parameters",
         can_optimise,
         [](Workspace& w) { w.optimise(Optimise::What::one); },
         {}},
        {"stop",
         "Optimise",
         icon::stop,
         "Stop",
         0,
         "Ends the optimisation; the next start begins with a fresh optimiser",
         optimising,
         [](Workspace& w) { w.optimise(Optimise::What::stop); },
         {}},
        {"previous_iteration",
         "Optimise",
         nullptr,
         "Iteration before",
         ImGuiKey_Comma,
         "Shows the iteration before the one shown",
         has_history,
         [](Workspace& w) { show_iteration(w, -1); },
         {},
         true,
         true},
        {"next_iteration",
         "Optimise",
         nullptr,
         "Next iteration",
         ImGuiKey_Period,
         "Shows the iteration after the one shown",
         has_history,
         [](Workspace& w) { show_iteration(w, 1); },
         {},
         true},
        {"newest",
         "Optimise",
         nullptr,
         "Newest iteration",
         ImGuiMod_Shift | ImGuiKey_Period,
         "Shows the scene as it is now, and each iteration as it comes",
         has_history,
         [](Workspace& w) { w.send(session::ShowIteration{}); },
         {}},
        {"ghost", "Optimise", icon::ghost, "Ghost of this iteration", ImGuiMod_Shift | ImGuiKey_G,
         "The shown iteration stays in the picture, pale, beside the others; again: takes it away",
         has_history,
         [](Workspace& w) {
             if (w.now().ghost_iteration >= 0)
                 w.send(session::Ghost{});
             else
                 w.send(session::Ghost{w.now().shown_iteration});
         },
         [](const Workspace& w) { return w.now().ghost_iteration >= 0; }},
        {"branch",
         "Optimise",
         icon::branch,
         "Branch from here",
         ImGuiKey_B,
         "Goes on from the shown iteration's parameters with a fresh optimiser; one from before an "
         "edit brings its scene back, which can be undone",
         has_history,
         [](Workspace& w) { w.branch(w.now().shown_iteration); },
         {}},
        {"accept",
         "Optimise",
         icon::accept,
         "Accept",
         ImGuiMod_Ctrl | ImGuiKey_Enter,
         "Writes the shown iteration's parameters into the scene; can be undone. One from before "
         "an edit is branched from first (B)",
         has_history,
         [](Workspace& w) { w.accept(); },
         {},
         false,
         true},
        {"revert",
         "Optimise",
         icon::undo,
         "Revert",
         0,
         "Back to the parameters that the scene file has",
         has_history,
         [](Workspace& w) { w.send(session::Revert{}); },
         {}},
        {"check",
         "Optimise",
         icon::check,
         "Check the gradient",
         0,
         "Compares the gradient with finite differences of the loss",
         can_optimise,
         [](Workspace& w) {
             w.send(session::CheckGradient{});
             w.focus_panel = "Gradient check";
         },
         {},
         false,
         true},
    };
}

std::vector<Action> help_actions() {
    return {
        {"help",
         "Help",
         icon::help,
         "Keys and commands",
         ImGuiKey_F1,
         "Everything that can be done, with its key",
         {},
         [](Workspace& w) { w.show_help = !w.show_help; },
         [](const Workspace& w) { return w.show_help; }},
        {"tour",
         "Help",
         icon::book,
         "Tour",
         0,
         "Five steps through the window",
         {},
         [](Workspace& w) {
             w.show_tour = true;
             w.tour_step = 0;
         },
         {}},
    };
}

}  // namespace

std::vector<Action> all_actions() {
    std::vector<Action> all;
    for (auto part : {file_actions(), edit_actions(), side_actions(), view_actions(),
                      making_actions(), looking_actions(), camera_actions(), simulation_actions(),
                      optimise_actions(), help_actions()})
        for (Action& action : part) all.push_back(std::move(action));
    return all;
}

}  // namespace hindcast::gui
