// Actions on what is chosen in the picture and on the selected object.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"
#include "app/session/making/arrange.hpp"

namespace hindcast::gui {

namespace {

using document::Document;
using Kind = session::Parts::Kind;

constexpr const char* box_icon = "\xef\x89\x87";  // Font Awesome: object-group

bool runs(const Topics& w) { return shows_run(w); }
bool has_points(const Topics& w) {
    return shows_run(w) && !w.chosen.parts.empty() && w.chosen.parts.kind == Kind::points;
}
bool can_pin(const Topics& w) {
    return has_points(w) &&
           std::ranges::all_of(w.chosen.parts.of, [&](const session::Parts::Of& of) {
               return session::can_be_pinned(w.scene.document(), w.scene.registry(), of.name);
           });
}
bool has_object(const Topics& w) { return !w.scene.name_at(w.chosen.object.pointer).empty(); }

const char* axis_name(std::size_t axis) {
    constexpr const char* names[] = {"x", "y", "z"};
    return names[axis];
}

Action mirror(std::size_t axis) {
    Action action;
    action.id = fmt::format("mirror_{}", axis_name(axis));
    action.menu = "Edit/Arrange";
    action.name = fmt::format("Mirror along {}", axis_name(axis));
    action.help = fmt::format("The selected object as in a mirror across {}, through its middle",
                              axis_name(axis));
    action.enabled = [axis](const Topics& w) {
        return has_object(w) && axis < static_cast<std::size_t>(w.scene.dimension());
    };
    action.run = [axis](Topics& w) {
        const std::string pointer = w.chosen.object.pointer;
        w.scene.change("Mirror " + w.scene.name_at(pointer), [&](const Document& d) {
            return session::mirrored(d, w.scene.registry(), pointer, axis);
        });
    };
    action.in_object_menu = 4 + static_cast<int>(axis);
    return action;
}

std::vector<Action> part_actions() {
    const auto toggle = [](Tool tool) {
        return [tool](Topics& w) { w.looks.tool = w.looks.tool == tool ? Tool::look : tool; };
    };
    const auto is = [](Tool tool) {
        return [tool](const Topics& w) { return w.looks.tool == tool; };
    };
    return {
        {"box_tool", "View", box_icon, "Select by a box", ImGuiKey_X,
         "Drag a box around points, or around elements; Shift adds to them, Ctrl takes away", runs,
         toggle(Tool::box), is(Tool::box)},
        {"lasso_tool", "View", icon::edit, "Select by a lasso", ImGuiKey_L,
         "Draw around points, or around elements; Shift adds to them, Ctrl takes away", runs,
         toggle(Tool::lasso), is(Tool::lasso)},
        {"choose_elements", "Edit/Chosen points", nullptr, "Choose elements instead", 0,
         "Boxes, lassos and Shift + click choose triangles and springs instead of points", runs,
         [](Topics& w) {
             const Kind kind = w.chosen.parts.kind;
             w.chosen.parts = {};
             w.chosen.parts.kind = kind == Kind::points ? Kind::elements : Kind::points;
         },
         [](const Topics& w) { return w.chosen.parts.kind == Kind::elements; }},
        {.id = "all_points",
         .menu = "Edit/Chosen points",
         .name = "Choose all points of it",
         .help = "All points of the selected body",
         .enabled =
             [](const Topics& w) {
                 return shows_run(w) && w.chosen.object.pointer.starts_with("/bodies/");
             },
         .run =
             [](Topics& w) {
                 const std::string name = w.scene.name_at(w.chosen.object.pointer);
                 w.chosen.parts = {};
                 for (const auto& body : w.running.now().scene.stage->bodies) {
                     if (body.name != name) continue;
                     std::vector<std::int64_t> all;
                     for (std::int64_t p = 0; p < body.count; ++p) all.push_back(p);
                     w.chosen.parts.add(name, std::move(all));
                 }
             },
         .checked = {},
         .in_object_menu = 1},
        {"no_parts",
         "Edit/Chosen points",
         nullptr,
         "Choose nothing",
         0,
         "No point and no element is chosen any more",
         [](const Topics& w) { return !w.chosen.parts.empty(); },
         [](Topics& w) { w.chosen.parts.of.clear(); },
         {}},
        {"pin",
         "Edit/Chosen points",
         icon::lock,
         "Pin",
         ImGuiKey_P,
         "Fixes the chosen points where they start",
         can_pin,
         [](Topics& w) {
             w.scene.change("Pin " + w.chosen.parts.text(), [&](const Document& d) {
                 return session::pinned(d, w.scene.editor().place(), w.scene.registry(),
                                        w.chosen.parts);
             });
         },
         {}},
        {"unpin",
         "Edit/Chosen points",
         icon::unlock,
         "Unpin",
         ImGuiMod_Shift | ImGuiKey_P,
         "Lets the chosen points move",
         can_pin,
         [](Topics& w) {
             w.scene.change("Unpin " + w.chosen.parts.text(), [&](const Document& d) {
                 return session::unpinned(d, w.scene.editor().place(), w.scene.registry(),
                                          w.chosen.parts);
             });
         },
         {}},
        {"connect",
         "Edit/Chosen points",
         icon::branch,
         "Connect",
         0,
         "Springs: the chosen points of one body each with the next; those of two bodies each with "
         "the nearest of the other",
         [](const Topics& w) { return has_points(w) && w.chosen.parts.count() > 1; },
         [](Topics& w) {
             w.adding.make_from_parts("Connect " + w.chosen.parts.text(), "springs",
                                      [&](const Document& d, const std::string& name) {
                                          return session::connected(d, w.scene.registry(),
                                                                    w.chosen.parts, name,
                                                                    w.chosen.where_is);
                                      });
         },
         {}},
        {"aim",
         "Edit/Chosen points",
         icon::target,
         "Add a target",
         0,
         "An objective that wants the chosen points where they are now: move it from there (W)",
         [](const Topics& w) { return has_points(w) && w.chosen.parts.of.size() == 1; },
         [](Topics& w) {
             w.adding.make_from_parts("Target of " + w.chosen.parts.text(), "target",
                                      [&](const Document& d, const std::string& name) {
                                          return session::aimed(d, w.scene.registry(),
                                                                w.chosen.parts, name,
                                                                w.chosen.where_is);
                                      });
             w.looks.tool = Tool::move;
         },
         {}},
        {"pull",
         "Edit/Chosen points",
         icon::bolt,
         "Pull",
         0,
         "A spring from the chosen point to where it is now; with the mouse, Ctrl + drag pulls",
         [](const Topics& w) { return has_points(w) && w.chosen.parts.count() == 1; },
         [](Topics& w) {
             w.adding.make_from_parts("Pull " + w.chosen.parts.text(), "pull",
                                      [&](const Document& d, const std::string& name) {
                                          return session::pulled(d, w.scene.registry(),
                                                                 w.chosen.parts, name,
                                                                 w.chosen.where_is);
                                      });
         },
         {}},
    };
}

}  // namespace

std::vector<Action> making_actions() {
    std::vector<Action> all = part_actions();
    all.push_back({"array",
                   "Edit/Arrange",
                   icon::copy,
                   "Copies in a row...",
                   0,
                   "Several copies of the selected object, each further by the same way",
                   has_object,
                   [](Topics& w) { w.requests.show_array = true; },
                   {}});
    all.back().in_object_menu = 3;
    for (const std::size_t axis : {0UL, 1UL, 2UL}) all.push_back(mirror(axis));
    all.push_back({"size",
                   "Edit/Arrange",
                   nullptr,
                   "Size...",
                   0,
                   "Makes the selected object larger or smaller, about its middle",
                   has_object,
                   [](Topics& w) { w.requests.show_size = true; },
                   {}});
    all.back().in_object_menu = 7;
    all.push_back({"snap",
                   "Edit/Arrange",
                   nullptr,
                   "Put onto the grid",
                   0,
                   "Moves the selected object so that its middle is at whole tenths of a meter",
                   has_object,
                   [](Topics& w) {
                       const std::string pointer = w.chosen.object.pointer;
                       w.scene.change("Put " + w.scene.name_at(pointer) + " onto the grid",
                                      [&](const Document& d) {
                                          return session::snapped(d, w.scene.registry(), pointer,
                                                                  0.1);
                                      });
                   },
                   {}});
    all.back().in_object_menu = 8;
    return all;
}

}  // namespace hindcast::gui
