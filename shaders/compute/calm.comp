// The mean over the pattern of 4 x 4 pixels, of the same surface only.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/picture.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

void main() {
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(distances);
    if (any(greaterThanEqual(at, size))) return;
    const float distance = imageLoad(distances, at).r;
    float sum = 0.0, weights = 0.0;
    if (distance > 0.0)
        for (int y = -2; y < 2; ++y)
            for (int x = -2; x < 2; ++x) {
                const ivec2 q = clamp(at + ivec2(x, y), ivec2(0), size - 1);
                const float weight =
                    abs(imageLoad(distances, q).r - distance) < 0.02 * distance ? 1.0 : 0.0;
                sum += weight * imageLoad(openness, q).r;
                weights += weight;
            }
    imageStore(calm, at, vec4(weights > 0.0 ? sum / weights : 1.0));
}
