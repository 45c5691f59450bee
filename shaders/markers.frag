// A cross in a ring, with a border (dark, or light: mode 1) so that it stands out from any ground.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/shade.glsl"

layout(location = 0) in vec2 off;
layout(location = 1) flat in float depth;
layout(location = 2) flat in uint element;

void main() {
    const vec2 a = abs(off);
    const float bar = max(max(min(a.x, a.y) - 0.9, 3.0 - max(a.x, a.y)), max(a.x, a.y) - 11.5);
    const float ring = abs(length(off) - 7.0) - 0.9;
    const float distance = min(bar, ring);
#if PASS == COLOR
    const float body = clamp(0.5 - distance, 0.0, 1.0);
    const float border = clamp(1.9 - distance, 0.0, 1.0);
    if (border <= 0.0) discard;
    finish(mix(vec3(is_mode(1u) ? 0.97 : 0.05), draw.color.rgb, body), max(body, 0.55 * border), 1.0, element);
#elif PASS == PICK || PASS == MASK
    if (max(a.x, a.y) > 12.0) discard;
    finish(vec3(0.0), 1.0, depth, element);
#endif
}
