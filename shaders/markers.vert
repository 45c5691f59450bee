// Targets: crosses of constant size on the screen.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec2 off;  // pixels from the middle
layout(location = 1) flat out float depth;
layout(location = 2) flat out uint element;

const vec2 corners[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(-1, 1), vec2(-1, 1), vec2(1, -1), vec2(1, 1));

void main() {
    element = uint(gl_VertexIndex) / 6u;
    const vec3 place = place_of(draw.first + element);
    off = corners[uint(gl_VertexIndex) % 6u] * 14.0;
    depth = 0.0;
    gl_Position = nowhere;
    if (!finite(place) || left_out(element)) return;
    vec4 clip = clip_of(place);
    depth = clip.z / clip.w;
    clip.xy += off * 2.0 * scene.size.zw * clip.w;
    clip.z = clip.w;  // seen through everything
    gl_Position = clip;
}
