// The controls on the picture itself: colours and the colour bar, arrows and their length, the
// height of fields, and remarks on the picture.
#pragma once

#include <imgui.h>

#include <memory>
#include <string>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

class ViewControls {
public:
    // Call it after the picture's item of this position and size, in pixels.
    void draw(Context& context, ImVec2 at, int width, int height);

private:
    void fit_arrows(Context& context);
    void colours(Context& context);
    void arrows(Context& context);
    static void heights(Context& context);
    void remarks(const Workspace& work, ImVec2 at);
    static void colour_bar(Context& context, ImVec2 at, int width, int height);

    // The longest arrow of this field on this stage so far.
    double longest_ = 0;
    std::string longest_of_;
    std::shared_ptr<const render::Stage> stage_;
    double runs_since_ = 0;  // ImGui::GetTime() of the last frame without a run
};

}  // namespace hindcast::gui
