// What `hindcast info` says of Vulkan: devices, drivers, and how frames get there.
#pragma once

namespace hindcast::cli {

void print_vulkan();

}  // namespace hindcast::cli
