// Arrows from places along vectors: shaft and head, flat toward the viewer but lit as if round.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec3 place;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec3 barycentric;
layout(location = 3) out vec2 value;
layout(location = 4) flat out uint element;

void main() {
    const uint number = uint(gl_VertexIndex) / 9u;
    element = draw.first + (has(has_order) ? indices[number] : number);
    const uint corner = uint(gl_VertexIndex) % 9u;
    const vec3 start = place_of(element), vector = vector_of(element);
    place = start;
    normal = vec3(0.0, 0.0, 1.0);
    barycentric = vec3(1.0);
    value = vec2(0.0);
    gl_Position = nowhere;
    const float magnitude = length(vector);
    if (!finite(start) || !finite(magnitude) || !(magnitude > 0.0) ||
        left_out(element) || (sliced && before_slice(start) > 0.0))
        return;

    float reach = magnitude * draw.scale;
    // Nothing for a millionth of the longest.
    if (has(arrow_log))
        reach = draw.scale * (1.0 + log2(magnitude / settled.color_range.z) / 19.931569);
    const float pixel = pixel_at(start);
    if (!(reach > 1.0 * pixel)) return;
    const vec3 direction = vector / magnitude;
    const vec3 tip = start + direction * reach;
    const vec3 facing = toward_viewer(0.5 * (start + tip));
    const vec3 side = across(direction, facing);
    const float shaft = clamp(0.022 * reach, 0.7 * pixel, max(3.0 * pixel, draw.radius));
    const float head_width = 3.0 * shaft;
    const float head = min(9.0 * shaft, 0.6 * reach);
    vec3 p;
    float left;
    if (corner < 6u) {
        const bool last = corner == 1u || corner == 4u || corner == 5u;
        left = corner == 2u || corner == 3u || corner == 5u ? 1.0 : -1.0;
        p = (last ? tip - direction * head : start) + side * (left * shaft);
    } else if (corner == 8u) {
        left = 0.0;
        p = tip;
    } else {
        left = corner == 7u ? 1.0 : -1.0;
        p = tip - direction * head + side * (left * head_width);
    }
    place = p;
    normal = normalize(facing + 0.9 * left * side);
    gl_Position = clip_of(p);
#if PASS == COLOR
    if (is_mode(1u)) gl_Position.z = gl_Position.w;  // seen through everything
#endif
}
