// From the world to the picture, for vertex shaders; in the shadow pass the light is the viewer.

vec3 toward_viewer(vec3 p) {
#if PASS == SHADOW
    return scene.to_light.xyz;
#else
    return is_perspective() ? normalize(scene.eye.xyz - p) : -scene.forward.xyz;
#endif
}

vec4 clip_of(vec3 p) {
#if PASS == SHADOW
    return settled.light * vec4(p, 1.0);
#else
    vec4 clip = scene.view_projection * vec4(p, 1.0);
    if (is_flat()) clip.z = draw.layer * clip.w;
    return clip;
#endif
}

// The width of a pixel at p, m.
float pixel_at(vec3 p) {
#if PASS == SHADOW
    return settled.shadow_texel.x;
#else
    const float depth = dot(p - scene.eye.xyz, scene.forward.xyz);
    return scene.right.w * (is_perspective() ? max(depth, 0.0) : 1.0);
#endif
}

// A place that no triangle covers.
const vec4 nowhere = vec4(0.0, 0.0, -1.0, 1.0);

// A vector at right angles to `axis` (length 1).
vec3 across(vec3 axis, vec3 hint) {
    vec3 side = cross(hint, axis);
    if (dot(side, side) < 1e-6) side = cross(abs(axis.x) < 0.7 ? vec3(1, 0, 0) : vec3(0, 1, 0), axis);
    return normalize(side);
}
