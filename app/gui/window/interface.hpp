// ImGui's contexts with the window's layout and style. They outlive everything that draws.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

struct ImGuiContext;
struct ImPlotContext;

namespace hindcast::render {
struct View;
}

namespace hindcast::gui {

class KeptSettings;
class Theme;

class Interface {
public:
    // `layout`: the file of the panels' places, which ImGui reads at the first frame and writes at
    // the end. `has_screen`: false if frames are drawn without a window.
    Interface(const std::filesystem::path& layout, bool has_screen);
    ~Interface();
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;

    double content_scale() const { return content_scale_; }  // of the style
    // Sets the style and the view's settings if the settings or the scale have changed.
    void follow(KeptSettings& settings, double content_scale, render::View& view);

private:
    std::string layout_;
    ImGuiContext* imgui_;
    ImPlotContext* plot_;
    std::unique_ptr<Theme> theme_;
    double content_scale_ = 0;
};

}  // namespace hindcast::gui
