// All actions of the user in one table: name, key, menu, help, when the action is possible, and
// what it does. Menus, toolbar, command palette, help page and key dispatch read only this table.
// Mouse gestures are in gestures.hpp.
#pragma once

#include <imgui.h>

#include <functional>
#include <string>
#include <vector>

#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

struct Action {
    std::string id;    // "play"
    std::string menu;  // "Simulation"; "View/Look from": a group of the menu
    const char* icon = nullptr;
    std::string name;
    ImGuiKeyChord key = 0;
    std::string help;
    std::function<bool(const Topics&)> enabled;  // none: always
    std::function<void(Topics&)> run;
    std::function<bool(const Topics&)> checked;  // none: no tick
    bool repeats = false;                        // while its key is held
    bool starts_group = false;                   // a separator above it in its menu

    // True if the action is in the menu `of` or in a group of that menu.
    bool is_in(const std::string& of) const { return menu.substr(0, menu.find('/')) == of; }
};

std::vector<Action> all_actions();         // actions_table.cpp
std::vector<Action> view_actions();        // actions_view.cpp: settings, looks, tools
std::vector<Action> simulation_actions();  // actions_run.cpp: time
std::vector<Action> optimise_actions();    // actions_run.cpp
std::vector<Action> camera_actions();      // camera_keys.cpp: the camera path
std::vector<Action> side_actions();        // camera_sides.cpp: standard views
std::vector<Action> making_actions();      // gui/making: chosen points, arranging
std::vector<Action> looking_actions();     // gui/looking: distances, the slice

class Actions {
public:
    Actions();
    const std::vector<Action>& all() const { return all_; }
    const Action& operator[](const std::string& id) const;
    void add(Action action) { all_.push_back(std::move(action)); }

    // Runs the action if it is possible now; else returns false.
    bool run(const std::string& id, Topics& work) const;
    // Runs the actions of the keys pressed, unless a field takes text.
    void dispatch(Topics& work) const;

    // `after` may draw more after an action's item.
    void draw_menu(const char* menu, Topics& work,
                   const std::function<void(const std::string& id)>& after = {}) const;
    // A square button for the toolbar; its tooltip is name, key and help.
    void button(const std::string& id, Topics& work) const;

    static std::string key_name(ImGuiKeyChord key);

private:
    std::vector<Action> all_;
};

inline constexpr const char* menus[] = {"File", "Edit", "View", "Simulation", "Optimise", "Help"};

}  // namespace hindcast::gui
