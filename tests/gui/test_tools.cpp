// The tools at the bottom say what is true of the scene that is open, and of nothing else.
#include <imgui_internal.h>

#include <cmath>

#include "app/gui/window.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/environment.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

void press_panel(Robot& robot, const std::string& panel) {
    robot.work().focus_panel = panel;
    robot.frames(4);
}

// The number field of a panel takes what is typed.
void type(ImGuiTestContext& hands, const std::string& item, const std::string& text) {
    hands.ItemDoubleClick(item.c_str());
    hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    hands.KeyCharsReplaceEnter(text.c_str());
}

constexpr const char* diverging = R"({
    "format": 1, "name": "diverging", "time": { "step": "1/30", "steps": 100 },
    "bodies": [{ "type": "particles", "name": "a", "positions": [[0, 0, 0], [1.5, 0, 0]],
                 "fixed": [0] }],
    "forces": [{ "type": "springs", "name": "s", "connect": [["a", 0, "a", 1]],
                 "stiffness": 1e6, "rest_length": 1 }],
    "objective": [{ "type": "point_target", "name": "there", "of": "a", "points": [1],
                    "target": [0, 0, -1] }],
    "parameters": [{ "path": "s.stiffness" }],
    "optimizer": { "type": "adam", "rate": 0.1, "iterations": 20 }
})";

}  // namespace

TEST_CASE("gui: without X11 the window says that a Wayland session is not enough") {
    const Environment none("DISPLAY", ""), wayland("WAYLAND_DISPLAY", "wayland-0");
    try {
        gui::Window window(gui::WindowOptions{});
        FAIL("there is a window");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("needs X11") != std::string::npos);
        CHECK(text.find("Wayland") != std::string::npos);
        CHECK(text.find("Xwayland") != std::string::npos);
    }
}
