// The shaders' input in their layout: mirrors shaders/include/scene.glsl.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hindcast::render {

using Float4 = std::array<float, 4>;
using Float16 = std::array<float, 16>;

// The uniform block `Scene`.
struct SceneBlock {
    Float16 view_projection{};
    Float4 eye{}, right{}, up{}, forward{};
    Float4 to_light{}, light_right{}, light_up{}, world_up{};
    Float4 background_top{}, background_bottom{};
    Float4 known_low{}, known_high{};
    Float4 size{}, range{}, focus{}, slice{};
    std::array<std::uint32_t, 4> flags{};
};
static_assert(sizeof(SceneBlock) == 64 + 17 * 16);

enum RangeFlag : std::uint32_t { range_given = 1, range_symmetric = 2, range_log = 4 };

// The push constants `Draw`.
struct DrawConstants {
    Float4 color{};
    Float4 a{}, b{};
    float radius = 0, spacing = 0, layer = 0, scale = 0;
    std::uint32_t first = 0, count = 0, rows = 0, columns = 0;
    std::uint32_t flags = 0, drawable = 0;
    std::int32_t only = -1;
    std::uint32_t mode = 0;
};
static_assert(sizeof(DrawConstants) == 96);

// The push constants `Picture` (include/picture.glsl), in the place of DrawConstants.
struct PictureConstants {
    Float4 lens{}, window{}, outline{}, nearby{};
};
static_assert(sizeof(PictureConstants) <= sizeof(DrawConstants));

enum DrawFlag : std::uint32_t {
    has_values = 1,
    values_per_point = 2,
    has_element_of = 4,
    in_plane = 8,
    unlit = 16,
    pixel_radius = 32,
    arrow_log = 64,
    edges_shown = 128,
    is_grid = 256,
    uncut = 512,
    closed = 1024,
    has_order = 2048
};

// The buffer `Measured`, for the device alone.
constexpr std::size_t measured_bytes = 48;

// The block `Settled`, from which the host reads color_range, and what was measured for it in
// the last two numbers of shadow_texel.
struct SettledBlock {
    Float16 light{};
    Float4 color_range{}, shadow_texel{};
};
static_assert(sizeof(SettledBlock) == 64 + 32);

constexpr int color_steps = 256;

}  // namespace hindcast::render
