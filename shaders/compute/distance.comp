// Depths at half the size, in meters: of each four the nearest.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/picture.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

void main() {
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(distances)))) return;
    const ivec2 last = textureSize(depth_map, 0) - 1;
    const ivec2 p = 2 * at;
    const float a = texelFetch(depth_map, min(p, last), 0).r,
                b = texelFetch(depth_map, min(p + ivec2(1, 1), last), 0).r;
    imageStore(distances, at, vec4(meters(max(a, b))));
}
