// A docked panel. It reads the snapshot and the document and changes them only through the topics
// of the window (work/topics.hpp). Its own state is only about its display.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/context.hpp"

namespace hindcast::gui {

enum class Place { left_top, left_bottom, center, bottom, right };

class Panel {
public:
    Panel(const char* title, const char* icon, Place place, const char* help)
        : title_(title),
          label_(std::string(icon) + "  " + title + "###" + title),
          short_label_(std::string(icon) + "###" + title),
          help_(help),
          place_(place) {}
    virtual ~Panel() = default;
    Panel(const Panel&) = delete;
    Panel& operator=(const Panel&) = delete;
    virtual void draw(Context& context) = 0;
    // Once for each frame, also of a panel that is closed or behind another one.
    virtual void update(Context&) {}
    // True while it waits for work of its own, so that frames must go on.
    virtual bool is_busy() const { return false; }
    // Space around the content.
    virtual bool padded() const { return true; }

    const std::string& title() const { return title_; }
    const std::string& label() const { return label_; }  // ImGui's name of its window
    // Without words, for a row of tabs that has no room for them.
    const std::string& short_label() const { return short_label_; }
    const std::string& help() const { return help_; }
    Place place() const { return place_; }
    bool* open() { return &open_; }

private:
    const std::string title_, label_, short_label_, help_;
    const Place place_;
    bool open_ = true;
};

// In the order of their tabs.
std::unique_ptr<Panel> make_viewport();
std::unique_ptr<Panel> make_scene_file();
std::unique_ptr<Panel> make_scene_tree();
std::unique_ptr<Panel> make_optimizer();
std::unique_ptr<Panel> make_objective();
std::unique_ptr<Panel> make_inspector();
std::unique_ptr<Panel> make_sliders();
std::unique_ptr<Panel> make_plots();
std::unique_ptr<Panel> make_results();
std::unique_ptr<Panel> make_gradient_check();
std::unique_ptr<Panel> make_landscape();
std::unique_ptr<Panel> make_identification();
std::unique_ptr<Panel> make_launches();
std::unique_ptr<Panel> make_memory();
std::unique_ptr<Panel> make_warnings();
std::unique_ptr<Panel> make_log();

}  // namespace hindcast::gui
