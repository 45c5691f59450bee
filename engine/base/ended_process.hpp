// Files whose names say which process makes them, so that another can tell what was left behind.
#pragma once

#include <optional>
#include <string_view>

namespace hindcast {

// The text after the number of a process at its start, if that process has ended. None if there is
// no number, or the process lives.
std::optional<std::string_view> after_ended_process(std::string_view text);

}  // namespace hindcast
