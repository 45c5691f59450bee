// mode 0: nothing measured yet. mode 1: what was measured becomes the range of colors, and the
// light's view of the box around everything.
#version 460
#extension GL_GOOGLE_include_directive : require
#define MEASURING
#include "include/scene.glsl"

layout(local_size_x = 1) in;

void main() {
    if (is_mode(0u)) {
        measured.low = 0xffffffffu;
        measured.high = 0u;
        measured.longest = 0u;
        for (uint c = 0u; c < 3u; ++c) {
            measured.box_low[c] = 0xffffffffu;
            measured.box_high[c] = 0u;
        }
        return;
    }
    vec2 range = vec2(0.0, 1.0);
    if (measured.low <= measured.high)
        range = vec2(from_ordered(measured.low), from_ordered(measured.high));
    const vec2 found = range;
    const uint ranges = scene.flags.y | hidden_zero;
    if ((ranges & range_symmetric) != 0u) {
        const float most = max(abs(range.x), abs(range.y));
        range = vec2(-most, most);
    }
    if ((ranges & range_given) != 0u) range = scene.range.xy;
    const float longest = measured.longest > 0u ? from_ordered(measured.longest) : 0.0;
    settled.color_range = vec4(range, longest, 0.0);

    vec3 low = vec3(3.4e38), high = vec3(-3.4e38);
    if (measured.box_low[0] <= measured.box_high[0])
        for (uint c = 0u; c < 3u; ++c) {
            low[c] = from_ordered(measured.box_low[c]);
            high[c] = from_ordered(measured.box_high[c]);
        }
    if (scene.known_low.w + float(hidden_zero) > 0.5) {
        low = min(low, scene.known_low.xyz);
        high = max(high, scene.known_high.xyz);
    }
    if (low.x > high.x) {
        low = vec3(-1.0);
        high = vec3(1.0);
    }
    // The map grows in steps and moves by whole texels, so that shadows do not shimmer.
    const float around = max(0.5 * length(high - low), 1e-4) * 1.02;
    const float radius = exp2(ceil(log2(around) * 4.0) * 0.25);
    const float texel = 2.0 * radius * scene.to_light.w;
    const vec3 middle = 0.5 * (low + high);
    const vec2 snapped = floor(vec2(dot(middle, scene.light_right.xyz),
                                    dot(middle, scene.light_up.xyz)) / texel + 0.5) * texel;
    const vec3 x = scene.light_right.xyz / radius, y = scene.light_up.xyz / radius;
    const vec3 z = -scene.to_light.xyz / (2.0 * radius);
    settled.light = mat4(vec4(x.x, y.x, z.x, 0.0), vec4(x.y, y.y, z.y, 0.0),
                          vec4(x.z, y.z, z.z, 0.0),
                          vec4(-snapped.x / radius, -snapped.y / radius,
                               0.5 - dot(middle, z), 1.0));
    settled.shadow_texel = vec4(texel, radius, found);
}
