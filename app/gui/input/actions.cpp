#include "app/gui/input/actions.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"

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
    for (const Action& action : all_)
        for (const ImGuiKeyChord key : {action.key, action.other_key}) {
            if (key == 0) continue;
            // Text fields take plain keys, and their own Ctrl+Z and the like.
            const bool modified = (key & ImGuiMod_Ctrl) != 0;
            if (io.WantTextInput && (!modified || action.yields_to_text)) continue;
            const ImGuiInputFlags flags =
                action.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None;
            if (!ImGui::IsKeyChordPressed(key, flags, ImGuiKeyOwner_Any)) continue;
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

std::string Actions::key_names(const Action& action) {
    std::string names = key_name(action.key);
    if (action.other_key != 0) names += ", " + key_name(action.other_key);
    return names;
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
        draw_item(action, work);
        if (after) after(action.id);
    }
}

void Actions::draw_item(const Action& action, Topics& work) {
    std::string name = action.name;
    if (action.detail)
        if (const std::string detail = action.detail(work); !detail.empty())
            name += " " + detail + "###" + action.name;
    const bool enabled = !action.enabled || action.enabled(work);
    const bool ticked = action.checked && action.checked(work);
    if (ImGui::MenuItem(name.c_str(), key_name(action.key).c_str(), ticked, enabled))
        action.run(work);
    tip(action.help);
}

void Actions::draw_object_menu(Topics& work) const {
    std::vector<const Action*> items;
    for (const Action& action : all_)
        if (action.in_object_menu != 0) items.push_back(&action);
    std::ranges::stable_sort(items, {}, &Action::in_object_menu);
    for (const Action* const action : items) draw_item(*action, work);
}

void Actions::button(const std::string& id, Topics& work) const {
    const Action& action = (*this)[id];
    const bool enabled = !action.enabled || action.enabled(work);
    const bool ticked = action.checked && action.checked(work);
    const std::string key = key_name(action.key);
    std::string help = key.empty() ? action.name : fmt::format("{}  ({})", action.name, key);
    if (action.detail && enabled) help += "\n" + action.detail(work);
    help += "\n" + action.help;
    const bool other_icon = ticked && action.ticked_icon != nullptr;
    if (icon_button(id.c_str(), other_icon ? action.ticked_icon : action.icon, help, enabled,
                    ticked && !other_icon))
        action.run(work);
}

}  // namespace hindcast::gui
