#include "app/gui/panels/probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/input/picking.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

constexpr double rest_before = 0.3, again = 0.2;  // s

}  // namespace

std::string part_text(const render::Stage& stage, const render::Pick& pick) {
    const Picked picked = picked_of(stage, pick);
    std::string part = element_text(picked.part);
    if (picked.name.empty()) return part;
    return part.empty() ? picked.name : picked.name + ", " + part;
}

std::string numbers_text(const std::string& field, const std::string& unit,
                         const std::array<double, 2>& numbers) {
    const std::string low = number_text(numbers[0], 4), high = number_text(numbers[1], 4);
    return fmt::format("{} {}{}{}", field, low == high ? low : low + " to " + high,
                       unit.empty() ? "" : " ", unit);
}

void Probe::draw(Context& context, ImVec2 at, bool idle) {
    const ImGuiIO& io = ImGui::GetIO();
    const double now = ImGui::GetTime();
    if (!idle || io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0) {
        still_since_ = now;
        text_.clear();
        serial_ = 0;
        if (idle) frame_wishes().want(FrameReason::tooltip, rest_before);
        return;
    }
    const render::Frame* const frame = context.picture.frame();
    if (frame == nullptr) return;
    if (const double left = still_since_ + rest_before - now; left > 0) {
        frame_wishes().want(FrameReason::tooltip, left);
        return;
    }
    if (frame->serial != serial_) {
        if (const double left = looked_at_ + again - now; left > 0)
            frame_wishes().want(FrameReason::tooltip, left);
        else
            look(context, at);
    }
    if (text_.empty()) return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 24);
    ImGui::TextUnformatted(text_.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

void Probe::look(Context& context, ImVec2 at) {
    Topics& work = context.work;
    serial_ = context.picture.frame()->serial;
    looked_at_ = ImGui::GetTime();
    text_.clear();
    const render::Stage* const stage = context.picture.stage();
    if (stage == nullptr) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const render::Pick pick =
        context.picture.pick(static_cast<int>(mouse.x - at.x), static_cast<int>(mouse.y - at.y));
    if (pick.drawable < 0) return;
    text_ = part_text(*stage, pick);
    const auto& fields = work.running.now().view.colors;
    const auto field = std::ranges::find(fields, work.looks.colors.by, &session::ShownField::name);
    if (const auto numbers = context.picture.numbers_of(pick.drawable, pick.element);
        numbers && field != fields.end())
        text_ += "\n" + numbers_text(path_label(field->name), field->unit, *numbers);
    text_ +=
        fmt::format("\nat {}, {}", number_text(pick.place[0], 3), number_text(pick.place[1], 3));
    text_ += stage->dimension == 3 ? fmt::format(", {} m", number_text(pick.place[2], 3)) : " m";
}

}  // namespace hindcast::gui
