#include "app/gui/work/view/camera_track.hpp"

#include "app/gui/places/labels.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

// The camera as a key of a path keeps it.
render::Camera as_key(const render::Camera& camera) {
    session::CameraPath path;
    path.set(0, camera);
    return path.keys().front().camera;
}

}  // namespace

CameraTrack::CameraTrack(Running& running, EditedScene& scene, Looks& looks, Messages& messages)
    : running_(running), scene_(scene), looks_(looks), messages_(messages) {}

// A fault in the document is told once; the camera does not follow such a path.
void CameraTrack::read() {
    const auto& document = scene_.editor().document();
    if (document == path_of_) return;
    path_of_ = document;
    path_ = {};
    if (!document) return;
    try {
        path_ = session::CameraPath::of(*document);
    } catch (const Error& error) {
        messages_.fail(error);
    }
}

void CameraTrack::set_key() {
    read();
    const double time = running_.shown_time();
    session::CameraPath path = path_;
    const session::CameraKey* const there = path.find(time);
    if (there != nullptr && there->camera == as_key(looks_.view.camera)) {
        remove_key();
        return;
    }
    path.set(time, looks_.view.camera);
    const bool has_view = scene_.document().find("/view") != nullptr;
    if (has_view ? scene_.set(session::CameraPath::pointer, path.to_node(), "Camera key")
                 : scene_.set("/view", document::Node::object({{"camera_path", path.to_node()}}),
                              "Camera key"))
        messages_.tell(
            path.keys().size() == 1
                ? "First key of the camera path: move time and camera, and set the next one"
                : "Camera key at " + moment_text(time, running_.duration()));
}

void CameraTrack::remove_key() {
    read();
    session::CameraPath path = path_;
    if (!path.remove(running_.shown_time())) return;
    if (path.empty())
        scene_.edit(
            [](session::Editor& e) { e.erase(session::CameraPath::pointer, "Remove camera key"); });
    else
        scene_.set(session::CameraPath::pointer, path.to_node(), "Remove camera key");
}

void CameraTrack::follow() {
    read();
    if (!follows || !running_.has_run() || path_.empty()) {
        follows = false;
        followed_.reset();
        return;
    }
    render::Camera& camera = looks_.view.camera;
    if (followed_ && *followed_ != camera) {  // moved by hand
        follows = false;
        followed_.reset();
        return;
    }
    followed_ = camera = path_.at(running_.shown_time());
}

}  // namespace hindcast::gui
