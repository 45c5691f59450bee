// Pictures of a scene without a window: a session that is brought to a moment, and where the camera
// stands. The program's `render` and Python's sim.render() are made of it.
//
//     Director director(registry, settings, document, file);
//     director.show(renderer);                       // frames go there from now on
//     director.show_step(30, false);
//     view.camera = camera_of({}, *director.now()->stage, *document, aspect);
//     Image image = renderer.picture(view);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/render/renderer.hpp"
#include "app/session/session.hpp"

namespace hindcast::picture {

// Options for the camera. Without any it is the scene's; if the scene has none, all of it is seen
// from the front, a little from the right and from above.
struct CameraWish {
    std::string side = "default";  // front, right or top; in space
    std::optional<render::Vec3> eye = {}, target = {}, up = {};
    double field_of_view = 40;  // degrees, vertical
    bool orthographic = false;  // in space; a plane always is
    double closer = 1;          // so many times
    bool heights = false;       // fields are drawn as heights, so that a plane is seen in space
};
render::Camera camera_of(const CameraWish& wish, const render::Stage& stage,
                         const document::Document& document, double aspect);
// A length for the longest arrow that suits the scene, m.
double fitting_arrow(const render::Stage& stage);

// Runs a session until something holds, and asks in between whether it was interrupted.
class Director {
public:
    struct Interrupted {};

    // Waits until the document's scene is built. Throws Error if it cannot be.
    Director(const Registry& registry, session::SessionOptions settings,
             std::shared_ptr<const document::Document> document, const std::filesystem::path& file,
             std::function<bool()> interrupted);

    const std::shared_ptr<const document::Document>& document() const { return document_; }
    std::shared_ptr<const session::Snapshot> now() const { return session_.snapshot(); }
    void send(session::Command command);
    // Frames go to this renderer from now on.
    std::shared_ptr<render::Exchange> show(render::Renderer& renderer,
                                           std::optional<render::TransportKind> kind = {});

    // The iteration's trajectory, all of it if it can be had. Throws Error if the optimization ends
    // before it.
    void show_iteration(std::int64_t iteration);
    // That step; where `kept`, and of a long run only every n-th is kept, the last kept before it.
    // False if the run has ended before that step.
    bool show_step(std::int64_t step, bool kept);
    // Throws Interrupted. `when_idle`: called for each snapshot of a session that does nothing.
    void wait(const std::function<bool(const session::Snapshot&)>& condition,
              const std::function<void(const session::Snapshot&)>& when_idle = {});

private:
    static constexpr int most_tries = 50;  // snapshots in a row that bring no iteration

    static void fail_if(const std::shared_ptr<const Error>& error) {
        if (error) throw Error(*error);
    }

    std::function<bool()> interrupted_;
    std::shared_ptr<const document::Document> document_;
    session::Session session_;
    session::FrameContents contents_;  // sent last
};

}  // namespace hindcast::picture
