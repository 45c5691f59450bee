#include "app/gui/input/actions.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/state/edited_scene.hpp"

namespace hindcast::gui {

Actions::Actions() : all_(all_actions()) {}

const Action& Actions::operator[](const std::string& id) const {
    const auto found = std::ranges::find(all_, id, &Action::id);
    if (found == all_.end()) throw Error("internal: there is no action '" + id + "'");
    return *found;
}

bool Actions::run(const std::string& id, Topics& work) const {
    const Action& action = (*this)[id];
    if (action.enabled && !action.enabled(work)) return false;
    action.run(work);
    return true;
}

void Actions::dispatch(Topics& work) const {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
        return;
    for (const Action& action : all_) {
        if (action.key == 0) continue;
        // Text fields take plain keys, and their own Ctrl+Z and the like.
        const bool modified = (action.key & ImGuiMod_Ctrl) != 0;
        if (io.WantTextInput && (!modified || action.id == "undo" || action.id == "redo" ||
                                 action.id == "redo_y" || action.id == "accept"))
            continue;
        const ImGuiInputFlags flags =
            action.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None;
        if (!ImGui::IsKeyChordPressed(action.key, flags, ImGuiKeyOwner_Any)) continue;
        if (!action.enabled || action.enabled(work)) action.run(work);
    }
}

std::string Actions::key_name(ImGuiKeyChord key) {
    if (key == 0) return "";
    std::string name = ImGui::GetKeyChordName(key);
    const auto replace = [&name](const std::string& from, const std::string& to) {
        if (const std::size_t at = name.find(from); at != std::string::npos)
            name.replace(at, from.size(), to);
    };
    replace("LeftArrow", "Left");
    replace("RightArrow", "Right");
    replace("Equal", "=");
    replace("Minus", "-");
    replace("Comma", ",");
    replace("Period", ".");
    replace("Keypad", "Numpad ");
    return name;
}

void Actions::draw_menu(const char* menu, Topics& work,
                        const std::function<void(const std::string&)>& after) const {
    const std::string group_of = std::string(menu) + "/";
    bool first = true;
    std::string group;  // the last one that was drawn
    for (const Action& action : all_) {
        if (action.menu.starts_with(group_of) && action.menu != group) {
            group = action.menu;
            if (ImGui::BeginMenu(group.c_str() + group_of.size())) {
                draw_menu(group.c_str(), work, after);
                ImGui::EndMenu();
            }
        }
        if (action.menu != menu) continue;
        if (action.starts_group && !first) ImGui::Separator();
        first = false;
        std::string name = action.name;
        if (action.id == "undo" && work.scene.editor().can_undo())
            name += " " + work.scene.editor().undo_name() + "###Undo";
        if (action.id == "redo" && work.scene.editor().can_redo())
            name += " " + work.scene.editor().redo_name() + "###Redo";
        const bool enabled = !action.enabled || action.enabled(work);
        const bool ticked = action.checked && action.checked(work);
        if (ImGui::MenuItem(name.c_str(), key_name(action.key).c_str(), ticked, enabled))
            action.run(work);
        tip(action.help);
        if (after) after(action.id);
    }
}

void Actions::button(const std::string& id, Topics& work) const {
    const Action& action = (*this)[id];
    const bool enabled = !action.enabled || action.enabled(work);
    const bool ticked = action.checked && action.checked(work);
    const std::string key = key_name(action.key);
    std::string help = key.empty() ? action.name : fmt::format("{}  ({})", action.name, key);
    if (id == "undo" && enabled) help += "\n" + work.scene.editor().undo_name();
    if (id == "redo" && enabled) help += "\n" + work.scene.editor().redo_name();
    help += "\n" + action.help;
    const char* shown = action.icon;
    if (id == "play" && ticked) shown = icon::pause;
    if (icon_button(id.c_str(), shown, help, enabled, ticked && id != "play")) action.run(work);
}

}  // namespace hindcast::gui
