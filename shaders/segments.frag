// A capsule, by the distance from its axis as it is seen.
#version 460
#extension GL_GOOGLE_include_directive : require
#define FEW_LOOKS
#include "include/scene.glsl"
#include "include/shade.glsl"

layout(location = 0) in vec2 along_across;
layout(location = 1) flat in vec4 first_end;
layout(location = 2) flat in vec4 last_end;
layout(location = 3) flat in vec3 facing;
layout(location = 4) flat in vec3 side;
layout(location = 5) flat in vec3 color;
layout(location = 6) flat in uint element;

#if PASS != SHADOW
// True if the capsule is visible at p. It is filled where the slice cuts it; p and the normal are
// then moved to the slice.
bool seen_at(inout vec3 p, inout vec3 normal, float r) {
    if (!cut_away(p)) return true;
    normal = scene.slice.xyz;
    if (!reach_slice(p)) return false;
    const vec3 axis = last_end.xyz - first_end.xyz, from = p - first_end.xyz;
    const float t = dot(axis, axis) > 0.0 ? clamp(dot(from, axis) / dot(axis, axis), 0.0, 1.0) : 0.0;
    return distance(from, t * axis) <= r;
}
#endif

void main() {
    const float r = first_end.w, seen = last_end.w;
    const float s = clamp(along_across.x, 0.0, seen);
    const vec2 off = vec2(along_across.x - s, along_across.y) / r;
    const float inside = 1.0 - dot(off, off);
#if PASS == COLOR
    const int mask = covered(inside);
    if (mask == 0) discard;
    gl_SampleMask[0] = mask;
#else
    if (inside < 0.0) discard;
#endif

    const vec3 on_axis = mix(first_end.xyz, last_end.xyz, seen > 0.0 ? s / seen : 0.0);
#if PASS == SHADOW
    if (cut_away(on_axis)) discard;
#else
    const vec3 forth = cross(side, facing);
    vec3 normal = off.x * forth + off.y * side + sqrt(max(inside, 0.0)) * facing;
    vec3 p = on_axis + r * normal;
    if (!seen_at(p, normal, r)) discard;
#if PASS == COLOR || PASS == PICK
    const float depth = depth_of(p);
    gl_FragDepth = depth;
#if PASS == COLOR
    if (is_flat()) {
        finish(color, 1.0, depth, element);
    } else {
        finish(shade(color, p, normal, facing), 1.0, depth, element);
    }
#else
    finish(vec3(0.0), 1.0, depth, element);
#endif
#elif PASS == MASK
    finish(vec3(0.0), 1.0, 0.0, element);
#endif
#endif
}
