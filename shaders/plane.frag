// Grid lines and shadows that fade with distance, over the ground of obstacles or over nothing;
// hatching in the plane.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/shade.glsl"

layout(location = 0) in vec3 place;
layout(location = 1) flat in vec3 tangent;
layout(location = 2) flat in vec3 bitangent;

// Lines of a grid with that spacing, `width` pixels wide: 0 .. 1.
float lines(vec2 uv, float spacing, float width) {
    const vec2 x = uv / spacing, slope = max(fwidth(x), 1e-6);
    const vec2 off = abs(fract(x - 0.5) - 0.5) / slope;
    const vec2 line = clamp(0.5 * width + 0.5 - off, 0.0, 1.0);
    // Lines closer than a few pixels become a tone, then nothing.
    const vec2 room = clamp((0.28 - slope) / 0.2, 0.0, 1.0);
    return max(line.x * room.x, line.y * room.y);
}

float axis_line(float x, float width) {
    return clamp(0.5 * width + 0.5 - abs(x) / max(fwidth(x), 1e-12), 0.0, 1.0);
}

void main() {
#if PASS == COLOR
    const vec3 normal = draw.a.xyz;
    const vec2 uv = vec2(dot(place, tangent), dot(place, bitangent));
    const bool dark = draw.color.a + float(hidden_zero) < 0.5;  // the theme: lines lighter or darker than the ground
    if (is_flat() && is_mode(0u)) {
        const float depth = (draw.a.w - dot(normal, place)) / scene.right.w;  // pixels below
        if (depth < -0.5) discard;
        const vec2 pixel = gl_FragCoord.xy;
        const float stripe = abs(fract((pixel.x + pixel.y) / 12.0) - 0.5) * 12.0;
        const float hatch = clamp(1.6 - abs(stripe - 3.0), 0.0, 1.0);
        const float edge = clamp(2.5 - abs(depth - 1.0), 0.0, 1.0);
        const float alpha = clamp(depth + 0.5, 0.0, 1.0) * max(edge, 0.30 + 0.22 * hatch);
        out_color = vec4(draw.color.rgb, alpha);
        return;
    }
    // The opacity of the two finest grids: draw.scale, 0 .. 1.
    const float fine = lines(uv, draw.spacing, 1.0) * draw.scale;
    const float coarse = lines(uv, draw.spacing * 10.0, 1.2);
    const vec3 ink = dark ? vec3(0.80, 0.84, 0.90) : vec3(0.20, 0.23, 0.28);
    if (is_flat()) {
        const float strength = max(0.07 * fine, max(0.12 * coarse, 0.0));
        const float axes = max(axis_line(uv.x, 1.4), axis_line(uv.y, 1.4));
        out_color = vec4(ink, max(strength, 0.20 * axes));
        return;
    }
    const float away = distance(place, scene.focus.xyz) / scene.focus.w;
    const vec3 to_viewer = viewer_from(place);
    const float slant = dot(normal, to_viewer);
    const float fade = clamp(1.0 - away, 0.0, 1.0) * smoothstep(0.0, 0.18, abs(slant));
    const float fade_squared = fade * fade;
    float ground = 0.0, light = 1.0;
    vec3 base = draw.color.rgb;
    if (slant > 0.0) {
        light = light_at(place, normal);
        ground = has(is_grid) ? 0.0 : 0.85 * fade_squared;
    } else {
        ground = has(is_grid) ? 0.0 : 0.12 * fade_squared;
    }
    // Not lit again by the sun: only what it lacks in the shadows.
    const vec3 lit = base * mix(dark ? 0.42 : 0.66, 1.0, light);
    const float shadow = slant > 0.0 ? (1.0 - light) * 0.55 * fade : 0.0;
    const float line = max(0.16 * fine, 0.28 * coarse) * fade_squared * (slant > 0.0 ? 1.0 : 0.5);
    float alpha = max(ground, shadow);
    vec3 color = lit;
    color = mix(color, ink, alpha + line > 0.0 ? line / (alpha + line - alpha * line) : 0.0);
    alpha = alpha + line - alpha * line;
    if (alpha < 0.004) discard;
    out_color = vec4(color, alpha);
#elif PASS == PICK || PASS == MASK
    if (is_flat() && is_mode(0u) && dot(draw.a.xyz, place) > draw.a.w) discard;
    if (distance(place, scene.focus.xyz) > 0.7 * scene.focus.w) discard;
    finish(vec3(0.0), 1.0, gl_FragCoord.z, 0u);
#endif
}
