// Capsules between two places, springs among them: a strip that faces the viewer.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec2 along_across;   // m from the first end, and from the axis
layout(location = 1) flat out vec4 first_end;  // place; radius
layout(location = 2) flat out vec4 last_end;   // place; length as it is seen
layout(location = 3) flat out vec3 facing;     // toward the viewer
layout(location = 4) flat out vec3 side;
layout(location = 5) flat out vec3 color;
layout(location = 6) flat out uint element;

void main() {
    element = uint(gl_VertexIndex) / 6u;
    const uint corner = uint(gl_VertexIndex) % 6u;
    const bool last = corner == 1u || corner == 4u || corner == 5u;
    const float left = corner == 2u || corner == 3u || corner == 5u ? 1.0 : -1.0;
    // Lines of the host come as pairs.
    uint i = 2u * (draw.first + element), j = i + 1u;
    if (is_mode(0u)) { i = indices[i]; j = indices[j]; }
    const vec3 a = place_of(i), b = place_of(j);
    color = base_color(has(has_values) ? shown_value(element) : vec2(0.0));
    along_across = vec2(0.0);
    first_end = vec4(a, 0.0);
    last_end = vec4(b, 0.0);
    facing = side = vec3(0.0, 0.0, 1.0);
    gl_Position = nowhere;
    if (!finite(a) || !finite(b) || left_out(element)) return;

    const vec3 middle = 0.5 * (a + b);
    facing = toward_viewer(middle);
    const vec3 axis = b - a;
    const vec3 crossed = cross(facing, axis);
    side = dot(crossed, crossed) > 1e-20 * dot(axis, axis) && dot(axis, axis) > 0.0
               ? normalize(crossed) : across(facing, vec3(0.0, 0.0, 1.0));
    const vec3 forth = cross(side, facing);  // the axis as it is seen
    const float smallest = (has(pixel_radius) ? draw.radius : 0.6) * pixel_at(last ? b : a);
    const float r = has(pixel_radius) ? smallest : max(draw.radius, smallest);
    const float seen = dot(axis, forth);
    first_end.w = r;
    last_end.w = seen;
    along_across = vec2(last ? seen + r : -r, left * r);
    gl_Position = clip_of((last ? b + forth * r : a - forth * r) + side * (left * r));
}
