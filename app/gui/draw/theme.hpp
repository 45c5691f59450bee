// The theme of the window: two palettes with one accent, spacing, fonts and icons. All colors that
// panels use beyond ImGui's style are named here, so that both palettes stay readable.
#pragma once

#include <imgui.h>

namespace hindcast::gui {

struct Palette {
    ImVec4 accent;    // controls and the selection
    ImVec4 gradient;  // derivatives
    ImVec4 good, warn, bad;
    ImVec4 quiet;       // units, hints, secondary text
    ImVec4 raised;      // cards, group headers
    ImVec4 ghost;       // an older iteration
    ImVec4 background;  // behind the picture
};

struct Fonts {
    ImFont* regular = nullptr;
    ImFont* bold = nullptr;
    ImFont* fixed = nullptr;
};

class Theme {
public:
    // Loads the fonts into ImGui's current context.
    Theme();
    // Sets ImGui's and ImPlot's styles. `scale` multiplies sizes and text: font scale times DPI.
    void apply(bool dark, float scale);
    bool dark() const { return dark_; }
    float scale() const { return scale_; }
    const Palette& palette() const { return palette_; }
    const Fonts& fonts() const { return fonts_; }

private:
    Palette palette_{};
    Fonts fonts_{};
    bool dark_ = true;
    float scale_ = 1;
};

inline constexpr float font_size = 15;  // pixels at scale 1

// Font Awesome 4, merged into every font.
namespace icon {
inline constexpr const char *play = "\xef\x81\x8b", *pause = "\xef\x81\x8c", *stop = "\xef\x81\x8d",
                            *step_back = "\xef\x81\x88", *step_forward = "\xef\x81\x91",
                            *start = "\xef\x81\x89", *end = "\xef\x81\x90", *undo = "\xef\x83\xa2",
                            *redo = "\xef\x80\x9e", *open = "\xef\x81\xbc", *save = "\xef\x83\x87",
                            *lock = "\xef\x80\xa3", *unlock = "\xef\x82\x9c",
                            *search = "\xef\x80\x82", *settings = "\xef\x80\x93",
                            *camera = "\xef\x80\xb0", *film = "\xef\x80\x88",
                            *info = "\xef\x81\x9a", *warning = "\xef\x81\xb1",
                            *error = "\xef\x81\x97", *check = "\xef\x80\x8c",
                            *move = "\xef\x81\x87", *rotate = "\xef\x80\xa1",
                            *pointer = "\xef\x89\x85", *frame = "\xef\x81\x9b",
                            *plot = "\xef\x88\x81", *tree = "\xef\x83\xa8", *list = "\xef\x80\xba",
                            *code = "\xef\x84\xa1", *memory = "\xef\x8b\x9b",
                            *speed = "\xef\x83\xa4", *target = "\xef\x85\x80",
                            *branch = "\xef\x84\xa6", *visible = "\xef\x81\xae",
                            *hidden = "\xef\x81\xb0", *remove = "\xef\x87\xb8",
                            *copy = "\xef\x89\x8d", *add = "\xef\x81\xa7", *edit = "\xef\x81\x80",
                            *help = "\xef\x81\x99", *gallery = "\xef\x80\x89",
                            *sliders = "\xef\x87\x9e", *map = "\xef\x89\xb9",
                            *area = "\xef\x87\xbe", *repeat = "\xef\x81\xb9",
                            *accept = "\xef\x81\x98", *bolt = "\xef\x83\xa7",
                            *book = "\xef\x80\xad", *close = "\xef\x80\x8d", *cube = "\xef\x86\xb2",
                            *ghost = "\xef\x89\x8d", *file = "\xef\x80\x96",
                            *folder = "\xef\x81\xbb", *up = "\xef\x81\xa2",
                            *export_out = "\xef\x82\x8e", *sun = "\xef\x86\x85",
                            *one = "\xef\x81\x94", *history = "\xef\x87\x9a",
                            *flag = "\xef\x80\xa4", *arrow_right = "\xef\x81\xa1",
                            *ruler = "\xef\x81\xbe", *cut = "\xef\x83\x84";
}  // namespace icon

}  // namespace hindcast::gui
