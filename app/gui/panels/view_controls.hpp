// The controls on the picture itself: colors and the color bar, arrows and their length, the
// height of fields, and remarks on the picture.
#pragma once

#include <imgui.h>

#include <array>
#include <memory>
#include <string>

#include "app/exchange/stage.hpp"
#include "app/gui/work/context.hpp"

namespace hindcast::gui {

class ViewControls {
public:
    // Call it after the picture's item of this position and size, in pixels.
    void draw(Context& context, ImVec2 at, int width, int height);

private:
    void fit_arrows(Context& context);
    void colors(Context& context);
    void arrows(Context& context);
    void heights(Context& context);
    void most_arrows(Topics& work);
    void looks(Context& context);
    void remarks(const Topics& work, ImVec2 at, float right);
    void place(float width);
    float choice_width() const;
    static void color_bar(Context& context, ImVec2 at, int width, int height);
    static void choose_map(Looks& looks);
    static void choose_range(Topics& work, const std::array<double, 2>& shown);

    // The longest arrow of this field on this stage so far.
    double longest_ = 0;
    std::string longest_of_;
    std::shared_ptr<const render::Stage> stage_;
    // The begin of the controls and the place of the next one; the right end, and the reach so far.
    ImVec2 at_{}, pen_{};
    float right_ = 0, reached_ = 0;
    double runs_since_ = 0;  // ImGui::GetTime() of the last frame without a run
};

}  // namespace hindcast::gui
