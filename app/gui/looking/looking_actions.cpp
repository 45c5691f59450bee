// Actions on what is laid over the picture.
#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/looking/slicing.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

std::vector<Action> looking_actions() {
    const auto runs = [](const Topics& w) { return shows_run(w); };
    return {
        {"measure_tool", "View", icon::ruler, "Measure", ImGuiKey_M,
         "Two clicks in the picture show a distance in m, which goes along with what it ends at",
         runs,
         [](Topics& w) {
             w.looks.tool = w.looks.tool == Tool::measure ? Tool::look : Tool::measure;
         },
         [](const Topics& w) { return w.looks.tool == Tool::measure; }},
        {"no_distances",
         "View",
         nullptr,
         "Remove all distances",
         0,
         "Takes all distances out of the picture",
         [](const Topics& w) { return shows_run(w) && !w.looks.distances.empty(); },
         [](Topics& w) { w.looks.distances.clear(); },
         {}},
        {"slice", "View", icon::cut, "Slice", ImGuiKey_V,
         "A plane hides what is before it, and fills what it cuts",
         [](const Topics& w) { return shows_run(w) && !w.looks.is_flat(); },
         [](Topics& w) {
             if (w.looks.view.slice)
                 w.looks.view.slice.reset();
             else
                 w.looks.view.slice =
                     slice_before(w.looks.view.camera, box_of(*w.running.now().scene.stage));
         },
         [](const Topics& w) { return w.looks.view.slice.has_value() && !w.looks.is_flat(); }},
        {"keep_view",
         "View",
         icon::save,
         "Keep with the scene",
         0,
         "Writes arrows, tubes, slice and distances into the scene's view: the next start and "
         "hindcast render begin with them",
         runs,
         [](Topics& w) { w.looks.keep_view(); },
         {}},
    };
}

}  // namespace hindcast::gui
