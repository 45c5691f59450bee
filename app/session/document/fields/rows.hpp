// Rows of a list as text, for the clipboard: what a spreadsheet, a CSV file or a scene file has.
#pragma once

#include <string>

#include "app/session/document/fields/form.hpp"

namespace hindcast::session {

// The items of a list of this form (Form::is_sheet). One row per line; columns are separated by
// tabs, else by semicolons, else by commas, else by spaces; brackets around them are left out, and
// so is a first line of column names. Numbers may carry units that fit, "3 cm" for m. Throws Error
// with the line and the remedy.
document::Node rows_of_text(const std::string& text, const Form& list);

// The rows with tabs between the columns.
std::string text_of_rows(const document::Node& list);

}  // namespace hindcast::session
