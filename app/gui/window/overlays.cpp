// Things that open in front of the panels: questions, messages, the page of keys, settings.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cctype>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/input/gestures.hpp"
#include "app/gui/window/shell.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

namespace {

// The answer that a key has taken, or null. Tab and arrows move what Enter takes.
const Question::Answer* answer_by_keys(Question& question, const Actions& actions) {
    const std::vector<Question::Answer>& answers = question.answers;
    // The key that has brought the question is not its answer.
    if (answers.empty() || ImGui::IsWindowAppearing()) return nullptr;
    const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key, false); };
    if (pressed(ImGuiKey_Escape)) return &answers.back();
    const std::size_t count = answers.size();
    question.chosen = std::min(question.chosen, count - 1);
    const bool back = ImGui::GetIO().KeyShift && pressed(ImGuiKey_Tab);
    if (back || pressed(ImGuiKey_LeftArrow) || pressed(ImGuiKey_UpArrow))
        question.chosen = (question.chosen + count - 1) % count;
    else if (pressed(ImGuiKey_Tab) || pressed(ImGuiKey_RightArrow) || pressed(ImGuiKey_DownArrow))
        question.chosen = (question.chosen + 1) % count;
    if (pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter) || pressed(ImGuiKey_Space))
        return &answers[question.chosen];
    if (ImGui::GetIO().KeyCtrl || ImGui::GetIO().KeyAlt) return nullptr;
    const auto letter = [](const Question::Answer& answer) {
        return answer.label.empty()
                   ? ' '
                   : static_cast<char>(std::toupper(static_cast<unsigned char>(answer.label[0])));
    };
    for (const Question::Answer& answer : answers) {
        if (letter(answer) < 'A' || letter(answer) > 'Z' ||
            std::ranges::count(answers, letter(answer), letter) != 1)
            continue;
        // Somebody who presses the key of a command does not mean the question that just came.
        const auto key = static_cast<ImGuiKey>(ImGuiKey_A + (letter(answer) - 'A'));
        if (pressed(key) && std::ranges::count(actions.all(), key, &Action::key) == 0)
            return &answer;
    }
    return nullptr;
}

}  // namespace

void draw_question(Context& context) {
    Topics& work = context.work;
    constexpr const char* id = "###question";
    const auto asked = work.messages.question();  // a copy: an answer may bring the next one
    if (asked && !ImGui::IsPopupOpen(id)) ImGui::OpenPopup(id);
    const std::string title = asked ? asked->title + id : id;
    const auto button_width = [](const Question::Answer& answer) {
        return std::max(px(88), ImGui::CalcTextSize(answer.label.c_str()).x + px(20));
    };
    float width = 0;
    if (asked)
        for (const Question::Answer& answer : asked->answers) width += button_width(answer) + px(8);
    if (!begin_modal(title.c_str(), std::max(px(460), width + px(2 * 18)))) return;
    if (!asked) {
        ImGui::CloseCurrentPopup();
        ImGui::EndPopup();
        return;
    }
    const Question& question = *asked;
    if (!question.text.empty())
        wrapped_text(question.text, ImGui::GetStyle().Colors[ImGuiCol_Text]);
    if (!question.detail.empty()) {
        ImGui::Spacing();
        wrapped_text(question.detail, style().palette().quiet);
    }
    ImGui::Dummy({0, px(6)});
    std::optional<Question>& shown = work.messages.question();
    const Question::Answer* chosen = shown ? answer_by_keys(*shown, context.actions) : nullptr;
    if (chosen != nullptr && shown)  // in the copy
        chosen = &question.answers[static_cast<std::size_t>(chosen - shown->answers.data())];
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                         std::max(ImGui::GetContentRegionAvail().x - width + px(8), 0.0F));
    for (std::size_t k = 0; k < question.answers.size(); ++k) {
        const Question::Answer& answer = question.answers[k];
        if (k > 0) ImGui::SameLine(0, px(8));
        if (text_button(nullptr, answer.label, answer.tooltip, true, shown && k == shown->chosen,
                        button_width(answer)))
            chosen = &answer;
        if (!shown || k != shown->chosen) continue;
        // The one that Enter takes.
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const float out = px(2);
        ImGui::GetWindowDrawList()->AddRect(
            {low.x - out, low.y - out}, {high.x + out, high.y + out},
            ImGui::GetColorU32(ImGuiCol_Text), ImGui::GetStyle().FrameRounding + out, px(1));
    }
    if (chosen != nullptr) {
        work.messages.question().reset();
        ImGui::CloseCurrentPopup();
        if (chosen->action) chosen->action();  // may ask the next question
    }
    ImGui::EndPopup();
}

namespace {

// Messages are in front of the panels, behind menus, questions and dialogs: popups, and windows
// with a title that are never docked. Null: there is none of these.
ImGuiWindow* lowest_above_notices() {
    for (ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows) {
        const ImGuiWindowFlags flags = window->Flags;
        const bool dialog =
            (flags & ImGuiWindowFlags_NoDocking) != 0 && (flags & ImGuiWindowFlags_NoTitleBar) == 0;
        if (window->Active && window->RootWindow == window &&
            (dialog || (flags & ImGuiWindowFlags_Popup) != 0))
            return window;
    }
    return nullptr;
}

}  // namespace

void draw_notices(Messages& messages) {
    const ImGuiViewport* screen = ImGui::GetMainViewport();
    float bottom = screen->WorkPos.y + screen->WorkSize.y - px(12);
    const Notice* closed = nullptr;
    std::function<void()> action;
    int number = 0;
    for (auto notice = messages.notices().rbegin(); notice != messages.notices().rend(); ++notice) {
        const Palette& colors = style().palette();
        const bool error = notice->kind == Notice::Kind::error;
        const bool warning = notice->kind == Notice::Kind::warning;
        const ImVec4 color = error                                   ? colors.bad
                             : warning                               ? colors.warn
                             : notice->kind == Notice::Kind::success ? colors.good
                                                                     : colors.accent;
        ImGui::SetNextWindowPos({screen->WorkPos.x + screen->WorkSize.x - px(12), bottom},
                                ImGuiCond_Always, {1, 1});
        ImGui::SetNextWindowSizeConstraints({px(220), 0}, {px(400), px(220)});
        ImGui::SetNextWindowBgAlpha(0.97F);
        ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
        ImGui::PushStyleColor(ImGuiCol_Border, color);
        ImGui::Begin(fmt::format("##notice{}", number++).c_str(), nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                         ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoNav |
                         ImGuiWindowFlags_NoMove);
        ImGui::PopStyleColor(2);
        ImGuiWindow* const message = ImGui::GetCurrentWindow();
        ImGui::BringWindowToDisplayFront(message);
        if (ImGuiWindow* const above = lowest_above_notices())
            ImGui::BringWindowToDisplayBehind(message, above);
        ImGui::TextColored(color, "%s",
                           error                                   ? icon::error
                           : warning                               ? icon::warning
                           : notice->kind == Notice::Kind::success ? icon::check
                                                                   : icon::info);
        ImGui::SameLine();
        ImGui::PushTextWrapPos(px(360));
        ImGui::TextUnformatted(notice->text.c_str());
        if (!notice->detail.empty() && notice->detail != notice->text)
            wrapped_text(notice->detail, colors.quiet);
        ImGui::PopTextWrapPos();
        for (const auto& [label, act] : {std::pair(&notice->button, &notice->action),
                                         std::pair(&notice->other_button, &notice->other_action)}) {
            if (label->empty()) continue;
            if (ImGui::Button(label->c_str())) {
                closed = &*notice;
                action = *act;
            }
            ImGui::SameLine();
        }
        if ((notice->until == 0 || error || warning) && ImGui::Button("Close")) closed = &*notice;
        // Under the mouse it stays, and no frame is drawn for it.
        constexpr double held = 1e9;
        if (notice->until > 0 && ImGui::IsWindowHovered()) {
            notice->until = held;
        } else if (notice->until > 0) {
            if (notice->until == held) notice->until = frame_wishes().now() + 1;
            frame_wishes().want(FrameReason::timer, notice->until - frame_wishes().now());
        }
        bottom -= ImGui::GetWindowHeight() + px(8);
        ImGui::End();
    }
    if (closed != nullptr)
        std::erase_if(messages.notices(), [&](const Notice& n) { return &n == closed; });
    if (action) action();
}

void draw_help(Context& context) {
    if (!context.work.requests.show_help) return;
    const ImGuiViewport* screen = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(screen->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(px(760), screen->WorkSize.x - px(40)),
                              std::min(px(560), screen->WorkSize.y - px(40))},
                             ImGuiCond_Appearing);
    if (ImGui::Begin("Keys and commands", &context.work.requests.show_help,
                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoCollapse |
                         ImGuiWindowFlags_NoSavedSettings)) {
        static std::string search;
        search_field("##search", search, "Find a command or a key");
        ImGui::Spacing();
        if (ImGui::BeginTable("keys", 3, ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg)) {
            ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, px(150));
            ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, px(170));
            ImGui::TableSetupColumn("help");
            const auto title = [](const char* text) {
                ImGui::TableNextRow();
                ImGui::TableNextColumn();
                heading(text);
            };
            title("Mouse");
            for (const GestureRow& row : gestures()) {
                if (!matches(row.name() + " " + row.help, search)) continue;
                ImGui::TableNextRow();
                ImGui::TableNextColumn();
                ImGui::TextColored(style().palette().accent, "%s", row.name().c_str());
                ImGui::TableNextColumn();
                ImGui::TableNextColumn();
                wrapped_text(row.help, style().palette().quiet);
            }
            for (const char* menu : menus) {
                bool titled = false;
                for (const Action& action : context.actions.all()) {
                    const std::string key = Actions::key_names(action);
                    if (!action.is_in(menu) ||
                        !matches(action.name + " " + key + " " + action.help, search))
                        continue;
                    if (!titled) title(menu);
                    titled = true;
                    ImGui::TableNextRow();
                    ImGui::TableNextColumn();
                    ImGui::TextColored(style().palette().accent, "%s", key.c_str());
                    ImGui::TableNextColumn();
                    ImGui::TextUnformatted(action.name.c_str());
                    ImGui::TableNextColumn();
                    wrapped_text(action.help, style().palette().quiet);
                }
            }
            ImGui::EndTable();
        }
    }
    if (ImGui::IsWindowFocused() && ImGui::IsKeyPressed(ImGuiKey_Escape, false))
        context.work.requests.show_help = false;
    ImGui::End();
}

void draw_settings(Topics& work) {
    constexpr const char* id = "Settings###settings";
    if (work.requests.show_settings && !ImGui::IsPopupOpen(id)) ImGui::OpenPopup(id);
    work.requests.show_settings = false;
    if (!begin_modal(id, px(420))) return;
    Settings& settings = work.settings;
    bool changed = false;
    heading("Appearance");
    int theme = settings.dark ? 0 : 1;
    changed |= ImGui::RadioButton("Dark", &theme, 0);
    tip("Light on dark");
    ImGui::SameLine();
    changed |= ImGui::RadioButton("Light", &theme, 1);
    tip("Dark on light");
    settings.dark = theme == 0;
    auto scale = static_cast<float>(settings.font_scale * 100);
    ImGui::SetNextItemWidth(px(180));
    if (ImGui::SliderFloat("Size of text", &scale, 60, 200, "%.0f %%"))
        settings.font_scale = scale / 100;
    changed |= ImGui::IsItemDeactivatedAfterEdit();
    tip("Of text and everything around it, in percent");
    heading("Picture");
    bool smooth = settings.samples > 1;
    if (ImGui::Checkbox("Smooth edges", &smooth)) {
        settings.samples = smooth ? 4 : 1;
        changed = true;
    }
    tip("Four samples for each pixel; off is faster without a graphics card");
    changed |= ImGui::Checkbox("Shadows", &settings.shadows);
    tip("Shadows on the grid and on each other");
    changed |= ImGui::Checkbox("Ambient occlusion", &settings.ambient_occlusion);
    tip("Darkens corners and contacts");
    changed |= ImGui::Checkbox("Grid", &settings.floor);
    tip("A grid at the height of the lowest point at the start, in meters; things pass through it");
    heading("Files of the program");
    quiet_text("Layout, settings, recent files and autosaves are in");
    ImGui::TextUnformatted(work.scene.state_folder().c_str());
    if (changed) work.settings.save();
    ImGui::Dummy({0, px(6)});
    if (text_button(nullptr, "Done", "Closes this", true, true, px(88)) ||
        ImGui::IsKeyPressed(ImGuiKey_Escape, false))
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

}  // namespace hindcast::gui
