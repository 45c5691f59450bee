// Files whose names say which process makes them, so that another can tell what was left behind.
#pragma once

#include <optional>
#include <string_view>

namespace hindcast {

// What follows the number of a process at the start of the text, if that process has ended. None
// where there is no number, or the process lives.
std::optional<std::string_view> after_ended_process(std::string_view text);

}  // namespace hindcast
