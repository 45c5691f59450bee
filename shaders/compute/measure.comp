// Least and largest of what is shown, in integers that order as the numbers do: so many work items
// may meet in any order and find the same. Numbers that are not finite are left out.
//
//   mode 0   the numbers of `values`, for the colors
//   mode 1   the lengths of the vectors of `values`, for arrows
//   mode 2   the places, for the shadow map
//   mode 3   the places that `indices` name, for framing a drawable
#version 460
#extension GL_GOOGLE_include_directive : require
#define MEASURING
#include "include/scene.glsl"

layout(local_size_x = 64) in;

const uint each = 16u;  // numbers per work item

void main() {
    const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    const uint from = gl_GlobalInvocationID.x;
    if ((draw.mode | hidden_zero) >= 2u) {
        vec3 low = vec3(3.4e38), high = vec3(-3.4e38);
        for (uint k = from; k < draw.count; k += stride) {
            const uint i = draw.first + k;
            const vec3 p = place_of(is_mode(3u) ? indices[i] : i);
            if (!finite(p)) continue;
            low = min(low, p - draw.radius);
            high = max(high, p + draw.radius);
        }
        if (low.x > high.x) return;
        for (uint c = 0u; c < 3u; ++c) {
            atomicMin(measured.box_low[c], ordered(low[c]));
            atomicMax(measured.box_high[c], ordered(high[c]));
        }
        return;
    }
    float low = 3.4e38, high = -3.4e38;
    for (uint k = from; k < draw.count; k += stride) {
        const float x = is_mode(0u) ? value_number(draw.first + k)
                                        : length(vector_of(draw.first + k));
        if (!finite(x)) continue;
        low = min(low, x);
        high = max(high, x);
    }
    if (low > high) return;
    if (is_mode(0u)) {
        atomicMin(measured.low, ordered(low));
        atomicMax(measured.high, ordered(high));
    } else {
        atomicMax(measured.longest, ordered(high));
    }
}
