// A lit surface: triangles, height fields, arrows. In the plane it is one color with edges.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/shade.glsl"

layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 barycentric;
layout(location = 3) in vec2 value;
layout(location = 4) flat in uint element;

void main() {
    if (cut_away(place)) discard;
#if PASS == COLOR
    vec3 color = base_color(value);
    if (has(edges_shown)) {
        const vec3 near = barycentric / fwidth(barycentric);
        const float edge = min(near.x, min(near.y, near.z));
        // Edges would hide triangles that are a few pixels wide.
        const vec3 size = 1.0 / fwidth(barycentric);
        const float room = smoothstep(4.0, 14.0, min(size.x, min(size.y, size.z)));
        color *= 1.0 - 0.32 * room * (1.0 - smoothstep(0.3, 1.2, edge));
    }
    if (is_flat()) {
        finish(color, 1.0, gl_FragCoord.z, element);
        return;
    }
    const vec3 to_viewer = viewer_from(place);
    // Normals of degenerate triangles are zero.
    vec3 n = dot(normal, normal) > 0.0 ? normalize(normal) : to_viewer;
    if (dot(n, to_viewer) < 0.0) n = -n;
    vec3 p = place;
    // The inside of something closed, seen through a cut: the cut is filled.
    if (sliced && has(closed) && !gl_FrontFacing && reach_slice(p)) n = scene.slice.xyz;
    finish(shade(color, p, n, to_viewer), 1.0, gl_FragCoord.z, element);
#elif PASS == PICK || PASS == MASK
    finish(vec3(0.0), 1.0, gl_FragCoord.z, element);
#endif
}
