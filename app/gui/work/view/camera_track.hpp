// The scene's camera path as the user makes and follows it: keys at moments of the timeline. The
// path is part of the document (session/view/camera_path.hpp).
#pragma once

#include <memory>
#include <optional>

#include "app/render/renderer.hpp"
#include "app/session/view/camera_path.hpp"
#include "engine/document/document.hpp"

namespace hindcast::gui {

class EditedScene;
class Looks;
class Messages;
class Running;

class CameraTrack {
public:
    CameraTrack(Running& running, EditedScene& scene, Looks& looks, Messages& messages);

    const session::CameraPath& path() const { return path_; }  // at the start of the frame
    void set_key();     // at the shown time, with the current camera
    void remove_key();  // at the shown time
    // Moves the camera along the path, until something else moves it; call it once a frame.
    void follow();

    bool follows = false;  // the camera moves along the path

private:
    void read();

    Running& running_;
    EditedScene& scene_;
    Looks& looks_;
    Messages& messages_;
    std::shared_ptr<const document::Document> path_of_;  // the document that path_ was read from
    session::CameraPath path_;
    std::optional<render::Camera> followed_;
};

}  // namespace hindcast::gui
