// Shared by the passes over the finished picture: images at full and at half size, and the reading
// of depths. Mirrors PictureConstants in app/render/shader_data.hpp.

layout(set = 0, binding = 0) uniform sampler2D depth_map;
layout(set = 0, binding = 1) uniform sampler2D lit;
layout(set = 0, binding = 2) uniform sampler2D mask;
layout(set = 0, binding = 3, r32f) uniform image2D distances;  // half size: m along the view, 0: none
layout(set = 0, binding = 4, r32f) uniform image2D openness;   // half size: 1 is fully open
layout(set = 0, binding = 5, rgba8) uniform writeonly image2D picture;
layout(set = 0, binding = 6, r32f) uniform image2D calm;       // the same without its noise

layout(constant_id = 0) const bool occluded = false;  // by what is near
layout(constant_id = 1) const bool outlined = false;  // something is selected

layout(push_constant) uniform Picture {
    vec4 lens;      // near, depth to meters, offset, 1: perspective
    vec4 window;    // half width and height of what is seen at 1 m, or m; pixels
    vec4 outline;   // color
    vec4 nearby;    // m that occlude; strength
} frame;

float meters(float depth) {
    if (depth <= 0.0) return 0.0;
    return frame.lens.w > 0.5 ? frame.lens.x / depth : (0.5 - depth) * frame.lens.y + frame.lens.z;
}
