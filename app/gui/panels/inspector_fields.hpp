// Shows and edits one field of the scene: a quantity with its gradient (inspector_quantity.cpp), a
// plain field or an object of settings by the scene's schema (inspector_fields.cpp, with the editors
// in fields/), parameters and their groups (inspector_parameters.cpp).
#pragma once

#include <functional>

#include "app/gui/panels/fields/field_view.hpp"
#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

// The forms of values that each place of a scene of this registry takes.
const session::SceneForms& forms_of(const Registry& registry);

// A quantity: lock, name, numbers with bounds, gradient, and a context menu with sweep, plot and
// reset for the number under the mouse. With a form also how it is written: a list, a formula, a
// grid, and the controls of that.
void draw_quantity(Context& context, const session::QuantityInfo& quantity,
                   const std::string& label, const std::string& documentation,
                   const session::Form* form = nullptr, const Picks* picks = nullptr);
// A field without a path: bodies, choices, switches, counts, lists, meshes.
void edit_plain_field(Topics& work, const std::string& pointer, const session::Form& form,
                      const FieldLook& look, const Picks* picks);
// The members of an object by their rows of the schema, where `wanted` holds.
void edit_by_schema(Topics& work, const std::string& pointer, const document::Node& rows,
                    const std::function<bool(const std::string&)>& wanted);
// Method and settings of the scene's "optimizer".
void edit_optimizer(Topics& work, const document::Document& schema);

// A parameter at "/parameters/k": path, bounds, group and the rest by its rows of the schema.
void edit_parameter(Topics& work, const std::string& pointer, const document::Node& rows);
// A group at "/optimizer/groups/NAME": its name, its factor on the rate, its parameters.
void edit_group(Topics& work, const std::string& pointer);
// One line for each group, and a button that adds one.
void edit_groups(Topics& work);
// The "bounds" of a parameter in the unit of its quantity, with the range that the module allows.
// `part`: the part of the line for the name.
void edit_bounds(EditedScene& scene, const std::string& parameter,
                 const session::QuantityInfo& quantity, float part = 0.42F);

// Menu items for the paths that could be optimized and are not. Returns the chosen one, or "".
std::string choose_path(const Topics& work);
// Menu items that add a parameter or a group and select it.
void parameter_items(Topics& work);
void group_items(Topics& work);

}  // namespace hindcast::gui
