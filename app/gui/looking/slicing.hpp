// The slice in the picture: its outline in the box of the scene, and a handle that is dragged along its
// normal. Pure functions below say where they are.
#pragma once

#include <imgui.h>

#include <array>
#include <optional>
#include <vector>

#include "app/gui/work/context.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::gui {

class Slicing {
public:
    // Call it once a frame after the picture's item, as Pulling::update(). True while the handle has
    // the mouse.
    bool update(Context& context, ImVec2 at, int width, int height, bool pressed, bool active);
    void draw(const Context& context, ImVec2 at, int width, int height) const;

private:
    bool on_ = false, over_ = false;
    render::Slice first_;    // as it was when the handle was taken
    render::Vec3 handle_{};  // m, then
    ImVec2 mouse_{};         // then
};

// Through the middle of the box, across the axis that is nearest to the line of sight: the half that
// is nearer to the eye is hidden.
render::Slice slice_before(const render::Camera& camera, const render::Bounds& box);
// The same plane across another normal, through the same place of the box's middle line.
render::Slice turned(const render::Slice& slice, const render::Vec3& normal,
                     const render::Bounds& box);
// The least and the largest offset at which the plane meets the box, with a little room.
std::array<double, 2> slice_range(const render::Slice& slice, const render::Bounds& box);
// The corners of what the plane has in common with the box, in turn; fewer than three: nothing.
std::vector<render::Vec3> slice_outline(const render::Slice& slice, const render::Bounds& box);
// The place of the handle: the middle of the box, moved along the normal onto the plane.
render::Vec3 slice_handle(const render::Slice& slice, const render::Bounds& box);
// The distance along the normal, m, for a mouse that moved by so many pixels from the handle. A
// normal that points more nearly at the eye counts as one at 24 degrees to the line of sight.
double moved_along(const render::Slice& slice, const render::Vec3& handle,
                   const render::Camera& camera, int width, int height,
                   const std::array<double, 2>& by);
// The pixel of a place on the screen, in a picture of this size at `at`; none behind the eye.
std::optional<ImVec2> pixel_of(const Context& context, const render::Vec3& place, ImVec2 at,
                               int width, int height);
// The box that a slice cuts: everything at the start, with a small margin.
render::Bounds box_of(const render::Stage& stage);

}  // namespace hindcast::gui
