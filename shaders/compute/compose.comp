// The picture: what was lit, darkened where the sky is hidden, with the outline of what is selected.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/picture.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

// From the four half-size pixels around, those of the same surface.
float open_at(ivec2 at, float distance) {
    const ivec2 size = imageSize(calm);
    const vec2 place = (vec2(at) + 0.5) * 0.5 - 0.5;
    const ivec2 corner = ivec2(floor(place));
    const vec2 t = place - vec2(corner);
    float sum = 0.0, weights = 0.0;
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 2; ++x) {
            const ivec2 q = clamp(corner + ivec2(x, y), ivec2(0), size - 1);
            const float off = abs(imageLoad(distances, q).r - distance) / distance;
            const float weight = (x == 0 ? 1.0 - t.x : t.x) * (y == 0 ? 1.0 - t.y : t.y) /
                                 (0.001 + off);
            sum += weight * imageLoad(calm, q).r;
            weights += weight;
        }
    return weights > 0.0 ? sum / weights : 1.0;
}

void main() {
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = ivec2(frame.window.zw);
    if (any(greaterThanEqual(at, size))) return;
    vec3 color = texelFetch(lit, at, 0).rgb;
    if (occluded) {
        const float distance = meters(texelFetch(depth_map, at, 0).r);
        if (distance > 0.0) color *= open_at(at, distance);
    }
    if (outlined) {
        // The coverage of the surroundings by the selection; 0 where it covers the pixel itself.
        const ivec2 last = size - 1;
        float around = 0.0;
        for (int y = -2; y <= 2; ++y)
            for (int x = -2; x <= 2; ++x) {
                if (x * x + y * y > 5) continue;
                around = max(around, texelFetch(mask, clamp(at + ivec2(x, y), ivec2(0), last), 0).r *
                                         (x * x + y * y > 4 ? 0.45 : 1.0));
            }
        around *= 1.0 - texelFetch(mask, at, 0).r;
        color = mix(color, frame.outline.rgb, around);
    }
    imageStore(picture, at, vec4(color, 1.0));
}
