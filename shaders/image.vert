// A field as an image: each node is the middle of a square of one color.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec2 node;  // row, column

const vec2 corners[6] = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1));

void main() {
    node = corners[gl_VertexIndex] * vec2(draw.rows, draw.columns) - 0.5;
    gl_Position = clip_of(draw.a.xyz + vec3(node * draw.spacing, 0.0));
}
