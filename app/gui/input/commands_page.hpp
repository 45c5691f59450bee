// The manual's page of the window's commands, app/manual/commands.md, as `hindcast view --commands`
// writes it.
#pragma once

#include <string>

namespace hindcast::gui {

// Markdown: the mouse's gestures, then a table for each menu, both from the tables of the program.
std::string commands_page();

}  // namespace hindcast::gui
