// The shaders of shaders/ as SPIR-V, which the build embeds in the program.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hindcast::render {

// "points.vert:color". Throws Error if there is none of that name.
std::span<const std::uint32_t> shader_code(std::string_view name);

}  // namespace hindcast::render
