#include "app/gui/window/shell.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/input/actions.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/values/found_values.hpp"

namespace hindcast::gui {

Shell::Shell() {
    for (auto make :
         {make_viewport, make_scene_file, make_scene_tree, make_optimizer, make_objective,
          make_inspector, make_sliders, make_plots, make_results, make_gradient_check,
          make_landscape, make_identification, make_launches, make_memory, make_warnings, make_log})
        panels_.push_back(make());
}

Shell::~Shell() = default;

void Shell::draw(Context& context) {
    Topics& work = context.work;
    close_by_escape();
    draw_menu_bar(context);
    draw_toolbar(context);
    draw_status_bar(context);
    if (work.scene.is_open() && !work.requests.show_gallery) draw_timeline(context);
    draw_dock_space(context);
    for (auto& panel : panels_) panel->update(context);
    draw_panels(context);
    dialog_.draw(work);
    making_.draw(work);
    draw_settings(work);
    draw_help(context);
    exporter_.draw(context);
    draw_palette(context);
    draw_tour(context);
    draw_question(context);
    draw_notices(work.messages);
    first_ = false;
}

bool Shell::is_busy() const {
    return std::ranges::any_of(panels_, [](const auto& panel) { return panel->is_busy(); });
}

// Escape closes the menus that are open, all levels of them. Text that is being typed takes the
// key first; questions and dialogs answer it themselves.
void Shell::close_by_escape() {
    if (!ImGui::IsKeyPressed(ImGuiKey_Escape, false) || ImGui::GetIO().WantTextInput) return;
    const ImVector<ImGuiPopupData>& open = ImGui::GetCurrentContext()->OpenPopupStack;
    int level = open.Size;
    const auto is_menu = [](const ImGuiWindow* popup) {
        return popup == nullptr || (popup->Flags & ImGuiWindowFlags_Modal) == 0;
    };
    while (level > 0 && is_menu(open[level - 1].Window)) --level;
    if (level < open.Size) ImGui::ClosePopupToLevel(level, true);
}

void Shell::draw_recent_menu(Topics& work) {
    const std::vector<std::filesystem::path> recent = work.scene.editor().recent();
    if (!ImGui::BeginMenu("Open recent", !recent.empty())) return;
    constexpr std::size_t most = 12;
    for (std::size_t k = 0; k < recent.size() && k < most; ++k) {
        const std::string label = recent[k].filename().string() + "##" + std::to_string(k);
        if (ImGui::MenuItem(label.c_str())) work.opening.open(recent[k]);
        tip(recent[k].string());
    }
    ImGui::EndMenu();
}

void Shell::draw_menu_bar(Context& context) {
    Topics& work = context.work;
    if (!ImGui::BeginMainMenuBar()) return;
    ImGui::PushFont(style().fonts().bold, 0);
    ImGui::TextColored(style().palette().accent, "Hindcast");
    ImGui::PopFont();
    for (const char* menu : menus) {
        if (!ImGui::BeginMenu(menu)) continue;
        if (std::string(menu) == "View" && ImGui::BeginMenu("Panels")) {
            for (auto& panel : panels_) {
                ImGui::MenuItem(panel->title().c_str(), nullptr, panel->open());
                tip(panel->help());
            }
            ImGui::EndMenu();
        }
        context.actions.draw_menu(menu, work, [&](const std::string& id) {
            if (id == "open") draw_recent_menu(work);
            if (id == "new" && ImGui::BeginMenu("New from")) {
                template_items(work.scene, work.opening);
                ImGui::EndMenu();
            }
        });
        ImGui::EndMenu();
    }
    // The open file, in the middle; a dot says that it is not saved.
    if (work.scene.is_open()) {
        const std::filesystem::path& file = work.scene.editor().file();
        const bool unsaved = work.scene.editor().unsaved(),
                   optimized = work.values.has_unaccepted();
        const bool found = optimized || work.values.has_unaccepted_identification();
        // In the middle where there is room, else cut, with what follows it on the screen.
        const auto wide = [](const std::string& t) { return ImGui::CalcTextSize(t.c_str()).x; };
        const float marks =
            (unsaved ? wide("unsaved") + px(6) : 0) + (found ? wide("not accepted") + px(6) : 0);
        const float all = ImGui::GetWindowWidth() - ImGui::GetCursorPosX() - px(16);
        const bool brief = all < marks + px(60);  // marks without words
        const float room = all - (brief ? px(30) : marks);
        const std::string text = room > px(40) ? cut_to(work.scene.heading(), room) : "";
        const float at = (ImGui::GetWindowWidth() - wide(text)) / 2;
        if (at > ImGui::GetCursorPosX() + px(20)) ImGui::SetCursorPosX(at);
        ImGui::TextUnformatted(text.c_str());
        tip(work.scene.heading() + "\n" +
            (file.empty() ? "This scene has no file yet; Ctrl+S asks for one"
             : work.scene.is_example()
                 ? file.string() + "\nAn example: it stays as it is, Ctrl+S asks for another file"
                 : file.string()));
        if (unsaved) {
            ImGui::SameLine(0, px(6));
            ImGui::TextColored(style().palette().warn, "%s", brief ? "*" : "unsaved");
            tip("The scene was changed and its file was not written yet; Ctrl+S writes it");
        }
        if (found) {
            ImGui::SameLine(0, px(6));
            ImGui::TextColored(style().palette().warn, "%s", brief ? "?" : "not accepted");
            tip(optimized ? "The optimization has found values that are not in the scene; "
                            "Ctrl+Enter writes them into it, Ctrl+S then saves it"
                          : "The identification has found values that are not in the scene; Accept "
                            "in its panel writes them into it, Ctrl+S then saves it");
        }
    }
    ImGui::EndMainMenuBar();
}

namespace {

void gap() {
    ImGui::SameLine(0, px(10));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight();
    ImGui::GetWindowDrawList()->AddLine({at.x, at.y + px(3)}, {at.x, at.y + height - px(3)},
                                        ImGui::GetColorU32(ImGuiCol_Separator));
    ImGui::Dummy({px(1), height});
    ImGui::SameLine(0, px(10));
}

constexpr ImGuiWindowFlags bar_flags =
    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking;

}  // namespace

void Shell::draw_toolbar(Context& context) {
    Topics& work = context.work;
    Actions& actions = context.actions;
    const float height = ImGui::GetFrameHeight() + 2 * px(6);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(8), px(6)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    const bool open = ImGui::BeginViewportSideBar("##toolbar", ImGui::GetMainViewport(),
                                                  ImGuiDir_Up, height, bar_flags);
    ImGui::PopStyleVar(3);
    if (open) {
        const auto row = [&](std::initializer_list<const char*> ids) {
            bool first = true;
            for (const char* id : ids) {
                if (!first) ImGui::SameLine(0, px(2));
                first = false;
                actions.button(id, work);
            }
        };
        // If there is no room for all, the buttons that are used most by their keys go first.
        const float side = ImGui::GetFrameHeight() + px(4), space = px(21);
        const Action& optimize = actions["optimize"];
        const bool can = optimize.enabled(work), runs = work.running.is_optimizing();
        const char* const words = runs ? "Pause optimizing" : "Optimize";
        const char* const symbol = runs ? icon::pause : icon::bolt;
        float room = ImGui::GetContentRegionAvail().x - 2 * side - px(20) -
                     ImGui::CalcTextSize(fmt::format("{} {}", symbol, words).c_str()).x -
                     2 * ImGui::GetStyle().FramePadding.x;
        const auto has_room = [&](int buttons) {
            const float needed = static_cast<float>(buttons) * (side + px(2)) + space;
            if (needed > room) return false;
            room -= needed;
            return true;
        };
        const bool files = has_room(3), tools = has_room(8), run = has_room(4), undo = has_room(2);
        if (files) {
            row({"gallery", "open", "save"});
            gap();
        }
        if (undo) {
            row({"undo", "redo"});
            gap();
        }
        if (tools) {
            row({"look_tool", "move_tool", "rotate_tool", "box_tool", "lasso_tool", "measure_tool",
                 "slice", "frame"});
            gap();
        }
        // The one thing that the program is for has words.
        if (text_button(symbol, words,
                        fmt::format("{} ({})\n{}", optimize.name, Actions::key_name(optimize.key),
                                    optimize.help),
                        can, can && !runs))
            optimize.run(work);
        if (run) {
            ImGui::SameLine(0, px(2));
            row({"iterate", "stop", "accept", "revert"});
        }
        // The activity in words, and its progress.
        const session::Snapshot& now = work.running.now();
        if (!now.reports.activity_text.empty() && room > px(170) &&
            now.reports.activity != session::Activity::idle &&
            now.reports.activity != session::Activity::empty) {
            gap();
            if (now.reports.progress >= 0) {
                ImGui::ProgressBar(static_cast<float>(now.reports.progress), {px(110), 0}, "");
                tip(fmt::format("{:.0f} % done", now.reports.progress * 100));
                ImGui::SameLine();
            }
            ImGui::AlignTextToFramePadding();
            cut_text(now.reports.activity_text,
                     ImGui::GetContentRegionAvail().x - 2 * side - px(14));
        }
        ImGui::SameLine(ImGui::GetWindowWidth() - 2 * side - px(10));
        row({"palette", "help"});
    }
    ImGui::End();
}

// The scene's text goes to the right half of the view's place, or behind the view. False: again at
// the next frame.
bool Shell::place_text(Requests& requests, bool beside) const {
    const auto window = [&](const char* title) {
        const auto panel =
            std::ranges::find_if(panels_, [&](const auto& p) { return p->title() == title; });
        *(*panel)->open() = true;
        return ImGui::FindWindowByName((*panel)->label().c_str());
    };
    ImGuiWindow *view = window("View"), *text = window("Scene file");
    if (view == nullptr || view->DockNode == nullptr || text == nullptr || !text->WasActive)
        return false;
    ImGuiContext* const context = ImGui::GetCurrentContext();
    if (!beside && text->DockNode == view->DockNode) return true;
    if (text->DockNode != nullptr) {  // that takes a frame, in which places may join
        ImGui::DockContextQueueUndockWindow(context, text);
        return false;
    }
    ImGui::DockContextQueueDock(context, view->DockNode->HostWindow, view->DockNode, text,
                                beside ? ImGuiDir_Right : ImGuiDir_None, 0.46F, false);
    if (!beside) requests.focus_panel = "View";
    return true;
}

namespace {

// The places beside and below the view that the window has room for. Sizes are those at 100 %.
struct Room {
    bool right = false, left = false, below = false;
    int number() const { return (right ? 4 : 0) + (left ? 2 : 0) + (below ? 1 : 0); }
};

Room room_of(const ImVec2& size) {
    constexpr float three_columns = 1000, two_columns = 560, two_rows = 330;
    return {size.x >= px(three_columns), size.x >= px(two_columns), size.y >= px(two_rows)};
}

}  // namespace

// Panels of a small window are tabs in fewer places, so that the view stays large: those at the
// right come to the lower left, then all of them below the view or behind it.
void Shell::default_layout(unsigned dock, bool text_beside) const {
    const ImVec2 size = ImGui::GetMainViewport()->WorkSize;
    const Room room = room_of(size);
    ImGui::DockBuilderRemoveNode(dock);
    ImGui::DockBuilderAddNode(dock, ImGuiDockNodeFlags_DockSpace);
    ImGui::DockBuilderSetNodeSize(dock, size);
    const float left_share = std::clamp(px(262) / size.x, 0.1F, 0.42F);
    const float right_share = std::clamp(px(326) / (size.x - px(262)), 0.1F, 0.42F);
    ImGuiID center = dock, left = 0, right = 0, left_bottom = 0, bottom = 0;
    if (room.left) ImGui::DockBuilderSplitNode(center, ImGuiDir_Left, left_share, &left, &center);
    if (room.right)
        ImGui::DockBuilderSplitNode(center, ImGuiDir_Right, right_share, &right, &center);
    if (room.below) ImGui::DockBuilderSplitNode(center, ImGuiDir_Down, 0.36F, &bottom, &center);
    if (room.left && room.below)
        ImGui::DockBuilderSplitNode(left, ImGuiDir_Down, room.right ? 0.46F : 0.55F, &left_bottom,
                                    &left);
    ImGuiID text = center;
    if (text_beside) ImGui::DockBuilderSplitNode(center, ImGuiDir_Right, 0.46F, &text, &center);
    if (bottom == 0) bottom = center;
    if (left == 0) left = bottom;
    if (left_bottom == 0) left_bottom = left;
    if (right == 0) right = left_bottom;
    // The first panel of each place is in front; panels are closed by their tabs alone.
    std::vector<ImGuiID> begun;
    for (const auto& panel : panels_) {
        const ImGuiID node = panel->place() == Place::left_top      ? left
                             : panel->place() == Place::left_bottom ? left_bottom
                             : panel->place() == Place::bottom      ? bottom
                             : panel->place() == Place::right       ? right
                             : panel->title() == "Scene file"       ? text
                                                                    : center;
        ImGui::DockBuilderDockWindow(panel->label().c_str(), node);
        if (std::ranges::find(begun, node) != begun.end()) continue;
        begun.push_back(node);
        ImGuiDockNode* place = ImGui::DockBuilderGetNode(node);
        place->SelectedTabId = ImHashStr("#TAB", 0, ImHashStr(panel->label().c_str()));
        place->SetLocalFlags(place->LocalFlags | ImGuiDockNodeFlags_NoCloseButton |
                             ImGuiDockNodeFlags_NoWindowMenuButton);
    }
    ImGui::DockBuilderFinish(dock);
}

bool Shell::is_short(const Panel& panel) const {
    const ImGuiWindow* const own = ImGui::FindWindowByName(panel.label().c_str());
    if (own == nullptr || own->DockNode == nullptr || own->DockNode->TabBar == nullptr)
        return false;
    const ImGuiDockNode& node = *own->DockNode;
    // As ImGui lays tabs out; those with words have a button that closes them.
    const ImGuiStyle& look = ImGui::GetStyle();
    const auto wide = [&](const std::string& label) {
        return ImGui::CalcTextSize(label.c_str(), nullptr, true).x + 2 * look.FramePadding.x +
               look.ItemInnerSpacing.x + 1;
    };
    const float close = look.ItemInnerSpacing.x + ImGui::GetFontSize();
    struct Tab {
        const Panel* panel;
        int order;
    };
    std::vector<Tab> tabs;
    float sum = 2 * look.FramePadding.x;
    for (const auto& other : panels_) {
        const ImGuiWindow* const window = ImGui::FindWindowByName(other->label().c_str());
        if (window == nullptr || window->DockNode != &node || !window->WasActive) continue;
        tabs.push_back({other.get(), window->DockOrder});
        sum += wide(other->label()) + close;
    }
    std::ranges::stable_sort(tabs, {}, &Tab::order);
    for (auto tab = tabs.rbegin(); tab != tabs.rend() && sum > node.Size.x; ++tab) {
        const ImGuiID id = ImHashStr("#TAB", 0, ImHashStr(tab->panel->label().c_str()));
        if (node.TabBar->VisibleTabId == id) continue;
        sum -= wide(tab->panel->label()) + close - wide(tab->panel->short_label());
        if (tab->panel == &panel) return true;
    }
    return false;
}

// A file that does not load, where no scene has the window: its text instead of the gallery.
void Shell::draw_text_alone(Context& context) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(28), px(18)});
    ImGui::BeginChild("text alone", {0, 0}, ImGuiChildFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    const std::optional<std::filesystem::path>& file = context.work.text.mended;
    heading(((file ? file->filename().string() : "The file") + " does not load").c_str());
    quiet_text("Put it right here: Apply writes the file and opens it.");
    ImGui::Spacing();
    for (auto& panel : panels_)
        if (panel->title() == "Scene file") panel->draw(context);
    ImGui::EndChild();
}

void Shell::draw_dock_space(Context& context) {
    Topics& work = context.work;
    const ImGuiViewport* viewport = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(viewport->WorkPos);
    ImGui::SetNextWindowSize(viewport->WorkSize);
    ImGui::SetNextWindowViewport(viewport->ID);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    ImGui::Begin("##dock", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoNavFocus | ImGuiWindowFlags_NoDocking |
                     ImGuiWindowFlags_NoSavedSettings);
    ImGui::PopStyleVar(3);
    const ImGuiID dock = ImGui::GetID("dock");
    const bool gallery = !work.scene.is_open() || work.requests.show_gallery;
    if (gallery && work.text.mends_another(work.scene.editor().file())) {
        ImGui::DockSpace(dock, {0, 0}, ImGuiDockNodeFlags_KeepAliveOnly);
        draw_text_alone(context);
    } else if (gallery || work.requests.hide_panels) {
        // The layout stays as it is while something else is shown.
        ImGui::DockSpace(dock, {0, 0}, ImGuiDockNodeFlags_KeepAliveOnly);
        if (gallery)
            gallery_.draw(work);
        else
            for (auto& panel : panels_)
                if (panel->title() == "View") panel->draw(context);
    } else {
        const ImGuiDockNode* node = ImGui::DockBuilderGetNode(dock);
        // A window of another size has another layout; one that was arranged by hand stays while the
        // size is of the same kind.
        const Room room = room_of(viewport->WorkSize);
        const int size = room.number();
        const bool lost = node == nullptr || (room.left && !node->IsSplitNode());
        if (work.requests.reset_layout || lost || work.settings.layout != size) {
            work.requests.reset_layout = false;
            if (work.settings.layout != size) {
                work.settings.layout = size;
                work.settings.save();
            }
            for (auto& panel : panels_) *panel->open() = true;
            default_layout(dock, work.settings.text_beside);
            work.requests.text_beside_changed = false;
        }
        if (work.requests.text_beside_changed)
            work.requests.text_beside_changed =
                !place_text(work.requests, work.settings.text_beside);
        if (work.requests.text_beside_changed) frame_wishes().want(FrameReason::settling);
        ImGui::DockSpace(dock, {0, 0}, ImGuiDockNodeFlags_NoWindowMenuButton);
    }
    ImGui::End();
}

void Shell::draw_panels(Context& context) {
    constexpr ImGuiWindowFlags panel_flags =
        ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoFocusOnAppearing;
    Topics& work = context.work;
    if (!work.scene.is_open()) return;
    const bool kept = work.requests.show_gallery || work.requests.hide_panels;
    const std::string focus = kept ? "" : std::exchange(work.requests.focus_panel, "");
    for (auto& panel : panels_) {
        const bool viewport = panel->title() == "View";
        // A tab that is not begun would go, and another one come to the front.
        if (kept) {
            const ImGuiWindow* const window = ImGui::FindWindowByName(panel->label().c_str());
            if (window == nullptr || window->DockNode == nullptr || !*panel->open()) continue;
            ImGui::Begin(panel->label().c_str(), nullptr, panel_flags);
            ImGui::End();
            continue;
        }
        if (focus == panel->title()) *panel->open() = true;
        if (!*panel->open()) continue;
        if (!panel->padded()) ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
        ImGui::SetNextWindowSize({px(420), px(320)}, ImGuiCond_FirstUseEver);
        if (focus == panel->title()) ImGui::SetNextWindowFocus();
        const bool brief = is_short(*panel);
        const bool visible = ImGui::Begin((brief ? panel->short_label() : panel->label()).c_str(),
                                          viewport || brief ? nullptr : panel->open(), panel_flags);
        if (!panel->padded()) ImGui::PopStyleVar();
        // The tab says what the panel is for.
        if (const ImGuiWindow* window = ImGui::GetCurrentWindow();
            window->DockIsActive && window->DC.DockTabItemStatusFlags != 0) {
            if ((window->DC.DockTabItemStatusFlags & ImGuiItemStatusFlags_HoveredRect) != 0 &&
                ImGui::IsMouseHoveringRect(window->DC.DockTabItemRect.Min,
                                           window->DC.DockTabItemRect.Max, false) &&
                GImGui->HoverItemDelayTimer > 0.4F)
                ImGui::SetTooltip("%s\n%s", panel->title().c_str(), panel->help().c_str());
        }
        if (visible) panel->draw(context);
        ImGui::End();
    }
}

}  // namespace hindcast::gui
