// The distance tool: two clicks in the picture are the ends of a distance, which moves along with
// the things at its ends. A bar below lists the distances.
#pragma once

#include <imgui.h>

#include <array>
#include <optional>

#include "app/gui/places/labels.hpp"
#include "app/gui/work/context.hpp"
#include "app/render/renderer.hpp"
#include "app/session/view/view_look.hpp"

namespace hindcast::gui {

class Measuring {
public:
    // Call it once a frame after the picture's item of this position and size, in pixels. `idle`:
    // the mouse is over the picture and does nothing there. Escape ends the distance begun, then the
    // tool.
    void update(Context& context, ImVec2 at, int width, int height, bool idle);
    // A click with the tool. On nothing it does nothing.
    void click(Context& context, ImVec2 at, int width, int height);
    // All distances, and the bar.
    void draw(Context& context, ImVec2 at, int width, int height) const;

private:
    void bar(Context& context, ImVec2 at, int height) const;

    std::optional<session::DistanceEnd> first_, under_mouse_;
    ImVec2 looked_at_{};  // the mouse's place then
    double looked_ = 0;   // ImGui::GetTime()
};

// The pick as an end of a distance: the point where one is within `near` pixels of the mouse, else
// the place on the thing. None where nothing was picked. `mouse`: in pixels of the picture.
std::optional<session::DistanceEnd> end_at(const render::Stage& stage, const render::Frame& frame,
                                           const session::PointPlaces& points,
                                           const render::Pick& pick, const render::Camera& camera,
                                           int width, int height,
                                           const std::array<double, 2>& mouse, double near);

}  // namespace hindcast::gui
