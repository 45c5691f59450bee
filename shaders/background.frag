// A gradient from top to bottom, dithered so that it shows no steps.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/shade.glsl"

layout(location = 0) in vec2 place;

void main() {
    const uvec2 pixel = uvec2(gl_FragCoord.xy);
    // Bayer's 4 x 4 matrix, by its bits.
    const uint x = pixel.x & 3u, y = (pixel.x ^ pixel.y) & 3u;
    const uint rank = ((y & 1u) << 3) | ((x & 1u) << 2) | (y & 2u) | (x >> 1);
    const float noise = (float(rank) + 0.5) / 16.0 - 0.5;
    const float t = place.y * place.y * (3.0 - 2.0 * place.y);
    out_color = vec4(mix(scene.background_top.rgb, scene.background_bottom.rgb, t) + noise / 255.0,
                      1.0);
}
