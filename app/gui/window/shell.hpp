// The parts of the window around the panels: menu bar, toolbar, timeline, status bar, the dock
// space with its default layout, and the overlays (questions, messages, help, command palette,
// settings, tour). One function each; their state between frames is in Shell.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/gui/panels/panel.hpp"
#include "app/gui/window/export.hpp"
#include "app/gui/work/files.hpp"

namespace hindcast::gui {

class Gallery;

class Shell {
public:
    Shell();
    ~Shell();
    void draw(Context& context);
    std::vector<std::unique_ptr<Panel>>& panels() { return panels_; }
    Gallery& gallery() { return *gallery_; }
    Exporter& exporter() { return exporter_; }
    bool is_busy() const;  // a panel waits for work of its own

private:
    static void close_by_escape();
    void draw_menu_bar(Context& context);
    void draw_toolbar(Context& context);
    void draw_dock_space(Context& context);
    void draw_panels(Context& context);
    void draw_recent_menu(Workspace& work);
    void draw_text_alone(Context& context);
    bool place_text(Workspace& work, bool beside) const;
    void default_layout(unsigned dock, bool text_beside) const;

    std::vector<std::unique_ptr<Panel>> panels_;
    std::unique_ptr<Gallery> gallery_;
    Exporter exporter_;
    FileDialog dialog_;
    bool first_ = true;
};

// The bars at the bottom: timeline.cpp, status_bar.cpp.
void draw_timeline(Context& context);
void draw_status_bar(Context& context);
// "memory 181 MiB, graphics 24 MiB": the process, and the graphics device if it has its own memory.
std::string memory_text(const Workspace::Measured& measured);

// Overlays: overlays.cpp, palette.cpp, tour.cpp.
void draw_question(Context& context);
void draw_notices(Workspace& work);
void draw_help(Context& context);
void draw_palette(Context& context);
void draw_settings(Workspace& work);
void draw_tour(Context& context);

}  // namespace hindcast::gui
