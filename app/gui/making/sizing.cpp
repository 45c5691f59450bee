#include "app/gui/making/sizing.hpp"

#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/looking/slicing.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

constexpr float reach = 9, half_side = 4.5F;  // pixels

}  // namespace

void Sizing::find(const Context& context) {
    const Topics& work = context.work;
    const std::string pointer = work.looks.tool == Tool::move && context.picture.stage() != nullptr
                                    ? work.chosen.object.pointer
                                    : "";
    if (pointer == pointer_ && work.scene.editor().revision() == revision_) return;
    pointer_ = pointer;
    revision_ = work.scene.editor().revision();
    handles_.clear();
    if (!pointer_.empty())
        handles_ = session::size_handles(work.scene.document(), work.scene.registry(), pointer_);
}

bool Sizing::update(Context& context, ImVec2 at, int width, int height, bool pressed, bool active) {
    Topics& work = context.work;
    find(context);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!drag_) {
        over_.reset();
        float nearest = px(reach);
        for (std::size_t k = 0; k < handles_.size(); ++k)
            if (const auto p = pixel_of(context, handles_[k].at, at, width, height)) {
                const float away = std::hypot(mouse.x - p->x, mouse.y - p->y);
                if (away >= nearest) continue;
                nearest = away;
                over_ = k;
            }
        if (!pressed || !over_ || !ImGui::IsMouseDown(ImGuiMouseButton_Left)) return false;
        work.scene.edit([](session::Editor& e) { e.end_merge(); });
        drag_.emplace();
        drag_->handle = *over_;
        drag_->before = work.scene.document();
        drag_->was = handles_[*over_];
        drag_->mouse = mouse;
        text_.clear();
        return true;
    }
    SizeDrag& drag = *drag_;
    if (!active || pointer_.empty()) {
        drag_.reset();
        work.scene.edit([](session::Editor& e) { e.end_merge(); });
        return false;
    }
    if (drag.given_up) return true;  // the button has the mouse until it is let go
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        drag.given_up = true;
        text_.clear();
        if (drag.changed) work.scene.edit([](session::Editor& e) { e.undo(); });
        return true;
    }
    render::Slice line;
    line.normal = drag.was.along;
    const double by = moved_along(
        line, drag.was.at, work.looks.view.camera, width, height,
        {static_cast<double>(mouse.x - drag.mouse.x), static_cast<double>(mouse.y - drag.mouse.y)});
    if (by == drag.by && ImGui::GetIO().KeyCtrl == drag.repeats) return true;
    drag.by = by;
    drag.repeats = ImGui::GetIO().KeyCtrl;
    session::Resized now = session::resized(drag.before, work.scene.registry(), pointer_,
                                            drag.handle, by, drag.repeats);
    text_ = std::move(now.text);
    const std::string name = "Size of " + work.scene.name_at(pointer_);
    for (session::Resized::Change& change : now.changes)
        drag.changed =
            work.scene.set(change.pointer, std::move(change.value), name, "size") || drag.changed;
    return true;
}

void Sizing::draw(const Context& context, ImVec2 at, int width, int height) const {
    if (handles_.empty()) return;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->PushClipRect(at, {at.x + static_cast<float>(width), at.y + static_cast<float>(height)},
                       true);
    const ImU32 fill = ImGui::GetColorU32(style().palette().accent),
                edge = ImGui::GetColorU32(ImGuiCol_WindowBg);
    for (std::size_t k = 0; k < handles_.size(); ++k) {
        const auto p = pixel_of(context, handles_[k].at, at, width, height);
        if (!p) continue;
        const bool held = drag_ ? drag_->handle == k : over_ == k;
        const float half = px(held ? half_side + 2 : half_side);
        list->AddRectFilled({p->x - half, p->y - half}, {p->x + half, p->y + half}, fill);
        list->AddRect({p->x - half, p->y - half}, {p->x + half, p->y + half}, edge, 0, px(1.5F));
    }
    list->PopClipRect();
    if (drag_) {
        if (!text_.empty()) ImGui::SetTooltip("%s", text_.c_str());
    } else if (over_) {
        const session::SizeHandle& handle = handles_[*over_];
        ImGui::SetTooltip("Drag: changes the size (%s)%s", handle.name.c_str(),
                          handle.repeats ? "\nWith Ctrl: more or fewer points, as far from each "
                                           "other as they are"
                                         : "");
    }
}

}  // namespace hindcast::gui
