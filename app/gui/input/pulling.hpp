// Ctrl and the left button in the picture pull on a point of a body: the hand moves in the plane
// through the place that was picked, parallel to the picture.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "app/exchange/stage.hpp"
#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

class Pulling {
public:
    // After the picture's item of this place and size: `pressed` in this frame, `active` while a
    // button is held. True while it has the mouse.
    bool update(Context& context, ImVec2 at, int width, int height, bool pressed, bool active);

private:
    void begin(Context& context, ImVec2 at, int width, int height);
    void draw(const Workspace& work, ImVec2 at, int width, int height) const;

    bool on_ = false, given_up_ = false;
    std::uint64_t number_ = 0;
    render::Vec3 picked_{};  // in the plane, m
    render::Vec3 by_{};      // how far the hand has come, m
};

}  // namespace hindcast::gui
