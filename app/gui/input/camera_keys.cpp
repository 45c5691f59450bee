// The camera path as the user makes it: keys at the moments of the timeline. They stand in the
// document (session/view/camera_path.hpp).
#include <algorithm>

#include "app/gui/input/actions.hpp"
#include "app/gui/places/labels.hpp"

namespace hindcast::gui {

namespace {

// What a key holds of the camera.
render::Camera as_key(const render::Camera& camera) {
    session::CameraPath path;
    path.set(0, camera);
    return path.keys().front().camera;
}

}  // namespace

// What is wrong in the document is told once, and followed by nobody.
void Workspace::read_camera_path() {
    const auto& document = editor_->document();
    if (document == path_of_) return;
    path_of_ = document;
    path_ = {};
    if (!document) return;
    try {
        path_ = session::CameraPath::of(*document);
    } catch (const Error& error) {
        fail(error);
    }
}

double Workspace::shown_time() const {
    return static_cast<double>(now().step) * now().step_seconds;
}

void Workspace::set_camera_key() {
    read_camera_path();
    session::CameraPath path = path_;
    const session::CameraKey* const there = path.find(shown_time());
    if (there != nullptr && there->camera == as_key(view.camera)) {
        remove_camera_key();
        return;
    }
    path.set(shown_time(), view.camera);
    const bool has_view = document().find("/view") != nullptr;
    if (has_view
            ? set(session::CameraPath::pointer, path.to_node(), "Camera key")
            : set("/view", document::Node::object({{"camera_path", path.to_node()}}), "Camera key"))
        tell(path.keys().size() == 1
                 ? "First key of the camera path: move time and camera, and set the next one"
                 : "Camera key at " + moment_text(shown_time(), duration()));
}

void Workspace::remove_camera_key() {
    read_camera_path();
    session::CameraPath path = path_;
    if (!path.remove(shown_time())) return;
    if (path.empty())
        edit(
            [](session::Editor& e) { e.erase(session::CameraPath::pointer, "Remove camera key"); });
    else
        set(session::CameraPath::pointer, path.to_node(), "Remove camera key");
}

void Workspace::follow_camera_path() {
    read_camera_path();
    if (!follow_path || !has_run() || path_.empty()) {
        follow_path = false;
        followed_.reset();
        return;
    }
    if (followed_ && *followed_ != view.camera) {  // moved by hand
        follow_path = false;
        followed_.reset();
        return;
    }
    followed_ = view.camera = path_.at(shown_time());
}

std::vector<Action> camera_actions() {
    const auto has_path = [](const Workspace& w) {
        return w.shows_run() && !w.camera_path().empty();
    };
    return {
        {"camera_key", "View", icon::film, "Camera key", ImGuiKey_K,
         "The camera stands here at the shown time: a key of the camera path, for films. Once more "
         "without moving: takes it away",
         &Workspace::shows_run, [](Workspace& w) { w.set_camera_key(); },
         [](const Workspace& w) { return w.camera_path().find(w.shown_time()) != nullptr; }, false,
         true},
        {"camera_key_remove",
         "View",
         nullptr,
         "Remove camera key",
         ImGuiMod_Shift | ImGuiKey_K,
         "Takes the key of the camera path at the shown time away",
         has_path,
         [](Workspace& w) { w.remove_camera_key(); },
         {}},
        {"camera_follow", "View", nullptr, "Follow the camera path",
         ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_K,
         "The camera moves along its keys with simulated time, until it is moved by hand", has_path,
         [](Workspace& w) { w.follow_path = !w.follow_path; },
         [](const Workspace& w) { return w.follow_path; }},
        {"camera_clear",
         "View",
         nullptr,
         "Clear the camera path",
         0,
         "Takes all keys of the camera path away; can be undone",
         has_path,
         [](Workspace& w) {
             w.edit([](session::Editor& e) {
                 e.erase(session::CameraPath::pointer, "Clear the camera path");
             });
         },
         {}},
    };
}

}  // namespace hindcast::gui
