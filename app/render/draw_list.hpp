// DrawList: the draws and measurements, worked out from stage, frame and view: plain data, no
// Vulkan.
#pragma once

#include <cstdint>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/render/shader_data.hpp"

namespace hindcast::render {

enum class Shape : std::uint8_t {
    background,
    points,
    segments,
    arrows,
    surface,
    solid,
    cut,  // of tetrahedra by the slice
    image,
    heights,
    plane,
    markers
};

// Groups are drawn in this order.
enum class Group : std::uint8_t {
    ground,  // obstacles without end, blended over the background; in the plane the grid too
    ghost,   // pale, under everything that follows
    solid,
    grid,     // blended over what is behind it, and hides nothing
    overlay,  // seen through everything
};

struct Item {
    Shape shape = Shape::points;
    Group group = Group::solid;
    int drawable = -1;
    bool from_host = false;  // its places are DrawList::host_places, f32 in space
    bool casts_shadow = false;
    bool writes_depth = true;
    std::uint32_t vertices = 0;
    DrawConstants constants;
};

// A launch of measure.comp over `constants.count` numbers.
struct Measurement {
    int drawable = -1;
    DrawConstants constants;
};

struct DrawList {
    SceneBlock scene;
    PictureConstants picture;
    std::vector<Item> items;
    std::vector<Measurement> measurements;
    std::vector<int> normals;  // surfaces that need them
    std::vector<float> host_places;
    bool flat = false;  // seen as a plane: no light
    bool has_heights = false;
    bool sliced = false;
    bool shadows = false;
    bool occlusion = false;
};

// No stage: the background alone. Without a frame nothing with numbers is drawn.
DrawList make_draw_list(const Stage* stage, const Frame* frame, const View& view,
                        int shadow_map_size);

}  // namespace hindcast::render
