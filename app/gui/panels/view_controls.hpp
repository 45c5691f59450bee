// What is chosen on the picture itself: what it is coloured by and the colour bar, arrows and how
// long they are, how high fields are; and what there is to say about the picture.
#pragma once

#include <imgui.h>

#include <memory>
#include <string>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

class ViewControls {
public:
    // After the picture's item of this place and size, in pixels.
    void draw(Context& context, ImVec2 at, int width, int height);

private:
    void fit_arrows(Context& context);
    void colours(Context& context);
    void arrows(Context& context);
    static void heights(Context& context);
    void remarks(const Workspace& work, ImVec2 at);
    static void colour_bar(Context& context, ImVec2 at, int width, int height);

    // The longest arrow so far, of this field on this stage.
    double longest_ = 0;
    std::string longest_of_;
    std::shared_ptr<const render::Stage> stage_;
    double runs_since_ = 0;  // ImGui::GetTime() of the last frame in which nothing ran
};

}  // namespace hindcast::gui
