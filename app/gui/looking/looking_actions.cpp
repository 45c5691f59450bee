// Actions on what is laid over the picture.
#include "app/gui/input/actions.hpp"
#include "app/gui/looking/slicing.hpp"

namespace hindcast::gui {

std::vector<Action> looking_actions() {
    const auto runs = [](const Workspace& w) { return w.shows_run(); };
    return {
        {"measure_tool", "View", icon::ruler, "Measure", ImGuiKey_M,
         "Two clicks in the picture show a distance in m, which goes along with what it ends at",
         runs, [](Workspace& w) { w.tool = w.tool == Tool::measure ? Tool::look : Tool::measure; },
         [](const Workspace& w) { return w.tool == Tool::measure; }},
        {"no_distances",
         "View",
         nullptr,
         "Remove all distances",
         0,
         "Takes all distances out of the picture",
         [](const Workspace& w) { return w.shows_run() && !w.distances.empty(); },
         [](Workspace& w) { w.distances.clear(); },
         {}},
        {"slice", "View", icon::cut, "Slice", ImGuiKey_V,
         "A plane hides what is before it, and fills what it cuts",
         [](const Workspace& w) { return w.shows_run() && !w.is_flat(); },
         [](Workspace& w) {
             if (w.view.slice)
                 w.view.slice.reset();
             else
                 w.view.slice = slice_before(w.view.camera, box_of(*w.now().stage));
         },
         [](const Workspace& w) { return w.view.slice.has_value() && !w.is_flat(); }},
        {"keep_view",
         "View",
         icon::save,
         "Keep with the scene",
         0,
         "Writes arrows, tubes, slice and distances into the scene's view: the next start and "
         "hindcast render begin with them",
         runs,
         [](Workspace& w) { w.keep_view(); },
         {}},
    };
}

}  // namespace hindcast::gui
