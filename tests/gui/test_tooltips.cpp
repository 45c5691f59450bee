// Every control says what it does: the mouse rests on each one that is on the screen, and a tooltip
// must come.
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/requests.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using test::open;
using test::Robot;
using test::stop_at;

namespace {

bool tooltip_is_shown() {
    const ImGuiContext& g = *GImGui;
    return std::ranges::any_of(g.Windows, [](const ImGuiWindow* window) {
        return (window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active && !window->Hidden;
    });
}

// Of ImGui itself, known to all: bars to scroll and to divide, the frames of windows; of ImPlot,
// the parts of a plot, which have no names; and the picture.
bool needs_none(const ImGuiTestItemInfo& item) {
    const std::string label = item.DebugLabel;
    if (label.empty() || label == "picture") return true;
    for (const char* part : {"#SCROLL", "#RESIZE", "#COLLAPSE", "#CLOSE", "##Splitter"})
        if (label.find(part) != std::string::npos) return true;
    return false;
}

class Rounds {
public:
    Rounds(Robot& robot, ImGuiTestContext& hands) : robot_(robot), hands_(hands) {
        ImGui::GetStyle().HoverDelayShort = 0;
        ImGui::GetStyle().HoverDelayNormal = 0;
        ImGui::GetStyle().HoverStationaryDelay = 0;
    }

    // Of every window that is shown.
    std::vector<std::string> in_all() {
        std::vector<ImGuiID> shown;
        for (const ImGuiWindow* window : GImGui->Windows)
            if (window->WasActive && !window->Hidden) shown.push_back(window->ID);
        std::vector<std::string> without;
        for (const ImGuiID id : shown)
            for (std::string& name : in(id)) without.push_back(std::move(name));
        return without;
    }

    // Rests on every control of the window that was not seen yet; those without a tooltip. A menu
    // that opens shows what it has.
    std::vector<std::string> in(ImGuiTestRef window) {
        std::vector<std::string> without;
        ImGuiTestItemList items;
        hands_.GatherItems(&items, window);
        const int popups = GImGui->OpenPopupStack.Size;
        for (const ImGuiTestItemInfo& item : items) {
            if (needs_none(item) || item.RectClipped.GetWidth() < 4 ||
                item.RectClipped.GetHeight() < 4 || seen_.contains(item.ID))
                continue;
            hands_.MouseTeleportToPos(item.RectClipped.GetCenter());
            if (GImGui->HoveredIdPreviousFrame != item.ID) continue;  // text, or behind another
            seen_.insert(item.ID);
            robot_.frames(1);
            if (!tooltip_is_shown() && GImGui->OpenPopupStack.Size == popups)
                without.push_back(std::string(item.Window->Name) + ": " + item.DebugLabel);
        }
        return without;
    }
    std::size_t seen() const { return seen_.size(); }

private:
    Robot& robot_;
    ImGuiTestContext& hands_;
    std::set<ImGuiID> seen_;
};

}  // namespace

TEST_CASE("gui tooltips: every control says what it does") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        stop_at(robot, 0);
        test::optimize(robot, hands);
        Rounds rounds(robot, hands);
        const auto look = [&](ImGuiTestRef window = {}) {
            for (const std::string& name : window.IsEmpty() ? rounds.in_all() : rounds.in(window))
                FAIL_CHECK(name);
        };
        look();
        for (const char* panel : {"Scene file", "Objective", "Gradient check", "Landscape",
                                  "Launches", "Memory", "Warnings", "Log", "Results"}) {
            robot.work().requests.focus_panel = panel;
            robot.frames(3);
            look((std::string("//###") + panel).c_str());
        }
        for (const char* drawable : {"/bodies/0", "/forces/0", "/objective/0"}) {
            robot.work().chosen.select({drawable, -1, ""});
            robot.frames(3);
            look("//###Inspector");
        }
        for (const char* menu : {"File", "Edit", "View", "Simulation", "Optimize", "Help"}) {
            hands.ItemClick((std::string("//##MainMenuBar/##MenuBar/") + menu).c_str());
            look("//$FOCUSED");
            hands.KeyPress(ImGuiKey_Escape);
        }
        bool gui::Requests::*const windows[] = {
            &gui::Requests::show_settings, &gui::Requests::show_open, &gui::Requests::show_save_as,
            &gui::Requests::show_export};
        const char* const names[] = {"//###settings", "//###files", "//###files", "//Export"};
        for (std::size_t k = 0; k < 4; ++k) {
            robot.work().requests.*windows[k] = true;
            robot.frames(4);
            look(names[k]);
            hands.KeyPress(ImGuiKey_Escape);
            robot.frames(2);
        }
        MESSAGE(rounds.seen() << " controls, " << ImGui::GetFrameCount() << " frames");
        CHECK(rounds.seen() > 200);
    });
}

TEST_CASE("gui tooltips: every slider of a robot says what it does") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "robots/cart_pole.json");
        stop_at(robot, 0);
        robot.work().requests.focus_panel = "Sliders";
        robot.frames(4);
        Rounds rounds(robot, hands);
        for (const std::string& name : rounds.in("//###Sliders")) FAIL_CHECK(name);
        CHECK(rounds.seen() >= 2);
    });
}
