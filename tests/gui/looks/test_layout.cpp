// Nothing is cut and nothing overlaps: every panel, at three sizes of the window, 100 and 200 %, in
// both themes. What is looked at are the rectangles of ImGui's items and tabs, and of the legend; texts
// that are no item are cut by gui/draw/widgets.hpp alone, which is tested here too.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/view/looks.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::Robot;

namespace {

constexpr const char* panels[] = {"View",      "Scene file",     "Scene",     "Optimizer",
                                  "Objective", "Inspector",      "Sliders",   "Plots",
                                  "Results",   "Gradient check", "Landscape", "Identification",
                                  "Launches",  "Memory",         "Warnings",  "Log"};

// Bars, frames and edges of ImGui's own, parts of plots, which have no names, and the picture, on
// which controls stand.
bool is_bare(const ImGuiTestItemInfo& item) {
    const std::string label = item.DebugLabel;
    return label.empty() || label == "picture" || (label[0] == '#' && label[1] != '#') ||
           label == "##Splitter";
}

std::string seen_of(const std::string& label) { return label.substr(0, label.find("##")); }

std::string told(const ImGuiTestItemInfo& item) {
    const ImRect& r = item.RectFull;
    return fmt::format("{}: {} ({:.0f}, {:.0f}, {:.0f}, {:.0f})", item.Window->Name,
                       item.DebugLabel, r.Min.x, r.Min.y, r.Max.x, r.Max.y);
}

bool may_scroll_sideways(const ImGuiWindow* window) {
    for (; window != nullptr; window = (window->Flags & ImGuiWindowFlags_ChildWindow) != 0
                                           ? window->ParentWindow
                                           : nullptr)
        if (window->ScrollMax.x > 0 && (window->Flags & ImGuiWindowFlags_HorizontalScrollbar) != 0)
            return true;
    return false;
}

class Look {
public:
    explicit Look(ImGuiTestContext& hands) : hands_(hands) {}

    // What is wrong on the screen, said once each.
    std::vector<std::string> at_all() {
        found_.clear();
        std::vector<ImGuiID> shown;
        for (const ImGuiWindow* window : GImGui->Windows)
            if (window->WasActive && !window->Hidden) shown.push_back(window->ID);
        for (const ImGuiID window : shown) {
            ImGuiTestItemList list;
            hands_.GatherItems(&list, window);
            std::vector<ImGuiTestItemInfo> items;
            for (const ImGuiTestItemInfo& item : list)
                if (item.Window != nullptr && item.Window->ID == window) items.push_back(item);
            each(items);
            pairs(items);
        }
        tabs();
        return found_;
    }

private:
    void each(const std::vector<ImGuiTestItemInfo>& items) {
        for (const ImGuiTestItemInfo& item : items) {
            if (is_bare(item) || item.RectClipped.GetHeight() < 2) continue;
            // Up and down things scroll, to the sides they do not.
            // A row that can be selected reaches half a space beyond its words.
            const float beyond = ImGui::GetStyle().ItemSpacing.x / 2 + 1;
            const bool cut = item.RectClipped.Min.x > item.RectFull.Min.x + beyond ||
                             item.RectClipped.Max.x < item.RectFull.Max.x - beyond;
            if (cut && !may_scroll_sideways(item.Window)) complain("cut at a side: " + told(item));
            const float wide = ImGui::CalcTextSize(seen_of(item.DebugLabel).c_str()).x;
            const bool of_bar = std::string(item.DebugLabel) == "color bar";
            if (!of_bar && wide > item.RectFull.GetWidth() + 1)
                complain("no room for its words: " + told(item));
        }
    }

    void pairs(const std::vector<ImGuiTestItemInfo>& items) {
        for (std::size_t a = 0; a < items.size(); ++a)
            for (std::size_t b = a + 1; b < items.size(); ++b) {
                if (stands_under(items[a]) || stands_under(items[b])) continue;
                ImRect both = items[a].RectClipped;
                both.ClipWith(items[b].RectClipped);
                if (both.GetWidth() > 2 && both.GetHeight() > 2)
                    complain("overlap: " + told(items[a]) + " and " + told(items[b]));
            }
    }

    // Rows that other controls stand on by intent.
    static bool stands_under(const ImGuiTestItemInfo& item) {
        // The "+" is at the end of a row of the tree.
        return is_bare(item) || std::string(item.DebugLabel).ends_with("##add") ||
               (item.ItemFlags & ImGuiItemFlags_AllowOverlap) != 0 ||
               item.RectClipped.GetWidth() < 2;
    }

    void tabs() {
        for (const ImGuiWindow* const window : GImGui->Windows) {
            if (!window->WasActive || window->DockNode == nullptr ||
                window->DockNode->TabBar == nullptr || !window->DockNode->IsVisible)
                continue;
            for (const ImGuiTabItem& tab : window->DockNode->TabBar->Tabs)
                if (tab.Window == window && tab.Width < tab.ContentWidth - 1 &&
                    seen_of(window->Name).find("  ") != std::string::npos)
                    complain(fmt::format("a tab is cut: {}", window->Name));
        }
    }

    void complain(const std::string& text) {
        if (std::ranges::find(found_, text) == found_.end()) found_.push_back(text);
    }

    ImGuiTestContext& hands_;
    std::vector<std::string> found_;
};

void check_view(ImGuiTestContext& hands, double scale) {
    const ImRect picture = hands.ItemInfo("//###View/picture").RectFull;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    // The view has most of the window, or what looks as large at 100 % in one of 700 x 400.
    CHECK(picture.GetWidth() >= std::min(0.45 * static_cast<double>(screen.x), 400 * scale));
    CHECK(picture.GetHeight() >= std::min(0.35 * static_cast<double>(screen.y), 180 * scale));
    const ImRect legend = hands.ItemInfo("//###View/color bar").RectFull;
    CHECK(picture.Contains(legend));
    CHECK(legend.GetArea() > 0);
    // With its title above and its numbers at the left.
    ImRect all = legend;
    all.Min.y -= ImGui::GetTextLineHeight();
    for (const char* control : {"##color", "##arrows", "##arrow scale", "log"}) {
        const ImGuiTestItemInfo item =
            hands.ItemInfo((std::string("//###View/") + control).c_str(), ImGuiTestOpFlags_NoError);
        if (item.ID != 0) CHECK_MESSAGE(!item.RectFull.Overlaps(all), control);
    }
}

}  // namespace

TEST_CASE("gui layout: nothing is cut and nothing overlaps, whatever the panel, size and theme") {
    for (const auto& [width, height] : {std::pair{900, 600}, {1280, 800}, {1920, 1080}}) {
        if (!test::full() && width != 900) continue;
        Robot robot({.width = width, .height = height});
        robot.run([&](ImGuiTestContext& hands) {
            gui::Settings& settings = robot.work().settings;
            settings.samples = 1;
            settings.shadows = settings.ambient_occlusion = false;
            robot.work().opening.open(robot.scenes() / "spring_cage.json");
            REQUIRE(test::opened(robot));
            test::stop_at(robot, 5);
            test::optimize(robot, hands);
            robot.work().looks.color_by("position gradient");
            robot.work().looks.arrows = "velocity";
            robot.work().looks.send_frame_contents();
            for (const double scale : {1.0, 2.0})
                for (const bool dark : {true, false}) {
                    // The smallest window; with --full each size with every scale and theme.
                    if (!test::full() && (scale != 1 || !dark)) continue;
                    settings.font_scale = scale;
                    settings.dark = dark;
                    robot.work().settings.save();
                    robot.frames(4);
                    for (const char* panel : panels) {
                        robot.work().requests.focus_panel = panel;
                        robot.frames(4);
                        const std::string name =
                            fmt::format("layout_{}x{}_{}_{}_{}", width, height, scale * 100,
                                        dark ? "dark" : "light", panel);
                        CAPTURE(name);
                        Look look(hands);
                        const std::vector<std::string> found = look.at_all();
                        for (const std::string& fault : found) FAIL_CHECK(fault);
                        if (std::string(panel) == "View") check_view(hands, scale);
                        // scenes/pictures/sheets shows all panels of one size.
                        const bool kept = width == 1280 && scale == 1;
                        if (!found.empty() || kept || std::string(panel) == "View")
                            robot.picture(name);
                    }
                }
        });
    }
}

TEST_CASE(
    "gui layout: a window that becomes small folds its panels, and one that grows unfolds them") {
    Robot robot({.width = 1280, .height = 800});
    robot.run([&](ImGuiTestContext&) {
        test::open(robot, "spring_cage.json");
        const auto place = [](const char* panel) {
            const ImGuiWindow* const window =
                ImGui::FindWindowByName((std::string("###") + panel).c_str());
            REQUIRE(window != nullptr);
            return window->DockId;
        };
        CHECK(place("Inspector") != place("Optimizer"));
        CHECK(place("Plots") != place("View"));
        gui::Settings& settings = robot.work().settings;
        settings.font_scale = 2;  // as in a window of half the size
        robot.work().settings.save();
        robot.frames(6);
        CHECK(place("Inspector") == place("Optimizer"));
        CHECK(place("Scene") != place("View"));
        settings.font_scale = 1;
        robot.work().settings.save();
        robot.frames(6);
        CHECK(place("Inspector") != place("Optimizer"));
        CHECK(place("Plots") != place("View"));
    });
}

TEST_CASE("gui layout: that of an earlier version names its panel as this version does") {
    const test::TemporaryFolder folder;
    const std::string place = "]\nPos=10,20\nSize=300,200\nCollapsed=0\n";
    const std::string before = "[Window][###Scene" + place + "\n[Window][###Optimiser" + place,
                      after = "[Window][###Scene" + place + "\n[Window][###Optimizer" + place;
    write_file_atomically(folder.path() / "layout.ini", before);
    gui::AppOptions options;
    options.session.simulation.device =
        std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::cpu, .threads = 1});
    options.state_folder = folder.path();
    options.tour = false;
    const gui::App app(test::all_modules(), std::move(options), nullptr);
    CHECK(read_file(folder.path() / "layout.ini") == after);
}

TEST_CASE("gui layout: a text is cut in its middle, at a character, and no wider than it may be") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        const std::string text = "robot.joint_stiffness[v\u00e4nster_kn\u00e4]";
        const auto wide = [](const std::string& t) { return ImGui::CalcTextSize(t.c_str()).x; };
        CHECK(gui::cut_to(text, wide(text)) == text);
        for (const float part : {0.9F, 0.6F, 0.3F, 0.1F}) {
            const std::string cut = gui::cut_to(text, part * wide(text));
            CAPTURE(cut);
            CHECK(wide(cut) <= part * wide(text));
            const std::size_t gap = cut.find("\u2026");
            REQUIRE(gap != std::string::npos);
            const std::string front = cut.substr(0, gap), back = cut.substr(gap + 3);
            CHECK(text.starts_with(front));
            CHECK(text.ends_with(back));
            // Not within a character of two bytes.
            CHECK((back.empty() || (static_cast<unsigned char>(back[0]) & 0xC0U) != 0x80U));
        }
        CHECK(gui::label_of("gradient_descent") == "gradient descent");
        CHECK(gui::label_of("lbfgs") == "L-BFGS");
        CHECK(gui::path_label("my_cage.rest_length") == "my_cage.rest length");
        CHECK(gui::path_label("leg.body_mass[left_foot]") == "leg.body mass[left_foot]");
        CHECK(gui::path_label("gravity") == "gravity");
    });
}
