// Light and coverage, for fragment shaders.

#if PASS == COLOR
layout(location = 0) out vec4 out_color;
#elif PASS == PICK
layout(location = 0) out uvec4 out_id;  // drawable + 1, element, bits of the depth
#elif PASS == MASK
layout(location = 0) out float out_mask;
#endif

// The part of the light that reaches p: 0 .. 1. For small things one look at the map is enough:
// they define FEW_LOOKS.
float light_at(vec3 p, vec3 normal) {
    if (!shadowed) return 1.0;
    const float texel = settled.shadow_texel.x;
    const vec4 q = settled.light * vec4(p + normal * (1.6 * texel), 1.0);
    const vec2 uv = q.xy * 0.5 + 0.5;
    const float depth = min(q.z, 1.0) - 0.0015;
#ifdef FEW_LOOKS
    return textureLod(shadow_map, vec3(uv, depth), 0.0);
#else
    const float step = scene.to_light.w;  // of one texel, in the map
    float light = 0.0;
    light += textureLod(shadow_map, vec3(uv + step * vec2(-0.5, -1.25), depth), 0.0);
    light += textureLod(shadow_map, vec3(uv + step * vec2(1.25, -0.5), depth), 0.0);
    light += textureLod(shadow_map, vec3(uv + step * vec2(0.5, 1.25), depth), 0.0);
    light += textureLod(shadow_map, vec3(uv + step * vec2(-1.25, 0.5), depth), 0.0);
    return 0.25 * light;
#endif
}

vec3 shade(vec3 color, vec3 p, vec3 normal, vec3 to_viewer) {
    if (has(unlit)) return color;
    const vec3 base = color * color;
    const float facing = dot(normal, scene.to_light.xyz);
    const float light = facing > 0.0 ? light_at(p, normal) : 0.0;
    const float sky = 0.5 + 0.5 * dot(normal, scene.world_up.xyz);
    const vec3 around_us = mix(vec3(0.24, 0.22, 0.21), vec3(0.46, 0.48, 0.52), sky);
    const float head = max(dot(normal, to_viewer), 0.0);
    vec3 sum = base * (around_us + 0.16 * head + vec3(0.74, 0.72, 0.69) * (max(facing, 0.0) * light));
    const float shine = max(dot(normal, normalize(scene.to_light.xyz + to_viewer)), 0.0);
    const float s2 = shine * shine, s8 = s2 * s2 * s2 * s2, s32 = s8 * s8 * s8 * s8;
    sum += vec3(0.07 * light * s32);
    return sqrt(min(sum, 1.0));
}

// The mask of the pixel's samples at which `inside` is positive, by its slope; 0: none.
int covered(float inside) {
    if (samples == 1) return inside >= 0.0 ? 1 : 0;
    const float dx = dFdx(inside), dy = dFdy(inside);
    int mask = 0;
    if (inside + dx * -0.125 + dy * -0.375 >= 0.0) mask |= 1;
    if (inside + dx * 0.375 + dy * -0.125 >= 0.0) mask |= 2;
    if (inside + dx * -0.375 + dy * 0.125 >= 0.0) mask |= 4;
    if (inside + dx * 0.125 + dy * 0.375 >= 0.0) mask |= 8;
    return mask;
}

vec3 viewer_from(vec3 p) {
    return is_perspective() ? normalize(scene.eye.xyz - p) : -scene.forward.xyz;
}

// Moves p, the point of a round thing that the slice hides, along the ray of sight to the slice.
// False if the ray does not come from before the slice.
bool reach_slice(inout vec3 p) {
    const vec3 ray = -viewer_from(p);
    const float approach = dot(scene.slice.xyz, ray);
    if (approach > -1e-5) return false;
    p -= ray * (before_slice(p) / approach);
    return true;
}

// The depth of a place of the world.
float depth_of(vec3 p) {
    if (is_flat()) return draw.layer;
    const vec4 q = vec4(p, 1.0);
    const float z = dot(vec4(scene.view_projection[0].z, scene.view_projection[1].z,
                             scene.view_projection[2].z, scene.view_projection[3].z), q);
    const float w = dot(vec4(scene.view_projection[0].w, scene.view_projection[1].w,
                             scene.view_projection[2].w, scene.view_projection[3].w), q);
    return z / w;
}

// The end of every fragment shader: depth is where the surface is, element what was hit.
void finish(vec3 color, float alpha, float depth, uint element) {
#if PASS == COLOR
    out_color = vec4(color, alpha * draw.color.a);
#elif PASS == PICK
    out_id = uvec4(draw.drawable + 1u, element, floatBitsToUint(depth), 0u);
#elif PASS == MASK
    out_mask = 1.0;
#endif
}
