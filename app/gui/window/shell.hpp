// The parts of the window around the panels: menu bar, toolbar, timeline, status bar, the dock
// space with its default layout, and the overlays (questions, messages, help, command palette,
// settings, tour). One function each; their state between frames is in Shell.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/gui/making/add_menu.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/window/export.hpp"
#include "app/gui/window/gallery.hpp"
#include "app/gui/work/file_dialog.hpp"

namespace hindcast::gui {

class Shell {
public:
    Shell();
    ~Shell();
    void draw(Context& context);
    std::vector<std::unique_ptr<Panel>>& panels() { return panels_; }
    Gallery& gallery() { return gallery_; }
    Exporter& exporter() { return exporter_; }
    bool is_busy() const;  // a panel waits for work of its own

private:
    static void close_by_escape();
    void draw_menu_bar(Context& context);
    void draw_toolbar(Context& context);
    void draw_dock_space(Context& context);
    void draw_panels(Context& context);
    void draw_recent_menu(Topics& work);
    void draw_text_alone(Context& context);
    bool place_text(Requests& requests, bool beside) const;
    void default_layout(unsigned dock, bool text_beside) const;
    // True if the panel's tab has no words in this frame: if a row of tabs has no room for all, the
    // last ones behind the one in front have none.
    bool is_short(const Panel& panel) const;

    std::vector<std::unique_ptr<Panel>> panels_;
    Gallery gallery_;
    Exporter exporter_;
    FileDialog dialog_;
    MakingDialogs making_;
    bool first_ = true;
};

// The bars at the bottom: timeline.cpp, status_bar.cpp.
void draw_timeline(Context& context);
void draw_status_bar(Context& context);

// Overlays: overlays.cpp, palette.cpp, tour.cpp.
void draw_question(Context& context);
void draw_notices(Messages& messages);
void draw_help(Context& context);
void draw_palette(Context& context);
void draw_settings(Topics& work);
void draw_tour(Context& context);

}  // namespace hindcast::gui
