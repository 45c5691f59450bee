// The command palette: every command by a few letters of its name, and every object of the scene.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/window/shell.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/topics.hpp"
#include "app/session/making/templates.hpp"

namespace hindcast::gui {

namespace {

struct Entry {
    std::string text, key, help;
    const char* icon = nullptr;
    bool enabled = true;
    int score = 0;
    std::function<void()> run;
};

// The score of the letters of `search` in order in `text`: beginnings of words and neighbors
// count more. Below 0: not found.
int score_of(const std::string& text, const std::string& search) {
    const auto lower = [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    };
    std::size_t at = 0;
    int score = 0;
    bool joined = false;
    for (const char wanted : search) {
        if (wanted == ' ') {
            joined = false;
            continue;
        }
        bool found = false;
        for (; at < text.size() && !found; ++at) {
            if (lower(text[at]) != lower(wanted)) {
                joined = false;
                continue;
            }
            const bool begins = at == 0 || text[at - 1] == ' ';
            score += 1 + (begins ? 6 : 0) + (joined ? 4 : 0);
            joined = found = true;
        }
        if (!found) return -1;
    }
    return score * 8 - static_cast<int>(text.size());
}

std::vector<Entry> entries_for(Context& context, const std::string& search) {
    std::vector<Entry> entries;
    Topics& work = context.work;
    const auto add = [&](Entry entry) {
        entry.score = search.empty() ? 0 : score_of(entry.text, search);
        if (entry.score >= 0 || search.empty()) entries.push_back(std::move(entry));
    };
    for (const Action& action : context.actions.all()) {
        if (action.menu.empty()) continue;
        add({action.name, Actions::key_name(action.key), action.help, action.icon,
             !action.enabled || action.enabled(work), 0, [&action, &work] { action.run(work); }});
    }
    if (work.scene.is_open()) {
        std::set<std::string> offered;  // types that have an offer
        for (const model::Offer& offer :
             session::offers(work.scene.registry(), work.scene.dimension())) {
            offered.insert(offer.type);
            add({"Add " + offer.label, "", offer.help, icon::add, true, 0,
                 [id = offer.id, &work] { work.requests.show_offer = id; }});
        }
        for (const model::ModuleType& type : work.scene.registry().all()) {
            if (offered.contains(type.type)) continue;
            add({"Add " + type.title, model::name_of(type.section), type.documentation, icon::add,
                 true, 0, [section = type.section, name = type.type, &work] {
                     work.adding.add(section, name);
                 }});
        }
    }
    for (const session::SceneTemplate& one : session::scene_templates(work.scene.registry()))
        add({"New: " + one.label, "", one.help, icon::file, true, 0,
             [id = one.id, &work] { work.opening.make_from(id); }});
    for (const model::Section section : model::all_sections) {
        const document::Node* list =
            work.scene.document().find(std::string("/") + model::name_of(section));
        for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
            const std::string pointer = fmt::format("/{}/{}", model::name_of(section), k);
            add({"Go to " + work.scene.name_at(pointer), model::name_of(section),
                 "Selects this object", icon::cube, true, 0, [pointer, &work] {
                     work.chosen.select({pointer, -1, ""});
                 }});
        }
    }
    std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
        return std::pair(a.enabled, a.score) > std::pair(b.enabled, b.score);
    });
    return entries;
}

}  // namespace

void draw_palette(Context& context) {
    constexpr const char* id = "##palette";
    static std::string search;
    static int chosen = 0;
    Topics& work = context.work;
    if (work.requests.show_palette) {
        work.requests.show_palette = false;
        search.clear();
        chosen = 0;
        ImGui::OpenPopup(id);
    }
    const ImGuiViewport* screen = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos({screen->GetCenter().x, screen->WorkPos.y + px(40)}, ImGuiCond_Always,
                            {0.5F, 0});
    ImGui::SetNextWindowSize({std::min(px(520), screen->WorkSize.x - px(40)), 0});
    if (!ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) return;
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (ImGui::InputTextWithHint("##search", "What do you want to do?", &search)) chosen = 0;
    const std::vector<Entry> entries = entries_for(context, search);
    const int count = static_cast<int>(entries.size());
    if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) chosen = std::min(chosen + 1, count - 1);
    if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) chosen = std::max(chosen - 1, 0);
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
    int run = -1;
    if (ImGui::IsKeyPressed(ImGuiKey_Enter, false) && chosen < count) run = chosen;
    const float row = ImGui::GetFrameHeight();
    if (ImGui::BeginChild("##list", {0, row * static_cast<float>(std::clamp(count, 1, 11))})) {
        for (int k = 0; k < count; ++k) {
            const Entry& entry = entries[static_cast<std::size_t>(k)];
            ImGui::PushID(k);
            ImGui::BeginDisabled(!entry.enabled);
            const ImVec2 at = ImGui::GetCursorPos();
            const float text_y = at.y + (row - ImGui::GetTextLineHeight()) / 2;
            // One row is marked: the mouse chooses as the arrow keys do.
            ImGui::PushStyleColor(ImGuiCol_HeaderHovered,
                                  k == chosen ? ImGui::GetColorU32(ImGuiCol_Header) : 0);
            if (ImGui::Selectable(fmt::format("###{}", entry.text).c_str(), k == chosen,
                                  ImGuiSelectableFlags_NoAutoClosePopups, {0, row}))
                run = k;
            ImGui::PopStyleColor();
            const ImVec2 moved = ImGui::GetIO().MouseDelta;
            if (ImGui::IsItemHovered() && (moved.x != 0 || moved.y != 0)) chosen = k;
            tip(entry.help);
            if (k == chosen &&
                (ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow)))
                ImGui::SetScrollHereY();
            const float width = ImGui::CalcTextSize(entry.key.c_str()).x;
            ImGui::SameLine();
            const float right = right_edge();
            if (entry.icon != nullptr) {
                ImGui::SetCursorPos({at.x + px(4), text_y});
                ImGui::TextUnformatted(entry.icon);
            }
            ImGui::SetCursorPos({at.x + px(28), text_y});
            ImGui::TextUnformatted(entry.text.c_str());
            ImGui::SetCursorPos({right - width - px(6), text_y});
            quiet_text(entry.key);
            ImGui::SetCursorPos({at.x, at.y + row});
            ImGui::EndDisabled();
            ImGui::PopID();
        }
        if (count == 0) quiet_text("No command has these letters");
        ImGui::Dummy({0, 0});
    }
    ImGui::EndChild();
    if (run >= 0 && entries[static_cast<std::size_t>(run)].enabled) {
        ImGui::CloseCurrentPopup();
        entries[static_cast<std::size_t>(run)].run();
    }
    ImGui::EndPopup();
}

}  // namespace hindcast::gui
