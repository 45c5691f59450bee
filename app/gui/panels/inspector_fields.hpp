// How one field of the scene is shown and edited: a quantity with its gradient, a plain field by
// its registry row, an object of settings by the scene's schema.
#pragma once

#include <functional>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

// A quantity (something with a path): lock, name, numbers with bounds, gradient; a context menu
// with sweep, plot, reset.
void draw_quantity(Context& context, const session::QuantityInfo& quantity,
                   const std::string& label, const std::string& documentation);
// A field without a path: bodies, choices, switches, counts.
void edit_plain_field(Workspace& work, const std::string& pointer, const model::Field& field);
// The members of an object by their rows of the schema; `wanted` leaves some out.
void edit_by_schema(Workspace& work, const std::string& pointer, const document::Node& rows,
                    const std::function<bool(const std::string&)>& wanted);
// Method and settings of the scene's "optimizer".
void edit_optimiser(Workspace& work, const document::Document& schema);

}  // namespace hindcast::gui
