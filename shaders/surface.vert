// Triangles between places, with the normals that normals.comp found for their corners.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/scene.glsl"
#include "include/view.glsl"

layout(location = 0) out vec3 place;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec3 barycentric;
layout(location = 3) out vec2 value;
layout(location = 4) flat out uint element;

void main() {
    const uint corner = uint(gl_VertexIndex), triangle = corner / 3u, which = corner % 3u;
    const uint point = indices[corner];
    element = has(has_element_of) ? element_of[triangle] : triangle;
    place = place_of(point);
    normal = is_flat() ? vec3(0.0, 0.0, 1.0)
                       : vec3(normals[3u * corner], normals[3u * corner + 1u],
                              normals[3u * corner + 2u]);
    barycentric = vec3(which == 0u, which == 1u, which == 2u);
    value = has(has_values) ? shown_value(has(values_per_point) ? point : element) : vec2(0.0);
    gl_Position = clip_of(place);
    const bool drawn = finite(place_of(indices[3u * triangle])) &&
                       finite(place_of(indices[3u * triangle + 1u])) &&
                       finite(place_of(indices[3u * triangle + 2u])) &&
                       !left_out(element);
    if (!drawn) gl_Position = nowhere;
}
