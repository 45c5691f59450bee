// Ambient occlusion: how much of the sky around a place is hidden by what is near it, from the depths
// alone (the estimator of McGuire et al., "The Alchemy Screen-Space Ambient Obscurance Algorithm",
// 2011). Samples lie on a spiral that is turned in a pattern of 4 x 4 pixels, which calm.comp
// averages out.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/picture.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

const int count = 9;

vec3 place_at(ivec2 at, float distance, vec2 half_size) {
    const vec2 s = (vec2(at) + 0.5) / half_size - 1.0;
    const float scale = frame.lens.w > 0.5 ? distance : 1.0;
    return vec3(s.x * frame.window.x * scale, -s.y * frame.window.y * scale, -distance);
}

void main() {
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(distances);
    if (any(greaterThanEqual(at, size))) return;
    const float distance = imageLoad(distances, at).r;
    if (distance <= 0.0) {
        imageStore(openness, at, vec4(1.0));
        return;
    }
    const vec2 half_size = frame.window.zw * 0.25;
    const vec3 p = place_at(at, distance, half_size);
    // The slope on the side where the surface goes on.
    const float l = imageLoad(distances, max(at - ivec2(1, 0), ivec2(0))).r,
                r = imageLoad(distances, min(at + ivec2(1, 0), size - 1)).r,
                u = imageLoad(distances, max(at - ivec2(0, 1), ivec2(0))).r,
                d = imageLoad(distances, min(at + ivec2(0, 1), size - 1)).r;
    const bool to_left = at.x > 0 && l > 0.0 && (r <= 0.0 || abs(l - distance) < abs(r - distance));
    const bool to_top = at.y > 0 && u > 0.0 && (d <= 0.0 || abs(u - distance) < abs(d - distance));
    const vec3 dx = to_left ? p - place_at(at - ivec2(1, 0), l, half_size)
                            : place_at(at + ivec2(1, 0), r, half_size) - p;
    const vec3 dy = to_top ? p - place_at(at - ivec2(0, 1), u, half_size)
                           : place_at(at + ivec2(0, 1), d, half_size) - p;
    vec3 normal = normalize(cross(dy, dx));
    if (!(dot(normal, normal) > 0.5)) normal = vec3(0.0, 0.0, 1.0);

    const float scale = frame.lens.w > 0.5 ? distance : 1.0;
    const float reach = frame.nearby.x;
    const float pixels = min(reach / (frame.window.x * scale) * half_size.x, 40.0);
    if (pixels < 1.0) {
        imageStore(openness, at, vec4(1.0));
        return;
    }
    const int turn = ((at.x & 3) << 2 | (at.y & 3)) * 7 & 15;
    float hidden = 0.0;
    for (int k = 0; k < count; ++k) {
        const float t = (float(k) + 0.5) / float(count);
        const float angle = 6.2831853 * (t * 2.0 + float(turn) / 16.0);
        const ivec2 q = at + ivec2(round(vec2(cos(angle), sin(angle)) * pixels * t));
        if (any(lessThan(q, ivec2(0))) || any(greaterThanEqual(q, size))) continue;
        const float there = imageLoad(distances, q).r;
        if (there <= 0.0) continue;
        const vec3 v = place_at(q, there, half_size) - p;
        const float square = dot(v, v);
        const float near = max(1.0 - square / (reach * reach), 0.0);
        hidden += near * max(dot(v, normal) - 0.002 * distance, 0.0) * inversesqrt(square + 1e-12);
    }
    imageStore(openness, at, vec4(max(1.0 - frame.nearby.y * hidden / float(count), 0.0)));
}
