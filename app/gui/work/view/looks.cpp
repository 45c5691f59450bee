#include "app/gui/work/view/looks.hpp"

#include <utility>

#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"

namespace hindcast::gui {

using document::Node;

Looks::Looks(Running& running, EditedScene& scene, Messages& messages)
    : running_(running), scene_(scene), messages_(messages) {}

void Looks::update() {
    colors.apply(view, running_.now().view);
    if (running_.now().view.trails != trails_) {
        trails_ = running_.now().view.trails;
        view.trail_lines.clear();
        if (trails_) view.trail_lines = *trails_;
    }
}

void Looks::begin(const Settings& settings) {
    camera_is_set = false;
    view = {};
    settings.set(view);
    hidden.clear();
    fit_arrows = true;
    colors = session::ColorLook::of(scene_.document());
    colors.apply(view, running_.now().view);
    session::ViewLook looks = session::ViewLook::of(scene_.document());
    looks.apply(view);
    arrows = std::move(looks.arrows);
    distances = std::move(looks.distances);
    send_frame_contents();
}

bool Looks::is_flat() const {
    const auto& stage = running_.now().scene.stage;
    return stage != nullptr && stage->dimension == 2 && !view.heights;
}

void Looks::reset_camera(double aspect) {
    const auto& stage = running_.now().scene.stage;
    if (!stage) return;
    render::Stage seen;
    seen.dimension = is_flat() ? 2 : 3;  // a field's heights are looked at from the side
    seen.up = stage->up;
    seen.low = stage->low;
    seen.high = stage->high;
    view.camera = render::default_camera(seen, aspect);
    const auto vector = [&](const char* pointer, render::Vec3& place) {
        const Node* node = scene_.document().find(pointer);
        if (node == nullptr || !node->is_array() || node->size() != 3) return;
        for (std::size_t k = 0; k < 3; ++k) {
            const Node& n = node->item(k);
            if (n.is_integer() || n.is_real())
                place[k] = n.is_integer() ? static_cast<double>(n.integer()) : n.real();
        }
    };
    if (stage->dimension == 3) {
        vector("/view/camera/eye", view.camera.eye);
        vector("/view/camera/target", view.camera.target);
    }
    camera_is_set = true;
}

void Looks::send_frame_contents() {
    running_.send(session::FrameContents{colors.by, arrows, view.trails});
}

void Looks::color_by(const std::string& field) {
    if (colors.by != field && colors.range == session::ColorLook::Range::hand)
        colors.range = session::ColorLook::Range::run;
    colors.by = field;
    colors.apply(view, running_.now().view);
    send_frame_contents();
}

void Looks::keep_colors() {
    if (!scene_.set("/view", colors.in_view_of(scene_.document()), "Colors of the view")) return;
    messages_.tell("The colors are part of the scene now; Ctrl+S writes its file");
}

void Looks::keep_view() {
    const session::ViewLook looks{.arrows = arrows,
                                  .most_arrows = view.most_arrows,
                                  .tubes = view.tubes,
                                  .slice = view.slice,
                                  .heights = view.heights ? view.height_scale : 0,
                                  .distances = distances};
    if (!scene_.set("/view", looks.in_view_of(scene_.document()), "View")) return;
    messages_.tell(
        "Arrows, tubes, slice, heights and distances are part of the scene now; Ctrl+S writes its "
        "file");
}

}  // namespace hindcast::gui
