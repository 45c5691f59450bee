#include "app/gui/work/state/measured.hpp"

#include <fmt/format.h>

#include "app/gui/draw/words.hpp"

namespace hindcast::gui {

std::string memory_text(const Measured& measured) {
    std::string text = "memory " + bytes_text(static_cast<double>(measured.resident_bytes));
    if (measured.device_bytes > 0)
        text +=
            fmt::format(", graphics {}", bytes_text(static_cast<double>(measured.device_bytes)));
    return text;
}

}  // namespace hindcast::gui
