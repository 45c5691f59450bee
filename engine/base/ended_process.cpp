#include "engine/base/ended_process.hpp"

#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <charconv>

namespace hindcast {

std::optional<std::string_view> after_ended_process(std::string_view text) {
    pid_t process = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, process);
    if (error != std::errc() || process <= 0) return std::nullopt;
    if (::kill(process, 0) == 0 || errno != ESRCH) return std::nullopt;
    return std::string_view(after, static_cast<std::size_t>(end - after));
}

}  // namespace hindcast
