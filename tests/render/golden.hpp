// Pictures as they were when somebody looked at them and found them right: bit for bit where
// driver, its LLVM and the processor are those of then, else nearly. HINDCAST_UPDATE_GOLDEN=1 makes
// them anew.
#pragma once

#include <string>

#include "app/exchange/stage.hpp"
#include "app/render/device/vulkan_context.hpp"

namespace hindcast::test {

// Whether the pictures were made on a machine that rounds as this one; writes down this one while
// they are made anew.
bool golden_machine(const render::DeviceFacts& facts);
// Checks the picture against tests/render/golden/NAME.png.
void compare_golden(const render::Image& image, const std::string& name, bool same_machine);

}  // namespace hindcast::test
