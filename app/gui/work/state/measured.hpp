// Measurements for the status bar and the memory panel.
#pragma once

#include <cstdint>
#include <string>

namespace hindcast::gui {

struct Measured {
    double frame_seconds = 0, draw_seconds = 0, device_seconds = 0, longest = 0;  // all in s
    // Memory of the process, its limit, and memory of the graphics device (0: it has none of its
    // own).
    std::int64_t resident_bytes = 0, most_bytes = 0, device_bytes = 0;
    std::string transport, device;
};

// "memory 181 MiB, graphics 24 MiB": the process, and the graphics device if it has its own memory.
std::string memory_text(const Measured& measured);

}  // namespace hindcast::gui
