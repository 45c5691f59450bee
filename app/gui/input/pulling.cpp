#include "app/gui/input/pulling.hpp"

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/gestures.hpp"
#include "app/gui/input/picking.hpp"
#include "app/gui/work/edits/pulls.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

using render::dot;
using render::Vec3;

// The point under the mouse in the plane through `place` that is parallel to the picture.
Vec3 in_plane(const render::Camera& camera, const Vec3& place, ImVec2 mouse, int width,
              int height) {
    const render::Ray ray = render::ray_through(camera, static_cast<double>(mouse.x),
                                                static_cast<double>(mouse.y), width, height);
    const Vec3 forward =
        render::ray_through(camera, width / 2.0, height / 2.0, width, height).direction;
    const Vec3 arm{place[0] - ray.origin[0], place[1] - ray.origin[1], place[2] - ray.origin[2]};
    // No ray of a camera runs along its picture.
    const double reach = dot(arm, forward) / dot(ray.direction, forward);
    Vec3 result{};
    for (std::size_t k = 0; k < 3; ++k) result[k] = ray.origin[k] + reach * ray.direction[k];
    return result;
}

}  // namespace

bool Pulling::update(Context& context, ImVec2 at, int width, int height, bool pressed,
                     bool active) {
    Topics& work = context.work;
    const ImGuiIO& io = ImGui::GetIO();
    if (pressed && happens(Gesture::pull)) begin(context, at, width, height);
    if (!on_) return false;
    if (!active) {
        on_ = false;
        if (!given_up_) work.running.send(session::Release{number_, true});
        return false;
    }
    // The button has the mouse until it is let go.
    if (given_up_) return true;
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        given_up_ = true;
        work.running.send(session::Release{number_, false});
        return true;
    }
    const Vec3 mouse = in_plane(work.looks.view.camera, picked_,
                                {io.MousePos.x - at.x, io.MousePos.y - at.y}, width, height);
    Vec3 by{};
    for (std::size_t k = 0; k < 3; ++k) by[k] = mouse[k] - picked_[k];
    if (by != by_) {
        by_ = by;
        work.running.send(session::PullTo{number_, by});
    }
    draw(context, at, width, height);
    return true;
}

void Pulling::begin(Context& context, ImVec2 at, int width, int height) {
    const render::Stage* stage = context.picture.stage();
    if (stage == nullptr) return;
    const ImVec2 mouse{ImGui::GetIO().MousePos.x - at.x, ImGui::GetIO().MousePos.y - at.y};
    const render::Pick pick =
        context.picture.pick(static_cast<int>(mouse.x), static_cast<int>(mouse.y));
    std::vector<std::int64_t> points = scene_points(*stage, pick);
    if (points.empty()) return;
    on_ = true;
    given_up_ = false;
    picked_ = in_plane(context.work.looks.view.camera, pick.place, mouse, width, height);
    by_ = {};
    number_ = context.work.pulls.grab(std::move(points), pick.place);
}

// The spring from the mouse to the point.
void Pulling::draw(const Context& context, ImVec2 at, int width, int height) const {
    const render::Camera& camera = context.work.looks.view.camera;
    const auto& mouse_pull = context.work.running.now().pulls.current;
    const bool live = mouse_pull && mouse_pull->live && mouse_pull->number == number_;
    Vec3 place = picked_, point = picked_;
    if (live) point = mouse_pull->point;
    // The mouse is drawn where it is now.
    for (std::size_t k = 0; k < 3; ++k)
        place[k] = (live ? mouse_pull->anchor[k] : place[k]) + by_[k];
    const auto from = render::project(camera, point, width, height);
    const auto to = render::project(camera, place, width, height);
    if (!from || !to) return;
    const auto on_screen = [&](const std::array<double, 2>& p) {
        return ImVec2{at.x + static_cast<float>(p[0]), at.y + static_cast<float>(p[1])};
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 color = ImGui::GetColorU32(style().palette().warn);
    list->PushClipRect(at, {at.x + static_cast<float>(width), at.y + static_cast<float>(height)},
                       true);
    list->AddLine(on_screen(*from), on_screen(*to), color, px(2));
    list->AddCircle(on_screen(*from), px(7), color, 0, px(2));
    list->AddCircleFilled(on_screen(*to), px(5), color);
    list->PopClipRect();
}

}  // namespace hindcast::gui
