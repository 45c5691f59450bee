// From where the camera looks: at what is selected or at all, from the six sides of the scene, with
// and without perspective.
#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

using render::Side;

// A scene in the plane is seen from above alone.
bool has_sides(const Topics& w) { return shows_run(w) && !w.looks.is_flat(); }

Action from(Side side, const char* id, const char* name, ImGuiKeyChord key, const char* help) {
    Action action;
    action.id = id;
    action.menu = "View/Look from";
    action.name = name;
    action.key = key;
    action.help = help;
    action.enabled = has_sides;
    action.run = [side](Topics& w) {
        render::look_from(w.looks.view.camera, side, w.running.now().scene.stage->up);
    };
    return action;
}

}  // namespace

std::vector<Action> side_actions() {
    const auto runs = [](const Topics& w) { return shows_run(w); };
    std::vector<Action> all = {
        {"frame",
         "View",
         icon::frame,
         "Frame",
         ImGuiKey_F,
         "Moves the camera to what is selected or, if nothing is, to the whole scene as it is now",
         runs,
         [](Topics& w) { w.requests.framing = Framing::selection; },
         {}},
        {"frame_all",
         "View",
         nullptr,
         "Frame all",
         0,
         "Moves the camera so that everything is in view, where it is now",
         runs,
         [](Topics& w) { w.requests.framing = Framing::scene; },
         {}},
        {"camera",
         "View",
         icon::camera,
         "The scene's camera",
         ImGuiMod_Shift | ImGuiKey_F,
         "Looks from where the scene file says",
         runs,
         [](Topics& w) { w.looks.camera_is_set = false; },
         {}},
        from(Side::front, "from_front", "From the front", ImGuiKey_Keypad1,
             "x to the right, up in the picture is up in the scene"),
        from(Side::back, "from_back", "From behind", ImGuiMod_Ctrl | ImGuiKey_Keypad1,
             "Opposite to the front"),
        from(Side::right, "from_right", "From the right", ImGuiKey_Keypad3, "Against the x axis"),
        from(Side::left, "from_left", "From the left", ImGuiMod_Ctrl | ImGuiKey_Keypad3,
             "Along the x axis"),
        from(Side::top, "from_top", "From above", ImGuiKey_Keypad7,
             "x to the right, the front below"),
        from(Side::bottom, "from_bottom", "From below", ImGuiMod_Ctrl | ImGuiKey_Keypad7,
             "Opposite to above"),
    };
    Action perspective;
    perspective.id = "perspective";
    perspective.menu = "View";
    perspective.name = "Perspective";
    perspective.key = ImGuiKey_Keypad5;
    perspective.help = "What is far away is smaller; without it, lines that are parallel stay so";
    perspective.enabled = has_sides;
    perspective.run = [](Topics& w) {
        render::set_orthographic(w.looks.view.camera, !w.looks.view.camera.orthographic);
    };
    perspective.checked = [](const Topics& w) { return !w.looks.view.camera.orthographic; };
    all.push_back(std::move(perspective));
    return all;
}

}  // namespace hindcast::gui
