// The point at which the ray of this pixel meets the ball, its light and its depth.
#version 460
#extension GL_GOOGLE_include_directive : require
#define FEW_LOOKS
#include "include/scene.glsl"
#include "include/shade.glsl"

layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 on_billboard;
layout(location = 2) flat in vec4 ball;
layout(location = 3) flat in vec3 color;
layout(location = 4) flat in uint element;

#if PASS == COLOR || PASS == PICK
layout(depth_less) out float gl_FragDepth;
#endif

#if PASS != SHADOW
// The point at which the ray of this pixel meets the ball, and the normal there; the ball is filled
// where the slice cuts it. False if the point is hidden.
bool meet(vec3 ray, out vec3 p, out vec3 normal) {
    const vec3 from = on_billboard - ball.xyz;
    const vec3 nearest = from - ray * dot(from, ray);
    const float inward = sqrt(max(ball.w * ball.w - dot(nearest, nearest), 0.0));
    const vec3 offset = nearest - ray * inward;
    p = ball.xyz + offset;
    normal = offset / ball.w;
    if (!cut_away(p)) return true;
    normal = scene.slice.xyz;
    return reach_slice(p) && distance(p, ball.xyz) <= ball.w;
}
#endif

void main() {
    const float inside = 1.0 - dot(corner, corner);
#if PASS == COLOR
    const float pixel = fwidth(corner.x);
    const int mask = covered(inside);
    if (mask == 0) discard;
    gl_SampleMask[0] = mask;
#else
    if (inside < 0.0) discard;
#endif

#if PASS == COLOR || PASS == PICK
    if (is_flat()) {
        float rim = 1.0;  // darker, where there is room for one
#if PASS == COLOR
        if (pixel < 0.3)
            rim -= 0.38 * smoothstep(1.0 - 2.2 * pixel, 1.0 - pixel, length(corner));
#endif
        gl_FragDepth = draw.layer;
        finish(color * rim, 1.0, draw.layer, element);
        return;
    }
    const vec3 ray = -viewer_from(on_billboard);
    vec3 p, normal;
    if (!meet(ray, p, normal)) discard;
    const float depth = min(depth_of(p), gl_FragCoord.z);
    gl_FragDepth = depth;
#if PASS == COLOR
    finish(shade(color, p, normal, -ray), 1.0, depth, element);
#else
    finish(vec3(0.0), 1.0, depth, element);
#endif
#elif PASS == MASK
    vec3 p, normal;
    if (sliced && !meet(-viewer_from(on_billboard), p, normal)) discard;
    finish(vec3(0.0), 1.0, 0.0, element);
#endif
}
