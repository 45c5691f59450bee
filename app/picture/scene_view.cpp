#include "app/picture/scene_view.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <thread>
#include <variant>

#include "engine/document/read.hpp"

namespace hindcast::picture {

using render::Camera;
using render::Stage;
using render::Vec3;

namespace {

// A place of the scene's own camera, /view/camera/NAME.
std::optional<Vec3> scene_place(const document::Document& document, const char* name) {
    const document::Node* const node = document.find(std::string("/view/camera/") + name);
    if (node == nullptr) return std::nullopt;
    const std::vector<double> place = document::numbers_of(*node, 3);
    return Vec3{place[0], place[1], place[2]};
}

}  // namespace

Camera camera_of(const CameraWish& wish, const Stage& stage, const document::Document& document,
                 double aspect) {
    Stage seen = stage;
    if (wish.heights) seen.dimension = 3;  // seen from the side, z is up
    Camera camera = render::default_camera(seen, aspect);
    const bool solid = seen.dimension == 3;
    const auto eye = scene_place(document, "eye"), target = scene_place(document, "target");
    const bool own = solid && !wish.heights && eye && target && wish.side == "default" &&
                     !wish.eye && !wish.target && !wish.up;
    const Vec3 front = stage.up == 'y' && stage.dimension == 3 ? Vec3{0, 0, 1} : Vec3{0, -1, 0};
    const auto look_from = [&](const Vec3& side) {
        for (std::size_t c = 0; c < 3; ++c) camera.eye[c] = camera.target[c] + side[c];
    };
    if (solid) {
        camera.field_of_view = wish.field_of_view;
        camera.orthographic = wish.orthographic;
        if (wish.side == "front") look_from(front);
        if (wish.side == "right") look_from({1, 0, 0});
        if (wish.side == "top") {
            look_from(camera.up);
            camera.up = front[2] != 0 ? Vec3{0, 0, -1} : Vec3{0, 1, 0};
        }
        if (wish.up) camera.up = *wish.up;
        if (own) {
            camera.eye = *eye;
            camera.target = *target;
        } else {
            render::frame_box(camera, seen.low, seen.high, aspect);
        }
    }
    if (wish.target) {
        for (std::size_t c = 0; c < 3; ++c) camera.eye[c] += (*wish.target)[c] - camera.target[c];
        camera.target = *wish.target;
    }
    if (wish.eye) camera.eye = *wish.eye;
    if (wish.closer != 1) render::zoom(camera, wish.closer, 0, 0, aspect);
    return camera;
}

double fitting_arrow(const Stage& stage) {
    double diagonal = 0;
    for (std::size_t c = 0; c < 3; ++c) diagonal += std::pow(stage.high[c] - stage.low[c], 2);
    return 0.12 * std::sqrt(diagonal);
}

Director::Director(const Registry& registry, session::SessionOptions settings,
                   std::shared_ptr<const document::Document> document,
                   const std::filesystem::path& file, std::function<bool()> interrupted)
    : interrupted_(std::move(interrupted)),
      document_(std::move(document)),
      session_(registry, std::move(settings)) {
    send(session::Apply{document_, 1, file, true});
    wait([](const session::Snapshot& s) {
        return s.scene.stage != nullptr || s.reports.error != nullptr;
    });
    fail_if(session_.snapshot()->reports.error);
}

void Director::send(session::Command command) {
    if (const auto* const contents = std::get_if<session::FrameContents>(&command))
        contents_ = *contents;
    session_.send(std::move(command));
}

std::shared_ptr<render::Exchange> Director::show(render::Renderer& renderer,
                                                 std::optional<render::TransportKind> kind) {
    const auto snapshot = now();
    auto exchange = renderer.share(snapshot->scene.stage, kind, snapshot->scene.cuda_uuid);
    send(session::ShowOn{exchange});
    return exchange;
}

void Director::show_iteration(std::int64_t iteration) {
    wait(
        [&](const session::Snapshot& s) {
            return s.optimization.history &&
                   static_cast<std::int64_t>(s.optimization.history->size()) > iteration;
        },
        [&, rows = std::size_t{0}, tries = 0](const session::Snapshot& s) mutable {
            const std::size_t found = s.optimization.history ? s.optimization.history->size() : 0;
            tries = found > rows ? 0 : tries + 1;
            rows = found;
            if (tries > most_tries)
                throw Error(fmt::format("the optimization has no iteration {}: {}", iteration,
                                        s.optimization.stop_reason.empty()
                                            ? "it does not go on"
                                            : s.optimization.stop_reason))
                    .remedy(rows > 0 ? fmt::format("the last one is {}", rows - 1)
                                     : "does the scene have parameters and an objective?");
            send(session::Optimize{session::Optimize::What::one});
        });
    send(session::ShowIteration{iteration});
    wait([&](const session::Snapshot& s) { return s.optimization.shown_iteration == iteration; });
}

bool Director::show_step(std::int64_t step, bool kept) {
    send(session::Seek{step});
    bool reached = false;
    wait([&](const session::Snapshot& s) {
        reached = s.run.steps_computed >= step &&
                  (kept ? s.run.step <= step && step - s.run.step < s.run.frame_every
                        : s.run.step == step);
        const bool over =
            s.reports.activity == session::Activity::idle && s.reports.error != nullptr;
        if (over && !reached) fail_if(s.reports.error);
        return reached;
    });
    return reached;
}

void Director::wait(const std::function<bool(const session::Snapshot&)>& condition,
                    const std::function<void(const session::Snapshot&)>& when_idle) {
    using namespace std::chrono_literals;
    std::uint64_t asked_at = 0;
    for (;;) {
        const auto snapshot = session_.snapshot();
        if (snapshot->view.contents == contents_ && !snapshot->view.frame_waits &&
            condition(*snapshot))
            return;
        fail_if(snapshot->view.frame_error);
        if (interrupted_ && interrupted_()) throw Interrupted();
        const bool idle = snapshot->reports.activity == session::Activity::idle;
        if (idle && when_idle && snapshot->serial != asked_at) {
            fail_if(snapshot->reports.error);
            asked_at = snapshot->serial;
            when_idle(*snapshot);
        }
        std::this_thread::sleep_for(2ms);
    }
}

}  // namespace hindcast::picture
