#include "app/gui/window/interface.hpp"

#include <imgui.h>

#include <ImGuizmo.h>
#include <implot.h>

#include "app/gui/draw/theme.hpp"
#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/state/settings.hpp"

namespace hindcast::gui {

Interface::Interface(const std::filesystem::path& layout, bool has_screen)
    : layout_(layout.string()) {
    IMGUI_CHECKVERSION();
    imgui_ = ImGui::CreateContext();
    plot_ = ImPlot::CreateContext();
    ImGuizmo::SetImGuiContext(imgui_);
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.ConfigDockingAlwaysTabBar = true;
    io.ConfigInputTextCursorBlink = false;  // a field that waits for text needs no frames
    io.IniFilename = layout_.c_str();
    io.LogFilename = nullptr;
    if (!has_screen) {
        io.BackendPlatformName = "hindcast without a screen";
        io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
    }
    theme_ = std::make_unique<Theme>();
}

Interface::~Interface() {
    theme_.reset();
    ImPlot::DestroyContext(plot_);
    ImGui::DestroyContext(imgui_);
}

void Interface::follow(KeptSettings& settings, double content_scale, render::View& view) {
    if (!settings.changed && content_scale == content_scale_) return;
    settings.changed = false;
    content_scale_ = content_scale;
    theme_->apply(settings.dark, static_cast<float>(settings.font_scale * content_scale));
    set_style(theme_.get());
    settings.set(view);
}

}  // namespace hindcast::gui
