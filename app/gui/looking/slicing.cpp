#include "app/gui/looking/slicing.hpp"

#include <cmath>
#include <optional>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

constexpr float reach = 11;         // pixels around the handle in which it takes the mouse
constexpr double arrow_part = 0.1;  // of the box's size: how far its arrow goes

bool is_shown(const Context& context) {
    return context.work.looks.view.slice && !context.work.looks.is_flat() &&
           context.picture.stage() != nullptr;
}

}  // namespace

std::optional<ImVec2> pixel_of(const Context& context, const render::Vec3& place, ImVec2 at,
                               int width, int height) {
    const auto p = render::project(context.work.looks.view.camera, place, width, height);
    if (!p) return std::nullopt;
    return ImVec2{at.x + static_cast<float>((*p)[0]), at.y + static_cast<float>((*p)[1])};
}

bool Slicing::update(Context& context, ImVec2 at, int width, int height, bool pressed,
                     bool active) {
    over_ = false;
    auto& shown = context.work.looks.view.slice;
    if (!shown || !is_shown(context)) {
        on_ = false;
        return false;
    }
    render::Slice& slice = *shown;
    const render::Bounds box = box_of(*context.picture.stage());
    const render::Vec3 handle = slice_handle(slice, box);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto pixel = pixel_of(context, handle, at, width, height);
    over_ = pixel && std::hypot(mouse.x - pixel->x, mouse.y - pixel->y) < px(reach);
    if (pressed && over_ && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
        on_ = true;
        first_ = slice;
        handle_ = handle;
        mouse_ = mouse;
    }
    if (on_ && !active) on_ = false;
    if (on_)
        slice.offset = first_.offset + moved_along(first_, handle_, context.work.looks.view.camera,
                                                   width, height,
                                                   {static_cast<double>(mouse.x - mouse_.x),
                                                    static_cast<double>(mouse.y - mouse_.y)});
    return on_;
}

void Slicing::draw(const Context& context, ImVec2 at, int width, int height) const {
    const auto& shown = context.work.looks.view.slice;
    if (!shown || !is_shown(context)) return;
    const render::Slice& slice = *shown;
    const render::Bounds box = box_of(*context.picture.stage());
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->PushClipRect(at, {at.x + static_cast<float>(width), at.y + static_cast<float>(height)},
                       true);
    const ImVec4& accent = style().palette().accent;
    const ImU32 color = ImGui::GetColorU32(accent),
                pale = ImGui::GetColorU32({accent.x, accent.y, accent.z, 0.45F});
    std::vector<ImVec2> outline;
    bool whole = true;
    for (const render::Vec3& corner : slice_outline(slice, box)) {
        const auto p = pixel_of(context, corner, at, width, height);
        whole = whole && p;
        if (p) outline.push_back(*p);
    }
    if (whole && outline.size() > 2)
        list->AddPolyline(outline.data(), static_cast<int>(outline.size()), pale, px(1.5F),
                          ImDrawFlags_Closed);
    const render::Vec3 handle = slice_handle(slice, box);
    double size = 0, length = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        size += std::pow(box.high[c] - box.low[c], 2);
        length += slice.normal[c] * slice.normal[c];
    }
    const auto end = [&](double sign) {
        render::Vec3 place = handle;
        for (std::size_t c = 0; c < 3; ++c)
            place[c] += sign * arrow_part * std::sqrt(size / length) * slice.normal[c];
        return pixel_of(context, place, at, width, height);
    };
    const auto middle = pixel_of(context, handle, at, width, height), front = end(1),
               back = end(-1);
    if (middle && front && back) {
        list->AddLine(*back, *front, color, px(2));
        list->AddCircleFilled(*middle, px(on_ || over_ ? 8 : 6), color);
        list->AddCircle(*middle, px(on_ || over_ ? 8 : 6), ImGui::GetColorU32(ImGuiCol_WindowBg), 0,
                        px(1.5F));
    }
    list->PopClipRect();
    if (over_ || on_) ImGui::SetTooltip("Drag along the line: moves the slice");
}

}  // namespace hindcast::gui
