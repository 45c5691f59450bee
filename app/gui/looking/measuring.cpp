#include "app/gui/looking/measuring.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/gestures.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

using session::DistanceEnd;

constexpr double look_again = 0.05;  // s, at the earliest, under a mouse that moves
constexpr float snap = 9;            // pixels

session::PointPlaces points_of(Picture& picture) {
    return [&picture](std::int64_t point) { return picture.point(point); };
}

std::optional<DistanceEnd> end_under_mouse(Context& context, ImVec2 at, int width, int height) {
    const render::Stage* const stage = context.picture.stage();
    const render::Frame* const frame = context.picture.frame();
    if (stage == nullptr || frame == nullptr) return std::nullopt;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const render::Pick pick =
        context.picture.pick(static_cast<int>(mouse.x - at.x), static_cast<int>(mouse.y - at.y));
    return end_at(*stage, *frame, points_of(context.picture), pick, context.work.looks.view.camera,
                  width, height,
                  {static_cast<double>(mouse.x - at.x), static_cast<double>(mouse.y - at.y)},
                  px(snap));
}

// The thing that an end is on, in words: "ball, point 0", "a place".
std::string end_text(const DistanceEnd& end) {
    if (end.of.empty()) return "a place";
    return end.points.size() == 1 ? fmt::format("{}, point {}", end.of, end.points.front())
                                  : end.of;
}

}  // namespace

void Measuring::update(Context& context, ImVec2 at, int width, int height, bool idle) {
    Topics& work = context.work;
    if (work.looks.tool != Tool::measure) {
        first_.reset();
        under_mouse_.reset();
        return;
    }
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false) && !io.WantTextInput &&
        !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) {
        if (!first_) work.looks.tool = Tool::look;
        first_.reset();
        return;
    }
    if (!idle) under_mouse_.reset();
    const bool moved = io.MousePos.x != looked_at_.x || io.MousePos.y != looked_at_.y;
    if (!idle || !moved) return;
    if (const double left = looked_ + look_again - ImGui::GetTime(); left > 0) {
        frame_wishes().want(FrameReason::tooltip, left);
        return;
    }
    looked_ = ImGui::GetTime();
    looked_at_ = io.MousePos;
    under_mouse_ = end_under_mouse(context, at, width, height);
}

void Measuring::click(Context& context, ImVec2 at, int width, int height) {
    const std::optional<DistanceEnd> end = end_under_mouse(context, at, width, height);
    if (!end) return;
    if (!first_) {
        first_ = end;
        return;
    }
    if (*first_ == *end) return;
    context.work.looks.distances.push_back({*first_, *end});
    first_.reset();
}

void Measuring::draw(Context& context, ImVec2 at, int width, int height) const {
    Topics& work = context.work;
    const render::Stage* const stage = context.picture.stage();
    const render::Frame* const frame = context.picture.frame();
    work.looks.distance_problem.clear();
    if (stage == nullptr || frame == nullptr) return;
    const session::PointPlaces points = points_of(context.picture);
    const auto placed =
        distances_in(work.looks.distances, *stage, *frame, points, work.looks.distance_problem);
    draw_distances(at, width, height, work.looks.view.camera, placed, stage->dimension);
    if (work.looks.tool != Tool::measure) return;
    // The distance begun by the first click, up to the place under the mouse.
    if (first_ && under_mouse_)
        draw_distances(at, width, height, work.looks.view.camera,
                       distances_in({{*first_, *under_mouse_}}, *stage, *frame, points,
                                    work.looks.distance_problem),
                       stage->dimension);
    const auto ring = [&](const std::optional<DistanceEnd>& end) {
        if (!end) return;
        try {
            const auto p =
                render::project(work.looks.view.camera,
                                session::place_of(*end, *stage, *frame, points), width, height);
            if (p)
                ImGui::GetWindowDrawList()->AddCircle(
                    {at.x + static_cast<float>((*p)[0]), at.y + static_cast<float>((*p)[1])}, px(7),
                    ImGui::GetColorU32(style().palette().accent), 0, px(2));
        } catch (const Error&) {
            return;  // it was there a frame ago
        }
    };
    ring(first_);
    ring(under_mouse_);
    bar(context, at, height);
}

void Measuring::bar(Context& context, ImVec2 at, int height) const {
    Topics& work = context.work;
    const render::Stage& stage = *context.picture.stage();
    const render::Frame& frame = *context.picture.frame();
    const float side = ImGui::GetFrameHeightWithSpacing();
    constexpr std::size_t most_rows = 6;
    const auto rows = static_cast<float>(std::min(work.looks.distances.size(), most_rows) + 1);
    ImGui::SetCursorScreenPos(
        {at.x + px(10), at.y + static_cast<float>(height) - rows * side - px(40)});
    ImVec4 back = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    back.w = 0.85F;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, back);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(8), px(5)});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, rows * side + px(10)});
    if (ImGui::BeginChild("distances", {0, 0},
                          ImGuiChildFlags_AutoResizeX | ImGuiChildFlags_AutoResizeY |
                              ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_Borders)) {
        const session::PointPlaces points = points_of(context.picture);
        std::optional<std::size_t> removed;
        for (std::size_t k = 0; k < work.looks.distances.size(); ++k) {
            const session::Distance& distance = work.looks.distances[k];
            ImGui::PushID(static_cast<int>(k));
            if (icon_button("remove", icon::remove, "Removes this distance")) removed = k;
            ImGui::SameLine();
            ImGui::AlignTextToFramePadding();
            std::string problem;
            const auto placed = distances_in({distance}, stage, frame, points, problem);
            ImGui::TextUnformatted(placed.empty()
                                       ? "-"
                                       : fmt::format("{}   {}", distance_text(placed.front()),
                                                     way_text(placed.front(), stage.dimension))
                                             .c_str());
            tip(placed.empty() ? problem
                               : fmt::format("From {} to {}: m, and the way along the axes",
                                             end_text(distance.from), end_text(distance.to)));
            ImGui::PopID();
        }
        if (removed)
            work.looks.distances.erase(work.looks.distances.begin() +
                                       static_cast<std::ptrdiff_t>(*removed));
        ImGui::AlignTextToFramePadding();
        quiet_text(first_ ? "Click the other end" : "Click two places");
        tip("Points of bodies are taken where one is near, else places on surfaces. A distance "
            "goes "
            "along with what it ends at. Escape ends the tool");
        if (!work.looks.distances.empty()) {
            ImGui::SameLine(0, px(10));
            if (text_button(icon::save, "Keep",
                            "Writes the distances into the scene's view, with arrows, tubes and "
                            "slice: the next start and hindcast render show them"))
                work.looks.keep_view();
            ImGui::SameLine(0, px(4));
            if (text_button(icon::remove, "Remove all", "Removes all distances"))
                work.looks.distances.clear();
        }
        ImGui::SameLine(0, px(10));
        if (icon_button("end", icon::close, "Ends the tool; the distances stay in the picture"))
            work.looks.tool = Tool::look;
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
}

}  // namespace hindcast::gui
