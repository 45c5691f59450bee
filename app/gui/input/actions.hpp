// All commands of the window in one table: name, key, menu, help, when the command is possible, and
// its effect. Menus, the menu of an object, toolbar, command palette, help page, key dispatch and
// the manual's page (commands_page.hpp) read only this table. Mouse gestures are in gestures.hpp.
//
// A new command is a row of a list, which stands beside the code that it acts on, and a test. A new
// list is a row of the table of lists (actions_table.cpp).
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
    ImGuiKeyChord other_key = 0;                 // does the same
    bool yields_to_text = false;  // a text field that has the keyboard takes the key itself
    int in_object_menu = 0;       // its rank in the menu of an object; 0: not there
    // More of its name, which changes: the name of the undo step. None, or "": nothing.
    std::function<std::string(const Topics&)> detail = {};
    const char* ticked_icon = nullptr;  // in place of `icon` while it is ticked

    // True if the action is in the menu `of` or in a group of that menu.
    bool is_in(const std::string& of) const { return menu.substr(0, menu.find('/')) == of; }
};

std::vector<Action> all_actions();

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
    // The commands that an object has, in the order of their ranks.
    void draw_object_menu(Topics& work) const;
    // A square button for the toolbar; its tooltip is name, key and help.
    void button(const std::string& id, Topics& work) const;

    static std::string key_name(ImGuiKeyChord key);
    static std::string key_names(const Action& action);  // "Ctrl+K, Ctrl+P"

private:
    // An item of a menu that is open.
    static void draw_item(const Action& action, Topics& work);

    std::vector<Action> all_;
};

inline constexpr const char* menus[] = {"File", "Edit", "View", "Simulation", "Optimize", "Help"};

}  // namespace hindcast::gui
