// Normals for the corners of triangles. mode 0: of each triangle, as long as twice its area.
// mode 1: at each corner, the sum over the triangles around its point that do not bend away too far:
// sharp edges stay sharp. The order is that of the table, so the picture is always the same.
//
// `normals` holds 3 corners per triangle, then the triangles' own; `around` holds for each point
// where its list of triangles begins (one more entry ends the last), then the lists.
#version 460
#extension GL_GOOGLE_include_directive : require
#define MAKING_NORMALS
#include "include/scene.glsl"

layout(local_size_x = 64) in;

vec3 own(uint triangle) {
    const uint at = 9u * draw.count + 3u * triangle;
    return vec3(normals[at], normals[at + 1u], normals[at + 2u]);
}

void store(uint at, vec3 n) {
    normals[at] = n.x;
    normals[at + 1u] = n.y;
    normals[at + 2u] = n.z;
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (is_mode(0u)) {
        if (i >= draw.count) return;
        const vec3 a = place_of(indices[3u * i]), b = place_of(indices[3u * i + 1u]),
                   c = place_of(indices[3u * i + 2u]);
        const vec3 n = cross(b - a, c - a);
        store(9u * draw.count + 3u * i, finite(n) ? n : vec3(0.0));
        return;
    }
    if (i >= 3u * draw.count) return;
    const vec3 mine = own(i / 3u);
    const float length_squared = dot(mine, mine);
    vec3 sum = vec3(0.0);
    if (length_squared > 0.0) {
        const vec3 direction = mine * inversesqrt(length_squared);
        const uint point = indices[i];
        for (uint k = around[point]; k < around[point + 1u]; ++k) {
            const vec3 other = own(around[draw.first + k]);
            const float other_squared = dot(other, other);
            if (!(other_squared > 0.0)) continue;
            const float bend = dot(direction, other) * inversesqrt(other_squared);
            sum += other * smoothstep(0.45, 0.8, bend);
        }
        sum *= inversesqrt(max(dot(sum, sum), 1e-37));
    }
    store(3u * i, sum);
}
