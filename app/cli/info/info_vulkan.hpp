// The part of `hindcast info` on Vulkan: devices, drivers, and the transport of frames.
#pragma once

namespace hindcast::cli {

void print_vulkan();

}  // namespace hindcast::cli
