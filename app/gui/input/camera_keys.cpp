// The actions of the camera path (work/view/camera_track.hpp).
#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/camera_track.hpp"

namespace hindcast::gui {

std::vector<Action> camera_actions() {
    const auto has_path = [](const Topics& w) { return shows_run(w) && !w.camera.path().empty(); };
    return {
        {"camera_key", "View", icon::film, "Camera key", ImGuiKey_K,
         "The camera stands here at the shown time: a key of the camera path, for films. Once more "
         "without moving: takes it away",
         shows_run, [](Topics& w) { w.camera.set_key(); },
         [](const Topics& w) { return w.camera.path().find(w.running.shown_time()) != nullptr; },
         false, true},
        {"camera_key_remove",
         "View",
         nullptr,
         "Remove camera key",
         ImGuiMod_Shift | ImGuiKey_K,
         "Takes the key of the camera path at the shown time away",
         has_path,
         [](Topics& w) { w.camera.remove_key(); },
         {}},
        {"camera_follow", "View", nullptr, "Follow the camera path",
         ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_K,
         "The camera moves along its keys with simulated time, until it is moved by hand", has_path,
         [](Topics& w) { w.camera.follows = !w.camera.follows; },
         [](const Topics& w) { return w.camera.follows; }},
        {"camera_clear",
         "View",
         nullptr,
         "Clear the camera path",
         0,
         "Takes all keys of the camera path away; can be undone",
         has_path,
         [](Topics& w) {
             w.scene.edit([](session::Editor& e) {
                 e.erase(session::CameraPath::pointer, "Clear the camera path");
             });
         },
         {}},
    };
}

}  // namespace hindcast::gui
