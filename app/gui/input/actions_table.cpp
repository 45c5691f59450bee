// The table of commands: add one to a list, and it is in its menu, in the command palette, on the
// help page and in the manual, and its key works. The lists of the menus File, Edit and Help are
// here; others stand beside what they act on.
#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/work/files/ending.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"

namespace hindcast::gui {

std::vector<Action> view_actions();        // actions_view.cpp: settings, looks, tools
std::vector<Action> simulation_actions();  // actions_run.cpp: time
std::vector<Action> optimize_actions();    // actions_run.cpp
std::vector<Action> camera_actions();      // camera_keys.cpp: the camera path
std::vector<Action> side_actions();        // camera_sides.cpp: standard views
std::vector<Action> making_actions();      // gui/making: chosen points, arranging
std::vector<Action> looking_actions();     // gui/looking: distances, the slice
std::vector<Action> copying_actions();     // gui/making: copy and paste

namespace {

bool has_scene(const Topics& w) { return w.scene.is_open(); }

void copy_pointer(Topics& w) {
    w.scene.edit([&](session::Editor& e) {
        w.chosen.select({e.duplicate(w.chosen.object.pointer), -1, ""});
    });
}

// Objects of sections, parameters and groups of them can be copied and erased; "/time" cannot.
bool object_is_selected(const Topics& w) {
    return std::ranges::count(w.chosen.object.pointer, '/') == 2 ||
           w.chosen.object.pointer.starts_with("/optimizer/groups/");
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
         [](Topics& w) { w.opening.make_new(); },
         {}},
        {"open",
         "File",
         icon::open,
         "Open...",
         ImGuiMod_Ctrl | ImGuiKey_O,
         "Opens a scene file. Files can be dropped onto the window as well.",
         {},
         [](Topics& w) { w.requests.show_open = true; },
         {}},
        {"open_results",
         "File",
         icon::list,
         "Open results...",
         0,
         "Shows what hindcast batch or optimize has written: tables and curves",
         {},
         [](Topics& w) { w.requests.show_open_results = true; },
         {}},
        {"gallery",
         "File",
         icon::gallery,
         "Gallery",
         0,
         "The scenes that come with the program",
         {},
         [](Topics& w) { w.requests.show_gallery = !w.requests.show_gallery; },
         [](const Topics& w) { return w.requests.show_gallery; }},
        {"save",
         "File",
         icon::save,
         "Save",
         ImGuiMod_Ctrl | ImGuiKey_S,
         "Writes the scene as it is edited now into its file. Values that the optimization has "
         "found are in it once they are accepted (Ctrl+Enter)",
         has_scene,
         [](Topics& w) { w.saving.save(); },
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
         [](Topics& w) { w.requests.show_save_as = true; },
         {}},
        {"reload",
         "File",
         icon::rotate,
         "Reload",
         ImGuiKey_F5,
         "Reads the scene's file once more; what was changed here can be had back by undo",
         [](const Topics& w) { return w.scene.is_open() && !w.scene.editor().file().empty(); },
         [](Topics& w) { w.saving.reload(); },
         {}},
        {"export",
         "File",
         icon::export_out,
         "Export...",
         ImGuiMod_Ctrl | ImGuiKey_E,
         "Pictures, image sequences and films of time or of iterations",
         shows_run,
         [](Topics& w) { w.requests.show_export = true; },
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
         [](Topics& w) { w.requests.screenshot = std::filesystem::path(); },
         {}},
        {"close",
         "File",
         icon::close,
         "Close scene",
         ImGuiMod_Ctrl | ImGuiKey_W,
         "Goes back to the gallery",
         has_scene,
         [](Topics& w) { w.opening.close(); },
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
         [](Topics& w) { w.ending.request(); },
         {}},
    };
}

std::vector<Action> edit_actions() {
    return {
        {.id = "undo",
         .menu = "Edit",
         .icon = icon::undo,
         .name = "Undo",
         .key = ImGuiMod_Ctrl | ImGuiKey_Z,
         .help = "Takes the last change of the scene back",
         .enabled = [](const Topics& w) { return w.scene.editor().can_undo(); },
         .run =
             [](Topics& w) {
                 const std::string name = w.scene.editor().undo_name();
                 if (w.scene.edit([](session::Editor& e) { e.undo(); }))
                     w.messages.tell("Undone: " + name);
             },
         .checked = {},
         .repeats = true,
         .yields_to_text = true,
         .detail =
             [](const Topics& w) {
                 const session::Editor& editor = w.scene.editor();
                 return editor.can_undo() ? editor.undo_name() : std::string();
             }},
        {.id = "redo",
         .menu = "Edit",
         .icon = icon::redo,
         .name = "Redo",
         .key = ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z,
         .help = "Makes the change that was taken back once more",
         .enabled = [](const Topics& w) { return w.scene.editor().can_redo(); },
         .run =
             [](Topics& w) {
                 const std::string name = w.scene.editor().redo_name();
                 if (w.scene.edit([](session::Editor& e) { e.redo(); }))
                     w.messages.tell("Redone: " + name);
             },
         .checked = {},
         .repeats = true,
         .other_key = ImGuiMod_Ctrl | ImGuiKey_Y,
         .yields_to_text = true,
         .detail =
             [](const Topics& w) {
                 const session::Editor& editor = w.scene.editor();
                 return editor.can_redo() ? editor.redo_name() : std::string();
             }},
        {.id = "duplicate",
         .menu = "Edit",
         .icon = icon::copy,
         .name = "Duplicate",
         .key = ImGuiMod_Ctrl | ImGuiKey_D,
         .help = "A copy of the selected object with a name of its own; of a parameter of some "
                 "components, a parameter of the others",
         .enabled = object_is_selected,
         .run = copy_pointer,
         .checked = {},
         .starts_group = true,
         .in_object_menu = 2},
        {.id = "delete",
         .menu = "Edit",
         .icon = icon::remove,
         .name = "Delete",
         .key = ImGuiKey_Delete,
         .help = "Takes the selected object, parameter or group out of the scene",
         .enabled = object_is_selected,
         .run =
             [](Topics& w) {
                 const std::string pointer = w.chosen.object.pointer,
                                   name = w.scene.name_at(pointer);
                 const auto erase = [&w, pointer] {
                     if (w.scene.edit([&](session::Editor& e) { e.remove(pointer); }))
                         w.chosen.select({});
                 };
                 // Nothing refers to a parameter or a group by a name.
                 const std::vector<std::string> users = name.empty()
                                                            ? std::vector<std::string>()
                                                            : w.scene.editor().references_to(name);
                 if (users.empty()) {
                     erase();
                     return;
                 }
                 std::string list;
                 for (const std::string& user : users) list += "\n    " + user;
                 w.messages.ask(
                     {"Delete " + name + "?",
                      "These refer to it, and the scene does not run until they are changed:",
                      list,
                      {{"Delete", "Can be undone", erase},
                       {"Cancel", "Everything stays as it is", [] {}}}});
             },
         .checked = {},
         .in_object_menu = 9},
        {.id = "palette",
         .menu = "Edit",
         .icon = icon::search,
         .name = "Find a command...",
         .key = ImGuiMod_Ctrl | ImGuiKey_K,
         .help = "Every command by a few letters of its name",
         .enabled = {},
         .run = [](Topics& w) { w.requests.show_palette = true; },
         .checked = {},
         .starts_group = true,
         .other_key = ImGuiMod_Ctrl | ImGuiKey_P},
        {"settings",
         "Edit",
         icon::settings,
         "Settings...",
         ImGuiMod_Ctrl | ImGuiKey_Comma,
         "Theme, size of the text, quality of the picture",
         {},
         [](Topics& w) { w.requests.show_settings = true; },
         {}},
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
         [](Topics& w) { w.requests.show_help = !w.requests.show_help; },
         [](const Topics& w) { return w.requests.show_help; }},
        {"tour",
         "Help",
         icon::book,
         "Tour",
         0,
         "Five steps through the window",
         {},
         [](Topics& w) {
             w.requests.show_tour = true;
             w.requests.tour_step = 0;
         },
         {}},
    };
}

// Within a menu, commands come in the order of these lists.
using List = std::vector<Action> (*)();
constexpr List lists[] = {
    file_actions,       edit_actions,     copying_actions, side_actions,
    view_actions,       making_actions,   looking_actions, camera_actions,
    simulation_actions, optimize_actions, help_actions,
};

}  // namespace

std::vector<Action> all_actions() {
    std::vector<Action> all;
    for (const auto list : lists)
        for (Action& action : list()) all.push_back(std::move(action));
    return all;
}

}  // namespace hindcast::gui
