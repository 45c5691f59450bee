// The color of the nearest node, exactly that of the color map; or, smoothly, of the value between
// the four nodes around.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/shade.glsl"

layout(location = 0) in vec2 node;

float at(ivec2 ij) {
    const ivec2 inside = clamp(ij, ivec2(0), ivec2(draw.rows, draw.columns) - 1);
    return value_number(uint(inside.x) * draw.columns + uint(inside.y));
}

void main() {
    const ivec2 nearest =
        clamp(ivec2(floor(node + 0.5)), ivec2(0), ivec2(draw.rows, draw.columns) - 1);
    const uint element = uint(nearest.x) * draw.columns + uint(nearest.y);
    if (left_out(element)) discard;
#if PASS == COLOR
    float value;
    if (is_mode(1u)) {
        const ivec2 corner = ivec2(floor(node));
        const vec2 t = node - vec2(corner);
        value = mix(mix(at(corner), at(corner + ivec2(0, 1)), t.y),
                    mix(at(corner + ivec2(1, 0)), at(corner + ivec2(1, 1)), t.y), t.x);
    } else {
        value = at(nearest);
    }
    finish(color_of_value(value), 1.0, gl_FragCoord.z, element);
#elif PASS == PICK || PASS == MASK
    finish(vec3(0.0), 1.0, gl_FragCoord.z, element);
#endif
}
