// The actions of the menu View that are settings, looks and tools of the picture.
#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

void scale_text(KeptSettings& settings, double by) {
    settings.font_scale = std::clamp(settings.font_scale * by, 0.6, 3.0);
    settings.save();
}

}  // namespace

std::vector<Action> view_actions() {
    const auto toggle = [](bool render::View::*member) {
        return [member](Topics& w) { w.looks.view.*member = !(w.looks.view.*member); };
    };
    const auto is = [](bool render::View::*member) {
        return [member](const Topics& w) { return w.looks.view.*member; };
    };
    // These stay as they are from one start to the next.
    const auto keep = [](bool render::View::*member, bool Settings::*kept) {
        return [member, kept](Topics& w) {
            w.settings.*kept = w.looks.view.*member = !(w.looks.view.*member);
            w.settings.save();
        };
    };
    return {
        {"floor", "View", nullptr, "Grid", ImGuiKey_G,
         "A grid at the height of the lowest point at the start, in meters; things pass through it",
         shows_run, keep(&render::View::floor, &Settings::floor), is(&render::View::floor), false,
         true},
        {"shadows", "View", nullptr, "Shadows", 0, "Shadows on the grid and on each other",
         shows_run, keep(&render::View::shadows, &Settings::shadows), is(&render::View::shadows)},
        {"occlusion", "View", nullptr, "Ambient occlusion", 0, "Darkens corners and contacts",
         shows_run, keep(&render::View::ambient_occlusion, &Settings::ambient_occlusion),
         is(&render::View::ambient_occlusion)},
        {"labels", "View", nullptr, "Names", ImGuiKey_N, "The objects' names in the picture",
         shows_run, [](Topics& w) { w.looks.show_labels = !w.looks.show_labels; },
         [](const Topics& w) { return w.looks.show_labels; }},
        {"time_stamp", "View", nullptr, "Time stamp", 0,
         "Simulated time in s and the iteration, in the picture", shows_run,
         [](Topics& w) { w.looks.show_time = !w.looks.show_time; },
         [](const Topics& w) { return w.looks.show_time; }},
        {"trails", "View", nullptr, "Trails", ImGuiKey_T, "The ways that points have gone",
         shows_run,
         [](Topics& w) {
             w.looks.view.trails = !w.looks.view.trails;
             w.looks.send_frame_contents();
         },
         is(&render::View::trails)},
        {"measured_motion", "View", icon::ghost, "Measured motion", 0,
         "Pale beside a robot: where it was by the measured data that an objective compares it "
         "with",
         [](const Topics& w) { return shows_run(w) && w.running.has_measured(); },
         [](Topics& w) { w.looks.show_measured = !w.looks.show_measured; },
         [](const Topics& w) { return w.looks.show_measured; }},
        {"heights", "View", nullptr, "Fields as heights", ImGuiKey_H,
         "Shows a field of the plane as a landscape instead of an image", shows_run,
         [](Topics& w) {
             w.looks.view.heights = !w.looks.view.heights;
             // From the side there, from above here.
             if (w.running.now().scene.stage->dimension == 2) w.looks.camera_is_set = false;
         },
         is(&render::View::heights)},
        {"smooth_fields", "View", nullptr, "Smooth fields", 0,
         "Images of fields show values between the nodes, interpolated", shows_run,
         toggle(&render::View::smooth_fields), is(&render::View::smooth_fields)},
        {"edges", "View", nullptr, "Triangle edges", 0, "The edges of the triangles of surfaces",
         shows_run, toggle(&render::View::edges), is(&render::View::edges)},
        {"look_tool", "View", icon::pointer, "Select", ImGuiKey_Q,
         "A click selects; dragging turns the view", shows_run,
         [](Topics& w) { w.looks.tool = Tool::look; },
         [](const Topics& w) { return w.looks.tool == Tool::look; }, false, true},
        {"move_tool", "View", icon::move, "Move", ImGuiKey_W,
         "Arrows at the selected thing move it in the scene file, squares change its sizes",
         shows_run, [](Topics& w) { w.looks.tool = Tool::move; },
         [](const Topics& w) { return w.looks.tool == Tool::move; }},
        {"rotate_tool", "View", icon::rotate, "Rotate", ImGuiKey_E,
         "Rings at the selected thing turn it in the scene file: lists of places, and planes",
         shows_run, [](Topics& w) { w.looks.tool = Tool::rotate; },
         [](const Topics& w) { return w.looks.tool == Tool::rotate; }},
        {"panels",
         "View",
         nullptr,
         "Hide panels",
         ImGuiKey_Tab,
         "The picture alone, and back",
         {},
         [](Topics& w) { w.requests.hide_panels = !w.requests.hide_panels; },
         [](const Topics& w) { return w.requests.hide_panels; },
         false,
         true},
        {"text_beside",
         "View",
         nullptr,
         "Scene text beside the view",
         ImGuiMod_Ctrl | ImGuiKey_J,
         "The scene file's text in the right half of the view's place instead of behind it, so "
         "that both are seen while it is edited",
         {},
         [](Topics& w) {
             w.settings.text_beside = !w.settings.text_beside;
             w.requests.text_beside_changed = true;
             w.settings.save();
         },
         [](const Topics& w) { return w.settings.text_beside; }},
        {"layout",
         "View",
         nullptr,
         "Reset layout",
         0,
         "Puts all panels where they were at first",
         {},
         [](Topics& w) { w.requests.reset_layout = true; },
         {}},
        {"theme",
         "View",
         icon::sun,
         "Light theme",
         0,
         "Dark on light instead of light on dark",
         {},
         [](Topics& w) {
             w.settings.dark = !w.settings.dark;
             w.settings.save();
         },
         [](const Topics& w) { return !w.settings.dark; }},
        {"larger",
         "View",
         nullptr,
         "Larger text",
         ImGuiMod_Ctrl | ImGuiKey_Equal,
         "Everything in the window a tenth larger",
         {},
         [](Topics& w) { scale_text(w.settings, 1.1); },
         {}},
        {"smaller",
         "View",
         nullptr,
         "Smaller text",
         ImGuiMod_Ctrl | ImGuiKey_Minus,
         "Everything in the window a tenth smaller",
         {},
         [](Topics& w) { scale_text(w.settings, 1 / 1.1); },
         {}},
    };
}

}  // namespace hindcast::gui
