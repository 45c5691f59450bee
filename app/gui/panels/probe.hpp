// The thing under a resting mouse in the picture: its name, the name of its part, and the number
// that colors it. The part is looked for when the mouse has come to rest, and again as the picture
// changes; a mouse that moves costs nothing.
#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "app/exchange/stage.hpp"
#include "app/gui/work/context.hpp"

namespace hindcast::gui {

class Probe {
public:
    // Call it after the picture's item; `at` is its upper left corner, in pixels. `idle`: the mouse
    // is over the picture and does nothing there.
    void draw(Context& context, ImVec2 at, bool idle);
    // The text beside the mouse; empty: none is shown.
    const std::string& text() const { return text_; }

private:
    void look(Context& context, ImVec2 at);

    std::string text_;
    double still_since_ = 0, looked_at_ = 0;  // ImGui::GetTime()
    std::uint64_t serial_ = 0;                // of the frame that was looked at
};

// "cage, line 3": the name of a part that was picked. "": there is nothing.
std::string part_text(const render::Stage& stage, const render::Pick& pick);
// "speed 0.512 m/s", "von Mises stress 1.2e+03 to 1.5e+03 Pa".
std::string numbers_text(const std::string& field, const std::string& unit,
                         const std::array<double, 2>& numbers);

}  // namespace hindcast::gui
