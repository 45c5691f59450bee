#include "app/gui/draw/theme.hpp"

#include <implot.h>

#include <vector>

#include "app/gui/draw/figure.hpp"

extern "C" {
extern const char hindcast_font_regular[], hindcast_font_regular_end[];
extern const char hindcast_font_bold[], hindcast_font_bold_end[];
extern const char hindcast_font_fixed[], hindcast_font_fixed_end[];
extern const char hindcast_font_icons[], hindcast_font_icons_end[];
}

namespace hindcast::gui {

namespace {

ImVec4 rgb(unsigned hex, float alpha = 1) {
    return {static_cast<float>((hex >> 16) & 255) / 255, static_cast<float>((hex >> 8) & 255) / 255,
            static_cast<float>(hex & 255) / 255, alpha};
}

ImVec4 with_alpha(ImVec4 color, float alpha) {
    color.w = alpha;
    return color;
}

// The colormap of the curves, made once in each of ImPlot's contexts.
ImPlotColormap curve_colormap() {
    constexpr const char* name = "Okabe-Ito";
    if (const ImPlotColormap known = ImPlot::GetColormapIndex(name); known >= 0) return known;
    std::vector<ImVec4> colors;
    for (const std::uint32_t hex : curve_colors) colors.push_back(rgb(hex));
    return ImPlot::AddColormap(name, colors.data(), static_cast<int>(colors.size()));
}

// The colors that all others are made of.
struct Base {
    ImVec4 back, panel, field, hover, press, line, text, quiet, accent;
};

Base base_of(bool dark) {
    if (dark)
        return {rgb(0x17191d), rgb(0x1f2226), rgb(0x2a2e34), rgb(0x363b43), rgb(0x414751),
                rgb(0x30353c), rgb(0xe4e7eb), rgb(0x949ba6), rgb(0x4c9be8)};
    return {rgb(0xdfe2e6), rgb(0xf6f7f8), rgb(0xe6e9ed), rgb(0xd6dbe1), rgb(0xc6ccd4),
            rgb(0xcdd2d8), rgb(0x1d2126), rgb(0x5e6672), rgb(0x1c6dc0)};
}

ImFont* load(const char* data, const char* end, float icon_size) {
    ImFontAtlas* atlas = ImGui::GetIO().Fonts;
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    ImFont* font = atlas->AddFontFromMemoryTTF(const_cast<char*>(data),
                                               static_cast<int>(end - data), font_size, &config);
    ImFontConfig icons;
    icons.FontDataOwnedByAtlas = false;
    icons.MergeMode = true;
    icons.GlyphMinAdvanceX = icon_size;  // icons stand in columns
    icons.GlyphOffset = {0, 1};
    atlas->AddFontFromMemoryTTF(const_cast<char*>(hindcast_font_icons),
                                static_cast<int>(hindcast_font_icons_end - hindcast_font_icons),
                                font_size * 0.93F, &icons);
    return font;
}

}  // namespace

Theme::Theme() {
    fonts_.regular = load(hindcast_font_regular, hindcast_font_regular_end, font_size * 1.15F);
    fonts_.bold = load(hindcast_font_bold, hindcast_font_bold_end, font_size * 1.15F);
    fonts_.fixed = load(hindcast_font_fixed, hindcast_font_fixed_end, font_size * 1.15F);
    ImGui::GetIO().FontDefault = fonts_.regular;
}

void Theme::apply(bool dark, float scale) {
    dark_ = dark;
    scale_ = scale;
    const Base b = base_of(dark);
    palette_.accent = b.accent;
    palette_.gradient = dark ? rgb(0xe9a45c) : rgb(0xa8560a);
    palette_.good = dark ? rgb(0x6cc48a) : rgb(0x1d7a41);
    palette_.warn = dark ? rgb(0xe3c15b) : rgb(0x866100);
    palette_.bad = dark ? rgb(0xf07f76) : rgb(0xb3261e);
    palette_.quiet = b.quiet;
    palette_.raised = dark ? rgb(0x25292e) : rgb(0xffffff);
    palette_.ghost = dark ? rgb(0xa99be0) : rgb(0x6a55b8);
    palette_.background = b.back;

    ImGuiStyle& style = ImGui::GetStyle();
    style = ImGuiStyle();
    style.WindowPadding = {10, 8};
    style.FramePadding = {8, 4};
    style.CellPadding = {6, 3};
    style.ItemSpacing = {8, 6};
    style.ItemInnerSpacing = {6, 4};
    style.IndentSpacing = 16;
    style.ScrollbarSize = 11;
    style.GrabMinSize = 10;
    style.WindowRounding = style.ChildRounding = style.FrameRounding = style.PopupRounding =
        style.GrabRounding = style.TabRounding = 4;
    style.ScrollbarRounding = 6;
    style.WindowBorderSize = 1;
    style.PopupBorderSize = 1;
    style.FrameBorderSize = 0;
    style.TabBorderSize = 0;
    style.TabBarOverlineSize = 2;
    style.TabCloseButtonMinWidthSelected = 0;  // while the mouse is there
    style.TabCloseButtonMinWidthUnselected = 0;
    style.TabMinWidthShrink = 1000;  // what has no room is scrolled to, not cut
    style.DockingSeparatorSize = 3;
    style.WindowMenuButtonPosition = ImGuiDir_None;
    style.WindowTitleAlign = {0, 0.5F};
    style.SeparatorTextBorderSize = 1;
    style.SeparatorTextPadding = {0, 3};
    style.DisabledAlpha = 0.45F;
    style.HoverDelayNormal = 0.45F;
    style.HoverStationaryDelay = 0.18F;
    style.TreeLinesFlags = ImGuiTreeNodeFlags_DrawLinesNone;

    ImVec4* c = style.Colors;
    c[ImGuiCol_Text] = b.text;
    c[ImGuiCol_TextDisabled] = b.quiet;
    c[ImGuiCol_TextLink] = b.accent;
    c[ImGuiCol_TextSelectedBg] = with_alpha(b.accent, 0.35F);
    c[ImGuiCol_InputTextCursor] = b.accent;
    c[ImGuiCol_WindowBg] = b.panel;
    c[ImGuiCol_ChildBg] = {0, 0, 0, 0};
    c[ImGuiCol_PopupBg] = dark ? rgb(0x25292e) : rgb(0xffffff);
    c[ImGuiCol_Border] = b.line;
    c[ImGuiCol_BorderShadow] = {0, 0, 0, 0};
    c[ImGuiCol_FrameBg] = b.field;
    c[ImGuiCol_FrameBgHovered] = b.hover;
    c[ImGuiCol_FrameBgActive] = b.press;
    c[ImGuiCol_TitleBg] = c[ImGuiCol_TitleBgActive] = c[ImGuiCol_TitleBgCollapsed] = b.back;
    c[ImGuiCol_MenuBarBg] = b.back;
    c[ImGuiCol_ScrollbarBg] = {0, 0, 0, 0};
    c[ImGuiCol_ScrollbarGrab] = b.hover;
    c[ImGuiCol_ScrollbarGrabHovered] = b.press;
    c[ImGuiCol_ScrollbarGrabActive] = b.accent;
    c[ImGuiCol_CheckMark] = b.accent;
    c[ImGuiCol_CheckboxSelectedBg] = b.field;
    c[ImGuiCol_SliderGrab] = b.accent;
    c[ImGuiCol_SliderGrabActive] = b.accent;
    c[ImGuiCol_Button] = b.field;
    c[ImGuiCol_ButtonHovered] = b.hover;
    c[ImGuiCol_ButtonActive] = b.press;
    c[ImGuiCol_Header] = with_alpha(b.accent, 0.22F);
    c[ImGuiCol_HeaderHovered] = with_alpha(b.accent, 0.30F);
    c[ImGuiCol_HeaderActive] = with_alpha(b.accent, 0.42F);
    c[ImGuiCol_Separator] = b.line;
    c[ImGuiCol_SeparatorHovered] = c[ImGuiCol_SeparatorActive] = b.accent;
    c[ImGuiCol_ResizeGrip] = {0, 0, 0, 0};
    c[ImGuiCol_ResizeGripHovered] = c[ImGuiCol_ResizeGripActive] = b.accent;
    c[ImGuiCol_Tab] = c[ImGuiCol_TabDimmed] = b.back;
    c[ImGuiCol_TabHovered] = b.hover;
    c[ImGuiCol_TabSelected] = c[ImGuiCol_TabDimmedSelected] = b.panel;
    c[ImGuiCol_TabSelectedOverline] = b.accent;
    c[ImGuiCol_TabDimmedSelectedOverline] = b.line;
    c[ImGuiCol_DockingPreview] = with_alpha(b.accent, 0.4F);
    c[ImGuiCol_DockingEmptyBg] = b.back;
    c[ImGuiCol_PlotLines] = b.accent;
    c[ImGuiCol_PlotLinesHovered] = b.text;
    c[ImGuiCol_PlotHistogram] = b.accent;
    c[ImGuiCol_PlotHistogramHovered] = b.text;
    c[ImGuiCol_TableHeaderBg] = b.back;
    c[ImGuiCol_TableBorderStrong] = c[ImGuiCol_TableBorderLight] = b.line;
    c[ImGuiCol_TableRowBg] = {0, 0, 0, 0};
    c[ImGuiCol_TableRowBgAlt] = with_alpha(b.text, 0.025F);
    c[ImGuiCol_TreeLines] = b.line;
    c[ImGuiCol_DragDropTarget] = b.accent;
    c[ImGuiCol_DragDropTargetBg] = with_alpha(b.accent, 0.2F);
    c[ImGuiCol_UnsavedMarker] = palette_.warn;
    c[ImGuiCol_NavCursor] = b.accent;
    c[ImGuiCol_NavWindowingHighlight] = b.accent;
    c[ImGuiCol_NavWindowingDimBg] = {0, 0, 0, 0.3F};
    c[ImGuiCol_ModalWindowDimBg] = {0, 0, 0, dark ? 0.5F : 0.35F};

    style.ScaleAllSizes(scale);
    style.FontSizeBase = font_size;
    style.FontScaleMain = scale;

    ImPlotStyle& plot = ImPlot::GetStyle();
    plot = ImPlotStyle();
    if (dark)
        ImPlot::StyleColorsDark(&plot);
    else
        ImPlot::StyleColorsLight(&plot);
    plot.Colors[ImPlotCol_FrameBg] = {0, 0, 0, 0};
    plot.Colors[ImPlotCol_PlotBg] = dark ? rgb(0x1a1c20) : rgb(0xffffff);
    plot.Colors[ImPlotCol_PlotBorder] = b.line;
    plot.Colors[ImPlotCol_LegendBg] = with_alpha(b.panel, 0.85F);
    plot.Colors[ImPlotCol_LegendBorder] = b.line;
    plot.Colors[ImPlotCol_AxisText] = b.quiet;
    plot.Colors[ImPlotCol_AxisGrid] = with_alpha(b.quiet, 0.22F);
    plot.PlotPadding = {6 * scale, 6 * scale};
    plot.LabelPadding = {4 * scale, 3 * scale};
    plot.LegendPadding = {6 * scale, 6 * scale};
    plot.PlotMinSize = {60 * scale, 40 * scale};
    plot.PlotDefaultSize = {220 * scale, 130 * scale};
    plot.Use24HourClock = true;
    plot.Colormap = curve_colormap();
}

}  // namespace hindcast::gui
