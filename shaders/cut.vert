// The cuts of the slice through tetrahedra: a triangle or a quadrangle each, six vertices for
// either, with the numbers of the corners interpolated. They stand in `indices` after `columns`
// other numbers.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec3 place;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec3 barycentric;
layout(location = 3) out vec2 value;
layout(location = 4) flat out uint element;

// The corners of the quadrangle, in order, as two triangles.
const uint turns[6] = uint[](0u, 1u, 2u, 2u, 1u, 3u);

void main() {
    element = uint(gl_VertexIndex) / 6u;
    const uint first = draw.columns + 4u * element;
    uint corner[4];
    uint hidden[4], shown[4];
    uint hidden_count = 0u, shown_count = 0u;
    float before[4];
    vec3 at[4];
    bool all_finite = true;
    for (uint k = 0u; k < 4u; ++k) {
        corner[k] = indices[first + k];
        at[k] = place_of(corner[k]);
        all_finite = all_finite && finite(at[k]);
        before[k] = before_slice(at[k]);
        if (before[k] > 0.0)
            hidden[hidden_count++] = k;
        else
            shown[shown_count++] = k;
    }
    place = vec3(0.0);
    normal = scene.slice.xyz;
    barycentric = vec3(1.0);
    value = vec2(0.0);
    gl_Position = nowhere;
    if (!all_finite || hidden_count == 0u || shown_count == 0u || left_out(element)) return;
    // Corner m of the cut is on the edge from a hidden to a shown corner.
    const uint m = turns[uint(gl_VertexIndex) % 6u];
    uint a, b;
    if (hidden_count == 2u) {
        a = hidden[m & 1u];
        b = shown[m >> 1u];
    } else {
        if (uint(gl_VertexIndex) % 6u > 2u) return;  // a triangle
        a = hidden_count == 1u ? hidden[0] : hidden[m];
        b = hidden_count == 1u ? shown[m] : shown[0];
    }
    const float t = before[a] / (before[a] - before[b]);
    place = mix(at[a], at[b], t);
    if (has(has_values)) {
        const vec2 from = shown_value(corner[a]), to = shown_value(corner[b]);
        value = vec2(mix(from.x, to.x, t), min(from.y, to.y));
    }
    gl_Position = clip_of(place);
}
