// Triangles that the host has placed: six numbers for each vertex, its place and its normal.
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
    const uint vertex = 2u * (draw.first + uint(gl_VertexIndex));
    element = 0u;
    place = place_of(vertex);
    normal = is_flat() ? vec3(0.0, 0.0, 1.0) : place_of(vertex + 1u);
    barycentric = vec3(1.0);
    value = vec2(0.0);
    gl_Position = clip_of(place);
}
