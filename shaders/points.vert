// Balls, particles among them: one triangle around each, in front of it and facing the viewer.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec2 corner;       // the ball is the unit disc
layout(location = 1) out vec3 on_billboard;
layout(location = 2) flat out vec4 ball;    // center, radius
layout(location = 3) flat out vec3 color;
layout(location = 4) flat out uint element;

const vec2 corners[3] = vec2[](vec2(0.0, 2.0), vec2(-1.7320508, -1.0), vec2(1.7320508, -1.0));

void main() {
    const uint i = uint(gl_VertexIndex) / 3u;
    element = draw.first + i;
    corner = corners[uint(gl_VertexIndex) % 3u];
    // Obstacles are one ball with numbers of its own.
    const vec3 center = is_mode(1u) ? draw.a.xyz : place_of(element);
    color = base_color(has(has_values) ? shown_value(element) : vec2(0.0));
    ball = vec4(center, draw.radius);
    on_billboard = center;
    gl_Position = nowhere;
    if (!finite(center) || left_out(element)) return;

    const float smallest = 0.75 * pixel_at(center);
    const float r = max(draw.radius, smallest);
    ball.w = r;
    vec3 axis = toward_viewer(center);
    float reach = r, ahead = is_flat() ? 0.0 : r;
#if PASS == SHADOW
    if (cut_away(center)) return;
    const vec3 side = scene.light_right.xyz, above = scene.light_up.xyz;
    ahead = 0.0;
#else
    vec3 side = scene.right.xyz, above = scene.up.xyz;
    if (is_perspective()) {
        const float distance_squared = dot(scene.eye.xyz - center, scene.eye.xyz - center);
        if (distance_squared <= r * r * 1.02) return;  // the eye is inside
        const float d = sqrt(distance_squared);
        reach = (d - r) * r / sqrt(distance_squared - r * r);
        side = across(axis, scene.up.xyz);
        above = cross(axis, side);
    }
#endif
    on_billboard = center + axis * ahead + (side * corner.x + above * corner.y) * reach;
    gl_Position = clip_of(on_billboard);
}
