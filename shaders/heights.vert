// A field as a surface over its plane; its normals by differences between the neighbors.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec3 place;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec3 barycentric;
layout(location = 3) out vec2 value;
layout(location = 4) flat out uint element;

float height(ivec2 ij) {
    const ivec2 inside = clamp(ij, ivec2(0), ivec2(draw.rows, draw.columns) - 1);
    const float h = value_number(uint(inside.x) * draw.columns + uint(inside.y));
    return finite(h) ? h * draw.scale : 0.0;
}

void main() {
    const uint index = uint(gl_VertexIndex);  // of the node
    const ivec2 ij = ivec2(index / draw.columns, index % draw.columns);
    element = index;
    value = vec2(value_number(index), 1.0);
    const float h = height(ij);
    place = draw.a.xyz + vec3(vec2(ij) * draw.spacing, h);
    const ivec2 low = max(ij - 1, ivec2(0)),
                high = min(ij + 1, ivec2(draw.rows, draw.columns) - 1);
    const vec2 run = max(vec2(high - low), 1.0) * draw.spacing;
    normal = normalize(vec3(-(height(ivec2(high.x, ij.y)) - height(ivec2(low.x, ij.y))) / run.x,
                            -(height(ivec2(ij.x, high.y)) - height(ivec2(ij.x, low.y))) / run.y,
                            1.0));
    barycentric = vec3(1.0);
    gl_Position = clip_of(place);
}
