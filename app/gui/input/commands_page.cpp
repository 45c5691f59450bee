#include "app/gui/input/commands_page.hpp"

#include <fmt/format.h>

#include "app/gui/input/actions.hpp"
#include "app/gui/input/gestures.hpp"

namespace hindcast::gui {

namespace {

// ImGui names keys only within a context.
class NamesOfKeys {
public:
    NamesOfKeys() : before_(ImGui::GetCurrentContext()), own_(ImGui::CreateContext()) {
        ImGui::SetCurrentContext(own_);
    }
    ~NamesOfKeys() {
        ImGui::DestroyContext(own_);
        ImGui::SetCurrentContext(before_);
    }
    NamesOfKeys(const NamesOfKeys&) = delete;
    NamesOfKeys& operator=(const NamesOfKeys&) = delete;

private:
    ImGuiContext *before_, *own_;
};

std::string rows_of(const char* menu, const std::vector<Action>& actions) {
    std::string rows;
    for (const Action& action : actions) {
        if (!action.is_in(menu)) continue;
        const std::size_t group = action.menu.find('/');
        const std::string within =
            group == std::string::npos ? "" : action.menu.substr(group + 1) + ": ";
        rows += fmt::format("| {}{} | {} | {} |\n", within, action.name, Actions::key_names(action),
                            action.help);
    }
    return rows;
}

}  // namespace

std::string commands_page() {
    const NamesOfKeys names;
    const std::vector<Action> actions = all_actions();
    std::string page =
        "# Commands of the window\n\n"
        "The same list, with a search, is in the window: F1. Ctrl+K runs each of them by a few "
        "letters of its name.\n"
        "This page is written by a command, from the window's tables:\n\n"
        "<!-- run: no; it writes this page -->\n"
        "```sh\nhindcast view --commands > app/manual/commands.md\n```\n\n"
        "## Mouse\n\n| gesture | effect |\n|---|---|\n";
    for (const GestureRow& row : gestures())
        page += fmt::format("| {} | {} |\n", row.name(), row.help);
    for (const char* const menu : menus)
        page += fmt::format("\n## {}\n\n| command | key | effect |\n|---|---|---|\n{}", menu,
                            rows_of(menu, actions));
    return page;
}

}  // namespace hindcast::gui
