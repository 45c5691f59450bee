// Ctrl and the left button in the picture pull on a point of a body. The mouse moves in the plane
// through the picked position, parallel to the picture.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "app/exchange/stage.hpp"
#include "app/gui/work/context.hpp"

namespace hindcast::gui {

class Pulling {
public:
    // Call it after the picture's item of this position and size. `pressed`: in this frame;
    // `active`: while a button is held. True while the pull uses the mouse.
    bool update(Context& context, ImVec2 at, int width, int height, bool pressed, bool active);

private:
    void begin(Context& context, ImVec2 at, int width, int height);
    void draw(const Context& context, ImVec2 at, int width, int height) const;

    bool on_ = false, given_up_ = false;
    std::uint64_t number_ = 0;
    render::Vec3 picked_{};  // in the plane, m
    render::Vec3 by_{};      // displacement of the mouse, m
};

}  // namespace hindcast::gui
