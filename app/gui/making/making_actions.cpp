// Actions on what is chosen in the picture and on the selected object.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/input/actions.hpp"
#include "app/session/shapes/arrange.hpp"

namespace hindcast::gui {

namespace {

using document::Document;
using Kind = session::Parts::Kind;

constexpr const char* box_icon = "\xef\x89\x87";  // Font Awesome: object-group

bool runs(const Workspace& w) { return w.shows_run(); }
bool has_points(const Workspace& w) {
    return w.shows_run() && !w.parts.empty() && w.parts.kind == Kind::points;
}
bool can_pin(const Workspace& w) {
    return has_points(w) && std::ranges::all_of(w.parts.of, [&](const session::Parts::Of& of) {
               return session::can_be_pinned(w.document(), w.registry(), of.name);
           });
}
bool has_object(const Workspace& w) { return !w.name_at(w.selection().pointer).empty(); }

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
    action.enabled = [axis](const Workspace& w) {
        return has_object(w) && axis < static_cast<std::size_t>(w.dimension());
    };
    action.run = [axis](Workspace& w) {
        const std::string pointer = w.selection().pointer;
        w.change("Mirror " + w.name_at(pointer), [&](const Document& d) {
            return session::mirrored(d, w.registry(), pointer, axis);
        });
    };
    return action;
}

std::vector<Action> part_actions() {
    const auto toggle = [](Tool tool) {
        return [tool](Workspace& w) { w.tool = w.tool == tool ? Tool::look : tool; };
    };
    const auto is = [](Tool tool) { return [tool](const Workspace& w) { return w.tool == tool; }; };
    return {
        {"box_tool", "View", box_icon, "Select by a box", ImGuiKey_X,
         "Drag a box around points, or around elements; Shift adds to them, Ctrl takes away", runs,
         toggle(Tool::box), is(Tool::box)},
        {"lasso_tool", "View", icon::edit, "Select by a lasso", ImGuiKey_L,
         "Draw around points, or around elements; Shift adds to them, Ctrl takes away", runs,
         toggle(Tool::lasso), is(Tool::lasso)},
        {"choose_elements", "Edit/Chosen points", nullptr, "Choose elements instead", 0,
         "Boxes, lassos and Shift + click choose triangles and springs instead of points", runs,
         [](Workspace& w) {
             const Kind kind = w.parts.kind;
             w.parts = {};
             w.parts.kind = kind == Kind::points ? Kind::elements : Kind::points;
         },
         [](const Workspace& w) { return w.parts.kind == Kind::elements; }},
        {"all_points",
         "Edit/Chosen points",
         nullptr,
         "Choose all points of it",
         0,
         "All points of the selected body",
         [](const Workspace& w) {
             return w.shows_run() && w.selection().pointer.starts_with("/bodies/");
         },
         [](Workspace& w) {
             const std::string name = w.name_at(w.selection().pointer);
             w.parts = {};
             for (const auto& body : w.now().stage->bodies) {
                 if (body.name != name) continue;
                 std::vector<std::int64_t> all;
                 for (std::int64_t p = 0; p < body.count; ++p) all.push_back(p);
                 w.parts.add(name, std::move(all));
             }
         },
         {}},
        {"no_parts",
         "Edit/Chosen points",
         nullptr,
         "Choose nothing",
         0,
         "No point and no element is chosen any more",
         [](const Workspace& w) { return !w.parts.empty(); },
         [](Workspace& w) { w.parts.of.clear(); },
         {}},
        {"pin",
         "Edit/Chosen points",
         icon::lock,
         "Pin",
         ImGuiKey_P,
         "Fixes the chosen points where they start",
         can_pin,
         [](Workspace& w) {
             w.change("Pin " + w.parts.text(), [&](const Document& d) {
                 return session::pinned(d, w.editor().place(), w.registry(), w.parts);
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
         [](Workspace& w) {
             w.change("Unpin " + w.parts.text(), [&](const Document& d) {
                 return session::unpinned(d, w.editor().place(), w.registry(), w.parts);
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
         [](const Workspace& w) { return has_points(w) && w.parts.count() > 1; },
         [](Workspace& w) {
             w.make_from_parts("Connect " + w.parts.text(), "springs",
                               [&](const Document& d, const std::string& name) {
                                   return session::connected(d, w.registry(), w.parts, name,
                                                             w.where_is);
                               });
         },
         {}},
        {"aim",
         "Edit/Chosen points",
         icon::target,
         "Add a target",
         0,
         "An objective that wants the chosen points where they are now: move it from there (W)",
         [](const Workspace& w) { return has_points(w) && w.parts.of.size() == 1; },
         [](Workspace& w) {
             w.make_from_parts("Target of " + w.parts.text(), "target",
                               [&](const Document& d, const std::string& name) {
                                   return session::aimed(d, w.registry(), w.parts, name,
                                                         w.where_is);
                               });
             w.tool = Tool::move;
         },
         {}},
        {"pull",
         "Edit/Chosen points",
         icon::bolt,
         "Pull",
         0,
         "A spring from the chosen point to where it is now; with the mouse, Ctrl + drag pulls",
         [](const Workspace& w) { return has_points(w) && w.parts.count() == 1; },
         [](Workspace& w) {
             w.make_from_parts(
                 "Pull " + w.parts.text(), "pull", [&](const Document& d, const std::string& name) {
                     return session::pulled(d, w.registry(), w.parts, name, w.where_is);
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
                   [](Workspace& w) { w.show_array = true; },
                   {}});
    for (const std::size_t axis : {0UL, 1UL, 2UL}) all.push_back(mirror(axis));
    all.push_back({"size",
                   "Edit/Arrange",
                   nullptr,
                   "Size...",
                   0,
                   "Makes the selected object larger or smaller, about its middle",
                   has_object,
                   [](Workspace& w) { w.show_size = true; },
                   {}});
    all.push_back({"snap",
                   "Edit/Arrange",
                   nullptr,
                   "Put onto the grid",
                   0,
                   "Moves the selected object so that its middle is at whole tenths of a metre",
                   has_object,
                   [](Workspace& w) {
                       const std::string pointer = w.selection().pointer;
                       w.change("Put " + w.name_at(pointer) + " onto the grid",
                                [&](const Document& d) {
                                    return session::snapped(d, w.registry(), pointer, 0.1);
                                });
                   },
                   {}});
    return all;
}

}  // namespace hindcast::gui
