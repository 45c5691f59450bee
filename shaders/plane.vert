// The grid, half spaces, and the ground of a scene in the plane: a large square on the plane
// a.xyz . x = a.w (a.xyz of length 1) around the place b.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec3 place;
layout(location = 1) flat out vec3 tangent;
layout(location = 2) flat out vec3 bitangent;

const vec2 corners[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(-1, 1), vec2(-1, 1), vec2(1, -1), vec2(1, 1));

void main() {
    const vec2 corner = corners[gl_VertexIndex] * scene.focus.w;
    const vec3 normal = draw.a.xyz;
    if (is_flat() && is_mode(0u)) {
        // The half plane below its edge.
        tangent = vec3(normal.y, -normal.x, 0.0);
        bitangent = normal;
        place = draw.b.xyz + tangent * corner.x + bitangent * min(corner.y, draw.b.w);
    } else {
        // Along the axes where that is possible, so that grid lines have round coordinates.
        tangent = abs(normal.x) + float(hidden_zero) > 0.9 ? vec3(0, 1, 0) : vec3(1, 0, 0);
        tangent = normalize(tangent - normal * dot(tangent, normal));
        bitangent = cross(normal, tangent);
        place = draw.b.xyz + tangent * corner.x + bitangent * corner.y;
    }
    gl_Position = clip_of(place);
    gl_Position.z *= 0.9999;  // things in the plane are in front of it; 0 is far away
}
